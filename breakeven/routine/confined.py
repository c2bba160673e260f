"""Compiles a file that somebody else may have written: it may read itself and the guest's headers.

Preprocessor and assembler say which files they have read (``#include``, ``.include``, ``.incbin``, by whatever macro).
When another one is among them the object is thrown away; what such a file holds is not shown in an error, either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from breakeven.errors import UserError
from breakeven.routine.recipe import Recipe, run_tool

#: the place that begins a line of an error: file and line
_PLACE = re.compile(r"(?:In file included from |\s+from )?(/?[^\s:][^:]*):\d+")


def compile_confined(recipe: Recipe, flags: Sequence[str], source: Path, out: Path) -> None:
    """Compiles `source` to the object `out`. Raises `UserError`."""
    allowed = [source, *((recipe.root / folder).resolve() for folder in recipe.include)]
    # The assembler counts what a compiler's `.file` names, the source without its folder, though it is not read.
    named = (recipe.root / source.name).resolve()
    if not named.exists():
        allowed.append(named)
    headers, parts = out.with_suffix(".headers"), out.with_suffix(".parts")
    # Headers of the compiler's own are none of -MMD's; with -pipe there is no file between compiler and assembler.
    lists = ["-pipe", "-MMD", "-MF", str(headers), f"-Wa,--MD,{parts}"]
    try:
        run_tool(recipe, recipe.compiler, *flags, *lists, "-c", str(source), "-o", str(out))
    except UserError as error:
        raise UserError(_own_lines(str(error), source, [source, *_read(recipe, headers)], allowed)) from None
    if wrong := _outside([*_read(recipe, headers), *_read(recipe, parts)], allowed):
        out.unlink(missing_ok=True)
        raise _refusal(source, wrong)


def _refusal(source: Path, wrong: Path) -> UserError:
    return UserError(f"{source.name} reads {str(wrong)!r}: a routine may include the guest's headers and nothing else")


def _read(recipe: Recipe, rule: Path) -> list[Path]:
    """The files that a make rule names; none where it was not written."""
    if not rule.is_file():
        return []
    text = rule.read_text(errors="replace").replace("\\\n", " ").partition(": ")[2]
    rule.unlink()
    words = [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in re.split(r"(?<!\\)\s+", text.strip())]
    return [(recipe.root / word).resolve() for word in words if word]


def _outside(files: Iterable[Path], allowed: Sequence[Path]) -> Path | None:
    """The first of `files` that is not allowed."""
    return next((file for file in files if not any(file.is_relative_to(each) for each in allowed)), None)


def _own_lines(said: str, source: Path, read: Sequence[Path], allowed: Sequence[Path]) -> str:
    """An error without the lines that show a file which is not allowed; raises `UserError` that names such a file."""
    lines = said.splitlines()
    shown = [Path(found[1]).resolve() for line in lines if (found := _PLACE.match(line))]
    if wrong := _outside([*read, *(file for file in shown if file.is_file())], allowed):
        raise _refusal(source, wrong) from None
    return said
