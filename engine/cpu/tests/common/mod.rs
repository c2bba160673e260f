//! Runs the gem5 reference program (`tests/data/gem5`) on a core, with the memory of its `config.py`.
#![allow(dead_code)] // each test binary uses its part

#[path = "../../../memory/tests/common/mod.rs"]
mod memory_reference;

use std::path::PathBuf;

use breakeven_base::bus::ExitCause;
use breakeven_base::{Bus, BusError, FrontEnd, Now, PhysMem, PseudoOutcome, StatSink, SysEffect, Tick};
use breakeven_cpu::minor::Minor;
use breakeven_cpu::o3::O3;
use breakeven_cpu::{Budget, CoreCtx, Stop};
use breakeven_memory::config::{AddrRange, MemoryConfig};
use breakeven_memory::{MemorySystem, MemorySystemConfig};
use breakeven_riscv::{RiscvConfig, RiscvFrontEnd};

/// The kernels in the program's order.
pub const KERNELS: [&str; 34] = [
    "nop",
    "depadd",
    "indadd",
    "mul",
    "mulind",
    "div",
    "fwd",
    "fwdpart",
    "loads",
    "loads_line",
    "stores",
    "stores_line",
    "chaseL1",
    "chaseL2",
    "chaseMem",
    "streamldL1",
    "streamldL2",
    "streamldMem",
    "streamstL1",
    "streamstL2",
    "streamstMem",
    "copyw",
    "copyw_s3",
    "copyw_s3d5",
    "copyb",
    "copyshift",
    "csum",
    "csum_s3",
    "branchy",
    "pattern",
    "rec",
    "copy64k",
    "copy64k_s3",
    "copy64kcold",
];

/// RAM and gem5's pseudo-ops, nothing else.
pub struct Platform {
    ram: PhysMem,
}

impl Bus for Platform {
    fn ram(&self) -> &PhysMem {
        &self.ram
    }
    fn ram_mut(&mut self) -> &mut PhysMem {
        &mut self.ram
    }
    fn device_read(&mut self, paddr: u64, size: u16, _: Tick) -> Result<u64, BusError> {
        Err(BusError { paddr, size })
    }
    fn device_write(&mut self, paddr: u64, size: u16, _: u64, _: Tick) -> Result<SysEffect, BusError> {
        Err(BusError { paddr, size })
    }
    fn is_device(&self, _: u64) -> bool {
        false
    }
    fn is_uncacheable(&self, _: u64) -> bool {
        false
    }
    fn irq_deadline(&self) -> Tick {
        Tick::MAX
    }
    fn irq_lines(&self, _: Tick) -> u64 {
        0
    }
    fn timer(&self, now: Tick) -> u64 {
        now.0 / 100_000
    }
    fn pseudo_op(
        &mut self,
        func: u8,
        args: [u64; 6],
        now: Now,
        _: &mut dyn FnMut(&mut PhysMem, u64, bool) -> Option<u64>,
    ) -> PseudoOutcome {
        if !now.drained {
            return PseudoOutcome::NeedsDrain;
        }
        let effect = match func {
            0x21 => SysEffect::Exit { cause: ExitCause::M5Exit, code: 0 },
            0x22 => SysEffect::Exit { cause: ExitCause::M5Fail, code: args[1] as i64 },
            0x40 => SysEffect::ResetStats,
            0x41 => SysEffect::DumpStats,
            _ => return PseudoOutcome::Unknown,
        };
        PseudoOutcome::Done { ret: None, effect }
    }
}

pub fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/gem5").join(name)
}

fn word(bytes: &[u8], at: usize, n: usize) -> u64 {
    bytes[at..at + n].iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}

/// Loads a reference ELF's segments into RAM at `base`, and tells where it begins. It is our own file: no hostile input here.
pub fn load_segments(name: &str, base: u64) -> (Platform, u64) {
    let elf = std::fs::read(data(name)).expect("the reference ELF is in the repository");
    let mut ram = PhysMem::new(base, 512 << 20).expect("RAM is mapped");
    let (entry, table) = (word(&elf, 24, 8), word(&elf, 32, 8) as usize);
    for i in 0..word(&elf, 56, 2) as usize {
        let p = table + i * word(&elf, 54, 2) as usize;
        if word(&elf, p, 4) == 1 {
            let (offset, paddr, size) = (word(&elf, p + 8, 8) as usize, word(&elf, p + 24, 8), word(&elf, p + 32, 8));
            ram.slice_mut(paddr, size)
                .expect("the segment lies in RAM")
                .copy_from_slice(&elf[offset..offset + size as usize]);
        }
    }
    (Platform { ram }, entry)
}

pub fn load_reference() -> (Platform, RiscvFrontEnd) {
    let (platform, entry) = load_segments("micro.rv64.elf", 0x8000_0000);
    let fe = RiscvFrontEnd::new(&RiscvConfig { reset_pc: entry, ..RiscvConfig::default() })
        .expect("the default hart builds");
    (platform, fe)
}

pub fn reference_memory() -> MemorySystemConfig {
    memory_reference::reference()
}

/// The same with its RAM elsewhere.
pub fn reference_memory_at(base: u64) -> MemorySystemConfig {
    let mut c = reference_memory();
    let ram = AddrRange { start: base, end: base + memory_reference::RAM.end - memory_reference::RAM.start };
    for m in &mut c.memories {
        if let MemoryConfig::Dram(d) = m {
            d.dram.range = ram;
        }
    }
    for route in c.xbars.iter_mut().flat_map(|x| &mut x.routes) {
        if route.range == Some(memory_reference::RAM) {
            route.range = Some(ram);
        }
    }
    c
}

/// The same without DRAM refresh.
pub fn memory_without_refresh() -> MemorySystemConfig {
    let mut c = reference_memory();
    for m in &mut c.memories {
        if let MemoryConfig::Dram(d) = m {
            d.dram.tREFI = 900_000_000_000;
        }
    }
    c
}

/// One region of interest: its statistics by name.
#[derive(Clone, Debug)]
pub struct Region {
    pub stats: Vec<(String, f64)>,
}

impl Region {
    pub fn get(&self, name: &str) -> f64 {
        self.stats.iter().find(|(n, _)| n == name).map_or(f64::NAN, |(_, v)| *v)
    }
}

/// A core that runs the reference program.
pub trait ReferenceCore {
    fn run(&mut self, cx: &mut CoreCtx<'_, RiscvFrontEnd, Platform>, budget: Budget) -> Stop;
    fn reset_stats(&mut self);
    fn collect(&self, sink: &mut StatSink);
}

macro_rules! reference_core {
    ($core:ty) => {
        impl ReferenceCore for $core {
            fn run(&mut self, cx: &mut CoreCtx<'_, RiscvFrontEnd, Platform>, budget: Budget) -> Stop {
                <$core>::run(self, cx, budget)
            }
            fn reset_stats(&mut self) {
                <$core>::reset_stats(self);
            }
            fn collect(&self, sink: &mut StatSink) {
                <$core>::collect(self, sink);
            }
        }
    };
}
reference_core!(Minor);
reference_core!(O3);

/// Runs the program to its end, one region a dump.
pub fn run_reference(core: &mut impl ReferenceCore, memory: MemorySystemConfig) -> Vec<Region> {
    let (mut bus, mut fe) = load_reference();
    let mut mem = MemorySystem::new(memory).expect("the reference memory builds");
    let budget = Budget { max_insts: 100_000_000, max_cycles: 1_000_000_000 };
    let mut regions = Vec::new();
    loop {
        let stop = core.run(&mut CoreCtx { fe: &mut fe, bus: &mut bus, mem: &mut mem }, budget);
        match stop {
            Stop::Effect(SysEffect::ResetStats) => {
                core.reset_stats();
                mem.reset_stats();
            }
            Stop::Effect(SysEffect::DumpStats) => {
                let mut sink = StatSink::new();
                core.collect(&mut sink);
                mem.collect(&mut sink);
                regions.push(Region { stats: sink.stats.into_iter().map(|s| (s.name, s.value)).collect() });
            }
            Stop::Effect(SysEffect::Exit { cause: ExitCause::M5Exit, .. }) => return regions,
            other => panic!("region {}: {other:?} (pc {:#x})", regions.len(), fe.pc()),
        }
    }
}

/// One row of gem5's measurements.
#[derive(Clone, Debug)]
pub struct Reference {
    pub kernel: String,
    pub values: Vec<(String, f64)>,
}

/// gem5's rows for one core, in the program's order.
pub fn gem5_rows(cpu: &str) -> Vec<Reference> {
    let text = std::fs::read_to_string(data("cycles-rv64.csv")).expect("gem5's cycles are in the repository");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let rows = lines.map(|l| l.split(',').collect::<Vec<_>>()).filter(|f| f[1] == cpu);
    rows.map(|f| Reference {
        kernel: f[0].to_owned(),
        values: names.iter().zip(&f).skip(2).map(|(n, v)| ((*n).to_owned(), v.parse().unwrap_or(f64::NAN))).collect(),
    })
    .collect()
}

impl Reference {
    pub fn get(&self, name: &str) -> f64 {
        self.values.iter().find(|(n, _)| n == name).map_or(f64::NAN, |(_, v)| *v)
    }
}
