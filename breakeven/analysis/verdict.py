"""What `crossings` found, in words. A change of the lead is stated no more exactly than the measured sizes allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isinf
from statistics import median
from typing import Any

from breakeven.analysis.crossings import BreakEven, Interval, off_by

#: how far off `Confidence` takes a routine's times to be
SHARE = 0.05
#: what a comparison on a grid says when a step of it holds the change
NARROWER = "`find` narrows it"


def describe_interval(item: Interval) -> tuple[str, str, str]:
    """Sizes, who leads, and by how much (median; least and most), in words."""
    where = f"{item.first}" if item.first == item.last else f"{item.first}..{item.last}"
    if item.kind == "alternating":
        shares = zip(item.leaders, item.shares, strict=True)
        who = "alternating: " + ", ".join(f"{name} {share:.0%}" for name, share in shares)
    else:
        who = item.leaders[0] if item.kind == "lead" else "tie: " + ", ".join(item.leaders)
    if item.kind == "tie":
        return where, who, "-"
    gains = (item.least_gain, item.gain, item.best_gain)
    # A call may take no time beside an empty one.
    least, median, most = ("∞" if isinf(gain) else f"{gain:.2f}x" for gain in gains)
    return where, who, median if least == most else f"{median} ({least} to {most})"


#: head of the column of `describe_interval`'s third text
AHEAD = "ahead of the next: median (least to most)"


def exact(lower: int | None, size: int) -> bool:
    """Whether nothing lies between `size` and the measured size before it."""
    return lower is None or size - lower == 1


def between(lower: int | None, size: int) -> str:
    """Where a change of the lead lies: ``at 82 B``, or ``between 450 and 513 B``; `lower`: the measured size before."""
    return f"at {size} B" if exact(lower, size) else f"between {lower} and {size} B"


def span(lower: int | None, size: int | None) -> str:
    """The same for a table or a plot: ``82``, ``450-513``, ``never``."""
    if size is None:
        return "never"
    return f"{size}" if exact(lower, size) else f"{lower}-{size}"


def break_even_dict(item: BreakEven, narrower: str = "") -> dict[str, Any]:
    """For ``--json``: sizes in bytes; each change lies above ``..._lower``, at or below the size named."""
    said = describe_break_even(item, narrower)
    return {**asdict(item), "leads_everywhere": item.leads_everywhere, "exact": item.exact, "said": said}


def describe_break_even(item: BreakEven, narrower: str = "") -> str:
    """One sentence on where the challenger overtakes. `narrower`: what to do about a break-even between two sizes."""
    old, new = item.incumbent, item.challenger
    ends = f"{item.smallest} to {item.largest} B" if item.smallest != item.largest else f"{item.smallest} B"
    tied = f"; a tie at {item.ties} of {item.points} sizes" if item.ties else ""
    if item.points and item.ties == item.points:
        return f"{new} and {old} tie at every size ({ends})"
    if item.leads_everywhere:
        return f"{new} leads {old} at every size ({ends}{tied})"
    if item.first is None and not item.ties:
        return f"{old} leads {new} at every size ({ends})"
    if item.first is None:
        return f"{new} never beats {old} ({ends}{tied})"
    parts = [*_overtaking(item, item.first), _dispatch(item)]
    if narrower and not item.exact:
        parts.append(narrower)
    return "; ".join(parts).replace("; and", " and")


def _overtaking(item: BreakEven, first: int) -> list[str]:
    if first == item.smallest:
        parts = [f"{item.challenger} beats {item.incumbent} at {first} B already, the smallest size"]
    else:
        parts = [f"{item.challenger} first beats {item.incumbent} {between(item.first_lower, first)}"]
    if item.stays is None:
        return [*parts, "does not stay ahead"]
    if item.stays == item.largest:
        return [*parts, f"is ahead at the largest size, {item.largest} B"]
    if item.stays == first:
        return [*parts, "and stays ahead"]
    where = between(item.stays_lower, item.stays)
    where = where.removeprefix("at ") if where.startswith("at ") else f"a size {where}"
    return [*parts, f"stays ahead from {where} on"]


def _dispatch(item: BreakEven) -> str:
    loss = f"(loses {item.loss:.1%} against always choosing right)"
    if item.threshold is None:
        return f"dispatch: always {item.incumbent} {loss}"
    if item.threshold == item.smallest:
        return f"dispatch: always {item.challenger} {loss}"
    where = "there" if item.threshold == item.first else between(item.threshold_lower, item.threshold)
    return f"dispatch {where} {loss}"


@dataclass(frozen=True)
class Confidence:
    """How robust a break-even is against errors of the model.

    `less` and `more`: the break-even if every time of the challenger were `SHARE` less, and as much more. `median` and
    `least`: how far ahead the leader is (ratio of times) where it leads for good; `at`: the size of the least.
    """

    leader: str
    median: float
    least: float
    at: int
    less: BreakEven
    more: BreakEven

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**asdict(self), "share": SHARE}


def confidence(
    sizes: Sequence[int],
    incumbent: tuple[str, Sequence[float]],
    challenger: tuple[str, Sequence[float]],
    item: BreakEven,
) -> Confidence | None:
    """How robust `item`, the break-even of two curves, is; None where neither leads from some size on."""
    less, more = off_by(sizes, incumbent, challenger, SHARE)
    ahead, behind = challenger, incumbent
    since = item.stays
    if item.first is None:
        ahead, behind, since = incumbent, challenger, sizes[0]
    if since is None:
        return None
    gains = sorted(
        (slow / fast, size)
        for size, fast, slow in zip(sizes, ahead[1], behind[1], strict=True)
        if size >= since and fast > 0
    )
    if not gains:
        return None
    return Confidence(ahead[0], median(gain for gain, _ in gains), *gains[0], less, more)


def describe_confidence(item: BreakEven, sure: Confidence) -> str:
    """How near the lead comes to a tie, and what times that are `SHARE` off would change, in one sentence."""
    least = "a tie" if sure.least <= 1.01 else f"{sure.least:.2f}x"
    lead = f"{sure.leader} leads by {sure.median:.2f}x (median), least {least} at {sure.at} B"
    with_less, with_more = _from(sure.less), _from(sure.more)
    if with_less == with_more == _from(item):
        return f"{lead}; {SHARE:.0%} on the times changes no answer"
    return f"{lead}; with {SHARE:.0%} less time {item.challenger} {with_less}, with {SHARE:.0%} more it {with_more}"


def _from(item: BreakEven) -> str:
    """From where on the challenger is ahead."""
    if item.leads_everywhere:
        return "leads at every size"
    if item.stays is None:
        return "never stays ahead" if item.first else "never leads"
    return f"stays ahead from {span(item.stays_lower, item.stays)} B on"
