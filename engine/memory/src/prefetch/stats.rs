//! What a prefetcher counts, under gem5's names (and `pfDemandJoined`, ours).

use breakeven_base::{StatSink, Unit};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrefetchStats {
    pub demand_mshr_misses: u64,
    pub issued: u64,
    pub useful: u64,
    pub unused: u64,
    pub demand_joined: u64,
    pub hit_in_cache: u64,
    pub hit_in_mshr: u64,
    pub hit_in_wb: u64,
    pub identified: u64,
    pub buffer_hit: u64,
    pub in_cache: u64,
    pub removed_demand: u64,
    pub removed_full: u64,
    pub span_page: u64,
}

impl PrefetchStats {
    pub fn collect(&self, sink: &mut StatSink) {
        let late = self.hit_in_cache + self.hit_in_mshr + self.hit_in_wb;
        for (name, v, desc) in [
            ("demandMshrMisses", self.demand_mshr_misses, "demands not covered by prefetchs"),
            ("pfIssued", self.issued, "number of hwpf issued"),
            ("pfUnused", self.unused, "number of HardPF blocks evicted w/o reference"),
            ("pfUseful", self.useful, "number of useful prefetch"),
            ("pfDemandJoined", self.demand_joined, "number of demands that met a prefetch on its way"),
            ("pfHitInCache", self.hit_in_cache, "number of prefetches hitting in cache"),
            ("pfHitInMSHR", self.hit_in_mshr, "number of prefetches hitting in a MSHR"),
            ("pfHitInWB", self.hit_in_wb, "number of prefetches hit in the Write Buffer"),
            ("pfLate", late, "number of late prefetches (hitting in cache, MSHR or WB)"),
            ("pfIdentified", self.identified, "number of prefetch candidates identified"),
            ("pfBufferHit", self.buffer_hit, "number of redundant prefetches already in prefetch queue"),
            ("pfInCache", self.in_cache, "number of redundant prefetches already in cache/mshr dropped"),
            (
                "pfRemovedDemand",
                self.removed_demand,
                "number of prefetches dropped due to a demand for the same address",
            ),
            ("pfRemovedFull", self.removed_full, "number of prefetches dropped due to prefetch queue size"),
            ("pfSpanPage", self.span_page, "number of prefetches that crossed the page"),
        ] {
            sink.count(name, v, Unit::Count, desc);
        }
        #[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
        let ratio = |a: u64, b: u64| a as f64 / b as f64;
        if self.issued > 0 {
            sink.real("accuracy", ratio(self.useful, self.issued), Unit::Ratio, "accuracy of the prefetcher");
        }
        if self.useful + self.demand_mshr_misses > 0 {
            let coverage = ratio(self.useful, self.useful + self.demand_mshr_misses);
            sink.real("coverage", coverage, Unit::Ratio, "coverage brought by this prefetcher");
        }
    }
}
