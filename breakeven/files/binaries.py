"""The compiled engine and the guests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.files.reading import read_file


def guest_elf(isa: str, elf: Path | None = None) -> bytes:
    """The guest that holds the routines of `isa`: `elf`, or the one that comes with breakeven."""
    if elf is None:
        from breakeven.files.data import find_data

        elf = find_data("guests", f"{isa}.elf")
    return read_file(elf, "guest")


def load_engine() -> Any:
    """The compiled engine module; one sentence when it is not built."""
    try:
        from breakeven import _engine
    except ImportError as error:
        raise UserError(f"the engine is not built ({error}): run scripts/setup, or install the wheel") from None
    return _engine
