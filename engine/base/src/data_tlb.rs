//! The functional data TLB of an instruction-set front end: where guest pages lie in RAM, direct-mapped, for the accesses
//! that need no further check. It models no hardware (the timing TLBs are the memory system's) and changes no cycle.
//!
//! A page is kept where it is wholly accessible in its *bank*: what else decides an access (privilege mode, SUM, SMAP) is
//! part of the index, so that a handler that toggles it loses nothing.

use crate::units::PAGE;
use crate::Bus;

/// Entries of one bank.
pub const BANK: usize = 128;

/// A tag no address has: not a multiple of a page.
const INVALID: u64 = 1;

/// Where a page lies.
#[derive(Clone, Copy, Debug)]
pub struct DataPage {
    /// The page's virtual address.
    pub tag: u64,
    /// Physical less virtual address.
    pub delta: u64,
    /// log2 of the bytes of the page-table entry's page; 0: not translated.
    pub shift: u8,
    pub uncacheable: bool,
}

impl DataPage {
    /// The page of `vaddr`, which lies at `paddr`.
    pub fn of(vaddr: u64, paddr: u64, shift: u8, uncacheable: bool) -> Self {
        DataPage { tag: vaddr & !(PAGE - 1), delta: paddr.wrapping_sub(vaddr), shift, uncacheable }
    }
}

/// `ENTRIES`: [`BANK`] for each bank.
#[derive(Clone, Debug)]
pub struct DataTlb<const ENTRIES: usize> {
    load: [DataPage; ENTRIES],
    store: [DataPage; ENTRIES],
}

impl<const ENTRIES: usize> Default for DataTlb<ENTRIES> {
    fn default() -> Self {
        let none = DataPage { tag: INVALID, delta: 0, shift: 0, uncacheable: false };
        DataTlb { load: [none; ENTRIES], store: [none; ENTRIES] }
    }
}

impl<const ENTRIES: usize> DataTlb<ENTRIES> {
    pub fn flush(&mut self) {
        for page in self.load.iter_mut().chain(&mut self.store) {
            page.tag = INVALID;
        }
    }

    /// A page has become code: stores to it have to be looked at.
    pub fn flush_stores(&mut self) {
        for page in &mut self.store {
            page.tag = INVALID;
        }
    }

    #[inline(always)]
    fn slot(bank: usize, vaddr: u64) -> usize {
        (bank + ((vaddr >> 12) as usize & (BANK - 1))) % ENTRIES
    }

    /// The entry where `vaddr` would be, in the bank that begins at `bank`: it is there if the tag is its page's.
    #[inline(always)]
    pub fn entry(&self, is_store: bool, bank: usize, vaddr: u64) -> &DataPage {
        let side = if is_store { &self.store } else { &self.load };
        &side[Self::slot(bank, vaddr)]
    }

    pub fn keep(&mut self, is_store: bool, bank: usize, page: DataPage) {
        let side = if is_store { &mut self.store } else { &mut self.load };
        side[Self::slot(bank, page.tag)] = page;
    }
}

/// Whether the page of `paddr` is RAM, of one memory kind, and (for stores) without a line that someone watches.
pub fn is_plain<B: Bus>(bus: &B, paddr: u64, is_store: bool) -> bool {
    let page = paddr & !(PAGE - 1);
    let one_kind = [page, page | (PAGE - 1)].iter().all(|&a| bus.is_uncacheable(a) == bus.is_uncacheable(paddr));
    let watched = || (page..page + PAGE).step_by(64).any(|line| bus.ram().watched(line));
    bus.ram().contains(page, PAGE) && one_kind && !(is_store && watched())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banks_and_sides_are_apart_and_a_flush_empties_them() {
        let mut tlb = DataTlb::<{ 2 * BANK }>::default();
        let page = DataPage::of(0x1234_5678, 0x8000_0678, 12, false);
        assert_eq!((page.tag, 0x1234_5abc_u64.wrapping_add(page.delta)), (0x1234_5000, 0x8000_0abc));
        tlb.keep(true, BANK, page);
        let hit = |tlb: &DataTlb<{ 2 * BANK }>, store, bank| tlb.entry(store, bank, 0x1234_5abc).tag == page.tag;
        assert!(hit(&tlb, true, BANK) && !hit(&tlb, false, BANK) && !hit(&tlb, true, 0));
        tlb.keep(false, 0, page);
        tlb.flush_stores();
        assert!(!hit(&tlb, true, BANK) && hit(&tlb, false, 0));
        tlb.flush();
        assert!(!hit(&tlb, false, 0));
    }
}
