//! Which configurations can be built. All errors come out together, each with the parameter's path.

use breakeven_base::ConfigError;

use crate::config::{
    CacheConfig, DramConfig, Link, MemCtrlConfig, MemoryConfig, MemorySystemConfig, PrefetcherConfig, PrefetcherKind,
    Replacement, WriteCombiningConfig, XBarConfig,
};

/// No component is larger than this; keeps absurd parameters from exhausting the host.
const MAX_CACHE_BYTES: u64 = 1 << 32;
const MAX_COMPONENTS: usize = 64;
const MAX_QUEUE: u32 = 1 << 16;
/// Cycles and ticks beyond these are slips, not hardware.
const MAX_CYCLES: u32 = 1 << 20;
const MAX_TICKS: u64 = 1_000_000_000_000;

struct Errors(Vec<ConfigError>);

impl Errors {
    fn check(&mut self, ok: bool, path: &str, param: &str, what: String) {
        if !ok {
            self.0.push(ConfigError::new(format!("{path}.{param}"), what));
        }
    }
    fn range(&mut self, path: &str, param: &str, v: u64, min: u64, max: u64) {
        self.check(v >= min && v <= max, path, param, format!("is {v}, must be from {min} to {max}"));
    }
    fn cycles(&mut self, path: &str, params: &[(&str, u32)]) {
        for (name, v) in params {
            self.range(path, name, u64::from(*v), 0, u64::from(MAX_CYCLES));
        }
    }
}

pub(crate) fn validate(c: &MemorySystemConfig) -> Vec<ConfigError> {
    let mut e = Errors(Vec::new());
    let line = c.line_bytes;
    let ok = line.is_power_of_two() && (8..=4096).contains(&line);
    e.check(ok, "system", "cache_line_size", format!("is {line}, must be a power of two from 8 to 4096"));
    for cache in &c.caches {
        validate_cache(&mut e, cache, line.max(8));
    }
    for x in &c.xbars {
        validate_xbar(&mut e, x);
    }
    for m in &c.memories {
        match m {
            MemoryConfig::Simple(s) => {
                e.range(&s.path, "latency", s.latency.0, 0, MAX_TICKS);
                // Below a byte a second, sums of ticks could overflow.
                let ok = s.bandwidth.is_finite() && (s.bandwidth == 0.0 || s.bandwidth >= 1.0);
                e.range(&s.path, "write_buffer_size", u64::from(s.write_buffer_size), 0, u64::from(MAX_QUEUE));
                e.check(ok, &s.path, "bandwidth", format!("is {}, must be 0 or at least a byte a second", s.bandwidth));
            }
            MemoryConfig::Dram(d) => validate_ctrl(&mut e, d),
        }
    }
    for tlb in [&c.itb, &c.dtb] {
        validate_tlb(&mut e, &tlb.path, "size", "assoc", tlb.size, tlb.assoc);
    }
    if let Some(l2) = &c.l2_tlb {
        validate_tlb(&mut e, &c.dtb.path, "l2_size", "l2_assoc", l2.size, l2.assoc);
        e.cycles(&c.dtb.path, &[("l2_latency", l2.latency)]);
    }
    for (tlb, walker) in [&c.itb, &c.dtb].into_iter().zip(&c.walkers) {
        e.range(&tlb.path, "walker", walker.upper_entries.len() as u64, 0, 4);
        walker.upper_entries.iter().for_each(|&n| e.range(&tlb.path, "walker", u64::from(n), 0, 1 << 10));
    }
    if let Some(w) = &c.write_combining {
        validate_write_combining(&mut e, w, line);
    }
    validate_links(&mut e, c);
    e.0
}

fn validate_tlb(e: &mut Errors, path: &str, size_name: &str, assoc_name: &str, size: u32, assoc: u32) {
    e.range(path, size_name, u64::from(size), 0, 1 << 20);
    let ok = assoc == 0 || (size >= assoc && size % assoc == 0) || size == 0;
    e.check(ok, path, assoc_name, format!("is {assoc}, must divide {size_name} ({size}) or be 0 (fully associative)"));
}

fn validate_cache(e: &mut Errors, c: &CacheConfig, line: u32) {
    let p = &c.path;
    e.range(p, "assoc", u64::from(c.assoc), 1, 1024);
    e.range(p, "slices", u64::from(c.slices), 1, 1024);
    let wrong = wrong_size(c.size, u64::from(c.assoc.max(1)) * u64::from(line), u64::from(c.slices.max(1)));
    e.check(wrong.is_none(), p, "size", wrong.unwrap_or_default());
    e.cycles(p, &[("tag_latency", c.tag_latency), ("data_latency", c.data_latency)]);
    e.cycles(p, &[("response_latency", c.response_latency)]);
    for (name, v) in [("mshrs", c.mshrs), ("tgts_per_mshr", c.tgts_per_mshr), ("write_buffers", c.write_buffers)] {
        e.range(p, name, u64::from(v), 1, u64::from(MAX_QUEUE));
    }
    let ok = c.demand_mshr_reserve <= c.mshrs;
    e.check(ok, p, "demand_mshr_reserve", format!("is {}, more than mshrs ({})", c.demand_mshr_reserve, c.mshrs));
    let masks = c.way_predictor_masks.len();
    e.check(masks <= 64, p, "way_predictor_masks", format!("are {masks}, must be 64 at most"));
    e.range(p, "prefetcher", c.prefetchers.len() as u64, 0, 16);
    let ok = c.prefetchers.is_empty() || c.mshrs > c.demand_mshr_reserve.saturating_add(1);
    let what = format!(
        "is {}, must be larger than demand_mshr_reserve ({}) + 1 for a prefetcher to work",
        c.mshrs, c.demand_mshr_reserve
    );
    e.check(ok, p, "mshrs", what);
    c.prefetchers.iter().for_each(|pf| validate_prefetcher(e, pf, line));
    if c.replacement == Replacement::TreePlru {
        let ok = c.assoc.is_power_of_two() && c.assoc <= 32;
        let what = format!("TreePLRURP needs an assoc that is a power of two, at most 32, not {}", c.assoc);
        e.check(ok, p, "replacement_policy", what);
    }
}

/// What is wrong with a cache of `size` bytes whose sets have `set` bytes, in so many slices; gem5 (`SetAssociative`) asks
/// for a power of two of sets, too.
fn wrong_size(size: u64, set: u64, slices: u64) -> Option<String> {
    let one = set.saturating_mul(slices);
    let sets = size / one;
    if size == sets * one && sets.is_power_of_two() && size <= MAX_CACHE_BYTES {
        return None;
    }
    let least = if sets == 0 { 1 } else { 1 << sets.ilog2() };
    let near: Vec<String> = [least, 2 * least]
        .into_iter()
        .map(|n| one.saturating_mul(n))
        .filter(|&bytes| bytes != size && bytes <= MAX_CACHE_BYTES)
        .map(bytes_text)
        .collect();
    let parts = if slices == 1 { String::new() } else { format!(" in each of {slices} slices") };
    let has =
        if size == size / set * set { (size / set).to_string() } else { format!("{:.1}", size as f64 / set as f64) };
    Some(format!(
        "is {}: {has} sets of {set} bytes (assoc x line){}; the number of sets{parts} must be a power of two, as in gem5; \
         the nearest sizes: {}",
        bytes_text(size),
        if size > MAX_CACHE_BYTES { ", and more than 4 GiB" } else { "" },
        near.join(", "),
    ))
}

fn bytes_text(bytes: u64) -> String {
    match bytes {
        b if b > 0 && b % (1 << 20) == 0 => format!("{}MiB", b >> 20),
        b if b > 0 && b % (1 << 10) == 0 => format!("{}KiB", b >> 10),
        b => format!("{b}B"),
    }
}

fn validate_prefetcher(e: &mut Errors, c: &PrefetcherConfig, line: u32) {
    let p = &c.path;
    let line = u64::from(line);
    let ok = c.page_bytes.is_power_of_two() && c.page_bytes >= line && c.page_bytes <= 1 << 30;
    e.check(ok, p, "page_bytes", format!("is {}, must be a power of two from a line to 1 GiB", c.page_bytes));
    e.range(p, "queue_size", u64::from(c.queue_size), 1, 4096);
    e.cycles(p, &[("latency", c.latency)]);
    e.range(p, "throttle_control_percentage", u64::from(c.throttle_control_percentage), 0, 100);
    let mut degree = |v: u32| e.range(p, "degree", u64::from(v), 1, 256);
    match c.kind {
        PrefetcherKind::Tagged { degree: d } | PrefetcherKind::NextLine { degree: d } => degree(d),
        PrefetcherKind::AdjacentLine { pair_bytes } => {
            let ok = pair_bytes.is_power_of_two() && (2 * line..=64 * line).contains(&u64::from(pair_bytes));
            e.check(ok, p, "pair_bytes", format!("is {pair_bytes}, must be a power of two from 2 to 64 lines"));
        }
        PrefetcherKind::Stream { trackers, train, degree: d, distance } => {
            degree(d);
            e.range(p, "trackers", u64::from(trackers), 1, 4096);
            e.range(p, "train", u64::from(train), 1, 1 << 16);
            e.range(p, "distance", u64::from(distance), 1, 1 << 16);
        }
        PrefetcherKind::Stride {
            confidence_counter_bits,
            initial_confidence,
            confidence_threshold,
            degree: d,
            distance,
            table_assoc,
            table_entries,
            ..
        } => {
            degree(d);
            e.range(p, "distance", u64::from(distance), 0, 1 << 16);
            e.range(p, "confidence_counter_bits", u64::from(confidence_counter_bits), 1, 8);
            let max = (1u64 << confidence_counter_bits.clamp(1, 8)) - 1;
            e.range(p, "initial_confidence", u64::from(initial_confidence), 0, max);
            e.range(p, "confidence_threshold", u64::from(confidence_threshold), 0, 100);
            e.range(p, "table_assoc", u64::from(table_assoc), 1, 1024);
            let sets = table_entries / table_assoc.max(1);
            let ok = table_entries <= 1 << 20 && table_entries == sets * table_assoc && sets.is_power_of_two();
            let what = format!("is {table_entries}, must be table_assoc ({table_assoc}) times a power of two");
            e.check(ok, p, "table_entries", what);
        }
    }
}

fn validate_write_combining(e: &mut Errors, c: &WriteCombiningConfig, line: u32) {
    let p = &c.path;
    e.range(p, "buffers", u64::from(c.buffers), 1, 1024);
    let ok = c.buffer_bytes.is_power_of_two() && (8..=line.min(64)).contains(&c.buffer_bytes);
    let what = format!("is {}, must be a power of two from 8 to 64, at most a line", c.buffer_bytes);
    e.check(ok, p, "buffer_bytes", what);
    let ok = c.partial_bytes.is_power_of_two() && c.partial_bytes <= c.buffer_bytes;
    let what = format!("is {}, must be a power of two, at most buffer_bytes ({})", c.partial_bytes, c.buffer_bytes);
    e.check(ok, p, "partial_bytes", what);
    e.cycles(p, &[("latency", c.latency)]);
    for r in &c.ranges {
        e.check(r.start < r.end, p, "ranges", format!("range {:#x}..{:#x} is empty", r.start, r.end));
    }
}

fn validate_xbar(e: &mut Errors, x: &XBarConfig) {
    let p = &x.path;
    e.range(p, "width", u64::from(x.width), 1, 1 << 16);
    e.cycles(p, &[("frontend_latency", x.frontend_latency), ("forward_latency", x.forward_latency)]);
    e.cycles(p, &[("response_latency", x.response_latency), ("header_latency", x.header_latency)]);
    e.cycles(p, &[("snoop_filter.lookup_latency", x.snoop_filter_latency)]);
    for r in x.routes.iter().filter_map(|r| r.range) {
        e.check(r.start < r.end, p, "mem_side_ports", format!("range {:#x}..{:#x} is empty", r.start, r.end));
    }
}

fn validate_ctrl(e: &mut Errors, c: &MemCtrlConfig) {
    let p = &c.path;
    for (name, v) in [
        ("static_frontend_latency", c.static_frontend_latency.0),
        ("static_backend_latency", c.static_backend_latency.0),
        ("command_window", c.command_window.0),
    ] {
        e.range(p, name, v, 0, MAX_TICKS);
    }
    let (low, high) = (c.write_low_thresh_perc, c.write_high_thresh_perc);
    let what = format!("is {low}, must be smaller than write_high_thresh_perc ({high}), which is below 100");
    e.check(low < high && high < 100, p, "write_low_thresh_perc", what);
    validate_dram(e, &c.dram);
}

fn validate_dram(e: &mut Errors, d: &DramConfig) {
    let p = &d.path;
    e.check(d.range.start < d.range.end, p, "range", "is empty".to_owned());
    for (name, v, max) in [
        ("device_bus_width", d.device_bus_width, 4096),
        ("devices_per_rank", d.devices_per_rank, 1024),
        ("burst_length", d.burst_length, 1024),
        ("write_buffer_size", d.write_buffer_size, 4096),
        ("read_buffer_size", d.read_buffer_size, 4096),
        ("ranks_per_channel", d.ranks_per_channel, 64),
        ("banks_per_rank", d.banks_per_rank, 256),
    ] {
        e.range(p, name, u64::from(v), 1, max);
    }
    e.range(p, "device_rowbuffer_size", d.device_rowbuffer_size, 1, 1 << 30);
    e.range(p, "activation_limit", u64::from(d.activation_limit), 0, 1024);
    let burst = u64::from(d.devices_per_rank) * u64::from(d.burst_length) * u64::from(d.device_bus_width) / 8;
    let what = format!("gives bursts of {burst} bytes, must be a power of two from 8 to the row buffer");
    let row = d.device_rowbuffer_size.saturating_mul(u64::from(d.devices_per_rank));
    e.check(burst.is_power_of_two() && burst >= 8 && burst <= row, p, "burst_length", what);
    let groups = d.bank_groups_per_rank;
    let ok = groups == 0 || (groups <= d.banks_per_rank && d.banks_per_rank % groups == 0);
    e.check(ok, p, "bank_groups_per_rank", format!("is {groups}, must divide banks_per_rank ({})", d.banks_per_rank));
    for (name, v) in [
        ("tBURST", d.tBURST),
        ("tBURST_MIN", d.tBURST_MIN),
        ("tRCD", d.tRCD),
        ("tRCD_WR", d.tRCD_WR),
        ("tCL", d.tCL),
        ("tCWL", d.tCWL),
        ("tRP", d.tRP),
        ("tRAS", d.tRAS),
        ("tWR", d.tWR),
        ("tRTP", d.tRTP),
        ("tRTW", d.tRTW),
        ("tWTR", d.tWTR),
        ("tWTR_L", d.tWTR_L),
        ("tCCD_L", d.tCCD_L),
        ("tCCD_L_WR", d.tCCD_L_WR),
        ("tRRD", d.tRRD),
        ("tRRD_L", d.tRRD_L),
        ("tXAW", d.tXAW),
        ("tAAD", d.tAAD),
        ("tPPD", d.tPPD),
        ("tCS", d.tCS),
        ("tREFI", d.tREFI),
        ("tRFC", d.tRFC),
        ("tCK", d.tCK),
    ] {
        e.range(p, name, v, 0, MAX_TICKS);
    }
    // A refresh needs the rank precharged and the burst in flight written; it must leave time for accesses.
    let refresh = 2 * d.tRP + d.tRFC + d.tCWL + d.tBURST + d.tWR + d.tRAS;
    let what = format!("is {} ticks, must be 0 (no refresh) or longer than a refresh takes ({refresh})", d.tREFI);
    e.check(d.tREFI == 0 || d.tREFI > refresh, p, "tREFI", what);
}

/// Links must name what is there and lead to a memory without a loop.
fn validate_links(e: &mut Errors, c: &MemorySystemConfig) {
    for (what, n) in [("caches", c.caches.len()), ("crossbars", c.xbars.len()), ("memories", c.memories.len())] {
        e.check(
            n <= MAX_COMPONENTS,
            "memory system",
            what,
            format!("there are {n}, at most {MAX_COMPONENTS} can be built"),
        );
    }
    if c.caches.len().max(c.xbars.len()) > MAX_COMPONENTS {
        return;
    }
    let before = e.0.len();
    let ports = [("inst", c.inst), ("data", c.data), ("inst walker", c.inst_walk), ("data walker", c.data_walk)];
    for (name, link) in ports {
        check_link(e, c, "memory system", name, link);
    }
    for cache in &c.caches {
        check_link(e, c, &cache.path, "mem_side", cache.mem_side);
    }
    for x in &c.xbars {
        x.routes.iter().for_each(|r| check_link(e, c, &x.path, "mem_side_ports", r.to));
    }
    if e.0.len() == before {
        let mut seen = Seen { caches: vec![Mark::New; c.caches.len()], xbars: vec![Mark::New; c.xbars.len()] };
        let looping = ports.iter().find(|(_, link)| !leads_to_memory(c, *link, &mut seen));
        if let Some((name, _)) = looping {
            e.check(false, "memory system", name, "the path to the memory runs in a circle".to_owned());
        }
    }
}

fn check_link(e: &mut Errors, c: &MemorySystemConfig, path: &str, name: &str, link: Link) {
    let (n, len, what) = match link {
        Link::None => return,
        Link::Cache(n) => (n, c.caches.len(), "cache"),
        Link::XBar(n) => (n, c.xbars.len(), "crossbar"),
        Link::Memory(n) => (n, c.memories.len(), "memory"),
    };
    e.check(usize::from(n) < len, path, name, format!("is connected to {what} {n} of {len}"));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    OnTheWay,
    Done,
}

struct Seen {
    caches: Vec<Mark>,
    xbars: Vec<Mark>,
}

impl Seen {
    fn mark(&mut self, link: Link) -> Option<&mut Mark> {
        match link {
            Link::Cache(n) => self.caches.get_mut(usize::from(n)),
            Link::XBar(n) => self.xbars.get_mut(usize::from(n)),
            Link::None | Link::Memory(_) => None,
        }
    }
}

/// No way from `link` comes back to where it was.
fn leads_to_memory(c: &MemorySystemConfig, link: Link, seen: &mut Seen) -> bool {
    let Some(mark) = seen.mark(link) else { return true };
    match *mark {
        Mark::Done => return true,
        Mark::OnTheWay => return false,
        Mark::New => *mark = Mark::OnTheWay,
    }
    let ok = match link {
        Link::Cache(n) => leads_to_memory(c, c.caches[usize::from(n)].mem_side, seen),
        Link::XBar(n) => c.xbars[usize::from(n)].routes.iter().all(|r| leads_to_memory(c, r.to, seen)),
        Link::None | Link::Memory(_) => true,
    };
    if let (true, Some(mark)) = (ok, seen.mark(link)) {
        *mark = Mark::Done;
    }
    ok
}
