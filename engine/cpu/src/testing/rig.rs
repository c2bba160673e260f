//! What the cores' tests run on: an instruction memory and a data memory of fixed latencies, and a core with its world.

use breakeven_base::units::Clock;
use breakeven_base::{StatSink, Tick};
use breakeven_memory::config::{Link, MemoryConfig, MemorySystemConfig, SimpleMemoryConfig, TlbConfig};
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
