"""Compiles a source of the user's: in which language, with which of the user's flags, and what it may include."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from breakeven.errors import UserError
from breakeven.files.places import holds_home
from breakeven.routine.confined import compile_beside, compile_confined
from breakeven.routine.cures import with_cure
from breakeven.routine.recipe import Recipe

#: what is compiled here, and what a compiler calls it; every other file holds code that exists
_LANGUAGES = {".S": "assembler-with-cpp", ".s": "assembler", ".c": "c"}
SOURCES = tuple(_LANGUAGES)
#: compiler flags that a path follows, with or without a space
_NAME_PATHS = ("-include", "-imacros", "-iquote", "-isystem", "-idirafter", "-I")


def compile_source(
    recipe: Recipe, flags: Sequence[str], source: Path, users: Sequence[str], out: Path, confined: bool
) -> None:  # fmt: skip
    """Compiles `source` to the object `out`; `users`: the user's own flags. Raises `UserError`."""
    behind = _behind(source)
    own, reads = _own_flags(users)
    # Of the name that was given: where that is a link, the file behind it may be called anything.
    language = _LANGUAGES[source.suffix]
    # The user's folders come before the stand-ins.
    words = [*flags, *own, *(_stand_ins(recipe, confined) if language != "assembler" else ())]
    try:
        if confined:
            compile_confined(recipe, words, behind, language, out)
        else:
            compile_beside(recipe, words, behind, language, out, [*_beside(behind), *reads])
    except UserError as error:
        raise UserError(with_cure(str(error), recipe.isa)) from None


def _stand_ins(recipe: Recipe, confined: bool) -> list[str]:
    """Where a file of a kernel's or a C library's finds headers in place of its project's (workloads/stand_ins).

    Those of C libraries count where the compiler has none. A confined source reads no header of the system's: there
    they are all that it has.
    """
    # newlib's and picolibc's files name ../../string/local.h, from where they lie.
    libraries = [str(recipe.stand_ins / "libc"), str(recipe.stand_ins / "libc" / "machine" / "riscv")]
    option = "-isystem" if confined else "-idirafter"
    alone = ["-DSTAND_INS_ALONE"] if confined else []
    return [
        "-isystem",
        str(recipe.stand_ins / "kernel"),
        *(word for each in libraries for word in (option, each)),
        *alone,
    ]


def _own_flags(flags: Sequence[str]) -> tuple[list[str], list[Path]]:
    """The user's compiler flags with whole paths, as we compile elsewhere, and the files and folders that they name."""
    words, paths = list[str](), list[Path]()
    named = False
    for flag in flags:
        option = next((each for each in _NAME_PATHS if flag.startswith(each)), "")
        rest = flag if named else flag.removeprefix(option)
        if (named or option) and rest:
            paths.append(Path(rest).absolute())
            words.append(f"{'' if named else option}{paths[-1]}")
        else:
            words.append(flag)
        named = not named and bool(option) and not rest
    return words, paths


def _behind(source: Path) -> Path:
    """The file of a source. A link may lead to what a source in its place may include: whoever made the folder may name
    any file, and an error shows lines of it. Raises `UserError` for another one."""
    place = source.parent.resolve() / source.name
    file = place.resolve()
    if file != place and not any(file.is_relative_to(each) for each in _beside(place)):
        raise UserError(
            f"the link {str(source)!r} leads to {str(file)!r}: if that is the routine, give the file itself"
        )
    return file


def _beside(source: Path) -> list[Path]:
    """What a source may include of its own folder: all, but of the user's home the plain files alone."""
    folder = source.parent
    if not holds_home(folder):
        return [folder]
    files = {path.resolve() for path in folder.iterdir() if path.is_file()}
    return [path for path in files if path.parent == folder and not path.name.startswith(".")]
