"""Verbs that decide themselves what to simulate: `find`, `surface`, `sensitivity`, `tune`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from breakeven.api.arguments import opened_engine, path_of, simulated_by
from breakeven.machine.resolve import resolving
from breakeven.sweeps.request import (
    Measuring,
    Numbers,
    Settings,
    Swept,
    check_kind,
    machine_spec,
    numbers,
    sweep_spec,
)

if TYPE_CHECKING:
    from breakeven.analysis.search_result import SearchResult, Surface
    from breakeven.analysis.sensitivity import Sensitivity
    from breakeven.points.engine import SweepProgress
    from breakeven.tuning.run import TuneResult
    from breakeven.tuning.targets import Answer as TargetAnswer


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
    scheduler: str | None = None,
    progress: SweepProgress | None = None,
    **options: Unpack[Measuring],
) -> SearchResult:
    """Where the lead changes between two routines, along the one axis that has several values (docs/cli.md).

    `scheduler`, `progress`: as of `sweep`.

    >>> found = find("rv-byte", "rv-word", sizes="1..256")
    >>> found.leads.certain, len(found.leads.probed) <= 25, found.leads.answer.ranges[-1].leaders
    (True, True, ('rv-word',))
    """
    from breakeven.analysis.find import find as search

    spec = sweep_spec(
        [old, new], machine, settings, path_of(guest), sizes=sizes, src=src, dst=dst, cache=cache, measure=measure,
        parameters=parameters, options=options,
    )  # fmt: skip
    spec.check_searched()
    with opened_engine(store, guest, scheduler=scheduler) as engine:
        found = search(spec, engine, threads, progress, budget)
        return replace(found, simulated=simulated_by(engine, len(found.table)))


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
    scheduler: str | None = None,
    progress: SweepProgress | None = None,
    **options: Unpack[Measuring],
) -> Surface:
    """Which size to ship as the threshold between `old` and `new`, over one or two machine parameters.

    >>> found = surface("rv-byte", "rv-word", {"cpu.executeBranchDelay": [1, 2]}, sizes="1..64")
    >>> list(found.table()["cpu.executeBranchDelay"])
    [1, 2]
    """
    from breakeven.analysis.find import surface as search

    spec = sweep_spec(
        [old, new], machine, settings, path_of(guest), sizes=sizes, src=src, dst=dst, cache=cache, measure=measure,
        parameters=parameters, options=options,
    )  # fmt: skip
    spec.check_searched()
    with opened_engine(store, guest, scheduler=scheduler) as engine:
        return search(spec, engine, threads, progress)


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
    progress: SweepProgress | None = None,
    **options: Unpack[Measuring],
) -> Sensitivity:
    """Which parameters of the machine move the break-even of two routines (of one size: the lead), the strongest first
    (docs/cli.md).

    `top`: parameters whose break-even is searched again. `match`: words that a parameter's path or source must have.
    """
    from breakeven.analysis.sensitivity import sensitivity as run_sensitivity

    spec = sweep_spec(
        [old, new], machine, settings, path_of(guest), sizes=sizes, src=src, dst=dst, cache=cache, measure=measure,
        parameters=None, options=options,
    )  # fmt: skip
    spec.check_searched()
    with opened_engine(store, guest) as engine:
        return run_sensitivity(spec, engine, threads, progress, top=top, match=match)


@resolving()
def tune_target(
    target: str,
    machines: str | Sequence[str] = "u74",
    *,
    settings: Settings | None = None,
    threads: int = 0,
    store: bool | str | Path = True,
    progress: SweepProgress | None = None,
) -> list[TargetAnswer]:
    """A threshold that a library or a kernel ships, on each machine: what it should be, and the line (docs/tune.md)."""
    from breakeven.tuning.targets import answer, target_named

    found = target_named(target)
    specs = [machine_spec(name, settings) for name in ([machines] if isinstance(machines, str) else machines)]
    with opened_engine(store, None) as engine:
        return [answer(found, spec, engine, threads, progress) for spec in specs]


@resolving()
def tune(
    *candidates: str,
    kind: str = "copy",
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
    repetitions: int | None = None,
    threads: int = 0,
    store: bool | str | Path = True,
    progress: SweepProgress | None = None,
) -> TuneResult:
    """The dispatch by size and alignment with the least expected cycles, and the C header that ships it (docs/tune.md).

    Without candidates it is made of up to three of the routines of a `kind`: those with the fewest expected cycles.

    `distribution`: ``"uniform"`` over `sizes`, ``"spec2017"``, a file, or weights by size. `everywhere`: near the best
    routine at every size, instead of the least expected cycles.

    >>> found = tune("rv-byte", "rv-word", distribution={8: 3, 64: 1}, src=0, branches=0)
    >>> found.as_dict()["chosen"], "rv_word(dst, src, n);" in found.header
    ('rv-word', True)
    """
    from breakeven import points as pt
    from breakeven.points.distribution import distribution_of
    from breakeven.tuning.candidates import best_candidates
    from breakeven.tuning.request import TuneRequest
    from breakeven.tuning.run import tune as run_tune

    spec, offsets = machine_spec(machine, settings), (
        numbers(src, "src offset", pt.MAX_OFFSET), numbers(dst, "dst offset", pt.MAX_OFFSET),
    )  # fmt: skip
    shares = distribution_of(distribution, numbers(sizes, "size", pt.MAX_SIZE))
    with opened_engine(store, None) as engine:
        if not candidates:
            check_kind(kind)
            candidates = tuple(best_candidates(kind, spec, shares, offsets, cache, measure, engine, threads, progress))
        question = TuneRequest(
            spec, candidates, shares, *offsets, branches, cache, measure, points, name, everywhere, repetitions
        )
        question.validate()
        return run_tune(question, engine, threads, progress)
