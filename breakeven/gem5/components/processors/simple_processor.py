"""A processor of equal cores of one of gem5's kinds."""

from __future__ import annotations

from breakeven.gem5.components.processors.base_cpu_processor import BaseCPUProcessor
from breakeven.gem5.components.processors.cpu_types import CPUTypes
from breakeven.gem5.components.processors.simple_core import SimpleCore
from breakeven.gem5.isas import ISA
from breakeven.gem5.runtime import get_runtime_isa


class SimpleProcessor(BaseCPUProcessor):
    """`num_cores` cores of the kind `cpu_type`; `isa` by default that of the build (`breakeven.config.gem5_build`)."""

    def __init__(self, cpu_type: CPUTypes, num_cores: int, isa: ISA | None = None) -> None:
        isa = get_runtime_isa() if isa is None else isa
        super().__init__([SimpleCore(cpu_type=cpu_type, core_id=index, isa=isa) for index in range(num_cores)])
