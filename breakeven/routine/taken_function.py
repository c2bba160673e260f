"""A function out of object files and archives, with what it calls and reads, as one object for the linker.

Which code and data that is comes from the instructions (followed from the function's first one) and the relocations on
them; the tool chain's `ld -r` and `objcopy` do the linking. A symbol that is undefined but not reached becomes the
address of an instruction that traps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

from breakeven.errors import UserError, near
from breakeven.files.binaries import load_engine
from breakeven.routine.cures import MADE_BY_GCC, without_call
from breakeven.routine.foreign_objects import GUEST_BYTES, plain_name, with_plain_names
from breakeven.routine.object_files import (
    IFUNC,
    NOBITS,
    TLS,
    Library,
    Object,
    Relocation,
    Symbol,
    chosen_at_start,
    variants_of,
)
from breakeven.routine.recipe import Recipe
from breakeven.routine.time_limit import seconds_left
from breakeven.routine.tools import compiler_says, run_compiler, run_tool

#: STB_WEAK
_WEAK = 2
#: SHF_EXECINSTR
_EXECUTABLE = 4
#: relocations that say nothing of a target: relaxation hints, and the low half of an address whose high half has one
_HINTS = {"riscv": {24, 25, 43, 51}, "x86": set()}
#: x86 relocations by the distance from the field, of which those that go by way of a table of addresses
_RELATIVE, _BY_TABLE = {2, 4, 9, 41, 42}, {9, 41, 42}
#: RISC-V relocations on a pair of instructions that calls or jumps
_CALLS = {18, 19}
#: where what nothing reaches goes
_TRAP = {"riscv": "unimp", "x86": "ud2"}

#: instructions that are looked at together, and the bytes of one at most
_BLOCK, _LONGEST = 64, 16
#: following one thing: yields what is to be followed before it goes on
_Task: TypeAlias = "Generator[_Task, None, None]"


@dataclass
class _Reach:
    """What a function reaches."""

    library: Library
    defines: Mapping[str, int]
    isa: str
    objects: list[Object] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    #: variables of other files whose value is known: their bytes
    values: dict[str, bytes] = field(default_factory=dict)
    #: symbols that have no definition, with who needs them; variables without a value
    missing: dict[str, str] = field(default_factory=dict)
    unset: dict[str, str] = field(default_factory=dict)
    #: bytes of all that
    held: int = 0
    #: where the function begins, and whether something goes there again
    root: tuple[int, int, int] = (0, 0, -1)
    calls_itself: bool = False
    _seen: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    _whole: set[tuple[int, int]] = field(default_factory=set)

    def follow(self, obj: Object, section: int, entry: int) -> None:
        """Follows the instructions of a section from `entry` on, with all that they call, however deep."""
        self.root = id(obj), section, entry
        tasks: list[_Task] = [self._code(obj, section, entry)]
        while tasks:
            seconds_left()
            try:
                tasks.append(next(tasks[-1]))
            except StopIteration:
                tasks.pop()

    def _code(self, obj: Object, section: int, entry: int) -> _Task:
        self._take(obj)
        seen = self._seen.setdefault((id(obj), section), set())
        code, entries = obj.bytes_of(section), [entry]
        self.calls_itself |= entry in seen and (id(obj), section, entry) == self.root
        while entries:
            at = entries.pop()
            if 0 <= at < len(code) and at not in seen:
                entries += yield from self._block(obj, section, code, at, seen)

    def _block(
        self, obj: Object, section: int, code: bytes, start: int, seen: set[int]
    ) -> Generator[_Task, None, list[int]]:
        """Up to the next jump; where it goes on."""

        targets: list[int] = []
        called = False
        some = code[start : start + _BLOCK * _LONGEST]
        first = start
        for at, size, _, _, target, indirect, ends in load_engine().instructions(some, self.isa, start, _BLOCK):
            if at in seen:
                return targets
            seen.add(at)
            here = [r for r in obj.relocations(section, at, at + size) if r.kind not in _HINTS[self.isa]]
            for relocation in here:
                yield from self._follow(obj, relocation, at + size)
            if target is not None and not here:
                targets.append(target)
            if indirect and not called:
                yield self._all_of(obj, section)
            called = self.isa == "riscv" and any(relocation.kind in _CALLS for relocation in here)
            if ends:
                return targets
            start = at + size
        # The last bytes may be no instruction.
        return [*targets, start] if start > first else targets

    def _all_of(self, obj: Object, section: int) -> _Task:
        """A jump whose target is not to be seen: everything in the section may be reached; a table of data, too."""
        if (id(obj), section) in self._whole:
            return
        self._whole.add((id(obj), section))
        for relocation in obj.relocations(section):
            if relocation.kind not in _HINTS[self.isa]:
                yield from self._follow(obj, relocation, relocation.offset + 4)

    def _follow(self, obj: Object, relocation: Relocation, end: int) -> _Task:
        symbol = obj.symbol(relocation.symbol)
        if not symbol.defined:
            if symbol.name and symbol.name != "_GLOBAL_OFFSET_TABLE_" and symbol.section == 0:
                yield from self._undefined(obj, symbol)
            return
        if symbol.name in self.defines and symbol.binding:
            raise UserError(f"--define {symbol.name}: {obj.name} defines it itself")
        if symbol.kind == IFUNC:
            raise chosen_at_start(symbol.name, variants_of(symbol.name, self.library.names), obj.name)
        executable = obj.section(symbol.section).flags & _EXECUTABLE
        if not executable:
            yield self._all_of(obj, symbol.section)
        elif not obj.section(relocation.section).flags & _EXECUTABLE:
            # An address in a table: what is beside it may be another place of the same table.
            yield self._code(obj, symbol.section, symbol.value)
            yield self._all_of(obj, symbol.section)
        else:
            at = symbol.value + relocation.addend
            if self.isa == "x86" and relocation.kind in _RELATIVE:
                at = symbol.value if relocation.kind in _BY_TABLE else at + end - relocation.offset
            yield self._code(obj, symbol.section, at)

    def _undefined(self, obj: Object, symbol: Symbol) -> _Task:
        name = symbol.name
        if name in self.defines:
            self.used.add(name)
            return
        if name in self.values or name in self.unset or name in self.missing:
            return
        found = self.library.find(name)
        if found is None:
            if symbol.binding != _WEAK:
                self.missing[name] = obj.name
            return
        other, definition = found
        if definition.kind == IFUNC:
            raise chosen_at_start(name, variants_of(name, self.library.names), other.name)
        if definition.kind == TLS:
            raise UserError(f"{obj.name} reads {name}, a variable of a thread's own: a guest has no threads")
        section = other.section(definition.section)
        if section.flags & _EXECUTABLE:
            yield self._code(other, definition.section, definition.value)
        elif section.kind == NOBITS:
            self.unset[name] = other.name
        elif definition.size and not other.relocations(
            definition.section, definition.value, definition.value + definition.size
        ):
            start = definition.value
            self._make_room(definition.size, f"{other.name}: its variable {name[:40]!r}")
            self.values[name] = other.bytes_of(definition.section)[start : start + definition.size]
        else:
            self._take(other)
            yield self._all_of(other, definition.section)

    def _take(self, obj: Object) -> None:
        if obj.isa != self.isa:
            raise UserError(f"{obj.name} is for {obj.isa}, not for {self.isa}")
        if obj not in self.objects:
            self._make_room(obj.loaded, obj.name)
            self.objects.append(obj)

    def _make_room(self, size: int, what: str) -> None:
        """Counts bytes that a guest is to hold; raises `UserError` where it has no room for them."""
        self.held += size
        if self.held > GUEST_BYTES:
            raise UserError(f"{what} and what else the function reaches have {self.held} bytes, and a guest 4 MiB")

    def check(self) -> None:
        """Raises for what has no definition or no value, or a value for nothing."""
        if self.unset:
            names = " ".join(f"--define {name}=VALUE" for name in sorted(self.unset))
            raise UserError(
                f"the library's start-up code sets what the function reads, and does not run here: give {names}"
            )
        for name, needed_by in self.missing.items():
            if name in MADE_BY_GCC:
                raise UserError(without_call(needed_by, name))
            raise UserError(
                f"{needed_by} needs {name}, which is not defined: also name the file that defines it, or, if it is a "
                f"variable of up to 8 bytes, give --define {name}=VALUE"
            )
        for name in self.defines:
            if name not in self.used:
                raise UserError(f"--define {name}: nothing that the function reaches reads it")


class Taken(NamedTuple):
    """A function in an object of its own."""

    path: Path
    #: its name there, the one global symbol
    symbol: str
    #: what else is to be known of it, a sentence each
    notes: list[str]
    #: something in it goes to where the function begins
    calls_itself: bool = False


def take_function(
    recipe: Recipe, files: list[Path], symbol: str, entry: str, defines: Mapping[str, int], folder: Path
) -> Taken:
    """Links `symbol` of object files and archives, with what it reaches, into an object below `folder`.

    There it is called `entry`. Raises `UserError`.
    """
    library = Library([*files, Path(compiler_says(recipe, "-print-libgcc-file-name"))])
    symbol = symbol or _only_function(files, library)
    found = library.find(symbol)
    if found is None:
        hint = near(symbol, library.names) or "; nm shows what there is"
        raise UserError(f"{files[0]} defines no symbol {symbol!r}{hint}")
    root, definition = found
    if root.isa != recipe.isa:
        raise UserError(f"{files[0]} is for {root.isa}, not for {recipe.isa}")
    if definition.kind == IFUNC:
        raise chosen_at_start(symbol, variants_of(symbol, library.names), root.name)
    if not root.section(definition.section).flags & _EXECUTABLE:
        raise UserError(f"{symbol} of {root.name} is data, not a function")
    reach = _Reach(library, defines, recipe.isa)
    reach.follow(root, definition.section, definition.value)
    reach.check()
    return _link(recipe, reach, symbol, entry, folder)


def _only_function(files: list[Path], library: Library) -> str:
    if len(library.functions) == 1:
        return library.functions[0]
    there = f" ({', '.join(sorted(library.functions)[:12])})" if library.functions else ""
    raise UserError(f"{files[0]} holds several functions{there}: name one with --symbol")


def _link(recipe: Recipe, reach: _Reach, symbol: str, entry: str, folder: Path) -> Taken:
    parts = []
    for number, obj in enumerate(reach.objects):
        parts.append(folder / f"part{number}.o")
        parts[-1].write_bytes(with_plain_names(obj.data, obj.name))
    defined = {name for obj in reach.objects for name in obj.global_symbols}
    values = {name: value.to_bytes(8, "little") for name, value in reach.defines.items()} | reach.values
    undefined = {
        each.name
        for obj in reach.objects
        for each in obj.symbols
        if each.name and each.section == 0 and each.binding != _WEAK and each.kind != TLS
    }
    unreached = undefined - defined - set(values) - {"_GLOBAL_OFFSET_TABLE_"}
    source = folder / "values.s"
    source.write_text(values_text(recipe.isa, values, unreached))
    extra = folder / "values.o"
    run_compiler(recipe, folder, *assembler_flags(recipe), "-c", str(source), "-o", str(extra))
    whole, out = folder / "whole.o", folder / "code.o"
    run_tool(recipe, folder, "ld", "-r", "-z", "muldefs", *map(str, [extra, *parts]), "-o", str(whole))
    run_tool(
        recipe, folder, "objcopy", f"--redefine-sym={plain_name(symbol)}={entry}", f"--keep-global-symbol={entry}",
        str(whole), str(out),
    )  # fmt: skip
    for path in (*parts, extra, whole, source):
        path.unlink()
    notes = [
        f"{name} is {int.from_bytes(value, 'little'):#x}, as in the file: give another with --define"
        for name, value in sorted(reach.values.items())
        if len(value) <= 8
    ]
    return Taken(out, entry, notes, reach.calls_itself)


def assembler_flags(recipe: Recipe) -> list[str]:
    """The compiler's options that choose the instruction set's variant."""
    return [flag for flag in recipe.flags if flag.startswith(("-m64", "-mabi", "-march"))]


def values_text(isa: str, values: Mapping[str, bytes], unreached: Iterable[str]) -> str:
    """Assembly that defines variables with values, and symbols that trap, all by plain names."""
    lines = [".text", ".balign 16", "breakeven_unreached:", _TRAP[isa]]
    for name in map(plain_name, sorted(unreached)):
        lines += [f'.globl "{name}"', f'.set "{name}", breakeven_unreached']
    lines += [".data"]
    for name, value in ((plain_name(name), value) for name, value in sorted(values.items())):
        lines += [".balign 16", f'.globl "{name}"', f'"{name}":', f".byte {', '.join(map(str, value))}"]
    return "\n".join([*lines, '.section .note.GNU-stack, "", @progbits', ""])
