"""Blind predictions: studies whose definition was committed before anything of it was simulated.

The verdicts of the first run stand in ``configs/studies/first_verdicts.csv`` for ever: `keep_first` writes those of a
study once. ``docs/studies.md`` tells how such a study is made.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

from breakeven.errors import UserError
from breakeven.files.data import find_data
from breakeven.files.reading import csv_rows

FILE = "first_verdicts.csv"


@dataclass(frozen=True)
class First:
    """A claim's verdict of the first run."""

    study: str
    claim: str
    published: str
    simulated: str
    verdict: str


def first_verdicts(study: str, folder: Path | None = None) -> dict[str, First]:
    """A study's first verdicts, by claim; empty before they are kept. `folder`: that of the studies."""
    path = (folder or find_data("configs", "studies")) / FILE
    if not path.is_file():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {row["claim"]: First(**row) for row in csv.DictReader(file) if row["study"] == study}


def keep_first(study: str, results: Path, folder: Path) -> Path:
    """Keeps the verdicts in `results` (a study's folder of results) as its first; refuses if there are any."""
    if first_verdicts(study, folder):
        raise UserError(f"the first verdicts of {study} are kept already: they never change")
    columns = [field.name for field in fields(First)]
    try:
        rows = [{"study": study, **row} for row in csv_rows(results / "verdicts.csv")]
    except UserError:
        raise UserError(f"study {study} has no verdicts in {str(results)!r}: run it") from None
    path = folder / FILE
    begun = path.is_file()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        if not begun:
            writer.writeheader()
        writer.writerows(rows)
    return path
