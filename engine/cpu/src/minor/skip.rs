//! Skips cycles in which nothing can change: while instructions move through a functional unit and everything else waits, the
//! clock advances to the first cycle in which something might change.
//!
//! Every bound here may be too early (that cycle is evaluated and changes nothing), none too late. The core is awake in all the cycles that
//! are left out, for something moves in a unit until the end of them; so the activity recorder need not see them.

use super::pipeline::Pipeline;
use breakeven_base::Cycle;

impl Pipeline {
    /// The cycle after which something might change, once `now` has been evaluated: at least the next.
    #[inline(never)]
    pub(super) fn next_change(&self, now: Cycle) -> Cycle {
        let next = now + 1;
        let moving = self.execute.next_unit_end(now);
        let by_time = moving
            .min(self.fetch1.next_event())
            .min(self.execute.lsq.next_event())
            .min(self.latches.f1_to_f2.next())
            .min(self.latches.f2_to_f1.next())
            .min(self.latches.e_to_f1.next());
        if by_time <= next || moving == Cycle::MAX {
            return next;
        }
        let room = self.decode.input.has_room();
        if self.fetch1.has_work(self.fetch2.input.can_reserve())
            || self.fetch2.has_work(room) && !self.fetch2.is_waiting()
            || self.decode.input.has(next) && self.execute.input.has_room()
        {
            return next;
        }
        let by_time = if self.decode.input.has(next) { by_time } else { by_time.min(self.decode.input.next()) };
        by_time.min(self.execute.next_change(now, &self.ring)).max(next)
    }

    /// Moves the clock on after a cycle in which nothing went on its way, but for what is in the units.
    pub(super) fn skip_still(&mut self, now: Cycle, max_cycles: u64) {
        let next = self.next_change(now).min(Cycle(max_cycles.saturating_add(1)));
        if next > self.time.cycle {
            let cycles = next - self.time.cycle;
            self.execute.skip_still(now, cycles);
            self.time.ticked += cycles;
            self.time.cycle = next;
        }
    }
}
