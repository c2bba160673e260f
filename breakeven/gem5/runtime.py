"""What this simulator is: gem5's questions about its own build."""

from __future__ import annotations

from collections.abc import Set

from breakeven.gem5.coherence_protocol import CoherenceProtocol
from breakeven.gem5.isas import ISA


def get_supported_isas() -> Set[ISA]:
    """Both instruction sets, that of the build first: scripts take the first for their default."""
    return dict.fromkeys((get_runtime_isa(), ISA.X86, ISA.RISCV)).keys()


def get_supported_protocols() -> set[CoherenceProtocol]:
    return {CoherenceProtocol.NONE, CoherenceProtocol.NULL}


def get_runtime_coherence_protocol() -> CoherenceProtocol:
    return CoherenceProtocol.NONE


def get_runtime_isa() -> ISA:
    """The one instruction set of the build that this run stands for (`breakeven.config.gem5_build`)."""
    from breakeven.config.gem5_build import current

    return ISA(current().isa)
