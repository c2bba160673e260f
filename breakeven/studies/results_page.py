"""``results/README.md``: the verdicts of every study on one page, from the tables that the studies have left."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from breakeven.errors import UserError
from breakeven.files.reading import csv_rows
from breakeven.files.writing import write_text
from breakeven.studies.ledger import (
    CHOSEN_LATER,
    KINDS,
    LEDGER_COLUMNS,
    PREDICTED,
    Entry,
    Verdicts,
    count,
    ledger_rows,
    load_ledger,
)
from breakeven.studies.report import (
    FLIP_COLUMNS,
    VERDICT_COLUMNS,
    first_sentence,
    markdown_table,
    report_title,
    tolerances,
)
from breakeven.studies.study import DIRECTION_ONLY, NOT_REPRODUCED, NOT_SIMULATED, REPRODUCED

_ORDER = (REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, NOT_SIMULATED)


def _flips(folder: Path) -> list[dict[str, str]]:
    """What would have flipped a study's conclusions; nothing when it does not tell."""
    path = folder / "flips.csv"
    return csv_rows(path, FLIP_COLUMNS) if path.is_file() else []


def write_results_page(results: Path) -> Path:
    """Writes the page of all studies whose reports lie in `results`, the ledger beside it; returns the page's path."""
    try:
        folders = sorted(
            path.parent for path in results.glob("*/verdicts.csv") if (path.parent / "README.md").is_file()
        )
        verdicts = {folder.name: csv_rows(folder / "verdicts.csv", VERDICT_COLUMNS) for folder in folders}
        flips = {folder.name: _flips(folder) for folder in folders}
        titles = {folder.name: report_title(folder) for folder in folders}
        path = results / "README.md"
        entries = load_ledger()
        by_claim = {name: {row["claim"]: row for row in rows} for name, rows in verdicts.items()}
        write_text(path, _page(verdicts, flips, titles, _counts(entries, by_claim)))
        write_text(results / "ledger.md", _ledger_page(entries, by_claim))
    except OSError as error:
        raise UserError(f"cannot write the page of results in {str(results)!r}: {error.strerror or error}") from None
    return path


def _counts(entries: list[Entry], verdicts: Verdicts) -> str:
    """How many rows came out, the predicted ones first."""
    lines = []
    for kind, what in (
        (PREDICTED, "Predicted: nothing was chosen after the first verdict"),
        (CHOSEN_LATER, "Chosen later: a model, state, definition or value, with the published number known"),
    ):
        reproduced, direction, wrong = count(entries, verdicts, kind)
        every = reproduced + direction + wrong
        lines.append([what, reproduced, direction, wrong, f"{reproduced / every:.0%}" if every else "none"])
    return markdown_table(
        ("rows that can fail", REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, "reproduced of all"), lines
    )


def _ledger_page(entries: list[Entry], verdicts: Verdicts) -> str:
    parts = [
        "# How each verdict came about",
        "For every row the first verdict that was committed, today's, and what changed between, with the commits. "
        "*Predicted*: nothing that the row rests on was chosen after its first verdict. *Chosen later*: a model, a "
        "state, a definition or a calibrated value was, with the published number known. *Cannot fail*: hardly any "
        "simulation could give another verdict; such rows count nowhere. *Withdrawn*: judged once, and replaced.",
        _counts(entries, verdicts),
    ]
    for kind in KINDS:
        rows = ledger_rows([entry for entry in entries if entry.kind == kind], verdicts)
        if rows:
            parts += [f"## {kind.capitalize()}", markdown_table(LEDGER_COLUMNS, rows)]
    return "\n\n".join(parts) + "\n"


def _page(
    verdicts: dict[str, list[dict[str, str]]],
    flips: dict[str, list[dict[str, str]]],
    titles: dict[str, str],
    counted: str,
) -> str:
    counts = {name: Counter(row["verdict"] for row in rows) for name, rows in verdicts.items()}
    summary = [
        [f"[{name}]({name}/README.md)", *(number[verdict] for verdict in _ORDER)] for name, number in counts.items()
    ]
    parts = [
        "# Published claims, simulated",
        counted,
        f"[The ledger](ledger.md) has the first verdict of every row and what changed since. {tolerances()}",
        "By study, rows that cannot fail among them:",
        markdown_table(("study", *_ORDER), summary),
    ]
    flipped = [[name, *(row[column] for column in FLIP_COLUMNS)] for name, rows in flips.items() for row in rows]
    if flipped:
        parts += [
            "## What would have flipped the conclusions",
            "One parameter of the CPU at a time, by search; the curves stand in the studies.",
            markdown_table(("study", *FLIP_COLUMNS), flipped),
        ]
    for name, rows in verdicts.items():
        cells = [
            [*(row[c] for c in VERDICT_COLUMNS[:3]), f"**{row['verdict']}**", first_sentence(row["note"])[0]]
            for row in rows
        ]
        parts += [f"## [{titles[name]}]({name}/README.md)", markdown_table(VERDICT_COLUMNS, cells)]
    return "\n\n".join(parts) + "\n"
