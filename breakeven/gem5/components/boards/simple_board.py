"""The board without devices that programs with emulated system calls run on."""

from __future__ import annotations

from typing import Any

from breakeven.gem5.components.boards.abstract_system_board import AbstractSystemBoard
from breakeven.gem5.components.boards.se_binary_workload import SEBinaryWorkload
from breakeven.m5.objects import AddrRange


class SimpleBoard(AbstractSystemBoard, SEBinaryWorkload):
    """A processor, caches and a memory from address 0 on."""

    def __init__(self, clk_freq: str, processor: Any, memory: Any, cache_hierarchy: Any) -> None:
        super().__init__(clk_freq=clk_freq, processor=processor, memory=memory, cache_hierarchy=cache_hierarchy)

    def _setup_board(self) -> None:
        pass

    def _setup_memory_ranges(self) -> None:
        memory = self.get_memory()
        self.mem_ranges = [AddrRange(memory.get_size())]
        memory.set_memory_range(self.mem_ranges)
