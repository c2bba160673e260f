"""The code of a guest, by address."""

from __future__ import annotations

from breakeven.errors import UserError
from breakeven.files.binaries import load_engine

#: where the guests' linker scripts put routines, behind the start of .text
_ROUTINES = 0x8000
#: SHF_EXECINSTR
_EXECUTABLE = 4


class Code:
    """The code of a guest."""

    def __init__(self, elf: bytes) -> None:

        self._elf = elf
        rows = load_engine().elf_contents(elf)["sections"]
        self._sections = [(name, at, offset, size) for name, _, flags, at, offset, size in rows if flags & _EXECUTABLE]
        if not self._sections:
            raise UserError("the guest has no code")

    @property
    def routines(self) -> tuple[int, int]:
        """Where routines lie: the first address, and the one behind the last."""
        first = min(at for name, at, _, _ in self._sections if name == ".text")
        return first + _ROUTINES, max(at + size for _, at, _, size in self._sections)

    def at(self, address: int, size: int) -> bytes:
        """Up to `size` bytes at an address."""
        for _, start, offset, length in self._sections:
            if start <= address < start + length:
                end = min(address + size, start + length)
                return self._elf[offset + address - start : offset + end - start]
        return b""
