"""``results/README.md``: the verdicts of every study on one page, from the tables that the studies have left."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from breakeven.errors import UserError
from breakeven.output_file import write_text
from breakeven.report import TURN_COLUMNS, VERDICT_COLUMNS, first_sentence, markdown_table, tolerances
from breakeven.study import DIRECTION_ONLY, NOT_REPRODUCED, NOT_SIMULATED, REPRODUCED

_ORDER = (REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, NOT_SIMULATED)


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; none when there is no file."""
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _title(folder: Path) -> str:
    """The heading of a study's report."""
    first, _, _ = (folder / "README.md").read_text(encoding="utf-8").partition("\n")
    return first.removeprefix("# ")


def write_results_page(results: Path) -> Path:
    """Writes the page of all studies whose reports lie in `results`; returns its path."""
    try:
        folders = sorted(
            path.parent for path in results.glob("*/verdicts.csv") if (path.parent / "README.md").is_file()
        )
        verdicts = {folder.name: _rows(folder / "verdicts.csv") for folder in folders}
        turns = {folder.name: _rows(folder / "turns.csv") for folder in folders}
        titles = {folder.name: _title(folder) for folder in folders}
        path = results / "README.md"
        write_text(path, _page(verdicts, turns, titles))
    except OSError as error:
        raise UserError(f"cannot write the page of results in {str(results)!r}: {error.strerror or error}") from None
    return path


def _page(
    verdicts: dict[str, list[dict[str, str]]], turns: dict[str, list[dict[str, str]]], titles: dict[str, str]
) -> str:
    counts = {name: Counter(row["verdict"] for row in rows) for name, rows in verdicts.items()}
    total = sum(counts.values(), Counter())
    simulated = sum(number for verdict, number in total.items() if verdict != NOT_SIMULATED)
    share = f"{total[REPRODUCED] / simulated:.0%}" if simulated else "none"
    summary = [
        [f"[{name}]({name}/README.md)", *(count[verdict] for verdict in _ORDER)] for name, count in counts.items()
    ]
    parts = [
        "# Published claims, simulated",
        "Written by `scripts/reproduce`; each study's page has the tables, figures and causes.",
        markdown_table(("study", *_ORDER), [*summary, ["all", *(total[verdict] for verdict in _ORDER)]]),
        f"{total[REPRODUCED]} of {simulated} rows that can be simulated are reproduced ({share}). {tolerances()}",
    ]
    turned = [[name, *(row[column] for column in TURN_COLUMNS)] for name, rows in turns.items() for row in rows]
    if turned:
        parts += [
            "## What would have turned the conclusions",
            "One parameter of the CPU at a time, by search; the curves stand in the studies.",
            markdown_table(("study", *TURN_COLUMNS), turned),
        ]
    for name, rows in verdicts.items():
        cells = [
            [*(row[c] for c in VERDICT_COLUMNS[:3]), f"**{row['verdict']}**", first_sentence(row["note"])[0]]
            for row in rows
        ]
        parts += [f"## [{titles[name]}]({name}/README.md)", markdown_table(VERDICT_COLUMNS, cells)]
    return "\n\n".join(parts) + "\n"
