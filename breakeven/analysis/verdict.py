"""What `crossings.leads` found, in words. A change of the lead is told no more exactly than the sizes tried allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import isinf
from typing import Any

from breakeven.analysis.crossings import Choice, Interval, Leads, leads

#: how far off `Confidence` takes a routine's times to be
SHARE = 0.05
#: a threshold that costs more than this (a share of the time) is not worth shipping
WORTH = 0.02
#: what a comparison on a grid says when a step of it holds the change
NARROWER = "`find` narrows it"
#: most ranges that a sentence lists, and most sizes of spikes
_RANGES, _SIZES = 4, 8


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


def span(lower: int | None, size: int | None) -> str:
    """A threshold in a table or a plot: ``82``, ``450-513`` where nothing between was tried, ``-``: there is none."""
    if size is None:
        return "-"
    return f"{size}" if exact(lower, size) else f"{lower}-{size}"


def describe_leads(found: Leads, narrower: str = "") -> str:
    """One sentence on who leads where, and which size to ship. `narrower`: how to try sizes between those tried."""
    tried = f"{found.smallest}..{found.largest} B" if found.smallest != found.largest else f"{found.smallest} B"
    runs = _merged(found.ranges)
    if not any(item.kind != "tie" for item in runs):
        return f"{_listed(found.routines)} tie at every size tried ({tried})"
    if len(runs) == 1 and runs[0].kind == "lead":
        tied = f", with a tie at {found.ties} of {found.points}" if found.ties else ""
        spiked = sum(len(spike.sizes) for spike in found.spikes)
        but = f" but {spiked}" if spiked else ""
        return f"{runs[0].leaders[0]} leads{' or ties' if tied else ''} at every size tried{but} ({tried}{tied})"
    said = _who_leads(found, runs)
    if (ship := _ship(found)) != "":
        said += f"; {ship}"
    gap = next(((low, high) for low, high in found.edges if high - low > 1), None)
    return f"{said}; sizes between {gap[0]} and {gap[1]} B were not tried: {narrower}" if narrower and gap else said


def _who_leads(found: Leads, runs: Sequence[Interval]) -> str:
    first, last = runs[0], runs[-1]
    if len(runs) <= _RANGES and all(item.kind == "lead" for item in runs):
        inner = [f"{item.leaders[0]} at {_sizes(item)} B" for item in runs[1:-1]]
        return ", ".join([_to(first), *inner, _from(last)])
    times = f"the lead changes {found.changes} times"
    ends = [_to(first)] if first.kind == "lead" else []
    ends += [_from(last) if ends else _from(last, "leads ")] if last.kind == "lead" else []
    return f"{times} ({found.smallest}..{found.largest} B)" if not ends else f"{times}: {', '.join(ends)}"


def _to(item: Interval) -> str:
    return f"{item.leaders[0]} leads to {item.last} B"


def _from(item: Interval, verb: str = "") -> str:
    return f"{item.leaders[0]} {verb}from {item.first} B on"


def _sizes(item: Interval) -> str:
    return f"{item.first}" if item.first == item.last else f"{item.first}..{item.last}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _merged(ranges: Sequence[Interval]) -> list[Interval]:
    """The ranges without ties: those between two ranges of one leader are that leader's."""
    found: list[Interval] = []
    for item in ranges:
        if item.kind == "tie":
            continue
        if found and found[-1].kind == item.kind == "lead" and found[-1].leaders == item.leaders:
            found[-1] = replace(found[-1], last=item.last, points=found[-1].points + item.points)
        else:
            found.append(item)
    return found


def cost(loss: float) -> str:
    """What a rule loses against always choosing the fastest."""
    return "nothing" if loss == 0 else "less than 0.1%" if loss < 0.0005 else f"{loss:.1%}"


def chosen(choice: Choice | None) -> str:
    """A rule in a cell of a table."""
    if choice is None:
        return "either"
    return choice.above if choice.threshold is None else span(choice.threshold_lower, choice.threshold)


def _ship(found: Leads) -> str:
    choice = found.choice
    if choice is None:
        return ""
    rule = f"{choice.above} for all sizes" if choice.threshold is None else f"{choice.threshold} B"
    if choice.threshold is not None and found.changes > 1:
        rule += f" ({choice.below} below it)"
    if choice.loss <= WORTH:
        return f"ship {rule}, which costs {cost(choice.loss)} against always choosing right"
    what = "threshold" if len(found.routines) == 2 else "routine"
    nothing = f"no single {what} is within {WORTH:.0%} of always choosing right"
    return f"{nothing}; the best, {rule}, costs {cost(choice.loss)}"


def describe_spikes(found: Leads) -> list[str]:
    """A sentence for each routine that leads at single sizes."""
    said = []
    for leader in dict.fromkeys(spike.leader for spike in found.spikes):
        mine = [spike for spike in found.spikes if spike.leader == leader]
        sizes = [size for spike in mine for size in spike.sizes]
        gain = max(spike.gain for spike in mine)
        by = "" if isinf(gain) else f", by {'up to ' if len(sizes) > 1 else ''}{gain:.2f}x"
        where = _listed([*map(str, sizes)]) if len(sizes) <= _SIZES else f"{', '.join(map(str, sizes[:_SIZES]))}, ..."
        many = f"{len(sizes)} single sizes ({where} B)" if len(sizes) > _SIZES else f"{where} B alone"
        said.append(f"at {many} {leader} leads{by}")
    return said


@dataclass(frozen=True)
class Confidence:
    """What to ship if every time of `routine`, the one from the threshold on, were `SHARE` less, and as much more."""

    routine: str
    less: Choice | None
    more: Choice | None

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**asdict(self), "share": SHARE}


def confidence(sizes: Sequence[int], curves: Mapping[str, Sequence[float]], found: Leads) -> Confidence | None:
    """How robust the choice between two routines is against errors of the model; None where there is none."""
    if found.choice is None or len(curves) != 2:
        return None
    name = found.choice.above
    less, more = (
        leads(sizes, {**curves, name: [factor * time for time in curves[name]]}).choice
        for factor in (1 - SHARE, 1 + SHARE)
    )
    return Confidence(name, less, more)


def describe_confidence(found: Leads, sure: Confidence) -> str:
    """What times that are `SHARE` off would change, in one sentence."""
    now = found.choice and chosen(found.choice)
    if chosen(sure.less) == chosen(sure.more) == now:
        return f"times of {sure.routine} that are {SHARE:.0%} off change nothing"
    less, more = (
        f"{chosen(each)}{' B' if each and each.threshold is not None else ''}" for each in (sure.less, sure.more)
    )
    return f"if {sure.routine} took {SHARE:.0%} less time, ship {less}; {SHARE:.0%} more, ship {more}"


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a figure marks that `leader` leads from `size` on; `lower`: the size tried before it."""

    lower: int
    size: int
    leader: str
    text: str


def marks_of(found: Leads) -> list[Mark]:
    """Of two routines the threshold; of more every size from which another one leads."""
    choice = found.choice
    if choice is None:
        return []
    if choice.threshold is not None and choice.threshold_lower is not None:
        places = [(choice.threshold_lower, choice.threshold, choice.above)]
    else:
        runs = _merged(found.ranges)
        names = {name for run in runs for name in run.leaders}
        pairs = pairwise(runs) if len(names) > 2 else ()
        places = [(a.last, b.first, b.leaders[0]) for a, b in pairs if b.kind == "lead"]
    return [Mark(lower, size, leader, f"{span(lower, size)} B") for lower, size, leader in places]


def describe_crossings(
    a: str, b: str, along: str, where: Sequence[float], curves: Mapping[str, Sequence[float]]
) -> str:
    """Where two curves cross along a parameter; if they do not, who leads."""
    ratios = [y / x for x, y in zip(curves[a], curves[b], strict=True) if x > 0 and y > 0]
    if not where and ratios and (min(ratios) > 1 or max(ratios) < 1):
        leader, factors = (a, ratios) if min(ratios) > 1 else (b, [1 / ratio for ratio in ratios])
        least, most = (f"{factor:.2f}x" for factor in (min(factors), max(factors)))
        by = f"by {least}" if least == most else f"{least} to {most}"
        return f"{leader} leads at every value of {along} tried, {by}"
    if not where:
        return f"{a} and {b} do not cross at these values of {along}"
    return f"{a} and {b} cross at {along} = {', '.join(f'{at:.4g}' for at in where)}"


def sentences(sizes: Sequence[int], curves: Mapping[str, Sequence[float]], found: Leads, narrower: str) -> list[str]:
    """All that is said below a table of who leads where."""
    sure = confidence(sizes, curves, found)
    return [
        describe_leads(found, narrower),
        *describe_spikes(found),
        *([describe_confidence(found, sure)] if sure else []),
    ]


def leads_dict(found: Leads, sure: Confidence | None, narrower: str = "") -> dict[str, Any]:
    """For ``--json``: sizes in bytes; `break_even`: what to ship, null where all tie."""
    even = found.choice and {
        **asdict(found.choice), "changes": found.changes,
        "exact": all(high - low == 1 for low, high in found.edges), "confidence": sure and sure.as_dict(),
    }  # fmt: skip
    return {
        "intervals": [{**asdict(item), "kind": item.kind} for item in found.ranges],
        "spikes": [asdict(item) for item in found.spikes],
        "break_even": even,
        "said": [describe_leads(found, narrower), *describe_spikes(found)],
    }
