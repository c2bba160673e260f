"""The standard library's second-level cache."""

from __future__ import annotations

from breakeven.gem5.components.cachehierarchies.classic.caches.library_cache import LibraryCache
from breakeven.m5.objects import StridePrefetcher


class L2Cache(LibraryCache):
    """A second-level cache."""

    _defaults = {
        "assoc": 16, "tag_latency": 10, "data_latency": 10, "response_latency": 1, "mshrs": 20,
        "tgts_per_mshr": 12, "writeback_clean": False, "PrefetcherCls": StridePrefetcher,
    }  # fmt: skip
