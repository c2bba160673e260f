"""The standard library's second-level cache."""

from __future__ import annotations

from breakeven.m5.objects import Cache, StridePrefetcher


class L2Cache(Cache):
    """A second-level cache; latencies in cycles."""

    def __init__(
        self,
        size: str,
        assoc: int = 16,
        tag_latency: int = 10,
        data_latency: int = 10,
        response_latency: int = 1,
        mshrs: int = 20,
        tgts_per_mshr: int = 12,
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
