//! Address translation: Sv39 with superpages, accessed and dirty bits set by hardware (privileged specification 1.12).
//! The A and D bits are updated as gem5 and qemu do it, in the walk of the access itself; on a speculative path never.

use breakeven_base::{Bus, PhysAddr, PhysMem, WalkPath};

use crate::csr::status;
use crate::hart::Hart;
use crate::mode::Mode;
use crate::pmp::Access;

pub(crate) use breakeven_base::PAGE;

mod pte {
    pub const V: u64 = 1;
    pub const R: u64 = 1 << 1;
    pub const W: u64 = 1 << 2;
    pub const X: u64 = 1 << 3;
    pub const U: u64 = 1 << 4;
    pub const A: u64 = 1 << 6;
    pub const D: u64 = 1 << 7;
    /// N, PBMT and the reserved bits: zero without the extensions that use them.
    pub const HIGH: u64 = !0 << 54;
}

/// A translated address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Xlat {
    pub paddr: u64,
    /// log2 of the page; 0: translation is off, or costs nothing.
    pub shift: u8,
    /// The accessed and dirty bits are set already: the translation may be cached.
    pub ad_bits_set: bool,
}

struct Leaf {
    pte: u64,
    at: u64,
    level: u32,
}

pub(crate) fn page_fault(access: Access) -> u8 {
    match access {
        Access::Fetch => 12,
        Access::Load => 13,
        Access::Store => 15,
    }
}

pub(crate) fn access_fault(access: Access) -> u8 {
    match access {
        Access::Fetch => 1,
        Access::Load => 5,
        Access::Store => 7,
    }
}

impl Hart {
    /// The mode that loads and stores are done in (MPRV).
    pub(crate) fn data_mode(&self) -> Mode {
        if self.mstatus & status::MPRV != 0 && self.mode == Mode::M {
            Mode::from_bits(self.mstatus >> status::MPP_SHIFT)
        } else {
            self.mode
        }
    }

    pub(crate) fn translation_on(&self, mode: Mode) -> bool {
        mode != Mode::M && self.xlat.satp >> 60 == 8
    }

    /// Physical addresses of the entries that a walk for `vaddr` reads, root first, calling `f` with each.
    fn walk(&self, ram: &PhysMem, vaddr: u64, access: Access, visit: &mut dyn FnMut(u64)) -> Result<Leaf, u8> {
        let fault = page_fault(access);
        if (vaddr as i64) << 25 >> 25 != vaddr as i64 {
            return Err(fault);
        }
        let mut table = (self.xlat.satp & ((1 << 44) - 1)) << 12;
        for level in (0..3u32).rev() {
            let at = table + (vaddr >> (12 + 9 * level) & 0x1ff) * 8;
            visit(at);
            if !self.xlat.pmp.allows(at, 8, Access::Load, Mode::S) {
                return Err(access_fault(access));
            }
            let Some(pte) = ram.read::<u64>(at) else { return Err(access_fault(access)) };
            if pte & pte::V == 0 || pte & (pte::R | pte::W) == pte::W || pte & pte::HIGH != 0 {
                return Err(fault);
            }
            if pte & (pte::R | pte::X) != 0 {
                return Ok(Leaf { pte, at, level });
            }
            if pte & (pte::D | pte::A | pte::U) != 0 {
                return Err(fault);
            }
            table = (pte >> 10 & ((1 << 44) - 1)) << 12;
        }
        Err(fault)
    }

    fn leaf_permits(&self, pte: u64, access: Access, mode: Mode) -> bool {
        let user = pte & pte::U != 0;
        let right_mode = match mode {
            Mode::U => user,
            _ => !user || (access != Access::Fetch && self.mstatus & status::SUM != 0),
        };
        let executable_as_readable = pte & pte::X != 0 && self.mstatus & status::MXR != 0;
        right_mode
            && match access {
                Access::Fetch => pte & pte::X != 0,
                Access::Load => pte & pte::R != 0 || executable_as_readable,
                Access::Store => pte & pte::W != 0,
            }
    }

    /// Translates one address; the error is the exception's cause. Page-table entries change only when `update`.
    pub(crate) fn translate<B: Bus>(
        &self,
        bus: &mut B,
        vaddr: u64,
        access: Access,
        mode: Mode,
        update: bool,
    ) -> Result<Xlat, u8> {
        self.translate_ram(bus.ram_mut(), vaddr, access, mode, update)
    }

    pub(crate) fn translate_ram(
        &self,
        ram: &mut PhysMem,
        vaddr: u64,
        access: Access,
        mode: Mode,
        update: bool,
    ) -> Result<Xlat, u8> {
        if !self.translation_on(mode) {
            return Ok(Xlat { paddr: vaddr, shift: 0, ad_bits_set: true });
        }
        let leaf = self.walk(ram, vaddr, access, &mut |_| ())?;
        let shift = 12 + 9 * leaf.level;
        let ppn = leaf.pte >> 10 & ((1 << 44) - 1);
        let misaligned = ppn & ((1 << (9 * leaf.level)) - 1) != 0;
        if misaligned || !self.leaf_permits(leaf.pte, access, mode) {
            return Err(page_fault(access));
        }
        let wanted = leaf.pte | pte::A | if access == Access::Store { pte::D } else { 0 };
        let mut ad_bits_set = wanted == leaf.pte;
        if !ad_bits_set && update {
            if !self.xlat.pmp.allows(leaf.at, 8, Access::Store, Mode::S) || ram.write::<u64>(leaf.at, wanted).is_none()
            {
                return Err(access_fault(access));
            }
            ad_bits_set = true;
        }
        let inside = (1u64 << shift) - 1;
        let described = if self.options.free_translation { 0 } else { shift as u8 };
        Ok(Xlat { paddr: (ppn << 12) & !inside | vaddr & inside, shift: described, ad_bits_set })
    }

    /// What a hardware walk would read.
    pub(crate) fn walk_entries<B: Bus>(&self, bus: &B, vaddr: u64) -> WalkPath {
        let mut path = WalkPath::default();
        // The instruction side translates in the current mode, the data side perhaps in another: either may ask.
        if self.translation_on(self.mode) || self.translation_on(self.data_mode()) {
            let _ = self.walk(bus.ram(), vaddr, Access::Load, &mut |at| {
                if let Some(slot) = path.ptes.get_mut(usize::from(path.n)) {
                    *slot = PhysAddr(at);
                    path.n += 1;
                }
            });
        }
        path
    }
}
