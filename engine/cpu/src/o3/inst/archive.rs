//! The micro-ops in flight, in relative form.

use breakeven_base::{BranchKind, Cycle, UopFlags};

use super::{DynInst, Flow, InstRing, Note, State, Wait};
use crate::memo::archive::Archive;
use crate::o3::seq::{Operand, Producer, Seq};

const KINDS: [BranchKind; 7] = [
    BranchKind::None,
    BranchKind::Cond,
    BranchKind::Jump,
    BranchKind::Indirect,
    BranchKind::Call,
    BranchKind::IndirectCall,
    BranchKind::Return,
];

const WAITS: [Wait; 12] = [
    Wait::Execution,
    Wait::Unit,
    Wait::Level1,
    Wait::Level2,
    Wait::Level3,
    Wait::Memory,
    Wait::TlbWalk,
    Wait::Split,
    Wait::ForwardFail,
    Wait::Replay,
    Wait::StoreQueue,
    Wait::Serialize,
];

/// How far the micro-ops have come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The next to be renamed.
    pub renamed: Seq,
    /// The youngest that has retired, as rename knows.
    pub retired: Seq,
    /// The end of what has been executed by the front end.
    pub placed: Seq,
}

/// A result; one whose micro-op has committed is there, and written as none.
pub fn archive_producer(from: &mut Producer, a: &mut Archive) {
    let mut seq = from.seq();
    #[allow(clippy::cast_possible_truncation)] // 0 or 1
    let mut result = if seq < a.base.seq { 0 } else { from.result() as u8 };
    a.seq_in_flight(&mut seq);
    a.u8(&mut result);
    *from = Producer::new(seq, result.into());
}

impl InstRing {
    /// A hash, begun with `hash`, of where each micro-op is from and how far it has come.
    pub fn shape(&self, now: Cycle, hash: u64) -> u64 {
        self.head.until(self.tail).fold(hash, |hash, seq| {
            let DynInst { state, note, pending, pc, ready_at, .. } = self.at(seq);
            let ready = if state.intersects(State::DONE) { ready_at.0.saturating_sub(now.0) } else { 0 };
            let progress =
                u64::from(state.bits()) | u64::from(note.bits()) << 8 | u64::from(*pending) << 16 | ready << 24;
            (hash.rotate_left(5) ^ pc ^ progress.rotate_left(40)).wrapping_mul(0x517c_c1b7_2722_0a95)
        })
    }

    /// A micro-op that is known by its slot is written by its distance from the oldest.
    #[allow(clippy::cast_possible_truncation)] // slots fit in 32 bits many times over
    fn archive_operand(&self, operand: &mut Operand, a: &mut Archive) {
        let mut at = 0;
        if !a.loads() && operand.is_some() {
            let seq = self.seq_of(operand.slot(), self.head);
            at = ((seq - self.head) as u32) << 2 | operand.number() as u32;
            at += 1;
        }
        a.u32(&mut at);
        if a.loads() {
            *operand = if at == 0 {
                Operand::NONE
            } else {
                let seq = self.head + u64::from((at - 1) >> 2);
                Operand::new(self.slot(seq), (at - 1) as usize & 3)
            };
        }
    }

    /// What is looked at of micro-ops that have left: where instructions begin, of those of which rename does not know yet that
    /// they have retired; that the last one is in no issue queue.
    fn archive_left(&mut self, retired: Seq, a: &mut Archive) {
        let head = a.base.seq;
        a.refuse(head.distance(retired) > 64);
        for seq in (retired + 1).max(Seq(head.0.saturating_sub(64))).until(head) {
            let flags = &mut self.at_mut(seq).uop.flags;
            let mut first = flags.any(UopFlags::FIRST);
            a.flag(&mut first);
            if a.loads() {
                *flags = if first { UopFlags::FIRST } else { UopFlags::empty() };
            }
        }
        if a.loads() {
            self.at_mut(head - 1).state = State::empty();
        }
    }

    pub fn archive(&mut self, progress: Progress, a: &mut Archive) {
        let base = a.base.seq;
        // Effects count only with a flag that none of them has.
        let Self { mask: _, insts: _, mem: _, effect: _, last_stamp: _, head, tail } = self;
        *head = base;
        a.seq(tail);
        let (tail, placed) = (*tail, progress.placed);
        self.archive_left(progress.retired, a);
        if !a.loads() {
            a.refuse(tail < base || placed < tail);
        }
        for seq in base.until(placed) {
            if a.refused {
                return;
            }
            let mut slot = *self.at(seq);
            if a.loads() {
                slot = DynInst { stamp: self.new_stamp(), ..DynInst::default() };
            }
            archive_what_it_is(&mut slot, a);
            if seq < tail {
                self.archive_how_it_fares(seq, &mut slot, progress.renamed, a);
            }
            if a.loads() {
                *self.at_mut(seq) = slot;
            }
            if slot.uop.flags.any(UopFlags::MEM) {
                let at = self.slot(seq).0;
                a.reference(seq, &mut self.mem[at]);
            }
        }
    }

    fn archive_how_it_fares(&self, seq: Seq, slot: &mut DynInst, renamed: Seq, a: &mut Archive) {
        let DynInst {
            uop,
            state,
            wait,
            note,
            pending,
            stamp: _,
            next,
            waiting,
            sources,
            ready_at,
            pc: _,
            replaced,
            flow: _,
        } = slot;
        a.bits(state);
        // It is asked only of what has not been executed.
        let mut waits_for = if state.intersects(State::DONE) { Wait::default() } else { *wait };
        a.one_of(&mut waits_for, &WAITS);
        if a.loads() {
            *wait = waits_for;
        }
        if seq >= renamed {
            return;
        }
        sources.iter_mut().for_each(|from| archive_producer(from, a));
        for (from, result) in replaced.iter_mut().zip(uop.dst) {
            if result.is_some() {
                archive_producer(from, a);
            }
        }
        if !state.intersects(State::DISPATCHED) {
            return;
        }
        a.u8(pending);
        let unlinked = note.intersects(Note::ELIMINATED) || note.executes_with_prev();
        for (next, from) in next.iter_mut().zip(&*sources) {
            if from.is_some() && !unlinked {
                self.archive_operand(next, a);
            }
        }
        waiting.iter_mut().for_each(|operand| self.archive_operand(operand, a));
        const BARRIER: UopFlags = UopFlags::READ_BARRIER.union(UopFlags::WRITE_BARRIER);
        if state.intersects(State::DONE) || uop.flags.any(BARRIER) {
            a.cycle(ready_at);
        }
    }
}

fn archive_what_it_is(slot: &mut DynInst, a: &mut Archive) {
    let DynInst { uop, note, pc, flow, .. } = slot;
    let Flow { next_pc, predicted, target, branch, len, taken } = flow;
    let mut more = [note.bits(), *branch as u8, *len, u8::from(*taken), 0];
    a.uop(uop, &mut more);
    if a.loads() {
        let [bits, kind, bytes, is_taken, _] = more;
        *note = Note::from_bits_retain(bits);
        (*branch, *len, *taken) = (KINDS[usize::from(kind) % KINDS.len()], bytes, is_taken != 0);
    }
    [pc, next_pc, predicted, target].into_iter().for_each(|address| a.u64(address));
    a.refuse(note.intersects(Note::PLACEHOLDER) || uop.flags.any(UopFlags::TRAP | UopFlags::EFFECT));
}
