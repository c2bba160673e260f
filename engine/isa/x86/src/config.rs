//! What a hart is built from. Every switch is a parameter of a CPU family, with gem5's artefacts among the values.

use std::collections::HashMap;
use std::sync::OnceLock;

use breakeven_base::{ConfigError, OpClass};
use iced_x86::Mnemonic;

pub use crate::string_config::{Pace, RepConfig, StringMode, CYCLE};

/// Extensions that CPUID reports; an instruction of one that is off raises #UD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // CPUID is a table of bits
pub struct Features {
    pub cmov: bool,
    pub mmx: bool,
    pub sse: bool,
    pub sse2: bool,
    pub sse3: bool,
    pub ssse3: bool,
    pub sse4_1: bool,
    pub sse4_2: bool,
    pub popcnt: bool,
    pub movbe: bool,
    pub lzcnt: bool,
    pub avx: bool,
    pub avx2: bool,
    /// AVX-512 F, BW, CD, DQ and VL.
    pub avx512: bool,
    pub bmi1: bool,
    pub bmi2: bool,
    pub adx: bool,
    pub clflush: bool,
    pub clflushopt: bool,
    pub clwb: bool,
    pub prefetchw: bool,
    pub rdtscp: bool,
    pub cx16: bool,
    pub erms: bool,
    pub fsrm: bool,
    pub smep: bool,
    pub smap: bool,
    pub fsgsbase: bool,
    pub pdpe1gb: bool,
}

impl Default for Features {
    /// Everything this front end executes.
    fn default() -> Self {
        Features {
            cmov: true,
            mmx: true,
            sse: true,
            sse2: true,
            sse3: true,
            ssse3: true,
            sse4_1: true,
            sse4_2: true,
            popcnt: true,
            movbe: true,
            lzcnt: true,
            avx: true,
            avx2: true,
            avx512: true,
            bmi1: true,
            bmi2: true,
            adx: true,
            clflush: true,
            clflushopt: true,
            clwb: true,
            prefetchw: true,
            rdtscp: true,
            cx16: true,
            erms: true,
            fsrm: true,
            smep: true,
            smap: true,
            fsgsbase: true,
            pdpe1gb: true,
        }
    }
}

/// What a reader of flags from several writers costs (`adc` after `dec`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FlagMerge {
    /// Flags are renamed apart; a reader waits for each group's writer.
    #[default]
    None,
    /// A merge micro-op before the reader.
    Uop,
    /// The reader waits until everything before its instruction has retired.
    Stall,
}

/// How instructions become micro-ops. The defaults are a recent Intel core's, without fusion by macro-op.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // switches
pub struct CrackConfig {
    /// gem5's microcode, micro-op by micro-op; no hardware has it.
    pub gem5_microcode: bool,
    /// A load with an operation, or a store's data with its address, take one slot up to the scheduler.
    pub micro_fusion: bool,
    /// Compare-and-branch pairs may merge: what may come first.
    pub fuse_cmp_test: bool,
    pub fuse_add_sub_and: bool,
    pub fuse_inc_dec: bool,
    /// A store is an address and a data micro-op; else one.
    pub split_stores: bool,
    /// push, pop, call and return move the stack pointer without a micro-op.
    pub stack_engine: bool,
    /// `xor r,r` and the like do not wait for their register; eliminated: nor do they execute.
    pub zero_idioms: bool,
    pub eliminate_zero_idioms: bool,
    /// Register moves are done by renaming.
    pub eliminate_moves: bool,
    pub flag_merge: FlagMerge,
    /// Latencies in cycles by mnemonic (lower case, Intel's spelling, as `adc`), 0: the functional unit's. Of `wbinvd`: cycles
    /// for each line of the caches (1 when not said: assumed).
    pub latency: Vec<(String, u8)>,
    /// Micro-ops of the operation itself (loads and stores not counted; of a move from or to memory: all) by mnemonic,
    /// where that is not 1.
    pub uops: Vec<(String, u8)>,
    /// The kind of unit by mnemonic, where that is not the usual one: for units that not every integer unit's port has.
    pub class: Vec<(String, OpClass)>,
    /// Cycles from the carry to the result by mnemonic, of an instruction of several micro-ops: only the last depends on the
    /// carry. 0: the latency from the other sources.
    pub carry_latency: Vec<(String, u8)>,
    /// Whether adding 0 to 32 or 64 bits of a register (only the carry is added) is one micro-op of one cycle, by mnemonic.
    pub simple_zero: Vec<(String, bool)>,
    /// One decoder alone makes several micro-ops, and it takes the first instruction of a cycle (4-1-1-1 and the like).
    pub first_decoder: bool,
    /// Widest memory micro-op in bytes: 8 for gem5, 16 to 64 for hardware. Wider accesses are split.
    pub max_access: u8,
    /// Widest store in bytes, where it is narrower than a load; 0: `max_access`.
    pub max_store: u8,
    /// Widest vector operation in bytes: one of 64 is two micro-ops where it is 32.
    pub max_operation: u8,
}

impl Default for CrackConfig {
    fn default() -> Self {
        CrackConfig {
            gem5_microcode: false,
            micro_fusion: true,
            fuse_cmp_test: false,
            fuse_add_sub_and: false,
            fuse_inc_dec: false,
            split_stores: true,
            stack_engine: true,
            zero_idioms: true,
            eliminate_zero_idioms: true,
            eliminate_moves: true,
            flag_merge: FlagMerge::None,
            latency: Vec::new(),
            uops: Vec::new(),
            class: Vec::new(),
            carry_latency: Vec::new(),
            simple_zero: Vec::new(),
            first_decoder: false,
            max_access: 32,
            max_store: 0,
            max_operation: 64,
        }
    }
}

impl CrackConfig {
    /// gem5's X86 decoder: one micro-op a store, no fusion, nothing eliminated, 8-byte accesses.
    #[must_use]
    pub fn gem5() -> Self {
        CrackConfig {
            gem5_microcode: true,
            micro_fusion: false,
            split_stores: false,
            stack_engine: false,
            eliminate_zero_idioms: false,
            zero_idioms: false,
            eliminate_moves: false,
            max_access: 8,
            ..CrackConfig::default()
        }
    }
}

/// One hart's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct X86Config {
    /// Where execution starts, in 64-bit mode at ring 0.
    pub reset_pc: u64,
    pub features: Features,
    /// CPUID's vendor, 12 characters.
    pub vendor: [u8; 12],
    /// CPUID's brand, at most 48 characters.
    pub brand: String,
    /// CPUID leaf 1 EAX: family, model, stepping.
    pub signature: u32,
    /// TSC ticks per 1024 core cycles (1024: the core's clock).
    pub tsc_ratio: u32,
    /// Cache line in bytes (CLFLUSH, CPUID).
    pub line: u16,
    pub crack: CrackConfig,
    pub rep: RepConfig,
}

impl Default for X86Config {
    fn default() -> Self {
        X86Config {
            reset_pc: 0x20_0000,
            features: Features::default(),
            vendor: *b"GenuineIntel",
            brand: "breakeven".into(),
            signature: 0x0005_06e3,
            tsc_ratio: 1024,
            line: 64,
            crack: CrackConfig::default(),
            rep: RepConfig::blocks(),
        }
    }
}

impl X86Config {
    /// # Errors
    /// A value that no hart can be built with, named.
    pub fn check(&self) -> Result<(), ConfigError> {
        let bad = |name: &str, what: String| Err(ConfigError::new(format!("x86.{name}"), what));
        if !self.line.is_power_of_two() || !(16..=256).contains(&self.line) {
            return bad("line", format!("{} is not a power of two between 16 and 256 bytes", self.line));
        }
        self.rep.check()?;
        if !matches!(self.crack.max_access, 8 | 16 | 32 | 64) {
            return bad("crack.max_access", format!("{} bytes; use 8, 16, 32 or 64", self.crack.max_access));
        }
        if !matches!(self.crack.max_store, 0 | 8 | 16 | 32 | 64) {
            return bad("crack.max_store", format!("{} bytes; use 8, 16, 32 or 64, or 0", self.crack.max_store));
        }
        if self.features.avx512 && !self.features.avx2 {
            return bad("features.avx512", "AVX-512 needs AVX2: switch both on or AVX-512 off".into());
        }
        if !matches!(self.crack.max_operation, 32 | 64) {
            return bad("crack.max_operation", format!("{} bytes; use 32 or 64", self.crack.max_operation));
        }
        if self.tsc_ratio == 0 {
            return bad("tsc_ratio", "0 would stop the time-stamp counter; 1024 is the core's clock".into());
        }
        if self.brand.len() > 48 {
            return bad("brand", format!("{} characters; CPUID has room for 48", self.brand.len()));
        }
        let known = |name: &str| mnemonic_named(name).is_some();
        let tables = self.crack.latency.iter().map(|t| ("crack.latency", &t.0));
        let tables = tables.chain(self.crack.uops.iter().map(|t| ("crack.uops", &t.0)));
        let tables = tables.chain(self.crack.carry_latency.iter().map(|t| ("crack.carry_latency", &t.0)));
        let tables = tables.chain(self.crack.simple_zero.iter().map(|t| ("crack.simple_zero", &t.0)));
        for (table, name) in tables.chain(self.crack.class.iter().map(|t| ("crack.class", &t.0))) {
            if !known(name) {
                return bad(
                    table,
                    format!("there is no instruction `{name}`; write mnemonics as `adc`, in lower case"),
                );
            }
        }
        Ok(())
    }
}

/// The mnemonic that a configuration names, e.g. `adc`.
pub(crate) fn mnemonic_named(name: &str) -> Option<Mnemonic> {
    static NAMES: OnceLock<HashMap<String, Mnemonic>> = OnceLock::new();
    let names = NAMES.get_or_init(|| Mnemonic::values().map(|m| (format!("{m:?}").to_lowercase(), m)).collect());
    names.get(name).copied()
}
