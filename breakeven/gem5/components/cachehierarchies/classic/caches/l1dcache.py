"""The standard library's first-level data cache."""

from __future__ import annotations

from breakeven.m5.objects import Cache, StridePrefetcher


class L1DCache(Cache):
    """A first-level data cache; latencies in cycles."""

    def __init__(
        self,
        size: str,
        assoc: int = 8,
        tag_latency: int = 1,
        data_latency: int = 1,
        response_latency: int = 1,
        mshrs: int = 16,
        tgts_per_mshr: int = 20,
        writeback_clean: bool = False,
        PrefetcherCls: type = StridePrefetcher,
    ) -> None:
        super().__init__(
            size=size,
            assoc=assoc,
            tag_latency=tag_latency,
            data_latency=data_latency,
            response_latency=response_latency,
            mshrs=mshrs,
            tgts_per_mshr=tgts_per_mshr,
            writeback_clean=writeback_clean,
        )
        self.prefetcher = PrefetcherCls()
