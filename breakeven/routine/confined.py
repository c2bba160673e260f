"""Compiles a file that somebody else may have written; confined, it may read itself and the guest's headers.

The sandbox keeps a compiler from what else is the user's (`breakeven.routine.tools`). Of a confined source preprocessor
and assembler also say which files they have read (``#include``, ``.include``, ``.incbin``, by whatever macro): the
system's are refused as well, and all others where the kernel has no sandbox. Then the object is thrown away; what such
a file holds is not shown in an error, either.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from breakeven.errors import UserError
from breakeven.routine.recipe import Recipe
from breakeven.routine.tools import compiler_says, run_compiler

#: the place that begins a line of an error: file and line
_PLACE = re.compile(r"(?:In file included from |\s+from )?(/?[^\s:][^:]*):\d+")

#: the file that a compiler or an assembler could not open
_DENIED = re.compile(
    r"(?:file not found: |can't open |fatal error: )(/.*?)(?: for reading)?(?:: Permission denied)?$", re.MULTILINE
)


_NO_LINES = "-fno-diagnostics-show-caret"
#: folders of headers that the compiler brings, and what it includes by itself
_OWN_HEADERS, _PREINCLUDED = ("include", "include-fixed"), Path("/usr/include/stdc-predef.h")


def compile_beside(
    recipe: Recipe, flags: Sequence[str], source: Path, language: str, out: Path, beside: Sequence[Path]
) -> None:
    """Compiles `source` to the object `out`; `language`: as the compiler calls it. It reads `beside` and the system's
    files, too; the sandbox sees to that alone. Raises `UserError`."""
    first = []
    if language == "c":
        # Behind a token no precompiled header is loaded: that is an image of the compiler's memory, which it does not
        # check.
        token = out.with_suffix(".first.h")
        token.write_text(";\n")
        first = ["-include", str(token)]
    try:
        words = [*flags, *first, "-x", language, "-c", str(source), "-o", str(out)]
        run_compiler(recipe, out.parent, *words, reads=[source, *beside])
    except UserError as error:
        if wrong := _outside(_refused(str(error)), [source, *beside]):
            raise _refusal(source, wrong, "files of its own folder (another: --flags -IFOLDER)") from None
        raise


def compile_confined(recipe: Recipe, flags: Sequence[str], source: Path, language: str, out: Path) -> None:
    """Compiles `source` to the object `out`. Raises `UserError`."""
    folders = [*(recipe.root / folder for folder in recipe.include), recipe.stand_ins]
    allowed = [source, *(folder.resolve() for folder in folders)]
    allowed += [Path(compiler_says(recipe, f"-print-file-name={name}")).resolve() for name in _OWN_HEADERS]
    allowed.append(_PREINCLUDED)
    headers, parts = out.with_suffix(".headers"), out.with_suffix(".parts")
    # System headers, too: a source may say of itself that it is one. With -pipe there is no file between compiler and
    # assembler.
    lists = ["-pipe", "-MD", "-MF", str(headers), "-Xassembler", "--MD", "-Xassembler", str(parts)]
    # An error shows the line of the file that the source says it comes from (`#line`), and opens that file.
    words = [*flags, _NO_LINES, *lists, "-x", language, "-c", str(source), "-o", str(out)]
    try:
        run_compiler(recipe, out.parent, *words, reads=[source])
    except UserError as error:
        read = [source, *_read(recipe, headers), *_refused(str(error))]
        raise UserError(_own_lines(str(error), source, read, allowed)) from None
    # The assembler counts what a compiler's `.file` names, without its folder: what there is none of, nobody has read.
    named = [file for file in _read(recipe, parts) if os.path.lexists(file)]
    if wrong := _outside([*_read(recipe, headers), *named], allowed):
        out.unlink(missing_ok=True)
        raise _refusal(source, wrong)


def _refused(said: str) -> list[Path]:
    """The files that the sandbox has kept from a compiler, by its errors."""
    named = (Path(found[1]) for found in _DENIED.finditer(said))
    return [path.resolve() for path in named if path.exists()]


def _refusal(source: Path, wrong: Path, else_: str = "nothing else") -> UserError:
    return UserError(f"{source.name} reads {str(wrong)!r}: a routine may include the guest's headers and {else_}")


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
