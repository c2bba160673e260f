//! The vector extension: RVV 1.0 as `V` defines it (ELEN 64, VLEN a parameter), after "RISC-V V Vector Extension 1.0".
//!
//! An instruction is decoded from its word when it executes ([`exec`]), works on the register file element by element, and
//! is cracked into micro-ops for what `vtype` and `vl` are at that moment ([`crack`]). What faults at element k has written
//! the elements before k and leaves `vstart` at k.
//!
//! | where the specification leaves a choice | here |
//! |---|---|
//! | agnostic tails and masked-off elements | left as they were |
//! | `vl` for an AVL between VLMAX and twice VLMAX | VLMAX |
//! | an arithmetic instruction with `vstart` other than 0 | begins there; reductions, `vcpop`, `vfirst`, `vmsbf`, `vmsif`, `vmsof`, `viota` and `vcompress` are illegal |
//! | unordered sums | in order |
//! | misaligned elements | as scalar accesses (`cpu.misaligned.policy`) |

mod config;
mod crack;
mod element;
mod fixed;
mod float;
mod float_estimate;
mod forms;
mod integer;
mod mask;
mod memory;
mod permute;
mod reduce;
mod text;
mod widen;

pub(crate) use config::Vtype;
pub(crate) use crack::Cracked;
pub(crate) use text::text;

use breakeven_base::{Bus, ConfigError, Now};

use crate::csr::status;
use crate::hart::{Hart, Stop};
use crate::inst::{Inst, Op};

/// Bits of a vector register, and of what the datapath handles in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorConfig {
    /// VLEN in bits: a power of two, 128..=1024.
    pub vlen: u32,
    /// DLEN in bits: a power of two, 64..=VLEN, at most 512. A memory micro-op moves at most this much.
    pub dlen: u32,
}

impl Default for VectorConfig {
    /// gem5's VLEN, and a datapath as wide.
    fn default() -> Self {
        VectorConfig { vlen: 256, dlen: 256 }
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
        Ok(())
    }
}

/// The vector state of a hart. Without vectors `vlenb` is 0 and the file empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct VectorUnit {
    /// Bytes of a register.
    pub vlenb: usize,
    /// Bytes of the datapath.
    pub dlenb: usize,
    /// v0..v31, one after the other: a register group is contiguous.
    pub file: Vec<u8>,
    pub vtype: Vtype,
    pub vl: u64,
    pub vstart: u64,
    pub vxrm: u8,
    pub vxsat: bool,
    /// Micro-ops of the instruction under way.
    pub cracked: Cracked,
    /// The files that open forks go back to, one after the other.
    saved: Vec<u8>,
}

/// What a fork keeps of the vector state beside the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SavedVector {
    vtype: Vtype,
    vl: u64,
    vstart: u64,
    vxrm: u8,
    vxsat: bool,
}

impl VectorUnit {
    pub fn new(config: Option<VectorConfig>) -> VectorUnit {
        let Some(c) = config else { return VectorUnit::default() };
        let vlenb = c.vlen as usize / 8;
        VectorUnit { vlenb, dlenb: c.dlen as usize / 8, file: vec![0; 32 * vlenb], ..VectorUnit::default() }
    }

    #[inline]
    pub fn exists(&self) -> bool {
        self.vlenb != 0
    }

    pub fn fork(&mut self) -> SavedVector {
        self.saved.extend_from_slice(&self.file);
        let (vtype, vl, vstart) = (self.vtype, self.vl, self.vstart);
        SavedVector { vtype, vl, vstart, vxrm: self.vxrm, vxsat: self.vxsat }
    }

    /// Back to the fork of depth `keep` + 1, whose state beside the file is `s`.
    pub fn rollback(&mut self, keep: usize, s: &SavedVector) {
        (self.vtype, self.vl, self.vstart) = (s.vtype, s.vl, s.vstart);
        (self.vxrm, self.vxsat) = (s.vxrm, s.vxsat);
        self.cracked.clear();
        let bytes = self.file.len();
        if let Some(file) = self.saved.get(keep * bytes..(keep + 1) * bytes) {
            self.file.copy_from_slice(file);
        }
        self.saved.truncate(keep * bytes);
    }
}

/// What an instruction that cannot be executed ends in; its value is put in by [`Hart::exec_vector`].
pub(crate) struct Illegal;
pub(crate) type Legal<T = ()> = Result<T, Illegal>;

/// [`Illegal`] unless `ok`.
#[inline]
pub(crate) fn legal(ok: bool) -> Legal {
    if ok {
        Ok(())
    } else {
        Err(Illegal)
    }
}

impl Hart {
    /// Executes a vector instruction. With `describe` its micro-ops are left in `vector.cracked`.
    #[inline(never)]
    pub(crate) fn exec_vector<B: Bus>(&mut self, bus: &mut B, now: &Now, i: &Inst, describe: bool) -> Result<(), Stop> {
        let illegal = Stop::Fault { cause: 2, tval: u64::from(i.raw) };
        if self.mstatus & status::VS == 0 {
            return Err(illegal);
        }
        self.vector.cracked.begin(describe);
        match i.op {
            Op::VecConfig => self.vector_config(i.raw),
            Op::VecLoad => self.vector_memory::<false, B>(bus, now, i.raw)?,
            Op::VecStore => self.vector_memory::<true, B>(bus, now, i.raw)?,
            _ => {
                self.vector_arith(i.raw).map_err(|Illegal| illegal)?;
                self.vector.vstart = 0;
            }
        }
        self.mstatus |= status::VS;
        self.vector.cracked.end();
        Ok(())
    }

    /// Everything of the major opcode OP-V but the vset instructions.
    fn vector_arith(&mut self, raw: u32) -> Legal {
        let f = forms::Form::new(raw);
        legal(!self.vector.vtype.vill || f.is_whole_move())?;
        match f.category {
            forms::Category::Integer => self.vector_integer(&f),
            forms::Category::Multiply => self.vector_multiply(&f),
            forms::Category::Float => self.vector_float(&f),
        }
    }
}
