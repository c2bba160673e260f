//! The decode cache: instructions by physical page and offset, decoded when first executed. Pages are shared between
//! clones of a front end and copied when one of them decodes more.
//!
//! Code may change under it. A store to bytes that have been decoded marks all pages stale; each is then compared with memory
//! before its next use. Other bytes are compared when an instruction is decoded from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use breakeven_base::{number_of_page, PhysMem, Uop};

use crate::inst::Inst;
use crate::mmu::PAGE;

/// Most decoded pages; a further one drops all.
const MAX_PAGES: usize = 512;

#[derive(Clone, Debug)]
pub(crate) struct CodePage {
    /// Position in `insts` by offset; 0: not decoded.
    at: [u16; PAGE as usize],
    insts: Vec<Inst>,
    pub uops: Vec<Uop>,
    bytes: [u8; PAGE as usize],
    /// Of its bytes: clones that decode more of them decode the same ([`breakeven_base::number_of_page`]).
    pub number: u64,
}

impl CodePage {
    fn new(bytes: &[u8; PAGE as usize]) -> Arc<CodePage> {
        let (at, insts, uops) = ([0; PAGE as usize], vec![Inst::default()], Vec::new());
        Arc::new(CodePage { at, insts, uops, bytes: *bytes, number: number_of_page() })
    }
    /// The instruction at `addr`'s offset in the page; [`crate::inst::InstFlags::ABSENT`] when it has not been decoded.
    #[inline(always)]
    pub fn at(&self, addr: u64) -> &Inst {
        &self.insts[usize::from(self.at[(addr & (PAGE - 1)) as usize])]
    }
    #[inline(always)]
    pub fn uops(&self, i: &Inst) -> &[Uop] {
        self.uops.get(i.uops.first as usize..i.uops.first as usize + usize::from(i.uops.n)).unwrap_or(&[])
    }
}

#[derive(Clone, Debug)]
struct Slot {
    ppn: u64,
    page: Arc<CodePage>,
    checked: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CodeCache {
    slots: Vec<Slot>,
    by_ppn: BTreeMap<u64, u32>,
}

impl CodeCache {
    #[inline(always)]
    pub fn page(&self, slot: u32) -> &CodePage {
        &self.slots[slot as usize].page
    }

    /// Marks every page stale: each is compared with memory before its next use.
    pub fn mark_stale(&mut self) {
        for s in &mut self.slots {
            s.checked = false;
        }
    }

    /// The page that holds `paddr`, and whether earlier slots have become invalid; `None` outside RAM.
    pub fn lookup(&mut self, ram: &PhysMem, paddr: u64) -> Option<(u32, bool)> {
        let ppn = paddr / PAGE;
        let bytes: &[u8; PAGE as usize] = ram.slice(ppn * PAGE, PAGE)?.try_into().ok()?;
        if let Some(&n) = self.by_ppn.get(&ppn) {
            if let Some(s) = self.slots.get_mut(n as usize).filter(|s| s.ppn == ppn) {
                if !s.checked && s.page.bytes != *bytes {
                    s.page = CodePage::new(bytes);
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
        self.slots.push(Slot { ppn, page: CodePage::new(bytes), checked: true });
        self.by_ppn.insert(ppn, n);
        Some((n, full))
    }

    /// The bytes of a page from `addr`'s offset on, at most `n`. Where memory holds other bytes by now, the page is begun
    /// anew.
    pub fn bytes(&mut self, ram: &PhysMem, slot: u32, addr: u64, n: usize) -> &[u8] {
        let from = (addr & (PAGE - 1)) as usize;
        let range = from..(from + n).min(PAGE as usize);
        let s = &mut self.slots[slot as usize];
        if let Some(bytes) = ram.slice(s.ppn * PAGE, PAGE).and_then(|bytes| bytes.try_into().ok()) {
            let bytes: &[u8; PAGE as usize] = bytes;
            if bytes[range.clone()] != s.page.bytes[range.clone()] {
                s.page = CodePage::new(bytes);
            }
        }
        &s.page.bytes[range]
    }

    /// Caches the instruction decoded at `addr`'s offset.
    pub fn insert(&mut self, slot: u32, addr: u64, mut inst: Inst, uops: &[Uop]) {
        let Some(s) = self.slots.get_mut(slot as usize) else { return };
        let page = Arc::make_mut(&mut s.page);
        inst.uops.first = page.uops.len() as u32;
        page.uops.extend_from_slice(uops);
        page.at[(addr & (PAGE - 1)) as usize] = page.insts.len() as u16;
        page.insts.push(inst);
    }
}
