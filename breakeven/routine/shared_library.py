"""A function of a shared library: the library's loaded image goes into the guest, with its dynamic relocations applied.

The linker places the image and fills in its addresses: here it is written as assembly, bytes of the file with an
expression where the library has an address. What only a running program has (thread-local variables, functions chosen
at start-up, other libraries) becomes the address of an instruction that traps.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from breakeven.errors import UserError, near
from breakeven.routine.object_files import (
    FUNCTION,
    IFUNC,
    TLS,
    Section,
    Symbol,
    chosen_at_start,
    elf_contents,
    variants_of,
)
from breakeven.routine.recipe import Recipe
from breakeven.routine.taken_function import Taken, assembler_flags, values_text
from breakeven.routine.tools import run_compiler

if TYPE_CHECKING:
    from breakeven._engine import _Contents

_RELR = 19
#: the guests have 4 MiB for everything, a good part of it page tables
_LARGEST = 3 << 20
#: dynamic relocations: relative; symbol and addend; symbol alone
_RELATIVE = {"riscv": 3, "x86": 8}
_ABSOLUTE = {"riscv": {2}, "x86": {1}}
_ADDRESS = {"riscv": {5}, "x86": {6, 7}}
_NAME, _IMAGE = "breakeven_library", "breakeven_library.image"


@dataclass(eq=False)
class SharedLibrary:
    """A shared library, read."""

    path: Path
    data: bytes

    @cached_property
    def _contents(self) -> _Contents:
        return elf_contents(self.data, str(self.path))

    @property
    def isa(self) -> str:
        return self._contents["isa"]

    @cached_property
    def symbols(self) -> list[Symbol]:
        return [Symbol(*row) for row in self._contents["symbols"]]

    @cached_property
    def _named(self) -> list[Symbol]:
        own = (Symbol(*row) for row in self._contents["local_symbols"])
        return [symbol for symbol in (*self.symbols, *own) if symbol.defined and symbol.name]

    def address_of(self, name: str) -> int:
        """Of a function, by name or ``0x...``; raises `UserError`."""
        if name.startswith("0x"):
            try:
                return int(name, 16)
            except ValueError:
                raise UserError(f"--symbol {name}: no address") from None
        found = [symbol for symbol in self._named if symbol.name == name]
        names = {symbol.name for symbol in self._named if symbol.kind == FUNCTION}
        if any(symbol.kind == IFUNC for symbol in found):
            raise chosen_at_start(name, variants_of(name, names), self.path.name)
        if not found:
            raise UserError(f"{self.path} defines no function {name!r}{near(name, names) or '; nm -D shows them'}")
        return found[0].value

    def image(self) -> bytes:
        """What is loaded, from address 0 on."""
        segments = self._contents["segments"]
        end = max((address + size for address, _, _, size in segments), default=0)
        if not 0 < end <= _LARGEST:
            raise UserError(
                f"{self.path}: {end} bytes are loaded of it, and a guest has room for {_LARGEST}: take a .a file"
            )
        image = bytearray(end)
        for address, offset, size, _ in segments:
            image[address : address + size] = self.data[offset : offset + size]
        return bytes(image)

    def addresses(self, image: bytes) -> dict[int, str]:
        """Where the image has the address of something, as an expression of the assembler's."""
        last = len(image) - 8
        found = {at: f"{_NAME} + {_word(image, at)}" for at in islice(self._packed(), len(image)) if at <= last}
        for _, at, kind, index, addend in self._contents["relocations"]:
            if not 0 <= at <= last:
                continue
            symbol = self.symbols[index] if index < len(self.symbols) else None
            if symbol is not None and (not symbol.defined or symbol.kind in (IFUNC, TLS)):
                symbol = None
            if kind == _RELATIVE[self.isa]:
                found[at] = f"{_NAME} + {addend}"
            elif symbol and kind in _ABSOLUTE[self.isa]:
                found[at] = f"{_NAME} + {symbol.value + addend}"
            elif symbol and kind in _ADDRESS[self.isa]:
                found[at] = f"{_NAME} + {symbol.value}"
            else:
                found[at] = "breakeven_unreached"
        return dict(sorted(found.items()))

    def _packed(self) -> Iterator[int]:
        """The places of packed relative relocations (RELR): addresses, and bit masks of the 63 words behind one.

        A damaged table may name any number of them.
        """
        for row in self._contents["sections"]:
            section = Section(*row)
            if section.kind != _RELR:
                continue
            base = 0
            for (entry,) in struct.iter_unpack(
                "<Q", self.data[section.offset : section.offset + section.size // 8 * 8]
            ):
                if entry & 1 == 0:
                    yield entry
                    base = entry + 8
                    continue
                yield from (base + 8 * bit for bit in range(63) if entry >> bit + 1 & 1)
                base += 63 * 8


def _word(image: bytes, at: int) -> int:
    return int.from_bytes(image[at : at + 8], "little")


def take_from_shared(recipe: Recipe, path: Path, data: bytes, symbol: str, entry: str, folder: Path,
                     defines: Mapping[str, int]) -> Taken:  # fmt: skip
    """The image of a shared library as an object below `folder`, its function `symbol` called `entry`.

    Raises `UserError`.
    """
    library = SharedLibrary(path, data)
    if not symbol:
        raise UserError(f"{path} holds many functions: name one with --symbol")
    if defines:
        raise UserError(f"--define: {path} is linked, its variables have their places: take the static library (.a)")
    at = library.address_of(symbol)
    image = library.image()
    if not at < len(image):
        raise UserError(f"--symbol {symbol}: {path} ends at {len(image):#x}")
    raw, source, out = folder / _IMAGE, folder / "image.s", folder / "code.o"
    raw.write_bytes(image)
    lines = ['.section .text.library, "ax"', ".balign 4096", f"{_NAME}:"]
    last = 0
    for place, text in library.addresses(image).items():
        if place < last:
            continue
        lines += [f'.incbin "{_IMAGE}", {last}, {place - last}'] if place > last else []
        lines.append(f".8byte {text}")
        last = place + 8
    lines.append(f'.incbin "{_IMAGE}", {last}')
    lines += [f".globl {entry}", f".type {entry}, @function", f".set {entry}, {_NAME} + {at}"]
    source.write_text("\n".join([*lines, values_text(recipe.isa, {}, ())]))
    flags = [*assembler_flags(recipe), *(["-mno-relax"] if recipe.isa == "riscv" else [])]
    # The assembler looks for the image there; the folder's own path is text of the user's.
    beside = ["-Xassembler", "-I", "-Xassembler", str(folder)]
    run_compiler(recipe, folder, *flags, *beside, "-c", str(source), "-o", str(out))
    raw.unlink()
    source.unlink()
    return Taken(out, entry, [])
