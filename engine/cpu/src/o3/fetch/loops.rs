//! The loop buffer (*ours*): a loop whose body fits is fetched again without the instruction cache and the decoders.

/// The loop in the buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoopBuffer {
    pub start: u64,
    pub end: u64,
    /// The loop has been captured and is being fetched from the buffer.
    pub on: bool,
}

impl LoopBuffer {
    /// The instruction at `pc` comes out of the buffer.
    #[inline]
    pub fn has(&self, pc: u64) -> bool {
        self.on && (self.start..self.end).contains(&pc)
    }

    #[inline]
    pub fn stop(&mut self) {
        self.on = false;
    }

    /// A branch at `pc`, ending at `end`, is predicted taken to `target`. A backward branch taken twice in a row whose body
    /// fits into `size` bytes captures its loop.
    pub fn taken_branch(&mut self, pc: u64, end: u64, target: u64, size: u32) {
        let fits = target <= pc && end.wrapping_sub(target) <= u64::from(size);
        if fits && self.start == target && self.end == end {
            self.on = true;
        } else if fits {
            *self = LoopBuffer { start: target, end, on: false };
        } else if !(self.start..self.end).contains(&target) {
            self.on = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_captured_when_its_branch_is_taken_twice() {
        let mut l = LoopBuffer::default();
        l.taken_branch(0x120, 0x124, 0x100, 64);
        assert!(!l.has(0x100));
        l.taken_branch(0x120, 0x124, 0x100, 64);
        assert!(l.has(0x100) && l.has(0x120) && !l.has(0x124));
        // A branch within the loop keeps it, one out of it ends it.
        l.taken_branch(0x108, 0x10c, 0x110, 64);
        assert!(l.has(0x100));
        l.taken_branch(0x108, 0x10c, 0x200, 64);
        assert!(!l.has(0x100));
    }

    #[test]
    fn a_body_larger_than_the_buffer_is_not_captured() {
        let mut l = LoopBuffer::default();
        (0..3).for_each(|_| l.taken_branch(0x13c, 0x140, 0x100, 63));
        assert!(!l.has(0x100));
    }
}
