//! Prefetchers of a cache and the core's write-combining buffers.

use breakeven_memory::config::{PrefetcherConfig, PrefetcherKind, WriteCombiningConfig};
use serde_json::json;

use super::policy::{replacement, CYCLES};
use super::reader::Obj;

const PREFETCHERS: &[&str] = &[
    "StridePrefetcher",
    "TaggedPrefetcher",
    "NextLinePrefetcher",
    "AdjacentLinePrefetcher",
    "StreamPrefetcher",
    "MultiPrefetcher",
];
/// `MultiPrefetcher`s in each other: deeper is a circle.
const DEPTH: usize = 8;
const MOST: u32 = 4096;

/// The prefetchers that `prefetcher` of a cache names, those of `MultiPrefetcher`s in their order.
pub(super) fn prefetchers(o: Obj) -> Vec<PrefetcherConfig> {
    let mut found = Vec::new();
    collect(o, DEPTH, &mut found);
    found
}

fn collect(o: Obj, depth: usize, found: &mut Vec<PrefetcherConfig>) {
    if o.class() != "MultiPrefetcher" {
        found.extend(prefetcher(o));
    } else if depth == 0 {
        o.param_error("prefetchers", format!("goes through more than {DEPTH} MultiPrefetchers: they form a circle"));
    } else {
        for one in o.refs("prefetchers") {
            collect(one, depth - 1, found);
        }
    }
}

fn prefetcher(o: Obj) -> Option<PrefetcherConfig> {
    let degree = || o.u32("degree", 0..=MOST);
    let kind = match o.class() {
        "StridePrefetcher" => stride(o),
        "TaggedPrefetcher" => PrefetcherKind::Tagged { degree: degree() },
        "NextLinePrefetcher" => PrefetcherKind::NextLine { degree: degree() },
        "AdjacentLinePrefetcher" => PrefetcherKind::AdjacentLine { pair_bytes: o.u32("pair_bytes", 0..=1 << 16) },
        "StreamPrefetcher" => PrefetcherKind::Stream {
            trackers: o.u32("trackers", 0..=MOST),
            train: o.u32("train", 0..=MOST),
            degree: degree(),
            distance: o.u32("distance", 0..=MOST),
        },
        _ => {
            o.expect_class("prefetcher", PREFETCHERS);
            return None;
        }
    };
    o.only("use_virtual_addresses", &json!(false), "prefetchers see physical addresses");
    Some(PrefetcherConfig {
        path: o.path().to_owned(),
        kind,
        on_miss: o.bool("on_miss"),
        on_read: o.bool("on_read"),
        on_write: o.bool("on_write"),
        on_data: o.bool("on_data"),
        on_inst: o.bool("on_inst"),
        prefetch_on_access: o.bool("prefetch_on_access"),
        prefetch_on_pf_hit: o.bool("prefetch_on_pf_hit"),
        page_bytes: o.pow2("page_bytes", 64..=1 << 40),
        queue_size: o.u32("queue_size", 1..=MOST),
        queue_squash: o.bool("queue_squash"),
        queue_filter: o.bool("queue_filter"),
        cache_snoop: o.bool("cache_snoop"),
        latency: o.u32("latency", 0..=CYCLES),
        tag_prefetch: o.bool("tag_prefetch"),
        throttle_control_percentage: o.u32("throttle_control_percentage", 0..=100),
    })
}

fn stride(o: Obj) -> PrefetcherKind {
    PrefetcherKind::Stride {
        confidence_counter_bits: o.u32("confidence_counter_bits", 1..=8),
        initial_confidence: o.u32("initial_confidence", 0..=255),
        confidence_threshold: o.u32("confidence_threshold", 0..=100),
        use_requestor_id: o.bool("use_requestor_id"),
        degree: o.u32("degree", 0..=MOST),
        distance: o.u32("distance", 0..=MOST),
        table_assoc: o.u32("table_assoc", 1..=MOST),
        table_entries: o.u32("table_entries", 1..=1 << 16),
        table_replacement: replacement(o, "table_replacement_policy"),
    }
}

/// `write_combining` of a core; `None`: wrong, and noted.
pub(super) fn write_combining(o: Obj) -> Option<WriteCombiningConfig> {
    o.expect_class("set of write-combining buffers", &["WriteCombiningBuffers"]).then(|| WriteCombiningConfig {
        path: o.path().to_owned(),
        buffers: o.u32("buffers", 1..=MOST),
        buffer_bytes: o.u32("buffer_bytes", 1..=MOST),
        partial_bytes: o.u32("partial_bytes", 1..=MOST),
        latency: o.u32("latency", 0..=CYCLES),
        prefetch_nta_first_level: o.bool("prefetch_nta_first_level"),
        ranges: o.ranges("ranges"),
        posted: o.bool_or("posted", false),
    })
}
