//! The vector extension: RVV 1.0 as `V` defines it (ELEN 64, VLEN a parameter), after "RISC-V V Vector Extension 1.0".
//!
//! An instruction is decoded from its word when it executes ([`exec`]), works on the register file element by element, and
//! is cracked into micro-ops for what `vtype` and `vl` are at that moment ([`crack`]), which are kept for its next time
//! ([`cracked`]). A fault at element k leaves the elements before k written and `vstart` at k.
//!
//! | where the specification leaves a choice | here |
//! |---|---|
//! | agnostic tails and masked-off elements | left as they were |
//! | `vl` for an AVL between VLMAX and twice VLMAX | VLMAX |
//! | an arithmetic instruction with `vstart` other than 0 | begins there; reductions, `vcpop`, `vfirst`, `vmsbf`, `vmsif`, `vmsof`, `viota` and `vcompress` are illegal |
//! | unordered sums | in order |
//! | misaligned elements | as scalar accesses (`cpu.misaligned.policy`) |

mod bulk;
mod config;
mod crack;
mod cracked;
mod element;
mod fixed;
mod float;
mod float_estimate;
mod forms;
mod gem5;
mod integer;
mod mask;
mod memory;
mod permute;
mod reduce;
mod text;
mod unit;
mod vtype;
mod widen;
mod zvbb;

pub(crate) use text::text;
pub(crate) use unit::{SavedVector, VectorUnit};
pub(crate) use zvbb::has;

use breakeven_base::{Bus, Now};

use crate::csr::status;
use crate::hart::{Hart, Stop};
use crate::inst::{Inst, Op};

/// The illegal-instruction exception; [`Hart::exec_vector`] adds its trap value.
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
        let v = &mut self.vector;
        v.cracked.begin(describe, i.raw, v.vtype, v.vl);
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

    /// All of the major opcode OP-V but the vset instructions.
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
