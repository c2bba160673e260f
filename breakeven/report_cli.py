"""What `sweep`, `compare` and `reproduce` print at their end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.compare import Comparison, describe_break_even, describe_interval
from breakeven.console import print_json, print_table
from breakeven.errors import UserError
from breakeven.paths import check_target
from breakeven.sweep import SweepSpec, failures

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.study import Outcome


def loud(bad: list[str], total: int) -> None:
    """Wrong outputs make every number worthless: said first and last, on stderr."""
    if bad:
        print(f"breakeven: WRONG OUTPUT at {len(bad)} of {total} points; the first: {bad[0]}", file=sys.stderr)


def sweep_done(
    spec: SweepSpec, table: pd.DataFrame, path: Path | None, seconds: float, simulated: int, json: bool
) -> int:
    """Summary of a sweep; the exit status. `simulated`: points that did not come from the store."""
    bad = failures(table)
    if json:
        answer: dict[str, Any] = {
            "points": len(table), "wrong": len(bad), "first_wrong": bad[0] if bad else None,
            "machines": [str(machine) for machine in spec.machines], "file": str(path) if path else None,
            "host_seconds": round(seconds, 3), "simulated": simulated,
        }  # fmt: skip
        if path is None:
            answer["rows"] = table.to_dict(orient="records")
        print_json(answer)
        loud(bad, len(table))
        return 1 if bad else 0
    small, large = min(spec.sizes), max(spec.sizes)
    work = table.assign(cycles=table["cycles_median"] / table["calls"])
    rows = []
    for (machine, routine), group in work.groupby(["machine", "routine"], sort=False):
        ends = [group[group["size"] == size]["cycles"].median() for size in dict.fromkeys((small, large))]
        wrong = int((~group["ok"]).sum())
        rows.append((machine, routine, len(group), *(f"{end:.0f}" for end in ends), wrong or "-"))
    heads = [f"at {size} B" for size in dict.fromkeys((small, large))]
    print_table(
        ("machine", "routine", "points", *heads, "wrong"), rows, "cycles a call (median over conditions)",
        right=range(2, 4 + len(heads)),
    )  # fmt: skip
    rate = simulated / seconds if seconds else 0.0
    stored = f", {len(table) - simulated} from the store" if simulated < len(table) else ""
    print(f"{len(table)} points in {seconds:.1f} s ({rate:.0f} simulated a second{stored}): {path}")
    loud(bad, len(table))
    return 1 if bad else 0


def check_plot(path: Path) -> None:
    """Raises `UserError` before anything runs when the plot could not be written."""
    if path.suffix not in (".png", ".svg"):
        raise UserError(f"cannot draw {str(path)!r}: the name must end in .png or .svg")
    check_target(path)


def plot_comparison(found: Comparison, path: Path) -> None:
    """The comparison's curves with their crossings."""
    from breakeven import plots

    along_size = found.along == "size"
    wide = along_size and max(found.x) / max(min(found.x), 1) >= 256
    marks = [(item.stays, f"{item.stays} B") for item in found.break_evens if item.stays and item.stays > found.x[0]]
    marks += [(at, f"{at:.3g}") for _, _, where in found.crossings for at in where]
    plots.lines(
        path,
        found.x,
        found.curves,
        title=" / ".join(found.curves) if len(found.curves) < 4 else f"{len(found.curves)} routines",
        caption=f"{found.conditions()}." + (" Dashed verticals: where the lead changes for good." if marks else ""),
        xlabel="size (bytes)" if along_size else found.along,
        log_x=wide,
        log_y=wide,
        marks=marks,
    )


#: rows of the table of times: enough to see the shape, few enough for a screen
_SAMPLE_SIZES = 12


def comparison_done(found: Comparison, plot: Path | None, out: Path | None, json: bool, note: str = "") -> int:
    """The comparison as tables (or JSON), a note on how it was measured beside its conditions; the exit status."""
    if json:
        print_json({**found.as_dict(), "plot": str(plot) if plot else None, "file": str(out) if out else None})
        loud(found.failures, len(found.table))
        return 1 if found.failures else 0
    loud(found.failures, len(found.table))
    print(found.conditions())
    if note:
        print(note)
    step = max(1, (len(found.x) - 1) // (_SAMPLE_SIZES - 1)) if len(found.x) > _SAMPLE_SIZES else 1
    shown = sorted({*range(0, len(found.x), step), len(found.x) - 1})
    if found.along == "size" and len(found.x) > _SAMPLE_SIZES:
        shown = _spread(found.x)
    rows = [(f"{found.x[i]:g}", *(f"{curve[i]:.0f}" for curve in found.curves.values())) for i in shown]
    print_table((found.along, *found.curves), rows, "cycles a call", right=range(len(found.curves) + 1))
    if found.along == "size":
        print_table(
            ("sizes", "fastest", "ahead of the next (median)"),
            [describe_interval(item) for item in found.intervals],
            "who leads where",
        )
        for item in found.break_evens:
            print(describe_break_even(item))
    else:
        for a, b, where in found.crossings:
            text = ", ".join(f"{at:.4g}" for at in where) if where else "nowhere in this range"
            print(f"{a} and {b} cross at {found.along} = {text}")
    if plot:
        print(f"plot: {plot}")
    if out:
        print(f"results: {out}")
    loud(found.failures, len(found.table))
    return 1 if found.failures else 0


def _spread(x: list[float]) -> list[int]:
    """Indices of the measured sizes nearest to powers of two, and the last."""
    wanted, size = [], 1
    while size <= x[-1]:
        if size >= x[0]:
            wanted.append(min(range(len(x)), key=lambda i: abs(x[i] - size)))
        size *= 2
    return sorted({*wanted, len(x) - 1})


def studies_done(done: list[tuple[Outcome, Path]], json: bool) -> int:
    """Verdicts of the studies; the exit status is 1 when a point's output was wrong."""
    bad = [failure for outcome, _ in done for failure in outcome.failures]
    points = sum(outcome.points for outcome, _ in done)
    if json:
        print_json({
            "studies": [
                {
                    "study": outcome.study.name, "report": str(path), "points": outcome.points,
                    "claims": [verdict.as_dict() for verdict in outcome.verdicts],
                }
                for outcome, path in done
            ],
            "wrong": len(bad), "first_wrong": bad[0] if bad else None,
        })  # fmt: skip
    else:
        for outcome, path in done:
            rows = [(v.claim, v.published, v.simulated, v.verdict) for v in outcome.verdicts]
            print_table(("claim", "published", "simulated", "verdict"), rows, outcome.study.title)
            print(f"{outcome.points} points; report: {path}")
    loud(bad, points)
    return 1 if bad else 0
