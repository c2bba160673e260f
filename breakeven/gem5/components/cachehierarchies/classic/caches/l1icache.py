"""The standard library's first-level instruction cache."""

from __future__ import annotations

from breakeven.gem5.components.cachehierarchies.classic.caches.library_cache import LibraryCache
from breakeven.m5.objects import StridePrefetcher


class L1ICache(LibraryCache):
    """A first-level instruction cache."""

    _defaults = {
        "assoc": 8, "tag_latency": 1, "data_latency": 1, "response_latency": 1, "mshrs": 16,
        "tgts_per_mshr": 20, "writeback_clean": True, "PrefetcherCls": StridePrefetcher,
    }  # fmt: skip
