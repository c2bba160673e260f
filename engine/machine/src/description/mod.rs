//! From a machine description (`docs/description.md`) to what the parts of the engine are built from.
//!
//! Everything wrong is collected and reported together, each with the path of the object or parameter. What this
//! engine does not model of gem5 is refused where it would change a result, and ignored where it would not.

mod branch;
mod cores;
mod graph;
mod memory;
mod o3;
mod policy;
mod prefetch;
mod process;
mod reader;
mod suggest;
mod x86;

use breakeven_base::units::Clock;
use breakeven_base::ConfigError;
use breakeven_cpu::minor::Minor;
use breakeven_cpu::o3::O3;
use breakeven_cpu::simple::{AtomicSimple, TimingSimple};
use breakeven_memory::config::AddrRange;
use breakeven_memory::{MemorySystem, MemorySystemConfig};
use breakeven_riscv::{Chaining, Extensions, MisalignedPolicy, RiscvConfig, VectorConfig, VectorTiming};
use serde_json::json;

pub use cores::CoreConfig;

use crate::core::{Core, Model};
use crate::isa::IsaConfig;
use crate::platform::{DeviceMap, PlatformConfig, CLINT_BASE, DEFAULT_TIME_HZ};
use crate::se::ProcessConfig;
use graph::Graph;
use reader::{Obj, Reader};
pub use reader::{Use, Used, Uses};

const CORES: &[&str] = &[
    "RiscvAtomicSimpleCPU",
    "RiscvTimingSimpleCPU",
    "RiscvMinorCPU",
    "RiscvO3CPU",
    "X86AtomicSimpleCPU",
    "X86TimingSimpleCPU",
    "X86MinorCPU",
    "X86O3CPU",
];

/// A machine that can be built.
#[derive(Clone, Debug)]
pub struct MachineConfig {
    /// Path of the core.
    pub cpu: String,
    pub clock: Clock,
    pub core: CoreConfig,
    pub isa: IsaConfig,
    pub memory: MemorySystemConfig,
    pub platform: PlatformConfig,
    /// gem5's `exit_on_work_items`: workbegin and workend stop the run.
    pub exit_on_work_items: bool,
    /// gem5's `max_insts_any_thread`; 0: none.
    pub max_insts: u64,
    /// What runs in user mode under syscall emulation; none: the guest is bare-metal.
    pub process: Option<ProcessConfig>,
}

/// Whether pipelined cores use memoized execution: unless `BREAKEVEN_MEMOIZE=off`. The same cycles and statistics either way.
fn memoizes() -> Result<bool, ConfigError> {
    const SWITCH: &str = "BREAKEVEN_MEMOIZE";
    match std::env::var_os(SWITCH) {
        None => Ok(true),
        Some(word) if word == "on" || word.is_empty() => Ok(true),
        Some(word) if word == "off" => Ok(false),
        Some(word) => {
            let word = word.to_string_lossy();
            Err(ConfigError::new(SWITCH, format!("'{word}' is no setting; on or off (on without it)")))
        }
    }
}

impl MachineConfig {
    /// Reads a description.
    ///
    /// # Errors
    /// Everything in it that cannot be built.
    pub fn parse(text: &str) -> Result<MachineConfig, Vec<ConfigError>> {
        let reader = Reader::new(Graph::parse(text)?);
        let config = machine(&reader);
        let errors = reader.errors();
        match config {
            Some(c) if errors.is_empty() => c.parts().map(|_| c),
            _ => Err(errors),
        }
    }

    /// The parameters that building this machine looks at, whether or not it can be built.
    ///
    /// # Errors
    /// A text that is no description.
    pub fn uses(text: &str) -> Result<Uses, Vec<ConfigError>> {
        let reader = Reader::noting(Graph::parse(text)?);
        let _ = machine(&reader);
        Ok(reader.into_uses())
    }

    /// The core and its memory at reset.
    ///
    /// # Errors
    /// Errors that only the components can find, of all of them.
    pub(crate) fn parts(&self) -> Result<(Core, MemorySystem), Vec<ConfigError>> {
        let memoizes = memoizes().map_err(|e| vec![e])?;
        let core = match &self.core {
            CoreConfig::Atomic(c) => AtomicSimple::new(c.clone()).map(|c| Model::Atomic(Box::new(c))),
            CoreConfig::Timing(c) => TimingSimple::new(c.clone()).map(|c| Model::Timing(Box::new(c))),
            CoreConfig::Minor(c, predictor) => Minor::new((**c).clone(), predictor.as_ref(), self.memory.line_bytes)
                .map(|mut c| {
                    c.memoize(memoizes);
                    Model::Minor(Box::new(c))
                }),
            CoreConfig::O3(c, predictor) => {
                O3::new((**c).clone(), predictor.as_ref(), self.memory.line_bytes).map(|mut c| {
                    c.memoize(memoizes);
                    Model::O3(Box::new(c))
                })
            }
        };
        let memory = MemorySystem::new(self.memory.clone());
        let isa = self.isa.check();
        match (core, memory, isa) {
            (Ok(model), Ok(m), Ok(())) => Ok((Core::new(model, self.clock, self.memory.line_bytes), m)),
            (c, m, i) => {
                Err(c.err().into_iter().flatten().chain(m.err().into_iter().flatten()).chain(i.err()).collect())
            }
        }
    }
}

/// The one object of a class; notes it when there is none or more than one.
fn the_only<'r>(reader: &'r Reader, class: &'static str, what: &str) -> Option<Obj<'r>> {
    let all: Vec<_> = reader.all(class).collect();
    match all.as_slice() {
        [one] => Some(*one),
        [] => {
            reader.error("description", format!("contains no {what}; a machine has exactly one"));
            None
        }
        [_, second, ..] => {
            second.error(format!("is a second {what}; this engine runs exactly one"));
            None
        }
    }
}

fn machine(reader: &Reader) -> Option<MachineConfig> {
    let system = the_only(reader, "System", "System");
    let cpu = the_only(reader, "BaseCPU", "core (BaseCPU)");
    let emulated = reader.all("Root").any(|root| !root.bool_or("full_system", true));
    let (system, cpu) = (system?, cpu?);
    let cpu_ok = cpu.expect_class("core", CORES);
    branch::common(cpu);
    let x86 = is_x86(cpu);
    let process = match emulated {
        true => process::process(system, cpu, x86),
        false => {
            bare_metal(system, x86);
            None
        }
    };
    let modes = ["timing", "atomic"];
    let mode = modes[system.choice_or("mem_mode", 0, &modes)];
    let wanted = if cpu.class().ends_with("AtomicSimpleCPU") { "atomic" } else { "timing" };
    if cpu_ok && mode != wanted {
        system.param_error("mem_mode", format!("is \"{mode}\"; a {} needs \"{wanted}\"", cpu.class()));
    }
    let memory = memory::memory_system(reader, system, cpu);
    let (scalar, vector) = (cores::misaligned(cpu), cores::vector_misaligned(cpu));
    let costs = (scalar.costs, vector.as_ref().map(|m| m.costs));
    let predictor = branch::predictor(cpu);
    let core = match cpu.class() {
        "RiscvAtomicSimpleCPU" | "X86AtomicSimpleCPU" => CoreConfig::Atomic(cores::simple(cpu, costs, predictor)),
        "RiscvTimingSimpleCPU" | "X86TimingSimpleCPU" => CoreConfig::Timing(cores::simple(cpu, costs, predictor)),
        "RiscvMinorCPU" | "X86MinorCPU" => CoreConfig::Minor(Box::new(cores::minor(cpu, costs)), predictor),
        "RiscvO3CPU" | "X86O3CPU" => CoreConfig::O3(Box::new(o3::o3(cpu, costs)), predictor),
        _ => return None,
    };
    let isa = if x86 {
        IsaConfig::X86(Box::new(x86::isa(system, cpu)))
    } else {
        IsaConfig::Riscv(isa(system, cpu, scalar.policy, vector.map(|m| m.policy)))
    };
    let platform = platform(reader, system, cpu, emulated)?;
    Some(MachineConfig {
        cpu: cpu.path().to_owned(),
        clock: Clock::new(cpu.clock_period()),
        core,
        isa,
        memory: memory?,
        platform,
        exit_on_work_items: system.bool_or("exit_on_work_items", false),
        max_insts: cpu.int_or("max_insts_any_thread", 0, 0..=u64::MAX),
        process,
    })
}

/// The instruction set is part of a core's class.
fn is_x86(cpu: Obj) -> bool {
    cpu.class().starts_with("X86")
}

fn bare_metal(system: Obj, x86: bool) {
    let known: &[&str] = if x86 { &["X86FsWorkload", "StubWorkload"] } else { &["RiscvBareMetal", "StubWorkload"] };
    let Some(w) = system.opt_ref("workload").filter(|w| w.expect_class("workload", known)) else { return };
    w.only("bare_metal", &json!(true), "guests are bare-metal");
    w.only("auto_reset_vect", &json!(true), "execution starts at the ELF's entry point");
    w.only("semihosting", &serde_json::Value::Null, "guests use HTIF or pseudo-ops");
}

/// What vector instructions take beside their units' latencies.
fn vector_timing(isa: Obj) -> VectorTiming {
    let cycles = |name, least| isa.u32_or(name, least, least..=64);
    let chaining = [Chaining::Group, Chaining::Register, Chaining::Beat];
    VectorTiming {
        whole_groups: isa.bool_or("whole_vector_groups", false),
        short_groups: isa.bool_or("short_vector_groups", false),
        chaining: chaining[isa.choice_or("vector_chaining", 1, &["none", "register", "beat"])],
        gem5: isa.bool_or("gem5VectorMicroOps", false),
        startup: cycles("vector_startup_cycles", 0),
        memory_startup: cycles("vector_memory_startup_cycles", 0),
        strided_cycles: cycles("strided_element_cycles", 1),
        indexed_cycles: cycles("indexed_element_cycles", 1),
        segment_cycles: cycles("segment_element_cycles", 1),
    }
}

/// Ztso: what the instruction set promises and the store queue keeps.
fn total_store_ordering(cpu: Obj) -> bool {
    !is_x86(cpu) && cpu.refs("isa").into_iter().any(|isa| isa.bool_or("enable_Ztso", false))
}

fn isa(
    system: Obj,
    cpu: Obj,
    misaligned: MisalignedPolicy,
    vector_misaligned: Option<MisalignedPolicy>,
) -> RiscvConfig {
    let mut extensions = Extensions::default();
    let mut vector = VectorConfig::default();
    for isa in cpu.refs("isa") {
        isa.expect_class("instruction set", &["RiscvISA"]);
        isa.only("riscv_type", &json!("RV64"), "harts are 64-bit");
        isa.only("privilege_mode_set", &json!("MSU"), "harts have M, S and U modes");
        extensions = Extensions {
            zba: isa.bool_or("enable_Zba", true),
            zbb: isa.bool_or("enable_Zbb", true),
            zbc: isa.bool_or("enable_Zbc", true),
            zbs: isa.bool_or("enable_Zbs", true),
            zicond: isa.bool_or("enable_Zicond", true),
            zicbom: isa.bool_or("enable_Zicbom_fs", true),
            zicboz: isa.bool_or("enable_Zicboz_fs", true),
            v: isa.bool_or("enable_rvv", true),
            // Zvbb includes Zvkb.
            zvkb: isa.bool_or("enable_Zvkb", false) | isa.bool_or("enable_Zvbb", false),
            zvbb: isa.bool_or("enable_Zvbb", false),
            ztso: total_store_ordering(cpu),
            clmul_latency: isa.u32_or("clmul_latency", 0, 0..=255) as u8,
        };
        isa.only("elen", &json!(64), "vector elements have at most 64 bits");
        let vlen = isa.u32_or("vlen", 256, 128..=1024);
        let dlen = isa.u32_or("dlen", 0, 0..=512);
        vector = VectorConfig { vlen, dlen: if dlen == 0 { vlen.min(512) } else { dlen }, timing: vector_timing(isa) };
    }
    let pmp = cpu.opt_ref("mmu").and_then(|m| m.opt_ref("pmp"));
    RiscvConfig {
        misaligned,
        vector_misaligned,
        extensions,
        vector,
        cbo_block: system.pow2("cache_line_size", 16..=256),
        pmp_entries: pmp.map_or(16, |p| p.u32_or("pmp_entries", 16, 0..=64)) as usize,
        ..RiscvConfig::default()
    }
}

/// RAM is what the memories hold: one contiguous range.
fn ram(reader: &Reader, system: Obj) -> Option<AddrRange> {
    let mut ranges: Vec<AddrRange> = reader.all("AbstractMemory").flat_map(|m| m.ranges("range")).collect();
    ranges.sort_by_key(|r| r.start);
    let (first, last) = (ranges.first()?, ranges.last()?);
    let whole = AddrRange { start: first.start, end: last.end };
    if let Some(w) = ranges.windows(2).find(|w| w[0].end != w[1].start) {
        system.error(format!(
            "its memories {:#x}..{:#x} and {:#x}..{:#x} must follow each other without a gap or an overlap",
            w[0].start, w[0].end, w[1].start, w[1].end
        ));
        return None;
    }
    Some(whole)
}

fn platform(reader: &Reader, system: Obj, cpu: Obj, emulated: bool) -> Option<PlatformConfig> {
    let Some(memory) = ram(reader, system) else {
        system.error("has no memory (a MemCtrl with a DRAM interface, or a SimpleMemory) with a range");
        return None;
    };
    // A host cannot map more lazily than this, and guests link at 2 GiB.
    const LARGEST: u64 = 64 << 30;
    let size = memory.end - memory.start;
    if size > LARGEST || (memory.start | memory.end) & 4095 != 0 {
        system.error(format!(
            "its memory {:#x}..{:#x} must start and end at multiples of 4096 and hold at most {} GiB",
            memory.start,
            memory.end,
            LARGEST >> 30
        ));
        return None;
    }
    for asked in system.ranges("mem_ranges") {
        if asked.start < memory.start || asked.end > memory.end {
            system
                .param_error("mem_ranges", format!("{:#x}..{:#x} is not covered by a memory", asked.start, asked.end));
        }
    }
    let devices = if emulated {
        DeviceMap::NONE
    } else if is_x86(cpu) {
        DeviceMap::x86()
    } else {
        let clint = reader.all("Clint").next();
        DeviceMap::riscv(clint.map_or(CLINT_BASE, |c| c.int_or("pio_addr", CLINT_BASE, 0..=u64::MAX - (1 << 20))))
    };
    let config = PlatformConfig {
        memory,
        uncacheable: cpu.opt_ref("mmu").and_then(|m| m.opt_ref("pma_checker")).map(|p| p.ranges("uncacheable")).unwrap_or_default(),
        devices,
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in range by the check
        time_hz: reader
            .all("RiscvRTC")
            .next()
            .map_or(DEFAULT_TIME_HZ, |r| r.float_or("frequency", DEFAULT_TIME_HZ as f64, 1.0..=1e12) as u64),
    };
    if let Some((name, base)) = config.device_inside_ram() {
        system.error(format!(
            "its memory {:#x}..{:#x} covers the {name} at {base:#x}; start it at 0x80000000",
            memory.start, memory.end
        ));
    }
    Some(config)
}
