"""Two levels: every core has its own second level."""

from __future__ import annotations

from typing import Any

from breakeven.gem5.components.cachehierarchies.abstract_two_level_cache_hierarchy import (
    AbstractTwoLevelCacheHierarchy,
)
from breakeven.gem5.components.cachehierarchies.classic.abstract_classic_cache_hierarchy import (
    AbstractClassicCacheHierarchy,
)
from breakeven.gem5.components.cachehierarchies.classic.caches.l1dcache import L1DCache
from breakeven.gem5.components.cachehierarchies.classic.caches.l1icache import L1ICache
from breakeven.gem5.components.cachehierarchies.classic.caches.l2cache import L2Cache
from breakeven.gem5.components.cachehierarchies.classic.caches.mmu_cache import MMUCache
from breakeven.m5.objects import L2XBar


class PrivateL1PrivateL2CacheHierarchy(AbstractClassicCacheHierarchy, AbstractTwoLevelCacheHierarchy):
    """Sizes like ``"32KiB"``; 8 ways, and 16 in the second level: gem5's class does not use its `l2_assoc`."""

    def __init__(self, l1d_size: str, l1i_size: str, l2_size: str, membus: Any = None) -> None:
        AbstractClassicCacheHierarchy.__init__(self)
        AbstractTwoLevelCacheHierarchy.__init__(
            self, l1i_size=l1i_size, l1i_assoc=8, l1d_size=l1d_size, l1d_assoc=8, l2_size=l2_size, l2_assoc=4
        )
        self._take_membus(membus)

    def incorporate_cache(self, board: Any) -> None:
        self._join_memory(board)
        cores = board.get_processor().get_cores()
        self.l1icaches = [L1ICache(size=self._l1i_size, writeback_clean=False) for _ in cores]
        self.l1dcaches = [L1DCache(size=self._l1d_size) for _ in cores]
        self.l2buses = [L2XBar() for _ in cores]
        self.l2caches = [L2Cache(size=self._l2_size) for _ in cores]
        self.iptw_caches = [MMUCache(size="8KiB", writeback_clean=False) for _ in cores]
        self.dptw_caches = [MMUCache(size="8KiB", writeback_clean=False) for _ in cores]
        for index, core in enumerate(cores):
            caches = [each[index] for each in (self.l1icaches, self.l1dcaches, self.iptw_caches, self.dptw_caches)]
            core.connect_icache(caches[0].cpu_side)
            core.connect_dcache(caches[1].cpu_side)
            core.connect_walker_ports(caches[2].cpu_side, caches[3].cpu_side)
            for cache in caches:
                cache.mem_side = self.l2buses[index].cpu_side_ports
            self.l2buses[index].mem_side_ports = self.l2caches[index].cpu_side
            self.membus.cpu_side_ports = self.l2caches[index].mem_side
            self._join_interrupts(core)
