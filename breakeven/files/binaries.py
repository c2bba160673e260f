"""The compiled engine and the guests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from breakeven.errors import UserError
from breakeven.files.data import find_data
from breakeven.files.reading import read_file

if TYPE_CHECKING:
    from breakeven import _engine


class EngineModule(Protocol):
    """The compiled module `breakeven._engine`; `_engine.pyi` says what its members mean, and mypy compares the two."""

    version: str
    fingerprint: str
    ticks_per_second: int

    @property
    def EngineError(self) -> type[_engine.EngineError]: ...

    @property
    def Machine(self) -> type[_engine.Machine]: ...

    @property
    def Sweep(self) -> type[_engine.Sweep]: ...

    def check_description(self, description: str) -> list[str]: ...

    def parameters_used(self, description: str) -> list[tuple[str, str, str, bool, str]]: ...

    def routines(self, elf: bytes) -> list[_engine._Routine]: ...

    def elf_contents(self, file: bytes) -> _engine._Contents: ...

    def archive_members(self, file: bytes) -> list[tuple[str, int, int, list[str]]]: ...

    def instructions(
        self, code: bytes, isa: str, address: int = 0, most: int = ...
    ) -> list[tuple[int, int, str, list[str], int | None, bool, bool]]: ...


def guest_elf(isa: str, elf: Path | None = None) -> bytes:
    """The guest that holds the routines of `isa`: `elf`, or the one that comes with breakeven."""
    if elf is None:
        elf = find_data("guests", f"{isa}.elf")
    return read_file(elf, "guest")


def load_engine() -> EngineModule:
    """The compiled engine module; one sentence when it is not built."""
    try:
        # Here, so that what only reads files (the store's own commands) works without a built engine.
        from breakeven import _engine
    except ImportError as error:
        raise UserError(f"the engine is not built ({error}): run scripts/setup, or install the wheel") from None
    return _engine
