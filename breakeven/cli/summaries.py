"""What `sweep` and `reproduce` print at their end."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import say, shown_path
from breakeven.output.console import print_json, print_table
from breakeven.points.measurements import Tally, again_words
from breakeven.points.result import OUT_OF_RANGE, STATUSES
from breakeven.points.table import failures

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.studies.study import Outcome


#: longer than this is told before it starts (seconds), in the largest unit of which there is more than one
_LONG = 20
_UNITS = (("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))
#: points of a list of sizes that was hardly meant
_MANY = 100_000


def print_failures(bad: list[str], total: int) -> None:
    """Wrong outputs make every number worthless: said first and last, on stderr."""
    if bad:
        # A point that the guest does not take, such as a parameter of a routine that has none, was never run.
        what = "NO RESULT" if all(STATUSES[OUT_OF_RANGE] in one for one in bad) else "WRONG OUTPUT"
        said = f"breakeven: {what} at {len(bad)} of {total} points; the first: {bad[0]}"
        say(said, file=sys.stderr)


def say_how_long(points: int, seconds: float) -> None:
    """Before a long run: on standard error, for whoever waits."""
    cores = len(os.sched_getaffinity(0))
    left = seconds / cores
    if left <= _LONG:
        return
    unit, length = next((unit, length) for unit, length in _UNITS if left > 1.5 * length)
    few = "; 1K..1M*2 is 11 sizes" if points > _MANY else ""
    took = f"some {left / length:.0f} {unit} on {cores} idle cores"
    say(f"breakeven: {points} points, {took}; kept ones take none{few}", file=sys.stderr)


def sweep_done(table: pd.DataFrame, path: Path | None, seconds: float, json: bool) -> int:
    """Summary of a sweep; the exit status."""
    import pandas as pd

    simulated = table.attrs["simulated"]
    bad, tally = failures(table), Tally().add(table)
    if json:
        answer: dict[str, Any] = {
            "points": len(table), "wrong": len(bad), "first_wrong": bad[0] if bad else None,
            "machines": table.attrs["machines"], "file": str(path) if path else None,
            "host_seconds": round(seconds, 3), "simulated": simulated,
            "not_converged": tally.not_converged,
        }  # fmt: skip
        if path is None:
            answer["rows"] = table.astype({"converged": object}).replace({pd.NA: None}).to_dict(orient="records")
        print_json(answer)
        print_failures(bad, len(table))
        tally.say()
        return 1 if bad else 0
    small, large = table["size"].min(), table["size"].max()
    work = table.assign(cycles=table["cycles_median"] / table["calls"])
    rows = []
    for (machine, routine), group in work.groupby(["machine", "routine"], sort=False):
        ends = [group[group["size"] == size]["cycles"].median() for size in dict.fromkeys((small, large))]
        wrong = int((~group["ok"]).sum())
        rows.append((machine, routine, len(group), *(f"{end:.0f}" for end in ends), wrong or "-"))
    heads = [f"at {size} B" for size in dict.fromkeys((small, large))]
    print_table(
        ("machine", "routine", "points", *heads, "wrong"), rows, "cycles/call (median over conditions)",
        right=range(2, 4 + len(heads)),
    )  # fmt: skip
    if again := again_words(table):
        say(again)
    rate = simulated / seconds if seconds else 0.0
    stored = f", {len(table) - simulated} from the store" if simulated < len(table) else ""
    say(f"{len(table)} points in {seconds:.1f} s ({rate:.0f} simulated a second{stored}): {shown_path(path or '')}")
    print_failures(bad, len(table))
    tally.say()
    return 1 if bad else 0


def studies_done(done: list[tuple[Outcome, Path]], results: Path, json: bool) -> int:
    """What the studies ask and found; the exit status is 1 when a point's output was wrong."""
    bad = [failure for outcome, _ in done for failure in outcome.failures]
    points = sum(outcome.points for outcome, _ in done)
    if json:
        print_json({
            "studies": [
                {
                    "study": outcome.study.name, "question": outcome.study.question, "answer": outcome.answer,
                    "headline": headline.claim if (headline := outcome.headline) else None,
                    "report": str(path), "points": outcome.points,
                    "claims": [verdict.as_dict() for verdict in outcome.verdicts],
                }
                for outcome, path in done
            ],
            "wrong": len(bad), "first_wrong": bad[0] if bad else None,
        })  # fmt: skip
    else:
        rows = []
        for outcome, path in done:
            asked = "\n".join((outcome.study.question or outcome.study.title, outcome.answer, str(path)))
            claim = outcome.headline
            found = (claim.published, f"{claim.simulated}\n{claim.verdict}") if claim else ("-", "-")
            rows += [(asked, *found), ("", "", "")]
        print_table(("question, answer, report", "published", "simulated"), rows[:-1])
        say(f"{points} points. Every claim's verdict: {shown_path(results / 'README.md')}")
    print_failures(bad, points)
    return 1 if bad else 0
