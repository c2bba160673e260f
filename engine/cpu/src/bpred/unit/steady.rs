//! The predictor in a loop's steady state: whether it stands as at an earlier time, and what further rounds would add.
//!
//! Counters that are saturated, histories that hold nothing but the loop: after each round the tables are as before. Then the
//! same branches get the same predictions in every further round. TAGE draws a random number for each branch and L-TAGE
//! counts iterations: they never stand as before.

use super::{BranchPredictor, BtbCounts, ByType, CondCounts, Counts, IndirectCounts};
use crate::bpred::direction::Direction;

impl BranchPredictor {
    /// Whether it may ever stand as before.
    #[must_use]
    pub fn has_steady_state(&self) -> bool {
        !matches!(self.direction, Direction::PathHistory(_) | Direction::Tage(_))
    }

    /// Keeps it in `to`, as a clone.
    pub fn keep(&mut self, to: &mut Option<Box<BranchPredictor>>) {
        let Some(to) = to else {
            *to = Some(Box::new(self.clone()));
            return;
        };
        let BranchPredictor { direction, btb, ras, indirect, requires_btb_hit, in_flight, counts } = to.as_mut();
        direction.clone_from(&self.direction);
        self.btb.keep(btb);
        ras.clone_from(&self.ras);
        indirect.clone_from(&self.indirect);
        *requires_btb_hit = self.requires_btb_hit;
        in_flight.clone_from(&self.in_flight);
        *counts = self.counts;
    }

    /// Whether it predicts from now on what `earlier` did, for branches whose numbers are higher by `seqs`.
    #[must_use]
    pub fn repeats(&self, earlier: &Self, seqs: u64) -> bool {
        self.in_flight.len() == earlier.in_flight.len()
            && self.in_flight.iter().zip(&earlier.in_flight).all(|(now, then)| {
                let moved = super::Record { seq: then.seq.wrapping_add(seqs), ..*then };
                *now == moved
            })
            && self.direction.is(&earlier.direction)
            && self.btb.is(&earlier.btb)
            && self.ras == earlier.ras
            && match (&self.indirect, &earlier.indirect) {
                (Some(now), Some(then)) => now.is(then),
                (now, then) => now.is_none() && then.is_none(),
            }
    }

    /// As if what has been predicted, corrected and committed since `earlier` had been so `times` more, each time behind
    /// numbers that are higher by `seqs`. It must repeat `earlier` ([`BranchPredictor::repeats`]).
    pub fn repeat(&mut self, earlier: &mut Self, times: u64, seqs: u64) {
        self.in_flight.iter_mut().for_each(|r| r.seq = r.seq.wrapping_add(times.wrapping_mul(seqs)));
        let mut then = Vec::new();
        earlier.for_each_count(&mut |count| then.push(*count));
        let mut then = then.into_iter();
        self.for_each_count(&mut |count| {
            let grown = count.wrapping_sub(then.next().unwrap_or(*count));
            *count = count.wrapping_add(times.wrapping_mul(grown));
        });
    }

    /// Every count, in one order.
    fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        let Counts {
            by_type: ByType { lookups, squashes, corrected, early_resteers, committed, mispredicted },
            target_provider,
            target_wrong,
            cond: CondCounts { predicted, predicted_taken, incorrect: cond_incorrect },
            btb: BtbCounts { lookups: btb_lookups, updates, hits, mispredicted: btb_mispredicted, taken_misses },
            indirect:
                IndirectCounts {
                    lookups: indirect_lookups,
                    hits: indirect_hits,
                    misses,
                    mispredicted: indirect_mispredicted,
                },
            incorrect,
            not_taken_mispredicted,
            taken_mispredicted,
        } = &mut self.counts;
        let by_type = [lookups, squashes, corrected, early_resteers, committed, mispredicted];
        by_type.into_iter().flatten().chain(target_provider).chain(target_wrong).for_each(&mut *each);
        [predicted, predicted_taken, cond_incorrect, btb_lookups, updates, hits, btb_mispredicted, taken_misses]
            .into_iter()
            .chain([indirect_lookups, indirect_hits, misses, indirect_mispredicted])
            .chain([incorrect, not_taken_mispredicted, taken_mispredicted])
            .for_each(&mut *each);
        self.btb.for_each_count(each);
        if let Some(ras) = &mut self.ras {
            ras.for_each_count(each);
        }
        if let Some(indirect) = &mut self.indirect {
            indirect.for_each_count(each);
        }
    }
}
