"""Writes a study's outcome: ``README.md``, its figures, its tables as CSV and the tidy data. No dates, no host times:
the same simulation writes the same bytes."""

from __future__ import annotations

import csv
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError
from breakeven.files.reading import check_links, csv_rows, read_text
from breakeven.files.writing import check_target, replacing, write_text
from breakeven.points.measurements import Tally
from breakeven.studies.commands import search_command, sweep_command
from breakeven.studies.study import ABSOLUTE_FACTOR, RATIO_TOLERANCE, SIZE_FACTOR, WINNER_SHARE, Contents, Outcome

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.sweeps.spec import SweepSpec


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
    with replacing(path) as beside, open(beside, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([[f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows])


def _varying(table: pd.DataFrame) -> pd.DataFrame:
    """The columns that say something: constants of a grid stand in the report's list of grids."""
    always = ("routine", "size", "cycles_min", "cycles_median", "instructions", "ok")
    # The others follow from the median or repeat it.
    derived = ("cycles", "least", "cycles_total", "overhead", "detail", "status")
    keep = [c for c in table.columns if c in always or (c not in derived and table[c].nunique() > 1)]
    return table[keep]


def measured_text(spec: SweepSpec) -> str:
    """Measures, warm-up calls and measured calls, as a report's table of grids has them."""
    counts = "/".join(str(count) for count in dict.fromkeys(map(spec.repetitions_of, spec.measures)))
    return f"{'/'.join(spec.measures)}, {spec.warmup} + {counts}"


def _grid_row(name: str, purpose: str, spec: SweepSpec, points: int) -> list[Any]:
    pairs = spec.pairs()
    offsets = f"{len(pairs)} pairs" if len(pairs) > 6 else " ".join(f"{src}/{dst}" for src, dst in pairs)
    sizes = f"{min(spec.sizes)}..{max(spec.sizes)} ({len(spec.sizes)})"
    varied = "; ".join(f"{path} {values[0]}..{values[-1]} ({len(values)})" for path, values in spec.parameters.items())
    machines = ", ".join(str(machine) for machine in spec.machines) + (f"; {varied}" if varied else "")
    return [
        name, purpose, ", ".join(spec.routines), machines, sizes, offsets, ", ".join(spec.cache_states),
        measured_text(spec), points,
    ]  # fmt: skip


_GRID_COLUMNS = (
    "grid", "for", "routines", "machine", "sizes", "offsets src/dst", "caches", "measure, warm-up + measured calls",
    "points",
)  # fmt: skip


_REFERENCE = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")


def render(text: str, values: Mapping[str, str], blocks: Mapping[str, str]) -> str:
    """The text with its references replaced. A reference to nothing, or a block nobody refers to, is a mistake of the
    study and is said so: a table must not be lost from a report unnoticed."""
    used: set[str] = set()

    def value(match: re.Match[str]) -> str:
        name = match[1]
        used.add(name)
        if name in blocks:
            return blocks[name]
        if name in values:
            return values[name]
        raise UserError(f"the study's text refers to {name!r}, which it does not define")

    rendered = _REFERENCE.sub(value, text)
    unused = (set(values) | set(blocks)) - used
    if unused:
        raise UserError(f"the study's text does not refer to: {', '.join(sorted(unused))}")
    return rendered


def _blocks(contents: Contents, folder: Path) -> dict[str, str]:
    """Tables and figures as Markdown; writes the CSV and the image of each."""
    blocks = {}
    for table in contents.tables:
        _write_csv(folder / f"{table.name}.csv", table.columns, table.rows)
        caption = f"*{table.caption} ([{table.name}.csv]({table.name}.csv))*"
        blocks[f"table {table.name}"] = f"{markdown_table(table.columns, table.rows)}\n\n{caption}"
    for figure in contents.figures:
        figure.draw(folder / f"{figure.name}.png")
        blocks[f"figure {figure.name}"] = f"![{figure.caption}]({figure.name}.png)\n\n*{figure.caption}*"
    return blocks


#: how `_blocks` refers to the files of tables and figures
_TABLE = re.compile(r"\(\[([^][/]+\.csv)\]\(\1\)\)\*$", re.MULTILINE)
_FIGURE = re.compile(r"^!\[.*\]\(([^()/]+\.png)\)$", re.MULTILINE)


def written(folder: Path) -> set[str]:
    """The files that the report in `folder` says it has beside it: of its grids, its tables and its figures."""
    try:
        text = read_text(folder / "README.md", "report")
        named = [f"data-{row.get('grid')}.csv" for row in csv_rows(folder / "grids.csv")]
        grids = {name for name in named if Path(name).name == name}
    except UserError:
        return set()  # no report, or none that tells
    return grids | set(_TABLE.findall(text)) | set(_FIGURE.findall(text))


def report_title(folder: Path) -> str:
    """The heading of the report in `folder`."""
    return read_text(folder / "README.md", "report").partition("\n")[0].strip().removeprefix("# ")


def check_reports(results: Path) -> None:
    """Raises `UserError` before anything runs when no report can be written into the folder `results`."""
    try:
        results.mkdir(parents=True, exist_ok=True)
        check_links(results)
        check_target(results / "README.md")
        with tempfile.TemporaryFile(dir=results):
            pass
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UserError(
            f"cannot write reports into {str(results)!r}: {reason}: give a folder that can be written (--out)"
        ) from None


def write_report(outcome: Outcome, folder: Path) -> Path:
    """Writes the report and everything beside it into `folder`; returns the report's path. What the report before had
    beside it, and this one has not, is removed; nothing else is."""
    before = written(folder)
    path = _write_report(outcome, folder)
    try:
        for name in before - written(folder):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot remove an old table in {str(folder)!r}: {error.strerror or error}") from None
    return path


def _write_report(outcome: Outcome, folder: Path) -> Path:
    study = outcome.study
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in outcome.data.tables.items():
            with replacing(folder / f"data-{name}.csv") as beside:
                _varying(table).to_csv(beside, index=False, lineterminator="\n")
        contents = study.contents(outcome.data)
        blocks = _blocks(contents, folder)
        blocks["verdicts"], blocks["conditions"] = _verdicts(outcome, folder), _conditions(outcome, folder)
        if contents.flips:
            blocks["flips"] = _flips(contents, folder)
        path = folder / "README.md"
        body = render((study.text or "").strip(), contents.values, blocks)
        write_text(path, f"# {study.title}\n\n{body}\n")
    except OSError as error:
        raise UserError(f"cannot write the report into {str(folder)!r}: {error.strerror or error}") from None
    return path


VERDICT_COLUMNS = ("claim", "published", "simulated", "verdict", "note")
#: what stands in a study's ``flips.csv`` and on the page of all verdicts
FLIP_COLUMNS = ("conclusion", "parameter", "the machine has", "flips at")


def _flips(contents: Contents, folder: Path) -> str:
    rows = [[flip.conclusion, flip.parameter, flip.has, flip.at] for flip in contents.flips]
    _write_csv(folder / "flips.csv", FLIP_COLUMNS, rows)
    return markdown_table(FLIP_COLUMNS, [[row[0], f"`{row[1]}`", *row[2:]] for row in rows])


def _verdicts(outcome: Outcome, folder: Path) -> str:
    parts = []
    if outcome.failures:
        parts.append(
            f"**{len(outcome.failures)} of {outcome.points} points gave a wrong output; no number here can be "
            f"trusted.** The first: {outcome.failures[0]}."
        )
    rows = [[v.claim, v.published, v.simulated, v.verdict, f"{v.note} {v.more}".strip()] for v in outcome.verdicts]
    _write_csv(folder / "verdicts.csv", VERDICT_COLUMNS, rows)
    shown = [[*row[:3], f"**{row[3]}**", first_sentence(row[4])[0]] for row in rows]
    parts.append(markdown_table(VERDICT_COLUMNS, shown))
    numbers = [f"- **{row[0]}.** {rest}" for row in rows if (rest := first_sentence(row[4])[1])]
    if numbers:
        parts.append(folded("The numbers behind the verdicts", "\n".join(numbers)))
    parts.append(tolerances())
    return "\n\n".join(parts)


def first_sentence(text: str) -> tuple[str, str]:
    """A note's first sentence, and what follows it."""
    parts = re.split(r"(?<=[^.\s]\.) (?=[A-Z`\d+])", text, maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def folded(summary: str, text: str) -> str:
    """Markdown that a reader opens if it is wanted."""
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def tolerances() -> str:
    """How claims are judged, in a paragraph."""
    return (
        f"Tolerances, fixed before running: {RATIO_TOLERANCE:.0%} on ratios, a factor of {ABSOLUTE_FACTOR} on "
        f"absolute numbers, a factor of {SIZE_FACTOR:g} (one power of two) on break-even sizes, {WINNER_SHARE:.0%} of "
        "the points for a winner. *Direction only*: the right side wins, the number is outside the tolerance."
    )


def _convergence(outcome: Outcome) -> str:
    tally = Tally()
    for table in outcome.data.tables.values():
        tally.add(table)
    if not tally.not_converged:
        return ""
    return f"{tally.not_converged} medians had not converged (`converged` in the data). "


def _conditions(outcome: Outcome, folder: Path) -> str:
    study = outcome.study
    every = {**study.grids, **study.searches}
    rows = [_grid_row(name, *what, len(outcome.data.tables[name])) for name, what in every.items()]
    commands = {name: sweep_command(spec) for name, (_, spec) in study.grids.items()}
    commands |= {name: search_command(spec) for name, (_, spec) in study.searches.items()}
    with_commands = [[*row, commands[row[0]]] for row in rows]
    _write_csv(folder / "grids.csv", (*_GRID_COLUMNS, "command"), with_commands)
    pasted = "\n".join(f"# {name}: {what}\n{commands[name]}" for name, (what, _) in every.items())
    result = "all were right" if not outcome.failures else f"{len(outcome.failures)} were wrong"
    machines = [[machine, f"`{digest[:16]}`"] for machine, digest in outcome.hashes.items()]
    parts = [
        f"{outcome.points} points. Every output was compared with its source byte by byte, guard bands on both sides "
        f"included: {result}. {_convergence(outcome)}The tidy data of each grid stand in `data-<grid>.csv`.",
        f"All of it again: `breakeven reproduce {study.name}` (from a clone: `scripts/reproduce {study.name}`). One "
        "grid again, with the numbers of its tables: a command below. Where a grid's pairs of offsets are no product, "
        "its command runs the product, so more points.",
        f"```sh\n{pasted}\n```",
        folded("The grids in a table", markdown_table(_GRID_COLUMNS, rows)),
        folded("The machines", markdown_table(("machine", "hash of its description"), machines)),
    ]
    return "\n\n".join(parts)
