"""The standard library's page walker's cache."""

from __future__ import annotations

from breakeven.gem5.components.cachehierarchies.classic.caches.library_cache import LibraryCache


class MMUCache(LibraryCache):
    """A page walker's cache."""

    _defaults = {
        "assoc": 4, "tag_latency": 1, "data_latency": 1, "response_latency": 1, "mshrs": 20,
        "tgts_per_mshr": 12, "writeback_clean": True,
    }  # fmt: skip
