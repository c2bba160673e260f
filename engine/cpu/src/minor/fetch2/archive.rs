//! Fetch2 in relative form.

use super::{Fetch2, Waiting};
use crate::memo::archive::Archive;
use crate::minor::pipe::{PREDICTIONS, STREAMS};

impl Fetch2 {
    /// The state in relative form, on the right path.
    pub fn archive(&mut self, a: &mut Archive) {
        let Self {
            input,
            p: _,
            waiting,
            stream,
            expected_stream,
            prediction,
            step: _,
            pending,
            unfinished,
            counted_steps,
            predecoded,
            turned: _,
            stats: _,
        } = self;
        a.refuse(*pending || *unfinished != u64::MAX);
        input.archive(a, |a, line| line.archive(a));
        a.one_of(waiting, &[Waiting::No, Waiting::Drain, Waiting::StreamChange]);
        a.number32(STREAMS, stream);
        a.number32(PREDICTIONS, prediction);
        // Lines of an older stream are stale whatever was predicted in it.
        let is_expected = a.present(*expected_stream == *stream);
        if a.loads() {
            *expected_stream = if is_expected { *stream } else { stream.wrapping_sub(1) };
            (*pending, *unfinished, *counted_steps, *predecoded) = (false, u64::MAX, false, false);
        }
    }

    /// The number of predictions so far.
    pub fn prediction(&self) -> u32 {
        self.prediction
    }

    /// Every count, in one order.
    pub fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        self.stats.by_flags.iter_mut().for_each(each);
    }
}
