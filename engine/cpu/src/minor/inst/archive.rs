//! The micro-ops in flight, in relative form.

use breakeven_base::UopFlags;

use super::super::pipe::{PREDICTIONS, STREAMS};
use super::{DynInst, InstRing, Outcome, Placeholder, Seq};
use crate::memo::archive::Archive;

impl InstRing {
    /// A hash, begun with `hash`, of where the micro-ops from `oldest` on are from and how far they have come.
    pub fn shape(&self, oldest: Seq, hash: u64) -> u64 {
        oldest.until(self.tail).fold(hash, |hash, seq| {
            let DynInst { pc, unit, in_lsq, stream, .. } = self.get(seq);
            let progress = u64::from(*unit) << 40 | u64::from(*in_lsq) << 48 | u64::from(*stream & 1) << 49;
            (hash.rotate_left(5) ^ pc ^ progress).wrapping_mul(0x517c_c1b7_2722_0a95)
        })
    }

    /// The micro-ops from the oldest that is needed on.
    pub fn archive(&mut self, a: &mut Archive) {
        let base = a.base.seq;
        let mut tail = self.tail;
        a.seq(&mut tail);
        if a.loads() {
            self.tail = tail;
            // What has been predecoded belongs to a wrong path, on which no state is.
            self.clear_predecoded();
            while self.tail - base > self.capacity() && self.grow(base) {}
        }
        for seq in base.until(tail) {
            let slot = self.slot(seq);
            let inst = &mut self.slots[slot];
            inst.archive(a);
            if inst.outcome != Outcome::Straight {
                a.u64(&mut self.targets[slot]);
            }
            let inst = &self.slots[slot];
            if inst.uop.flags.any(UopFlags::MEM) && !inst.in_lsq && !inst.predecoded {
                a.reference(seq, &mut self.mems[slot]);
            }
        }
    }
}

impl DynInst {
    fn archive(&mut self, a: &mut Archive) {
        if a.loads() {
            *self = DynInst::default();
        }
        let DynInst {
            uop,
            stream,
            prediction,
            unit,
            in_lsq,
            can_early_issue,
            placeholder,
            outcome,
            tried_to_predict,
            predecoded,
            fork,
            extra_commit,
            min_commit,
            wait_for,
            pc,
        } = self;
        let flags = u8::from(*in_lsq)
            | u8::from(*can_early_issue) << 1
            | u8::from(*tried_to_predict) << 2
            | u8::from(*predecoded) << 3;
        let mut more = [*unit, flags, *outcome as u8, 0, 0];
        a.uop(uop, &mut more);
        let [new_unit, flags, how, _, _] = more;
        *unit = new_unit;
        let flag = |bit: u8| flags >> bit & 1 != 0;
        (*in_lsq, *can_early_issue, *tried_to_predict, *predecoded) = (flag(0), flag(1), flag(2), flag(3));
        *outcome = Outcome::ALL[usize::from(how) % Outcome::ALL.len()];
        a.number32(STREAMS, stream);
        a.number32(PREDICTIONS, prediction);
        a.u32(extra_commit);
        a.cycle(min_commit);
        a.seq_in_flight(wait_for);
        a.u64(pc);
        a.refuse(*placeholder != Placeholder::No || *fork != 0 || uop.flags.any(UopFlags::TRAP | UopFlags::EFFECT));
    }
}
