"""The one place where compiler, assembler, linker and objcopy are run: whatever they work on may be somebody else's.

The rule for what they get: no option comes from an input. Files are named by absolute paths, symbols by names that
`breakeven.routine.foreign_objects` has made plain, and no code is left that a plugin would compile. How they run:
`breakeven.files.sandbox`.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from breakeven.errors import UserError
from breakeven.files import places, sandbox
from breakeven.routine.recipe import Recipe
from breakeven.routine.time_limit import seconds_left

#: last on a compiler's command line: an object's sections must not have it call another compiler
_NO_PLUGIN = ("-fno-lto", "-fno-use-linker-plugin")
_LIMITS = sandbox.Limits()


def compiler_says(recipe: Recipe, question: str) -> str:
    """The answer of the recipe's compiler to an option like ``-print-libgcc-file-name``."""
    return _run(recipe, [recipe.compiler, question], None, ()).strip()


def tool_path(recipe: Recipe, name: str) -> str:
    """Where a tool of the compiler's is."""
    return compiler_says(recipe, f"-print-prog-name={name}")


def run_compiler(
    recipe: Recipe, folder: Path, *words: str, reads: Sequence[Path] = (), compiler: str = ""
) -> None:  # fmt: skip
    """Compiles, assembles or links, writing below `folder`. `reads`: what it may read beside that, the guests' objects
    and headers. Raises `UserError` with what it says."""
    _run(recipe, [compiler or recipe.compiler, *words, *_NO_PLUGIN], folder, reads)


def run_tool(recipe: Recipe, folder: Path, name: str, *words: str) -> None:
    """Runs a tool of the compiler's (``ld``, ``objcopy``) on files below `folder`; raises `UserError`."""
    _run(recipe, [tool_path(recipe, name), *words], folder, ())


def _run(recipe: Recipe, command: Sequence[str], folder: Path | None, reads: Sequence[Path]) -> str:
    """What a command says, run where the recipe's paths begin."""
    name, found = Path(command[0]).name, shutil.which(command[0])
    if found is None:
        fix = "Debian: gcc-riscv64-unknown-elf" if "riscv" in name else "Debian: gcc"
        raise UserError(f"there is no {command[0]} on this machine: install it ({fix}; scripts/setup does)")
    program = Path(found).absolute()
    ours = [recipe.root / "build" / "guests", *(recipe.root / each for each in ("workloads", *recipe.include))]
    limits = replace(_LIMITS, seconds=min(seconds_left(), math.inf if _LIMITS.seconds is None else _LIMITS.seconds))
    try:
        done = sandbox.run(
            [str(program), *command[1:]], [*_home_of(program), *ours, *reads], folder, limits, cwd=recipe.root
        )
    except sandbox.TimedOut:
        seconds_left()
        fix = "does a source include a pipe, or itself?"
        raise UserError(f"{name} has not answered for {_LIMITS.seconds} s: {fix}") from None
    except (OSError, ValueError) as error:
        raise UserError(f"cannot run {name}: {str(error).lower()}") from None
    if done.status:
        said = (done.err or done.out).replace(f"{program}: ", f"{name}: ").rstrip()
        raise UserError(f"{name} refuses:\n{said or f'it ended with status {done.status}'}")
    return done.out


def _home_of(program: Path) -> list[Path]:
    """What a compiler lies in with its parts, where that is none of the system's folders.

    Of the user's home folder, and of what that lies in, a compiler's own parts alone.
    """
    found = list[Path]()
    for path in dict.fromkeys((program, program.resolve())):
        whole = path.parent.parent
        found += _own_parts(path) if places.in_home(whole) or places.holds_home(whole) else [whole]
    return found


def _own_parts(program: Path) -> list[Path]:
    """The programs beside a compiler, and of the folder above: GCC's own folders, those of its targets (libraries,
    headers, an assembler), and shared libraries."""
    whole = program.parent.parent
    beside = [file for file in program.parent.iterdir() if file.is_file() and os.access(file, os.X_OK)]
    own = [folder for name in ("lib", "lib64", "libexec") if (folder := whole / name / "gcc").is_dir()]
    targets = {whole / target.name for folder in own for target in folder.iterdir()}
    shared = [file for name in ("lib", "lib64") for file in (whole / name).glob("lib*.so*")]
    return [program, *beside, *own, *targets, *shared]
