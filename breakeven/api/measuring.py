"""Verbs that simulate what they are told: `run`, `sweep`, `compare`, `compare_engines`, `explain`, `load_to_use`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

from breakeven.api.arguments import each_of, opened_engine, path_of, simulated_by
from breakeven.errors import UserError
from breakeven.machine.resolve import resolving
from breakeven.sweeps.request import (
    Faulting,
    Measuring,
    Numbers,
    Settings,
    Swept,
    check_kind,
    engine_names,
    machine_spec,
    on_engine,
    point_of,
    sweep_spec,
)

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.analysis.across_engines import EngineComparison
    from breakeven.analysis.best import Best
    from breakeven.analysis.comparison import Comparison
    from breakeven.analysis.load_to_use import Latency
    from breakeven.analysis.topdown import Account
    from breakeven.points.engine import PointResult, SweepProgress


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
    trace: str | Path | None = None,
    trace_limit: int = 1 << 30,
    trust_native: bool = False,
    **options: Unpack[Faulting],
) -> PointResult:
    """One point: its cycles and whether its output was right.

    `engine`: ``"embedded"``, ``"detailed"`` (what is not measured is simulated in detail, too), ``"native"`` (this
    host's processor, whatever `machine` says) or ``"gem5"``. `trace`: a
    file for the micro-ops of the measurement that the median comes from, in gem5's O3PipeView format, of at most
    `trace_limit` bytes; nothing is taken from the store then. `trust_native`: a routine that you have added may run
    its code on this host. `options`: how it is measured, as of the command.

    >>> near = run("rv-word-noalign", 1448, src=3)
    >>> far = run("rv-word-noalign", 1448, src=3, settings={"cpu.misaligned.policy": "hardware"})
    >>> near.ok and far.ok and far.cycles_median < near.cycles_median
    True
    """
    from breakeven.engines.run_points import run_point

    point = point_of(routine, size, src, dst, cache, measure, options)
    with opened_engine(store if trace is None else False, guest, engine, trust_native=trust_native) as opened:
        session = opened.open(machine_spec(on_engine(engine, machine)[0], settings))
        return run_point(session, point, options.get("repetitions") is None, path_of(trace), trace_limit)


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
    scheduler: str | None = None,
    guest: str | Path | None = None,
    trust_native: bool = False,
    before: Callable[[int, float], None] | None = None,
    progress: SweepProgress | None = None,
    **options: Unpack[Measuring],
) -> pd.DataFrame:
    """Every combination of the axes, as a data frame with a row for each point (docs/cli.md has the columns).

    `scheduler`: the address of a dask scheduler whose workers simulate. `progress`: called with points done, points in
    all and what is running; `before`: as of `best`. The frame's ``attrs`` say how many points were ``simulated`` (not
    taken from the store).

    >>> table = sweep("rv-word", "64..80:8", src=[0, 1], parameters={"cpu.executeBranchDelay": "1:2"})
    >>> len(table), sorted(table["cpu.executeBranchDelay"].unique())
    (12, ['1', '2'])
    """
    from breakeven.sweeps.run import run_sweep
    from breakeven.sweeps.spec import described, seconds_of

    spec = sweep_spec(
        routines, machines, settings, path_of(guest), engine, sizes=sizes, src=src, dst=dst, cache=cache,
        measure=measure, parameters=parameters, options=options,
    )  # fmt: skip
    if before is not None and engine == "embedded":
        before(spec.count(), seconds_of([spec]))
    with opened_engine(store, guest, engine, scheduler, trust_native=trust_native) as opened:
        table = described(run_sweep(spec, opened, threads, progress), spec)
        table.attrs |= {
            "simulated": simulated_by(opened, len(table)),
            "machines": [str(machine) for machine in spec.machines],
        }
        return table


@resolving()
def compare(
    *routines: str | Sequence[str],
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
    confidence: bool = False,
    trust_native: bool = False,
    before: Callable[[int, float], None] | None = None,
    progress: SweepProgress | None = None,
    **options: Unpack[Measuring],
) -> Comparison:
    """Two or more routines on a machine: who leads where (`.leads`).

    ``.rests_on`` says which parameter of the machine decides it, where a `sensitivity` has found that out before, or
    with `confidence` finds it out now. `progress`, `before`: as of `sweep`.

    >>> found = compare("rv-byte", "rv-word", sizes="8..64:8")
    >>> found.leads.choice.above, found.leads.ranges[-1].leaders
    ('rv-word', ('rv-word',))
    """
    from breakeven.analysis.compare import compare as run_comparison
    from breakeven.analysis.sensitivity_note import rests_on
    from breakeven.sweeps.spec import seconds_of

    spec = sweep_spec(
        each_of(routines), machine, settings, path_of(guest), engine, sizes=sizes, src=src, dst=dst, cache=cache,
        measure=measure, parameters=parameters, options=options,
    )  # fmt: skip
    if before is not None and engine == "embedded":
        before(spec.count(), seconds_of([spec]))
    with opened_engine(store, guest, engine, trust_native=trust_native) as opened:
        found = run_comparison(spec, opened, threads, progress)
        if engine != "embedded":
            return found
        return replace(found, rests_on=rests_on(found.spec, opened, threads, progress, run=confidence))


@resolving(many=True)
def best(
    kind: str,
    machines: str | Sequence[str] = "u74",
    *,
    sizes: Numbers = "8,16,32,64,100,256,512,1448",
    settings: Settings | None = None,
    src: Numbers | None = None,
    dst: Numbers | None = None,
    cache: str = "warm",
    measure: str = "latency",
    threads: int = 0,
    store: bool | str | Path = True,
    guest: str | Path | None = None,
    before: Callable[[int, float], None] | None = None,
    progress: SweepProgress | None = None,
    **options: Unpack[Measuring],
) -> Best:
    """The fastest routine of a kind at each size, and its lead over the next, on each of `machines` (``"all"``: every
    preset of a processor). `src`: 0 and 3 where nothing is said; a mix has no offsets.

    `before`: called with the number of points and about how many seconds they take on one core, before they run.

    >>> found = best("checksum", ["u74", "c906"], sizes=[64], src=0)
    >>> [(row.machine, row.routines, row.cells[0].size) for row in found.rows]
    [('u74', 3, 64), ('c906', 3, 64)]
    """
    from breakeven.analysis.best import best as run_best
    from breakeven.machine.presets import machine_names
    from breakeven.sweeps.spec import seconds_of

    check_kind(kind)
    # What sets has no source: there the destination moves.
    sourceless, drawn = kind in ("set", "clear"), bool(options.get("mix"))
    offsets: Numbers = src if src is not None else 0 if drawn or sourceless else (0, 3)
    if dst is None:
        dst = (0, 3) if sourceless and not drawn else 0
    names = machine_names([machines] if isinstance(machines, str) else machines)
    specs = [
        sweep_spec(
            kind, name, settings, path_of(guest), sizes=sizes, src=offsets, dst=dst, cache=cache, measure=measure,
            parameters=None, options=options, quiet=True,
        )
        for name in names
    ]  # fmt: skip
    if before is not None:
        before(sum(spec.count() for spec in specs), seconds_of(specs))
    with opened_engine(store, guest) as opened:
        found = run_best(kind, specs, opened, threads, progress)
        return replace(found, simulated=simulated_by(opened, len(found.table)))


@resolving()
def compare_engines(
    *routines: str | Sequence[str],
    engines: Sequence[str] = ("embedded", "native"),
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
    guest: str | Path | None = None,
    trust_native: bool = False,
    progress: SweepProgress | None = None,
    **options: Unpack[Measuring],
) -> EngineComparison:
    """`compare` by several engines, point by point with the error of the first against the second (docs/native.md)."""
    from breakeven.analysis.across_engines import compare_engines as run_engines
    from breakeven.engines.open import open_named

    names = engine_names(",".join(engines))
    spec = sweep_spec(
        each_of(routines), machine, settings, path_of(guest), sizes=sizes, src=src, dst=dst, cache=cache,
        measure=measure, parameters=parameters, options=options,
    )  # fmt: skip
    path = None if isinstance(store, bool) else Path(store)
    opened = partial(
        open_named, guest=path_of(guest), store=path, no_store=store is False, trust_native=trust_native
    )  # fmt: skip
    return run_engines(spec, names, opened, threads, progress)


@resolving()
def explain(
    *routines: str | Sequence[str],
    size: int | str = "",
    machine: str = "u74",
    settings: Settings | None = None,
    src: int = 0,
    dst: int = 0,
    cache: str = "warm",
    measure: str = "latency",
    guest: str | Path | None = None,
    check: bool = True,
    ports: bool = False,
    **options: Unpack[Faulting],
) -> dict[str, Account]:
    """Where the cycles of each routine's point went, adding up to 100 %: routine -> account (docs/cli.md, explain).

    `ports`: with the functional units that each instruction takes (``.ports``; it is simulated again for them).
    Without `size` it is the one at which the lead between the routines changes (`compare`'s sizes; kept in the store).
    Raises `UserError` where the core keeps no account (a MinorCPU and an O3CPU do), and with `check` for a wrong
    output; else that account is empty, and its ``.result`` says what went wrong.

    >>> found = explain("rv-byte", "rv-word", size=64)
    >>> found["rv-byte"].cycles > found["rv-word"].cycles, round(sum(row.percent for row in found["rv-byte"].groups))
    (True, 100)
    """
    from breakeven.analysis.topdown import explain_points, opening_size

    if not size:
        if options.get("mix"):
            raise UserError("explain of a mix needs a size: the working set")
        unasked = {"fault_at", "fault_side"}
        asked = cast("Measuring", {name: value for name, value in options.items() if name not in unasked})
        size = opening_size(
            compare(
                *routines, machine=machine, settings=settings, src=src, dst=dst, cache=cache, measure=measure,
                guest=guest, **asked,
            )
        )  # fmt: skip
    points = [point_of(name, size, src, dst, cache, measure, options) for name in dict.fromkeys(each_of(routines))]
    with opened_engine(False, guest) as engine:
        spec, by_rule = machine_spec(machine, settings), options.get("repetitions") is None
        found = explain_points(engine, spec, points, by_rule, check, ports)
        return {account.result.point.routine: account for account in found}


@resolving()
def load_to_use(
    machine: str = "u74", *, settings: Settings | None = None, store: bool | str | Path = True
) -> list[Latency]:
    """The measured load-to-use latency of every level of a machine, from the core outwards.

    >>> [(each.level, each.cycles) for each in load_to_use("u74")][:2]
    [('cpu.dcache', 3.0), ('l2', 25.0)]
    """
    from breakeven.analysis.load_to_use import load_to_use_of

    path = None if isinstance(store, bool) else Path(store)
    return load_to_use_of(machine_spec(machine, settings), path, store is False)
