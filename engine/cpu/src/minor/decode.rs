//! Decode: deals out micro-ops, at most `executeInputWidth` a cycle. (The front end has already split the instructions.)
//! Fact source: gem5 24.0 `src/cpu/minor/decode.cc`.

use super::activity::Activity;
use super::config::MinorConfig;
use super::latch::{Bundle, InputBuffer, Latch};

#[derive(Clone, Debug)]
pub struct Decode {
    pub input: InputBuffer<Bundle>,
    width: u64,
    cycle_input: bool,
}

impl Decode {
    pub fn new(cfg: &MinorConfig) -> Self {
        Decode {
            input: InputBuffer::new(cfg.decodeInputBufferSize),
            width: u64::from(cfg.executeInputWidth),
            cycle_input: cfg.decodeCycleInput,
        }
    }

    /// One cycle.
    #[inline]
    pub fn tick(
        &mut self,
        now: u64,
        arriving: Option<Bundle>,
        next: &mut InputBuffer<Bundle>,
        out: &mut Latch<Bundle>,
        activity: &mut Activity,
    ) {
        if let Some(bundle) = arriving {
            self.input.arrive(bundle);
        }
        if next.can_reserve() {
            let mut packed = Bundle::default();
            let mut room = self.width;
            // Inputs follow one another in the ring, so what is packed from several is one stretch.
            while room > 0 {
                let Some(b) = self.input.front_mut() else { break };
                let n = room.min(b.end - b.next);
                if packed.end == 0 {
                    packed.next = b.next;
                }
                b.next += n;
                packed.end = b.next;
                room -= n;
                if b.next == b.end {
                    self.input.pop();
                    if !self.cycle_input {
                        break;
                    }
                }
            }
            if packed.end != 0 {
                out.put(now, packed);
                next.reserve();
                activity.mark(now);
            }
        }
        if self.input.front().is_some() && next.can_reserve() {
            activity.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(cycle_input: bool) -> (Decode, InputBuffer<Bundle>, Latch<Bundle>, Activity) {
        let cfg = MinorConfig { decodeCycleInput: cycle_input, ..MinorConfig::default() };
        (Decode::new(&cfg), InputBuffer::new(2), Latch::new(1), Activity::new(1))
    }

    #[test]
    fn two_inputs_fill_one_output_only_with_cycle_input() {
        for (cycle_input, end) in [(true, 3), (false, 2)] {
            let (mut d, mut next, mut out, mut a) = decode(cycle_input);
            d.input.reserve();
            d.input.arrive(Bundle { next: 1, end: 2 });
            d.input.reserve();
            d.tick(5, Some(Bundle { next: 2, end: 4 }), &mut next, &mut out, &mut a);
            assert_eq!(out.take(6), Some(Bundle { next: 1, end }));
        }
    }

    #[test]
    fn a_full_buffer_behind_stops_it() {
        let (mut d, mut next, mut out, mut a) = decode(true);
        next.reserve();
        next.reserve();
        d.input.reserve();
        d.tick(5, Some(Bundle { next: 1, end: 3 }), &mut next, &mut out, &mut a);
        assert!(out.is_empty());
        next.free_reservation();
        d.tick(6, None, &mut next, &mut out, &mut a);
        assert_eq!(out.take(7), Some(Bundle { next: 1, end: 3 }));
    }
}
