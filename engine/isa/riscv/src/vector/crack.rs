//! Micro-ops of vector instructions.
//!
//! Arithmetic is one micro-op a register of the widest group; where the datapath (DLEN) is
//! narrower than a register, each is followed by micro-ops that only occupy the unit for the further beats and carry the
//! result: they take no slot of their own (micro-fused). Memory is one micro-op a piece of DLEN for unit-stride accesses, one
//! an element for strided and indexed ones; with `whole_groups` a unit-stride access has beats for the elements of its group
//! beyond `vl`, too, as the C908 and X60 have it (rvv-bench's tables: vl = 1 takes the time of VLMAX). At most [`MAX_UOPS`] go into a step; a longer instruction takes several.
//!
//! [`VectorTiming`](crate::config::VectorTiming) adds beats: before the first one (start-up) and for each element that takes
//! more than a cycle. Chaining is which register a micro-op waits for, and which beat of a register carries it.
//!
//! A micro-op names at most three sources: the mask, or the old value of a destination that keeps elements, is named
//! where one of the three is free.

use breakeven_base::{MemRef, OpClass, Reg, Uop, UopFlags};

use super::cracked::{V, VL};
use super::element::registers;
use super::forms::{Form, Second};
use super::unit::VectorUnit;
use crate::config::Chaining;

type F = UopFlags;

/// Which registers of each group the successive micro-ops of an operation name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub class: OpClass,
    /// Logarithms of the registers in the groups of destination, `vs2` and `vs1`; `None`: not a group of its own.
    pub vd: Option<i8>,
    pub vs2: Option<i8>,
    pub vs1: Option<i8>,
    /// Reads its destination as an operand.
    pub accumulates: bool,
}

impl Shape {
    /// All groups of `lmul`.
    pub fn plain(class: OpClass, lmul: i8) -> Shape {
        Shape { class, vd: Some(lmul), vs2: Some(lmul), vs1: Some(lmul), accumulates: false }
    }
}

impl VectorUnit {
    /// How many of `n` registers, a group's, have elements before `vl`: at least one.
    pub fn registers_in_use(&self, n: usize) -> usize {
        let most = self.vlmax(self.vtype.sew, self.vtype.lmul).max(1) as usize;
        (self.vl as usize * n).div_ceil(most).clamp(1, n)
    }

    /// Of a source group of `n` registers, which one the micro-op for register `k` waits for.
    pub(super) fn awaited(&self, k: usize, n: usize) -> usize {
        match self.timing.chaining {
            Chaining::Group => k.max(self.registers_in_use(n) - 1),
            Chaining::Register | Chaining::Beat => k,
        }
    }

    /// The micro-ops of an operation of `shape`; `scalar` in place of `vs1` where that is not a vector.
    pub fn crack(&mut self, f: &Form, shape: &Shape, scalar: Reg) {
        if !self.cracked.is_wanted() {
            return;
        }
        if self.timing.gem5 {
            return self.crack_as_gem5(f, shape, scalar);
        }
        let groups = [shape.vd, shape.vs2, if f.second == Second::Vector { shape.vs1 } else { None }];
        let log_most = groups.iter().flatten().fold(0, |most, &l| most.max(l));
        let most = registers(log_most);
        // Both are powers of two, DLEN the smaller one.
        let beats = self.vlenb >> self.dlenb.trailing_zeros();
        // The k-th micro-op uses the register that holds its share of each group.
        let part = |lmul: Option<i8>, k: usize| lmul.map_or(0, |l| k >> (log_most - l.max(0)));
        let source = |u: &Self, lmul: Option<i8>, k: usize| u.awaited(part(lmul, k), lmul.map_or(1, registers));
        let short = self.timing.short_groups && !f.is_whole_move();
        let end = if short { self.registers_in_use(most) } else { most };
        let startup = self.timing.startup;
        self.cracked.beats(shape.class, startup);
        // The beat that carries the result.
        let carries = if self.timing.chaining == Chaining::Beat { 1 } else { beats };
        for k in 0..end {
            let dst = V(f.vd + part(shape.vd, k));
            let second = match f.second {
                Second::Vector if shape.vs1.is_some() => V(f.vs1 + source(self, shape.vs1, k)),
                _ => scalar,
            };
            // Micro-ops that write parts of one register depend on each other in order.
            let shared = shape.vd.is_none_or(|l| registers(l) < most) && k > 0;
            let third = if shape.accumulates || shared {
                dst
            } else if f.masked {
                V(0)
            } else {
                VL
            };
            let first = if shape.vs2.is_some() { V(f.vs2 + source(self, shape.vs2, k)) } else { Reg::NONE };
            for beat in 1..=beats {
                let result = if beat == carries { dst } else { Reg::NONE };
                let fused = if beat > 1 || startup > 0 && k == 0 { F::MICRO_FUSED } else { F::empty() };
                // Behind the beat that carries the result the sources may be overwritten, and have been waited for.
                let src = if beat > carries { [Reg::NONE; 3] } else { [first, second, third] };
                let uop = Uop { class: shape.class, latency: 0, src, dst: [result, Reg::NONE], flags: fused };
                self.cracked.push(uop, MemRef::default());
            }
        }
    }
}
