"""A user's file to a guest: compiled and linked as the guests are (`scons guests` leaves the recipe).

The file registers its routines itself (``ROUTINE`` of ``routine.h``), or defines one global function, which is then
registered here.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from breakeven.errors import UserError
from breakeven.paths import DataNotFound, checkout, find_data, in_checkout

#: kinds and flags as in docs/workload-contract.md
KINDS = {"copy": 0, "checksum": 1, "user-copy": 2, "copy-checksum": 3}
#: what a routine may need: its flag and the compiler's option for it, by instruction set
NEEDS = {
    "riscv": {"zbb": (1, "-march=rv64imafdc_zicsr_zifencei_zbb"), "misaligned": (2, "")},
    "x86": {"adx": (4, "-madx"), "avx2": (8, "-mavx2"), "sse2": (16, "-msse2")},
}
#: `struct routine` of the contract
_ROUTINE = struct.Struct("<40sIIQQ")
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


@dataclass(frozen=True, slots=True)
class Build:
    """A file to build."""

    source: Path
    kind: str = "copy"
    #: the registered name, for a file that registers nothing itself; empty: from the file's name
    name: str = ""
    needs: Sequence[str] = ()
    #: more compiler flags
    flags: Sequence[str] = ()


def build(recipe: Recipe, what: Build, folder: Path) -> list[str]:
    """Builds every program of the recipe into `folder`; the names of the routines. Raises `UserError`."""
    # The linker script puts what lies below a folder of this name where the routines go.
    objects = folder / "routines"
    objects.mkdir(parents=True)
    source = what.source.resolve()
    compiled = objects / f"{source.stem}.o"
    _run([recipe.compiler, *_flags(recipe, what), *what.flags, "-c", str(source), "-o", str(compiled)], recipe.root)
    parts = [compiled]
    if ".routines" not in _sections(recipe, compiled):
        parts.append(_register(recipe, what, compiled, objects))
    for program in recipe.programs:
        link(recipe, program, parts, folder / program)
    from breakeven.runner import load_engine

    return [row["name"] for row in load_engine().routines((folder / "guest").read_bytes())]


def link(recipe: Recipe, program: str, parts: Sequence[Path], out: Path, without: Sequence[str] = ()) -> None:
    """Links one program of the recipe with the objects `parts`; `without`: flags to leave out."""
    how = recipe.programs[program]
    flags = [flag for flag in how["link"] if flag not in without]
    _run([how["compiler"], *flags, *how["objects"], *map(str, parts), "-o", str(out)], recipe.root)


def compile_text(
    recipe: Recipe, text: str, out: Path, without: Sequence[str] = (), more: Sequence[str] = ()
) -> None:  # fmt: skip
    """Compiles C that breakeven has written to the object `out`; the text stays beside it. `without`, `more`: flags."""
    source = out.with_suffix(".c")
    source.write_text(text)
    flags = [flag for flag in _flags(recipe) if flag not in without]
    _run([recipe.compiler, *flags, *more, "-c", str(source), "-o", str(out)], recipe.root)


def _flags(recipe: Recipe, what: Build | None = None) -> list[str]:
    flags = list(recipe.flags)
    for need in what.needs if what else ():
        option = NEEDS[recipe.isa][need][1]
        # What needs vector registers may have the compiler use them.
        flags = [flag for flag in flags if need not in ("sse2", "avx2") or flag != "-mgeneral-regs-only"]
        flags += [option] if option else []
    return [*flags, *(f"-I{recipe.root / folder}" for folder in recipe.include)]


def _register(recipe: Recipe, what: Build, compiled: Path, objects: Path) -> Path:
    """The object that registers the one function of a file that registers none."""
    functions = _functions(recipe, compiled)
    wanted = (what.name or what.source.stem).replace("-", "_")
    if wanted in functions:
        functions = [wanted]
    if len(functions) != 1:
        there = f"it defines {', '.join(functions)}" if functions else "it defines no global function"
        raise UserError(
            f"{what.source}: {there}: make one function global and the others local (static), or register each with "
            "ROUTINE of routine.h"
        )
    flags = sum(NEEDS[recipe.isa][need][0] for need in what.needs)
    name = what.name or what.source.stem.replace("_", "-")
    if not re.fullmatch(r"[A-Za-z0-9._+-]{1,39}", name):
        raise UserError(f"{name!r} cannot be a routine's name: 1 to 39 letters, digits and ._+-: give --name")
    out = objects / "registration.o"
    text = (
        '#include "routine.h"\n'
        f'extern void routine(void) __asm__("{functions[0]}");\n'
        f'ROUTINE(routine, "{name}", {KINDS[what.kind]}, {flags});\n'
    )
    compile_text(recipe, text, out)
    return out


class Registered(NamedTuple):
    """A routine as a guest has it."""

    name: str
    kind: str
    flags: int
    symbol: str
    #: the default of its parameter; 0: it has none
    parameter: int


def registered(guest: Path, recipe: Recipe | None = None) -> dict[str, Registered]:
    """The routines that the guest `guest` registers; with a recipe (and so its compiler's tools) their symbols, too."""
    rows = (_tool(recipe, "nm", "--defined-only", "-g", str(guest)).splitlines()) if recipe else []
    words = (line.split() for line in rows)
    symbols = {int(row[0], 16): row[2] for row in words if len(row) == 3 and row[1] == "T"}
    kinds = {number: kind for kind, number in KINDS.items()}
    found = {}
    for name, kind, flags, at, parameter in _ROUTINE.iter_unpack(_section(guest, ".routines")):
        text = name.rstrip(b"\0").decode(errors="replace")
        found[text] = Registered(text, kinds.get(kind, "copy"), flags, symbols.get(at, ""), parameter)
    return found


def _section(path: Path, name: str) -> bytes:
    """The contents of a section of a 64-bit little-endian ELF; raises `UserError` when it has none."""
    elf = path.read_bytes()
    try:
        (table,) = struct.unpack_from("<Q", elf, 0x28)
        size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
        headers = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
        texts = headers[names][4]
        for at, _, _, _, offset, length in headers:
            if elf.startswith(name.encode() + b"\0", texts + at):
                return elf[offset : offset + length]
    except (struct.error, IndexError):
        pass
    raise UserError(f"{str(path)!r} has no section {name}: it is no guest")


def _sections(recipe: Recipe, object_file: Path) -> set[str]:
    text = _tool(recipe, "objdump", "-h", str(object_file))
    return {words[1] for line in text.splitlines() if len(words := line.split()) > 2 and words[0].isdigit()}


def _functions(recipe: Recipe, object_file: Path) -> list[str]:
    """The global functions that an object defines."""
    rows = (line.split() for line in _tool(recipe, "nm", "--defined-only", "-g", str(object_file)).splitlines())
    return [row[2] for row in rows if len(row) == 3 and row[1] == "T"]


def _tool(recipe: Recipe, name: str, *arguments: str) -> str:
    """What a tool of the compiler's says."""
    path = _run([recipe.compiler, f"-print-prog-name={name}"], recipe.root).strip()
    return _run([path, *arguments], recipe.root)


def _run(command: list[str], folder: Path) -> str:
    if shutil.which(command[0]) is None:
        fix = "Debian: gcc-riscv64-unknown-elf" if "riscv" in command[0] else "Debian: gcc"
        raise UserError(f"there is no {command[0]} on this machine: install it ({fix}; scripts/setup does)")
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise UserError(f"{command[0]} has not answered for {_TIMEOUT} s") from None
    if done.returncode:
        raise UserError(f"{Path(command[0]).name} refuses:\n{(done.stderr or done.stdout).rstrip()}")
    return done.stdout
