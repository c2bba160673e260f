//! What the cores' tests run on: an instruction memory and a data memory of fixed latencies, and a core with its world.

use breakeven_base::units::Clock;
use breakeven_base::{StatSink, Tick};
use breakeven_memory::config::{
    CacheConfig, Clusivity, Link, MemoryConfig, MemorySystemConfig, Replacement, Route, SimpleMemoryConfig, TlbConfig,
    XBarConfig,
};
use breakeven_memory::MemorySystem;

use super::{MockBus, MockFe};
use crate::minor::Minor;
use crate::o3::O3;
use crate::simple::TimingSimple;
use crate::{Budget, CoreCtx, Stop};

/// A cycle, in ticks.
pub const PERIOD: u64 = 500;

pub fn simple_memory(path: &str, cycles: u64) -> MemoryConfig {
    MemoryConfig::Simple(SimpleMemoryConfig {
        path: path.to_owned(),
        latency: Tick(cycles * PERIOD),
        bandwidth: 0.0,
        write_buffer_size: 0,
    })
}

/// No caches. A page-table level costs what the data memory does; the TLBs have `tlb_entries`.
pub fn memory_config(inst_cycles: u64, data_cycles: u64, tlb_entries: u32) -> MemorySystemConfig {
    let tlb = |path: &str| TlbConfig { path: path.to_owned(), size: tlb_entries, assoc: 0 };
    MemorySystemConfig {
        line_bytes: 64,
        core_clock: Clock::new(PERIOD),
        inst: Link::Memory(0),
        data: Link::Memory(1),
        inst_walk: Link::Memory(1),
        data_walk: Link::Memory(1),
        caches: vec![],
        xbars: vec![],
        memories: vec![simple_memory("inst", inst_cycles), simple_memory("data", data_cycles)],
        itb: tlb("itb"),
        dtb: tlb("dtb"),
        l2_tlb: None,
        walkers: Default::default(),
        uncacheable: vec![],
        write_combining: None,
        requestors: ["cpu.inst", "cpu.data", "cpu.iw", "cpu.dw"].map(str::to_owned),
    }
}

/// First-level caches of four lines in two ways, on a bus that snoops them, before a memory of so many cycles. `policy`: of both
/// caches.
pub fn cached_memory_config(policy: Replacement, cycles: u64) -> MemorySystemConfig {
    let clock = Clock::new(PERIOD);
    let cache = |path: &str| CacheConfig {
        path: path.to_owned(),
        clock,
        size: 4 * 64,
        assoc: 2,
        slices: 1,
        tag_latency: 1,
        data_latency: 1,
        response_latency: 1,
        sequential_access: false,
        mshrs: 2,
        tgts_per_mshr: 4,
        demand_mshr_reserve: 1,
        write_buffers: 2,
        writeback_clean: false,
        replacement: policy,
        clusivity: Clusivity::MostlyIncl,
        is_read_only: path == "icache",
        bandwidth: 0,
        write_allocate: true,
        way_predictor_masks: Vec::new(),
        prefetchers: Vec::new(),
        mem_side: Link::XBar(0),
    };
    let bus = XBarConfig {
        path: "bus".to_owned(),
        clock,
        frontend_latency: 1,
        forward_latency: 0,
        response_latency: 1,
        header_latency: 1,
        snoop_filter_latency: 0,
        width: 16,
        bandwidth_limit: true,
        routes: vec![Route { range: None, to: Link::Memory(0) }],
    };
    MemorySystemConfig {
        inst: Link::Cache(0),
        data: Link::Cache(1),
        caches: vec![CacheConfig { size: 16 * 64, ..cache("icache") }, cache("dcache")],
        xbars: vec![bus],
        ..memory_config(cycles, 3, 4)
    }
}

pub fn memory(cfg: MemorySystemConfig) -> MemorySystem {
    MemorySystem::new(cfg).unwrap_or_else(|e| panic!("{e:?}"))
}

/// What a test asks of any core.
pub trait Core {
    fn run(&mut self, ctx: &mut CoreCtx<'_, MockFe, MockBus>, budget: Budget) -> Stop;
    fn collect(&self, sink: &mut StatSink);
    fn cycles(&self) -> u64;
}

macro_rules! core {
    ($($core:ty),*) => {$(
        impl Core for $core {
            fn run(&mut self, ctx: &mut CoreCtx<'_, MockFe, MockBus>, budget: Budget) -> Stop {
                <$core>::run(self, ctx, budget)
            }
            fn collect(&self, sink: &mut StatSink) {
                <$core>::collect(self, sink);
            }
            fn cycles(&self) -> u64 {
                <$core>::cycles(self)
            }
        }
    )*};
}
core!(Minor, O3, TimingSimple);

/// A core with its world.
pub struct Run<C> {
    pub core: C,
    pub fe: MockFe,
    pub bus: MockBus,
    pub mem: MemorySystem,
}

impl<C: Core> Run<C> {
    pub fn on(mem: MemorySystemConfig, core: C, fe: MockFe) -> Run<C> {
        Run { core, fe, bus: MockBus::new(), mem: memory(mem) }
    }
    pub fn go(&mut self, budget: Budget) -> Stop {
        self.core.run(&mut CoreCtx { fe: &mut self.fe, bus: &mut self.bus, mem: &mut self.mem }, budget)
    }
    pub fn stat(&self, name: &str) -> f64 {
        let mut sink = StatSink::new();
        self.core.collect(&mut sink);
        sink.stats.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("no {name}")).value
    }
}
