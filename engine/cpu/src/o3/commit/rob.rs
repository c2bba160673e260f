//! The reorder buffer's entries. Micro-ops in it are `head..end` of the ring; squashed ones stay as entries before the next
//! younger micro-op until everything older has gone.
//!
//! In gem5 nothing may enter while the ROB is walked: what rename sends until dispatch's stall reaches it would be lost
//! (`Commit::getInsts`, `IEW::emptyRenameInsts`), which its delays of a cycle rule out. Here it enters, for any
//! `iewToRenameDelay`; the walk then frees none of the entries before it.

use educe::Educe;

use crate::memo::archive::Archive;
use crate::o3::inst::InstRing;
use crate::o3::io::Io;
use crate::o3::seq::Seq;

#[derive(Debug, Educe)]
#[educe(Clone)]
pub(super) struct Rob {
    /// The next micro-op to enter.
    end: Seq,
    /// Entries that are taken, squashed micro-ops included.
    used: u32,
    size: u32,
    /// Squashed entries between each micro-op and the one before it.
    squashed: Box<[u16]>,
    /// Those behind the youngest micro-op, and the sum of `squashed`.
    squashed_behind: u32,
    squashed_between: u32,
}

impl Rob {
    /// `capacity`: the ring's.
    pub fn new(size: u32, capacity: usize) -> Self {
        let squashed = vec![0; capacity].into_boxed_slice();
        Rob { end: Seq::FIRST, used: 0, size, squashed, squashed_behind: 0, squashed_between: 0 }
    }

    /// The state in relative form.
    pub fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        let Self { end, used, size: _, squashed, squashed_behind, squashed_between } = self;
        a.seq(end);
        a.u32(used);
        a.u32(squashed_behind);
        a.u32(squashed_between);
        if a.loads() {
            squashed.fill(0);
        }
        if *squashed_between > 0 {
            ring.head().until(*end).for_each(|seq| a.u16(&mut squashed[ring.slot(seq).0]));
        }
    }

    #[inline]
    pub fn end(&self) -> Seq {
        self.end
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most `MAX_ROB`
    pub fn size(&self) -> u16 {
        self.size as u16
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub fn free(&self) -> u16 {
        self.size.saturating_sub(self.used) as u16
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    pub fn describe(&self) -> String {
        format!("{} of {} ROB entries taken, up to {}", self.used, self.size, self.end)
    }

    /// The micro-op at `end` enters.
    #[inline]
    pub fn push(&mut self, io: &Io) {
        let seq = self.end;
        if self.squashed_behind > 0 {
            let squashed = std::mem::take(&mut self.squashed_behind);
            self.squashed_between += squashed;
            debug_assert!(squashed <= self.size, "{}", self.describe());
            #[allow(clippy::cast_possible_truncation)] // at most the ROB's size
            {
                self.squashed[io.ring.slot(seq).0] = squashed as u16;
            }
        }
        self.used += io.cost(seq);
        debug_assert!(self.used <= self.size, "rename sends what finds room: {}", self.describe());
        self.end += 1;
    }

    /// A micro-op leaves its entry, if it has one of its own.
    #[inline]
    pub fn free_entries(&mut self, cost: u32) {
        self.used -= cost;
    }

    /// Squashes the micro-ops younger than `after`. How many entries they have.
    pub fn squash(&mut self, after: Seq, io: &Io) -> u32 {
        let mut n = std::mem::take(&mut self.squashed_behind);
        let from = (after + 1).max(io.ring.head());
        for seq in from.until(self.end) {
            n += io.cost(seq) + self.take_squashed_before(seq, io);
        }
        self.end = self.end.min(from);
        self.squashed_behind = n;
        n
    }

    /// The squashed entries directly before `seq`, which are counted there no more.
    #[inline]
    fn take_squashed_before(&mut self, seq: Seq, io: &Io) -> u32 {
        if self.squashed_between == 0 {
            return 0;
        }
        let n = std::mem::take(&mut self.squashed[io.ring.slot(seq).0]).into();
        self.squashed_between -= n;
        n
    }

    /// Everything older than `seq` has gone: frees the squashed entries before it. Whether there were any.
    #[inline]
    pub fn free_squashed_before(&mut self, seq: Seq, io: &Io) -> bool {
        if self.squashed_between == 0 {
            return false;
        }
        let n = self.take_squashed_before(seq, io);
        self.used -= n;
        n > 0
    }

    /// Frees `n` of the squashed entries behind the youngest micro-op, or those that are there: where one has entered since
    /// the squash, they are before it.
    pub fn free_youngest(&mut self, n: u32) {
        let n = n.min(self.squashed_behind);
        self.squashed_behind -= n;
        self.used -= n;
    }

    /// Frees the squashed entries behind the youngest micro-op. Whether there were any.
    #[inline]
    pub fn free_squashed(&mut self) -> bool {
        let n = std::mem::take(&mut self.squashed_behind);
        self.used -= n;
        n > 0
    }
}
