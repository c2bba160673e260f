//! Vector loads and stores: unit-stride (with mask, fault-only-first, whole-register and segment forms), strided, indexed.
//!
//! An element that faults leaves `vstart` at it and the elements before it done; fault-only-first shortens `vl` instead,
//! but for element 0. On a speculative path a reference that would fault is not made, as a scalar one is not.

use breakeven_base::{Bus, MemKind, MemRef, Now, OpClass, Reg, Uop, UopFlags};

use super::cracked::{TEMPORARY, V, VL, X};
use super::element::registers;
use super::{legal, Legal, VectorUnit};
use crate::hart::{Hart, Stop};
use crate::mem::reference;
use crate::mmu::PAGE;
use crate::pmp::Access;

/// Addressing modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
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
struct VectorAccess {
    mode: Mode,
    store: bool,
    masked: bool,
    vd: usize,
    base: u64,
    rs1: usize,
    /// `rs2`, `vs2`.
    second: usize,
    stride: u64,
    /// Width of a data element, and of an index.
    eew: u8,
    index_eew: u8,
    /// Logarithm of the registers of one field's group.
    emul: i8,
    fields: usize,
    /// Elements.
    vl: usize,
}

impl VectorAccess {
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
    fn address(&self, u: &VectorUnit, k: usize) -> u64 {
        match self.mode {
            Mode::Indexed => self.base.wrapping_add(u.get(self.second, k, self.index_eew)),
            _ => self.base.wrapping_add(self.stride.wrapping_mul(k as u64)),
        }
    }

    fn class(&self) -> OpClass {
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
    fn contiguous(&self) -> bool {
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
        let Ok(mut a) = VectorAccess::new(self, raw, STORE) else {
            return Err(Stop::Fault { cause: 2, tval: u64::from(raw) });
        };
        let first = self.vector.vstart as usize;
        let mut k = first;
        while k < a.vl {
            let bulk = self.bulk::<STORE, B>(bus, &a, k);
            if bulk > 0 {
                k += bulk;
                continue;
            }
            if let Err(stop) = self.one_element::<STORE, B>(bus, now, &a, k) {
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
        if self.vector.cracked.is_on() {
            self.crack_memory(bus, &a, first);
        }
        self.vector.vstart = 0;
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

    /// Moves the elements from `k` to the page's end at once, if they lie in RAM and no path's stores cover them. How many.
    fn bulk<const STORE: bool, B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, k: usize) -> usize {
        let vaddr = a.base.wrapping_add((k as u64) << a.eew);
        if !a.contiguous() || a.masked || self.speculative() || vaddr & ((1 << a.eew) - 1) != 0 {
            return 0;
        }
        let in_page = ((PAGE - vaddr % PAGE) >> a.eew) as usize;
        let n = (a.vl - k).min(in_page);
        let bytes = n << a.eew;
        let access = if STORE { Access::Store } else { Access::Load };
        let Ok(part) = self.data_part(bus, vaddr, bytes as u64, access) else { return 0 };
        let at = a.vd * self.vector.vlenb + (k << a.eew);
        let Some(file) = self.vector.file.get_mut(at..at + bytes) else { return 0 };
        if STORE {
            let words = (part.paddr & !7..part.paddr + bytes as u64).step_by(8);
            if words.into_iter().any(|w| bus.ram().watched(w)) {
                return 0;
            }
            match bus.ram_mut().slice_mut(part.paddr, bytes as u64) {
                Some(ram) => ram.copy_from_slice(file),
                None => return 0,
            }
        } else {
            match bus.ram().slice(part.paddr, bytes as u64) {
                Some(ram) => file.copy_from_slice(ram),
                None => return 0,
            }
        }
        n
    }

    /// The memory reference of `n` bytes at `vaddr`, for the pipeline.
    fn piece<B: Bus>(&mut self, bus: &mut B, vaddr: u64, n: u64, store: bool) -> MemRef {
        let (kind, access) = if store { (MemKind::Store, Access::Store) } else { (MemKind::Load, Access::Load) };
        let nowhere = MemRef { vaddr, size: n as u16, kind, ..MemRef::default() };
        let here = n.min(PAGE - vaddr % PAGE);
        let Ok(first) = self.data_part(bus, vaddr, here, access) else { return nowhere };
        if !bus.ram().contains(first.paddr, here) && self.speculative() {
            return nowhere;
        }
        let mut m = reference(vaddr, n, kind, first.shift, first.paddr, first.uncacheable);
        if here < n {
            match self.data_part(bus, vaddr.wrapping_add(here), n - here, access) {
                Ok(second) => m.paddr2 = second.paddr,
                Err(_) => return nowhere,
            }
        }
        m
    }

    /// The micro-ops, for elements from `first` on.
    fn crack_memory<B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, first: usize) {
        let flag = if a.store { UopFlags::STORE } else { UopFlags::LOAD };
        let class = a.class();
        let guard = if a.masked { V(0) } else { VL };
        let push = |h: &mut Hart, m: MemRef, data: Reg, to: Reg| {
            let src = if a.store { [X(a.rs1), data, guard] } else { [X(a.rs1), guard, data] };
            let uop = Uop { class, latency: 0, src, dst: [to, Reg::NONE], flags: flag };
            h.vector.cracked.push(uop, m);
        };
        if a.contiguous() {
            let (vlenb, dlenb) = (self.vector.vlenb, self.vector.dlenb);
            let end = a.vl << a.eew;
            let mut at = first << a.eew;
            while at < end {
                let stop = (at / dlenb + 1) * dlenb;
                let stop = stop.min(end);
                let used = !a.masked || (at >> a.eew..stop >> a.eew).any(|k| self.vector.bit(0, k));
                // The last piece of a register carries it.
                let reg = V(a.vd + at / vlenb);
                let last = stop % vlenb == 0 || stop == end;
                if used || last {
                    let m = self.piece(bus, a.base.wrapping_add(at as u64), (stop - at) as u64, a.store);
                    push(
                        self,
                        m,
                        if a.store { reg } else { Reg::NONE },
                        if last && !a.store { reg } else { Reg::NONE },
                    );
                }
                at = stop;
            }
            if self.vector.whole_groups && matches!(a.mode, Mode::Unit | Mode::FaultOnlyFirst) {
                // The unit spends beats on the rest of the group, too, without accesses.
                let beats = (registers(a.emul) * vlenb).saturating_sub(end.next_multiple_of(dlenb)).div_ceil(dlenb);
                for _ in 0..beats {
                    let flags = UopFlags::MICRO_FUSED;
                    let beat = Uop { class, latency: 0, src: [Reg::NONE; 3], dst: [Reg::NONE; 2], flags };
                    self.vector.cracked.push(beat, MemRef::default());
                }
            }
            return;
        }
        let index = if a.mode == Mode::Indexed { V(a.second) } else { Reg::NONE };
        let per_register = self.vector.vlenb >> a.eew;
        for k in first..a.vl {
            if self.vector.active(a.masked, k) {
                let vaddr = a.address(&self.vector, k);
                let m = self.piece(bus, vaddr, (a.fields as u64) << a.eew, a.store);
                let reg = V(a.vd + k / per_register);
                let last = k + 1 == a.vl || (k + 1) % per_register == 0;
                let (data, to) = match (a.store, a.fields) {
                    (true, _) => (reg, Reg::NONE),
                    (false, 1) => (index, if last { reg } else { Reg::NONE }),
                    (false, _) => (index, if k + 1 == a.vl { TEMPORARY } else { Reg::NONE }),
                };
                push(self, m, data, to);
            }
        }
        if !a.store && a.fields > 1 {
            // One micro-op per register writes the fields there.
            for reg in 0..a.fields * registers(a.emul) {
                let dst = V(a.vd + reg);
                self.vector.cracked.op(OpClass::SimdMisc, [TEMPORARY, dst, guard], [dst, Reg::NONE]);
            }
        }
    }
}
