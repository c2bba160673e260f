//! Minor's in-flight queue: the micro-ops between issue and commit.

use super::inst::Seq;
use super::latch::Ring;
use crate::memo::archive::Archive;

/// The in-flight queue, oldest first, at most `N` micro-ops, run-length encoded: sequence numbers are nearly always
/// consecutive, and only the breaks are stored.
#[derive(Clone, Debug)]
pub struct Flight<const N: usize> {
    /// The oldest, or none.
    head: Seq,
    /// Behind the youngest.
    end: Seq,
    len: usize,
    /// The end of the run of consecutive numbers that `head` is in: behind it comes the first of `jumps`. `Seq::MAX`: there is
    /// one run only.
    next_jump: Seq,
    /// The end of each run, and the number with which the next run begins.
    jumps: Ring<(Seq, Seq), N>,
}

impl<const N: usize> Flight<N> {
    pub fn new() -> Self {
        Flight { head: Seq::NONE, end: Seq::NONE, len: 0, next_jump: Seq::MAX, jumps: Ring::new() }
    }
    /// The oldest, or none.
    #[inline]
    pub fn head(&self) -> Seq {
        self.head
    }
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == Seq::NONE
    }
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len == N
    }

    /// Appends the youngest. The caller has made sure that there is room.
    #[inline]
    pub fn enter(&mut self, seq: Seq) {
        debug_assert!(self.len < N && seq.is_some(), "in flight: too many");
        if self.len == 0 {
            self.head = seq;
        } else if seq != self.end {
            self.jump(seq);
        }
        self.end = seq + 1;
        self.len += 1;
    }

    fn jump(&mut self, seq: Seq) {
        if self.jumps.is_empty() {
            self.next_jump = self.end;
        }
        self.jumps.push((self.end, seq));
    }

    /// Removes the oldest, which exists.
    #[inline]
    pub fn leave(&mut self) {
        debug_assert!(self.len > 0, "nothing in flight");
        self.len -= 1;
        self.head = if self.len == 0 { Seq::NONE } else { self.head + 1 };
        if self.head == self.next_jump {
            self.take_jump();
        }
    }

    /// The state in relative form.
    #[allow(clippy::cast_possible_truncation)] // few
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { head, end, len, next_jump, jumps } = self;
        let mut n = *len as u16;
        a.u16(&mut n);
        *len = n.into();
        if n == 0 {
            if a.loads() {
                (*head, *end, *next_jump) = (Seq::NONE, Seq::NONE, Seq::MAX);
                jumps.clear();
            }
            return;
        }
        a.seq(head);
        a.seq(end);
        jumps.archive(a, |a, (from, to)| {
            a.seq(from);
            a.seq(to);
        });
        *next_jump = jumps.front().map_or(Seq::MAX, |(from, _)| *from);
    }

    fn take_jump(&mut self) {
        if let Some((_, to)) = self.jumps.pop() {
            self.head = to;
        }
        self.next_jump = self.jumps.front().map_or(Seq::MAX, |(from, _)| *from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_leave_in_the_order_in_which_they_came() {
        let mut f = Flight::<8>::new();
        assert!(f.is_empty() && f.head() == Seq::NONE);
        // The last but one run has a lower number: an instruction that goes through execute again.
        let order = [5, 6, 9, 12, 13, 2, 14];
        for round in 0..3 {
            let base = 100 * round;
            order.iter().for_each(|seq| f.enter(Seq(base + seq)));
            assert_eq!(f.len(), order.len());
            for seq in order {
                assert_eq!(f.head(), Seq(base + seq));
                f.leave();
            }
            assert!(f.is_empty() && f.head() == Seq::NONE && f.next_jump == Seq::MAX);
        }
        // Emptied and filled in turn.
        for seq in [3, 7, 8].map(Seq) {
            f.enter(seq);
            assert_eq!(f.head(), seq);
            f.leave();
        }
        (1..=8).for_each(|seq| f.enter(Seq(seq)));
        assert!(f.is_full());
    }
}
