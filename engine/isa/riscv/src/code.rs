//! The decode cache: a physical page of code is decoded whole, once, at every halfword. Pages are immutable and shared
//! between clones of a front end. After fence.i each page is compared with memory before its next use.

use std::collections::BTreeMap;
use std::sync::Arc;

use breakeven_base::{number_of_page, PhysMem};

use crate::config::Extensions;
use crate::decode::decode;
use crate::inst::{Inst, Op, Operands};
use crate::mmu::PAGE;

const SLOTS: usize = PAGE as usize / 2;
/// Most decoded pages (68 KiB each); a further one drops all.
const MAX_PAGES: usize = 512;

#[derive(Debug)]
pub(crate) struct CodePage {
    insts: [Inst; SLOTS],
    bytes: [u8; PAGE as usize],
    /// Its own ([`breakeven_base::number_of_page`]).
    pub number: u64,
}

impl CodePage {
    fn new(bytes: &[u8; PAGE as usize], ext: &Extensions) -> Arc<CodePage> {
        let mut page = CodePage { insts: [Inst::illegal(0, 2); SLOTS], bytes: *bytes, number: number_of_page() };
        let half = |k: usize| bytes.get(2 * k..2 * k + 2).map(|b| u32::from(b[0]) | u32::from(b[1]) << 8);
        for (k, inst) in page.insts.iter_mut().enumerate() {
            *inst = match (half(k), half(k + 1)) {
                (Some(low), Some(high)) => decode(low | high << 16, ext),
                // The last halfword: a longer instruction goes on on the next virtual page.
                (Some(low), None) if low & 3 == 3 => Inst::new(Op::Straddle, low, 4, Operands::default()),
                (low, _) => decode(low.unwrap_or(0), ext),
            };
        }
        Arc::new(page)
    }
    /// The instruction at `addr`'s offset in the page.
    #[inline(always)]
    pub fn at(&self, addr: u64) -> &Inst {
        &self.insts[(addr >> 1) as usize & (SLOTS - 1)]
    }
}

#[derive(Clone, Debug)]
struct Slot {
    ppn: u64,
    page: Arc<CodePage>,
    checked: bool,
}

#[derive(Debug, Default)]
pub(crate) struct CodeCache {
    slots: Vec<Slot>,
    by_ppn: BTreeMap<u64, u32>,
}

impl Clone for CodeCache {
    fn clone(&self) -> Self {
        CodeCache { slots: self.slots.clone(), by_ppn: self.by_ppn.clone() }
    }
    /// Restoring a snapshot keeps the pages decoded since. Each is compared with memory before its next use.
    fn clone_from(&mut self, from: &Self) {
        let n = from.slots.len();
        let grown = self.slots.len() >= n && self.slots.iter().zip(&from.slots).all(|(a, b)| a.ppn == b.ppn);
        if !grown {
            *self = from.clone();
            return;
        }
        for (slot, old) in self.slots.iter_mut().zip(&from.slots) {
            slot.checked = old.checked;
            if !Arc::ptr_eq(&slot.page, &old.page) {
                slot.page = old.page.clone();
            }
        }
        for slot in &mut self.slots[n..] {
            slot.checked = false;
        }
    }
}

impl CodeCache {
    #[inline(always)]
    pub fn page(&self, slot: u32) -> &CodePage {
        &self.slots[slot as usize].page
    }

    /// fence.i: marks every page stale; each is compared with memory before its next use.
    pub fn mark_stale(&mut self) {
        for s in &mut self.slots {
            s.checked = false;
        }
    }

    /// The decoded page that holds `paddr`, and whether earlier slots have become invalid; `None` outside RAM.
    pub fn lookup(&mut self, ram: &PhysMem, paddr: u64, ext: &Extensions) -> Option<(u32, bool)> {
        let ppn = paddr / PAGE;
        let bytes: &[u8; PAGE as usize] = ram.slice(ppn * PAGE, PAGE)?.try_into().ok()?;
        if let Some(&n) = self.by_ppn.get(&ppn) {
            if let Some(s) = self.slots.get_mut(n as usize).filter(|s| s.ppn == ppn) {
                if !s.checked && s.page.bytes != *bytes {
                    s.page = CodePage::new(bytes, ext);
                }
                s.checked = true;
                return Some((n, false));
            }
        }
        let full = self.slots.len() >= MAX_PAGES;
        if full {
            self.slots.clear();
            self.by_ppn.clear();
        }
        let n = self.slots.len() as u32;
        self.slots.push(Slot { ppn, page: CodePage::new(bytes, ext), checked: true });
        self.by_ppn.insert(ppn, n);
        Some((n, full))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x8000_0000;

    fn raw(code: &mut CodeCache, ram: &PhysMem, paddr: u64) -> u32 {
        let (slot, _) = code.lookup(ram, paddr, &Extensions::default()).expect("in RAM");
        code.page(slot).at(paddr).raw
    }

    #[test]
    fn back_at_a_snapshot_a_page_decoded_since_is_used_again_only_with_the_same_bytes() {
        let mut ram = PhysMem::new(BASE, 1 << 16).expect("maps");
        let (add, sub) = (0x00b5_0533_u32, 0x40b5_0533_u32);
        ram.write(BASE, add).expect("in range");
        ram.write(BASE + PAGE, add).expect("in range");
        let mut snapshot = CodeCache::default();
        assert_eq!(raw(&mut snapshot, &ram, BASE), add);
        let mut code = snapshot.clone();
        assert_eq!(raw(&mut code, &ram, BASE + PAGE), add);
        code.clone_from(&snapshot);
        assert_eq!(code.slots.len(), 2, "kept");
        ram.write(BASE + PAGE, sub).expect("in range");
        assert_eq!(raw(&mut code, &ram, BASE + PAGE), sub);
        // What is not a continuation of the snapshot goes.
        let mut other = CodeCache::default();
        raw(&mut other, &ram, BASE + 2 * PAGE);
        other.clone_from(&snapshot);
        assert_eq!(other.slots.len(), 1);
        assert_eq!(raw(&mut other, &ram, BASE), add);
    }
}
