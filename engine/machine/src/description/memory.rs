//! The memory side of a description: follows the core's four ports down to the memories.

use std::collections::BTreeMap;

use breakeven_base::{Clock, Tick};
use breakeven_memory::config::{
    AddrMapping, AddrRange, CacheConfig, Clusivity, DramConfig, L2TlbConfig, Link, MemCtrlConfig, MemoryConfig,
    PagePolicy, Route, SchedPolicy, SimpleMemoryConfig, TlbConfig, WalkerConfig, XBarConfig,
};
use breakeven_memory::MemorySystemConfig;
use serde_json::{json, Value};

use super::policy::{replacement, CYCLES};
use super::prefetch;
use super::reader::{Obj, Reader};
use super::suggest::suggest;

/// Upper bound of a duration in ticks: a millisecond.
const DURATION: u64 = 1_000_000_000;
const XBARS: &[&str] = &["CoherentXBar", "L2XBar", "SystemXBar", "NoncoherentXBar", "IOXBar"];
const DEVICES: &[&str] = &["BadAddr", "IsaFake", "Clint", "Plic", "Uart8250"];
/// x86's interrupt controller: on the bus, but no interrupt is modelled, so nothing is sent to it.
const INTERRUPTS: &str = "X86LocalApic";
/// Most components between a core and a memory.
const DEPTH: usize = 64;

/// Follows ports and keeps every component once.
struct Topology<'r> {
    caches: Vec<CacheConfig>,
    xbars: Vec<XBarConfig>,
    memories: Vec<MemoryConfig>,
    /// Which addresses each memory answers.
    ranges: Vec<AddrRange>,
    /// `None`: on the path being followed.
    seen: BTreeMap<&'r str, Option<Link>>,
    depth: usize,
}

/// The memory system below `cpu`.
pub(super) fn memory_system(reader: &Reader, system: Obj, cpu: Obj) -> Option<MemorySystemConfig> {
    let mut t =
        Topology { caches: vec![], xbars: vec![], memories: vec![], ranges: vec![], seen: BTreeMap::new(), depth: 0 };
    let [mmu_class, tlb_class, walker_class] = if super::is_x86(cpu) {
        ["X86MMU", "X86TLB", "X86PagetableWalker"]
    } else {
        ["RiscvMMU", "RiscvTLB", "RiscvPagetableWalker"]
    };
    let mmu = cpu.a_ref("mmu").filter(|m| m.expect_class("MMU", &[mmu_class]));
    let tlb = |name| mmu.and_then(|m| m.a_ref(name)).filter(|t| t.expect_class("TLB", &[tlb_class]));
    let (itb, dtb) = (tlb("itb"), tlb("dtb"));
    let inst = t.follow(cpu, "icache_port");
    let data = t.follow(cpu, "dcache_port");
    // As in gem5, an emulated process's walkers may be joined with nothing.
    let emulated = reader.all("Root").any(|root| !root.bool_or("full_system", true));
    let mut walk = |tlb: Option<Obj<'_>>| -> Link {
        let walker = tlb.and_then(|b| b.a_ref("walker")).and_then(|w| reader.get(w.path()));
        let walker = walker.filter(|w| w.expect_class("walker", &[walker_class]));
        walker.filter(|w| !emulated || !w.peers("port").is_empty()).map_or(Link::None, |w| t.follow(w, "port"))
    };
    let (inst_walk, data_walk) = (walk(itb), walk(dtb));
    let (itb, dtb) = (itb?, dtb?);
    let l2_tlb = l2_tlb_of(dtb);
    if let Some(other) = l2_tlb_of(itb).filter(|o| l2_tlb.as_ref() != Some(o)) {
        itb.param_error(
            "l2_size",
            format!("is {}, but both sides share the second level, which dtb configures; set it in dtb", other.size),
        );
    }
    let uncacheable = mmu.and_then(|m| m.opt_ref("pma_checker")).map(|p| p.ranges("uncacheable")).unwrap_or_default();
    let name = |o: Obj, port: &str| format!("{}{port}", o.path().strip_prefix("system.").unwrap_or(o.path()));
    Some(MemorySystemConfig {
        line_bytes: system.pow2("cache_line_size", 16..=256) as u32,
        core_clock: Clock::new(cpu.clock_period()),
        inst,
        data,
        inst_walk,
        data_walk,
        caches: t.caches,
        xbars: t.xbars,
        memories: t.memories,
        itb: first_level(itb),
        dtb: first_level(dtb),
        l2_tlb,
        walkers: [walker_of(itb), walker_of(dtb)],
        uncacheable,
        write_combining: cpu.opt_ref("write_combining").and_then(prefetch::write_combining),
        requestors: [name(cpu, ".inst"), name(cpu, ".data"), name(itb, ".walker"), name(dtb, ".walker")],
    })
}

fn first_level(tlb: Obj) -> TlbConfig {
    TlbConfig {
        path: tlb.path().to_owned(),
        size: tlb.u32("size", 1..=1 << 16),
        assoc: tlb.u32_or("assoc", 0, 0..=1 << 16),
    }
}
fn l2_tlb_of(tlb: Obj) -> Option<L2TlbConfig> {
    let size = tlb.u32_or("l2_size", 0, 0..=1 << 20);
    let config = L2TlbConfig {
        size,
        assoc: tlb.u32_or("l2_assoc", 0, 0..=1 << 20),
        latency: tlb.u32_or("l2_latency", 0, 0..=CYCLES),
    };
    (size > 0).then_some(config)
}

fn walker_of(tlb: Obj) -> WalkerConfig {
    let Some(walker) = tlb.a_ref("walker") else { return WalkerConfig::default() };
    let names: &[&str] = match walker.class() {
        "X86PagetableWalker" => &["pml4e_cache_size", "pdpte_cache_size", "pde_cache_size"],
        _ => &["level2_cache_size", "level1_cache_size"],
    };
    let entries: Vec<u32> = names.iter().map(|name| walker.u32_or(name, 0, 0..=1 << 10)).collect();
    let none = entries.iter().all(|&n| n == 0);
    WalkerConfig { upper_entries: if none { Vec::new() } else { entries } }
}

impl<'r> Topology<'r> {
    /// Where requests out of `port` of `from` go.
    fn follow(&mut self, from: Obj<'r>, port: &str) -> Link {
        from.peer(port).map_or(Link::None, |(to, at)| self.enter(to, at, from, port))
    }

    /// The link to the component that is entered through its port `at`.
    fn enter(&mut self, to: Obj<'r>, at: &str, from: Obj<'r>, port: &str) -> Link {
        match self.seen.get(to.path()) {
            Some(Some(link)) => return *link,
            Some(None) => {
                from.param_error(port, format!("leads back to {}: the way to the memory is a circle", to.path()));
                return Link::None;
            }
            None => {}
        }
        let entrance = match to.class() {
            "Cache" => "cpu_side",
            c if XBARS.contains(&c) => "cpu_side_ports",
            "MemCtrl" | "SimpleMemory" => "port",
            c if DEVICES.contains(&c) => "pio",
            c => {
                let known: Vec<&str> = ["Cache", "MemCtrl", "SimpleMemory"]
                    .into_iter()
                    .chain(XBARS.iter().chain(DEVICES).copied())
                    .collect();
                to.error(format!("{c} between the core and its memory is not modelled{}", suggest(c, &known)));
                return Link::None;
            }
        };
        if at != entrance {
            from.param_error(
                port,
                format!("is connected to {}.{at}; requests enter a {} at {entrance}", to.path(), to.class()),
            );
            return Link::None;
        }
        if self.depth == DEPTH {
            from.param_error(
                port,
                format!("is the {DEPTH}th component in a row on the way to the memory; that is too deep"),
            );
            return Link::None;
        }
        self.seen.insert(to.path(), None);
        self.depth += 1;
        let link = self.build(to);
        self.depth -= 1;
        self.seen.insert(to.path(), Some(link));
        link
    }

    fn build(&mut self, o: Obj<'r>) -> Link {
        match o.class() {
            "Cache" => {
                if o.peers("cpu_side").len() > 1 {
                    o.param_error("cpu_side", "has more than one peer; put a crossbar in front of the cache");
                }
                let mem_side = self.follow(o, "mem_side");
                self.caches.push(cache(o, mem_side));
                Link::Cache(index(self.caches.len()))
            }
            "MemCtrl" => self.memory_at(mem_ctrl(o)),
            "SimpleMemory" => self.memory_at(simple_memory(o)),
            c if DEVICES.contains(&c) => self.memory_at(Some(device(o))),
            _ => {
                let routes = self.routes(o);
                self.xbars.push(xbar(o, routes));
                Link::XBar(index(self.xbars.len()))
            }
        }
    }

    fn memory_at(&mut self, memory: Option<(MemoryConfig, AddrRange)>) -> Link {
        let Some((memory, range)) = memory else { return Link::None };
        self.memories.push(memory);
        self.ranges.push(range);
        Link::Memory(index(self.memories.len()))
    }

    fn routes(&mut self, o: Obj<'r>) -> Vec<Route> {
        let mut routes = Vec::new();
        let mut rest = Vec::new();
        let below = o.peers("mem_side_ports");
        if below.is_empty() && o.peers("default").is_empty() {
            o.param_error("mem_side_ports", "is connected to nothing; a crossbar leads to caches or memories");
        }
        for (to, at) in below {
            if to.class() == INTERRUPTS {
                continue;
            }
            let link = self.enter(to, at, o, "mem_side_ports");
            match self.answers(link) {
                Some(ranges) => routes.extend(ranges.into_iter().map(|r| Route { range: Some(r), to: link })),
                None if link == Link::None => {}
                None => rest.push(Route { range: None, to: link }),
            }
        }
        for (to, at) in o.peers("default") {
            let link = self.enter(to, at, o, "default");
            rest.push(Route { range: None, to: link });
        }
        routes.extend(rest);
        routes
    }

    /// The addresses that a component answers; `None`: all (a cache).
    fn answers(&self, link: Link) -> Option<Vec<AddrRange>> {
        match link {
            Link::Memory(i) => Some(vec![self.ranges[usize::from(i)]]),
            Link::XBar(i) => {
                let ranges: Vec<_> = self.xbars[usize::from(i)].routes.iter().filter_map(|r| r.range).collect();
                (!ranges.is_empty()).then_some(ranges)
            }
            Link::None | Link::Cache(_) => None,
        }
    }
}

/// The index of the last of `len` components (a description holds fewer than 2^16 of them, or [`DEPTH`] stopped it).
fn index(len: usize) -> u16 {
    u16::try_from(len.saturating_sub(1)).unwrap_or(u16::MAX)
}

fn cache(o: Obj, mem_side: Link) -> CacheConfig {
    for (name, why) in [
        ("compressor", "caches do not compress"),
        ("write_allocator", "write streams are not coalesced; use write_allocate"),
        ("partitioning_manager", "caches are not partitioned"),
    ] {
        o.only(name, &Value::Null, why);
    }
    if let Some(tags) = o.opt_ref("tags") {
        if tags.expect_class("tag store", &["BaseSetAssoc"]) {
            if let Some(p) = tags.opt_ref("indexing_policy") {
                p.expect_class("cache indexing", &["SetAssociative"]);
            }
        }
    }
    CacheConfig {
        path: o.path().to_owned(),
        clock: Clock::new(o.clock_period()),
        size: o.int("size", 16..=1 << 28),
        assoc: o.u32("assoc", 1..=1 << 16),
        slices: o.u32_or("slices", 1, 1..=1024),
        tag_latency: o.u32("tag_latency", 0..=CYCLES),
        data_latency: o.u32("data_latency", 0..=CYCLES),
        response_latency: o.u32("response_latency", 0..=CYCLES),
        sequential_access: o.bool("sequential_access"),
        mshrs: o.u32("mshrs", 1..=4096),
        tgts_per_mshr: o.u32("tgts_per_mshr", 1..=4096),
        demand_mshr_reserve: o.u32("demand_mshr_reserve", 0..=4096),
        write_buffers: o.u32("write_buffers", 1..=4096),
        writeback_clean: o.bool("writeback_clean"),
        replacement: replacement(o, "replacement_policy"),
        clusivity: choice(
            o,
            "clusivity",
            [("mostly_incl", Clusivity::MostlyIncl), ("mostly_excl", Clusivity::MostlyExcl)],
        ),
        is_read_only: o.bool_or("is_read_only", false),
        bandwidth: o.u32_or("bandwidth", 0, 0..=1 << 20),
        write_allocate: o.bool_or("write_allocate", true),
        way_predictor_masks: o.ints("way_predictor_masks", 1..=u64::MAX),
        prefetchers: o.opt_ref("prefetcher").map(prefetch::prefetchers).unwrap_or_default(),
        mem_side,
    }
}

fn xbar(o: Obj, routes: Vec<Route>) -> XBarConfig {
    let filter = o.opt_ref("snoop_filter").filter(|f| f.expect_class("snoop filter", &["SnoopFilter"]));
    XBarConfig {
        path: o.path().to_owned(),
        clock: Clock::new(o.clock_period()),
        frontend_latency: o.u32("frontend_latency", 0..=CYCLES),
        forward_latency: o.u32("forward_latency", 0..=CYCLES),
        response_latency: o.u32("response_latency", 0..=CYCLES),
        header_latency: o.u32("header_latency", 0..=CYCLES),
        snoop_filter_latency: filter.map_or(0, |f| f.u32("lookup_latency", 0..=CYCLES)),
        width: o.u32("width", 1..=1 << 16),
        bandwidth_limit: o.bool_or("bandwidth_limit", true),
        routes,
    }
}

/// The one range of a memory.
fn range(o: Obj) -> Option<AddrRange> {
    let ranges = o.ranges("range");
    if ranges.len() != 1 {
        o.param_error("range", "must be one address range");
    }
    ranges.first().copied()
}

fn duration(o: Obj, name: &str) -> Tick {
    Tick(o.int(name, 0..=DURATION))
}

fn simple_memory(o: Obj) -> Option<(MemoryConfig, AddrRange)> {
    o.only("latency_var", &json!(0), "memory latency does not vary at random");
    let memory = SimpleMemoryConfig {
        path: o.path().to_owned(),
        latency: duration(o, "latency"),
        bandwidth: o.float_or("bandwidth", 0.0, 0.0..=1e18),
        write_buffer_size: o.u32_or("write_buffer_size", 0, 0..=1 << 10),
    };
    Some((MemoryConfig::Simple(memory), range(o)?))
}

fn device(o: Obj) -> (MemoryConfig, AddrRange) {
    let start = o.int_or("pio_addr", 0, 0..=u64::MAX);
    let size = o.int_or("pio_size", 8, 1..=1 << 32);
    let latency = Tick(o.int_or("pio_latency", 0, 0..=DURATION));
    let memory = SimpleMemoryConfig { path: o.path().to_owned(), latency, bandwidth: 0.0, write_buffer_size: 0 };
    (MemoryConfig::Simple(memory), AddrRange { start, end: start.saturating_add(size) })
}

fn mem_ctrl(o: Obj) -> Option<(MemoryConfig, AddrRange)> {
    let dram = o.a_ref("dram")?;
    dram.only("enable_dram_powerdown", &json!(false), "memories are always awake");
    dram.only("data_clock_sync", &json!(false), "the data clock is always running");
    if !dram.is_a("DRAMInterface") {
        dram.error(format!(
            "{} is not a DRAM interface; give the controller a subclass of DRAMInterface",
            dram.class()
        ));
        return None;
    }
    let range = range(dram)?;
    let ctrl = MemCtrlConfig {
        path: o.path().to_owned(),
        static_frontend_latency: duration(o, "static_frontend_latency"),
        static_backend_latency: duration(o, "static_backend_latency"),
        command_window: Tick(o.int("command_window", 1..=DURATION)),
        write_high_thresh_perc: o.u32("write_high_thresh_perc", 1..=100),
        write_low_thresh_perc: o.u32("write_low_thresh_perc", 0..=100),
        min_writes_per_switch: o.u32("min_writes_per_switch", 1..=4096),
        min_reads_per_switch: o.u32("min_reads_per_switch", 1..=4096),
        mem_sched_policy: [SchedPolicy::FrFcfs, SchedPolicy::Fcfs]
            [o.choice_or("mem_sched_policy", 0, &["frfcfs", "fcfs"])],
        dram: dram_interface(dram, range),
    };
    Some((MemoryConfig::Dram(Box::new(ctrl)), range))
}

const PAGE_POLICIES: [(&str, PagePolicy); 4] = [
    ("open_adaptive", PagePolicy::OpenAdaptive),
    ("open", PagePolicy::Open),
    ("close", PagePolicy::Close),
    ("close_adaptive", PagePolicy::CloseAdaptive),
];
const MAPPINGS: [(&str, AddrMapping); 3] = [
    ("RoRaBaCoCh", AddrMapping::RoRaBaCoCh),
    ("RoRaBaChCo", AddrMapping::RoRaBaChCo),
    ("RoCoRaBaCh", AddrMapping::RoCoRaBaCh),
];

fn choice<T: Copy, const N: usize>(o: Obj, name: &str, table: [(&str, T); N]) -> T {
    table[o.choice_or(name, 0, &table.map(|(n, _)| n))].1
}

fn dram_interface(o: Obj, range: AddrRange) -> DramConfig {
    let t = |name| o.int(name, 0..=DURATION);
    let at_least_one = |name| o.int(name, 1..=DURATION);
    DramConfig {
        path: o.path().to_owned(),
        range,
        device_size: o.int("device_size", 1..=1 << 40),
        device_bus_width: o.u32("device_bus_width", 1..=1024),
        device_rowbuffer_size: o.int("device_rowbuffer_size", 1..=1 << 24),
        devices_per_rank: o.u32("devices_per_rank", 1..=64),
        ranks_per_channel: o.u32("ranks_per_channel", 1..=64),
        banks_per_rank: o.u32("banks_per_rank", 1..=1024),
        bank_groups_per_rank: o.u32("bank_groups_per_rank", 0..=1024),
        burst_length: o.u32("burst_length", 1..=1024),
        beats_per_clock: o.u32("beats_per_clock", 1..=64),
        read_buffer_size: o.u32("read_buffer_size", 1..=4096),
        write_buffer_size: o.u32("write_buffer_size", 1..=4096),
        page_policy: choice(o, "page_policy", PAGE_POLICIES),
        addr_mapping: choice(o, "addr_mapping", MAPPINGS),
        max_accesses_per_row: o.u32("max_accesses_per_row", 0..=1 << 16),
        activation_limit: o.u32("activation_limit", 0..=64),
        two_cycle_activate: o.bool("two_cycle_activate"),
        tCK: at_least_one("tCK"),
        tBURST: at_least_one("tBURST"),
        tBURST_MIN: at_least_one("tBURST_MIN"),
        tRCD: t("tRCD"),
        tRCD_WR: t("tRCD_WR"),
        tCL: t("tCL"),
        tCWL: t("tCWL"),
        tRP: t("tRP"),
        tRAS: t("tRAS"),
        tWR: t("tWR"),
        tRTP: t("tRTP"),
        tRTW: t("tRTW"),
        tWTR: t("tWTR"),
        tWTR_L: t("tWTR_L"),
        tCCD_L: t("tCCD_L"),
        tCCD_L_WR: t("tCCD_L_WR"),
        tRRD: t("tRRD"),
        tRRD_L: t("tRRD_L"),
        tXAW: t("tXAW"),
        tAAD: t("tAAD"),
        tPPD: t("tPPD"),
        tCS: t("tCS"),
        tREFI: at_least_one("tREFI"),
        tRFC: t("tRFC"),
    }
}
