"""``requires``: a script says what it needs of the simulator, and ends where that is missing."""

from __future__ import annotations

from breakeven.gem5.coherence_protocol import CoherenceProtocol
from breakeven.gem5.isas import ISA
from breakeven.gem5.runtime import get_supported_isas, get_supported_protocols


def requires(
    isa_required: ISA | None = None,
    coherence_protocol_required: CoherenceProtocol | None = None,
    kvm_required: bool = False,
) -> None:
    """`RuntimeError` that names what is missing; nothing otherwise."""
    if isa_required is not None and isa_required not in get_supported_isas():
        raise RuntimeError(f"the instruction set {isa_required.value} is required; here are riscv and x86")
    if coherence_protocol_required is not None and coherence_protocol_required not in get_supported_protocols():
        raise RuntimeError(
            f"the coherence protocol {coherence_protocol_required.value} is required; here are classic caches only"
        )
    if kvm_required:
        raise RuntimeError("KVM is required; here is none")
