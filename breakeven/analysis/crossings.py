"""Where the lead changes: break-even points of curves, found instead of read off a plot.

Copy and checksum routines are sawtooths along size (tails by the byte, blocks of 64), so "B beats A from N bytes on" is
seldom a single point. Three answers are given, each defined on the measured sizes alone:

- `intervals`: who is fastest where, and by how much; where the lead flips with the sawtooth, one zone with shares.
- `break_even`: of a pair, where the challenger is first ahead and from where on it stays ahead.
- `threshold`: the one size a dispatcher would compare with so that it loses least time against always choosing right.

A size that a `break_even` names is an edge of the grid: the lead changes above the measured size before it
(`..._lower`) and at or below that size. Only where the two are one byte apart is the size exact.

Along a swept parameter curves are smooth: `crossings_along` interpolates between the neighbours of a change of sign.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

#: times closer than this are a tie
TIE = 0.01


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
class BreakEven:
    """Where `challenger` overtakes `incumbent`; None: never at a measured size."""

    incumbent: str
    challenger: str
    #: smallest size at which the challenger is ahead
    first: int | None
    #: smallest size from which it is ahead at every larger measured size
    stays: int | None
    #: the dispatcher's choice and the time lost with it against always choosing right (0.01: one per cent)
    threshold: int | None
    loss: float
    #: the measured size before each of the three: the change lies above it. None: there is none before it
    first_lower: int | None = None
    stays_lower: int | None = None
    threshold_lower: int | None = None
    #: the measured sizes: the ends, their number, at how many the challenger is ahead, and at how many it is a tie
    smallest: int = 0
    largest: int = 0
    points: int = 0
    ahead: int = 0
    ties: int = 0

    @property
    def leads_everywhere(self) -> bool:
        """The challenger is ahead at the smallest measured size, and ahead or within a tie at every larger one."""
        return self.first == self.smallest == self.stays and self.ahead > 0

    @property
    def exact(self) -> bool:
        """Every size named is known to the byte (or is the smallest measured one)."""
        pairs = ((self.first, self.first_lower), (self.stays, self.stays_lower), (self.threshold, self.threshold_lower))
        return all(size is None or lower is None or size - lower == 1 for size, lower in pairs)


def _checked(sizes: Sequence[int], curves: Mapping[str, Sequence[float]]) -> None:
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
    sizes: Sequence[int], curves: Mapping[str, Sequence[float]], tie: float = TIE, period: int = 64
) -> list[Interval]:
    """The fastest routine by stretches of size. `curves`: routine -> time at each size.

    A tie between two stretches of one leader belongs to that leader. Neighbouring stretches, none longer than `period`
    bytes, in which a lead is lost and won again are a sawtooth: one alternating zone.
    """
    _checked(sizes, curves)
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


def break_even(
    sizes: Sequence[int],
    incumbent: tuple[str, Sequence[float]],
    challenger: tuple[str, Sequence[float]],
    tie: float = TIE,
) -> BreakEven:
    """Where `challenger` (name, times) overtakes `incumbent` along size."""
    (old_name, old), (new_name, new) = incumbent, challenger
    _checked(sizes, {"incumbent": old, "challenger": new})
    ahead = [b * (1 + tie) < a for a, b in zip(old, new, strict=True)]
    first = next((size for size, wins in zip(sizes, ahead, strict=True) if wins), None)
    stays = None
    for i in range(len(sizes) - 1, -1, -1):
        # A tie late in the curve does not end the lead; falling behind does.
        if new[i] > old[i] * (1 + tie):
            break
        if ahead[i]:
            stays = sizes[i]
    cut, loss = threshold(sizes, old, new, tie)
    behind = sum(b > a * (1 + tie) for a, b in zip(old, new, strict=True))
    before: dict[int | None, int] = dict(zip(sizes[1:], sizes, strict=False))
    return BreakEven(
        old_name, new_name, first, stays, cut, loss, before.get(first), before.get(stays), before.get(cut),
        sizes[0], sizes[-1], len(sizes), sum(ahead), len(sizes) - sum(ahead) - behind,
    )  # fmt: skip


def off_by(
    sizes: Sequence[int],
    incumbent: tuple[str, Sequence[float]],
    challenger: tuple[str, Sequence[float]],
    share: float,
    tie: float = TIE,
) -> tuple[BreakEven, BreakEven]:
    """The break-even if the challenger took `share` less time than it does, and if it took as much more."""
    name, times = challenger
    less, more = (break_even(sizes, incumbent, (name, [f * t for t in times]), tie) for f in (1 - share, 1 + share))
    return less, more


def ahead_by(sizes: Sequence[int], old: Sequence[float], new: Sequence[float], factor: float) -> int | None:
    """The smallest size from which `new` is at least `factor` times faster than `old` at every larger size."""
    found = None
    for size, a, b in zip(reversed(sizes), reversed(old), reversed(new), strict=True):
        if b * factor > a:
            break
        found = size
    return found


def threshold(
    sizes: Sequence[int], below: Sequence[float], above: Sequence[float], tie: float = TIE
) -> tuple[int | None, float]:
    """The size from which a dispatcher should take `above`, and the loss of that rule against always choosing right.

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
