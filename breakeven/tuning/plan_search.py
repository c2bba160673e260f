"""Thresholds to ship: which routine a dispatcher should take by size and alignment, so that the expected cycles under a
distribution of sizes are least.

The candidates are simulated at every size and pair of offsets. For each number of branches the best plan is found
exactly (one pass along the sizes: the best way to be in routine r at size n after k changes), without what branching
costs; and the best one for what is lost at each size, whatever its share of the calls. Then the plans are compiled into
dispatchers and simulated: what a branch costs is measured, not modelled. The best of them are tried again with their
tests in another order and with the other side of them falling through (`layouts`). Of those that are really the fastest
the one is taken that is near the best routine at the most sizes. Where near everywhere is asked for, the plans are
those that miss least, as decision trees (`tree`), and nearness decides (`nearest`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from breakeven.points.distribution import Distribution
from breakeven.tuning.plans import RULES, Layout, Plan, Rule, Segment, is_notch

#: what a further branch must gain (a share of the expected cycles) to be tried: it costs as much on any machine
LEAST_GAIN = 0.001
#: what a further branch must take (a share) off what is lost beyond `NEAR`
FEWER_MISSES = 0.1
#: expected cycles that differ by no more (a share) are as good
AS_GOOD = 0.005
#: how much slower than the best routine at a size a dispatcher may be there (a share)
NEAR = 0.02
#: of how many plans, the best ones, other layouts are tried
FURTHER = 2


@dataclass(frozen=True)
class Costs:
    """Cycles per call of each candidate at each size and pair of offsets; every pair is as likely."""

    distribution: Distribution
    pairs: tuple[tuple[int, int], ...]
    #: routine -> sizes x pairs
    cycles: Mapping[str, np.ndarray]

    @property
    def sizes(self) -> list[int]:
        return list(self.distribution.shares)

    @property
    def shares(self) -> np.ndarray:
        return np.array(list(self.distribution.shares.values()))

    def best(self) -> np.ndarray:
        """The least cycles of any candidate, sizes x pairs."""
        least: np.ndarray = np.min(list(self.cycles.values()), axis=0)
        return least

    def best_by_size(self) -> np.ndarray:
        """The least cycles of any candidate by size, over the offsets."""
        least: np.ndarray = np.min([cycles.mean(axis=1) for cycles in self.cycles.values()], axis=0)
        floor: np.ndarray = np.maximum(least, 1)
        return floor

    def expected(self, cycles: np.ndarray) -> float:
        """Expected cycles of a call."""
        return float(self.shares @ cycles.mean(axis=1))

    def relative(self) -> Costs:
        """As shares of the best, every size as likely: what a plan that is to be good everywhere goes by."""
        best = np.maximum(self.best(), 1)
        sizes = dict.fromkeys(self.sizes, 1 / len(self.sizes))
        cycles = {name: found / best for name, found in self.cycles.items()}
        return Costs(Distribution(self.distribution.name, sizes), self.pairs, cycles)

    def misses(self) -> Costs:
        """What each size loses beyond half of `NEAR`: what a plan by size alone goes by to be near everywhere."""
        best = self.best_by_size()
        sizes = dict.fromkeys(self.sizes, 1 / len(self.sizes))
        cycles = {}
        for name, found in self.cycles.items():
            lost = found.mean(axis=1) / best - 1
            # Of plans that miss nothing the faster one.
            lost = np.maximum(lost - NEAR / 2, 0) + lost / 100
            cycles[name] = np.repeat(lost[:, np.newaxis], len(self.pairs), axis=1)
        return Costs(Distribution(self.distribution.name, sizes), self.pairs, cycles)

    def where(self, rule: Rule) -> np.ndarray:
        """Where a test holds, sizes x pairs."""
        return np.array([[rule.holds(n, src, dst) for src, dst in self.pairs] for n in self.sizes])

    def planned(self, plan: Plan) -> np.ndarray:
        """Cycles of the routines that a plan takes, without dispatch."""
        found = np.empty((len(self.sizes), len(self.pairs)))
        for i, size in enumerate(self.sizes):
            for j, (src, dst) in enumerate(self.pairs):
                found[i, j] = self.cycles[plan.routine(size, src, dst)][i, j]
        return found


def best_plans(
    costs: Costs, branches: int, rules: Sequence[str], least: float = LEAST_GAIN, late: bool = False
) -> list[Plan]:
    """The best plan of each number of branches up to `branches`, without dispatch; those that gain less than `least` (a
    share) are left out. `late`: a size that is as good with either routine goes to that of the smaller sizes."""
    everywhere = np.ones((len(costs.sizes), len(costs.pairs)), bool)
    candidates = [[Plan("", chain, cycles=cycles)] for cycles, chain in _chains(costs, everywhere, branches, late)]
    for rule in rules:
        holds = costs.where(RULES[rule])
        if holds.all() or not holds.any():
            continue
        inside = _chains(costs, holds, branches - 1)
        outside = _chains(costs, ~holds, branches - 1)
        for a, (left, chain) in enumerate(inside):
            for b, (right, other) in enumerate(outside):
                if a + b + 1 <= branches and chain != other:
                    candidates[a + b + 1].append(Plan(rule, chain, other, left + right))
    plans: list[Plan] = []
    for found in candidates:
        plan = min(found, key=lambda one: one.cycles)
        if not plans or plan.cycles < plans[-1].cycles * (1 - least):
            plans.append(plan)
    return plans


def plans_to_try(costs: Costs, branches: int, rules: Sequence[str]) -> list[Plan]:
    """The best plans for the expected cycles, those for the share lost at each size, and those for what of it is beyond
    `NEAR`, by number of branches."""
    found = best_plans(costs, branches, rules)
    # Half of what `NEAR` at one size is.
    others = best_plans(costs.relative(), branches, rules, least=NEAR / len(costs.sizes) / 2)
    others += best_plans(costs.misses(), branches, [], least=FEWER_MISSES)
    for plan in others:
        plan = replace(plan, cycles=costs.expected(costs.planned(plan)))
        if all((plan.rule, plan.segments, plan.otherwise) != (p.rule, p.segments, p.otherwise) for p in found):
            found.append(plan)
    return sorted(found, key=lambda plan: plan.branches)


def plans_near_everywhere(costs: Costs, branches: int) -> list[Plan]:
    """By number of branches, the plan by size alone that misses least, as a tree."""
    # Late changes: sizes as good either way do not widen a notch.
    found = best_plans(costs.misses(), branches, [], least=FEWER_MISSES, late=True)
    found = [replace(plan, cycles=costs.expected(costs.planned(plan))) for plan in found]
    return [tree(plan, costs) if plan.branches > 1 else plan for plan in found]


def tree(plan: Plan, costs: Costs) -> Plan:
    """A plan by size alone as the decision tree that costs least at the size where it costs the largest share."""
    chain = plan.segments
    ends = [*(segment.first for segment in chain[1:]), costs.sizes[-1] + 1]
    fastest = [
        min((best for n, best in zip(costs.sizes, costs.best_by_size(), strict=True) if segment.first <= n < end))
        for segment, end in zip(chain, ends, strict=True)
    ]

    @cache
    def best(low: int, high: int, depth: int) -> tuple[float, int, tuple[int, ...]]:
        """The largest share, the tests on all ways, and their order, of the segments from `low` to before `high`."""
        if high - low == 1:
            return depth / fastest[low], depth, ()
        if is_notch(chain[low:high]):
            return (depth + 1) / min(fastest[low:high]), 2 * (depth + 1), ()
        found = []
        for at in range(low + 1, high):
            (before, some, first), (after, more, then) = best(low, at, depth + 1), best(at, high, depth + 1)
            found.append((max(before, after), some + more, (chain[at].first, *first, *then)))
        return min(found)

    return replace(plan, layout=Layout(best(0, len(chain), 0)[2], tree=True))


def layouts(plan: Plan, distribution: Distribution) -> list[Plan]:
    """The same plan as other code: its tests in the order that takes the fewest, the other sides falling through."""
    fewest = tuple(
        dict.fromkeys(_fewest_tests(plan.segments, distribution) + _fewest_tests(plan.otherwise, distribution))
    )
    if not fewest:
        return []
    orders = {(): None, fewest: None} if fewest != tuple(sorted(fewest)) else {(): None}
    every = [Layout(order, ahead) for ahead in (False, True) for order in orders]
    return [replace(plan, layout=layout) for layout in every if layout != plan.layout]


def _fewest_tests(chain: Sequence[Segment], distribution: Distribution) -> tuple[int, ...]:
    """The thresholds of a chain in the order in which a call makes the fewest tests on average."""
    ends = [*(segment.first for segment in chain[1:]), max(distribution.shares) + 1]
    shares = [
        sum(share for n, share in distribution.shares.items() if segment.first <= n < end)
        for segment, end in zip(chain, ends, strict=False)
    ]

    @cache
    def best(low: int, high: int) -> tuple[float, tuple[int, ...]]:
        """Tests, and their order, of the segments from `low` to before `high`."""
        if high - low < 2:
            return 0.0, ()
        found = []
        for at in range(low + 1, high):
            (before, first), (after, then) = best(low, at), best(at, high)
            found.append((before + after + sum(shares[low:high]), (chain[at].first, *first, *then)))
        return min(found)

    return best(0, len(chain))[1]


def _chains(
    costs: Costs, chosen: np.ndarray, changes: int, late: bool = False
) -> list[tuple[float, tuple[Segment, ...]]]:
    """For 0 to `changes` changes of routine along size: expected cycles where `chosen` (sizes x pairs), segments;
    `late`: of changes that are as good the one at the larger size."""
    names = list(costs.cycles)
    if changes < 0:
        return []
    weight = costs.shares / len(costs.pairs)
    each = np.array([weight * (costs.cycles[name] * chosen).sum(axis=1) for name in names])
    count = each.shape[1]
    # least[k][r]: so far, with k changes, now in r; came[k][r][i]: from which routine (r: no change at size i).
    least = np.full((changes + 1, len(names)), np.inf)
    least[0] = 0.0
    came = np.tile(np.arange(len(names)), (changes + 1, count, 1))
    for i in range(count):
        for k in range(changes, 0, -1) if i else ():
            best = int(np.argmin(least[k - 1]))
            better = least[k - 1][best] < least[k]
            if late:
                better |= (least[k - 1][best] == least[k]) & (np.arange(len(names)) != best)
            came[k, i, better] = best
            least[k, better] = least[k - 1][best]
        least += each[:, i]
    found = []
    for k in range(changes + 1):
        now = int(np.argmin(least[k]))
        found.append((float(least[k][now]), _walk_back(costs.sizes, names, came, k, now)))
    return found


def _walk_back(sizes: Sequence[int], names: Sequence[str], came: np.ndarray, k: int, now: int) -> tuple[Segment, ...]:
    chain: list[Segment] = []
    for i in range(len(sizes) - 1, 0, -1):
        before = int(came[k, i, now])
        if before != now:
            chain.append(Segment(sizes[i], names[now]))
            now, k = before, k - 1
    chain.append(Segment(0, names[now]))
    return tuple(reversed(chain))


@dataclass(frozen=True, eq=False)
class Tried:
    """A plan, compiled and simulated."""

    plan: Plan
    #: sizes x pairs
    cycles: np.ndarray
    expected: float

    def regret(self, costs: Costs) -> np.ndarray:
        """By size: how much slower than the best routine there (a share), dispatch included."""
        lost: np.ndarray = self.cycles.mean(axis=1) / costs.best_by_size() - 1
        return lost

    def near(self, costs: Costs) -> int:
        """Sizes at which that is no more than `NEAR`."""
        return int((self.regret(costs) <= NEAR).sum())

    def may_gain(self, costs: Costs) -> bool:
        """Whether another layout could be better by anything that counts."""
        return self.excess_regret(costs) > 0 or self.expected > self.plan.cycles * (1 + AS_GOOD)

    def excess_regret(self, costs: Costs) -> float:
        """What is lost beyond `NEAR`, summed over the sizes (shares)."""
        return float(np.maximum(self.regret(costs) - NEAR, 0).sum())


@dataclass(frozen=True)
class Tuned:
    """The thresholds found, with the evidence."""

    costs: Costs
    #: by number of branches
    tried: list[Tried]
    chosen: Tried
    #: whether the cycles of what was tried have the dispatch in them
    dispatched: bool = True


def ranked(costs: Costs, tried: Sequence[Tried]) -> list[Tried]:
    """The plans whose expected cycles, dispatch included, are the least or as good as that, those first that lose least
    beyond `NEAR`, of equals those with fewer branches; then the others, by expected cycles."""
    limit = min(one.expected for one in tried) * (1 + AS_GOOD)

    def key(one: Tried) -> tuple[bool, float, int, float]:
        if one.expected > limit:
            return True, 0.0, 0, one.expected
        return False, one.excess_regret(costs), one.plan.branches, one.expected

    return sorted(tried, key=key)


def nearest(costs: Costs, tried: Sequence[Tried]) -> Tried:
    """The plan that loses least beyond `NEAR`; of equals the one with the least expected cycles."""
    return min(tried, key=lambda one: (one.excess_regret(costs), one.expected, one.plan.branches))


def worth_other_layouts(costs: Costs, tried: Sequence[Tried]) -> list[Plan]:
    """The best plans, and the one whose routines by themselves lose least beyond `NEAR`: where another layout may be
    better by anything that counts."""

    def regret_without_dispatch(one: Tried) -> tuple[float, int]:
        return replace(one, cycles=costs.planned(one.plan)).excess_regret(costs), one.plan.branches

    chosen = ranked(costs, tried)[:FURTHER]
    most = min(tried, key=regret_without_dispatch)
    if most not in chosen:
        chosen.append(most)
    return [one.plan for one in chosen if one.may_gain(costs)]
