//! Execution at fetch: the front end executes an instruction when it is fetched, and its micro-ops go into the ring.

use breakeven_base::{Now, StepResult, Uop, UopFlags, MAX_UOPS};

use super::{Fetch, Status};
use crate::o3::inst::{Flow, Note};
use crate::o3::io::Io;
use crate::o3::seq::Seq;
use crate::outside::Outside;
use crate::when::When;

/// Properties that end a straight line of execution, or that need care.
const SPECIAL: UopFlags = UopFlags::BRANCH
    .union(UopFlags::TRAP)
    .union(UopFlags::EFFECT)
    .union(UopFlags::SQUASH_AFTER)
    .union(UopFlags::ELIMINATED)
    .union(UopFlags::MICRO_FUSED)
    .union(UopFlags::FIRST_DECODER);

impl Fetch {
    /// Lets the front end execute the instruction at `pc` and puts its micro-ops into the ring. False: there are none.
    #[inline]
    pub(super) fn execute_next<X: Outside>(&mut self, io: &mut Io, cx: &mut X, when: &When) -> bool {
        if self.path.placed + MAX_UOPS as u64 - io.ring.head() > io.ring.capacity() as u64 {
            return false;
        }
        let now = Now { tick: when.tick, cycle: when.cycle, drained: false };
        self.step.n = 0;
        match cx.step(self.path.placed, now, &mut self.step) {
            StepResult::Done => {
                self.stats.insts += 1;
                self.place_step(self.path.placed, io);
                true
            }
            StepResult::NeedsDrain => self.fetch_non_speculative(io, cx, Note::WAITS),
            StepResult::Paused => self.fetch_non_speculative(io, cx, Note::PAUSES),
            StepResult::Blocked => {
                let s = &self.step;
                if s.n != 1 || s.len == 0 || s.uops[0].flags.any(UopFlags::BRANCH) {
                    self.status = Status::Stopped;
                    return false;
                }
                self.fetch_non_speculative(io, cx, Note::WAITS)
            }
        }
    }

    /// An instruction that the front end has not executed becomes a non-speculative micro-op: it is executed at the ROB's
    /// head.
    #[cold]
    fn fetch_non_speculative<X: Outside>(&mut self, io: &mut Io, cx: &mut X, what: Note) -> bool {
        let s = &mut self.step;
        if s.n != 1 {
            s.uops[0] = Uop::default();
            s.len = if s.n == 0 { 1 } else { s.len };
            s.n = 1;
        }
        s.pc = cx.pc();
        s.uops[0].flags |= UopFlags::FIRST | UopFlags::LAST | UopFlags::NON_SPECULATIVE;
        s.uops[0].flags &= !(UopFlags::EFFECT | UopFlags::TRAP | UopFlags::BRANCH);
        s.mem[0].valid = false;
        s.branch = Default::default();
        s.next_pc = s.pc.wrapping_add(s.len.into());
        self.place_step(self.path.placed, io);
        io.ring.set_note(io.ring.tail(), what);
        true
    }

    /// Puts the micro-ops of the step into the ring from `at` on.
    #[inline(always)]
    pub(super) fn place_step(&mut self, at: Seq, io: &mut Io) {
        let s = &self.step;
        let flow = Flow {
            next_pc: s.next_pc,
            predicted: 0,
            target: s.branch.target,
            branch: s.branch.kind,
            len: s.len,
            taken: false,
        };
        self.path.placed = at + u64::from(s.n);
        self.place_uop(0, at, &flow, io);
        // Most instructions are one micro-op: the loop costs those nothing.
        if self.step.n > 1 {
            self.place_more(at, &flow, io);
        }
    }

    #[inline(never)]
    fn place_more(&mut self, at: Seq, flow: &Flow, io: &mut Io) {
        for i in 1..usize::from(self.step.n).min(MAX_UOPS) {
            self.place_uop(i, at + i as u64, flow, io);
        }
    }

    /// Puts micro-op `i` of the step at `seq`.
    #[inline(always)]
    fn place_uop(&mut self, i: usize, seq: Seq, flow: &Flow, io: &mut Io) {
        let s = &self.step;
        let flags = s.uops[i].flags;
        io.ring.place(seq, &s.uops[i], &s.mem[i], s.pc, flow);
        let bits = if flags.any(SPECIAL) { self.note_of(flags, seq, io) } else { Note::empty() };
        io.ring.set_note(seq, bits);
    }

    /// What fetch notes of a micro-op with one of the [`SPECIAL`] properties, just placed at `seq`.
    #[inline]
    fn note_of(&mut self, flags: UopFlags, seq: Seq, io: &mut Io) -> Note {
        let mut bits = Note::empty();
        if flags.any(UopFlags::EFFECT) {
            io.ring.set_effect(seq, self.step.effect);
        }
        if io.rules.micro_fusion && flags.any(UopFlags::MICRO_FUSED) {
            bits |= Note::FUSED_NO_SLOT;
        }
        if io.rules.move_elimination && flags.any(UopFlags::ELIMINATED) {
            bits |= Note::ELIMINATED;
        }
        if io.rules.macro_fusion && flags.any(UopFlags::FUSE_TAIL) && self.follows_fusion_head(seq, io) {
            bits |= Note::FUSED_NO_SLOT | Note::FUSED_WITH_PREV;
        }
        // What the loop buffer holds has been decoded.
        if flags.any(UopFlags::FIRST_DECODER) && !self.loops.has(self.pc) {
            bits |= Note::FIRST_DECODER;
            self.first_decoder = true;
        }
        bits
    }

    /// Whether the micro-op directly before `seq` is in the fetch queue and can be macro-fused with a branch at `seq`.
    fn follows_fusion_head(&self, seq: Seq, io: &Io) -> bool {
        let before = seq - 1;
        before >= self.queue
            && io.ring.flags(before).any(UopFlags::FUSE_HEAD)
            && !io.ring.note(before).intersects(Note::ELIMINATED)
            && io.ring.flow(before).next_pc == io.ring.pc(seq)
            && io.ring.flow(before).next_pc == io.ring.pc(before).wrapping_add(io.ring.flow(before).len.into())
    }
}
