"""Two levels, the second shared, with caches for the page walkers (gem5 25)."""

from __future__ import annotations

from typing import Any

from breakeven.gem5.components.cachehierarchies.classic.caches.mmu_cache import MMUCache
from breakeven.gem5.components.cachehierarchies.classic.private_l1_shared_l2_cache_hierarchy import (
    PrivateL1SharedL2CacheHierarchy,
)


class PrivateL1SharedL2WalkCacheHierarchy(PrivateL1SharedL2CacheHierarchy):
    """As its base, with a cache of 8 KiB before each page walker."""

    def _join_walkers(self, cores: list[Any]) -> None:
        self.iptw_caches = [MMUCache(size="8KiB", writeback_clean=False) for _ in cores]
        self.dptw_caches = [MMUCache(size="8KiB", writeback_clean=False) for _ in cores]
        for core, instruction, data in zip(cores, self.iptw_caches, self.dptw_caches, strict=True):
            core.connect_walker_ports(instruction.cpu_side, data.cpu_side)
            instruction.mem_side = self.l2bus.cpu_side_ports
            data.mem_side = self.l2bus.cpu_side_ports
