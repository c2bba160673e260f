//! Configurations and a blocking core that the integration tests share.
#![allow(dead_code)] // each test binary uses its part

use breakeven_base::{Clock, MemKind, PhysAddr, StatSink, Tick};
use breakeven_memory::config::*;
use breakeven_memory::{MemorySystem, Port, Request, Response};
use proptest::test_runner::{Config, RngSeed};

/// Ticks of a cycle at 2 GHz.
pub const CYCLE: u64 = 500;
pub const RAM: AddrRange = AddrRange { start: 0x8000_0000, end: 0xa000_0000 };

pub fn cache(path: &str, size: u64, latency: u32, mshrs: u32, targets: u32, mem_side: Link) -> CacheConfig {
    CacheConfig {
        path: path.to_owned(),
        clock: Clock::new(CYCLE),
        size,
        assoc: 8,
        slices: 1,
        tag_latency: latency,
        data_latency: latency,
        response_latency: latency,
        sequential_access: false,
        mshrs,
        tgts_per_mshr: targets,
        demand_mshr_reserve: 1,
        write_buffers: 8,
        writeback_clean: false,
        replacement: Replacement::Lru,
        clusivity: Clusivity::MostlyIncl,
        is_read_only: false,
        bandwidth: 0,
        write_allocate: true,
        way_predictor_masks: Vec::new(),
        prefetchers: Vec::new(),
        mem_side,
    }
}

pub fn l2_xbar(to: Link) -> XBarConfig {
    XBarConfig {
        path: "system.l2bus".to_owned(),
        clock: Clock::new(CYCLE),
        frontend_latency: 1,
        forward_latency: 0,
        response_latency: 1,
        header_latency: 1,
        snoop_filter_latency: 0,
        width: 32,
        bandwidth_limit: true,
        routes: vec![Route { range: None, to }],
    }
}

pub fn system_xbar() -> XBarConfig {
    XBarConfig {
        path: "system.membus".to_owned(),
        clock: Clock::new(CYCLE),
        frontend_latency: 3,
        forward_latency: 4,
        response_latency: 2,
        header_latency: 1,
        snoop_filter_latency: 1,
        width: 16,
        bandwidth_limit: true,
        routes: vec![Route { range: Some(RAM), to: Link::Memory(0) }, Route { range: None, to: Link::Memory(1) }],
    }
}

/// gem5's `DDR3_1600_8x8`.
pub fn ddr3_1600() -> MemCtrlConfig {
    MemCtrlConfig {
        path: "system.mem_ctrl".to_owned(),
        static_frontend_latency: Tick(10_000),
        static_backend_latency: Tick(10_000),
        command_window: Tick(10_000),
        write_high_thresh_perc: 85,
        write_low_thresh_perc: 50,
        min_writes_per_switch: 16,
        min_reads_per_switch: 16,
        mem_sched_policy: SchedPolicy::FrFcfs,
        dram: DramConfig {
            path: "system.mem_ctrl.dram".to_owned(),
            range: RAM,
            device_size: 512 << 20,
            device_bus_width: 8,
            device_rowbuffer_size: 1024,
            devices_per_rank: 8,
            ranks_per_channel: 2,
            banks_per_rank: 8,
            bank_groups_per_rank: 0,
            burst_length: 8,
            beats_per_clock: 2,
            read_buffer_size: 32,
            write_buffer_size: 64,
            page_policy: PagePolicy::OpenAdaptive,
            addr_mapping: AddrMapping::RoRaBaCoCh,
            max_accesses_per_row: 16,
            activation_limit: 4,
            two_cycle_activate: false,
            tCK: 1250,
            tBURST: 5000,
            tBURST_MIN: 5000,
            tRCD: 13_750,
            tRCD_WR: 13_750,
            tCL: 13_750,
            tCWL: 13_750,
            tRP: 13_750,
            tRAS: 35_000,
            tWR: 15_000,
            tRTP: 7_500,
            tRTW: 2_500,
            tWTR: 7_500,
            tWTR_L: 7_500,
            tCCD_L: 0,
            tCCD_L_WR: 0,
            tRRD: 6_000,
            tRRD_L: 0,
            tXAW: 30_000,
            tAAD: 1_250,
            tPPD: 0,
            tCS: 2_500,
            tREFI: 7_800_000,
            tRFC: 260_000,
        },
    }
}

/// What nothing answers: gem5's `BadAddr`.
pub fn bad_addr() -> MemoryConfig {
    let path = "system.membus.badaddr_responder".to_owned();
    MemoryConfig::Simple(SimpleMemoryConfig { path, latency: Tick(100_000), bandwidth: 0.0, write_buffer_size: 0 })
}

/// The configuration that gem5's reference cycles were measured in.
pub fn reference() -> MemorySystemConfig {
    MemorySystemConfig {
        line_bytes: 64,
        core_clock: Clock::new(CYCLE),
        inst: Link::Cache(0),
        data: Link::Cache(1),
        inst_walk: Link::XBar(0),
        data_walk: Link::XBar(0),
        caches: vec![
            cache("system.cpu.icache", 32 << 10, 2, 10, 20, Link::XBar(0)),
            cache("system.cpu.dcache", 32 << 10, 2, 10, 20, Link::XBar(0)),
            cache("system.l2", 256 << 10, 10, 20, 12, Link::XBar(1)),
        ],
        xbars: vec![l2_xbar(Link::Cache(2)), system_xbar()],
        memories: vec![MemoryConfig::Dram(Box::new(ddr3_1600())), bad_addr()],
        itb: TlbConfig { path: "system.cpu.mmu.itb".to_owned(), size: 64, assoc: 0 },
        dtb: TlbConfig { path: "system.cpu.mmu.dtb".to_owned(), size: 64, assoc: 0 },
        l2_tlb: None,
        walkers: Default::default(),
        uncacheable: Vec::new(),
        write_combining: None,
        requestors: ["cpu.inst", "cpu.data", "cpu.mmu.itb.walker", "cpu.mmu.dtb.walker"].map(str::to_owned),
    }
}

/// The same with gem5's `SimpleMemory` behind the bus.
pub fn reference_simple(latency: u64, bandwidth: f64) -> MemorySystemConfig {
    let mut c = reference();
    let path = "system.mem_ctrl".to_owned();
    c.memories[0] =
        MemoryConfig::Simple(SimpleMemoryConfig { path, latency: Tick(latency), bandwidth, write_buffer_size: 0 });
    c
}

pub fn build(c: MemorySystemConfig) -> MemorySystem {
    MemorySystem::new(c).unwrap_or_else(|e| panic!("does not build: {e:?}"))
}

pub fn request(paddr: u64, kind: MemKind) -> Request {
    Request { paddr: PhysAddr(paddr), size: 8, kind, uncacheable: false, non_temporal: false, pc: 0, may_wait: false }
}

/// One data access at `now`: when it is answered, and from which level.
pub fn access(m: &mut MemorySystem, now: u64, paddr: u64, kind: MemKind) -> (u64, u8) {
    match m.access(Port::Data, Tick(now), &request(paddr, kind)) {
        Response::Done { at, level } => (at.0, level),
        Response::Blocked { retry } | Response::Pending { until: retry, .. } => panic!("blocked until {retry:?}"),
    }
}

pub fn load(m: &mut MemorySystem, now: u64, paddr: u64) -> u64 {
    access(m, now, paddr, MemKind::Load).0
}

pub fn stat(m: &MemorySystem, name: &str) -> f64 {
    let mut sink = StatSink::new();
    m.collect(&mut sink);
    sink.stats.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("no statistic {name}")).value
}

/// A core that does one thing after another, as gem5's TimingSimpleCPU: an instruction costs its fetches (hits, two
/// cycles each), a memory access starts after that and blocks.
pub struct Blocking {
    pub mem: MemorySystem,
    pub now: u64,
    /// Fetches an instruction needs: two where a 4-byte instruction is not 4-byte aligned.
    pub fetches: u64,
}

impl Blocking {
    pub fn instructions(&mut self, n: u64) {
        self.now += 2 * CYCLE * n * self.fetches;
    }

    /// One load or store instruction.
    pub fn access(&mut self, paddr: u64, kind: MemKind) {
        self.instructions(1);
        loop {
            match self.mem.access(Port::Data, Tick(self.now), &request(paddr, kind)) {
                Response::Done { at, .. } => {
                    self.now = at.0.div_ceil(CYCLE) * CYCLE;
                    return;
                }
                Response::Blocked { retry } | Response::Pending { until: retry, .. } => {
                    self.now = retry.0.div_ceil(CYCLE) * CYCLE;
                }
            }
        }
    }
}

/// So many cases of a property, the same in each run: a change, not chance, decides whether a test passes.
pub fn cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}
