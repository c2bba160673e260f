"""One level: an instruction and a data cache a core."""

from __future__ import annotations

from typing import Any

from breakeven.gem5.components.cachehierarchies.classic.abstract_classic_cache_hierarchy import (
    AbstractClassicCacheHierarchy,
)
from breakeven.gem5.components.cachehierarchies.classic.caches.l1dcache import L1DCache
from breakeven.gem5.components.cachehierarchies.classic.caches.l1icache import L1ICache
from breakeven.gem5.components.cachehierarchies.classic.caches.mmu_cache import MMUCache


class PrivateL1CacheHierarchy(AbstractClassicCacheHierarchy):
    """`l1d_size`, `l1i_size`: like ``"32KiB"``; eight ways. Page walkers have caches of 8 KiB."""

    def __init__(self, l1d_size: str, l1i_size: str, membus: Any = None) -> None:
        super().__init__()
        self._l1d_size, self._l1i_size = l1d_size, l1i_size
        self._take_membus(membus)

    def incorporate_cache(self, board: Any) -> None:
        self._join_memory(board)
        cores = board.get_processor().get_cores()
        self.l1icaches = [L1ICache(size=self._l1i_size, writeback_clean=False) for _ in cores]
        self.l1dcaches = [L1DCache(size=self._l1d_size) for _ in cores]
        self.iptw_caches = [MMUCache(size="8KiB", writeback_clean=False) for _ in cores]
        self.dptw_caches = [MMUCache(size="8KiB", writeback_clean=False) for _ in cores]
        for index, core in enumerate(cores):
            caches = [each[index] for each in (self.l1icaches, self.l1dcaches, self.iptw_caches, self.dptw_caches)]
            core.connect_icache(caches[0].cpu_side)
            core.connect_dcache(caches[1].cpu_side)
            core.connect_walker_ports(caches[2].cpu_side, caches[3].cpu_side)
            for cache in caches:
                cache.mem_side = self.membus.cpu_side_ports
            self._join_interrupts(core)
