"""What `compare` prints at its end, and its plot."""

from __future__ import annotations

from pathlib import Path

from breakeven.analysis.baseline import Baseline
from breakeven.analysis.comparison import Comparison
from breakeven.analysis.crossings import TIE, leaders_of
from breakeven.analysis.verdict import AHEAD, describe_interval
from breakeven.cli.summaries import print_failures
from breakeven.errors import shown_path
from breakeven.output.console import Table, print_json, print_parts
from breakeven.points.measurements import Tally, again_words
from breakeven.sweeps.spec import axis_label

#: rows of the table of times: enough to see the shape, few enough for a screen
_SAMPLE_SIZES = 12
#: of more routines than these only those that are somewhere the fastest have a column of times
_COLUMNS = 6


def comparisons_done(
    found: list[Comparison], plots: list[Path | None], json: bool, *, markdown: bool = False, trust: bool = True
) -> int:
    """A block for each of several machines (or JSON with all of them); the exit status."""
    if not json:
        status = 0
        for one, plot in zip(found, plots, strict=True):
            if one is not found[0]:
                print()
            status = max(status, comparison_done(one, plot, None, False, markdown=markdown, trust=trust))
        return status
    each = [{**one.as_dict(), "plot": str(plot) if plot else None} for one, plot in zip(found, plots, strict=True)]
    print_json({"machines": each, "ok": all(one["ok"] for one in each)})
    for one in found:
        print_failures(one.failures, len(one.table))
        Tally().add(one.table).say()
    return 0 if all(one["ok"] for one in each) else 1


def comparison_done(
    found: Comparison,
    plot: Path | None,
    out: Path | None,
    json: bool,
    *,
    markdown: bool = False,
    baseline: Baseline | None = None,
    trust: bool = True,
) -> int:
    """The comparison as tables (or JSON); the exit status. `trust`: with the line of trust."""
    print_failures(found.failures, len(found.table))
    if json:
        files = {"plot": str(plot) if plot else None, "file": str(out) if out else None}
        against = {"baseline": baseline.as_dict()} if baseline else {}
        print_json({**found.as_dict(), **against, **files})
        Tally().add(found.table).say()
        return 1 if found.failures else 0
    parts: list[str | Table] = [found.conditions(), _times(found), *_ranked(found), *_answers(found)]
    parts += [again] if (again := again_words(found.table)) else []
    parts += [found.rests_on] if found.rests_on else []
    parts += baseline.parts() if baseline else []
    parts += [line] if trust and (line := found.trust()) else []
    parts += [f"{what}: {shown_path(path)}" for what, path in (("plot", plot), ("results", out)) if path]
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
    names = _with_columns(found)
    rows = []
    for i in shown:
        ahead, _ = leaders_of({name: curve[i] for name, curve in found.curves.items()}, TIE)
        mark = "=" if len(ahead) > 1 else "*"
        cells = (f"{found.cycles_text(name, i)} {mark if name in ahead else ' '}" for name in names)
        rows.append((f"{found.x[i]:.0f}" if found.along == "size" else f"{found.x[i]:g}", *cells))
    dispersion = f", {found.dispersion_words}" if found.dispersion_words else ""
    title = f"cycles/call (* fastest, = within {TIE:.0%}{dispersion})"
    # The mark stands after the number, so heads move with it.
    along = "working set" if found.spec.mix and found.along == "size" else axis_label(found.spec, found.along)
    heads = (along, *(f"{name}  " for name in names))
    return Table(heads, rows, title, range(len(heads)))


def _with_columns(found: Comparison) -> list[str]:
    """The routines whose times are shown."""
    if len(found.curves) <= _COLUMNS:
        return list(found.curves)
    some = [rank.routine for rank in found.ranking() if rank.fastest_at][:_COLUMNS]
    return [name for name in found.curves if name in some]


def _ranked(found: Comparison) -> list[Table]:
    """Of more than two routines: how far behind the fastest each is."""
    if len(found.curves) <= 2:
        return []
    rows = [
        (rank.routine, f"{rank.mean:.2f}x", f"{rank.least:.2f}x to {rank.most:.2f}x", rank.fastest_at)
        for rank in found.ranking()
    ]
    heads = ("routine", "mean time over the fastest's", "least to most", f"fastest at (of {len(found.x)})")
    return [Table(heads, rows, "ranked by how far behind the fastest", (1, 2, 3))]


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
