"""Instruction sets by name."""

from __future__ import annotations

from enum import Enum


class ISA(Enum):
    """gem5's instruction sets; breakeven runs the first two."""

    X86 = "x86"
    RISCV = "riscv"
    ARM = "arm"
    MIPS = "mips"
    POWER = "power"
    SPARC = "sparc"
    NULL = "null"


def get_isas_str_set() -> set[str]:
    return {isa.value for isa in ISA}


def get_isa_from_str(input: str) -> ISA:
    """The instruction set called `input`, in any case; `ValueError` with the names there are."""
    try:
        return ISA(input.lower())
    except ValueError:
        names = ", ".join(sorted(get_isas_str_set()))
        raise ValueError(f"there is no instruction set {input!r}; there are: {names}") from None
