"""What `find` and `surface` print at their end."""

from __future__ import annotations

from pathlib import Path

from breakeven.analysis.search_result import AXES, SearchResult, Surface
from breakeven.analysis.verdict import AHEAD, describe_break_even, describe_confidence, describe_interval, span
from breakeven.cli.summaries import print_failures
from breakeven.output.console import print_json, print_table
from breakeven.points.measurements import again_words

#: what a search says of a break-even within a step of its grid
NARROWER = "a smaller step of --sizes narrows it"
#: rows of a surface's table on the screen
_ROWS = 60


def find_done(found: SearchResult, plot: Path | None, out: Path | None, seconds: float, json: bool) -> int:
    """The leads as tables (or JSON); the exit status."""
    if json:
        print_json({**found.as_dict(), "plot": str(plot) if plot else None, "file": str(out) if out else None,
                    "simulated": found.simulated, "host_seconds": round(seconds, 3)})  # fmt: skip
    else:
        print_failures(found.failures, len(found.table))
        _print(found, seconds)
        for label, path in (("plot", plot), ("probed points", out)):
            if path:
                print(f"{label}: {path}")
    print_failures(found.failures, len(found.table))
    found.tally.say()
    return 1 if found.failures else 0


def _print(found: SearchResult, seconds: float) -> None:
    leads = found.leads
    print(found.conditions())
    rows = []
    for i, item in enumerate(leads.intervals):
        before = i == 0 or leads.verified[i - 1]
        after = i == len(leads.verified) or leads.verified[i]
        rows.append((*describe_interval(item), "yes" if before and after else "no"))
    print_table((found.along, "fastest", AHEAD, "ends probed"), rows, "who leads where")
    if found.along == "size":
        print(describe_break_even(leads.break_even, NARROWER))
        if found.confidence is not None:
            print(f"  {describe_confidence(leads.break_even, found.confidence)}")
    elif found.along not in AXES:
        at = ", ".join(f"{value:.4g}" for value in found.crossings) or "nowhere in this range"
        print(f"they cross at {found.along} = {at}")
    share = len(leads.probed) / len(leads.x)
    what = f"{len(leads.probed)} of {len(leads.x)} points probed ({share:.0%})"
    print(f"{what} in {leads.rounds} rounds, {seconds:.1f} s")
    if again := again_words(found.table):
        print(again)
    if not leads.certain:
        expected = max(leads.expected_errors, 1)
        print(f"in doubt: the lead at about {expected:.0f} of the points not probed (--budget probes more)")


def surface_done(found: Surface, plot: Path | None, out: Path | None, seconds: float, json: bool) -> int:
    """The surface as a table (or JSON); the exit status."""
    table = found.table()
    if json:
        print_json({**found.as_dict(), "plot": str(plot) if plot else None, "file": str(out) if out else None,
                    "host_seconds": round(seconds, 3)})  # fmt: skip
    else:
        old, new = found.spec.routines
        print(found.conditions())
        rows = []
        for at, item in zip(found.texts_of_all()[:_ROWS], found.found, strict=False):
            even = item.leads.break_even
            told = (f"{even.loss:.1%}", len(item.leads.probed), "yes" if item.leads.certain else "no")
            rows.append((*at, span(even.first_lower, even.first), span(even.stays_lower, even.stays),
                         span(even.threshold_lower, even.threshold), *told))  # fmt: skip
        heads = (
            *(path.removeprefix("cpu.") for path in found.parameters),
            "first ahead",
            "stays ahead",
            "dispatch at",
            "loses",
            "probed",
            "certain",
        )
        print_table(heads, rows, f"from which size on {new} beats {old} (bytes)", right=range(len(heads) - 1))
        if not all(item.leads.break_even.exact for item in found.found):
            print(f"450-513: between these two measured sizes; {NARROWER}")
        if len(table) > _ROWS:
            print(f"... and {len(table) - _ROWS} rows more (--out keeps them)")
        points = sum(len(item.leads.probed) for item in found.found)
        grid = sum(len(item.leads.x) for item in found.found)
        print(f"{len(table)} searches, {points} of {grid} points probed ({points / grid:.0%}), {seconds:.1f} s")
        if again := again_words(*(item.table for item in found.found)):
            print(again)
        for label, path in (("plot", plot), ("surface", out)):
            if path:
                print(f"{label}: {path}")
    print_failures(found.failures, sum(len(item.table) for item in found.found))
    found.tally.say()
    return 1 if found.failures else 0
