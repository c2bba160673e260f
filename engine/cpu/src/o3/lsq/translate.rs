//! Translations that take time: a second-level TLB, and the page walker with its queue.
//! Fact source: gem5 24.0 `src/arch/riscv/pagetable_walker.cc`, `src/cpu/o3/lsq.cc`, `inst_queue.cc`.
//!
//! - The walker does one walk at a time; who comes meanwhile queues, and is served with the walk when it wants the same page.
//! - A reference whose translation takes time gives its place up and is issued again: it goes on a cycle after the end of
//!   the walk. After a hit in the second level (ours) the latency is the whole delay.

use breakeven_base::{Cycle, MemRef, Tick};
use breakeven_memory::{Side, TlbResult};
use educe::Educe;

use super::super::seq::Seq;
use super::{NEVER, PAGE};
use crate::outside::{DataPage, Outside};
use crate::when::When;

/// State of a reference's translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Translation {
    #[default]
    NotStarted,
    UnderWay,
    Done,
}

#[derive(Clone, Copy, Debug)]
pub struct Walk {
    /// Who wants it; 0: it has been squashed meanwhile.
    seq: Seq,
    vaddr: u64,
    page_shift: u8,
    asid: u16,
}

impl Walk {
    fn same_page(&self, other: &Walk) -> bool {
        self.asid == other.asid
            && self.page_shift == other.page_shift
            && self.vaddr >> self.page_shift == other.vaddr >> other.page_shift
    }
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Walker {
    /// The first one is under way until `until`.
    pub walks: Vec<Walk>,
    pub until: Cycle,
    /// Second-level hits: when they may be issued again, and who.
    pub late: Vec<(Cycle, Seq)>,
    pub next_late: Cycle,
}

impl Walker {
    pub fn new() -> Self {
        Walker { walks: Vec::with_capacity(16), until: NEVER, late: Vec::with_capacity(16), next_late: NEVER }
    }

    #[inline]
    pub fn next_event(&self) -> Cycle {
        self.until.min(self.next_late)
    }

    /// Looks up the pages of a reference. Whether it may go on at once; else it is named in `ready` when it may.
    #[inline]
    pub fn translate<X: Outside>(&mut self, seq: Seq, m: &MemRef, is_store: bool, cx: &mut X, when: &When) -> bool {
        if m.page_shift == 0 {
            return true;
        }
        let last = m.vaddr.wrapping_add(u64::from(m.size.max(1) - 1));
        let page = DataPage { seq, vaddr: m.vaddr, page_shift: m.page_shift, last: false };
        let mut at_once = self.look_up(page, is_store, cx, when);
        if m.vaddr / PAGE != last / PAGE {
            at_once &= self.look_up(DataPage { vaddr: last, last: true, ..page }, is_store, cx, when);
        }
        at_once
    }

    #[inline]
    fn look_up<X: Outside>(&mut self, page: DataPage, is_store: bool, cx: &mut X, when: &When) -> bool {
        let asid = cx.asid();
        let result = cx.data_tlb(when.tick, page, asid, is_store);
        let DataPage { seq, vaddr, page_shift, .. } = page;
        let walk = Walk { seq, vaddr, page_shift, asid };
        // The TLB has an entry from the moment its walk begins.
        if self.walks.iter().any(|w| w.same_page(&walk)) {
            self.walks.push(walk);
            return false;
        }
        match result {
            TlbResult::Hit { at } if at <= when.tick => true,
            TlbResult::Hit { at } => {
                // Issued again a cycle before, it executes in time.
                let ready = (when.cycle_of(at) - 1).max(when.cycle + 1);
                self.late.push((ready, seq));
                self.next_late = self.next_late.min(ready);
                false
            }
            TlbResult::Miss { at } => {
                self.walks.push(walk);
                if self.walks.len() == 1 {
                    self.start(at, cx, when);
                }
                false
            }
        }
    }

    /// Begins the walk at the head of the queue.
    fn start<X: Outside>(&mut self, at: Tick, cx: &mut X, when: &When) {
        self.until = NEVER;
        if let Some(w) = self.walks.first() {
            let end = cx.walk(Side::Data, at, w.vaddr, w.page_shift, w.asid);
            self.until = when.cycle_of(end).max(when.cycle + 1);
        }
    }

    /// Ends of walks and of second-level hits up to this cycle. A reference with a second translation to come stays.
    #[cold]
    pub fn events<X: Outside>(&mut self, cx: &mut X, when: &When, ready: &mut Vec<Seq>) {
        let before = ready.len();
        if self.next_late <= when.cycle {
            self.late.retain(|(at, seq)| {
                let over = *at <= when.cycle;
                if over {
                    ready.push(*seq);
                }
                !over
            });
            self.next_late = self.late.iter().map(|(at, _)| *at).min().unwrap_or(NEVER);
        }
        if self.until <= when.cycle && !self.walks.is_empty() {
            let ended = self.walks[0];
            self.walks.retain(|w| {
                let over = w.same_page(&ended);
                if over && w.seq.is_some() {
                    ready.push(w.seq);
                }
                !over
            });
            self.start(when.tick, cx, when);
        }
        let mut i = before;
        while i < ready.len() {
            let seq = ready[i];
            let again = ready[before..i].contains(&seq);
            if again || self.walks.iter().any(|w| w.seq == seq) || self.late.iter().any(|(_, s)| *s == seq) {
                ready.remove(i);
            } else {
                i += 1;
            }
        }
    }

    /// What is younger than `last` wants nothing any more. A walk under way goes on.
    pub fn squash(&mut self, last: Seq) {
        if !self.late.is_empty() {
            self.late.retain(|(_, seq)| *seq <= last);
            self.next_late = self.late.iter().map(|(at, _)| *at).min().unwrap_or(NEVER);
        }
        let mut first = true;
        self.walks.retain_mut(|w| {
            let stays = std::mem::take(&mut first) || w.seq <= last;
            if w.seq > last {
                w.seq = Seq::NONE;
            }
            stays
        });
    }

    pub fn describe(&self) -> String {
        match self.walks.first() {
            Some(w) => format!("{} wanted, {:#x} until cycle {}", self.walks.len(), w.vaddr, self.until),
            None => format!("none; {} second-level hits on their way", self.late.len()),
        }
    }
}
