//! Vector loads and stores: unit-stride (with mask, fault-only-first, whole-register and segment forms), strided, indexed.
//!
//! An element that faults leaves `vstart` at it and the elements before it done; fault-only-first shortens `vl` instead,
//! but for element 0. On a speculative path a reference that would fault is not made, as a scalar one is not.

use breakeven_base::{Bus, MemKind, MemRef, Now, OpClass, PhysAddr, Reg, Uop, UopFlags};

use super::cracked::{TEMPORARY, V, VL, X};
use super::element::registers;
use super::{legal, Legal, VectorUnit};
use crate::config::Chaining;
use crate::hart::{Hart, Stop};
use crate::mmu::PAGE;
use crate::pmp::Access;

/// Addressing modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Unit,
    /// vlm.v, vsm.v
    Mask,
    FaultOnlyFirst,
    Whole,
    Strided,
    Indexed,
}

/// A vector load or store, decoded for the present `vtype` and `vl`.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorAccess {
    pub(super) mode: Mode,
    pub(super) store: bool,
    pub(super) masked: bool,
    pub(super) vd: usize,
    pub(super) base: u64,
    pub(super) rs1: usize,
    /// `rs2`, `vs2`.
    pub(super) second: usize,
    pub(super) stride: u64,
    /// Width of a data element, and of an index.
    pub(super) eew: u8,
    pub(super) index_eew: u8,
    /// Logarithm of the registers of one field's group.
    pub(super) emul: i8,
    pub(super) fields: usize,
    /// Elements.
    pub(super) vl: usize,
}

impl VectorAccess {
    #[inline(always)]
    fn new(h: &Hart, raw: u32, store: bool) -> Legal<VectorAccess> {
        let t = h.vector.vtype;
        let second = (raw >> 20 & 31) as usize;
        let width = match raw >> 12 & 7 {
            0 => 0,
            w => (w - 4) as u8,
        };
        legal(raw >> 28 & 1 == 0)?;
        let mode = match (raw >> 26 & 3, second) {
            (0, 0) => Mode::Unit,
            (0, 8) => Mode::Whole,
            (0, 0x0b) => Mode::Mask,
            (0, 0x10) if !store => Mode::FaultOnlyFirst,
            (0, _) => return Err(super::Illegal),
            (2, _) => Mode::Strided,
            _ => Mode::Indexed,
        };
        let rs1 = (raw >> 15 & 31) as usize;
        let mut a = VectorAccess {
            mode,
            store,
            masked: raw >> 25 & 1 == 0,
            vd: (raw >> 7 & 31) as usize,
            base: h.regs[rs1],
            rs1,
            second,
            stride: 0,
            eew: width,
            index_eew: width,
            emul: 0,
            fields: (raw >> 29) as usize + 1,
            vl: h.vector.vl as usize,
        };
        match mode {
            Mode::Whole => {
                legal(!a.masked && a.fields.is_power_of_two() && (!store || width == 0))?;
                a.emul = a.fields.trailing_zeros() as i8;
                a.fields = 1;
                a.vl = (h.vector.vlenb << a.emul) >> width;
                a.stride = 1 << width;
                VectorUnit::aligned(a.vd, a.emul)?;
                return Ok(a);
            }
            Mode::Mask => {
                legal(!a.masked && a.fields == 1 && width == 0)?;
                a.vl = a.vl.div_ceil(8);
            }
            Mode::Indexed => (a.eew, a.emul) = (t.sew, t.lmul),
            _ => a.emul = t.lmul + width as i8 - t.sew as i8,
        }
        legal(!t.vill)?;
        a.check_groups(t.lmul + width as i8 - t.sew as i8, t.sew)?;
        a.stride = match mode {
            Mode::Strided => h.regs[second],
            _ => (a.fields as u64) << a.eew,
        };
        Ok(a)
    }

    fn check_groups(&self, index_lmul: i8, sew: u8) -> Legal {
        VectorUnit::aligned(self.vd, self.emul)?;
        let all = self.fields * registers(self.emul);
        legal(all <= 8 && self.vd + all <= 32)?;
        legal(self.store || !self.masked || self.vd != 0)?;
        if self.mode == Mode::Indexed {
            VectorUnit::aligned(self.second, index_lmul)?;
            if !self.store {
                let index = (self.second, index_lmul);
                for field in 0..self.fields {
                    let vd = self.vd + field * registers(self.emul);
                    if self.fields > 1 {
                        let apart = vd + registers(self.emul) <= index.0 || index.0 + registers(index.1) <= vd;
                        legal(apart)?;
                    }
                    VectorUnit::overlap((vd, self.emul), sew as i8, index, self.index_eew as i8)?;
                }
            }
        }
        Ok(())
    }

    /// Address of field 0 of element `k`.
    pub(super) fn address(&self, u: &VectorUnit, k: usize) -> u64 {
        match self.mode {
            Mode::Indexed => self.base.wrapping_add(u.get(self.second, k, self.index_eew)),
            _ => self.base.wrapping_add(self.stride.wrapping_mul(k as u64)),
        }
    }

    pub(super) fn class(&self) -> OpClass {
        use OpClass::*;
        let (load, store) = match self.mode {
            Mode::Mask => (SimdUnitStrideMaskLoad, SimdUnitStrideMaskStore),
            Mode::Whole => (SimdWholeRegisterLoad, SimdWholeRegisterStore),
            Mode::Indexed => (SimdIndexedLoad, SimdIndexedStore),
            // Segments go element by element; gem5's default units know no segmented classes.
            _ if self.fields > 1 => (SimdStridedLoad, SimdStridedStore),
            Mode::Strided => (SimdStridedLoad, SimdStridedStore),
            Mode::FaultOnlyFirst => (SimdUnitStrideFaultOnlyFirstLoad, SimdUnitStrideStore),
            Mode::Unit => (SimdUnitStrideLoad, SimdUnitStrideStore),
        };
        if self.store {
            store
        } else {
            load
        }
    }

    /// Whether the elements are contiguous in memory: no stride, no fields between them.
    pub(super) fn contiguous(&self) -> bool {
        self.fields == 1 && !matches!(self.mode, Mode::Strided | Mode::Indexed)
    }
}

impl Hart {
    pub(super) fn vector_memory<const STORE: bool, B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        raw: u32,
    ) -> Result<(), Stop> {
        if self.vector.cracked.is_kept() {
            if self.access_again::<STORE, B>(bus) {
                return Ok(());
            }
            self.vector.cracked.restart();
        }
        let Ok(mut a) = VectorAccess::new(self, raw, STORE) else {
            return Err(Stop::Fault { cause: 2, tval: u64::from(raw) });
        };
        let first = self.vector.vstart as usize;
        self.vector.accesses = true;
        let moved = self.elements::<STORE, B>(bus, now, &mut a, first);
        self.vector.accesses = false;
        moved?;
        if self.vector.cracked.is_wanted() {
            self.crack_memory(bus, &a, first);
            self.keep(&a, first);
        }
        self.vector.vstart = 0;
        Ok(())
    }

    /// Moves all elements from `first` on.
    fn elements<const STORE: bool, B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        a: &mut VectorAccess,
        first: usize,
    ) -> Result<(), Stop> {
        let mut k = first;
        while k < a.vl {
            let bulk = self.bulk::<STORE, B>(bus, a, k);
            if bulk > 0 {
                k += bulk;
                continue;
            }
            if let Err(stop) = self.one_element::<STORE, B>(bus, now, a, k) {
                if a.mode == Mode::FaultOnlyFirst && k > 0 && matches!(stop, Stop::Fault { .. }) {
                    self.vector.vl = k as u64;
                    a.vl = k;
                    break;
                }
                self.vector.vstart = k as u64;
                return Err(stop);
            }
            k += 1;
        }
        Ok(())
    }

    /// All fields of element `k`.
    fn one_element<const STORE: bool, B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        a: &VectorAccess,
        k: usize,
    ) -> Result<(), Stop> {
        if !self.vector.active(a.masked, k) {
            return Ok(());
        }
        let at = a.address(&self.vector, k);
        let mut m = MemRef::default();
        for field in 0..a.fields {
            let vaddr = at.wrapping_add((field as u64) << a.eew);
            let reg = a.vd + field * registers(a.emul);
            if STORE {
                let v = self.vector.get(reg, k, a.eew);
                match a.eew {
                    0 => self.store::<false, u8, B>(bus, now, vaddr, v, &mut m)?,
                    1 => self.store::<false, u16, B>(bus, now, vaddr, v, &mut m)?,
                    2 => self.store::<false, u32, B>(bus, now, vaddr, v, &mut m)?,
                    _ => self.store::<false, u64, B>(bus, now, vaddr, v, &mut m)?,
                }
            } else {
                let v = match a.eew {
                    0 => self.load::<false, u8, B>(bus, now, vaddr, &mut m)?,
                    1 => self.load::<false, u16, B>(bus, now, vaddr, &mut m)?,
                    2 => self.load::<false, u32, B>(bus, now, vaddr, &mut m)?,
                    _ => self.load::<false, u64, B>(bus, now, vaddr, &mut m)?,
                };
                self.vector.set(reg, k, a.eew, v);
            }
        }
        Ok(())
    }

    /// The memory reference of `n` bytes at `vaddr`, for the pipeline.
    #[inline]
    pub(super) fn piece<B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, vaddr: u64, n: u64) -> MemRef {
        let known = self.xlat.tlb.entry(a.store, self.xlat.bank, vaddr);
        if known.tag == vaddr & !(PAGE - 1) && n <= PAGE - vaddr % PAGE {
            let kind = if a.store { MemKind::Store } else { MemKind::Load };
            let paddr = vaddr.wrapping_add(known.delta);
            let m = MemRef::in_one_page(vaddr, n, kind, known.shift, paddr, known.uncacheable);
            return MemRef { element: 1 << a.eew, ..m };
        }
        self.piece_anywhere(bus, a, vaddr, n)
    }

    /// [`Hart::piece`] where the page is not known or not the only one.
    #[inline(never)]
    fn piece_anywhere<B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, vaddr: u64, n: u64) -> MemRef {
        let (kind, access) = if a.store { (MemKind::Store, Access::Store) } else { (MemKind::Load, Access::Load) };
        let element = 1 << a.eew;
        let nowhere = MemRef { vaddr, size: n as u16, kind, element, ..MemRef::default() };
        let here = n.min(PAGE - vaddr % PAGE);
        let Ok(first) = self.data_part(bus, vaddr, here, access) else { return nowhere };
        if !bus.ram().contains(first.paddr, here) && self.speculative() {
            return nowhere;
        }
        let mut m = MemRef::in_one_page(vaddr, n, kind, first.shift, first.paddr, first.uncacheable);
        m.element = element;
        if here < n {
            match self.data_part(bus, vaddr.wrapping_add(here), n - here, access) {
                Ok(second) => m.paddr2 = PhysAddr(second.paddr),
                Err(_) => return nowhere,
            }
        }
        m
    }

    /// The micro-ops, for elements from `first` on.
    fn crack_memory<B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, first: usize) {
        if self.vector.timing.gem5 {
            return self.crack_memory_as_gem5(bus, a, first);
        }
        let startup = self.vector.timing.memory_startup;
        self.vector.cracked.beats(a.class(), startup);
        if a.contiguous() {
            self.crack_pieces(bus, a, first);
        } else {
            self.crack_elements(bus, a, first);
        }
    }

    /// The mask, where there is one.
    fn mask_source(a: &VectorAccess) -> Reg {
        if a.masked {
            V(0)
        } else {
            VL
        }
    }

    /// One micro-op of `a`, of its class: where it goes, what it stores or needs beside the base, what it writes.
    #[inline]
    fn push_access(&mut self, a: &VectorAccess, class: OpClass, m: MemRef, data: Reg, to: Reg) {
        let mask_source = Self::mask_source(a);
        let src = if a.store { [X(a.rs1), data, mask_source] } else { [X(a.rs1), mask_source, data] };
        let flags = if a.store { UopFlags::STORE } else { UopFlags::LOAD };
        self.vector.cracked.push(Uop { class, latency: 0, src, dst: [to, Reg::NONE], flags }, m);
    }

    /// Unit-stride accesses: a micro-op a piece of DLEN.
    fn crack_pieces<B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, first: usize) {
        // Both are powers of two.
        let (log_vlenb, dlenb) = (self.vector.vlenb.trailing_zeros(), self.vector.dlenb);
        let in_register = self.vector.vlenb - 1;
        let (start, end) = (first << a.eew, a.vl << a.eew);
        let groups_last = end.saturating_sub(1) >> log_vlenb;
        let (class, chaining) = (a.class(), self.vector.timing.chaining);
        let beats = chaining == Chaining::Beat && !a.masked;
        let mut at = start;
        while at < end {
            let stop = ((at | (dlenb - 1)) + 1).min(end);
            let used = !a.masked || (at >> a.eew..stop >> a.eew).any(|k| self.vector.bit(0, k));
            let reg = V(a.vd + (at >> log_vlenb));
            let last = stop & in_register == 0 || stop == end;
            // The last piece of a register carries it; the first, where beats chain and all come with one line.
            let carries = if beats && self.in_one_line(a, at & !in_register, end) {
                at & in_register == 0 || at == start
            } else {
                last
            };
            if used || last {
                let m = self.piece(bus, a, a.base.wrapping_add(at as u64), (stop - at) as u64);
                let data = match chaining {
                    Chaining::Group => V(a.vd + groups_last),
                    Chaining::Register | Chaining::Beat => reg,
                };
                let (data, to) = if a.store { (data, Reg::NONE) } else { (Reg::NONE, reg) };
                self.push_access(a, class, m, data, if carries { to } else { Reg::NONE });
            }
            at = stop;
        }
        if self.vector.timing.whole_groups && matches!(a.mode, Mode::Unit | Mode::FaultOnlyFirst) {
            // The unit spends beats on the rest of the group, too, without accesses.
            let beats = |bytes: usize| (bytes + dlenb - 1) >> dlenb.trailing_zeros();
            let rest = beats(registers(a.emul) << log_vlenb).saturating_sub(beats(end));
            self.vector.cracked.beats(class, rest as u32);
        }
    }

    /// Whether the register whose bytes begin at `from` of an access of `end` bytes lies in one cache line.
    #[inline]
    fn in_one_line(&self, a: &VectorAccess, from: usize, end: usize) -> bool {
        let last = (from + self.vector.vlenb).min(end).max(from + 1) - 1;
        let address = |at: usize| a.base.wrapping_add(at as u64);
        // A line is a power of two.
        (address(from) ^ address(last)) < self.options.cbo_block
    }

    /// Strided, indexed and segment accesses: a micro-op an element.
    fn crack_elements<B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, first: usize) {
        let timing = self.vector.timing;
        let cycles = match a.mode {
            _ if a.fields > 1 => timing.segment_cycles,
            Mode::Indexed => timing.indexed_cycles,
            _ => timing.strided_cycles,
        };
        let (class, per_register) = (a.class(), self.vector.vlenb >> a.eew);
        for k in first..a.vl {
            if self.vector.active(a.masked, k) {
                let vaddr = a.address(&self.vector, k);
                let m = self.piece(bus, a, vaddr, (a.fields as u64) << a.eew);
                let group = registers(a.emul);
                let reg = V(a.vd + k / per_register);
                let data = V(a.vd + self.vector.awaited(k / per_register, group));
                let indices = (k << a.index_eew) / self.vector.vlenb;
                let index = if a.mode == Mode::Indexed { V(a.second + indices) } else { Reg::NONE };
                let last = k + 1 == a.vl || (k + 1) % per_register == 0;
                let (data, to) = match (a.store, a.fields) {
                    (true, _) => (data, Reg::NONE),
                    (false, 1) => (index, if last { reg } else { Reg::NONE }),
                    (false, _) => (index, if k + 1 == a.vl { TEMPORARY } else { Reg::NONE }),
                };
                self.push_access(a, class, m, data, to);
                self.vector.cracked.beats(class, cycles.saturating_sub(1));
            }
        }
        if !a.store && a.fields > 1 {
            // One micro-op per register writes the fields there.
            for reg in 0..a.fields * registers(a.emul) {
                let dst = V(a.vd + reg);
                self.vector.cracked.op(OpClass::SimdMisc, [TEMPORARY, dst, Self::mask_source(a)], [dst, Reg::NONE]);
            }
        }
    }
}
