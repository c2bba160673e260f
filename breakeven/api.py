"""The command line's verbs as Python functions: `run`, `sweep`, `compare`, `find`, `surface`, `sensitivity`, `tune`,
`explain`, `report`, `add`, `remove`, `routines`, `machines`.

Everything is also reached as ``breakeven.run(...)`` and so on. Sizes, offsets and swept values are numbers, lists,
ranges or the command line's texts (``"64..1448:8"``). Results are data frames or objects that show themselves in a
notebook. Points go to the store, as from the command line; ``store=False`` keeps none.

>>> import breakeven
>>> point = breakeven.run("rv-word", 64, machine="u74")
>>> point.ok, point.cycles_median > 0
(True, True)
>>> table = breakeven.sweep(["rv-word", "rv-byte"], sizes=[64, 128], machines="u74")
>>> list(table.columns[:4]), len(table)
(['routine', 'machine', 'size', 'src_offset'], 4)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from breakeven.errors import UserError
from breakeven.machine.resolve import resolving

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.analysis.comparison import Comparison
    from breakeven.analysis.search_result import Found, Surface
    from breakeven.analysis.sensitivity import Sensitivity
    from breakeven.analysis.topdown import Account
    from breakeven.points import Point, Result
    from breakeven.points.engine import Engine, Routine
    from breakeven.points.machine_spec import MachineSpec
    from breakeven.routine.add import Added
    from breakeven.sweeps.spec import SweepSpec
    from breakeven.tuning.run import Answer
    from breakeven.web.report import Report

__all__ = [
    "add", "compare", "explain", "find", "machines", "remove", "report", "routines", "run", "sensitivity", "surface",
    "sweep", "tune",
]  # fmt: skip

#: numbers, or the command line's text for them
Numbers = int | str | Iterable[int]
#: machine parameters: dotted path -> value
Settings = Mapping[str, object]


class Measuring(TypedDict, total=False):
    """How a point is measured, beside where it copies; each as the command's option of this name (docs/cli.md)."""

    #: measurements (default: 21, or 85 where 21 do not converge; of a stream 3), and unmeasured calls before the first (2)
    repetitions: int
    warmup: int
    #: calls per measurement of throughput and interleaved (16)
    calls: int
    #: the second call of interleaved: bytes and offsets
    size2: int
    src_offset2: int
    dst_offset2: int
    #: of the buffers' contents
    seed: int
    #: bits of docs/guests.md, such as large pages
    flags: int
    #: of a routine that has one, such as a threshold; 0: its default
    routine_parameter: int


class Faulting(Measuring, total=False):
    """Of one point also where a user copy faults: a byte of the source (docs/guests.md)."""

    fault_at: int
    #: another name of `routine_parameter`
    parameter: int


#: swept machine parameters: dotted path -> values, or the command line's text (``"0:40:4"``)
Swept = Mapping[str, "str | Iterable[object]"]


@resolving()
def run(
    routine: str,
    size: int | str,
    *,
    machine: str = "u74",
    settings: Settings | None = None,
    src: int = 0,
    dst: int = 0,
    cache: str = "warm",
    measure: str = "latency",
    store: bool | str | Path = True,
    engine: str = "embedded",
    guest: str | Path | None = None,
    **options: Unpack[Faulting],
) -> Result:
    """One point: its cycles and whether its output was right.

    `engine`: ``"embedded"``, ``"native"`` (this host's processor, whatever `machine` says) or ``"gem5"``. `options`:
    `repetitions`, `warmup`, `calls`, `size2`, `src_offset2`, `dst_offset2`, `seed` as of the command.

    >>> near = run("rv-word-noalign", 1448, src=3)
    >>> far = run("rv-word-noalign", 1448, src=3, settings={"cpu.misaligned.policy": "hardware"})
    >>> near.ok and far.ok and far.cycles_median < near.cycles_median
    True
    """
    from breakeven.engines.run_points import run_points

    point = _point(routine, size, src, dst, cache, measure, options)
    with _engine(store, guest, engine) as opened:
        session = opened.open(_machine(_on(engine, machine), settings))
        return run_points(session, [point], by_rule=options.get("repetitions") is None)[0]


@resolving()
def sweep(
    routines: str | Sequence[str],
    sizes: Numbers,
    *,
    machines: str | Sequence[str] = "u74",
    settings: Settings | None = None,
    src: Numbers = 0,
    dst: Numbers = 0,
    cache: str | Sequence[str] = "warm",
    measure: str | Sequence[str] = "latency",
    parameters: Swept | None = None,
    threads: int = 0,
    store: bool | str | Path = True,
    engine: str = "embedded",
    guest: str | Path | None = None,
    **options: Unpack[Measuring],
) -> pd.DataFrame:
    """Every combination of the axes, as a data frame with a row for each point (docs/cli.md has the columns).

    >>> table = sweep("rv-word", "64..80:8", src=[0, 1], parameters={"cpu.executeBranchDelay": "1:2"})
    >>> len(table), sorted(table["cpu.executeBranchDelay"].unique())
    (12, ['1', '2'])
    """
    from breakeven.sweeps.run import run_sweep

    spec = _spec(
        routines, sizes, _on(engine, machines), settings, guest, src=src, dst=dst, cache=cache, measure=measure,
        parameters=parameters, options=options,
    )  # fmt: skip
    with _engine(store, guest, engine) as opened:
        return run_sweep(spec, opened, threads)


@resolving()
def compare(
    *routines: str,
    sizes: Numbers = "1..256,265..2048:9",
    machine: str = "u74",
    settings: Settings | None = None,
    src: int = 0,
    dst: int = 0,
    cache: str = "warm",
    measure: str = "latency",
    parameters: Swept | None = None,
    threads: int = 0,
    store: bool | str | Path = True,
    engine: str = "embedded",
    guest: str | Path | None = None,
    **options: Unpack[Measuring],
) -> Comparison:
    """Two or more routines on a machine: who leads where. The first routine is the one to beat.

    >>> found = compare("rv-byte", "rv-word", sizes="8..64:8")
    >>> found.break_evens[0].stays, found.intervals[-1].leaders
    (8, ('rv-word',))
    """
    from breakeven.analysis.compare import compare as run_comparison

    spec = _spec(
        routines, sizes, _on(engine, machine), settings, guest, src=src, dst=dst, cache=cache, measure=measure,
        parameters=parameters, options=options,
    )  # fmt: skip
    with _engine(store, guest, engine) as opened:
        return run_comparison(spec, opened, threads)


@resolving()
def find(
    old: str,
    new: str,
    *,
    sizes: Numbers = "1..2048",
    machine: str = "u74",
    settings: Settings | None = None,
    src: Numbers = 0,
    dst: Numbers = 0,
    cache: str = "warm",
    measure: str = "latency",
    parameters: Swept | None = None,
    budget: int | None = None,
    threads: int = 0,
    store: bool | str | Path = True,
    guest: str | Path | None = None,
    **options: Unpack[Measuring],
) -> Found:
    """Where the lead changes between two routines, along the one axis that has several values (docs/cli.md).

    >>> found = find("rv-byte", "rv-word", sizes="1..256")
    >>> found.leads.certain, len(found.leads.probed) <= 25, found.leads.intervals[-1].leaders
    (True, True, ('rv-word',))
    """
    from breakeven.analysis.find import find as search

    spec = _spec(
        [old, new], sizes, machine, settings, guest, src=src, dst=dst, cache=cache, measure=measure,
        parameters=parameters, options=options,
    )  # fmt: skip
    with _engine(store, guest) as engine:
        return search(spec, engine, threads, budget=budget)


@resolving()
def surface(
    old: str,
    new: str,
    parameters: Swept,
    *,
    sizes: Numbers = "1..2048",
    machine: str = "u74",
    settings: Settings | None = None,
    src: int = 0,
    dst: int = 0,
    cache: str = "warm",
    measure: str = "latency",
    threads: int = 0,
    store: bool | str | Path = True,
    guest: str | Path | None = None,
    **options: Unpack[Measuring],
) -> Surface:
    """From which size on `new` beats `old`, over one or two machine parameters.

    >>> found = surface("rv-byte", "rv-word", {"cpu.executeBranchDelay": [1, 2]}, sizes="1..64")
    >>> list(found.table()["cpu.executeBranchDelay"])
    [1, 2]
    """
    from breakeven.analysis.find import surface as search

    spec = _spec(
        [old, new], sizes, machine, settings, guest, src=src, dst=dst, cache=cache, measure=measure,
        parameters=parameters, options=options,
    )  # fmt: skip
    with _engine(store, guest) as engine:
        return search(spec, engine, threads)


@resolving()
def sensitivity(
    old: str,
    new: str,
    *,
    sizes: Numbers = "1..2048",
    machine: str = "u74",
    settings: Settings | None = None,
    src: int = 0,
    dst: int = 0,
    cache: str = "warm",
    measure: str = "latency",
    top: int = 8,
    match: str = "",
    threads: int = 0,
    store: bool | str | Path = True,
    guest: str | Path | None = None,
    **options: Unpack[Measuring],
) -> Sensitivity:
    """Which parameters of the machine move the break-even of two routines (of one size: the lead), the strongest first
    (docs/cli.md).

    `top`: parameters whose break-even is searched again. `match`: words that a parameter's path or source must have.
    """
    from breakeven.analysis.sensitivity import sensitivity as run_sensitivity

    spec = _spec(
        [old, new], sizes, machine, settings, guest, src=src, dst=dst, cache=cache, measure=measure,
        parameters=None, options=options,
    )  # fmt: skip
    with _engine(store, guest) as engine:
        return run_sensitivity(spec, engine, threads, top=top, match=match)


@resolving()
def tune(
    *candidates: str,
    machine: str = "u74",
    settings: Settings | None = None,
    distribution: str | Mapping[int, float] = "uniform",
    sizes: Numbers = "1..1024",
    src: Numbers = "0..7",
    dst: Numbers = 0,
    branches: int = 3,
    cache: str = "warm",
    measure: str = "latency",
    points: int = 1000,
    name: str = "tuned_copy",
    everywhere: bool = False,
    threads: int = 0,
    store: bool | str | Path = True,
) -> Answer:
    """The dispatch by size and alignment with the least expected cycles, and the C header that ships it (docs/tune.md).

    `distribution`: ``"uniform"`` over `sizes`, ``"spec2017"``, a file, or weights by size. `everywhere`: near the best
    routine at every size, instead of the least expected cycles.

    >>> found = tune("rv-byte", "rv-word", distribution={8: 3, 64: 1}, src=0, branches=0)
    >>> found.as_dict()["chosen"], "rv_word(dst, src, n);" in found.header
    ('rv-word', True)
    """
    from breakeven import points as pt
    from breakeven.tuning.distribution import distribution_of
    from breakeven.tuning.question import Question
    from breakeven.tuning.run import tune as run_tune

    question = Question(
        _machine(machine, settings), candidates, distribution_of(distribution, _numbers(sizes, "size", pt.MAX_SIZE)),
        _numbers(src, "src offset", pt.MAX_OFFSET), _numbers(dst, "dst offset", pt.MAX_OFFSET),
        branches, cache, measure, points, name, everywhere,
    )  # fmt: skip
    question.validate()
    with _engine(store, None) as engine:
        return run_tune(question, engine, threads)


@resolving()
def explain(
    *routines: str,
    size: int | str,
    machine: str = "u74",
    settings: Settings | None = None,
    src: int = 0,
    dst: int = 0,
    cache: str = "warm",
    measure: str = "latency",
    guest: str | Path | None = None,
    **options: Unpack[Faulting],
) -> dict[str, Account]:
    """Where the cycles of each routine's point went, adding up to 100 %: routine -> account (docs/cli.md, explain).

    Raises `UserError` where an output was wrong, or where the core keeps no account (a MinorCPU and an O3CPU do).

    >>> found = explain("rv-byte", "rv-word", size=64)
    >>> found["rv-byte"].cycles > found["rv-word"].cycles, round(sum(row.percent for row in found["rv-byte"].groups))
    (True, 100)
    """
    from breakeven.analysis.topdown import explain_points

    points = [_point(name, size, src, dst, cache, measure, options) for name in dict.fromkeys(routines)]
    with _engine(False, guest) as engine:
        by_rule = options.get("repetitions") is None
        found = explain_points(engine, _machine(machine, settings), points, by_rule)
        return {point.routine: account for point, account in found}


def report(
    *sources: str | Path,
    out: str | Path = "report.html",
    title: str = "",
    machine: str | None = None,
    settings: Settings | None = None,
    machine_files: Sequence[str | Path] = (),
    command: str = "",
    store: str | Path | None = None,
) -> Report:
    """One web page of tables that `sweep` wrote, of studies' reports, or (no `sources`) of the store (docs/cli.md).

    `machine`: of a store only this machine. `settings`: what the tables' sweep had. `machine_files`: machine files of
    yours that the tables name: they are run to show their parameters.
    """
    from breakeven.web.report import write_report

    return write_report(
        [str(source) for source in sources], Path(out), title=title, machine=machine, settings=_settings(settings),
        machine_files=[Path(path) for path in machine_files], command=command, store=_path(store),
    )  # fmt: skip


def add(
    source: str | Path, isa: str = "", *, kind: str = "copy", name: str = "", needs: str | Sequence[str] = (),
    flags: str | Sequence[str] = (), symbol: str = "", defines: Mapping[str, int] | None = None,
    more: Sequence[str | Path] = (),
) -> Added:  # fmt: skip
    """Makes a ``.S`` or ``.c`` file of yours, or a function of compiled code, a routine like all others
    (docs/add-a-routine.md).

    `isa`: ``"riscv"`` or ``"x86"`` (compiled code says its own); `kind`: ``"copy"``, ``"checksum"``, ``"user-copy"`` or
    ``"copy-checksum"``; `needs`: extensions; `flags`: more of the compiler's. Of compiled code (``.o``, ``.a``,
    ``.so``): `symbol`, the function; `defines`, the values of variables that it reads; `more`, files that define what
    the first one lacks. A `UserError` has the compiler's words, or the first wrong byte. What was added:
    ``.own.routines``, ``.own.extensions``; at how many points it was right: ``.points``; what is to be known of it:
    ``.notes``.
    """
    from breakeven.routine.add import add as add_file
    from breakeven.routine.build import Build

    return add_file(
        Build(
            Path(source), tuple(Path(path) for path in more), kind, name, tuple(_names(needs)), tuple(_names(flags)),
            symbol, dict(defines or {}),
        ),
        isa,
    )  # fmt: skip


def remove(name: str, isa: str = "") -> list[str]:
    """Removes what `add` has added, by the name of a routine in it; the names of all that are gone.

    `isa`: of this instruction set alone; without it of every one that has such a routine.
    """
    from breakeven.routine.registry import remove as remove_files

    return [routine for own in remove_files(name, isa) for routine in own.routines]


@resolving()
def routines(
    machine: str = "u74", *, settings: Settings | None = None, guest: str | Path | None = None
) -> list[Routine]:
    """The routines there are for a machine.

    >>> "rv-word" in [routine.name for routine in routines()]
    True
    """
    from breakeven.machine.resolve import resolve
    from breakeven.routine.guest import guest_routines

    spec = _machine(machine, settings)
    resolve(spec).check_settings()
    return guest_routines(spec, _path(guest))[1]


def machines() -> list[str]:
    """The names of the machines there are.

    >>> "u74" in machines()
    True
    """
    from breakeven.machine.presets import list_presets

    return [preset.name for preset in list_presets()]


def _refuse(unknown: set[str], known: Iterable[str]) -> None:
    if unknown:
        raise TypeError(f"unknown option {sorted(unknown)[0]!r}; there are: {', '.join(sorted(known))}")


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _machine(name: str, settings: Settings | None) -> MachineSpec:
    from breakeven.sweeps.request import machine_spec

    return machine_spec(name, _settings(settings))


def _settings(settings: Settings | None) -> list[str]:
    """Overrides as the command line's texts."""
    return [f"{path}={_text(value)}" for path, value in (settings or {}).items()]


def _text(value: object) -> str:
    """A parameter's value in the configuration's notation."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _names(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _numbers(values: Numbers, what: str, most: int) -> list[int]:
    from breakeven.points.ranges import parse_integers

    if isinstance(values, str):
        return parse_integers(values, what, 0, most)
    try:
        return [int(values)] if isinstance(values, int) else sorted({int(value) for value in values})
    except (TypeError, ValueError):
        raise UserError(f"{what} {values!r} is not a number, a list of them, or a text like '64..1448:8'") from None


def _swept(path: str, values: str | Iterable[object]) -> list[str]:
    from breakeven.points.ranges import parse_sweep

    if isinstance(values, str):
        return parse_sweep(f"{path}={values}")[1]
    return list(dict.fromkeys(_text(value) for value in values))


def _point(
    routine: str, size: int | str, src: int, dst: int, cache: str, measure: str, options: Faulting
) -> Point:
    """The point that the arguments describe."""
    from breakeven import points as pt
    from breakeven.points.ranges import parse_number

    _refuse(set(options) - Faulting.__annotations__.keys(), Faulting.__annotations__)
    kind = pt.index_of(pt.MEASURES, measure, "measure")
    named: dict[str, Any] = {"calls": 16 if kind else 1, **options}
    if "routine_parameter" in named:
        named["parameter"] = named.pop("routine_parameter")
    point = pt.Point(
        routine=routine, size=parse_number(str(size), "size"), src_offset=src, dst_offset=dst, measure=kind,
        cache_state=pt.index_of(pt.CACHE_STATES, cache, "cache state"), **named,
    )  # fmt: skip
    point.validate()
    return point


def _spec(
    routines: str | Sequence[str], sizes: Numbers, machines: str | Sequence[str], settings: Settings | None,
    guest: str | Path | None, *, src: Numbers, dst: Numbers, cache: str | Sequence[str], measure: str | Sequence[str],
    parameters: Swept | None, options: Measuring,
) -> SweepSpec:  # fmt: skip
    """The sweep that the arguments describe."""
    from breakeven import points as pt
    from breakeven.sweeps.request import named_routines
    from breakeven.sweeps.spec import SweepSpec

    _refuse(set(options) - Measuring.__annotations__.keys(), Measuring.__annotations__)
    specs = [_machine(name, settings) for name in _names(machines)]
    spec = SweepSpec(
        routines=named_routines(_names(routines), [s.name for s in specs], list(specs[0].settings), _path(guest)),
        machines=specs,
        sizes=_numbers(sizes, "size", pt.MAX_SIZE),
        src_offsets=_numbers(src, "src offset", pt.MAX_OFFSET),
        dst_offsets=_numbers(dst, "dst offset", pt.MAX_OFFSET),
        cache_states=_names(cache),
        measures=_names(measure),
        parameters={path: _swept(path, values) for path, values in (parameters or {}).items()},
        **options,
    )
    spec.validate()
    return spec


def _on(engine: str, machines: Any) -> Any:
    """What runs the points: the machines named, or this host whatever they are."""
    from breakeven.points.machine_spec import HOST
    from breakeven.sweeps.request import engine_names

    return HOST if engine_names(engine, 1) == [HOST] else machines


@contextmanager
def _engine(store: bool | str | Path, guest: str | Path | None, engine: str = "embedded") -> Iterator[Engine]:
    """The engine behind a call; `store`: a file, True for the usual one, False for none."""
    from breakeven.engines.open import open_named

    path = None if isinstance(store, bool) else Path(store)
    with open_named(engine, _path(guest), path, store is False) as opened:
        yield opened
