//! Which states are worth looking up: to write a state down costs as much as some fifty instructions, so a state is looked
//! up only where its signature (a hash of a few numbers of the pipeline) has come before and has not failed.

/// Powers of two.
const ENTRIES: usize = 1 << 12;
const STATES: usize = 1 << 14;
/// Look-ups in vain until a signature is passed by, after one that was not.
const CONFIDENCE: u8 = 8;
/// A signature that is passed by so many times is looked up once more.
const PASSES: u8 = 64;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u32,
    confidence: u8,
    passed: u8,
}

#[derive(Clone, Debug, Default)]
pub struct Signatures {
    entries: Box<[Entry]>,
    /// That of the state looked up last.
    last: usize,
    /// Tags of the hashes of states that were written down.
    states: Box<[u32]>,
}

impl Signatures {
    pub fn new() -> Self {
        let entries = vec![Entry::default(); ENTRIES].into_boxed_slice();
        Signatures { entries, last: 0, states: vec![0; STATES].into_boxed_slice() }
    }

    pub fn is_on(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Whether a state of this hash has come before; from now on it has.
    #[allow(clippy::cast_possible_truncation)] // a tag and a place
    pub fn recurs(&mut self, hash: u64) -> bool {
        let tag = (hash >> 32) as u32 | 1;
        self.states.get_mut(hash as usize % STATES).is_some_and(|state| std::mem::replace(state, tag) == tag)
    }

    /// Whether to look up the state of this signature.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // a tag and a place
    pub fn is_worth_it(&mut self, signature: u64) -> bool {
        let (tag, place) = ((signature >> 32) as u32, signature as usize % ENTRIES);
        let Some(e) = self.entries.get_mut(place) else { return false };
        if e.tag != tag {
            *e = Entry { tag, confidence: 2, passed: 0 };
            return false;
        }
        if e.confidence == 0 {
            e.passed += 1;
            if e.passed < PASSES {
                return false;
            }
            (e.passed, e.confidence) = (0, 1);
        }
        self.last = place;
        true
    }

    /// The state looked up last came to nothing.
    pub fn failed(&mut self) {
        if let Some(e) = self.entries.get_mut(self.last) {
            e.confidence = e.confidence.saturating_sub(1);
        }
    }

    /// From the state looked up last on, segments were replayed.
    pub fn succeeded(&mut self) {
        if let Some(e) = self.entries.get_mut(self.last) {
            e.confidence = CONFIDENCE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNATURE: u64 = 5 << 32 | 7;

    #[test]
    fn a_signature_that_recurs_is_looked_up_until_it_has_failed() {
        let mut o = Signatures::new();
        assert_eq!([o.is_worth_it(SIGNATURE), o.is_worth_it(SIGNATURE)], [false, true]);
        o.failed();
        assert!(o.is_worth_it(SIGNATURE));
        o.failed();
        let passed = (0..1000).take_while(|_| !o.is_worth_it(SIGNATURE)).count();
        assert_eq!(passed, usize::from(PASSES) - 1, "then once in a while");
        o.succeeded();
        (0..CONFIDENCE).for_each(|_| o.failed());
        assert!(!o.is_worth_it(SIGNATURE));
    }

    #[test]
    fn a_state_recurs_from_its_second_time_on() {
        let mut o = Signatures::new();
        assert_eq!([o.recurs(0), o.recurs(0), o.recurs(1 << 40), o.recurs(0)], [false, true, false, false]);
    }
}
