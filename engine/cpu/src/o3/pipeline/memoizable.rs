//! An out-of-order pipeline as memoized execution sees it.

use breakeven_base::{Cycle, MemRef};

use super::Pipeline;
use crate::memo::archive::{Archive, Base, Written};
use crate::memo::Memoizable;
use crate::o3::seq::STORES_DISPATCHED;
use crate::seq::Seq;

impl Memoizable for Pipeline {
    const ON_WRONG_PATHS: bool = true;

    /// Where the pipeline stands, between two cycles.
    fn base(&self) -> Base {
        let (loads, stores) = self.lsq.places();
        Base {
            seq: self.io.ring.head(),
            cycle: self.cycle,
            tick: self.when(self.cycle).tick.0,
            numbers: [loads, stores, self.dispatch.stats.stores],
        }
    }

    /// A hash of a few numbers that states of one relative form have in common.
    fn signature(&self) -> u64 {
        let ring = &self.io.ring;
        let (head, tail) = (ring.head(), ring.tail());
        let pc = if head < tail { ring.pc(head) } else { self.fetch.pc() };
        let ahead = |event: Cycle| if event == Cycle::MAX { u64::MAX } else { event.after(self.cycle) };
        let numbers = [
            pc,
            self.fetch.pc(),
            tail - head,
            self.fetch.path.placed.behind(head),
            self.rename.next().behind(head),
            self.issue.free().into(),
            ahead(self.execute.next_event(self.cycle)),
            ahead(self.lsq.next_event()),
        ];
        numbers
            .into_iter()
            .fold(self.lsq.signature(), |hash, n| (hash.rotate_left(13) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A hash of what states of one relative form have in common and takes little time to read: how far each micro-op has come
    /// and when it will be executed.
    fn shape(&self) -> u64 {
        self.io.ring.shape(self.cycle, self.execute.shape(self.cycle))
    }

    /// Writes the state in relative form, between two cycles. False: it has none.
    fn save(&mut self, to: &mut Written) -> bool {
        to.write(self.base(), self.lsq.address_rules(), |a| self.archive(a))
    }

    /// Goes on from a state in relative form, at `base`; `references` as they were saved. What no such state holds stays: the
    /// store sets, the statistics, which must have come so far already.
    fn load(&mut self, bytes: &[u8], references: &[MemRef], base: Base) {
        let rules = self.lsq.address_rules();
        let mut a = Archive::load(bytes, references, base, rules);
        self.archive(&mut a);
        debug_assert!(a.left() == 0 && !a.refused, "a state is read as it was written");
    }

    fn cycle(&self) -> Cycle {
        self.cycle
    }
    fn period(&self) -> u64 {
        self.clock.period()
    }
    fn insts(&self) -> u64 {
        self.commit.stats.insts
    }
    fn youngest(&self) -> Seq {
        self.fetch.path.placed
    }
    fn is_traced(&self) -> bool {
        self.io.trace.is_some()
    }
    fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        self.each_count(each);
    }
    /// Which instructions are of which store set.
    fn learned(&self) -> &[u32] {
        self.lsq.store_sets()
    }
    /// The store sets; where references go that were put aside for a wrong path and have come back.
    fn unrecorded_changes(&self) -> u64 {
        self.lsq.sets_changed() + self.fetch.path.references_back
    }
    /// The store sets are cleared after so many stores dispatched.
    fn forgets_at(&self) -> Option<(usize, u64)> {
        Some((STORES_DISPATCHED, self.lsq.stores_until_clear()))
    }
}
