"""`tune` from question to header: simulate the candidates, find plans, simulate their dispatchers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from breakeven import points as pt
from breakeven.distribution import Distribution
from breakeven.errors import UserError
from breakeven.paths import in_checkout
from breakeven.runner import EmbeddedEngine, Engine, MachineSpec, check_known, describe, guest_routines, isa_of
from breakeven.sweep import SweepProgress, SweepSpec, failures, run_sweep
from breakeven.tune import RULES, Costs, Plan, Tried, Tuned, always, choose, plans_to_try
from breakeven.tune_build import Dispatchers, header, installed_candidates, kind_of

if TYPE_CHECKING:
    import pandas as pd

#: points of the candidates, unless the user asks for more: beyond it sizes are thinned out
POINTS = 1000
#: measurements of a point: between two of them the harness runs, and a predictor that goes by the branches before has
#: to meet a routine (and its dispatcher) this often to know it; long copies, from this size on, hardly care
REPETITIONS, FEW_REPETITIONS, LONG = 21, 5, 4096


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

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(src, dst) for src in self.src for dst in self.dst]

    def validate(self) -> None:
        """Raises `UserError` naming what cannot be."""
        if not self.name.isidentifier():
            raise UserError(f"the function's name {self.name!r} is no C identifier")
        if len(dict.fromkeys(self.candidates)) < 2:
            raise UserError("tune needs at least two different candidates: --candidates a,b")
        if self.branches < 0 or self.points < 1:
            raise UserError(f"branches {self.branches} and points {self.points} must be 0 or more, and 1 or more")
        for word, names, what in (
            (self.cache, pt.CACHE_STATES, "cache state"),
            (self.measure, pt.MEASURES[:2], "measure"),
        ):
            pt.index_of(names, word, what)

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
            "dispatched": tuned.dispatched, "header": self.header,
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
    isa = isa_of(describe(question.machine)[0])
    grid = question.grid()
    with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
        dispatchers = Dispatchers(isa, candidates, Path(folder)) if in_checkout() else None
        routines = dispatchers.candidates if dispatchers else installed_candidates(isa, candidates)
        kind = kind_of(routines)
        rules = [name for name, rule in RULES.items() if kind != "checksum" or not rule.two_sided]

        def at_call_sites(plans: Sequence[Plan]) -> list[np.ndarray]:
            assert dispatchers is not None
            elf, names = dispatchers.guest(plans)
            every = [name for places in names for name in places]
            cycles = _cycles(question, grid, every, EmbeddedEngine(elf), threads, progress)
            return [_typical([cycles[name] for name in places]) for places in names]

        if dispatchers:
            cycles = dict(zip(candidates, at_call_sites([always(name) for name in candidates]), strict=True))
        else:
            cycles = _cycles(question, grid, candidates, engine, threads, progress)
        costs = Costs(grid, tuple(question.pairs), cycles)
        plans = plans_to_try(costs, question.branches, rules)
        found = at_call_sites(plans) if dispatchers else [costs.planned(plan) for plan in plans]
    tried = [Tried(plan, one, costs.expected(one)) for plan, one in zip(plans, found, strict=True)]
    tuned = replace(choose(costs, tried), dispatched=dispatchers is not None)
    machine_hash = engine.machine_hash(question.machine)
    text = header(question.name, kind, tuned, routines, _about(question, grid, machine_hash))
    return Answer(question, tuned, text, machine_hash)


def _typical(places: Sequence[np.ndarray]) -> np.ndarray:
    """The mean over the places of a call site, without the least and the greatest."""
    return np.mean(np.sort(places, axis=0)[1:-1], axis=0)


def _cycles(
    question: Question, grid: Distribution, names: Sequence[str], engine: Any, threads: int,
    progress: SweepProgress | None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Cycles per call of each routine, sizes x pairs; raises `UserError` when an output is wrong."""
    parts = []
    for repetitions, sizes in (
        (REPETITIONS, [n for n in grid.shares if n < LONG]),
        (FEW_REPETITIONS, [n for n in grid.shares if n >= LONG]),
    ):
        if not sizes:
            continue
        spec = SweepSpec(
            routines=list(names), machines=[question.machine], sizes=sizes, offset_pairs=question.pairs,
            cache_states=[question.cache], measures=[question.measure], repetitions=repetitions,
        )  # fmt: skip
        table = run_sweep(spec, engine, threads, progress)
        if bad := failures(table):
            raise UserError(f"wrong output: {bad[0]}")
        shape = (len(names), len(sizes), len(question.pairs))
        parts.append((table["cycles_median"] / table["calls"]).to_numpy(dtype=float).reshape(shape))
    return dict(zip(names, np.concatenate(parts, axis=1), strict=True))


def _about(question: Question, grid: Distribution, machine_hash: str) -> list[str]:
    sizes = list(grid.shares)
    offsets = f"source offsets {_some(question.src)}, destination offsets {_some(question.dst)}, as likely each"
    thinned = len(question.distribution.shares) - len(sizes)
    return [
        f"machine: {question.machine} (description {machine_hash[:16]})",
        f"sizes: {question.distribution.name}; {len(sizes)} from {sizes[0]} to {sizes[-1]} simulated"
        + (f", {thinned} between them stood for by the nearest" if thinned else ""),
        f"{offsets}; {question.cache}, {question.measure}, the same size again and again",
        f"again: breakeven tune --machine {question.machine.name}"
        + "".join(f" --set {setting}" for setting in question.machine.settings)
        + f" --candidates {','.join(question.candidates)} ...",
    ]


def _some(values: Sequence[int]) -> str:
    whole = list(values) == list(range(values[0], values[-1] + 1)) and len(values) > 1
    return f"{values[0]}..{values[-1]}" if whole else ",".join(map(str, values))
