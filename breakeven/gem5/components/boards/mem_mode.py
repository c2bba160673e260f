"""How a board's memory is accessed."""

from __future__ import annotations

from enum import Enum


class MemMode(Enum):
    TIMING = "timing"
    ATOMIC = "atomic"
    ATOMIC_NONCACHING = "atomic_noncaching"


def mem_mode_to_string(mem_mode: MemMode) -> str:
    return mem_mode.value
