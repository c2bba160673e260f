"""A user's file to a guest: compiled and linked as the guests are (`scons guests` leaves the recipe).

The file registers its routines itself (``ROUTINE`` of ``routine.h``), or defines one global function, which is then
registered here.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from breakeven.errors import UserError
from breakeven.files.binaries import load_engine
from breakeven.files.reading import read_file
from breakeven.routine.foreign_objects import check_sections, is_plain, with_plain_names
from breakeven.routine.object_files import elf_contents
from breakeven.routine.recipe import Recipe
from breakeven.routine.shared_library import take_from_shared
from breakeven.routine.sources import SOURCES, compile_source
from breakeven.routine.taken_function import Taken, take_function
from breakeven.routine.tools import run_compiler, run_tool

if TYPE_CHECKING:
    from breakeven._engine import _Contents

#: kinds and flags as in docs/guests.md
KINDS = {"copy": 0, "checksum": 1, "user-copy": 2, "copy-checksum": 3, "set": 4, "move": 5, "clear": 6}
#: checksums other than the Internet's that breakeven has a reference of: kinds, too (workloads/harness/references.c)
SHIPPED = ("crc32c", "adler32")
#: the part of AVX-512 that the front end knows
_AVX512 = "-mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl"
#: what a routine may need: its flag and the compiler's option for it, by instruction set
NEEDS = {
    "riscv": {
        "zbb": (1, "-march=rv64imafdc_zicsr_zifencei_zbb"),
        "misaligned": (2, ""),
        "v": (32, "-march=rv64imafdcv_zicsr_zifencei"),
        "zbc": (128, "-march=rv64imafdc_zicsr_zifencei_zbc"),
        "zicboz": (512, "-march=rv64imafdc_zicsr_zifencei_zicboz"),
    },
    "x86": {
        "adx": (4, "-madx"),
        "avx2": (8, "-mavx2"),
        "sse2": (16, "-msse2"),
        "avx512": (64, _AVX512),
        "sse4_2": (256, "-msse4.2"),
    },
}
_ROUTINE_OBJECT, _REGISTRATION = "routine.o", "registration.o"
#: the object of a reference, and how its function's name ends
_REFERENCE, _REFERENCE_END = "reference.o", "_reference"
#: what a routine may be called
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,38}")
#: `struct routine` of the contract
_ROUTINE = struct.Struct("<40sIIQQ")
#: SHF_EXECINSTR; STB_LOCAL, STB_GLOBAL
_EXECUTABLE, _LOCAL, _GLOBAL = 4, 0, 1


@dataclass(frozen=True, slots=True)
class Build:
    """A file to build."""

    #: a source, or a file with code that exists; `more`: files with code that exists, which only define symbols
    source: Path
    more: Sequence[Path] = ()
    kind: str = "copy"
    #: the registered name, for a file that registers nothing itself; empty: from the file's name
    name: str = ""
    needs: Sequence[str] = ()
    #: more compiler flags
    flags: Sequence[str] = ()
    #: the function, if the file has several, and the values of variables that it reads
    symbol: str = ""
    defines: Mapping[str, int] = field(default_factory=dict)
    #: of another checksum than the Internet's: a file with the function that says what is right
    reference: Path | None = None
    #: the file may be somebody else's: it reads the guest's headers and no other file
    confined: bool = False

    @property
    def exists(self) -> bool:
        """It is compiled already."""
        return self.source.suffix not in SOURCES

    @property
    def routine(self) -> str:
        """What a routine is called that its file does not name."""
        if self.name:
            return self.name
        text = self.symbol.strip("_") if self.symbol and not self.symbol.startswith("0x") else self.source.stem
        return text.replace("_", "-")


class Built(NamedTuple):
    """What a build has made."""

    #: the routines
    names: list[str]
    #: the function that was registered here; empty: the file registers its routines itself
    function: str
    #: what is to be known of the code, a sentence each
    notes: list[str]
    #: something in the function goes to where it begins
    calls_itself: bool = False


def build(recipe: Recipe, what: Build, folder: Path) -> Built:
    """Builds every program of the recipe into `folder`. Raises `UserError`."""
    # The linker script puts what lies below a folder of this name where the routines go.
    objects = folder / "routines"
    objects.mkdir(parents=True)
    taken = _take(recipe, what, objects) if what.exists else _compile(recipe, what, objects)
    if what.reference:
        _add_reference(recipe, what, what.reference, objects)
    if taken.symbol:
        _register(recipe, what, taken.symbol, objects)
    return Built(link_programs(recipe, folder), taken.symbol, taken.notes, taken.calls_itself)


def _compile(recipe: Recipe, what: Build, objects: Path) -> Taken:
    """The object of a source; its function, where it registers none itself."""
    compiled = objects / _ROUTINE_OBJECT
    _compile_one(recipe, what, what.source, compiled)
    contents = _contents(compiled)
    if any(name in (".routines", ".routines.kinds") for name, *_ in contents["sections"]):
        for option, given in (("--symbol", what.symbol), ("--define", what.defines), ("a second file", what.more)):
            if given:
                raise UserError(f"{what.source} registers its routines itself: {option} is for a file that does not")
        return Taken(compiled, "", [])
    function = what.symbol or _only_function(what, contents)
    undefined = {name for name, _, _, _, _, section in contents["symbols"] if name and not section}
    undefined -= _of_harness(recipe) if undefined else set()
    if not (what.symbol or what.defines or what.more or undefined):
        return Taken(compiled, function, [])
    # Errors name an object by its file: each gets the name of its source, in a folder of its own.
    files = []
    for number, path in enumerate((what.source, *what.more)):
        files.append(path)
        if path.suffix in SOURCES:
            files[-1] = objects.parent / f"source{number}" / path.name
            files[-1].parent.mkdir()
            if number:
                _compile_one(recipe, what, path, files[-1])
            else:
                compiled.rename(files[-1])
    if function not in _functions(contents) and is_plain(function) and function in _functions(contents, _LOCAL):
        run_tool(recipe, objects.parent, "objcopy", f"--globalize-symbol={function}", str(files[0]))
    return take_function(recipe, files, function, entry_name(what), what.defines, objects)


def _add_reference(recipe: Recipe, what: Build, source: Path, objects: Path) -> None:
    """Makes the object of a reference, which defines nothing else that other objects see. Raises `UserError`."""
    compiled = objects / _REFERENCE
    # What the routine needs the machine of a reference need not have.
    _compile_one(recipe, replace(what, needs=()), source, compiled)
    ends = [name for name in _functions(_contents(compiled)) if name.endswith(_REFERENCE_END)]
    if len(ends) != 1:
        there = f"it defines {', '.join(ends)}" if ends else "it defines none"
        raise UserError(
            f"{source}: {there}: a reference is one function NAME_reference that is global, "
            "unsigned long NAME_reference(const void *data, unsigned long size)"
        )
    name = ends[0].removesuffix(_REFERENCE_END)
    if name in SHIPPED:
        raise UserError(f"{source}: {name} is a checksum of breakeven's: give --kind {name}, or call yours otherwise")
    if not _NAME.fullmatch(name) or name == "all" or name in KINDS:
        raise UserError(f"{source}: {name!r} cannot be a checksum's name: call the function otherwise")
    inner = f"like_{name}_function"
    run_tool(recipe, objects.parent, "objcopy", f"--redefine-sym={ends[0]}={inner}", str(compiled))
    run_tool(recipe, objects.parent, "objcopy", f"--keep-global-symbol={inner}", str(compiled))
    text = f'#include "routine.h"\nextern void function(void) __asm__("{inner}");\nREFERENCE({name}, function);\n'
    compile_text(recipe, text, objects / f"like_{name}.o")


def _checksum_like(what: Build, objects: Path) -> str:
    """The checksum that the routine of `what` is registered like; empty: its kind has a number."""
    made = [path.stem.removeprefix("like_") for path in objects.glob("like_*.o")]
    return made[0] if made else what.kind if what.kind in SHIPPED else ""


def _of_harness(recipe: Recipe) -> set[str]:
    """What a guest's own code defines."""
    objects = (_contents(recipe.root / path) for path in recipe.programs["guest"]["objects"])
    return {name for each in objects for name, _, _, _, bound, section in each["symbols"] if bound and section}


def _compile_one(recipe: Recipe, what: Build, source: Path, out: Path) -> None:
    """Compiles a source to an object that the linker may see; raises `UserError`."""
    compile_source(recipe, _flags(recipe, what), source, what.flags, out, what.confined)
    data = out.read_bytes()
    check_sections(elf_contents(data, source.name)["sections"], source.name)
    plain = with_plain_names(data, source.name)
    if plain != data:
        out.write_bytes(plain)


def register_needs(recipe: Recipe, what: Build, function: str, folder: Path) -> None:
    """Registers the function that `build` has built into `folder` with the needs of `what`, and links again."""
    _register(recipe, what, function, folder / "routines")
    link_programs(recipe, folder)


def _parts(folder: Path) -> list[Path]:
    return sorted((folder / "routines").glob("*.o"))


def link_programs(recipe: Recipe, folder: Path) -> list[str]:
    """Links every program of the recipe with the objects below `folder`; the names of the routines."""
    for program in recipe.programs:
        link(recipe, program, _parts(folder), folder / program)

    return [row["name"] for row in load_engine().routines((folder / "guest").read_bytes())]


def entry_name(what: Build) -> str:
    """What a function that is taken from a library is called in the guest."""
    return "routine_" + re.sub(r"[^A-Za-z0-9]", "_", what.routine)


def _take(recipe: Recipe, what: Build, objects: Path) -> Taken:
    """The object with the function of files that are compiled already."""
    data = read_file(what.source, "file")
    entry = entry_name(what)
    if is_shared(data):
        return take_from_shared(recipe, what.source, data, what.symbol, entry, objects, what.defines)
    return take_function(recipe, [what.source, *what.more], what.symbol, entry, what.defines, objects)


def is_shared(data: bytes) -> bool:
    """An ELF of type ET_DYN."""
    return data.startswith(b"\x7fELF") and data[16:18] == b"\x03\0"


def link(recipe: Recipe, program: str, parts: Sequence[Path], out: Path, without: Sequence[str] = ()) -> None:
    """Links one program of the recipe with the objects `parts`; `without`: flags to leave out."""
    how = recipe.programs[program]
    flags = [flag for flag in how["link"] if flag not in without]
    words = [*flags, *how["objects"], *map(str, parts), "-o", str(out)]
    run_compiler(recipe, out.parent, *words, reads=parts, compiler=how["compiler"])


def compile_text(
    recipe: Recipe, text: str, out: Path, without: Sequence[str] = (), more: Sequence[str] = ()
) -> None:  # fmt: skip
    """Compiles C that breakeven has written to the object `out`; the text stays beside it. `without`, `more`: flags."""
    source = out.with_suffix(".c")
    source.write_text(text)
    flags = [flag for flag in _flags(recipe) if flag not in without]
    run_compiler(recipe, out.parent, *flags, *more, "-c", str(source), "-o", str(out))


def _flags(recipe: Recipe, what: Build | None = None) -> list[str]:
    flags = list(recipe.flags)
    for need in what.needs if what else ():
        option = NEEDS[recipe.isa][need][1]
        # What needs vector registers may have the compiler use them.
        flags = [flag for flag in flags if need not in ("sse2", "avx2", "avx512") or flag != "-mgeneral-regs-only"]
        flags += option.split()
    return [*flags, *(f"-I{recipe.root / folder}" for folder in recipe.include)]


def check_name(name: str) -> None:
    """Raises `UserError` for what cannot name a routine: on a command line, in a table, as a folder."""
    if not _NAME.fullmatch(name):
        rule = "1 to 39 letters, digits and ._+-, the first a letter, a digit or _"
        raise UserError(f"{name!r} cannot be a routine's name ({rule}): give another (--name)")
    if name == "all" or name in KINDS or name in SHIPPED:
        raise UserError(f"{name!r} cannot be a routine's name, as it stands for several: give another (--name)")


def _wanted(what: Build) -> str:
    return (what.name or what.source.stem).replace("-", "_")


def _only_function(what: Build, contents: _Contents) -> str:
    """The one function of a file that registers none."""
    functions = _functions(contents)
    if what.reference and what.reference.samefile(what.source):
        functions = [name for name in functions if not name.endswith(_REFERENCE_END)]
    if _wanted(what) in functions:
        return _wanted(what)
    if len(functions) != 1:
        there = f"it defines {', '.join(functions)}" if functions else "it defines no global function"
        cure = "name one with --symbol, make one global and the others local (static)"
        raise UserError(
            f"{what.source}: {there}: {cure if functions else 'make one global (not static)'}, or register each with "
            "ROUTINE of routine.h"
        )
    return functions[0]


def _register(recipe: Recipe, what: Build, function: str, objects: Path) -> None:
    """Makes the object that registers a function."""
    flags = sum(NEEDS[recipe.isa][need][0] for need in what.needs)
    check_name(what.routine)
    text = f'#include "routine.h"\nextern void routine(void) __asm__("{function}");\n'
    if like := _checksum_like(what, objects):
        text += f"extern const struct reference like_{like};\n"
        text += f'CHECKSUM_LIKE({like}, routine, "{what.routine}", {flags});\n'
    else:
        text += f'ROUTINE(routine, "{what.routine}", {KINDS[what.kind]}, {flags});\n'
    compile_text(recipe, text, objects / _REGISTRATION)


class Registered(NamedTuple):
    """A routine as a guest has it."""

    name: str
    kind: str
    flags: int
    #: of the function, and where it lies
    symbol: str
    address: int
    #: the default of its parameter; 0: it has none
    parameter: int


def registered(guest: Path) -> dict[str, Registered]:
    """The routines that the guest `guest` registers; raises `UserError` for what is no guest."""
    return registered_in(guest.read_bytes(), repr(str(guest)))


def registered_in(data: bytes, where: str) -> dict[str, Registered]:
    """As `registered`, of the bytes of a guest that is called `where`."""

    contents = elf_contents(data, where)
    table = [data[at : at + size] for name, _, _, _, at, size in contents["sections"] if name == ".routines"]
    if not table:
        raise UserError(f"{where} has no section .routines: it is no guest")
    # C is made of the name: one that cannot be pasted is none.
    symbols = {
        value: name for name, value, _, _, binding, section in contents["local_symbols"]
        if section and binding and is_plain(name)
    }  # fmt: skip
    kinds = {row["name"]: row["kind"] for row in load_engine().routines(data)}
    found = {}
    for name, _, flags, at, parameter in _ROUTINE.iter_unpack(table[0]):
        text = name.rstrip(b"\0").decode(errors="replace")
        found[text] = Registered(text, kinds.get(text, "copy"), flags, symbols.get(at, ""), at, parameter)
    return found


def _contents(path: Path) -> _Contents:

    return elf_contents(path.read_bytes(), str(path))


def _functions(contents: _Contents, binding: int = _GLOBAL) -> list[str]:
    """The functions that an object defines, global ones or those of another binding."""
    code = {number for number, (_, _, flags, *_) in enumerate(contents["sections"]) if flags & _EXECUTABLE}
    return [name for name, _, _, _, bound, section in contents["symbols"] if bound == binding and section in code]
