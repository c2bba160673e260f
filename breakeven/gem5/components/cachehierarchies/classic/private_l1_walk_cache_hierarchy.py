"""One level, with caches for the page walkers: the name of gem5 25 for what `PrivateL1CacheHierarchy` is in 24."""

from breakeven.gem5.components.cachehierarchies.classic.private_l1_cache_hierarchy import (
    PrivateL1CacheHierarchy as PrivateL1WalkCacheHierarchy,
)

__all__ = ["PrivateL1WalkCacheHierarchy"]
