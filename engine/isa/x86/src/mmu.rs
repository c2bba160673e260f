//! Address translation: 4-level paging with 4 KiB, 2 MiB and 1 GiB pages, accessed and dirty bits set in the walk of the
//! access itself (on a speculative path never), no-execute, write protection, SMEP and SMAP.

use breakeven_base::{Bus, PhysAddr, PhysMem, WalkPath};

use crate::cpu::{cr0, cr4, efer, Cpu, Fault};
use crate::flags::Rflags;

pub(crate) use breakeven_base::PAGE;

mod pte {
    pub const P: u64 = 1;
    pub const W: u64 = 1 << 1;
    pub const U: u64 = 1 << 2;
    pub const A: u64 = 1 << 5;
    pub const D: u64 = 1 << 6;
    pub const PS: u64 = 1 << 7;
    pub const NX: u64 = 1 << 63;
    pub const ADDR: u64 = 0x000f_ffff_ffff_f000;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    Store,
    Fetch,
}

/// A translated address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Xlat {
    pub paddr: u64,
    /// log2 of the page; 0: translation costs nothing.
    pub shift: u8,
    /// The accessed and dirty bits are set already: the translation may be cached.
    pub ad_bits_set: bool,
}

/// A walk's end: rights are the conjunction over the levels.
struct Leaf {
    pte: u64,
    rights: u64,
    nx: bool,
    shift: u32,
}

pub(crate) fn canonical(vaddr: u64) -> bool {
    (vaddr as i64) << 16 >> 16 == vaddr as i64
}

/// The error code's bits.
fn error(access: Access, user: bool, present: bool, nx_on: bool) -> u32 {
    u32::from(present)
        | u32::from(access == Access::Store) << 1
        | u32::from(user) << 2
        | u32::from(access == Access::Fetch && nx_on) << 4
}

impl Cpu {
    /// Reads the entries for `vaddr`, root first; the error is whether the entry was present but malformed.
    fn walk(&self, ram: &PhysMem, vaddr: u64, visit: &mut dyn FnMut(u64, u64, bool)) -> Result<Leaf, bool> {
        let mut table = self.ctl.cr3 & pte::ADDR;
        let (mut rights, mut nx) = (pte::W | pte::U, false);
        for level in (0..4u32).rev() {
            let at = table + (vaddr >> (12 + 9 * level) & 0x1ff) * 8;
            let e = ram.read::<u64>(at).unwrap_or(0);
            let leaf = level == 0 || (level < 3 && e & pte::PS != 0);
            visit(at, e, leaf);
            if e & pte::P == 0 {
                return Err(false);
            }
            let huge_off = level == 2 && leaf && !self.options.features.pdpe1gb;
            if (e & pte::NX != 0 && self.ctl.efer & efer::NXE == 0) || (level == 3 && e & pte::PS != 0) || huge_off {
                return Err(true);
            }
            rights &= e;
            nx |= e & pte::NX != 0;
            if leaf {
                let shift = 12 + 9 * level;
                let low = (1u64 << shift) - 1;
                // Bit 12 of a large page's entry is the PAT's; the rest of the frame's low bits are reserved.
                if level > 0 && e & pte::ADDR & low & !0x1000 != 0 {
                    return Err(true);
                }
                return Ok(Leaf { pte: e & pte::ADDR & !low, rights, nx, shift });
            }
            table = e & pte::ADDR;
        }
        Err(true)
    }

    fn permits(&self, l: &Leaf, access: Access, user: bool) -> bool {
        let page_user = l.rights & pte::U != 0;
        let writable = l.rights & pte::W != 0;
        match access {
            _ if user && !page_user => false,
            Access::Fetch => !l.nx && (user || !page_user || self.ctl.cr4 & cr4::SMEP == 0),
            _ if !user && page_user && self.ctl.cr4 & cr4::SMAP != 0 && !self.c.sys.contains(Rflags::AC) => false,
            Access::Load => true,
            Access::Store => writable || (!user && self.ctl.cr0 & cr0::WP == 0),
        }
    }

    /// Translates one address. Page-table entries change only when `update`.
    pub fn translate(
        &self,
        ram: &mut PhysMem,
        vaddr: u64,
        access: Access,
        user: bool,
        update: bool,
    ) -> Result<Xlat, Fault> {
        if !canonical(vaddr) {
            return Err(Fault { vector: 13, error: 0, addr: 0 });
        }
        let nx_on = self.ctl.efer & efer::NXE != 0 || self.ctl.cr4 & cr4::SMEP != 0;
        let mut path = [(0u64, 0u64, false); 4];
        let mut n = 0;
        let leaf = self.walk(ram, vaddr, &mut |at, e, leaf| {
            if let Some(p) = path.get_mut(n) {
                *p = (at, e, leaf);
            }
            n += 1;
        });
        let fault = |present, reserved: bool| Fault {
            vector: 14,
            error: error(access, user, present, nx_on) | u32::from(reserved) << 3,
            addr: vaddr,
        };
        let leaf = leaf.map_err(|reserved| fault(reserved, reserved))?;
        if !self.permits(&leaf, access, user) {
            return Err(fault(true, false));
        }
        let mut ad_bits_set = true;
        for &(at, e, last) in path.iter().take(n) {
            let wanted = e | pte::A | if last && access == Access::Store { pte::D } else { 0 };
            if wanted != e {
                if update {
                    let _ = ram.write::<u64>(at, wanted);
                } else {
                    ad_bits_set = false;
                }
            }
        }
        let inside = (1u64 << leaf.shift) - 1;
        let described = if self.options.free_translation { 0 } else { leaf.shift as u8 };
        Ok(Xlat { paddr: leaf.pte | vaddr & inside, shift: described, ad_bits_set })
    }

    /// What a hardware walk would read.
    pub fn walk_entries<B: Bus>(&self, bus: &B, vaddr: u64) -> WalkPath {
        let mut path = WalkPath::default();
        if canonical(vaddr) {
            let _ = self.walk(bus.ram(), vaddr, &mut |at, _, _| {
                if let Some(slot) = path.ptes.get_mut(usize::from(path.n)) {
                    *slot = PhysAddr(at);
                    path.n += 1;
                }
            });
        }
        path
    }
}
