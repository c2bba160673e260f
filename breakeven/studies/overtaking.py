"""Where one named routine overtakes another: the definitions that the studies' claims were fixed with.

What the commands say of a lead is `breakeven.analysis.crossings.leads`, which has no incumbent and no challenger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from breakeven.analysis.crossings import TIE, checked, threshold


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Where `challenger` overtakes `incumbent`; None: never at a measured size."""

    incumbent: str
    challenger: str
    #: smallest size at which the challenger is ahead
    first: int | None
    #: smallest size from which it is ahead at every larger measured size
    stays: int | None
    #: the size to compare with, and the time lost with it against always choosing right (0.01: one per cent)
    threshold: int | None
    loss: float
    #: the smallest measured size
    smallest: int

    @property
    def leads_everywhere(self) -> bool:
        """The challenger is ahead at the smallest measured size, and ahead or within a tie at every larger one."""
        return self.first == self.smallest == self.stays


def break_even(
    sizes: Sequence[int],
    incumbent: tuple[str, Sequence[float]],
    challenger: tuple[str, Sequence[float]],
    tie: float = TIE,
) -> BreakEven:
    """Where `challenger` (name, times) overtakes `incumbent` along size."""
    (old_name, old), (new_name, new) = incumbent, challenger
    checked(sizes, {"incumbent": old, "challenger": new})
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
    return BreakEven(old_name, new_name, first, stays, cut, loss, sizes[0])


def ahead_by(sizes: Sequence[int], old: Sequence[float], new: Sequence[float], factor: float) -> int | None:
    """The smallest size from which `new` is at least `factor` times faster than `old` at every larger size."""
    found = None
    for size, a, b in zip(reversed(sizes), reversed(old), reversed(new), strict=True):
        if b * factor > a:
            break
        found = size
    return found
