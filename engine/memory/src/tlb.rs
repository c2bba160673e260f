//! Timing TLBs: a first level a side whose hits are free, a second level that both share, least recently used each.
//! They hold no translations (the front end has those), only tags of pages.

use breakeven_base::{StatSink, Unit};

use educe::Educe;

use crate::util::same_order;

/// A page of an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    vpn: u64,
    /// Address space number << 8 | page shift; [`EMPTY`] for no page.
    space: u32,
}
const EMPTY: u32 = u32::MAX;

impl Page {
    #[inline]
    pub fn new(vaddr: u64, page_shift: u8, asid: u16) -> Self {
        Page {
            vpn: vaddr.checked_shr(u32::from(page_shift)).unwrap_or(0),
            space: u32::from(asid) << 8 | u32::from(page_shift),
        }
    }

    fn covers(&self, vaddr: u64) -> bool {
        self.space != EMPTY && vaddr.checked_shr(self.space & 0xff).unwrap_or(0) == self.vpn
    }
}

/// Entries of the table of last hits, which saves most searches.
const SHORTCUTS: usize = 64;

/// One set-associative (or fully associative) array of pages.
#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct TlbArray {
    sets: usize,
    ways: usize,
    pages: Vec<Page>,
    used: Vec<u64>,
    /// Where pages were last found, by the low bits of their number.
    shortcuts: Box<[u32; SHORTCUTS]>,
    now: u64,
}
impl TlbArray {
    /// `assoc` 0: fully associative.
    pub fn new(size: u32, assoc: u32) -> Self {
        let ways = if assoc == 0 { size } else { assoc }.max(1) as usize;
        let sets = size as usize / ways;
        TlbArray {
            sets,
            ways,
            pages: vec![Page { vpn: 0, space: EMPTY }; sets * ways],
            used: vec![0; sets * ways],
            shortcuts: Box::new([0; SHORTCUTS]),
            now: 0,
        }
    }

    /// Whether the page is where it was found last: the common hit.
    #[inline]
    pub fn hits_last_entry(&mut self, page: Page) -> bool {
        let i = self.shortcuts[page.vpn as usize % SHORTCUTS] as usize;
        if self.pages.get(i) != Some(&page) {
            return false;
        }
        self.now += 1;
        if let Some(used) = self.used.get_mut(i) {
            *used = self.now;
        }
        true
    }

    /// Whether the page is here. No use of it.
    pub fn has(&self, page: Page) -> bool {
        let last = self.shortcuts[page.vpn as usize % SHORTCUTS] as usize;
        self.pages.get(last) == Some(&page) || self.pages[self.set(page)].contains(&page)
    }

    /// Whether the same pages are here as in `earlier`, and pages will make way for others as there.
    pub fn repeats(&self, earlier: &Self) -> bool {
        self.pages == earlier.pages && same_order(&self.used, &earlier.used, self.ways)
    }

    pub fn lookup(&mut self, page: Page) -> bool {
        self.hits_last_entry(page) || self.search(page, page.vpn as usize % SHORTCUTS)
    }

    fn set(&self, page: Page) -> std::ops::Range<usize> {
        if self.sets == 0 {
            return 0..0;
        }
        let base = (page.vpn % self.sets as u64) as usize * self.ways;
        base..base + self.ways
    }

    fn search(&mut self, page: Page, slot: usize) -> bool {
        let set = self.set(page);
        let Some(i) = self.pages[set.clone()].iter().position(|p| *p == page) else { return false };
        let i = set.start + i;
        self.now += 1;
        self.used[i] = self.now;
        self.shortcuts[slot] = i as u32;
        true
    }

    pub fn insert(&mut self, page: Page) {
        let set = self.set(page);
        if self.search(page, page.vpn as usize % SHORTCUTS) {
            return;
        }
        if let Some(i) = set.min_by_key(|&i| self.used[i]) {
            self.now += 1;
            self.pages[i] = page;
            self.used[i] = self.now;
        }
    }

    pub fn flush(&mut self, vaddr: Option<u64>) {
        for (p, used) in self.pages.iter_mut().zip(&mut self.used) {
            if vaddr.is_none_or(|v| p.covers(v)) {
                *p = Page { vpn: 0, space: EMPTY };
                *used = 0;
            }
        }
    }

    pub fn audit(&self) -> Result<(), String> {
        for (i, p) in self.pages.iter().enumerate().filter(|(_, p)| p.space != EMPTY) {
            let set = self.set(*p);
            if !set.contains(&i) || self.pages[set.start..i].contains(p) {
                return Err(format!("TLB entry {i} for page {:#x} is misplaced or there twice", p.vpn));
            }
        }
        Ok(())
    }
}

/// What gem5's TLBs count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TlbStats {
    /// Reads, writes.
    hits: [u64; 2],
    misses: [u64; 2],
    l2_hits: u64,
    l2_misses: u64,
    walks: u64,
    walk_ticks: u64,
}

impl TlbStats {
    /// First-level hits and misses of reads.
    pub fn reads(&self) -> (u64, u64) {
        (self.hits[0], self.misses[0])
    }

    /// Of reads and of writes.
    pub fn first_level_hits(&mut self) -> &mut [u64; 2] {
        &mut self.hits
    }

    #[inline]
    pub fn first_level(&mut self, is_store: bool, hit: bool) {
        let count = if hit { &mut self.hits } else { &mut self.misses };
        count[usize::from(is_store)] += 1;
    }

    pub fn second_level(&mut self, hit: bool) {
        *(if hit { &mut self.l2_hits } else { &mut self.l2_misses }) += 1;
    }

    pub fn walk(&mut self, ticks: u64) {
        self.walks += 1;
        self.walk_ticks += ticks;
    }

    pub fn collect(&self, sink: &mut StatSink, second_level: bool) {
        let c = Unit::Count;
        let ([rh, wh], [rm, wm]) = (self.hits, self.misses);
        sink.count("readHits", rh, c, "read hits");
        sink.count("readMisses", rm, c, "read misses");
        sink.count("readAccesses", rh + rm, c, "read accesses");
        sink.count("writeHits", wh, c, "write hits");
        sink.count("writeMisses", wm, c, "write misses");
        sink.count("writeAccesses", wh + wm, c, "write accesses");
        sink.count("hits", rh + wh, c, "Total TLB (read and write) hits");
        sink.count("misses", rm + wm, c, "Total TLB (read and write) misses");
        sink.count("accesses", rh + rm + wh + wm, c, "Total TLB (read and write) accesses");
        if second_level {
            sink.count("l2Hits", self.l2_hits, c, "hits in the second level");
            sink.count("l2Misses", self.l2_misses, c, "misses in the second level");
        }
        sink.count("walker.walks", self.walks, c, "page-table walks");
        sink.count("walker.walkTicks", self.walk_ticks, Unit::Tick, "ticks spent in page-table walks");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(n: u64) -> Page {
        Page::new(n << 12, 12, 1)
    }

    #[test]
    fn least_recently_used_goes() {
        let mut t = TlbArray::new(2, 0);
        assert!(!t.lookup(page(1)));
        t.insert(page(1));
        t.insert(page(2));
        assert!(t.lookup(page(1)));
        t.insert(page(3));
        assert!(t.lookup(page(1)) && !t.lookup(page(2)) && t.lookup(page(3)));
        assert_eq!(t.audit(), Ok(()));
    }

    #[test]
    fn sets_conflict() {
        let mut t = TlbArray::new(4, 1);
        t.insert(page(0));
        t.insert(page(4));
        t.insert(page(1));
        assert!(!t.lookup(page(0)) && t.lookup(page(4)) && t.lookup(page(1)));
    }

    #[test]
    fn spaces_and_sizes_are_told_apart_and_flushed() {
        let mut t = TlbArray::new(8, 0);
        t.insert(Page::new(0x20_0000, 21, 1));
        assert!(!t.lookup(Page::new(0x20_0000, 12, 1)) && !t.lookup(Page::new(0x20_0000, 21, 2)));
        t.insert(page(0x300));
        t.flush(Some(0x20_1000));
        assert!(!t.lookup(Page::new(0x20_0000, 21, 1)) && t.lookup(page(0x300)));
        t.flush(None);
        assert!(!t.lookup(page(0x300)));
    }

    #[test]
    fn no_entries_never_hit() {
        let mut t = TlbArray::new(0, 0);
        t.insert(page(1));
        assert!(!t.lookup(page(1)));
    }
}
