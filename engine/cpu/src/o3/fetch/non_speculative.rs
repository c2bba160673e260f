//! Placeholders: instructions that the front end executes only when they are the oldest (`StepResult::NeedsDrain`).

use breakeven_base::{Cycle, Now, StepResult, Uop, UopFlags};

use super::{Fetch, Status};
use crate::o3::inst::Note;
use crate::o3::io::Io;
use crate::o3::seq::Seq;
use crate::outside::Outside;
use crate::when::When;

/// What became of a placeholder at the ROB's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtHead {
    /// It has been executed, and so have the instructions that were fetched behind it.
    Done,
    /// What is younger than the number is squashed at once (it is executed if it stays), then [`Fetch::after_head`] is called.
    Squash(Seq, Then),
}

/// What fetch does after such a squash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Resume,
    /// The first micro-ops squashed turned out otherwise: they are fetched again as what they are.
    Refetch,
    /// A trap: nothing is fetched.
    Stop,
    /// The run pauses before the placeholder.
    Pause,
    /// wfi and the like: the placeholder is executed once more in this cycle.
    Wait(Cycle),
}

impl Fetch {
    /// Executes the instruction that the placeholder `seq` stands for, now that everything older has committed. `renamed`: the
    /// next micro-op to be renamed.
    #[cold]
    pub fn execute_at_head<X: Outside>(
        &mut self,
        seq: Seq,
        renamed: Seq,
        io: &mut Io,
        cx: &mut X,
        when: &When,
    ) -> AtHead {
        self.path.restore_fork(cx, seq, &mut io.ring);
        let now = Now { tick: when.tick, cycle: when.cycle, drained: true };
        self.step.n = 0;
        let pauses = io.ring.note(seq).intersects(Note::PAUSES);
        match if pauses { StepResult::Paused } else { cx.step(seq, now, &mut self.step) } {
            StepResult::Done => {}
            StepResult::Paused => {
                // It leaves as if it had never been fetched.
                self.path.placed = seq;
                return AtHead::Squash(seq - 1, Then::Pause);
            }
            StepResult::NeedsDrain | StepResult::Blocked => {
                self.path.placed = seq + 1;
                return AtHead::Squash(seq, Then::Wait(when.cycle_of(cx.irq_deadline())));
            }
        }
        let uop = self.step.uops[0];
        let mem = UopFlags::MEM;
        let expected = io.ring.flags(seq) & mem;
        let trap = uop.flags.any(UopFlags::TRAP);
        // A trap has no result; a register that was renamed for one would be lost.
        let promised = !expected.is_empty() || io.ring.uop(seq).dst.iter().any(|r| r.is_some());
        if self.step.n != 1 || (!trap && uop.flags & mem != expected) || (trap && promised) {
            return AtHead::Squash(seq - 1, Then::Refetch);
        }
        let known = *io.ring.uop(seq);
        *io.ring.uop_mut(seq) = Uop { src: known.src, dst: known.dst, class: known.class, ..uop };
        io.ring.uop_mut(seq).flags |= known.flags & (UopFlags::SERIALIZE_AFTER | UopFlags::SERIALIZE_BEFORE);
        io.ring.set_note(seq, Note::empty());
        io.ring.set_mem(seq, &self.step.mem[0]);
        io.ring.set_effect(seq, self.step.effect);
        let flow = io.ring.flow_mut(seq);
        flow.next_pc = self.step.next_pc;
        let straight = flow.predicted == flow.next_pc && !trap;
        self.path.placed = seq + 1;
        if trap {
            AtHead::Squash(seq, Then::Stop)
        } else if straight && io.ring.tail() > seq + 1 {
            self.execute_younger(seq + 1, renamed, io, cx, when)
        } else {
            AtHead::Squash(seq, Then::Resume)
        }
    }

    /// The squash behind `after` that [`Fetch::execute_at_head`] asked for has reached all units.
    pub fn after_head<X: Outside>(&mut self, after: Seq, then: Then, io: &mut Io, cx: &mut X, now: Cycle) {
        if then == Then::Refetch {
            self.place_step(after + 1, io);
        }
        self.redirect_behind(after, io, cx, now);
        if matches!(then, Then::Stop | Then::Wait(_)) {
            self.status = Status::Stopped;
        }
    }

    /// A placeholder has been executed and execution goes on straight behind it: the instructions that were fetched behind it
    /// on a fork (none of them is renamed yet) are executed on the path itself. Where one turns out otherwise, it and all
    /// behind it are squashed.
    fn execute_younger<X: Outside>(&mut self, from: Seq, renamed: Seq, io: &mut Io, cx: &mut X, when: &When) -> AtHead {
        let end = io.ring.tail();
        let mut seq = from;
        let now = Now { tick: when.tick, cycle: when.cycle, drained: false };
        while seq < end {
            let (pc, noted) = (io.ring.pc(seq), io.ring.note(seq));
            let mut last = seq;
            while last + 1 < end && !io.ring.flags(last).any(UopFlags::LAST) {
                last += 1;
            }
            let predicted = io.ring.flow(last).predicted;
            let whole = io.ring.flags(last).any(UopFlags::LAST) && seq >= renamed;
            if !whole || cx.pc() != pc {
                return AtHead::Squash(seq - 1, Then::Resume);
            }
            self.step.n = 0;
            let result = cx.step(seq, now, &mut self.step);
            let same = self.step.n != 0 && u64::from(self.step.n) == last + 1 - seq;
            io.ring.set_tail(last + 1);
            match result {
                StepResult::Done if same && !noted.intersects(Note::PLACEHOLDER) && !self.step_traps() => {
                    self.patch(seq, io);
                    if predicted != io.ring.flow(last).next_pc {
                        if !self.path.can_fork() {
                            return AtHead::Squash(seq - 1, Then::Resume);
                        }
                        self.path.fork(cx, predicted, &io.ring, true);
                    }
                }
                StepResult::Done => return AtHead::Squash(seq - 1, Then::Refetch),
                _ if noted.intersects(Note::WAITS) && self.path.can_fork() && last + 1 < end => {
                    self.path.placed = last + 1;
                    self.path.fork(cx, predicted, &io.ring, false);
                }
                _ => {
                    self.path.placed = seq;
                    return AtHead::Squash(seq - 1, Then::Resume);
                }
            }
            seq = last + 1;
        }
        io.ring.set_tail(end);
        self.path.placed = end;
        if self.status == Status::Stopped {
            // It had no fork left, or nothing to fetch where it stood: try again.
            self.redirect(self.pc, when.cycle);
        }
        AtHead::Done
    }

    fn step_traps(&self) -> bool {
        self.step.uops[..usize::from(self.step.n)].iter().any(|u| u.flags.any(UopFlags::TRAP))
    }

    /// The micro-ops from `seq` on get the references and the flow of the step; what the pipeline knows of them stays.
    fn patch(&mut self, seq: Seq, io: &mut Io) {
        let step = &self.step;
        let n = u64::from(step.n);
        for i in 0..n {
            let at = seq + i;
            io.ring.set_mem(at, &step.mem[i as usize]);
            io.ring.set_effect(at, step.effect);
            let flow = io.ring.flow_mut(at);
            (flow.next_pc, flow.target) = (step.next_pc, step.branch.target);
        }
        self.path.placed = seq + n;
    }
}
