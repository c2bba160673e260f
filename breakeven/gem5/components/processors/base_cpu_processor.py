"""A processor of cores that the script made."""

from __future__ import annotations

from typing import Any

from breakeven.gem5.components.boards.mem_mode import MemMode
from breakeven.gem5.components.processors.abstract_processor import AbstractProcessor
from breakeven.m5.objects import BaseAtomicSimpleCPU, BaseNonCachingSimpleCPU


class BaseCPUProcessor(AbstractProcessor):
    """`cores`: `BaseCPUCore` objects."""

    def __init__(self, cores: list[Any]) -> None:
        super().__init__(cores=cores)

    def incorporate_processor(self, board: Any) -> None:
        """Tell the board how its memory is accessed."""
        cpu = self.get_cores()[0].get_simobject()
        if isinstance(cpu, BaseNonCachingSimpleCPU):
            board.set_mem_mode(MemMode.ATOMIC_NONCACHING)
        elif isinstance(cpu, BaseAtomicSimpleCPU):
            board.set_mem_mode(MemMode.ATOMIC)
        else:
            board.set_mem_mode(MemMode.TIMING)
