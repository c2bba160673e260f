//! Loads and stores: a direct-mapped functional TLB for the common case, and the slow path for everything else
//! (misses, page-crossing accesses, devices, stores into code, alignment checks, speculative paths).

use breakeven_base::data_tlb::{is_plain, DataPage, BANK};
use breakeven_base::{Bus, MemKind, MemRef, Now, PhysAddr, PhysMem, SysEffect};

use crate::cpu::{cr0, cr4, Cpu, Fault, Stop, R};
use crate::flags::Rflags;
use crate::mmu::{canonical, Access, PAGE};
use crate::simd::V;
use crate::state::CHECKED;

/// gem5's physical address of I/O port 0.
pub const IO_BASE: u64 = 1 << 63;

/// One page's part of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub paddr: u64,
    pub shift: u8,
    pub uncacheable: bool,
}

/// An access cut at its page boundary.
#[derive(Clone, Copy, Debug)]
struct Parts {
    first: Part,
    here: u64,
    second: Option<Part>,
}

#[inline(always)]
fn read_ram(ram: &PhysMem, paddr: u64, size: u64) -> Option<u64> {
    match size {
        8 => ram.read::<u64>(paddr),
        4 => ram.read::<u32>(paddr).map(u64::from),
        2 => ram.read::<u16>(paddr).map(u64::from),
        _ => ram.read::<u8>(paddr).map(u64::from),
    }
}

#[inline(always)]
fn write_ram(ram: &mut PhysMem, paddr: u64, size: u64, v: u64) -> Option<()> {
    match size {
        8 => ram.write::<u64>(paddr, v),
        4 => ram.write::<u32>(paddr, v as u32),
        2 => ram.write::<u16>(paddr, v as u16),
        _ => ram.write::<u8>(paddr, v as u8),
    }
}

impl Cpu {
    pub(crate) fn data_bank(&self) -> usize {
        let ac = self.c.sys.contains(Rflags::AC);
        BANK * match (self.cpl == 3, ac) {
            (true, true) if self.ctl.cr0 & cr0::AM != 0 => 3,
            (true, _) => 2,
            (false, _) => usize::from(self.ctl.cr4 & cr4::SMAP == 0 || ac),
        }
    }

    #[inline(always)]
    pub(crate) fn record_reference(&mut self, m: MemRef) {
        if !self.outcome.fast {
            if let Some(slot) = self.outcome.refs.get_mut(self.outcome.nrefs) {
                *slot = m;
                self.outcome.nrefs += 1;
            }
        } else if let Some(noted) = &mut self.outcome.noted {
            noted.note(&m);
        }
    }

    /// The physical address of an access that hits the TLB.
    #[inline(always)]
    fn hit(&self, access: Access, vaddr: u64, size: u64) -> Option<(u64, u8, bool)> {
        let e = self.xlat.tlb.entry(access == Access::Store, self.xlat.bank, vaddr);
        let inside = (vaddr & (PAGE - 1)) + size <= PAGE;
        (e.tag == vaddr & !(PAGE - 1) && inside).then(|| (vaddr.wrapping_add(e.delta), e.shift, e.uncacheable))
    }

    /// The eight bytes at `vaddr` as the path being followed sees them, where the TLB knows their page. No reference is made.
    #[inline]
    pub(crate) fn peek<B: Bus>(&self, bus: &B, vaddr: u64) -> Option<u64> {
        let (paddr, ..) = self.hit(Access::Load, vaddr, 8)?;
        let v = read_ram(bus.ram(), paddr, 8)?;
        Some(if self.spec.is_clean() { v } else { self.spec.overlay_word(paddr, 8, v) })
    }

    /// Loads 1, 2, 4 or 8 bytes, zero-extended.
    #[inline(always)]
    pub(crate) fn load<B: Bus>(&mut self, bus: &mut B, now: &Now, vaddr: u64, size: u8) -> R<u64> {
        let size = u64::from(size);
        if let Some((paddr, shift, uncacheable)) = self.hit(Access::Load, vaddr, size) {
            if let Some(mut v) = read_ram(bus.ram(), paddr, size) {
                if !self.spec.is_clean() {
                    v = self.spec.overlay_word(paddr, size, v);
                }
                self.record_reference(MemRef::in_one_page(vaddr, size, MemKind::Load, shift, paddr, uncacheable));
                return Ok(v);
            }
        }
        let mut b = [0; 8];
        let n = (size as usize).min(8);
        self.load_slow(bus, now, vaddr, &mut b[..n], MemKind::Load)?;
        Ok(u64::from_le_bytes(b))
    }

    /// As [`Cpu::load`], of an instruction that will also write there: what may not be written faults as a write.
    pub(crate) fn load_to_write<B: Bus>(&mut self, bus: &mut B, now: &Now, vaddr: u64, size: u8) -> R<u64> {
        if self.hit(Access::Store, vaddr, u64::from(size)).is_none() {
            self.probe_store(bus, vaddr, u64::from(size))?;
        }
        self.load(bus, now, vaddr, size)
    }

    /// Stores the low `size` bytes (1, 2, 4, 8).
    #[inline(always)]
    pub(crate) fn store<B: Bus>(&mut self, bus: &mut B, now: &Now, vaddr: u64, size: u8, value: u64) -> R<()> {
        let size = u64::from(size);
        if let Some((paddr, shift, uncacheable)) = self.hit(Access::Store, vaddr, size) {
            let done = if self.speculative() {
                // A page that the TLB holds is RAM.
                Some(self.spec.push_word(paddr, size, value).ok_or(Stop::Blocked)?)
            } else {
                write_ram(bus.ram_mut(), paddr, size, value)
            };
            if done.is_some() {
                self.record_reference(MemRef::in_one_page(vaddr, size, MemKind::Store, shift, paddr, uncacheable));
                return Ok(());
            }
        }
        let n = (size as usize).min(8);
        self.store_slow(bus, now, vaddr, &value.to_le_bytes()[..n])
    }

    /// Loads up to 32 bytes, the rest zero.
    #[inline(always)]
    pub(crate) fn load_v<B: Bus>(&mut self, bus: &mut B, now: &Now, vaddr: u64, size: u8) -> R<V> {
        let n = usize::from(size.min(32));
        if let Some((paddr, shift, uncacheable)) = self.hit(Access::Load, vaddr, n as u64) {
            if let Some(s) = bus.ram().slice(paddr, n as u64) {
                let mut v = match n {
                    16 | 32 => {
                        let mut v = V::ZERO;
                        for (w, c) in v.0.iter_mut().zip(s.chunks_exact(8)) {
                            *w = c.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
                        }
                        v
                    }
                    _ => V::from_slice(s),
                };
                if !self.spec.is_clean() {
                    let mut b = v.bytes();
                    self.spec.overlay(paddr, &mut b[..n]);
                    v = V::from_slice(&b[..n]);
                }
                self.record_reference(MemRef::in_one_page(vaddr, n as u64, MemKind::Load, shift, paddr, uncacheable));
                return Ok(v);
            }
        }
        let mut b = [0; 32];
        self.load_slow(bus, now, vaddr, &mut b[..n], MemKind::Load)?;
        Ok(V::from_slice(&b))
    }

    /// Stores the low `size` bytes (up to 32).
    #[inline(always)]
    pub(crate) fn store_v<B: Bus>(&mut self, bus: &mut B, now: &Now, vaddr: u64, size: u8, v: V) -> R<()> {
        let b = v.bytes();
        let n = usize::from(size.min(32));
        if let Some((paddr, shift, uncacheable)) = self.hit(Access::Store, vaddr, n as u64) {
            if self.write_bytes(bus.ram_mut(), paddr, &b[..n]).is_some() {
                self.record_reference(MemRef::in_one_page(vaddr, n as u64, MemKind::Store, shift, paddr, uncacheable));
                return Ok(());
            }
        }
        self.store_slow(bus, now, vaddr, &b[..n])
    }

    /// Loads up to 64 bytes.
    pub(crate) fn load_bytes<B: Bus>(&mut self, bus: &mut B, now: &Now, vaddr: u64, out: &mut [u8]) -> R<()> {
        let n = out.len() as u64;
        if let Some((paddr, shift, uncacheable)) = self.hit(Access::Load, vaddr, n) {
            if self.read_bytes(bus.ram(), paddr, out).is_some() {
                self.record_reference(MemRef::in_one_page(vaddr, n, MemKind::Load, shift, paddr, uncacheable));
                return Ok(());
            }
        }
        self.load_slow(bus, now, vaddr, out, MemKind::Load)
    }

    /// Stores up to 64 bytes.
    pub(crate) fn store_bytes<B: Bus>(&mut self, bus: &mut B, now: &Now, vaddr: u64, bytes: &[u8]) -> R<()> {
        let n = bytes.len() as u64;
        if let Some((paddr, shift, uncacheable)) = self.hit(Access::Store, vaddr, n) {
            if self.write_bytes(bus.ram_mut(), paddr, bytes).is_some() {
                self.record_reference(MemRef::in_one_page(vaddr, n, MemKind::Store, shift, paddr, uncacheable));
                return Ok(());
            }
        }
        self.store_slow(bus, now, vaddr, bytes)
    }

    /// Whether `size` bytes can be loaded without a fault.
    pub(crate) fn may_load<B: Bus>(&mut self, bus: &mut B, vaddr: u64, size: u64) -> bool {
        self.hit(Access::Load, vaddr, size).is_some() || self.data_parts(bus, vaddr, size, Access::Load).is_ok()
    }

    /// A fault raises its exception; on a speculative path the reference is dropped instead.
    fn fault_or_drop(&mut self, fault: Fault, vaddr: u64, size: u64, kind: MemKind) -> R<()> {
        if !self.speculative() {
            return Err(Stop::Fault(fault));
        }
        self.record_reference(MemRef { vaddr, size: size as u16, kind, ..MemRef::default() });
        Ok(())
    }

    /// Translates bytes inside one page, and caches the translation where that is allowed.
    pub(crate) fn data_part<B: Bus>(&mut self, bus: &mut B, vaddr: u64, access: Access) -> Result<Part, Fault> {
        let e = self.xlat.tlb.entry(access == Access::Store, self.xlat.bank, vaddr);
        if e.tag == vaddr & !(PAGE - 1) {
            return Ok(Part { paddr: vaddr.wrapping_add(e.delta), shift: e.shift, uncacheable: e.uncacheable });
        }
        let update = !self.speculative();
        let x = self.translate(bus.ram_mut(), vaddr, access, self.cpl == 3, update)?;
        let uncacheable = bus.is_uncacheable(x.paddr);
        let is_store = access == Access::Store;
        let code = is_store && self.xlat.code_map.contains_key(&(x.paddr / PAGE));
        if x.ad_bits_set && !code && self.xlat.bank != CHECKED && is_plain(bus, x.paddr, is_store) {
            self.xlat.tlb.keep(is_store, self.xlat.bank, DataPage::of(vaddr, x.paddr, x.shift, uncacheable));
        }
        Ok(Part { paddr: x.paddr, shift: x.shift, uncacheable })
    }

    fn data_parts<B: Bus>(&mut self, bus: &mut B, vaddr: u64, size: u64, access: Access) -> Result<Parts, Fault> {
        if self.xlat.bank == CHECKED && size.is_power_of_two() && size <= 8 && vaddr & (size - 1) != 0 {
            return Err(Fault { vector: 17, error: 0, addr: 0 });
        }
        if !canonical(vaddr.wrapping_add(size.max(1) - 1)) {
            return Err(Fault { vector: 13, error: 0, addr: 0 });
        }
        let here = size.min(PAGE - (vaddr & (PAGE - 1)));
        let first = self.data_part(bus, vaddr, access)?;
        let second = if here < size { Some(self.data_part(bus, vaddr.wrapping_add(here), access)?) } else { None };
        Ok(Parts { first, here, second })
    }

    /// Whether `size` bytes may be written, without writing.
    pub(crate) fn probe_store<B: Bus>(&mut self, bus: &mut B, vaddr: u64, size: u64) -> R<()> {
        match self.data_parts(bus, vaddr, size, Access::Store) {
            Err(fault) if !self.speculative() => Err(Stop::Fault(fault)),
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn load_slow<B: Bus>(&mut self, bus: &mut B, now: &Now, vaddr: u64, out: &mut [u8], kind: MemKind) -> R<()> {
        let size = out.len() as u64;
        let p = match self.data_parts(bus, vaddr, size, Access::Load) {
            Ok(p) => p,
            Err(fault) => return self.fault_or_drop(fault, vaddr, size, kind),
        };
        let (low, high) = out.split_at_mut(p.here as usize);
        let in_ram = self.read_bytes(bus.ram(), p.first.paddr, low).is_some()
            && p.second.is_none_or(|s| self.read_bytes(bus.ram(), s.paddr, high).is_some());
        let mut uncacheable = p.first.uncacheable;
        if !in_ram {
            // The bus returns all ones where no device responds.
            out.fill(0xff);
            uncacheable = true;
            if p.second.is_none() && size <= 8 && bus.is_device(p.first.paddr) {
                if self.speculative() {
                    return self.fault_or_drop(Fault { vector: 0, error: 0, addr: 0 }, vaddr, size, kind);
                }
                if !now.drained {
                    return Err(Stop::NeedsDrain);
                }
                if let Ok(v) = bus.device_read(p.first.paddr, size as u16, now.tick) {
                    out.copy_from_slice(&v.to_le_bytes()[..out.len()]);
                }
            } else if !bus.ram().contains(p.first.paddr, 1) {
                return self.fault_or_drop(Fault { vector: 18, error: 0, addr: vaddr }, vaddr, size, kind);
            }
        }
        let mut m = MemRef::in_one_page(vaddr, size, kind, p.first.shift, p.first.paddr, uncacheable);
        m.paddr2 = PhysAddr(p.second.map_or(0, |s| s.paddr));
        self.record_reference(m);
        Ok(())
    }

    #[inline(never)]
    fn store_slow<B: Bus>(&mut self, bus: &mut B, now: &Now, vaddr: u64, bytes: &[u8]) -> R<()> {
        let (size, kind) = (bytes.len() as u64, MemKind::Store);
        let p = match self.data_parts(bus, vaddr, size, Access::Store) {
            Ok(p) => p,
            Err(fault) => return self.fault_or_drop(fault, vaddr, size, kind),
        };
        let ram = bus.ram();
        let all_ram =
            ram.contains(p.first.paddr, p.here) && p.second.is_none_or(|s| ram.contains(s.paddr, size - p.here));
        let device = !all_ram && p.second.is_none() && size <= 8 && bus.is_device(p.first.paddr);
        if !all_ram && (!device || self.speculative()) {
            return self.fault_or_drop(Fault { vector: 18, error: 0, addr: vaddr }, vaddr, size, kind);
        }
        let told = device || (!self.speculative() && bus.ram().watched(p.first.paddr));
        if told && !now.drained {
            return Err(Stop::NeedsDrain);
        }
        if all_ram {
            let (low, high) = bytes.split_at(p.here as usize);
            self.put(bus, p.first.paddr, low)?;
            if let Some(s) = p.second {
                self.put(bus, s.paddr, high)?;
            }
        }
        if told && size <= 8 {
            let mut b = [0; 8];
            b[..bytes.len()].copy_from_slice(bytes);
            if let Ok(effect) = bus.device_write(p.first.paddr, size as u16, u64::from_le_bytes(b), now.tick) {
                if effect != SysEffect::None {
                    self.outcome.effect = effect;
                }
            }
        }
        let mut m = MemRef::in_one_page(vaddr, size, kind, p.first.shift, p.first.paddr, p.first.uncacheable || device);
        m.paddr2 = PhysAddr(p.second.map_or(0, |s| s.paddr));
        self.record_reference(m);
        Ok(())
    }

    /// Writes bytes to RAM or the path's store log; decoded code there becomes stale.
    fn put<B: Bus>(&mut self, bus: &mut B, paddr: u64, bytes: &[u8]) -> R<()> {
        self.write_bytes(bus.ram_mut(), paddr, bytes).ok_or(Stop::Blocked)?;
        if !self.speculative() {
            self.code_written(paddr, bytes.len() as u64);
        }
        Ok(())
    }

    /// RAM has changed: decoded code there is stale.
    fn code_written(&mut self, paddr: u64, len: u64) {
        if let Some(map) = self.xlat.code_map.get(&(paddr / PAGE)) {
            let (from, to) = ((paddr & (PAGE - 1)) / 8, ((paddr & (PAGE - 1)) + len.max(1) - 1) / 8);
            self.xlat.code_stale |=
                (from..=to.min(511)).any(|w| map.get((w / 64) as usize).is_some_and(|m| m >> (w & 63) & 1 != 0));
        }
    }

    /// A reference with neither data nor destination (prefetch, cache management): where it goes. A prefetch that
    /// would fault is dropped.
    pub(crate) fn touch<B: Bus>(&mut self, bus: &mut B, asked: u64, kind: MemKind, faults: bool) -> R<()> {
        let size = self.options.line;
        let mut vaddr = asked;
        let update = faults && !self.speculative();
        match self.translate(bus.ram_mut(), vaddr, Access::Load, self.cpl == 3, update) {
            Ok(x) if bus.ram().contains(x.paddr, 1) => {
                let uncacheable = bus.is_uncacheable(x.paddr);
                vaddr &= !(size - 1);
                self.record_reference(MemRef::in_one_page(
                    vaddr,
                    size,
                    kind,
                    x.shift,
                    x.paddr & !(size - 1),
                    uncacheable,
                ));
                Ok(())
            }
            Err(fault) if faults => self.fault_or_drop(fault, vaddr, size, kind),
            _ => {
                self.record_reference(MemRef { vaddr, size: size as u16, kind, ..MemRef::default() });
                Ok(())
            }
        }
    }

    /// A piece of a string instruction's bulk move: `len` bytes inside one page each, on the fast path. `None`: not possible.
    pub(crate) fn bulk<B: Bus>(&mut self, bus: &mut B, vaddr: u64, len: u64, access: Access) -> Option<u64> {
        if self.hit(access, vaddr, len.max(1)).is_none() {
            self.data_part(bus, vaddr, access).ok()?;
        }
        self.hit(access, vaddr, len.max(1)).map(|h| h.0)
    }
}
