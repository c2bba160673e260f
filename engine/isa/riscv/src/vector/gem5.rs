//! gem5's micro-ops of vector instructions, under `gem5VectorMicroOps`.
//! Fact source: gem5 24.0 `src/arch/riscv/isa/templates/vector_{arith,mem}.isa`, `insts/vector.{hh,cc}`.
//!
//! - Arithmetic is one micro-op a register of the widest group that has elements before `vl`.
//! - Each reads its destination's old value, as tails and masked-off elements stay.
//! - A comparison's results go to temporaries; a micro-op more merges them into the mask.
//! - A unit-stride access is one micro-op a register, whatever the datapath is (here at most 64 bytes).
//! - Strided and indexed accesses go element by element, each micro-op reading the register that the one before it wrote.
//! - A segment access moves registers to and from temporaries; as many micro-ops again take fields apart or together.
//! - Without elements it is one micro-op without effect.
//!
//! A micro-op names three of gem5's four sources: where all are taken, the mask is left out. Elements that the mask leaves
//! out have no micro-op here. gem5 predicts vset as a branch whose target holds `vl` and `vtype`: not modelled.

use breakeven_base::{Bus, MemRef, OpClass, Reg, Uop, UopFlags};

use super::crack::Shape;
use super::cracked::{TEMPORARY, V, VL, X};
use super::element::registers;
use super::forms::{Form, Second};
use super::memory::{Mode, VectorAccess};
use super::unit::VectorUnit;
use crate::hart::Hart;

/// Bytes of the widest access: a line of gem5's default.
const WIDEST: usize = 64;

impl VectorUnit {
    /// As [`VectorUnit::crack`].
    pub(super) fn crack_as_gem5(&mut self, f: &Form, shape: &Shape, scalar: Reg) {
        let groups = [shape.vd, shape.vs2, if f.second == Second::Vector { shape.vs1 } else { None }];
        let most = groups.iter().flatten().map(|&l| registers(l)).max().unwrap_or(1);
        let end = match self.vl {
            _ if f.is_whole_move() => most,
            0 => 0,
            _ => self.registers_in_use(most),
        };
        let part = |lmul: Option<i8>, k: usize| lmul.map_or(0, |l| k * registers(l) / most);
        let to_mask = shape.vd.is_none();
        for k in 0..end {
            let old = V(f.vd + part(shape.vd, k));
            let mask = if f.masked { V(0) } else { Reg::NONE };
            let second = match f.second {
                Second::Vector if shape.vs1.is_some() => V(f.vs1 + part(shape.vs1, k)),
                Second::Scalar => scalar,
                _ => mask,
            };
            let first = if shape.vs2.is_some() { V(f.vs2 + part(shape.vs2, k)) } else { mask };
            let result = if to_mask { TEMPORARY } else { old };
            self.cracked.op(shape.class, [first, second, old], [result, Reg::NONE]);
        }
        if to_mask && end > 0 {
            self.cracked.op(OpClass::SimdAdd, [TEMPORARY, V(f.vd), Reg::NONE], [V(f.vd), Reg::NONE]);
        }
    }
}

impl Hart {
    /// As [`Hart::crack_memory`].
    pub(super) fn crack_memory_as_gem5<B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, first: usize) {
        if a.contiguous() {
            self.registers_as_gem5(bus, a, first);
        } else if a.mode == Mode::Unit || a.mode == Mode::FaultOnlyFirst {
            self.segments_as_gem5(bus, a);
        } else {
            self.elements_as_gem5(bus, a, first);
        }
        if a.mode == Mode::FaultOnlyFirst {
            // vl ends at the first fault.
            let last = V(a.vd + registers(a.emul) - 1);
            self.vector.cracked.op(OpClass::SimdConfig, [V(a.vd), last, VL], [VL, Reg::NONE]);
        }
    }

    fn access_as_gem5(&mut self, a: &VectorAccess, m: MemRef, second: Reg, third: Reg, to: Reg) {
        let flags = if a.store { UopFlags::STORE } else { UopFlags::LOAD };
        let uop = Uop { class: a.class(), latency: 0, src: [X(a.rs1), second, third], dst: [to, Reg::NONE], flags };
        self.vector.cracked.push(uop, m);
    }

    /// A register at a time.
    fn registers_as_gem5<B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, first: usize) {
        let (vlenb, end) = (self.vector.vlenb, a.vl << a.eew);
        let step = vlenb.min(WIDEST);
        let mask = if a.masked { V(0) } else { Reg::NONE };
        let mut at = first << a.eew;
        while at < end {
            let stop = ((at / step + 1) * step).min(end);
            let m = self.piece(bus, a, a.base.wrapping_add(at as u64), (stop - at) as u64);
            let reg = V(a.vd + at / vlenb);
            self.access_as_gem5(a, m, reg, mask, if a.store { Reg::NONE } else { reg });
            at = stop;
        }
    }

    /// An element at a time.
    fn elements_as_gem5<B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, first: usize) {
        let vlenb = self.vector.vlenb;
        for k in first..a.vl {
            if !self.vector.active(a.masked, k) {
                continue;
            }
            let vaddr = a.address(&self.vector, k);
            let second = match a.mode {
                Mode::Indexed => V(a.second + (k << a.index_eew) / vlenb),
                _ => X(a.second),
            };
            for field in 0..a.fields {
                let m = self.piece(bus, a, vaddr.wrapping_add((field as u64) << a.eew), 1 << a.eew);
                let reg = V(a.vd + field * registers(a.emul) + (k << a.eew) / vlenb);
                self.access_as_gem5(a, m, second, reg, if a.store { Reg::NONE } else { reg });
            }
        }
    }

    /// Unit-stride segments: whole registers, and micro-ops that take fields apart or together.
    fn segments_as_gem5<B: Bus>(&mut self, bus: &mut B, a: &VectorAccess) {
        let (vlenb, end) = (self.vector.vlenb, (a.vl * a.fields) << a.eew);
        let step = vlenb.min(WIDEST);
        let in_use = (a.vl << a.eew).div_ceil(vlenb);
        let group = registers(a.emul);
        let vd = a.vd;
        let fields = || (0..a.fields * in_use).map(move |n| V(vd + n / in_use * group + n % in_use));
        let mask = if a.masked { V(0) } else { Reg::NONE };
        if a.store {
            for reg in fields() {
                self.vector.cracked.op(OpClass::SimdAdd, [reg, TEMPORARY, Reg::NONE], [TEMPORARY, Reg::NONE]);
            }
        }
        for at in (0..end).step_by(step) {
            let m = self.piece(bus, a, a.base.wrapping_add(at as u64), step.min(end - at) as u64);
            self.access_as_gem5(a, m, TEMPORARY, mask, if a.store { Reg::NONE } else { TEMPORARY });
        }
        if !a.store {
            for reg in fields() {
                self.vector.cracked.op(OpClass::SimdAdd, [TEMPORARY, reg, Reg::NONE], [reg, Reg::NONE]);
            }
        }
    }
}
