"""What `compare` prints at its end, and its plot."""

from __future__ import annotations

from pathlib import Path

from breakeven.analysis.baseline import Baseline
from breakeven.analysis.comparison import Comparison
from breakeven.analysis.crossings import TIE, leaders_of
from breakeven.analysis.verdict import AHEAD, describe_interval
from breakeven.cli.summaries import print_failures
from breakeven.output.console import Table, print_json, print_parts
from breakeven.points.measurements import Tally, again_words

#: rows of the table of times: enough to see the shape, few enough for a screen
_SAMPLE_SIZES = 12


def comparison_done(
    found: Comparison,
    plot: Path | None,
    out: Path | None,
    json: bool,
    *,
    markdown: bool = False,
    baseline: Baseline | None = None,
) -> int:
    """The comparison as tables (or JSON); the exit status."""
    print_failures(found.failures, len(found.table))
    if json:
        files = {"plot": str(plot) if plot else None, "file": str(out) if out else None}
        against = {"baseline": baseline.as_dict()} if baseline else {}
        print_json({**found.as_dict(), **against, **files})
        Tally().add(found.table).say()
        return 1 if found.failures else 0
    parts: list[str | Table] = [found.conditions(), _times(found), *_answers(found)]
    parts += [again] if (again := again_words(found.table)) else []
    parts += [found.rests_on] if found.rests_on else []
    parts += baseline.parts() if baseline else []
    parts += [f"{what}: {path}" for what, path in (("plot", plot), ("results", out)) if path]
    print_parts(parts, markdown)
    print_failures(found.failures, len(found.table))
    Tally().add(found.table).say()
    return 1 if found.failures else 0


def _times(found: Comparison) -> Table:
    """Cycles per call at some values of x, the fastest marked."""
    step = max(1, (len(found.x) - 1) // (_SAMPLE_SIZES - 1)) if len(found.x) > _SAMPLE_SIZES else 1
    shown = sorted({*range(0, len(found.x), step), len(found.x) - 1})
    if found.along == "size" and len(found.x) > _SAMPLE_SIZES:
        shown = _powers_of_two(found.x)
    rows = []
    for i in shown:
        ahead, _ = leaders_of({name: curve[i] for name, curve in found.curves.items()}, TIE)
        mark = "=" if len(ahead) > 1 else "*"
        cells = (f"{found.cycles_text(name, i)} {mark if name in ahead else ' '}" for name in found.curves)
        rows.append((f"{found.x[i]:g}", *cells))
    dispersion = f", {found.dispersion_words}" if found.dispersion_words else ""
    title = f"cycles/call (* fastest, = within {TIE:.0%}{dispersion})"
    # The mark stands after the number, so heads move with it.
    heads = (found.along, *(f"{name}  " for name in found.curves))
    return Table(heads, rows, title, range(len(heads)))


def _answers(found: Comparison) -> list[str | Table]:
    parts: list[str | Table] = []
    if found.leads:
        rows = [describe_interval(item) for item in found.leads.ranges]
        parts.append(Table(("sizes", "fastest", AHEAD), rows, "who leads where"))
    return [*parts, *found.sentences()]


def _powers_of_two(x: list[float]) -> list[int]:
    """Indices of the measured sizes nearest to powers of two, and the last."""
    wanted, size = [], 1
    while size <= x[-1]:
        if size >= x[0]:
            wanted.append(min(range(len(x)), key=lambda i: abs(x[i] - size)))
        size *= 2
    return sorted({*wanted, len(x) - 1})
