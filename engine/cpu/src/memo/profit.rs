//! Whether looking states up pays. What it costs and what replays save is counted in parts of an instruction run by the
//! pipeline; a core may lose one ninety-sixth of its instructions, and no more, beyond a sum to begin with. Counts alone decide:
//! two runs of one program look up the same states.

/// Parts of an instruction.
const PARTS: i64 = 96;
/// Instructions that may be lost to begin with, and at most after a gain.
const BEGINNING: i64 = 12_288;
const MOST: i64 = 131_072;
/// Instructions that there must be again after all have been lost.
const RESUMED_WITH: i64 = 1_024;
/// A state written and compared costs an instruction for so many bytes, and so many parts beside.
const BYTES: i64 = 256;
const LOOK_UP: i64 = 6 * PARTS;
/// A recording, as many instructions; for each that it has, a quarter of one more.
const RECORDING: i64 = 16 * PARTS;
const RECORDED: i64 = PARTS / 5;
/// Setting the pipeline back, and each call that is made again on the way.
const SET_BACK: i64 = 16 * PARTS;
const CALL: i64 = PARTS / 8;
/// What an instruction replayed saves.
const REPLAYED: i64 = PARTS / 2;

/// What it costs to look up a state of `bytes`.
fn look_up(bytes: usize) -> i64 {
    LOOK_UP + bytes as i64 * PARTS / BYTES
}

#[derive(Clone, Copy, Debug)]
pub struct Profit {
    parts: i64,
    /// All has been lost: no state is looked up until there is enough again.
    is_spent: bool,
    /// Instructions committed when it was last asked.
    insts: u64,
    /// How often all has been lost.
    pub spent: u64,
}

impl Default for Profit {
    fn default() -> Self {
        Profit { parts: BEGINNING * PARTS, is_spent: false, insts: 0, spent: 0 }
    }
}

impl Profit {
    /// Whether to look states up, `insts` having been committed.
    #[inline]
    pub fn is_left(&mut self, insts: u64) -> bool {
        // Fewer than before: the machine is back at its snapshot.
        self.add(insts.saturating_sub(self.insts) as i64);
        self.insts = insts;
        self.is_spent &= self.parts < RESUMED_WITH * PARTS;
        !self.is_spent
    }

    fn add(&mut self, parts: i64) {
        self.parts = self.parts.saturating_add(parts).min(MOST * PARTS);
    }

    fn take(&mut self, parts: i64) {
        self.parts -= parts;
        if self.parts < 0 && !self.is_spent {
            self.is_spent = true;
            self.spent += 1;
        }
    }

    /// A state of `bytes` has been written and looked up.
    pub fn looked_up(&mut self, bytes: usize) {
        self.take(look_up(bytes));
    }

    /// A recording of `insts` has ended.
    pub fn recorded(&mut self, insts: u64) {
        self.take(RECORDING + RECORDED * insts as i64);
    }

    /// The pipeline has been set to where `calls` begin, which it makes again.
    pub fn set_back(&mut self, calls: u64) {
        self.take(SET_BACK + CALL * calls as i64);
    }

    pub fn replayed(&mut self, insts: u64) {
        self.add(REPLAYED * insts as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_pays_costs_one_ninety_sixth_of_the_instructions_beyond_the_beginning() {
        let mut profit = Profit::default();
        let (mut lost, insts) = (0, 10_000_000_u64);
        for at in (0..insts).step_by(16) {
            if profit.is_left(at) {
                profit.looked_up(4_000);
                lost += look_up(4_000);
            }
        }
        let most = insts as i64 + BEGINNING * PARTS + look_up(4_000);
        assert!(lost <= most && lost > most / 2, "{lost} of {most} parts");
        assert!(profit.spent > 0);
    }

    #[test]
    fn what_pays_is_never_stopped() {
        let mut profit = Profit::default();
        for at in (0..10_000_000).step_by(200) {
            assert!(profit.is_left(at));
            profit.looked_up(4_000);
            profit.replayed(150);
        }
        assert_eq!(profit.spent, 0);
    }

    #[test]
    fn a_machine_that_goes_back_to_its_snapshot_keeps_its_credit() {
        let mut profit = Profit::default();
        while profit.is_left(0) {
            profit.looked_up(4_000);
        }
        let asked = (0..1_000).take_while(|i| !profit.is_left((i % 2) * 1_000)).count();
        assert!(asked > 10 && asked < 200, "{asked}");
    }
}
