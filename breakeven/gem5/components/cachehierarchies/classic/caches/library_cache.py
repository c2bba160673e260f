"""What the standard library's caches have in common: how they are made."""

from __future__ import annotations

from typing import Any

from breakeven.m5.objects import Cache

#: what may follow the size, in gem5's order; latencies in cycles
_NAMES = (
    "assoc", "tag_latency", "data_latency", "response_latency", "mshrs", "tgts_per_mshr", "writeback_clean",
    "PrefetcherCls",
)  # fmt: skip


class LibraryCache(Cache):
    """A cache made by its `size` (``"32KiB"``) and, in order or by name, `_NAMES`; a subclass says by default what.

    A class without a ``PrefetcherCls`` among its defaults has none and takes none. Raises `TypeError` for other names.
    """

    abstract = True
    _defaults: dict[str, Any] = {}

    def __init__(self, size: str, *given: Any, **named: Any) -> None:
        positional = dict(zip(_NAMES, given, strict=False))
        wrong = sorted(named.keys() - self._defaults.keys() | positional.keys() & named.keys())
        if wrong or len(given) > len(self._defaults):
            what = f"{wrong[0]!r} is not one of them, or is given twice" if wrong else f"not {len(given)} values"
            raise TypeError(f"{type(self).__name__} takes a size and {', '.join(self._defaults)}: {what}")
        values = {**self._defaults, **positional, **named}
        prefetcher = values.pop("PrefetcherCls", None)
        super().__init__(size=size, **values)
        if prefetcher is not None:
            self.prefetcher = prefetcher()
