"""Where the lead changes between two routines, found with few points instead of a full grid.

Along size (and offsets) a search probes a dense start and evenly spaced values, lets a surrogate (`surrogate`) predict
the rest, reads the leads off the predicted curves with `crossings.intervals`, and then doubts them: both
sides of every change that it would report are probed, the places where teeth would move it, and wherever the lead is
least certain. What comes out goes back into the surrogate, until nothing is in doubt or the budget is used up.

Along a machine parameter curves are smooth: a coarse start, then bisection of every change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from breakeven.analysis.crossings import PERIOD, TIE, Interval, Leads, intervals, leads
from breakeven.analysis.surrogate import Array, Covariances, Surrogate, normal

#: grid points -> times of the two routines there
Probe = Callable[[list[int]], tuple[Sequence[float], Sequence[float]]]
#: share of the grid that a search may probe, and what it may probe of the smallest grids
SHARE, LEAST = 0.1, 24
#: the surrogate's work grows with the cube of its points
MOST = 1500
#: points probed in a round: enough for the host's threads
ROUND = 16
#: sizes at the start of the grid that are all probed: the smallest ones follow no rule
_START = 20
#: one point of so many of the budget goes to a start that is closer together where sizes are small
_FINE = 16
#: parts into which a smooth axis is divided first
_COARSE = 8
#: the standard deviations are taken this much larger: a threshold is no Gaussian process
_CAUTION = 1.3
#: a stretch of one lead that nearly ends an alternating zone (bytes)
_LONG = 52
#: a point is in doubt when its lead is wrong with at least this probability
_DOUBT = 0.002
#: how far from a change its teeth are looked at (bytes)
_STEPS = (2, 3, 4, 8, 16, 32, PERIOD - 2, PERIOD - 1, PERIOD, PERIOD + 1, PERIOD + 2)
#: share of a round for verifying, until the budget nears its end: the curves must be known first
_VERIFY = 0.5
#: beside a change it is looked at with already this probability
_REMOTE = 1e-4


@dataclass(frozen=True)
class Lead:
    """What a search found."""

    #: the grid, and the two curves on it: measured where probed, predicted elsewhere
    x: list[float]
    curves: dict[str, list[float]]
    #: numbers of the grid points that were probed, ascending
    probed: list[int]
    #: who leads where; of spikes those that were probed
    answer: Leads
    #: for each change between neighbouring ranges: whether both sides of it were probed
    verified: list[bool]
    #: grid points whose predicted lead is mistaken (their expected number; within an alternating zone a tenth)
    expected_errors: float
    rounds: int

    @property
    def certain(self) -> bool:
        """Every change verified, and less than half a point in doubt."""
        return all(self.verified) and self.expected_errors < 0.5


def budget_of(points: int) -> int:
    """How many of a grid's `points` a search may probe."""
    return min(points, max(LEAST, min(int(points * SHARE), MOST)))


def search(
    x: Sequence[int],
    names: tuple[str, str],
    probe: Probe,
    budget: int | None = None,
    tie: float = TIE,
    hints: Sequence[int] = (),
) -> Lead:
    """The leads of two sawtooth curves over the ascending grid `x` (sizes, offsets).

    `hints`: values of `x` where the lead may change (a neighbour's answer): looked at first.
    """
    points = budget_of(len(x)) if budget is None else min(budget, len(x))
    return _Search(x, names, probe, max(points, 1), tie).run(hints)


def bisect(
    x: Sequence[float],
    names: tuple[str, str],
    probe: Probe,
    budget: int | None = None,
    tie: float = TIE,
    hints: Sequence[float] = (),
) -> Lead:
    """The leads of two smooth curves over the ascending grid `x`: a coarse start, then every change halved."""
    points = budget_of(len(x)) if budget is None else min(budget, len(x))
    known: dict[int, tuple[float, float]] = {}
    near = [min(range(len(x)), key=lambda i: abs(x[i] - hint)) for hint in hints]
    coarse = [round(i * (len(x) - 1) / _COARSE) for i in range(_COARSE + 1)]
    todo, rounds = list(dict.fromkeys([0, len(x) - 1, *near, *coarse]))[:points], 0
    while todo:
        rounds += 1
        known |= dict(zip(todo, zip(*probe(todo), strict=True), strict=True))
        at = sorted(known)
        ahead = [_lead(*known[i], tie) for i in at]
        todo = [
            (i + j) // 2
            for i, j, a, b in zip(at, at[1:], ahead, ahead[1:], strict=False)
            if a != b and j - i > 1
        ][: points - len(known)]  # fmt: skip
    at = sorted(known)
    curves = {
        name: [float(v) for v in np.interp(x, [x[i] for i in at], [known[i][side] for i in at])]
        for side, name in enumerate(names)
    }
    return _leads(x, curves, at, tie, 0.0, rounds, 0)


def _lead(a: float, b: float, tie: float) -> int:
    """1: the first leads, -1: the second, 0: a tie."""
    return int(b > a * (1 + tie)) - int(a > b * (1 + tie))


def _leads(
    x: Sequence[float],
    curves: dict[str, list[float]],
    probed: list[int],
    tie: float,
    expected_errors: float,
    rounds: int,
    period: int = PERIOD,
) -> Lead:
    """What the curves say, by the definitions of `crossings`."""
    sizes = cast("Sequence[int]", x)  # of a parameter there are fractions, too: only their order counts
    known = {x[i] for i in probed}
    found = leads(sizes, curves, tie, period, known)
    verified = [before.last in known and after.first in known for before, after in pairwise(found.ranges)]
    return Lead([float(v) for v in x], curves, probed, found, verified, expected_errors, rounds)


class _Search:
    def __init__(self, x: Sequence[int], names: tuple[str, str], probe: Probe, budget: int, tie: float) -> None:
        self.x = [int(value) for value in x]
        self.names, self.probe, self.budget, self.tie = names, probe, budget, tie
        self.place = {value: i for i, value in enumerate(self.x)}
        self.parts = Covariances(np.array(self.x, float))
        self.curves = (Surrogate(self.parts), Surrogate(self.parts))
        self.known: list[int] = []
        self.values: tuple[list[float], list[float]] = ([], [])
        self.is_known = np.zeros(len(self.x), bool)
        self.learned = 0

    def run(self, hints: Sequence[int]) -> Lead:
        todo, rounds = self._start(hints), 0
        while todo:
            rounds += 1
            self._take(todo)
            todo = self._doubtful(self._intervals(), self._room())
        return self._result(rounds)

    def _room(self) -> int:
        """Points for the next round: fewer towards the end of the budget, where each answer may move a change."""
        left = self.budget - len(self.known)
        return min(left, ROUND if left > 2 * ROUND else ROUND // 4)

    def _start(self, hints: Sequence[int]) -> list[int]:
        n = len(self.x)
        if self.budget >= n:
            return list(range(n))
        near = {self.place[hint] for hint in hints if hint in self.place}
        sparse, dense = max(self.budget // 5, 2), min(_START, self.budget // 4)
        # The middles of equal parts: their residues differ, as parts are seldom multiples of a block.
        even = [int(n * (i + 0.5) / sparse) for i in range(sparse)]
        # Closer together where sizes are small, as thresholds are.
        parts = self.budget // _FINE
        ratio = (n / max(dense, 1)) ** (1 / max(parts, 1))
        fine = [min(int(dense * ratio ** (i + 0.5)), n - 1) for i in range(parts)]
        chosen = [0, n - 1, *even, *range(dense), *fine, *sorted(near)]
        return sorted(list(dict.fromkeys(chosen))[: self.budget])

    def _take(self, indices: list[int]) -> None:
        first, second = self.probe(indices)
        self.known += indices
        self.values[0].extend(float(v) for v in first)
        self.values[1].extend(float(v) for v in second)
        self.is_known[indices] = True
        self.parts.add(indices)
        # The shares change little once many points are known.
        learn = len(self.known) >= 1.25 * self.learned and len(self.known) < len(self.x)
        self.learned = len(self.known) if learn else self.learned
        for curve, values in zip(self.curves, self.values, strict=True):
            curve.fit(self.known, np.array(values), learn)

    def _times(self) -> dict[str, list[float]]:
        pairs = zip(self.names, self.curves, strict=True)
        return {name: list(map(float, np.maximum(curve.mean, 0))) for name, curve in pairs}

    def _intervals(self) -> list[Interval]:
        return intervals(self.x, self._times(), self.tie, PERIOD)

    def _leads(self) -> np.ndarray:
        """1 where the first leads, -1 where the second does, 0 in a tie."""
        a, b = (curve.mean for curve in self.curves)
        leads: np.ndarray = (b > a * (1 + self.tie)).astype(int) - (a > b * (1 + self.tie)).astype(int)
        return leads

    def _risk(self) -> Array:
        """The probability that the predicted lead is not the real one."""
        (a, da), (b, db) = ((curve.mean, curve.deviation * _CAUTION) for curve in self.curves)
        up = 1 + self.tie
        first = normal((b - a * up) / np.sqrt(db**2 + (up * da) ** 2))
        second = normal((a - b * up) / np.sqrt(da**2 + (up * db) ** 2))
        risk = 1 - np.maximum(np.maximum(first, second), 1 - first - second)
        risk[self.is_known] = 0
        return risk

    def _doubtful(self, found: list[Interval], room: int) -> list[int]:
        """What to probe next."""
        picks: list[int] = []
        if room <= 0:
            return picks

        def pick(index: int) -> None:
            picks.append(index)
            for curve in self.curves:
                curve.plan(index)

        # Early on the curves are not known well enough for every change to be worth verifying.
        most = room if room < ROUND else int(room * _VERIFY)
        for index in self._to_verify(found)[:most]:
            pick(index)
        if picks and room < ROUND:
            return picks
        weight = self._weights(found)
        while len(picks) < room:
            risk = self._risk() * weight
            risk[picks] = 0
            index = int(risk.argmax())
            if risk[index] < _DOUBT:
                break
            pick(index)
        return picks

    def _to_verify(self, found: list[Interval]) -> list[int]:
        """Points not yet probed that bear the changes in `found`, the most telling first."""
        wanted: list[int] = []
        for before, after in zip(found, found[1:], strict=False):
            wanted += [self.place[before.last], self.place[after.first]]
        for item in found:
            if item.kind == "alternating":
                # The first and the last change within it make it alternate at all.
                runs = self._runs(item)
                wanted += self._ends([*runs[:2], *runs[-2:]])
        risk = self._risk()
        beside = [i for pair in zip(found, found[1:], strict=False) for i in self._neighbours(*pair)]
        wanted += sorted((i for i in beside if risk[i] > _REMOTE), key=lambda i: -risk[i])
        for item in found:
            if item.kind == "alternating":
                # Long stretches of one lead nearly end it.
                wanted += self._ends([run for run in self._runs(item) if self._is_long(run)])
        return [i for i in dict.fromkeys(wanted) if not self.is_known[i]]

    def _runs(self, zone: Interval) -> list[tuple[int, int]]:
        """The stretches of one lead within an alternating zone: first grid point, and the one after the last."""
        begin, end = self.place[zone.first], self.place[zone.last] + 1
        changes = np.flatnonzero(np.diff(self._leads()[begin:end])) + begin + 1
        edges = [begin, *map(int, changes), end]
        return list(zip(edges, edges[1:], strict=False))

    def _ends(self, runs: list[tuple[int, int]]) -> list[int]:
        """Both sides of both ends of stretches."""
        return [i for begin, end in runs for i in (begin - 1, begin, end - 1, end) if 0 <= i < len(self.x)]

    def _is_long(self, run: tuple[int, int]) -> bool:
        return self.x[run[1] - 1] - self.x[run[0]] >= _LONG

    def _neighbours(self, before: Interval, after: Interval) -> list[int]:
        """Where teeth would move a change: beyond an alternating zone's end, and into a tie."""
        ways = []
        if before.kind == "alternating" or after.kind == "tie":
            ways.append((before.last, 1))
        if after.kind == "alternating" or before.kind == "tie":
            ways.append((after.first, -1))
        sizes = [edge + way * step for edge, way in ways for step in _STEPS]
        return [self.place[size] for size in sizes if size in self.place]

    def _weights(self, found: list[Interval]) -> Array:
        """How much a mistake at each point would matter: little within a zone that alternates anyway."""
        weight = np.ones(len(self.x))
        for item in found:
            if item.kind == "alternating":
                begin, end = self.place[item.first], self.place[item.last] + 1
                weight[begin:end] = 0.1
                edge = PERIOD // 2
                weight[begin : begin + edge] = weight[max(begin, end - edge) : end] = 1.0
                for first, last in self._runs(item):
                    if self._is_long((first, last)):
                        weight[first:last] = 1.0
        return weight

    def _result(self, rounds: int) -> Lead:
        expected_errors = float((self._risk() * self._weights(self._intervals())).sum())
        return _leads(self.x, self._times(), sorted(self.known), self.tie, expected_errors, rounds)
