"""Plans: which routine a dispatcher takes by size and alignment, and how its tests become code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: bytes of a word: what the alignment tests are about
WORD = 8


class Rule(NamedTuple):
    """An alignment test: its C, what it says, and whether size and offsets pass it."""

    c: str
    words: str
    #: of size, source offset, destination offset
    holds: Callable[[int, int, int], bool]
    #: whether it looks at the destination
    two_sided: bool = False


#: the tests that a dispatcher may make; checksums have a source alone
RULES = {
    "both": Rule("(((uintptr_t)dst | (uintptr_t)src) & 7) == 0", "both aligned",
                 lambda n, src, dst: (src | dst) % WORD == 0, True),
    "mutual": Rule("(((uintptr_t)dst ^ (uintptr_t)src) & 7) == 0", "aligned alike",
                   lambda n, src, dst: (src ^ dst) % WORD == 0, True),
    "source": Rule("((uintptr_t)src & 7) == 0", "source aligned", lambda n, src, dst: src % WORD == 0),
    "size": Rule("(n & 7) == 0", "whole words", lambda n, src, dst: n % WORD == 0),
    "all": Rule("(((uintptr_t)dst | (uintptr_t)src | n) & 7) == 0", "all aligned",
                lambda n, src, dst: (n | src | dst) % WORD == 0, True),
}  # fmt: skip


def rules_for(kind: str) -> list[str]:
    """The tests that a dispatcher of routines of a kind may make: what sets has no source."""
    if kind in ("set", "clear"):
        return ["size"]
    return [name for name, rule in RULES.items() if kind != "checksum" or not rule.two_sided]


class Segment(NamedTuple):
    """A routine and the first size that it is for."""

    first: int
    routine: str


class Layout(NamedTuple):
    """How a plan becomes code."""

    #: thresholds by the order of their tests; empty: ascending
    order: tuple[int, ...] = ()
    #: what a test of the size falls through to: the larger sizes, not the smaller ones
    larger_ahead: bool = False
    #: a decision tree: one test for a size that is unlike those on both sides, and every leaf with a call of its own
    tree: bool = False

    def describe(self) -> str:
        """In words, where it is not the usual one."""
        words = ["as a tree"] if self.tree else []
        words += [f"{self.order[0]} tested first"] if self.order else []
        return ", ".join(words + ["larger sizes fall through"] * self.larger_ahead)

    def notch(self, chain: Sequence[Segment]) -> bool:
        """Whether `chain` is one size between others of one routine: a single test of a tree."""
        return self.tree and is_notch(chain)

    def split(self, chain: Sequence[Segment]) -> int:
        """Which segment of `chain`, from 1 on, the first test leads to."""
        starts = [segment.first for segment in chain[1:]]
        return next((starts.index(threshold) + 1 for threshold in self.order if threshold in starts), 1)


def is_notch(chain: Sequence[Segment]) -> bool:
    return len(chain) == 3 and chain[0].routine == chain[2].routine and chain[2].first == chain[1].first + 1


@dataclass(frozen=True)
class Plan:
    """What a dispatcher does: by size alone, or by size on either side of an alignment test."""

    #: name in `RULES`; empty: no test
    rule: str
    #: by size; with a rule: where it holds
    segments: tuple[Segment, ...]
    #: where the rule does not hold
    otherwise: tuple[Segment, ...] = ()
    #: expected cycles of the routines alone, without dispatch
    cycles: float = 0.0
    layout: Layout = Layout()

    @property
    def branches(self) -> int:
        """Changes of routine along size, and a test of alignment: the tests in the code, where there is no tree."""
        sizes = max(len(self.segments) - 1, 0) + max(len(self.otherwise) - 1, 0)
        return sizes + bool(self.rule)

    def routine(self, size: int, src: int, dst: int) -> str:
        """The routine that is taken."""
        chain = self.segments if not self.rule or RULES[self.rule].holds(size, src, dst) else self.otherwise
        return next(segment.routine for segment in reversed(chain) if size >= segment.first)

    def describe(self) -> str:
        """In words."""
        text = _chain_text(self.segments)
        if self.rule:
            text = f"{RULES[self.rule].words}: {text}; else: {_chain_text(self.otherwise)}"
        return f"{text} ({self.layout.describe()})" if self.layout != Layout() else text


def threshold_bounds(plan: Plan, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Each threshold of a plan with the simulated size before it: the lead changes above that one.

    Only those between which sizes were left out: the others are exact.
    """
    before = dict(zip(sorted(sizes)[1:], sorted(sizes), strict=False))
    firsts = {segment.first for chain in (plan.segments, plan.otherwise) for segment in chain[1:]}
    return [(before[first], first) for first in sorted(firsts) if first in before and first - before[first] > 1]


def always(routine: str) -> Plan:
    """No test: one routine."""
    return Plan("", (Segment(0, routine),))


def _chain_text(chain: Sequence[Segment]) -> str:
    parts = [f"n < {later.first}: {segment.routine}" for segment, later in zip(chain, chain[1:], strict=False)]
    return ", ".join([*parts, chain[-1].routine])
