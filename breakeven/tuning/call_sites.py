"""What plans take at their call sites: simulated in several places, of which the mean counts.

A branch predictor may know a loop's exit behind one call site and not behind another, and a cycle's micro-ops are
grouped otherwise in each: of a copy of 400 bytes that is a tenth and more. So every plan, and every routine called
without a test, is simulated in `FIRST` places, and where their mean leaves what is asked open in all there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from breakeven.engines.embedded import EmbeddedEngine
from breakeven.errors import UserError
from breakeven.points.distribution import Distribution
from breakeven.points.engine import SweepProgress
from breakeven.points.measurements import Tally
from breakeven.points.table import failures
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec
from breakeven.tuning.codegen import Dispatchers
from breakeven.tuning.plan_search import NEAR
from breakeven.tuning.plans import Plan

if TYPE_CHECKING:
    from breakeven.tuning.request import TuneRequest


#: places in which each plan is simulated at every size
FIRST = 6
#: standard errors of their mean by which it may be off
ERRORS = 3
#: the standard error (a share) up to which it is good enough anyhow
SURE = NEAR / 4


class CallSites:
    """Simulates plans where they are called from."""

    def __init__(
        self, dispatchers: Dispatchers, question: TuneRequest, grid: Distribution, threads: int,
        progress: SweepProgress | None, tally: Tally,
    ) -> None:  # fmt: skip
        self._dispatchers = dispatchers
        self._question = question
        self._sizes = list(grid.shares)
        self._threads = threads
        self._progress = progress
        self._tally = tally

    def cycles(self, plans: Sequence[Plan], best: np.ndarray | None = None) -> list[np.ndarray]:
        """Cycles per call of each plan, sizes x pairs: means over the places.

        `best` by size: what matters is whether a plan is within `NEAR` of it; None: which plan is the fastest.
        """
        found: dict[int, np.ndarray] = {}
        files = [self._dispatchers.files_of(plan) for plan in plans]
        # No plan shares a guest with a file of the user's that it does not call.
        for some in dict.fromkeys(files):
            which = [i for i, each in enumerate(files) if each == some]
            found |= zip(which, self._cycles([plans[i] for i in which], best), strict=True)
        return [found[i] for i in range(len(plans))]

    def _cycles(self, plans: Sequence[Plan], best: np.ndarray | None) -> list[np.ndarray]:
        elf, names = self._dispatchers.guest(plans)
        engine = EmbeddedEngine(elf)
        first = self._simulated(engine, self._sizes, [places[:FIRST] for places in names])
        means = first.mean(axis=1)
        for plan, again in enumerate(unsure(first, best)):
            if again.any():
                sizes = [size for size, wanted in zip(self._sizes, again, strict=True) if wanted]
                (more,) = self._simulated(engine, sizes, [names[plan][FIRST:]])
                means[plan][again] = np.concatenate([first[plan][:, again], more]).mean(axis=0)
        return list(means)

    def _simulated(self, engine: EmbeddedEngine, sizes: list[int], names: list[list[str]]) -> np.ndarray:
        """Cycles, plans x places x sizes x pairs."""
        every = [name for places in names for name in places]
        found = simulate(self._question, sizes, every, engine, self._threads, self._progress, self._tally)
        return np.array([[found[name] for name in places] for places in names])


def unsure(cycles: np.ndarray, best: np.ndarray | None) -> np.ndarray:
    """Where more places are needed, plans x sizes.

    `cycles` are plans x places x sizes x pairs; `best` as of `CallSites.cycles`.
    """
    by_place = cycles.mean(axis=3)
    mean = by_place.mean(axis=1)
    error = by_place.std(axis=1, ddof=1) / np.sqrt(by_place.shape[1])
    limit = mean.min(axis=0) if best is None else best * (1 + NEAR)
    open_: np.ndarray = (error > SURE * mean) & (abs(mean - limit) < ERRORS * error)
    return open_


def simulate(
    question: TuneRequest, sizes: Sequence[int], names: Sequence[str], engine: Any, threads: int,
    progress: SweepProgress | None, tally: Tally,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Cycles per call of each routine, sizes x pairs, counted in `tally`; `UserError` when an output is wrong."""
    spec = SweepSpec(
        routines=list(names), machines=[question.machine], sizes=list(sizes), offset_pairs=question.pairs,
        cache_states=[question.cache], measures=[question.measure], repetitions=question.repetitions,
    )  # fmt: skip
    table = run_sweep(spec, engine, threads, progress)
    if bad := failures(table):
        raise UserError(f"wrong output: {bad[0]}")
    tally.add(table)
    shape = (len(names), len(sizes), len(question.pairs))
    cycles = (table["cycles_median"] / table["calls"]).to_numpy(dtype=float).reshape(shape)
    return dict(zip(names, cycles, strict=True))
