"""`tune` from question to header: simulate the candidates, find plans, simulate their dispatchers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven import points as pt
from breakeven.distribution import Distribution
from breakeven.errors import UserError
from breakeven.measurements import Tally, repetitions_of
from breakeven.paths import in_checkout
from breakeven.resolved import resolve
from breakeven.runner import Engine, MachineSpec, check_known, guest_routines
from breakeven.sweep import SweepProgress
from breakeven.tune import (
    RULES,
    Costs,
    Plan,
    Tried,
    Tuned,
    always,
    layouts,
    nearest,
    plans_near_everywhere,
    plans_to_try,
    ranked,
    worth_other_layouts,
)
from breakeven.tune_build import Dispatchers, header, installed_candidates, kind_of
from breakeven.tune_sites import CallSites, simulate

if TYPE_CHECKING:
    import pandas as pd

#: points of the candidates, unless the user asks for more: beyond it sizes are thinned out
POINTS = 1000
#: tests that a dispatcher may make
MOST_BRANCHES = 16


@dataclass(frozen=True)
class Question:
    """What to tune for."""

    machine: MachineSpec
    candidates: Sequence[str]
    distribution: Distribution
    src: Sequence[int] = (0,)
    dst: Sequence[int] = (0,)
    branches: int = 3
    cache: str = "warm"
    measure: str = "latency"
    #: most points of the candidates
    points: int = POINTS
    #: of the function in the header
    name: str = "tuned_copy"
    #: near the best routine at every size, instead of the least expected cycles
    everywhere: bool = False
    #: measurements of each point; None: as many as `measurements.repetitions_of` says
    repetitions: int | None = None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(src, dst) for src in self.src for dst in self.dst]

    def validate(self) -> None:
        """Raises `UserError` naming what cannot be."""
        if not self.name.isidentifier():
            raise UserError(f"the function's name {self.name!r} is no C identifier")
        if len(dict.fromkeys(self.candidates)) < 2:
            raise UserError("tune needs at least two different candidates: --candidates a,b")
        if not 0 <= self.branches <= MOST_BRANCHES or self.points < 1:
            raise UserError(
                f"branches {self.branches} must be 0 to {MOST_BRANCHES}, and points {self.points} 1 or more"
            )
        for word, names, what in (
            (self.cache, pt.CACHE_STATES, "cache state"),
            (self.measure, pt.MEASURES[:2], "measure"),
        ):
            pt.index_of(names, word, what)

    @property
    def measurements(self) -> int:
        return self.repetitions or repetitions_of(self.measure)

    def grid(self) -> Distribution:
        """The sizes that are simulated, with the shares they stand for."""
        most = max(16, self.points // (len(self.pairs) * len(self.candidates)))
        return self.distribution.on_grid(most)


@dataclass(frozen=True)
class Answer:
    """Thresholds with the header that ships them."""

    question: Question
    tuned: Tuned
    #: text of the C header
    header: str
    machine_hash: str
    #: of every point that was simulated
    tally: Tally

    @property
    def worst(self) -> tuple[int, float]:
        """The size at which most is lost against the best routine there, and how much (a share)."""
        regret = self.tuned.chosen.regret(self.tuned.costs)
        at = int(regret.argmax())
        return self.tuned.costs.sizes[at], float(regret[at])

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``; cycles are those of a call."""
        tuned, costs = self.tuned, self.tuned.costs
        size, loss = self.worst
        return {
            "machine": str(self.question.machine), "machine_hash": self.machine_hash,
            "distribution": costs.distribution.name, "sizes": len(costs.sizes),
            "expected": {name: costs.expected(cycles) for name, cycles in costs.cycles.items()},
            "always_right": costs.expected(costs.best()),
            "plans": [
                {"branches": one.plan.branches, "plan": one.plan.describe(), "without_dispatch": one.plan.cycles,
                 "expected": one.expected, "near": one.near(costs)}
                for one in tuned.tried
            ],
            "chosen": tuned.chosen.plan.describe(), "near": tuned.chosen.near(costs), "worst": loss, "worst_size": size,
            "dispatched": tuned.dispatched, "repetitions": self.question.measurements,
            "not_converged": self.tally.not_converged, "header": self.header,
        }  # fmt: skip

    def table(self) -> pd.DataFrame:
        """What was tried: a row for each plan, cycles a call."""
        import pandas as pd

        return pd.DataFrame(self.as_dict()["plans"])

    def _repr_html_(self) -> str:
        from breakeven.html import answer_page

        return answer_page(self)


def tune(question: Question, engine: Engine, threads: int = 0, progress: SweepProgress | None = None) -> Answer:
    """Finds the thresholds. `engine` simulates the candidates (and may store them); dispatchers are never stored.

    An installed wheel has no compiler to make dispatchers with: there the routines' own cycles decide.
    """
    question.validate()
    candidates = list(dict.fromkeys(question.candidates))
    known = guest_routines(question.machine)[1]
    check_known(known, candidates, question.machine)
    isa = resolve(question.machine).isa
    grid, tally = question.grid(), Tally()
    with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
        dispatchers = Dispatchers(isa, candidates, Path(folder)) if in_checkout() else None
        routines = dispatchers.candidates if dispatchers else installed_candidates(isa, candidates)
        kind = kind_of(routines)
        rules = [name for name, rule in RULES.items() if kind != "checksum" or not rule.two_sided]

        sites = CallSites(dispatchers, question, grid, threads, progress, tally) if dispatchers else None
        if sites:
            cycles = dict(zip(candidates, sites.cycles([always(name) for name in candidates]), strict=True))
        else:
            cycles = simulate(question, list(grid.shares), candidates, engine, threads, progress, tally)
        costs = Costs(grid, tuple(question.pairs), cycles)
        if question.everywhere:
            tried = _try(costs, plans_near_everywhere(costs, question.branches), sites)
            chosen = nearest(costs, tried)
        else:
            tried = _try(costs, plans_to_try(costs, question.branches, rules), sites)
            if sites:
                others = [other for plan in worth_other_layouts(costs, tried) for other in layouts(plan, grid)]
                tried += _try(costs, others, sites)
            chosen = ranked(costs, tried)[0]
    tuned = Tuned(costs, sorted(tried, key=lambda one: one.plan.branches), chosen, dispatchers is not None)
    machine_hash = engine.machine_hash(question.machine)
    text = header(question.name, kind, tuned, routines, _about(question, grid, machine_hash))
    return Answer(question, tuned, text, machine_hash, tally)


def _try(costs: Costs, plans: Sequence[Plan], sites: CallSites | None) -> list[Tried]:
    """The plans with what they take: at their call sites, or (None) by the routines' own cycles."""
    found = sites.cycles(plans, costs.best_by_size()) if sites else [costs.planned(plan) for plan in plans]
    return [Tried(plan, cycles, costs.expected(cycles)) for plan, cycles in zip(plans, found, strict=True)]


def _about(question: Question, grid: Distribution, machine_hash: str) -> list[str]:
    sizes = list(grid.shares)
    offsets = f"source offsets {_some(question.src)}, destination offsets {_some(question.dst)}, as likely each"
    thinned = len(question.distribution.shares) - len(sizes)
    return [
        f"machine: {question.machine} (description {machine_hash[:16]})",
        f"sizes: {question.distribution.name}; {len(sizes)} from {sizes[0]} to {sizes[-1]} simulated"
        + (f", {thinned} between them stood for by the nearest" if thinned else ""),
        f"{offsets}; {question.cache}, {question.measure}, the same size again and again; "
        f"medians of {question.measurements}",
        f"again: breakeven tune --machine {question.machine.name}"
        + "".join(f" --set {setting}" for setting in question.machine.settings)
        + f" --candidates {','.join(question.candidates)}{' --everywhere' * question.everywhere} ...",
    ]


def _some(values: Sequence[int]) -> str:
    whole = list(values) == list(range(values[0], values[-1] + 1)) and len(values) > 1
    return f"{values[0]}..{values[-1]}" if whole else ",".join(map(str, values))
