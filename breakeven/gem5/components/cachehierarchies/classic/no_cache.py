"""No caches: the core is joined with the memory bus."""

from __future__ import annotations

from typing import Any

from breakeven.gem5.components.cachehierarchies.classic.abstract_classic_cache_hierarchy import (
    AbstractClassicCacheHierarchy,
)


class NoCache(AbstractClassicCacheHierarchy):
    def __init__(self, membus: Any = None) -> None:
        super().__init__()
        self._take_membus(membus)

    def incorporate_cache(self, board: Any) -> None:
        for core in board.get_processor().get_cores():
            core.connect_icache(self.membus.cpu_side_ports)
            core.connect_dcache(self.membus.cpu_side_ports)
            core.connect_walker_ports(self.membus.cpu_side_ports, self.membus.cpu_side_ports)
            self._join_interrupts(core)
        self._join_memory(board)
