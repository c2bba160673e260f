"""The verbs that simulate: `run`, `sweep`, `compare`, `find`, `surface`, `sensitivity`, `tune`, `explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from breakeven.api.arguments import (
    Faulting,
    Measuring,
    Numbers,
    Settings,
    Swept,
    machine_of,
    machines_on,
    numbers_of,
    opened_engine,
    point_of,
    spec_of,
)
from breakeven.machine.resolve import resolving

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.analysis.comparison import Comparison
    from breakeven.analysis.search_result import SearchResult, Surface
    from breakeven.analysis.sensitivity import Sensitivity
    from breakeven.analysis.topdown import Account
    from breakeven.points import Result
    from breakeven.tuning.run import TuneResult


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

    point = point_of(routine, size, src, dst, cache, measure, options)
    with opened_engine(store, guest, engine) as opened:
        session = opened.open(machine_of(machines_on(engine, machine), settings))
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

    spec = spec_of(
        routines, sizes, machines_on(engine, machines), settings, guest, src=src, dst=dst, cache=cache, measure=measure,
        parameters=parameters, options=options,
    )  # fmt: skip
    with opened_engine(store, guest, engine) as opened:
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

    spec = spec_of(
        routines, sizes, machines_on(engine, machine), settings, guest, src=src, dst=dst, cache=cache, measure=measure,
        parameters=parameters, options=options,
    )  # fmt: skip
    with opened_engine(store, guest, engine) as opened:
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
) -> SearchResult:
    """Where the lead changes between two routines, along the one axis that has several values (docs/cli.md).

    >>> found = find("rv-byte", "rv-word", sizes="1..256")
    >>> found.leads.certain, len(found.leads.probed) <= 25, found.leads.intervals[-1].leaders
    (True, True, ('rv-word',))
    """
    from breakeven.analysis.find import find as search

    spec = spec_of(
        [old, new], sizes, machine, settings, guest, src=src, dst=dst, cache=cache, measure=measure,
        parameters=parameters, options=options,
    )  # fmt: skip
    with opened_engine(store, guest) as engine:
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

    spec = spec_of(
        [old, new], sizes, machine, settings, guest, src=src, dst=dst, cache=cache, measure=measure,
        parameters=parameters, options=options,
    )  # fmt: skip
    with opened_engine(store, guest) as engine:
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

    spec = spec_of(
        [old, new], sizes, machine, settings, guest, src=src, dst=dst, cache=cache, measure=measure,
        parameters=None, options=options,
    )  # fmt: skip
    with opened_engine(store, guest) as engine:
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
) -> TuneResult:
    """The dispatch by size and alignment with the least expected cycles, and the C header that ships it (docs/tune.md).

    `distribution`: ``"uniform"`` over `sizes`, ``"spec2017"``, a file, or weights by size. `everywhere`: near the best
    routine at every size, instead of the least expected cycles.

    >>> found = tune("rv-byte", "rv-word", distribution={8: 3, 64: 1}, src=0, branches=0)
    >>> found.as_dict()["chosen"], "rv_word(dst, src, n);" in found.header
    ('rv-word', True)
    """
    from breakeven import points as pt
    from breakeven.tuning.distribution import distribution_of
    from breakeven.tuning.request import TuneRequest
    from breakeven.tuning.run import tune as run_tune

    question = TuneRequest(
        machine_of(machine, settings), candidates,
        distribution_of(distribution, numbers_of(sizes, "size", pt.MAX_SIZE)),
        numbers_of(src, "src offset", pt.MAX_OFFSET), numbers_of(dst, "dst offset", pt.MAX_OFFSET),
        branches, cache, measure, points, name, everywhere,
    )  # fmt: skip
    question.validate()
    with opened_engine(store, None) as engine:
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

    points = [point_of(name, size, src, dst, cache, measure, options) for name in dict.fromkeys(routines)]
    with opened_engine(False, guest) as engine:
        by_rule = options.get("repetitions") is None
        found = explain_points(engine, machine_of(machine, settings), points, by_rule)
        return {point.routine: account for point, account in found}
