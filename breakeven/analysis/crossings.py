"""Who leads where: found on the sizes tried, instead of read off a plot.

Copy and checksum routines are sawtooths along size (tails by the byte, blocks of 64), so "B beats A from N bytes on" is
seldom a single point. `leads` is the one analysis that every command tells:

- `ranges`: who is fastest where, and by how much; where the lead flips with the sawtooth, one zone with shares;
- `spikes`: single sizes at which the lead changes and returns. They are told, and set no threshold;
- `choice`: the one size to compare with so that least time is lost against always choosing the fastest.

Sizes between two that were tried are unknown: a change of the lead is told by the last size of the one routine and the
first of the other.

Along a swept parameter curves are smooth: `crossings_along` interpolates between the neighbours of a change of sign.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from statistics import median

#: times closer than this are a tie
TIE = 0.01
#: bytes after which a sawtooth's teeth come back: of the largest block
PERIOD = 64
#: most neighbouring sizes of a spike, and how many sizes on either side of it are looked at
SPIKE, AROUND = 2, 4


@dataclass(frozen=True, slots=True)
class Interval:
    """Neighbouring sizes with the same fastest routine (or the same tie, or flipping leads)."""

    first: int
    last: int
    points: int
    #: one name: the leader; several: a tie, or the leaders that alternate
    leaders: tuple[str, ...]
    #: how much faster than the next routine, as a ratio of times (1.0 in a tie): median and best
    gain: float
    best_gain: float
    #: of an alternating zone: the share of sizes each leader wins
    shares: tuple[float, ...] = ()
    #: how near the lead comes to a tie: the least of the same ratios
    least_gain: float = 1.0

    @property
    def kind(self) -> str:
        """``lead``, ``tie`` or ``alternating``."""
        if self.shares:
            return "alternating"
        return "lead" if len(self.leaders) == 1 else "tie"


@dataclass(frozen=True, slots=True)
class Spike:
    """One size tried, or two neighbours, at which another routine leads than before and behind them."""

    sizes: tuple[int, ...]
    leader: str
    #: the ratio of times by which it leads there: the greater of two
    gain: float


@dataclass(frozen=True, slots=True)
class Choice:
    """What to ship: `below` for sizes under `threshold`, `above` from it on. None: one routine for all sizes."""

    below: str
    above: str
    threshold: int | None
    #: the size tried before `threshold`: any size above it, up to `threshold`, has the same loss
    threshold_lower: int | None
    #: time lost against always choosing the fastest: mean over the sizes tried (0.01: one per cent)
    loss: float


@dataclass(frozen=True, slots=True)
class Leads:
    """Who leads at which sizes. The order in which routines are named changes nothing in it."""

    #: in alphabetical order
    routines: tuple[str, ...]
    smallest: int
    largest: int
    points: int
    #: at how many of the sizes the fastest ones tie
    ties: int
    ranges: tuple[Interval, ...]
    spikes: tuple[Spike, ...]
    #: how often the lead passes from one routine to another, spikes left out
    changes: int
    #: None: all tie at every size
    choice: Choice | None

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Both sides of the first and of the last change of the lead, and of the threshold: the last size tried on the
        one side and the first on the other."""
        changes = [(before.last, after.first) for before, after in pairwise(self.ranges)]
        found = [*changes[:1], *changes[-1:]]
        if self.choice is not None and self.choice.threshold is not None and self.choice.threshold_lower is not None:
            found.append((self.choice.threshold_lower, self.choice.threshold))
        return sorted(set(found))


def checked(sizes: Sequence[int], curves: Mapping[str, Sequence[float]]) -> None:
    if len(curves) < 2:
        raise ValueError("a lead needs at least two curves")
    if any(b <= a for a, b in zip(sizes, sizes[1:], strict=False)):
        raise ValueError("sizes must ascend")
    for name, curve in curves.items():
        if len(curve) != len(sizes):
            raise ValueError(f"curve {name} has {len(curve)} values for {len(sizes)} sizes")


def leaders_of(values: Mapping[str, float], tie: float) -> tuple[tuple[str, ...], float]:
    """Who is within `tie` of the best, and how much the best of the others is behind (ratio)."""
    best = min(values.values())
    limit = best * (1 + tie)
    ahead = tuple(name for name, value in values.items() if value <= limit)
    behind = [value for value in values.values() if value > limit]
    if len(ahead) > 1 or not behind:
        return ahead, 1.0
    return ahead, min(behind) / best if best > 0 else math.inf


#: who leads, or is in a tie, over a stretch: names, indices of its sizes, and the lead at each
_Run = tuple[tuple[str, ...], list[int], list[float]]


def intervals(
    sizes: Sequence[int], curves: Mapping[str, Sequence[float]], tie: float = TIE, period: int = PERIOD
) -> list[Interval]:
    """The fastest routine by stretches of size. `curves`: routine -> time at each size.

    A tie between two stretches of one leader belongs to that leader. Neighbouring stretches, none longer than `period`
    bytes, in which a lead is lost and won again are a sawtooth: one alternating zone.
    """
    checked(sizes, curves)
    runs: list[tuple[tuple[str, ...], list[int], list[float]]] = []
    for i in range(len(sizes)):
        ahead, gain = leaders_of({name: curve[i] for name, curve in curves.items()}, tie)
        if runs and runs[-1][0] == ahead:
            runs[-1][1].append(i)
            runs[-1][2].append(gain)
        else:
            runs.append((ahead, [i], [gain]))
    return _zones(sizes, _absorb_ties(runs), period)


def _absorb_ties(runs: list[_Run]) -> list[_Run]:
    merged: list[_Run] = []
    for ahead, where, gains in runs:
        between_same = (
            len(merged) >= 2 and len(merged[-1][0]) > 1 and merged[-2][0] == ahead and ahead[0] in merged[-1][0]
        )
        if len(ahead) == 1 and between_same:
            _, tied, ones = merged.pop()
            merged[-1][1].extend(tied + where)
            merged[-1][2].extend(ones + gains)
        else:
            merged.append((ahead, list(where), list(gains)))
    return merged


def _zones(sizes: Sequence[int], runs: list[_Run], period: int) -> list[Interval]:
    result: list[Interval] = []
    at = 0
    while at < len(runs):
        end = at
        while end < len(runs) and sizes[runs[end][1][-1]] - sizes[runs[end][1][0]] < period:
            end += 1
        group = runs[at:end]
        if _flips(group):
            result.append(_alternating(sizes, group))
            at = end
            continue
        for ahead, where, gains in runs[at : max(end, at + 1)]:
            ends = sizes[where[0]], sizes[where[-1]]
            result.append(Interval(*ends, len(where), ahead, median(gains), max(gains), least_gain=min(gains)))
        at = max(end, at + 1)
    return result


def _flips(group: list[_Run]) -> bool:
    """Whether a lead is lost and won again: a succession of three leaders over short stretches is no sawtooth."""
    leaders = [ahead for ahead, _, _ in group if len(ahead) == 1]
    changes = [name for name, before in zip(leaders, [None, *leaders], strict=False) if name != before]
    return len(changes) > len(set(changes)) >= 2


def _alternating(sizes: Sequence[int], group: list[_Run]) -> Interval:
    wins: dict[str, int] = {}
    gains: list[float] = []
    points = 0
    for ahead, where, run_gains in group:
        points += len(where)
        gains += run_gains
        for name in ahead if len(ahead) == 1 else ():
            wins[name] = wins.get(name, 0) + len(where)
    order = sorted(wins, key=lambda name: (-wins[name], name))
    return Interval(
        sizes[group[0][1][0]],
        sizes[group[-1][1][-1]],
        points,
        tuple(order),
        median(gains),
        max(gains),
        tuple(wins[name] / points for name in order),
        min(gains),
    )


@dataclass(frozen=True, slots=True)
class Rank:
    """How far behind the fastest a routine is."""

    routine: str
    #: its time over that of the fastest at the same size: geometric mean, median, least, most
    mean: float
    median: float
    least: float
    most: float
    #: at how many sizes it is the fastest, or within a tie of it
    fastest_at: int


def ranking(curves: Mapping[str, Sequence[float]], tie: float = TIE) -> list[Rank]:
    """The routines, the one that is least behind the fastest first."""
    best = [min(times) for times in zip(*curves.values(), strict=True)]
    # Where the fastest takes nothing there is no ratio.
    counted = [i for i, least in enumerate(best) if least > 0]
    found = []
    for name, curve in curves.items():
        ratios = [curve[i] / best[i] for i in counted] or [1.0]
        mean = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
        led = sum(time <= least * (1 + tie) for time, least in zip(curve, best, strict=True))
        found.append(Rank(name, mean, median(ratios), min(ratios), max(ratios), led))
    return sorted(found, key=lambda rank: (rank.mean, rank.routine))


def leads(
    sizes: Sequence[int],
    curves: Mapping[str, Sequence[float]],
    tie: float = TIE,
    period: int = PERIOD,
    known: Container[float] | None = None,
) -> Leads:
    """Who leads where, the sizes that stand out, and what to ship. `curves`: routine -> time at each size.

    `known`: the sizes that were tried where the times of others are predicted: of those nothing stands out.
    """
    checked(sizes, curves)
    curves = dict(sorted(curves.items()))
    decided = [leaders_of({name: curve[i] for name, curve in curves.items()}, tie) for i in range(len(sizes))]
    at = [names[0] if len(names) == 1 else None for names, _ in decided]
    short = [
        run for run in _spikes(at) if known is None or all(sizes[i] in known for i in range(run[0] - 1, run[-1] + 2))
    ]
    left_out = {i for run in short for i in run}
    kept = [i for i in range(len(sizes)) if i not in left_out]
    rest = {name: [curve[i] for i in kept] for name, curve in curves.items()}
    order = [at[i] for i in kept if at[i] is not None]
    spikes = [Spike(tuple(sizes[i] for i in run), str(at[run[0]]), max(decided[i][1] for i in run)) for run in short]
    ranges = tuple(intervals([sizes[i] for i in kept], rest, tie, period))
    return Leads(
        tuple(curves), sizes[0], sizes[-1], len(sizes), at.count(None), ranges,
        tuple(spikes), sum(a != b for a, b in pairwise(order)), _choice(sizes, curves, kept, tie),
    )  # fmt: skip


def _spikes(at: Sequence[str | None]) -> list[list[int]]:
    """Indices of each spike. `at`: who leads at each size; None: a tie.

    A spike is one size, or two neighbours, with one leader; the nearest leads on both sides are of one other routine,
    which also leads at three quarters of the sizes around it: else the leads alternate there.
    """
    decided = [i for i, name in enumerate(at) if name is not None]
    found: list[list[int]] = []
    start = 0
    while start < len(decided):
        end = start
        while end < len(decided) and at[decided[end]] == at[decided[start]]:
            end += 1
        run = list(range(decided[start], decided[end - 1] + 1))
        before, after = decided[max(start - AROUND, 0) : start], decided[end : end + AROUND]
        if before and after and len(run) <= SPIKE and at[before[-1]] == at[after[0]]:
            others = [at[i] for i in (*before, *after)]
            if len(others) > 2 * len(run) and others.count(at[after[0]]) >= 0.75 * len(others):
                found.append(run)
        start = end
    return found


def _choice(
    sizes: Sequence[int], curves: Mapping[str, Sequence[float]], kept: Sequence[int], tie: float
) -> Choice | None:
    """The rule that loses least at the sizes `kept`: one routine for all, or of two routines one below a threshold."""
    rest = {name: [curve[i] for i in kept] for name, curve in curves.items()}
    some = [sizes[i] for i in kept]
    rules: list[tuple[str, str, int | None]] = [(name, name, None) for name in curves]
    if len(curves) == 2:
        for below, above in permutations(curves):
            cut, _ = threshold(some, rest[below], rest[above], tie)
            rules += [(below, above, cut)] if cut not in (None, some[0]) else []

    def loss(rule: tuple[str, str, int | None], places: Sequence[int]) -> float:
        below, above, cut = rule
        lost = []
        for i in places:
            least = min(curve[i] for curve in curves.values())
            time = curves[below if cut is not None and sizes[i] < cut else above][i]
            # Where the fastest takes nothing (an empty call's share is subtracted) there is no relative loss.
            lost.append(time / least - 1 if 0 < least * (1 + tie) < time else 0.0)
        counted = sum(1 for i in places if min(curve[i] for curve in curves.values()) > 0)
        return math.fsum(lost) / max(counted, 1)

    def worth(rule: tuple[str, str, int | None]) -> tuple[float, bool, list[float]]:
        # Of rules that lose the same: one routine before two, then the one whose routine is faster at the largest size.
        return round(loss(rule, kept), 12), rule[2] is not None, rest[rule[1]][::-1]

    if all(loss(rule, range(len(sizes))) == 0 for rule in rules[: len(curves)]):
        return None
    best = min(rules, key=worth)
    lower = None if best[2] is None else max(size for size in sizes if size < best[2])
    return Choice(*best, lower, loss(best, range(len(sizes))))


def threshold(
    sizes: Sequence[int], below: Sequence[float], above: Sequence[float], tie: float = TIE
) -> tuple[int | None, float]:
    """The size from which to take `above`, and what that rule loses against always choosing the fastest.

    Losses are relative times averaged over the measured sizes (each counts the same); ties lose nothing. Where the
    faster one takes nothing (an empty call's share is subtracted), there is no relative loss: the size counts nothing.
    Of thresholds that lose the same the largest is taken. None: never take `above`.
    """
    best = [min(a, b) for a, b in zip(below, above, strict=True)]
    loss_below = [a / m - 1 if 0 < m * (1 + tie) < a else 0.0 for a, m in zip(below, best, strict=True)]
    loss_above = [b / m - 1 if 0 < m * (1 + tie) < b else 0.0 for b, m in zip(above, best, strict=True)]
    running = sum(loss_above)
    cheapest, cut = running, 0
    for i in range(len(sizes)):
        running += loss_below[i] - loss_above[i]
        # Sums of fractions never meet exactly: equal is within rounding.
        if running <= cheapest + 1e-12:
            cheapest, cut = running, i + 1
    counted = sum(m > 0 for m in best)
    loss = math.fsum([*loss_below[:cut], *loss_above[cut:]]) / max(counted, 1)
    return (sizes[cut] if cut < len(sizes) else None), loss


def crossings_along(x: Sequence[float], a: Sequence[float], b: Sequence[float]) -> list[float]:
    """The values of x at which curves `a` and `b` cross, linearly interpolated; touching is not crossing."""
    difference = [p - q for p, q in zip(a, b, strict=True)]
    found: list[float] = []
    last = None
    for i, value in enumerate(difference):
        if value == 0:
            continue
        if last is not None and (value > 0) != (difference[last] > 0):
            if i - last == 1:
                span = difference[i] - difference[last]
                found.append(x[last] - difference[last] * (x[i] - x[last]) / span)
            else:
                # Equal in between: the middle of the stretch of equality.
                found.append((x[last + 1] + x[i - 1]) / 2)
        last = i
    return found
