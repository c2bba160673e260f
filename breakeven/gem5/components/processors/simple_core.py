"""A core of one of gem5's kinds."""

from __future__ import annotations

from typing import Any

from breakeven.config.library import get_class
from breakeven.gem5.components.processors.base_cpu_core import BaseCPUCore
from breakeven.gem5.components.processors.cpu_types import CPUTypes
from breakeven.gem5.isas import ISA
from breakeven.gem5.utils.requires import requires

_PREFIX = {ISA.RISCV: "Riscv", ISA.X86: "X86"}
_CLASS = {
    CPUTypes.ATOMIC: "AtomicSimpleCPU",
    CPUTypes.TIMING: "TimingSimpleCPU",
    CPUTypes.MINOR: "MinorCPU",
    CPUTypes.O3: "O3CPU",
}


class SimpleCore(BaseCPUCore):
    """A core of the kind `cpu_type` with gem5's defaults."""

    def __init__(self, cpu_type: CPUTypes, core_id: int, isa: ISA) -> None:
        super().__init__(core=self.cpu_simobject_factory(isa=isa, cpu_type=cpu_type, core_id=core_id), isa=isa)
        self._cpu_type = cpu_type

    def get_type(self) -> CPUTypes:
        return self._cpu_type

    @classmethod
    def cpu_simobject_factory(cls, cpu_type: CPUTypes, isa: ISA, core_id: int) -> Any:
        """The CPU object; `RuntimeError` for a kind or an instruction set that there is none of."""
        requires(isa_required=isa, kvm_required=cpu_type is CPUTypes.KVM)
        return get_class(_PREFIX[isa] + _CLASS[cpu_type])(cpu_id=core_id)
