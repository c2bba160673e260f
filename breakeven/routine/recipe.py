"""How routines are compiled and linked: the recipe that `scons guests` leaves, and the tools it names."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.files.data import DataNotFound, checkout, find_data, in_checkout

#: a compiler that has not answered by then will not (s)
_TIMEOUT = 120


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


def tool_path(recipe: Recipe, name: str) -> str:
    """Where a tool of the compiler's is."""
    return run_tool(recipe, recipe.compiler, f"-print-prog-name={name}").strip()


def run_tool(recipe: Recipe, *command: str) -> str:
    """What a command says, run where the recipe's paths begin; raises `UserError` when it fails."""
    if shutil.which(command[0]) is None:
        fix = "Debian: gcc-riscv64-unknown-elf" if "riscv" in command[0] else "Debian: gcc"
        raise UserError(f"there is no {command[0]} on this machine: install it ({fix}; scripts/setup does)")
    try:
        done = subprocess.run(
            command, cwd=recipe.root, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise UserError(f"{command[0]} has not answered for {_TIMEOUT} s") from None
    if done.returncode:
        raise UserError(f"{Path(command[0]).name} refuses:\n{(done.stderr or done.stdout).rstrip()}")
    return done.stdout
