"""Studies of published claims: what to run, what was published, what counts as agreement.

A study is a file in ``configs/studies/`` that defines ``STUDY``, and the text of its report beside it (``<name>.md``);
the published rows stand in ``configs/studies/claims.csv``, the studies' questions in ``studies.csv``.
Tolerances are fixed here, before anything runs, and are the same for every study.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from breakeven.analysis.find import find, surface
from breakeven.analysis.search_result import SearchResult, Surface
from breakeven.errors import UserError
from breakeven.files.data import find_data
from breakeven.points.engine import Engine, SweepProgress
from breakeven.points.table import failures
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec

if TYPE_CHECKING:
    import pandas as pd


#: a simulated ratio agrees when it is within 15 % of the published one
RATIO_TOLERANCE = 0.15
#: an absolute number agrees within this factor
ABSOLUTE_FACTOR = 1.25
#: a break-even size agrees within this factor (one step of powers of two)
SIZE_FACTOR = 2.0
#: a winner must win this share of the points
WINNER_SHARE = 0.95
#: a lead below this is a tie, on whichever side
TIE = 0.01

REPRODUCED = "reproduced"
DIRECTION_ONLY = "direction only"
NOT_REPRODUCED = "not reproduced"
NOT_SIMULATED = "not simulated"


@dataclass(frozen=True)
class Claim:
    """One published row."""

    study: str
    claim: str
    cpu: str
    isa: str
    kind: str
    routine: str
    baseline: str
    size: str
    src_offset: str
    dst_offset: str
    condition: str
    metric: str
    value: str
    unit: str
    source: str


@dataclass(frozen=True)
class Verdict:
    """What the simulation says about a claim."""

    claim: str
    published: str
    simulated: str
    verdict: str
    #: why, in a sentence
    note: str = ""
    #: the numbers behind it, which a report folds away
    more: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class TableItem:
    """A table of the report; also written as ``<name>.csv`` beside it."""

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class FigureItem:
    """A figure of the report: `draw` writes it to the path it is given."""

    name: str
    caption: str
    draw: Callable[[Path], Any]


@dataclass(frozen=True)
class Flip:
    """A parameter of the CPU that would have flipped a conclusion, and from which value on."""

    conclusion: str
    #: what is moved: a machine's parameter
    parameter: str
    #: its value on the machine of the study
    has: str
    #: where a search found the conclusion flipped; "nowhere in LOW..HIGH" where it is not
    at: str
    #: name of the figure that shows the curve
    figure: str


@dataclass(frozen=True)
class Contents:
    """What a study's text refers to: ``{{name}}`` in a line; ``{{table name}}``, ``{{figure name}}`` on their own.

    With `flips` the text also has ``{{flips}}``, their table.
    """

    values: Mapping[str, str]
    tables: Sequence[TableItem]
    figures: Sequence[FigureItem]
    flips: Sequence[Flip] = ()


@dataclass(frozen=True)
class Study:
    """A claim set, the sweeps that answer it, and how they are judged and told."""

    name: str
    title: str
    #: name -> (what it is for, the sweep)
    grids: Mapping[str, tuple[str, SweepSpec]]
    judge: Callable[[Data], list[Verdict]]
    contents: Callable[[Data], Contents]
    #: the report in Markdown with references into `contents`; None: the file beside the study's, ``<name>.md``
    text: str | None = None
    #: name -> (what it is for, what is searched): the axis with several values, or, with several sizes and a swept
    #: parameter, the break-even size over the parameter (`breakeven.analysis.find`)
    searches: Mapping[str, tuple[str, SweepSpec]] = field(default_factory=dict)
    #: what it asks, in a sentence of 90 characters at most; empty: its title says it
    question: str = ""
    #: the claim whose numbers stand for the study; empty: its first
    headline: str = ""
    #: the answer to `question` in a sentence, from what has run; None: how many of its claims came out
    answer: Callable[[Data], str] | None = None


@dataclass
class Data:
    """The tables of a study's grids and searches. `cycles` (median) and `least` are per call."""

    claims: dict[str, Claim]
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    #: what the searches found
    found: dict[str, SearchResult] = field(default_factory=dict)
    surfaces: dict[str, Surface] = field(default_factory=dict)

    def select(self, grid: str, **where: Any) -> pd.DataFrame:
        """Rows of a grid that match every column given."""
        return self.tables[grid][self._matches(grid, where)]

    def cycles(self, grid: str, **where: Any) -> float:
        """Cycles per call of the one point that matches."""
        found = self.tables[grid]["cycles"][self._matches(grid, where)]
        if len(found) != 1:
            raise KeyError(f"grid {grid} has {len(found)} points with {where}, not one")
        return float(found.iloc[0])

    def _matches(self, grid: str, where: Mapping[str, Any]) -> np.ndarray:
        """By row of a grid, whether it matches every column given. Some row does."""
        table = self.tables[grid]
        found = np.ones(len(table), dtype=bool)
        for column, value in where.items():
            found &= (table[column] == value).to_numpy(dtype=bool)
        if not found.any():
            raise KeyError(f"grid {grid} has no points with {where}")
        return found

    def curve(self, grid: str, column: str = "cycles", **where: Any) -> tuple[list[int], list[float]]:
        """Sizes and cycles per call of the points that match, ascending; `column`: ``least`` of the measurements."""
        rows = self.select(grid, **where).sort_values("size")
        return [int(v) for v in rows["size"]], [float(v) for v in rows[column]]


@dataclass(frozen=True)
class Outcome:
    """A study that has run."""

    study: Study
    data: Data
    verdicts: list[Verdict]
    failures: list[str]
    points: int
    #: grid -> machine as text -> hash of its description
    hashes: dict[str, str]

    @property
    def answer(self) -> str:
        """The answer to the study's question, in a sentence."""
        if self.study.answer is not None:
            return self.study.answer(self.data)
        found = [verdict.verdict for verdict in self.verdicts if verdict.verdict != NOT_SIMULATED]
        came, direction = found.count(REPRODUCED), found.count(DIRECTION_ONLY)
        return f"{came} of {len(found)} published claims come out, {direction} more in their direction only."

    @property
    def headline(self) -> Verdict | None:
        """The verdict on the claim that stands for the study; None: it has no claims."""
        named = [verdict for verdict in self.verdicts if verdict.claim == self.study.headline]
        return next(iter(named or self.verdicts), None)


def load_claims(study: str) -> dict[str, Claim]:
    """The published rows of a study, by claim."""
    with open(find_data("configs", "studies") / "claims.csv", newline="", encoding="utf-8") as file:
        rows = [Claim(**row) for row in csv.DictReader(file) if row["study"] == study]
    return {row.claim: row for row in rows}


def as_asked(spec: SweepSpec) -> SweepSpec:
    """`spec` as a study runs it: a study states how many measurements its points take (grids.csv) and keeps to it;
    those that have not converged then are told."""
    return replace(spec, again=False)


def run_study(study: Study, engine: Engine, threads: int = 0, progress: SweepProgress | None = None) -> Outcome:
    """Runs every grid and every search of a study and judges its claims."""
    grids, searches = (
        {name: (words, as_asked(spec)) for name, (words, spec) in specs.items()}
        for specs in (study.grids, study.searches)
    )
    data = Data(load_claims(study.name))
    total = sum(spec.count() for _, spec in study.grids.values())
    done = 0
    bad: list[str] = []
    for name, (_, spec) in grids.items():
        part = _shifted(progress, done, total, f"{study.name} {name}")
        _keep(data, name, run_sweep(spec, engine, threads, part), bad)
        done += spec.count()
    for name, (_, spec) in searches.items():
        _keep(data, name, _search(data, name, spec, engine, threads), bad)
        if progress is not None:
            progress(total, total, f"{study.name} {name}")
    verdicts = study.judge(data)
    missing = set(data.claims) - {verdict.claim for verdict in verdicts}
    if missing:
        raise UserError(f"study {study.name} gives no verdict on: {', '.join(sorted(missing))}")
    if study.headline and study.headline not in {verdict.claim for verdict in verdicts}:
        raise UserError(f"study {study.name} gives no verdict on {study.headline!r}, the claim that stands for it")
    order = list(data.claims)
    verdicts.sort(key=lambda verdict: order.index(verdict.claim) if verdict.claim in order else len(order))
    points = sum(len(table) for table in data.tables.values())
    return Outcome(study, data, verdicts, bad, points, _hashes(study, engine))


def _keep(data: Data, name: str, table: pd.DataFrame, bad: list[str]) -> None:
    bad += [f"{name}: {failure}" for failure in failures(table)]
    calls = table["calls"]
    data.tables[name] = table.assign(cycles=table["cycles_median"] / calls, least=table["cycles_min"] / calls)


def run_search(
    spec: SweepSpec, engine: Engine, threads: int = 0, progress: SweepProgress | None = None
) -> SearchResult | Surface:
    """A `find` along the axis with several values; with several sizes and a swept parameter a `surface`."""
    one_axis = len(spec.sizes) == 1 or not spec.parameters
    return (find if one_axis else surface)(spec, engine, threads, progress)


def _search(data: Data, name: str, spec: SweepSpec, engine: Engine, threads: int) -> pd.DataFrame:
    """Runs a search; the points it probed."""
    import pandas as pd

    found = run_search(spec, engine, threads)
    if isinstance(found, SearchResult):
        data.found[name] = found
        return found.table
    data.surfaces[name] = found
    combinations = itertools.product(*found.parameters.values())
    tables = [
        item.table.assign(**dict(zip(found.parameters, values, strict=True)))
        for values, item in zip(combinations, found.found, strict=True)
    ]
    return pd.concat(tables, ignore_index=True)


def _shifted(progress: SweepProgress | None, start: int, total: int, label: str) -> SweepProgress | None:
    if progress is None:
        return None
    return lambda done, _total, _label: progress(start + done, total, label)


def _hashes(study: Study, engine: Engine) -> dict[str, str]:
    """The hash of every machine that a grid names (without swept parameters)."""
    specs = [*study.grids.values(), *study.searches.values()]
    machines = {machine: None for _, spec in specs for machine in spec.machines}
    return {str(machine): engine.machine_hash(machine) for machine in machines}


# How claims are judged. Each returns one of the four verdicts.


def judge_fact(holds: bool) -> str:
    """A behaviour that is there or not."""
    return REPRODUCED if holds else NOT_REPRODUCED


def judge_ratio(published: float, simulated: float, neutral: float = 1.0) -> str:
    """A ratio: on the published side of `neutral` by more than a tie, and within 15 %; a published `neutral` has no
    side."""
    if not math.isfinite(simulated):
        return NOT_REPRODUCED
    near_enough = abs(simulated / published - 1) <= RATIO_TOLERANCE
    if abs(published / neutral - 1) <= TIE:
        return REPRODUCED if near_enough else NOT_REPRODUCED
    if not _same_side(published / neutral, simulated / neutral):
        return NOT_REPRODUCED
    return REPRODUCED if near_enough else DIRECTION_ONLY


def _same_side(published: float, simulated: float) -> bool:
    """Whether two ratios are on the same side of 1, the simulated one by more than a tie."""
    return simulated > 1 + TIE if published > 1 else simulated < 1 - TIE


def judge_saving(published: float, simulated: float) -> str:
    """A share of time saved: within a factor of 1.25 of the share itself; a tie saves nothing."""
    if not math.isfinite(simulated) or simulated <= TIE:
        return NOT_REPRODUCED
    near_enough = max(simulated / published, published / simulated) <= ABSOLUTE_FACTOR
    return REPRODUCED if near_enough else DIRECTION_ONLY


def judge_absolute(published: float, simulated: float) -> str:
    """An absolute number: within a factor of 1.25."""
    if not math.isfinite(simulated) or simulated <= 0:
        return NOT_REPRODUCED
    return REPRODUCED if max(simulated / published, published / simulated) <= ABSOLUTE_FACTOR else NOT_REPRODUCED


def judge_size(published: float, simulated: float | None) -> str:
    """A break-even size: within one power of two. An earlier one is the direction only: from the published size on the
    published winner wins. With a later one it loses there, which is no agreement."""
    if simulated is None or simulated > published * SIZE_FACTOR:
        return NOT_REPRODUCED
    return REPRODUCED if simulated >= published / SIZE_FACTOR else DIRECTION_ONLY


def judge_winner(share: float, gain: float) -> str:
    """A winner: ahead in nearly all of the points and not merely tied; the direction only above a half."""
    if gain <= 1 + TIE:
        return NOT_REPRODUCED
    if share >= WINNER_SHARE:
        return REPRODUCED
    return DIRECTION_ONLY if share > 0.5 else NOT_REPRODUCED


def time_ratio_of_shares(before: float, after: float) -> float:
    """t1/t0 of a part of the work from its shares of CPU time before and after (as fractions).

    With other work per byte w equal: share s = t / (t + w), so t = w * s / (1 - s) and w cancels in the ratio.
    """
    return (after / (1 - after)) / (before / (1 - before))
