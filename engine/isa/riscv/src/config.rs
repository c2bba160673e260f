//! What a hart is built from.

use std::ops::Range;

use breakeven_base::ConfigError;

/// What happens to a load or store, or to an element of a vector's, whose address is not a multiple of its size.
/// Atomic instructions always trap, as the architecture wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MisalignedPolicy {
    /// Done by the load-store unit, everywhere.
    Hardware,
    /// Raises the address-misaligned exception before translation: the guest's handler runs.
    Trap,
    /// Done functionally; the core charges what a firmware handler would cost.
    Emulate,
    /// gem5's `PMAChecker.misaligned`: done in hardware inside these physical ranges, the exception elsewhere.
    /// With no range the exception comes before translation, else after it.
    Pma(Vec<Range<u64>>),
}

/// What decoding depends on: optional extensions (IMAFDC, Zicsr, Zifencei, Zicntr and Zicbop, hints, are always there) and
/// what a core makes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extensions {
    pub zba: bool,
    pub zbb: bool,
    pub zbc: bool,
    pub zbs: bool,
    pub zicond: bool,
    pub zicbom: bool,
    pub zicboz: bool,
    /// The vector extension; its sizes are [`RiscvConfig::vector`].
    pub v: bool,
    /// Zvkb: of Zvbb the instructions that cryptography wants (vandn, vbrev8, vrev8, vrol, vror). They need `v`, too.
    pub zvkb: bool,
    /// What Zvbb has beyond Zvkb.
    pub zvbb: bool,
    /// Total store ordering: fences that it makes redundant order nothing more, atomics order as with aq and rl.
    pub ztso: bool,
    /// Cycles of clmul, clmulh and clmulr; 0: their unit's, an ALU's as in gem5's decoder.
    pub clmul_latency: u8,
}

impl Extensions {
    /// Every instruction.
    pub const ALL: Extensions = Extensions {
        zba: true,
        zbb: true,
        zbc: true,
        zbs: true,
        zicond: true,
        zicbom: true,
        zicboz: true,
        v: true,
        zvkb: true,
        zvbb: true,
        ztso: false,
        clmul_latency: 0,
    };
}

impl Default for Extensions {
    fn default() -> Self {
        Extensions { zba: true, v: false, zvkb: false, zvbb: false, ..Extensions::ALL }
    }
}

/// Beyond this a vector instruction's cost is a typing error.
const MOST_CYCLES: u32 = 64;

/// Bits of a vector register, and of what the datapath handles in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorConfig {
    /// VLEN in bits: a power of two, 128..=1024.
    pub vlen: u32,
    /// DLEN in bits: a power of two, 64..=VLEN, at most 512. A memory micro-op moves at most this much.
    pub dlen: u32,
    pub timing: VectorTiming,
}

/// When a vector instruction that reads a register may begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chaining {
    /// When its whole source group has been written: no chaining.
    Group,
    /// Register by register: as each is complete, as gem5's micro-ops have it.
    #[default]
    Register,
    /// Beat by beat: when the first DLEN bits of a register are there, as vector machines chain. A load's register chains so
    /// where its pieces lie in one line.
    Beat,
}

/// What vector instructions take beside their units' latencies. The default is gem5's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorTiming {
    /// A unit-stride access takes the time of its whole register group, whatever `vl` is.
    pub whole_groups: bool,
    /// Arithmetic leaves out the registers of a group that lie wholly behind `vl`.
    pub short_groups: bool,
    pub chaining: Chaining,
    /// Cycles for which an instruction of arithmetic, and one of memory, holds its unit before its first beat.
    pub startup: u32,
    pub memory_startup: u32,
    /// gem5's micro-ops: the rest of this, and DLEN, count for nothing.
    pub gem5: bool,
    /// Cycles of an element of a strided, an indexed and a segment access: at least 1.
    pub strided_cycles: u32,
    pub indexed_cycles: u32,
    pub segment_cycles: u32,
}

impl Default for VectorTiming {
    fn default() -> Self {
        VectorTiming {
            whole_groups: false,
            short_groups: false,
            chaining: Chaining::Register,
            gem5: false,
            startup: 0,
            memory_startup: 0,
            strided_cycles: 1,
            indexed_cycles: 1,
            segment_cycles: 1,
        }
    }
}

impl Default for VectorConfig {
    /// gem5's VLEN, and a datapath as wide.
    fn default() -> Self {
        VectorConfig { vlen: 256, dlen: 256, timing: VectorTiming::default() }
    }
}

impl VectorConfig {
    /// # Errors
    /// Sizes that no vector unit can have.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !self.vlen.is_power_of_two() || !(128..=1024).contains(&self.vlen) {
            let why = format!("{} bits; VLEN is a power of two between 128 and 1024", self.vlen);
            return Err(ConfigError::new("riscv.vlen", why));
        }
        if !self.dlen.is_power_of_two() || !(64..=self.vlen.min(512)).contains(&self.dlen) {
            let why = format!("{} bits; DLEN is a power of two between 64 and VLEN, at most 512", self.dlen);
            return Err(ConfigError::new("riscv.dlen", why));
        }
        let t = &self.timing;
        let cycles = [
            ("vector_startup_cycles", t.startup, 0),
            ("vector_memory_startup_cycles", t.memory_startup, 0),
            ("strided_element_cycles", t.strided_cycles, 1),
            ("indexed_element_cycles", t.indexed_cycles, 1),
            ("segment_element_cycles", t.segment_cycles, 1),
        ];
        for (name, value, least) in cycles {
            if !(least..=MOST_CYCLES).contains(&value) {
                let why = format!("{value} cycles; between {least} and {MOST_CYCLES} make sense");
                return Err(ConfigError::new(format!("riscv.{name}"), why));
            }
        }
        Ok(())
    }
}

/// One hart's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RiscvConfig {
    /// Where execution starts, in M-mode with translation off.
    pub reset_pc: u64,
    pub hart_id: u64,
    pub misaligned: MisalignedPolicy,
    /// Of elements of vector loads and stores; `None`: as scalar accesses.
    pub vector_misaligned: Option<MisalignedPolicy>,
    pub extensions: Extensions,
    /// Bytes that a cbo instruction acts on: a power of two, 8..=4096.
    pub cbo_block: u64,
    /// PMP entries: 0, 16 or 64.
    pub pmp_entries: usize,
    /// What `extensions.v` is built with.
    pub vector: VectorConfig,
}

impl Default for RiscvConfig {
    fn default() -> Self {
        RiscvConfig {
            reset_pc: 0x8000_0000,
            hart_id: 0,
            misaligned: MisalignedPolicy::Hardware,
            vector_misaligned: None,
            extensions: Extensions::default(),
            cbo_block: 64,
            pmp_entries: 16,
            vector: VectorConfig::default(),
        }
    }
}

impl RiscvConfig {
    /// # Errors
    /// A value that no hart can be built with, named.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !self.cbo_block.is_power_of_two() || !(8..=4096).contains(&self.cbo_block) {
            return Err(ConfigError::new(
                "riscv.cbo_block",
                format!("{} is not a power of two between 8 and 4096 bytes; use the cache line size", self.cbo_block),
            ));
        }
        if !matches!(self.pmp_entries, 0 | 16 | 64) {
            return Err(ConfigError::new(
                "riscv.pmp_entries",
                format!("{} entries cannot be built; the architecture allows 0, 16 or 64", self.pmp_entries),
            ));
        }
        self.vector.check()?;
        if self.reset_pc & 1 != 0 {
            return Err(ConfigError::new(
                "riscv.reset_pc",
                format!("{:#x} is odd; instructions start at even addresses", self.reset_pc),
            ));
        }
        for policy in [Some(&self.misaligned), self.vector_misaligned.as_ref()].into_iter().flatten() {
            let MisalignedPolicy::Pma(ranges) = policy else { continue };
            if let Some(r) = ranges.iter().find(|r| r.start >= r.end) {
                return Err(ConfigError::new(
                    "pma_checker.misaligned",
                    format!("range {:#x}..{:#x} is empty; the end must lie above the start", r.start, r.end),
                ));
            }
        }
        Ok(())
    }
}
