"""What `find` and `surface` print at their end."""

from __future__ import annotations

from pathlib import Path

from breakeven.analysis.search_result import HEADS, NARROWER, SearchResult, Surface
from breakeven.analysis.verdict import AHEAD, describe_interval
from breakeven.cli.summaries import print_failures
from breakeven.errors import say, shown_path
from breakeven.output.console import print_json, print_table
from breakeven.points.measurements import again_words
from breakeven.sweeps.spec import axis_label

#: rows of a surface's table on the screen
_ROWS = 60


def find_done(
    found: SearchResult, plot: Path | None, out: Path | None, seconds: float, json: bool, *, trust: bool = True
) -> int:
    """The leads as tables (or JSON); the exit status. `trust`: with the line of trust."""
    if json:
        print_json({**found.as_dict(), "plot": str(plot) if plot else None, "file": str(out) if out else None,
                    "simulated": found.simulated, "host_seconds": round(seconds, 3)})  # fmt: skip
    else:
        print_failures(found.failures, len(found.table))
        _print(found, seconds)
        if trust and (line := found.trust()):
            say(line)
        for label, path in (("plot", plot), ("measured points", out)):
            if path:
                say(f"{label}: {shown_path(path)}")
    print_failures(found.failures, len(found.table))
    found.tally.say()
    return 1 if found.failures else 0


def _print(found: SearchResult, seconds: float) -> None:
    leads = found.leads
    say(found.conditions())
    rows = []
    for i, item in enumerate(leads.answer.ranges):
        before = i == 0 or leads.verified[i - 1]
        after = i == len(leads.verified) or leads.verified[i]
        rows.append((*describe_interval(item), "yes" if before and after else "no"))
    print_table((axis_label(found.spec, found.along), "fastest", AHEAD, "ends measured"), rows, "who leads where")
    for sentence in found.sentences():
        say(sentence)
    share = len(leads.probed) / len(leads.x)
    what = f"{len(leads.probed)} of {len(leads.x)} points measured ({share:.0%})"
    say(f"{what} in {leads.rounds} rounds, {seconds:.1f} s; the others are predicted")
    if again := again_words(found.table):
        say(again)
    if not leads.certain:
        expected = max(leads.expected_errors, 1)
        say(f"in doubt: the lead at about {expected:.0f} of the points not measured (--budget N measures more)")


def surface_done(found: Surface, plot: Path | None, out: Path | None, seconds: float, json: bool) -> int:
    """The surface as a table (or JSON); the exit status."""
    table = found.table()
    if json:
        print_json({**found.as_dict(), "plot": str(plot) if plot else None, "file": str(out) if out else None,
                    "host_seconds": round(seconds, 3)})  # fmt: skip
    else:
        say(found.conditions())
        heads = (*(path.removeprefix("cpu.") for path in found.parameters), *HEADS)
        right = [i for i, head in enumerate(heads) if head not in ("below it", "from it on")]
        print_table(heads, found.rows()[:_ROWS], found.title(), right=right)
        if any(
            "-" in row[len(found.parameters)][1:] for row in found.rows() if row[len(found.parameters)][0].isdigit()
        ):
            say(f"450-513: no size between these two was tried; {NARROWER}")
        if len(table) > _ROWS:
            say(f"... and {len(table) - _ROWS} rows more (--out keeps them)")
        points = sum(len(item.leads.probed) for item in found.found)
        grid = sum(len(item.leads.x) for item in found.found)
        say(f"{len(table)} searches, {points} of {grid} points measured ({points / grid:.0%}), {seconds:.1f} s")
        if again := again_words(*(item.table for item in found.found)):
            say(again)
        for label, path in (("plot", plot), ("surface", out)):
            if path:
                say(f"{label}: {shown_path(path)}")
    print_failures(found.failures, sum(len(item.table) for item in found.found))
    found.tally.say()
    return 1 if found.failures else 0
