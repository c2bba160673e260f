//! Whether the core has to be evaluated next cycle.
//!
//! This is not only a matter of speed: gem5's Minor stops its clock when nothing moves (`enableIdling`) and starts it again
//! at the edge *after* the one at which something arrives. A response to an idle core so costs one more cycle than a
//! response to a busy one, and every cycle count measured on gem5 contains that.
//! Fact source: gem5 24.0 `src/cpu/minor/activity.cc`, `src/cpu/activity.hh`, `src/sim/ticked_object.hh`.

use breakeven_base::Cycle;

use crate::memo::archive::Archive;

/// Counts what keeps the core awake.
#[derive(Clone, Debug)]
pub struct Activity {
    /// The last cycle in which something was written into a latch or a functional unit.
    last: Cycle,
    /// Cycles for which that keeps the core awake: the longest latch.
    window: u64,
    /// A stage has asked to be evaluated in the next cycle.
    stage: bool,
}

impl Activity {
    pub fn new(longest_delay: u32) -> Self {
        Activity { last: Cycle::ZERO, window: u64::from(longest_delay), stage: true }
    }
    /// The state in relative form.
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { last, window: _, stage } = self;
        a.cycle_then(last);
        a.flag(stage);
    }
    /// Something is on its way through a latch or a unit.
    #[inline]
    pub fn mark(&mut self, now: Cycle) {
        self.last = now;
    }
    /// A stage has work left.
    #[inline]
    pub fn wake(&mut self) {
        self.stage = true;
    }
    #[inline]
    pub fn is_awake(&self) -> bool {
        self.stage
    }
    #[inline]
    pub fn last_mark(&self) -> Cycle {
        self.last
    }
    /// Whether the core might stand still after this cycle: nobody has asked for another, nothing went on its way in it.
    #[inline]
    pub fn may_end(&self, now: Cycle) -> bool {
        !self.stage && self.last != now
    }
    /// After all stages: whether there is a next cycle.
    #[inline]
    pub fn end_of_cycle(&mut self, now: Cycle) -> bool {
        let active = self.stage || (self.last != Cycle::ZERO && now < self.last + self.window);
        self.stage = false;
        active
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latch_keeps_the_core_awake_until_it_is_read() {
        let mut a = Activity::new(1);
        assert!(a.end_of_cycle(Cycle(1)));
        a.mark(Cycle(2));
        assert!(a.end_of_cycle(Cycle(2)));
        assert!(!a.end_of_cycle(Cycle(3)));
        a.wake();
        assert!(a.end_of_cycle(Cycle(4)));
        assert!(!a.end_of_cycle(Cycle(5)));
    }
}
