//! The micro-ops of the vector instruction in progress, and the registers that they name.

use breakeven_base::{MemRef, OpClass, Reg, Uop, UopFlags, MAX_UOPS};

use crate::inst::F0;

type F = UopFlags;

/// v0's number among a micro-op's registers, behind the f registers.
const V0: u8 = 64;
/// `vl` and `vtype`, as one renamed register.
pub(crate) const VL: Reg = Reg(96);

/// Holds a segment load's data between its memory micro-ops and those that write the fields to their registers.
pub(crate) const TEMPORARY: Reg = Reg(97);

/// An x register (x0: none).
#[allow(non_snake_case)]
pub(crate) fn X(n: usize) -> Reg {
    Reg(n as u8)
}
/// An f register.
#[allow(non_snake_case)]
pub(crate) fn Freg(n: usize) -> Reg {
    Reg(F0 + n as u8)
}
/// A vector register.
#[allow(non_snake_case)]
pub(crate) fn V(n: usize) -> Reg {
    Reg(V0 + (n & 31) as u8)
}

/// The micro-ops of one instruction, and how many have been handed out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cracked {
    list: Vec<(Uop, MemRef)>,
    handed_out: usize,
    wanted: bool,
}

impl Cracked {
    pub fn clear(&mut self) {
        self.list.clear();
        self.handed_out = 0;
    }
    /// Begins an instruction; `wanted`: its micro-ops are.
    pub fn begin(&mut self, wanted: bool) {
        self.clear();
        self.wanted = wanted;
    }
    pub fn op(&mut self, class: OpClass, src: [Reg; 3], dst: [Reg; 2]) {
        self.push(Uop { class, latency: 0, src, dst, flags: UopFlags::empty() }, MemRef::default());
    }
    /// Micro-ops that hold a unit of `class` for so many cycles and do nothing else.
    pub fn beats(&mut self, class: OpClass, cycles: u32) {
        let flags = UopFlags::MICRO_FUSED;
        let beat = Uop { class, latency: 0, src: [Reg::NONE; 3], dst: [Reg::NONE; 2], flags };
        for _ in 0..cycles {
            self.push(beat, MemRef::default());
        }
    }
    pub fn push(&mut self, uop: Uop, mem: MemRef) {
        if self.wanted {
            self.list.push((uop, mem));
        }
    }
    /// Whether micro-ops are wanted at all.
    pub fn is_wanted(&self) -> bool {
        self.wanted
    }
    /// Marks the first and the last micro-op of the complete list.
    pub fn end(&mut self) {
        if !self.wanted {
            return;
        }
        if self.list.is_empty() {
            // An instruction without active elements still takes one micro-op.
            self.op(OpClass::SimdMisc, [VL, Reg::NONE, Reg::NONE], [Reg::NONE; 2]);
        }
        if let Some((first, _)) = self.list.first_mut() {
            first.flags = first.flags & !F::MICRO_FUSED | F::FIRST;
        }
        if let Some((last, _)) = self.list.last_mut() {
            last.flags |= F::LAST;
        }
    }
    /// Whether micro-ops are left for a further step.
    pub fn pending(&self) -> bool {
        self.handed_out < self.list.len()
    }
    /// Writes the micro-ops of the next step; returns how many.
    pub fn hand_out(&mut self, uops: &mut [Uop; MAX_UOPS], mem: &mut [MemRef; MAX_UOPS]) -> u8 {
        let rest = self.list.get(self.handed_out..).unwrap_or_default();
        let mut n = 0;
        for ((u, m), (from, reference)) in uops.iter_mut().zip(mem.iter_mut()).zip(rest) {
            (*u, *m) = (*from, *reference);
            n += 1;
        }
        // A step cannot begin with a micro-op that is fused to the one before.
        uops[0].flags &= !F::MICRO_FUSED;
        self.handed_out += usize::from(n);
        n
    }
}
