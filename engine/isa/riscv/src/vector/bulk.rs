//! Vector accesses that move many bytes at once: contiguous elements within a page, and accesses that come again.

use breakeven_base::Bus;

use super::cracked::UnitStride;
use super::memory::{Mode, VectorAccess};
use crate::config::Chaining;
use crate::hart::Hart;
use crate::mmu::PAGE;
use crate::pmp::Access;

impl Hart {
    /// Moves the elements from `k` to the page's end at once, if they lie in RAM. How many.
    pub(super) fn bulk<const STORE: bool, B: Bus>(&mut self, bus: &mut B, a: &VectorAccess, k: usize) -> usize {
        let vaddr = a.base.wrapping_add((k as u64) << a.eew);
        if !a.contiguous() || a.masked || vaddr & ((1 << a.eew) - 1) != 0 {
            return 0;
        }
        let in_page = ((PAGE - vaddr % PAGE) >> a.eew) as usize;
        let n = (a.vl - k).min(in_page);
        let bytes = n << a.eew;
        let access = if STORE { Access::Store } else { Access::Load };
        let Ok(part) = self.data_part(bus, vaddr, bytes as u64, access) else { return 0 };
        let at = a.vd * self.vector.vlenb + (k << a.eew);
        if self.move_bytes::<STORE, B>(bus, part.paddr, at, bytes) {
            n
        } else {
            0
        }
    }

    /// Moves `bytes` between RAM and the file from `at` on, all at once. False: it could not, and may have moved some of them.
    #[inline]
    fn move_bytes<const STORE: bool, B: Bus>(&mut self, bus: &mut B, paddr: u64, at: usize, bytes: usize) -> bool {
        if self.speculative() {
            return self.bulk_on_path::<STORE, B>(bus, paddr, at, bytes).is_some();
        }
        let Some(file) = self.vector.file.get_mut(at..at + bytes) else { return false };
        if !STORE {
            let ram = bus.ram().slice(paddr, bytes as u64);
            return ram.map(|ram| file.copy_from_slice(ram)).is_some();
        }
        if bus.ram().watches_any(paddr, bytes as u64) {
            return false;
        }
        bus.ram_mut().slice_mut(paddr, bytes as u64).map(|ram| ram.copy_from_slice(file)).is_some()
    }

    /// Moves `bytes` between RAM as a speculative path sees it and the file from `at` on, by words. `None`: it could not,
    /// and may have moved some of them.
    fn bulk_on_path<const STORE: bool, B: Bus>(
        &mut self,
        bus: &mut B,
        paddr: u64,
        at: usize,
        bytes: usize,
    ) -> Option<()> {
        bus.ram().contains(paddr, bytes as u64).then_some(())?;
        for offset in (0..bytes).step_by(8) {
            let n = (bytes - offset).min(8);
            let (word, here) = (paddr + offset as u64, at + offset);
            if STORE {
                let mut value = [0; 8];
                value[..n].copy_from_slice(self.vector.file.get(here..here + n)?);
                self.write_bytes(bus.ram_mut(), word, n as u64, u64::from_le_bytes(value))?;
            } else {
                let value = self.read_bytes(bus.ram(), word, n as u64)?.to_le_bytes();
                self.vector.file.get_mut(here..here + n)?.copy_from_slice(&value[..n]);
            }
        }
        Some(())
    }

    /// Keeps the micro-ops of `a` for its next time, where they will differ in the base only.
    pub(super) fn keep(&mut self, a: &VectorAccess, first: usize) {
        let timing = &self.vector.timing;
        let by_lines = timing.chaining == Chaining::Beat && !timing.gem5;
        let plain = a.contiguous() && !a.masked && a.mode != Mode::FaultOnlyFirst && first == 0 && !by_lines;
        let bytes = a.vl << a.eew;
        if !plain || bytes == 0 || a.base % PAGE + bytes as u64 > PAGE {
            return self.vector.cracked.do_not_keep();
        }
        let at = a.vd * self.vector.vlenb;
        let access = UnitStride { rs1: a.rs1, base: a.base, at, bytes, element: 1 << a.eew };
        self.vector.cracked.keep_access(access);
    }

    /// Makes an access again whose micro-ops were kept, from another base. False: it needs more than a page that is known.
    #[inline]
    pub(super) fn access_again<const STORE: bool, B: Bus>(&mut self, bus: &mut B) -> bool {
        let Some(a) = self.vector.cracked.access() else { return false };
        let base = self.regs[a.rs1];
        let page = *self.xlat.tlb.entry(STORE, self.xlat.bank, base);
        let known = page.tag == base & !(PAGE - 1) && base % PAGE + a.bytes as u64 <= PAGE;
        if !known || base & (a.element - 1) != 0 || self.vector.vstart != 0 {
            return false;
        }
        if !self.move_bytes::<STORE, B>(bus, base.wrapping_add(page.delta), a.at, a.bytes) {
            return false;
        }
        self.vector.cracked.move_references(base, &page);
        true
    }
}
