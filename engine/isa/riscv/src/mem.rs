//! Loads and stores: a direct-mapped functional TLB for the common case, and the slow path for everything else
//! (misses, misaligned and page-crossing accesses, devices, HTIF, speculative paths).

use breakeven_base::data_tlb::{is_plain, DataPage, BANK};
use breakeven_base::phys::Word;
use breakeven_base::{Bus, MemKind, MemRef, Now, PhysAddr, SysEffect, Tick};

use crate::config::MisalignedPolicy;
use crate::csr::status;
use crate::hart::{Hart, Stop};
use crate::mmu::{access_fault, PAGE};
use crate::mode::Mode;
use crate::pmp::Access;

/// One page's part of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub paddr: u64,
    pub shift: u8,
    pub uncacheable: bool,
}

impl Hart {
    pub(crate) fn data_bank(&self) -> usize {
        let mxr = usize::from(self.mstatus & status::MXR != 0);
        let sum = usize::from(self.mstatus & status::SUM != 0);
        BANK * match self.data_mode() {
            Mode::M => 0,
            Mode::S => 1 + sum + 2 * mxr,
            Mode::U => 5 + mxr,
        }
    }

    /// Loads `T`, zero-extended. `m` is filled in when `FAST` is off.
    #[inline(always)]
    pub(crate) fn load<const FAST: bool, T: Word, B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        vaddr: u64,
        m: &mut MemRef,
    ) -> Result<u64, Stop> {
        let e = self.xlat.tlb.entry(false, self.xlat.bank, vaddr);
        if e.tag == vaddr & (!(PAGE - 1) | (T::SIZE - 1)) && (FAST || !self.speculative()) {
            let paddr = vaddr.wrapping_add(e.delta);
            if let Some(v) = bus.ram().read::<T>(paddr) {
                if !FAST {
                    *m = MemRef::in_one_page(vaddr, T::SIZE, MemKind::Load, e.shift, paddr, e.uncacheable);
                }
                return Ok(v.to_u64());
            }
        }
        self.load_slow(bus, now, vaddr, T::SIZE, m)
    }

    /// Stores the low bytes of `value` as `T`.
    #[inline(always)]
    pub(crate) fn store<const FAST: bool, T: Word, B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        vaddr: u64,
        value: u64,
        m: &mut MemRef,
    ) -> Result<(), Stop> {
        let e = self.xlat.tlb.entry(true, self.xlat.bank, vaddr);
        if e.tag == vaddr & (!(PAGE - 1) | (T::SIZE - 1)) && (FAST || !self.speculative()) {
            let paddr = vaddr.wrapping_add(e.delta);
            if bus.ram_mut().write::<T>(paddr, T::from_u64(value)).is_some() {
                if !FAST {
                    *m = MemRef::in_one_page(vaddr, T::SIZE, MemKind::Store, e.shift, paddr, e.uncacheable);
                }
                return Ok(());
            }
        }
        self.store_slow(bus, now, vaddr, T::SIZE, value, m)
    }

    /// A fault raises its exception; on a speculative path the reference is dropped instead.
    fn fault_or_drop(&self, cause: u8, tval: u64, size: u64, kind: MemKind, m: &mut MemRef) -> Result<u64, Stop> {
        if !self.speculative() {
            return Err(Stop::Fault { cause, tval });
        }
        *m = MemRef { vaddr: tval, size: size as u16, kind, ..MemRef::default() };
        Ok(0)
    }

    /// Translates and checks `n` bytes inside one page, and caches the translation when it may be cached.
    #[inline]
    pub(crate) fn data_part<B: Bus>(&mut self, bus: &mut B, vaddr: u64, n: u64, access: Access) -> Result<Part, u8> {
        let e = self.xlat.tlb.entry(access == Access::Store, self.xlat.bank, vaddr);
        if e.tag == vaddr & !(PAGE - 1) {
            let paddr = vaddr.wrapping_add(e.delta);
            return Ok(Part { paddr, shift: e.shift, uncacheable: e.uncacheable });
        }
        self.look_up_part(bus, vaddr, n, access)
    }

    /// [`Hart::data_part`] where the page is not known.
    #[inline(never)]
    fn look_up_part<B: Bus>(&mut self, bus: &mut B, vaddr: u64, n: u64, access: Access) -> Result<Part, u8> {
        let mode = self.data_mode();
        let x = self.translate(bus, vaddr, access, mode, !self.speculative())?;
        if !self.xlat.pmp.allows(x.paddr, n, access, mode) {
            return Err(access_fault(access));
        }
        let uncacheable = bus.is_uncacheable(x.paddr);
        let is_store = access == Access::Store;
        if x.ad_bits_set && is_plain(bus, x.paddr, is_store) && self.xlat.pmp.uniform(x.paddr & !(PAGE - 1)) {
            self.xlat.tlb.keep(is_store, self.xlat.bank, DataPage::of(vaddr, x.paddr, x.shift, uncacheable));
        }
        Ok(Part { paddr: x.paddr, shift: x.shift, uncacheable })
    }

    /// The address-misaligned exceptions of the policy: before translation (`paddr` unknown) and after it.
    fn misaligned_traps(&self, paddr: Option<(u64, u64)>) -> bool {
        let policy = if self.vector.accesses { &self.options.vector_misaligned } else { &self.options.misaligned };
        match (policy, paddr) {
            (MisalignedPolicy::Trap, _) => true,
            (MisalignedPolicy::Hardware | MisalignedPolicy::Emulate, _) => false,
            (MisalignedPolicy::Pma(ranges), None) => ranges.is_empty(),
            (MisalignedPolicy::Pma(ranges), Some((p, n))) => {
                !ranges.iter().any(|r| r.start <= p && p < r.end && n <= r.end - p)
            }
        }
    }

    /// Both parts of an access that may cross a page; the error is a cause and the address to report.
    fn data_parts<B: Bus>(
        &mut self,
        bus: &mut B,
        vaddr: u64,
        size: u64,
        access: Access,
    ) -> Result<(Part, u64, Option<Part>), (u8, u64)> {
        let misaligned = vaddr & (size - 1) != 0;
        let cause = if access == Access::Store { 6 } else { 4 };
        if misaligned && self.misaligned_traps(None) {
            return Err((cause, vaddr));
        }
        let here = size.min(PAGE - (vaddr & (PAGE - 1)));
        let first = self.data_part(bus, vaddr, here, access).map_err(|c| (c, vaddr))?;
        let mut second = None;
        if here < size {
            let next = vaddr.wrapping_add(here);
            second = Some(self.data_part(bus, next, size - here, access).map_err(|c| (c, next))?);
        }
        if misaligned {
            let rest = second.map(|p| (p.paddr, size - here));
            let traps =
                self.misaligned_traps(Some((first.paddr, here))) || (rest.is_some() && self.misaligned_traps(rest));
            if traps {
                return Err((cause, vaddr));
            }
        }
        Ok((first, here, second))
    }

    #[inline(never)]
    fn load_slow<B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        vaddr: u64,
        size: u64,
        m: &mut MemRef,
    ) -> Result<u64, Stop> {
        let (first, here, second) = match self.data_parts(bus, vaddr, size, Access::Load) {
            Ok(parts) => parts,
            Err((cause, tval)) => return self.fault_or_drop(cause, tval, size, MemKind::Load, m),
        };
        let low = self.read_bytes(bus.ram(), first.paddr, here);
        let value = match (low, second) {
            (Some(v), None) => v,
            (Some(low), Some(p)) => match self.read_bytes(bus.ram(), p.paddr, size - here) {
                Some(high) => low | high << (8 * here),
                None => return self.fault_or_drop(5, vaddr, size, MemKind::Load, m),
            },
            (None, _) => {
                let device = second.is_none() && vaddr & (size - 1) == 0 && bus.is_device(first.paddr);
                if !device || self.speculative() {
                    return self.fault_or_drop(5, vaddr, size, MemKind::Load, m);
                }
                if !now.drained {
                    return Err(Stop::NeedsDrain);
                }
                bus.device_read(first.paddr, size as u16, now.tick)
                    .map_err(|_| Stop::Fault { cause: 5, tval: vaddr })?
            }
        };
        let uncacheable = first.uncacheable || low.is_none();
        *m = MemRef::in_one_page(vaddr, size, MemKind::Load, first.shift, first.paddr, uncacheable);
        m.paddr2 = PhysAddr(second.map_or(0, |p| p.paddr));
        Ok(value)
    }

    #[inline(never)]
    fn store_slow<B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        vaddr: u64,
        size: u64,
        value: u64,
        m: &mut MemRef,
    ) -> Result<(), Stop> {
        let kind = MemKind::Store;
        let (first, here, second) = match self.data_parts(bus, vaddr, size, Access::Store) {
            Ok(parts) => parts,
            Err((cause, tval)) => return self.fault_or_drop(cause, tval, size, kind, m).map(|_| ()),
        };
        let all_ram =
            bus.ram().contains(first.paddr, here) && second.is_none_or(|p| bus.ram().contains(p.paddr, size - here));
        let device = !all_ram && second.is_none() && vaddr & (size - 1) == 0 && bus.is_device(first.paddr);
        if !all_ram && (!device || self.speculative()) {
            return self.fault_or_drop(7, vaddr, size, kind, m).map(|_| ());
        }
        let told = device || (!self.speculative() && bus.ram().watched(first.paddr));
        if told && !now.drained {
            return Err(Stop::NeedsDrain);
        }
        if all_ram {
            let full = Stop::Blocked;
            self.write_bytes(bus.ram_mut(), first.paddr, here, value).ok_or(full)?;
            if let Some(p) = second {
                self.write_bytes(bus.ram_mut(), p.paddr, size - here, value >> (8 * here)).ok_or(full)?;
            }
        }
        if told {
            self.device_store(bus, now, vaddr, first.paddr, size, value)?;
        }
        *m = MemRef::in_one_page(vaddr, size, kind, first.shift, first.paddr, first.uncacheable || device);
        m.paddr2 = PhysAddr(second.map_or(0, |p| p.paddr));
        Ok(())
    }

    /// A store to a device; it may change when the next interrupt is due.
    pub(crate) fn device_store<B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        vaddr: u64,
        paddr: u64,
        size: u64,
        value: u64,
    ) -> Result<(), Stop> {
        let value = if size < 8 { value & ((1 << (8 * size)) - 1) } else { value };
        let effect =
            bus.device_write(paddr, size as u16, value, now.tick).map_err(|_| Stop::Fault { cause: 7, tval: vaddr })?;
        if effect != SysEffect::None {
            self.outcome.effect = effect;
        }
        self.irq.next_sample = Tick::ZERO;
        Ok(())
    }
}
