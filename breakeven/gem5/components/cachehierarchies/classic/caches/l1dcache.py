"""The standard library's first-level data cache."""

from __future__ import annotations

from breakeven.gem5.components.cachehierarchies.classic.caches.library_cache import LibraryCache
from breakeven.m5.objects import StridePrefetcher


class L1DCache(LibraryCache):
    """A first-level data cache."""

    _defaults = {
        "assoc": 8, "tag_latency": 1, "data_latency": 1, "response_latency": 1, "mshrs": 16,
        "tgts_per_mshr": 20, "writeback_clean": False, "PrefetcherCls": StridePrefetcher,
    }  # fmt: skip
