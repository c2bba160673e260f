"""Which studies there are: files in ``configs/studies/``, their questions in ``studies.csv`` beside them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from breakeven.errors import UserError, near
from breakeven.files.data import find_data
from breakeven.files.importing import importable
from breakeven.files.places import resolved
from breakeven.studies.study import Study


def _listed() -> list[dict[str, str]]:
    """The rows of ``studies.csv``: what each study that ships asks, and which of its claims stands for it."""
    with open(find_data("configs", "studies") / "studies.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def founding_studies() -> list[str]:
    """The names of the studies that the project was founded on: those that run when none is named."""
    return [row["study"] for row in _listed() if row["founding"] == "yes"]


def find_studies(names: Sequence[str]) -> list[Study]:
    """The studies named (or paths of study files); every one there is when none is named."""
    known = _shipped()
    paths = [Path(name) if name.endswith(".py") else _path_of(name, known) for name in names or known]
    return [load_study(path) for path in paths]


def shipped_study(name: str) -> Study:
    """The study of this name among those that ship. Data may give the name: no other file is run."""
    return load_study(_path_of(name, _shipped()))


def _shipped() -> dict[str, Path]:
    """The files of the studies that ship, by name."""
    files = sorted(find_data("configs", "studies").glob("*.py"))
    return {path.stem: path for path in files if b"\nSTUDY = " in path.read_bytes()}


def _path_of(name: str, known: Mapping[str, Path]) -> Path:
    if name not in known:
        raise UserError(f"there is no study {name!r}{near(name, known, all_of='there are')}")
    return known[name]


def load_study(path: Path) -> Study:
    """The ``STUDY`` that a file defines."""
    import runpy

    if not path.is_file():
        raise UserError(f"there is no study file {str(path)!r}")
    try:
        with importable(resolved(path).parent):
            study = runpy.run_path(str(path)).get("STUDY")
    except SystemExit as error:
        raise UserError(f"{path} called sys.exit({error.code!r}): a study file only defines STUDY") from None
    if not isinstance(study, Study):
        raise UserError(f"{path} defines no STUDY")
    if not study.question:
        listed = next((row for row in _listed() if row["study"] == study.name), {})
        study = replace(study, question=listed.get("question", ""), headline=listed.get("headline", study.headline))
    if study.text is not None:
        return study
    try:
        return replace(study, text=path.with_suffix(".md").read_text(encoding="utf-8"))
    except OSError:
        raise UserError(f"study {study.name} has no text: write {str(path.with_suffix('.md'))!r}") from None
