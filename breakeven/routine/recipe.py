"""How routines are compiled and linked: the recipe that `scons guests` leaves. `breakeven.routine.tools` runs it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.files.data import DataNotFound, checkout, find_data, in_checkout


@dataclass(frozen=True)
class Recipe:
    """How routines of an instruction set are built; paths are below `root`."""

    isa: str
    root: Path
    compiler: str
    flags: list[str]
    include: list[str]
    #: the objects of breakeven's own routines
    routines: list[str]
    programs: dict[str, dict[str, Any]]

    @property
    def stand_ins(self) -> Path:
        """The folder of headers that stand in for those of other projects."""
        return self.root / "workloads" / "stand_ins"

    @cached_property
    def harness(self) -> str:
        """What identifies the code that measures."""
        digest = hashlib.sha256()
        for path in self.programs["guest"]["objects"]:
            digest.update((self.root / path).read_bytes())
        return digest.hexdigest()


def load_recipe(isa: str) -> Recipe | None:
    """The recipe of a checkout whose guests are built; None elsewhere (an installed wheel)."""
    if not in_checkout():
        return None
    try:
        row = json.loads(find_data("guests", f"{isa}-recipe.json").read_text())
    except (DataNotFound, OSError, ValueError):
        return None
    try:
        return Recipe(isa, checkout(), **row)
    except TypeError:
        raise UserError(
            "the guests were built by another version of breakeven: build them with `scons guests`"
        ) from None
