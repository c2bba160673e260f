//! The micro-ops of the vector instruction in progress, and the registers that they name.

use breakeven_base::data_tlb::DataPage;
use breakeven_base::{MemRef, OpClass, PhysAddr, Reg, Uop, UopFlags, MAX_UOPS};

use super::vtype::Vtype;
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

/// Lists kept: a power of two, more than the vector instructions of most loops.
const KEPT: usize = 32;

/// What an instruction's micro-ops follow from, but for the accesses that [`Cracked::do_not_keep`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Key {
    raw: u32,
    vtype: Vtype,
    vl: u64,
}

/// An access of a list that is kept: unit-stride, without a mask, in one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitStride {
    pub rs1: usize,
    /// What the references of the list go out from.
    pub base: u64,
    /// Its place in the register file, and how many bytes.
    pub at: usize,
    pub bytes: usize,
    /// Bytes of an element.
    pub element: u64,
}

/// The micro-ops of an instruction.
#[derive(Clone, Debug, Default)]
struct List {
    key: Option<Key>,
    access: Option<UnitStride>,
    uops: Vec<(Uop, MemRef)>,
}

/// The micro-ops of the instruction in progress, how many have been handed out, and lists of earlier ones: an instruction that
/// comes again with the same `vtype` and `vl` is not cracked again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cracked {
    lists: Vec<List>,
    key: Key,
    current: usize,
    /// Micro-ops to hand out, and handed out, of the current list.
    len: usize,
    handed_out: usize,
    wanted: bool,
    /// The current list is an earlier one.
    kept: bool,
    do_not_keep: bool,
}

impl Cracked {
    /// For a hart with vectors.
    pub fn new() -> Cracked {
        Cracked { lists: vec![List::default(); KEPT], ..Cracked::default() }
    }
    /// No instruction is in progress.
    pub fn clear(&mut self) {
        (self.len, self.handed_out) = (0, 0);
    }
    /// Begins an instruction; `wanted`: its micro-ops are.
    #[inline]
    pub fn begin(&mut self, wanted: bool, raw: u32, vtype: Vtype, vl: u64) {
        self.clear();
        (self.wanted, self.kept, self.do_not_keep) = (wanted, false, false);
        if wanted {
            self.key = Key { raw, vtype, vl };
            self.current = (raw.wrapping_mul(0x9e37_79b1) >> 16) as usize % KEPT;
            self.kept = self.lists[self.current].key == Some(self.key);
            if !self.kept {
                self.restart();
            }
        }
    }
    /// Whether the list is there from an earlier time.
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.kept
    }
    /// Cracks the instruction again, though its list had been kept.
    pub fn restart(&mut self) {
        self.kept = false;
        let list = &mut self.lists[self.current];
        (list.key, list.access) = (None, None);
        list.uops.clear();
    }
    /// The list follows from more than the key.
    pub fn do_not_keep(&mut self) {
        self.do_not_keep = true;
    }
    /// The access whose list was kept.
    #[inline]
    pub fn access(&self) -> Option<UnitStride> {
        self.lists[self.current].access
    }
    /// Keeps the list of `access`, if all its references go somewhere.
    pub fn keep_access(&mut self, access: UnitStride) {
        let list = &mut self.lists[self.current];
        list.access = Some(access);
        self.do_not_keep |= list.uops.iter().any(|(uop, m)| uop.flags.any(F::MEM) && !m.valid);
    }
    /// The kept access is made from `base`, in `page`.
    #[inline]
    pub fn move_references(&mut self, base: u64, page: &DataPage) {
        let List { access: Some(access), uops, .. } = &mut self.lists[self.current] else { return };
        let by = base.wrapping_sub(access.base);
        access.base = base;
        for (_, m) in uops {
            m.vaddr = m.vaddr.wrapping_add(by);
            m.paddr = PhysAddr(m.vaddr.wrapping_add(page.delta));
            (m.page_shift, m.uncacheable) = (page.shift, page.uncacheable);
        }
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
    #[inline]
    pub fn push(&mut self, uop: Uop, mem: MemRef) {
        if self.is_wanted() {
            self.lists[self.current].uops.push((uop, mem));
        }
    }
    /// Whether micro-ops are to be made.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted && !self.kept
    }
    /// Marks the first and the last micro-op of the complete list.
    #[inline]
    pub fn end(&mut self) {
        if self.is_wanted() {
            self.complete();
        }
        if self.wanted {
            self.len = self.lists[self.current].uops.len();
        }
    }
    fn complete(&mut self) {
        let list = &mut self.lists[self.current];
        list.key = (!self.do_not_keep).then_some(self.key);
        if list.uops.is_empty() {
            // An instruction without active elements still takes one micro-op.
            let (class, src) = (OpClass::SimdMisc, [VL, Reg::NONE, Reg::NONE]);
            let uop = Uop { class, latency: 0, src, dst: [Reg::NONE; 2], flags: F::empty() };
            list.uops.push((uop, MemRef::default()));
        }
        if let Some((first, _)) = list.uops.first_mut() {
            first.flags = first.flags & !F::MICRO_FUSED | F::FIRST;
        }
        if let Some((last, _)) = list.uops.last_mut() {
            last.flags |= F::LAST;
        }
    }
    /// Whether micro-ops are left for a further step.
    #[inline]
    pub fn pending(&self) -> bool {
        self.handed_out < self.len
    }
    /// [`breakeven_base::Step::decoded`] of the next step: what its micro-ops follow from, in one number.
    #[inline]
    pub fn decoded(&self) -> u64 {
        let Key { raw, vtype, vl } = self.key;
        // `vl` is 8192 at most. The opcode's two low bits are always set.
        let fits = self.handed_out < 1 << 11 && !vtype.vill;
        if !fits || self.lists[self.current].key.is_none() {
            return 0;
        }
        1 << 63 | vtype.bits() << 55 | vl << 41 | (self.handed_out as u64) << 30 | u64::from(raw >> 2)
    }
    /// Writes the micro-ops of the next step, and the references of those that have one; returns how many.
    #[inline]
    pub fn hand_out(&mut self, uops: &mut [Uop; MAX_UOPS], mem: &mut [MemRef; MAX_UOPS]) -> u8 {
        let rest = self.lists[self.current].uops.get(self.handed_out..).unwrap_or_default();
        let mut n = 0;
        for ((u, m), (from, reference)) in uops.iter_mut().zip(mem.iter_mut()).zip(rest) {
            *u = *from;
            if from.flags.any(F::MEM) {
                *m = *reference;
            }
            n += 1;
        }
        // A step cannot begin with a micro-op that is fused to the one before.
        uops[0].flags &= !F::MICRO_FUSED;
        self.handed_out += usize::from(n);
        n
    }
}
