"""Object files and archives as they are: their symbols, sections and relocations, and where a symbol is defined."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from breakeven.errors import UserError
from breakeven.files.binaries import load_engine
from breakeven.files.reading import read_file
from breakeven.routine.foreign_objects import check_sections

if TYPE_CHECKING:
    from breakeven._engine import _Contents

#: STT_FUNC, STT_TLS, STT_GNU_IFUNC
FUNCTION, TLS, IFUNC = 2, 6, 10
#: SHT_NOBITS
NOBITS = 8


class Symbol(NamedTuple):
    """A symbol of an ELF (`_engine.elf_contents`)."""

    name: str
    value: int
    size: int
    kind: int
    binding: int
    section: int

    @property
    def defined(self) -> bool:
        return 0 < self.section < 0xFF00


class Section(NamedTuple):
    """A section of an ELF."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int


class Relocation(NamedTuple):
    """A relocation of an object."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


_offset = attrgetter("offset")


def elf_contents(data: bytes, name: str) -> _Contents:
    """The tables of an ELF; one sentence that names it where it is none."""

    engine = load_engine()
    try:
        return engine.elf_contents(data)
    except engine.EngineError as error:
        raise UserError(f"{name}: {error}") from None


@dataclass(eq=False)
class Object:
    """One object file."""

    name: str
    data: bytes
    #: bytes of a guest that it takes, once its tables have been read
    loaded: int = 0
    #: contents of sections that were asked for; a copy for each question would be quadratic
    _bytes: dict[int, bytes] = field(default_factory=dict)

    @cached_property
    def _contents(self) -> _Contents:
        found = elf_contents(self.data, self.name)
        if found["kind"] != "object":
            raise UserError(f"{self.name} is linked ({found['kind']}): an object file, an archive or a shared library")
        self.loaded = check_sections(found["sections"], self.name)
        return found

    @property
    def isa(self) -> str:
        return self._contents["isa"]

    @cached_property
    def sections(self) -> list[Section]:
        return [Section(*row) for row in self._contents["sections"]]

    @cached_property
    def symbols(self) -> list[Symbol]:
        return [Symbol(*row) for row in self._contents["symbols"]]

    def section(self, number: int) -> Section:
        """By its number; raises `UserError` where the file has none."""
        if not 0 <= number < len(self.sections):
            raise UserError(f"{self.name} is damaged: it names section {number} of {len(self.sections)}")
        return self.sections[number]

    def symbol(self, number: int) -> Symbol:
        """By its number; raises `UserError` where the file has none."""
        if not 0 <= number < len(self.symbols):
            raise UserError(f"{self.name} is damaged: it names symbol {number} of {len(self.symbols)}")
        return self.symbols[number]

    @cached_property
    def _relocations(self) -> dict[int, list[Relocation]]:
        found: dict[int, list[Relocation]] = {}
        for row in map(Relocation._make, self._contents["relocations"]):
            found.setdefault(row.section, []).append(row)
        return {section: sorted(rows, key=lambda row: row.offset) for section, rows in found.items()}

    def relocations(self, section: int, start: int = 0, end: int | None = None) -> list[Relocation]:
        """Those on the bytes of a section from `start` to `end`."""
        rows = self._relocations.get(section, [])
        first = bisect_left(rows, start, key=_offset)
        return rows[first : None if end is None else bisect_left(rows, end, first, key=_offset)]

    def bytes_of(self, section: int) -> bytes:
        if section not in self._bytes:
            of = self.section(section)
            self._bytes[section] = bytes(of.size) if of.kind == NOBITS else self.data[of.offset : of.offset + of.size]
        return self._bytes[section]

    @cached_property
    def global_symbols(self) -> dict[str, Symbol]:
        return {symbol.name: symbol for symbol in self.symbols if symbol.defined and symbol.binding and symbol.name}


class Library:
    """Object files and archives in which symbols are looked up, in order."""

    def __init__(self, paths: Iterable[Path]) -> None:

        engine = load_engine()
        self._defined: dict[str, tuple[str, bytes, int, int]] = {}
        self._objects: dict[tuple[str, int], Object] = {}
        #: global functions of the plain objects
        self.functions: list[str] = []
        for path in paths:
            data = read_file(path, "file")
            if data.startswith(b"!<"):
                try:
                    members = engine.archive_members(data)
                except engine.EngineError as error:
                    raise UserError(f"{path}: {error}") from None
                for member, offset, size, symbols in members:
                    for name in symbols:
                        self._defined.setdefault(name, (f"{path.name}({member})", data, offset, size))
                continue
            found = Object(path.name, data)
            self._objects[path.name, 0] = found
            for name, symbol in found.global_symbols.items():
                self._defined.setdefault(name, (path.name, data, 0, len(data)))
                if symbol.kind in (FUNCTION, IFUNC):
                    self.functions.append(name)

    @property
    def names(self) -> list[str]:
        """What it defines."""
        return list(self._defined)

    @property
    def isa(self) -> str:
        """Of its first object that is one."""
        for where, data, offset, size in self._defined.values():
            return Object(where, data[offset : offset + size]).isa
        return ""

    def find(self, name: str) -> tuple[Object, Symbol] | None:
        """The object that defines `name`."""
        if name not in self._defined:
            return None
        where, data, offset, size = self._defined[name]
        key = (where, offset)
        if key not in self._objects:
            self._objects[key] = Object(where, data[offset : offset + size])
        found = self._objects[key]
        symbol = found.global_symbols.get(name)
        return (found, symbol) if symbol else None


def variants_of(name: str, names: Iterable[str]) -> list[str]:
    """What a library calls the functions that it chooses `name` from at start-up."""
    return sorted(each for each in names if each.startswith(f"__{name}_") and "_chk" not in each)


def chosen_at_start(name: str, variants: list[str], where: str) -> UserError:
    """What is said of a symbol that stands for several functions (IFUNC)."""
    if not variants:
        return UserError(
            f"{where} chooses {name} at start-up (IFUNC), and has no names for its variants: take them from the static "
            "library (.a), or give the address of one (--symbol 0x...)"
        )
    return UserError(f"{where} chooses {name} at start-up (IFUNC): name a variant with --symbol: {', '.join(variants)}")
