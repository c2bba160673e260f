//! Decode: deals out micro-ops, at most `executeInputWidth` a cycle. (The front end has already split the instructions.)
//! Fact source: gem5 24.0 `src/cpu/minor/decode.cc`.

use super::activity::Activity;
use super::config::MinorConfig;
use super::latch::{Bundle, BundleEnd, Channel};
use crate::memo::archive::Archive;
use breakeven_base::Cycle;

#[derive(Clone, Debug)]
pub struct Decode {
    pub input: Channel<Bundle>,
    width: u64,
    cycle_input: bool,
    /// `gem5BundleBubbles`.
    bubbles: bool,
}

impl Decode {
    pub fn new(cfg: &MinorConfig) -> Self {
        Decode {
            input: Channel::new(cfg.fetch2ToDecodeForwardDelay, cfg.decodeInputBufferSize),
            width: u64::from(cfg.executeInputWidth),
            cycle_input: cfg.decodeCycleInput,
            bubbles: cfg.quirks.gem5BundleBubbles,
        }
    }

    /// The state in relative form.
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { input, width: _, cycle_input: _, bubbles: _ } = self;
        input.archive(a, |a, bundle| bundle.archive(a));
    }

    /// One cycle. Without room behind it, or input, it does nothing.
    #[inline(always)]
    pub fn tick(&mut self, now: Cycle, next: &mut Channel<Bundle>, activity: &mut Activity) {
        if !next.has_room() || !self.input.has(now) {
            return;
        }
        // Only an empty place is left of it.
        if self.input.front(now).is_some_and(|b| b.next == b.end) {
            self.input.pop();
            if !self.cycle_input || !self.input.has(now) {
                return;
            }
        }
        let mut bundle = self.input.take_uops(now, self.width, self.cycle_input);
        if !self.bubbles {
            bundle.ending = BundleEnd::Full;
        }
        next.put(now, bundle);
        activity.mark(now);
        if self.input.has(now) && next.has_room() {
            activity.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::inst::Seq;
    use super::super::latch::BundleEnd::{Bubble, Continued, Full};
    use super::*;

    fn decode(cycle_input: bool) -> (Decode, Channel<Bundle>, Activity) {
        let cfg = MinorConfig { decodeCycleInput: cycle_input, ..MinorConfig::default() };
        (Decode::new(&cfg), Channel::new(1, 2), Activity::new(1))
    }

    #[test]
    fn two_inputs_fill_one_output_only_with_cycle_input() {
        for (cycle_input, end) in [(true, 3), (false, 2)] {
            let (mut d, mut next, mut a) = decode(cycle_input);
            d.input.put(Cycle(3), Bundle { next: Seq(1), end: Seq(2), ending: Bubble });
            d.input.put(Cycle(4), Bundle { next: Seq(2), end: Seq(4), ending: Full });
            d.tick(Cycle(5), &mut next, &mut a);
            assert_eq!(
                next.front(Cycle(6)),
                Some(&Bundle { next: Seq(1), end: Seq(end), ending: if end == 2 { Bubble } else { Full } })
            );
        }
    }

    #[test]
    fn an_empty_place_behind_the_last_micro_op_is_passed_a_cycle_later() {
        for open in [false, true] {
            let (mut d, mut next, mut a) = decode(true);
            d.input.put(Cycle(4), Bundle { next: Seq(1), end: Seq(3), ending: if open { Bubble } else { Full } });
            d.tick(Cycle(5), &mut next, &mut a);
            assert_eq!((next.front(Cycle(6)).map(|b| b.end), d.input.is_empty()), (Some(Seq(3)), !open));
            d.tick(Cycle(6), &mut next, &mut a);
            next.pop();
            assert!(d.input.is_empty() && next.is_empty(), "nothing is sent on for it");
        }
    }

    #[test]
    fn half_a_width_of_an_instruction_that_goes_on_has_no_empty_place() {
        for (ending, out) in [(Continued, Full), (Full, Bubble)] {
            let (mut d, mut next, mut a) = decode(true);
            d.input.put(Cycle(4), Bundle { next: Seq(1), end: Seq(2), ending });
            d.tick(Cycle(5), &mut next, &mut a);
            assert_eq!(next.front(Cycle(6)), Some(&Bundle { next: Seq(1), end: Seq(2), ending: out }));
        }
    }

    #[test]
    fn a_full_buffer_behind_stops_it() {
        let (mut d, mut next, mut a) = decode(true);
        next.put(Cycle(4), Bundle { next: Seq(1), end: Seq(2), ending: Bubble });
        next.put(Cycle(4), Bundle { next: Seq(2), end: Seq(3), ending: Bubble });
        d.input.put(Cycle(4), Bundle { next: Seq(3), end: Seq(5), ending: Full });
        d.tick(Cycle(5), &mut next, &mut a);
        assert!(!next.has_room());
        next.pop();
        next.pop();
        d.tick(Cycle(6), &mut next, &mut a);
        assert_eq!(next.front(Cycle(7)), Some(&Bundle { next: Seq(3), end: Seq(5), ending: Full }));
    }
}
