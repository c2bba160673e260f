"""Two private levels, with caches for the page walkers: what `PrivateL1PrivateL2CacheHierarchy` is in gem5 24."""

from breakeven.gem5.components.cachehierarchies.classic.private_l1_private_l2_cache_hierarchy import (
    PrivateL1PrivateL2CacheHierarchy as PrivateL1PrivateL2WalkCacheHierarchy,
)

__all__ = ["PrivateL1PrivateL2WalkCacheHierarchy"]
