//! Minor's pipeline trace: the stages of each micro-op, as records of [`crate::pipeview`].
//!
//! Micro-ops go through every stage in the order of their numbers, so a look at each stage at the end of a cycle tells which
//! of them it has let through; nothing else in the core knows of the trace. *fetch* is when fetch2 takes a micro-op out of
//! its line, *decode* when decode sends it on; *rename*, which this core does not have, repeats decode; *dispatch* is when
//! execute can see it, *issue* when it enters a unit, *complete* when it is at that unit's end, or memory has answered.

use breakeven_base::{Cycle, UopFlags};

use super::Pipeline;
use crate::minor::inst::{Seq, NO_UNIT};
use crate::outside::Outside;
use crate::pipeview::{self, PipeView, Window};

/// The trace, and what each stage had let through at the end of the last cycle.
#[derive(Clone, Debug)]
pub struct Trace {
    view: PipeView,
    /// Cycles from decode to execute.
    to_execute: u64,
    fetched: Seq,
    decoded: Seq,
    issued: Seq,
    gone: Seq,
    stream: u32,
}

impl Pipeline {
    /// Starts (or with `None` ends) the trace of the micro-ops fetched from now on.
    pub fn set_trace(&mut self, window: Option<Window>) {
        let (tail, period, slots) = (self.ring.tail, self.time.clock.period(), self.ring.bound());
        self.trace = window.map(|window| {
            Box::new(Trace {
                view: PipeView::new(slots, period, window),
                to_execute: self.execute.input.delay(),
                fetched: tail,
                decoded: tail,
                issued: tail,
                gone: tail,
                stream: self.execute.stream(),
            })
        });
    }

    /// The records since the last call; with `finish` also of what is still in flight.
    pub fn take_trace(&mut self, finish: bool) -> String {
        let Some(trace) = &mut self.trace else { return String::new() };
        if finish {
            trace.view.finish();
        }
        trace.view.take()
    }

    /// The trace goes on from here: what has ended leaves no record. False where a micro-op in flight was fetched before
    /// the trace began.
    pub fn forget_ended(&mut self) -> bool {
        let Some(trace) = &mut self.trace else { return false };
        let in_flight = self.execute.oldest().until(self.ring.tail);
        trace.view.forget_ended(in_flight.map(|seq| (self.ring.place(seq), seq.0)))
    }

    /// What the stages have let through in cycle `now`, which ends.
    #[cold]
    pub fn note_stages<X: Outside>(&mut self, cx: &mut X, now: Cycle) {
        let Some(mut t) = self.trace.take() else { return };
        let mut text = String::new();
        for seq in t.fetched.until(self.ring.tail) {
            let (slot, inst) = (self.ring.place(seq), self.ring.get(seq));
            text.clear();
            cx.disassemble(inst.pc, &mut text);
            t.view.fetched(slot, now, seq.0, inst.pc, inst.uop.flags.any(UopFlags::FIRST), &text);
        }
        t.fetched = self.ring.tail;
        // What waits for decode is one stretch up to the youngest.
        let decoded =
            self.decode.input.front(Cycle::MAX - 1).map_or(self.ring.tail, |bundle| bundle.next).max(t.decoded);
        for seq in t.decoded.until(decoded) {
            let slot = self.ring.place(seq);
            t.view.decoded(slot, now);
            t.view.renamed(slot, now);
            t.view.dispatched(slot, now + t.to_execute);
        }
        t.decoded = decoded;
        let stream = self.execute.stream();
        let (issued, oldest) = (self.execute.next_issue().max(t.issued), self.execute.oldest().max(t.gone));
        for seq in t.issued.until(issued) {
            // Those of an old stream are dropped in front of the units.
            if self.ring.get(seq).stream == stream {
                let unit = self.ring.get(seq).unit;
                let taken = if unit == NO_UNIT { (pipeview::NO_UNIT, 0) } else { (unit, self.execute.issue_lat(unit)) };
                t.view.issued(self.ring.place(seq), now, taken);
                if unit == NO_UNIT {
                    t.view.completed(self.ring.place(seq), now);
                }
            }
        }
        // Nothing commits in the cycle of its issue; what is dropped then has the stream that the cycle began with.
        let could_commit = std::mem::replace(&mut t.issued, issued);
        for seq in oldest.until(issued) {
            if self.execute.is_done(seq, now, &self.ring) {
                t.view.completed_first(self.ring.place(seq), now);
            }
        }
        for seq in t.gone.until(oldest) {
            let slot = self.ring.place(seq);
            // The branch that ends a stream is the last of it to commit, and ends the cycle's commits.
            if seq < could_commit && self.ring.get(seq).stream == t.stream {
                t.view.completed_first(slot, now);
                t.view.retired(slot, now, false);
            } else {
                t.view.squashed(slot);
            }
        }
        (t.gone, t.stream) = (oldest, stream);
        self.trace = Some(t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpred::BranchPredictorParams;
    use crate::minor::{Minor, MinorConfig};
    use crate::testing::{memory_config, Inst, MockFe, Run, BASE};
    use crate::{Budget, Stop};
    use breakeven_base::{BranchKind, OpClass, SysEffect};

    const ALL: Budget = Budget::new(1_000_000, 1_000_000);

    /// (fetch, decode, dispatch, issue, complete, retire) of each record in cycles, and the cycles with and without a trace.
    fn traced(program: &[Inst]) -> (Vec<[u64; 6]>, u64, u64) {
        let mut program = program.to_vec();
        program.push(Inst::effect(SysEffect::DumpStats));
        let run = |trace: bool| {
            let core = Minor::new(MinorConfig::default(), Some(&BranchPredictorParams::default()), 64);
            let mut r =
                Run::on(memory_config(2, 9, 4), core.unwrap_or_else(|e| panic!("{e:?}")), MockFe::new(program.clone()));
            if trace {
                r.core.set_trace(Some(Window { first: 0, last: u64::MAX, units: false }));
            }
            assert_eq!(r.go(ALL), Stop::Effect(SysEffect::DumpStats));
            r
        };
        let (plain, mut with) = (run(false), run(true));
        let period = with.core.pipe.time.clock.period();
        let text = with.core.take_trace(true);
        let lines: Vec<&str> = text.lines().collect();
        let tick = |line: &str| line.split(':').nth(2).and_then(|t| t.parse::<u64>().ok()).expect("a tick") / period;
        let rows = lines.chunks(7).map(|r| [0, 1, 3, 4, 5, 6].map(|i| tick(r[i]))).collect();
        (rows, plain.core.cycles(), with.core.cycles())
    }

    #[test]
    fn each_micro_op_has_its_stages_and_the_trace_changes_nothing() {
        let program: Vec<Inst> = (0..40).map(|_| Inst::op(OpClass::IntAlu, 5, &[5]).short()).collect();
        let (rows, plain, cycles) = traced(&program);
        assert_eq!((plain, rows.len()), (cycles, 41));
        assert!(rows.iter().all(|r| r.is_sorted() && r[5] > 0), "{rows:?}");
        // A chain: one a cycle is issued, and commits the unit's three cycles later.
        for pair in rows[10..30].windows(2) {
            assert_eq!((pair[1][3] - pair[0][3], pair[1][5] - pair[0][5]), (1, 1), "{pair:?}");
        }
        assert!(rows[10..30].iter().all(|r| r[5] == rows[10][5] - rows[10][3] + r[3]));
    }

    #[test]
    fn a_load_completes_when_memory_answers_and_a_wrong_path_never_retires() {
        let load = Inst::load(5, 5, BASE + 0x1_0000, 8).short();
        let add = || Inst::op(OpClass::IntAlu, 7, &[5]).short();
        let (rows, plain, cycles) = traced(&[load, add(), add()]);
        assert_eq!(plain, cycles);
        let (load, after) = (rows[0], rows[1]);
        assert!(load[4] >= load[3] + 9, "{load:?}");
        // Units assume a short answer (`extraAssumedLat`); what took its sources too early waits at its unit's end.
        assert!(after[3] < load[4] && after[5] >= load[5], "{after:?} behind {load:?}");
        let taken: Vec<bool> = (0..64u32).map(|i| (i * i / 3 + i) % 5 < 2).chain([false]).collect();
        let (rows, plain, cycles) = traced(&[add(), Inst::branch(BranchKind::Cond, 0, &taken).short(), add()]);
        assert_eq!(plain, cycles);
        let retired = rows.iter().filter(|r| r[5] > 0).count();
        // Taken twice, then not: three turns of two, and the end.
        assert_eq!(retired, 3 * 2 + 2);
        assert!(rows.len() > retired, "wrong paths are in the trace");
    }
}
