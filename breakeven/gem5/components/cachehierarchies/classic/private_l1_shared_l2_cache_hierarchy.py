"""Two levels: the cores share the second."""

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
from breakeven.m5.objects import L2XBar


class PrivateL1SharedL2CacheHierarchy(AbstractClassicCacheHierarchy, AbstractTwoLevelCacheHierarchy):
    """Sizes like ``"32KiB"``; page walkers are joined with the second level's bus."""

    def __init__(
        self,
        l1d_size: str,
        l1i_size: str,
        l2_size: str,
        l1d_assoc: int = 8,
        l1i_assoc: int = 8,
        l2_assoc: int = 16,
        membus: Any = None,
    ) -> None:
        AbstractClassicCacheHierarchy.__init__(self)
        AbstractTwoLevelCacheHierarchy.__init__(
            self, l1i_size=l1i_size, l1i_assoc=l1i_assoc, l1d_size=l1d_size, l1d_assoc=l1d_assoc, l2_size=l2_size,
            l2_assoc=l2_assoc,
        )  # fmt: skip
        self._take_membus(membus)

    def incorporate_cache(self, board: Any) -> None:
        self._join_memory(board)
        cores = board.get_processor().get_cores()
        self.l1icaches = [L1ICache(size=self._l1i_size, assoc=self._l1i_assoc, writeback_clean=False) for _ in cores]
        self.l1dcaches = [L1DCache(size=self._l1d_size, assoc=self._l1d_assoc) for _ in cores]
        self.l2bus = L2XBar()
        self.l2cache = L2Cache(size=self._l2_size, assoc=self._l2_assoc)
        for index, core in enumerate(cores):
            core.connect_icache(self.l1icaches[index].cpu_side)
            core.connect_dcache(self.l1dcaches[index].cpu_side)
            self.l1icaches[index].mem_side = self.l2bus.cpu_side_ports
            self.l1dcaches[index].mem_side = self.l2bus.cpu_side_ports
            self._join_interrupts(core)
        self._join_walkers(cores)
        self.l2bus.mem_side_ports = self.l2cache.cpu_side
        self.membus.cpu_side_ports = self.l2cache.mem_side

    def _join_walkers(self, cores: list[Any]) -> None:
        for core in cores:
            core.connect_walker_ports(self.l2bus.cpu_side_ports, self.l2bus.cpu_side_ports)
