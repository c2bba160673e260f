"""`tune` from question to header: simulate the candidates, find plans, simulate their dispatchers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError
from breakeven.files.data import in_checkout
from breakeven.machine.resolve import resolve
from breakeven.output.html import table
from breakeven.points.distribution import Distribution
from breakeven.points.engine import Engine, SweepProgress
from breakeven.points.measurements import AGAIN, Tally
from breakeven.routine.checks import check_known
from breakeven.routine.guest import guest_routines
from breakeven.tuning.call_sites import CallSites, simulate
from breakeven.tuning.codegen import Dispatchers, header, installed_candidates, kind_of
from breakeven.tuning.plan_search import (
    Costs,
    Tried,
    Tuned,
    layouts,
    nearest,
    plans_near_everywhere,
    plans_to_try,
    ranked,
    worth_other_layouts,
)
from breakeven.tuning.plans import Plan, always, rules_for
from breakeven.tuning.request import TuneRequest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TuneResult:
    """Thresholds with the header that ships them."""

    question: TuneRequest
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
        """What was tried: a row for each plan, cycles/call."""
        import pandas as pd

        return pd.DataFrame(self.as_dict()["plans"])

    def __repr__(self) -> str:
        return f"TuneResult({self.question.machine}; {self.tuned.chosen.plan.describe()})"

    def _repr_html_(self) -> str:

        return answer_page(self)


def tune(question: TuneRequest, engine: Engine, threads: int = 0, progress: SweepProgress | None = None) -> TuneResult:
    """Finds the thresholds. `engine` simulates the candidates (and may store them); dispatchers are never stored.

    An installed wheel has no compiler to make dispatchers with: there the routines' own cycles decide.
    """
    question.validate()
    candidates = list(dict.fromkeys(question.candidates))
    if sequences := [name for name in candidates if ":" in name]:
        raise UserError(f"{sequences[0]} is a sequence, which no dispatcher calls: name single routines")
    known = guest_routines(question.machine)[1]
    check_known(known, candidates, question.machine)
    isa = resolve(question.machine).isa
    grid, tally = question.grid(), Tally()
    with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
        dispatchers = Dispatchers(isa, candidates, Path(folder)) if in_checkout() else None
        routines = dispatchers.candidates if dispatchers else installed_candidates(isa, candidates)
        kind = kind_of(routines)
        rules = rules_for(kind)

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
    return TuneResult(question, tuned, text, machine_hash, tally)


def _try(costs: Costs, plans: Sequence[Plan], sites: CallSites | None) -> list[Tried]:
    """The plans with what they take: at their call sites, or (None) by the routines' own cycles."""
    found = sites.cycles(plans, costs.best_by_size()) if sites else [costs.planned(plan) for plan in plans]
    return [Tried(plan, cycles, costs.expected(cycles)) for plan, cycles in zip(plans, found, strict=True)]


def _about(question: TuneRequest, grid: Distribution, machine_hash: str) -> list[str]:
    sizes = list(grid.shares)
    offsets = f"source offsets {_some(question.src)}, destination offsets {_some(question.dst)}, as likely each"
    thinned = len(question.distribution.shares) - len(sizes)
    return [
        f"machine: {question.machine} (description {machine_hash[:16]})",
        f"sizes: {question.distribution.name}; {len(sizes)} from {sizes[0]} to {sizes[-1]} simulated"
        + (f", {thinned} between them stood for by the nearest" if thinned else ""),
        f"{offsets}; {question.cache}, {question.measure}, the same size again and again; "
        f"medians of {question.measurements} measurements"
        + ("" if question.repetitions else f", of {AGAIN} where they do not converge"),
        f"again: {question.command() or 'breakeven.tune with the same weights, in Python'}",
    ]


def _some(values: Sequence[int]) -> str:
    whole = list(values) == list(range(values[0], values[-1] + 1)) and len(values) > 1
    return f"{values[0]}..{values[-1]}" if whole else ",".join(map(str, values))


def answer_page(answer: TuneResult) -> str:
    """What `tune` tried, what it chose, and the header."""
    found = answer.as_dict()
    rows = [
        (one["branches"], one["plan"], f"{one['expected']:.1f}", f"{one['near']}/{found['sizes']}")
        for one in found["plans"]
    ]
    page = table(("branches", "dispatch", "expected cycles", "sizes within 2 %"), rows, str(answer.question.machine))
    return f"{page}<p>chosen: {escape(found['chosen'])}</p><pre>{escape(answer.header)}</pre>"
