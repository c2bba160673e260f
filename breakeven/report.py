"""Writes a study's outcome: ``report.md``, its figures, its tables as CSV and the tidy data. No dates, no host times:
the same simulation writes the same bytes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError
from breakeven.study import ABSOLUTE_FACTOR, RATIO_TOLERANCE, FigureItem, Outcome, Section, TableItem

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.sweep import SweepSpec


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table; numbers to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    numeric = [
        bool(rows) and all(isinstance(row[i], (int, float)) or row[i] in ("", "-") for row in rows)
        for i in range(len(columns))
    ]
    lines = ["| " + " | ".join(columns) + " |"]
    lines.append("|" + "|".join("---:" if right else "---" for right in numeric) + "|")
    lines += ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        value = f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return str(value).replace("|", "\\|").replace("\n", " ")


def _write_csv(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([[f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows])


def _varying(table: pd.DataFrame) -> pd.DataFrame:
    """The columns that say something: constants of a grid stand in the report's list of grids."""
    always = ("routine", "size", "cycles_median", "instructions", "ok")
    # The others follow from the median or repeat it.
    derived = ("cycles", "cycles_min", "cycles_total", "detail", "status")
    keep = [c for c in table.columns if c in always or (c not in derived and table[c].nunique() > 1)]
    return table[keep]


def _grid_row(name: str, purpose: str, spec: SweepSpec) -> list[Any]:
    pairs = spec.pairs()
    offsets = f"{len(pairs)} pairs" if len(pairs) > 6 else " ".join(f"{src}/{dst}" for src, dst in pairs)
    sizes = f"{min(spec.sizes)}..{max(spec.sizes)} ({len(spec.sizes)})"
    varied = "; ".join(f"{path} {values[0]}..{values[-1]} ({len(values)})" for path, values in spec.parameters.items())
    machines = ", ".join(str(machine) for machine in spec.machines) + (f"; {varied}" if varied else "")
    measured = f"{'/'.join(spec.measures)}, {spec.warmup} + {spec.repetitions}"
    return [
        name, purpose, ", ".join(spec.routines), machines, sizes, offsets, ", ".join(spec.cache_states), measured,
        spec.count(),
    ]  # fmt: skip


_GRID_COLUMNS = (
    "grid", "for", "routines", "machine", "sizes", "offsets src/dst", "caches", "measure, warm-up + measured calls",
    "points",
)  # fmt: skip


def _body(section: Section, folder: Path) -> list[str]:
    parts = [f"## {section.heading}"]
    for item in section.body:
        if isinstance(item, TableItem):
            _write_csv(folder / f"{item.name}.csv", item.columns, item.rows)
            caption = f"*{item.caption} ([{item.name}.csv]({item.name}.csv))*"
            parts += [markdown_table(item.columns, item.rows), caption]
        elif isinstance(item, FigureItem):
            item.draw(folder / f"{item.name}.png")
            parts += [f"![{item.caption}]({item.name}.png)", f"*{item.caption}*"]
        else:
            parts.append(item.strip())
    return parts


def write_report(outcome: Outcome, folder: Path) -> Path:
    """Writes the report and everything beside it into `folder`; returns the report's path."""
    study = outcome.study
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in outcome.data.tables.items():
            _varying(table).to_csv(folder / f"data-{name}.csv", index=False, lineterminator="\n")
        parts = [f"# {study.title}", study.introduction.strip(), *_verdicts(outcome, folder)]
        for section in study.sections(outcome.data):
            parts += _body(section, folder)
        parts += _conditions(outcome, folder)
        path = folder / "report.md"
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write the report into {str(folder)!r}: {error.strerror or error}") from None
    return path


def _verdicts(outcome: Outcome, folder: Path) -> list[str]:
    parts = ["## Verdicts"]
    if outcome.failures:
        parts.append(
            f"**{len(outcome.failures)} of {outcome.points} points gave a wrong output; no number here can be trusted.** "
            f"The first: {outcome.failures[0]}."
        )
    columns = ("claim", "published", "simulated", "verdict", "note")
    rows = [[v.claim, v.published, v.simulated, f"**{v.verdict}**", v.note] for v in outcome.verdicts]
    _write_csv(folder / "verdicts.csv", columns, [[*row[:3], row[3].strip("*"), row[4]] for row in rows])
    rule = (
        f"Tolerances, fixed before running: {RATIO_TOLERANCE:.0%} on ratios, a factor of {ABSOLUTE_FACTOR} on absolute numbers, "
        "one power of two on break-even sizes, 95 % of the points for a winner. *Direction only*: the right side wins, the "
        "number is outside the tolerance."
    )
    return [*parts, markdown_table(columns, rows), rule]


def _conditions(outcome: Outcome, folder: Path) -> list[str]:
    study = outcome.study
    rows = [_grid_row(name, purpose, spec) for name, (purpose, spec) in study.grids.items()]
    _write_csv(folder / "grids.csv", _GRID_COLUMNS, rows)
    checked = "Every output was compared with its source byte by byte, guard bands on both sides included"
    result = "all were right" if not outcome.failures else f"{len(outcome.failures)} were wrong"
    machines = [[machine, f"`{digest[:16]}`"] for machine, digest in outcome.hashes.items()]
    return [
        "## What was run",
        f"{outcome.points} points. {checked}: {result}. The tidy data of each grid stand in `data-<grid>.csv`.",
        markdown_table(_GRID_COLUMNS, rows),
        markdown_table(("machine", "hash of its description"), machines),
        f"Again: `scripts/reproduce {study.name}`, or `breakeven reproduce {study.name}`.",
    ]
