//! References that move each by its stride from one round of a loop to the next: where they go, which lines and pages they
//! use, and whether they stay apart.

use breakeven_base::{MemKind, MemRef};
use breakeven_memory::HitCounts;

use super::archive::AddressRules;

/// A reference of a round.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its micro-op's number, from where a round begins.
    pub offset: u64,
    /// Where it went in round 0, and by how much it moves.
    pub mem: MemRef,
    pub stride: u64,
    /// Its class, if that may change from one round to the next.
    pub class: Option<u64>,
}

impl Slot {
    pub fn vaddr(&self, round: u64) -> u64 {
        self.mem.vaddr.wrapping_add(round.wrapping_mul(self.stride))
    }
    pub fn paddr(&self, round: u64) -> u64 {
        self.mem.paddr.0.wrapping_add(round.wrapping_mul(self.stride))
    }
    /// Whether `m` is where it goes in this round.
    #[inline(always)]
    pub fn is(&self, m: &MemRef, round: u64, rules: &AddressRules) -> bool {
        let then = &self.mem;
        m.vaddr == self.vaddr(round)
            && m.paddr.0.wrapping_sub(m.vaddr) == then.paddr.0.wrapping_sub(then.vaddr)
            && (m.size, m.page_shift, m.kind) == (then.size, then.page_shift, then.kind)
            && (m.uncacheable, m.valid, m.element) == (then.uncacheable, then.valid, then.element)
            && self.class.is_none_or(|class| class == rules.class_of(m))
    }
}

/// A call of the data side: of the micro-op of `slot`, that of so many rounds before.
#[derive(Clone, Copy, Debug)]
pub struct DataCall {
    pub slot: u32,
    pub back: u64,
    pub what: What,
}
#[derive(Clone, Copy, Debug)]
pub enum What {
    Page { is_store: bool },
    Access { sent: u16, ticks: u32 },
}

/// A line that is used in each round of one phase: where it lies in round 0.
#[derive(Clone, Copy, Debug)]
pub struct MovingLine {
    pub addr: u64,
    pub stride: u64,
    pub is_written: bool,
}

/// Look-ups in one page, as long as they are in one: from `lo` to `hi` in round 0.
#[derive(Clone, Copy, Debug)]
pub struct MovingPage {
    pub lo: u64,
    pub hi: u64,
    pub stride: u64,
    pub shift: u8,
    pub last: usize,
}

impl MovingPage {
    pub fn at(&self, addr: u64, round: u64) -> u64 {
        addr.wrapping_add(round.wrapping_mul(self.stride))
    }
    pub fn is_one(&self, round: u64) -> bool {
        (self.at(self.lo, round) ^ self.at(self.hi, round)).checked_shr(self.shift.into()).unwrap_or(0) == 0
    }
}

/// From where to where the references of one stride go in round 0.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    pub stride: u64,
    pub lo: u64,
    pub hi: u64,
}

/// Whether references of different strides, of this round and so many before it (`back`) that are still under way, share no unit.
pub fn are_apart(streams: &[Stream], round: u64, back: u64, rules: &AddressRules) -> bool {
    let pad = rules.apart - 1;
    let range = |s: &Stream| {
        let [now, then] = [round, round.wrapping_sub(back)].map(|n| n.wrapping_mul(s.stride));
        let ends = [s.lo.wrapping_add(now), s.lo.wrapping_add(then), s.hi.wrapping_add(now), s.hi.wrapping_add(then)];
        let (lo, hi) = ends.into_iter().fold((u64::MAX, 0), |(lo, hi), end| (lo.min(end), hi.max(end)));
        (lo & !pad, hi | pad)
    };
    streams.iter().enumerate().all(|(i, s)| {
        let (lo, hi) = range(s);
        streams[..i].iter().map(range).all(|(from, to)| hi < from || to < lo)
    })
}

/// The lines of `data` in a round, in the order of their last uses, and the counts of all hits.
pub fn lines(data: &[DataCall], slots: &[Slot], round: u64, line: u64) -> (Vec<MovingLine>, HitCounts) {
    let mut counts = HitCounts::default();
    let mut uses = Vec::new();
    for (n, call) in data.iter().enumerate() {
        let slot = &slots[call.slot as usize];
        let is_store = slot.mem.kind == MemKind::Store;
        match call.what {
            What::Access { sent, ticks } => {
                let addr = slot.paddr(round.wrapping_sub(call.back)).wrapping_add(sent.into()) & !(line - 1);
                uses.push((addr, n, slot.stride, is_store));
                counts.accesses[usize::from(is_store)] += 1;
                counts.ticks[usize::from(is_store)] += u64::from(ticks);
            }
            What::Page { is_store } => counts.pages[usize::from(is_store)] += u64::from(slot.mem.page_shift != 0),
        }
    }
    uses.sort_unstable();
    let mut lines: Vec<(usize, MovingLine)> = Vec::new();
    for (addr, n, stride, is_written) in uses {
        let addr = addr.wrapping_sub(round.wrapping_mul(stride));
        match lines.last_mut() {
            // Lines of two strides are two, though they be one in this round.
            Some((last, l)) if (l.addr, l.stride) == (addr, stride) => {
                (*last, l.is_written) = (n, l.is_written | is_written);
            }
            _ => lines.push((n, MovingLine { addr, stride, is_written })),
        }
    }
    lines.sort_unstable_by_key(|(last, _)| *last);
    (lines.into_iter().map(|(_, line)| line).collect(), counts)
}

/// The pages that `data` look up in a round, in the order of the last look-ups.
pub fn pages(data: &[DataCall], slots: &[Slot], round: u64) -> Vec<MovingPage> {
    let mut pages: Vec<MovingPage> = Vec::new();
    for (n, call) in data.iter().enumerate() {
        let slot = &slots[call.slot as usize];
        let shift = slot.mem.page_shift;
        if !matches!(call.what, What::Page { .. }) || shift == 0 {
            continue;
        }
        let at = slot.mem.vaddr.wrapping_sub(call.back.wrapping_mul(slot.stride));
        let one = MovingPage { lo: at, hi: at, stride: slot.stride, shift, last: n };
        let joined = |p: &MovingPage| MovingPage { lo: p.lo.min(at), hi: p.hi.max(at), last: n, ..*p };
        let same = |p: &&mut MovingPage| p.stride == slot.stride && p.shift == shift && joined(p).is_one(round);
        match pages.iter_mut().find(same) {
            Some(p) => *p = joined(p),
            None => pages.push(one),
        }
    }
    pages.sort_unstable_by_key(|page| page.last);
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_ups_are_in_one_page_until_they_are_in_two() {
        let page = MovingPage { lo: 0x1000, hi: 0x1f00, stride: 0x80, shift: 12, last: 0 };
        assert!(page.is_one(0) && page.is_one(1) && !page.is_one(2));
        assert!(MovingPage { stride: 0x80u64.wrapping_neg(), ..page }.is_one(0));
        assert!(!MovingPage { stride: 0x80u64.wrapping_neg(), ..page }.is_one(1));
    }

    #[test]
    fn streams_of_different_strides_must_stay_apart() {
        let rules = AddressRules { line: 64, granule: 16, costs: [64; 2], apart: 64, physical: false };
        let up = Stream { stride: 64, lo: 0x1000, hi: 0x103f };
        let fixed = Stream { stride: 0, lo: 0x1200, hi: 0x123f };
        let apart = |round, back| are_apart(&[up, fixed], round, back, &rules);
        assert!(apart(7, 0) && !apart(8, 0) && apart(9, 0));
        assert!(!apart(9, 1), "stores of the round before may be under way");
    }
}
