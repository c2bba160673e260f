"""Kinds of core by name."""

from __future__ import annotations

from enum import Enum

from breakeven.gem5.components.boards.mem_mode import MemMode


class CPUTypes(Enum):
    ATOMIC = "atomic"
    KVM = "kvm"
    O3 = "o3"
    TIMING = "timing"
    MINOR = "minor"


def get_cpu_types_str_set() -> set[str]:
    return {kind.value for kind in CPUTypes}


def get_cpu_type_from_str(input: str) -> CPUTypes:
    """The kind called `input`, in any case; `ValueError` with the names there are."""
    try:
        return CPUTypes(input.lower())
    except ValueError:
        names = ", ".join(sorted(get_cpu_types_str_set()))
        raise ValueError(f"there is no CPU type {input!r}; there are: {names}") from None


def get_mem_mode(input: CPUTypes) -> MemMode:
    return {CPUTypes.ATOMIC: MemMode.ATOMIC, CPUTypes.KVM: MemMode.ATOMIC_NONCACHING}.get(input, MemMode.TIMING)
