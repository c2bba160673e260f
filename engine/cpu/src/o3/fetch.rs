//! Fetch: reads blocks of `fetchBufferSize` bytes from the instruction cache, takes up to `fetchWidth` micro-ops a cycle out
//! of the one block it has, predicts branches, and hands `decodeWidth` a cycle to decode.
//! Fact source: gem5 24.0 `src/cpu/o3/fetch.cc`.
//!
//! - A predicted-taken branch ends the cycle. When fetch goes on in another block, that is asked for in the same cycle.
//! - One block, one access at a time: straight-line code pays the cache's latency for each block.
//! - After a squash one cycle is lost. A block that arrives in the cycle in which fetch hears of it stays in the buffer.

mod block;

use breakeven_base::{Bus, FrontEnd, Now, Step, StepResult, Uop, UopFlags, MAX_UOPS};

use super::inst::{note, Flow, Seq};
use super::wires::{Wire, BLOCK, UNBLOCK};
use super::O3;
use crate::when::When;
use crate::CoreCtx;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Running,
    Squashing,
    Translating,
    /// The cache refused the access.
    Retry,
    WaitCache,
    Complete,
    /// Behind a trap, a placeholder, or where speculation cannot go on: until a squash, or until the placeholder is executed.
    Stopped,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct FetchStats {
    pub insts: u64,
    pub branches: u64,
    pub predicted_taken: u64,
    pub cache_lines: u64,
    pub cycles: u64,
    pub squash_cycles: u64,
    pub icache_stall_cycles: u64,
    pub tlb_cycles: u64,
}

#[derive(Clone, Debug)]
pub struct Fetch {
    pub status: Status,
    /// Where the next instruction is.
    pub pc: u64,
    /// Block in the buffer, or on its way to it.
    block: u64,
    valid: bool,
    /// End of the translation, of the wait for the cache, or of the access.
    pub at: u64,
    paddr: u64,
    /// The front part of the next instruction has been taken out of the block before.
    half: bool,
    /// When fetch hears of the squash that stops it.
    heard: u64,
    /// Decode's redirection of which fetch has not heard: the branch and its target.
    pub correction: Option<(Seq, u64)>,
    /// Decode has blocked fetch: its skid buffer is in use.
    stalled: bool,
    /// The loop in the loop buffer.
    loop_start: u64,
    loop_end: u64,
    loop_on: bool,
    /// Some instruction needed the first decoder.
    first_decoder: bool,
    pub(super) step: Step,
    pub stats: FetchStats,
}

/// Properties that end a straight line of execution, or that need care.
const SPECIAL: u32 = UopFlags::BRANCH
    | UopFlags::TRAP
    | UopFlags::EFFECT
    | UopFlags::SQUASH_AFTER
    | UopFlags::ELIMINATED
    | UopFlags::MICRO_FUSED
    | UopFlags::FIRST_DECODER;

impl Fetch {
    pub fn new() -> Self {
        Fetch {
            status: Status::Running,
            pc: 0,
            block: 0,
            valid: false,
            at: u64::MAX,
            paddr: 0,
            half: false,
            heard: 0,
            correction: None,
            stalled: false,
            loop_start: 0,
            loop_end: 0,
            loop_on: false,
            first_decoder: false,
            step: Step::default(),
            stats: FetchStats::default(),
        }
    }

    /// A squash of which fetch hears in cycle `heard`: it goes on at `pc` in the next.
    pub fn redirect(&mut self, pc: u64, heard: u64) {
        // The cache answers before the stages take their turn.
        self.valid |= self.status == Status::WaitCache && self.at <= heard;
        self.heard = heard;
        self.pc = pc;
        self.status = Status::Squashing;
        self.half = false;
        self.loop_on = false;
        self.at = u64::MAX;
    }

    /// Decode sends fetch from the branch `seq` to `target`; the predictor learns of it when fetch hears of it.
    pub fn redirect_from_decode(&mut self, seq: Seq, target: u64, heard: u64) {
        self.redirect(target, heard);
        self.correction = Some((seq, target));
    }

    #[inline]
    pub fn step_mut(&mut self) -> &mut Step {
        &mut self.step
    }

    /// When something arrives.
    #[inline]
    pub fn next_event(&self) -> u64 {
        match self.status {
            Status::Translating | Status::Retry | Status::WaitCache => self.at,
            Status::Squashing => self.heard + 1,
            _ => u64::MAX,
        }
    }

    pub fn describe(&self) -> String {
        format!("fetch: {:?} at {:#x}, stalled by decode: {}", self.status, self.pc, self.stalled)
    }
}

impl O3 {
    /// One cycle of fetch.
    pub(super) fn fetch_tick<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When, wire: &Wire) {
        let now = when.cycle;
        if self.fetch.next_event() <= now {
            self.fetch_arrival(cx, when);
        }
        if wire.stall_fetch & BLOCK != 0 {
            self.fetch.stalled = true;
        }
        if wire.stall_fetch & UNBLOCK != 0 {
            self.fetch.stalled = false;
        }
        if wire.squash.is_none() {
            if wire.committed_to_fetch != 0 {
                self.predictor.update(wire.committed_to_fetch);
            }
            if self.fetch.correction.is_some() && now >= self.fetch.heard {
                self.correct_from_decode();
            }
            if self.fetch.status == Status::Squashing && now > self.fetch.heard {
                self.fetch.status = Status::Running;
                self.moved = true;
            }
        }
        match self.fetch.status {
            Status::Complete => {
                self.fetch.status = Status::Running;
                self.fetch_block(cx, when);
            }
            Status::Running => {
                if !self.in_buffer() && self.at_instruction() {
                    self.request_block(cx, when);
                    self.fetch.stats.icache_stall_cycles += 1;
                } else {
                    self.fetch_block(cx, when);
                }
            }
            Status::WaitCache | Status::Retry => self.fetch.stats.icache_stall_cycles += 1,
            Status::Translating => self.fetch.stats.tlb_cycles += 1,
            Status::Squashing => self.fetch.stats.squash_cycles += 1,
            Status::Stopped => {}
        }
        self.send_to_decode(now);
    }

    #[cold]
    fn correct_from_decode(&mut self) {
        if let Some((seq, target)) = self.fetch.correction.take() {
            self.predictor.correct(seq, target, true, false);
        }
    }

    #[inline]
    fn send_to_decode(&mut self, now: u64) {
        let full = self.rules.decode_queue > 0 && self.decode.waiting >= self.rules.decode_queue;
        if self.fetch.stalled || full || self.at.queue == self.path.tail {
            return;
        }
        if !self.rules.fuses && !self.fetch.first_decoder {
            // A slot each.
            let sent = (self.path.tail - self.at.queue).min(self.rules.decode_width.into());
            self.at.queue += sent;
            #[allow(clippy::cast_possible_truncation)] // at most the width
            {
                self.wires.at(now + self.rules.fetch_to_decode).fetched += sent as u16;
                self.decode.waiting += sent as u32;
            }
            self.moved = true;
            return;
        }
        let mut sent = 0;
        let mut slots = 0;
        while self.at.queue < self.path.tail {
            let cost = self.cost(self.at.queue);
            let next_cycle = sent > 0 && self.ring.note(self.at.queue) & note::FIRST_DECODER != 0;
            if slots + cost > self.rules.decode_width || next_cycle {
                break;
            }
            slots += cost;
            sent += 1;
            self.at.queue += 1;
        }
        self.wires.at(now + self.rules.fetch_to_decode).fetched += sent;
        self.decode.waiting += slots;
        self.moved = true;
    }

    /// Slots that a micro-op takes on its way from fetch to commit.
    #[inline]
    pub(super) fn cost(&self, seq: Seq) -> u32 {
        u32::from(!self.rules.fuses || self.ring.note(seq) & note::FUSED_NO_SLOT == 0)
    }

    /// The next micro-op begins an instruction.
    #[inline]
    fn at_instruction(&self) -> bool {
        let tail = self.path.tail;
        tail == self.path.placed || self.ring.flags(tail).any(UopFlags::FIRST)
    }

    /// The loop buffer has what comes next.
    #[inline]
    fn looping(&self) -> bool {
        let f = &self.fetch;
        f.loop_on && (f.loop_start..f.loop_end).contains(&f.pc)
    }

    /// Takes micro-ops out of the buffer.
    fn fetch_block<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) {
        self.fetch.stats.cycles += 1;
        let first = self.path.tail;
        let mut slots = 0;
        #[allow(clippy::cast_possible_truncation)] // far below
        let mut queued = (self.path.tail - self.at.queue) as u32;
        while slots < self.rules.fetch_width && queued < self.rules.fetch_queue {
            if self.at_instruction() && !self.instruction_ready(cx, when) {
                break;
            }
            let seq = self.path.tail;
            self.path.tail += 1;
            if self.trace.is_some() {
                self.trace_fetched(seq, cx, when.cycle);
            }
            let cost = self.cost(seq);
            slots += cost;
            queued += cost;
            if self.ring.flags(seq).any(UopFlags::LAST | UopFlags::MICRO_BRANCH) && self.end_instruction(seq, cx) {
                break;
            }
        }
        self.moved |= self.path.tail != first;
        if self.fetch.status == Status::Running && self.at_instruction() && !self.in_buffer_block() {
            self.request_block(cx, when);
        }
    }

    /// Whether the whole of the next instruction can be taken out of the buffer now; executes it when that has not been done.
    #[inline]
    fn instruction_ready<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) -> bool {
        if !self.in_buffer() {
            return false;
        }
        let again = self.path.tail != self.path.placed;
        if !again && !self.execute_next(cx, when) {
            return false;
        }
        let tail = self.path.tail;
        let len = u64::from(self.ring.flow(tail).len);
        let last = self.fetch.pc.wrapping_add(len.max(1) - 1);
        if !self.fetch.half && (last ^ self.fetch.pc) >= u64::from(self.rules.fetch_buffer) {
            self.fetch.half = true;
            if !self.in_buffer() {
                return false;
            }
        }
        self.fetch.half = false;
        if again {
            self.ring_again();
        }
        true
    }

    /// The instruction at `tail`, or what is left of it, is fetched a second time.
    pub(super) fn ring_again(&mut self) {
        let mut seq = self.path.tail;
        loop {
            self.ring.fresh(seq);
            if self.ring.flags(seq).any(UopFlags::LAST) || seq + 1 >= self.path.placed {
                return;
            }
            seq += 1;
        }
    }

    /// Lets the front end execute the instruction at `pc` and puts its micro-ops into the ring. False: nothing came.
    #[inline]
    fn execute_next<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) -> bool {
        if self.path.placed + MAX_UOPS as u64 - self.at.head > self.ring.capacity() as u64 {
            return false;
        }
        let now = Now { tick: when.tick, cycle: when.cycle, drained: false };
        self.fetch.step.n = 0;
        match cx.fe.step(cx.bus, now, &mut self.fetch.step) {
            StepResult::Done => {
                self.fetch.stats.insts += 1;
                self.place_step(self.path.placed);
                true
            }
            StepResult::NeedsDrain => self.fetch_non_speculative(cx, note::WAITS),
            StepResult::Paused => self.fetch_non_speculative(cx, note::PAUSES),
            StepResult::Blocked => {
                let s = &self.fetch.step;
                if s.n != 1 || s.len == 0 || s.uops[0].flags.any(UopFlags::BRANCH) {
                    self.fetch.status = Status::Stopped;
                    return false;
                }
                self.fetch_non_speculative(cx, note::WAITS)
            }
        }
    }

    /// An instruction that the front end has not executed goes down the pipeline until it is the oldest.
    #[cold]
    fn fetch_non_speculative<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, what: u8) -> bool {
        let s = &mut self.fetch.step;
        if s.n != 1 {
            s.uops[0] = Uop::default();
            s.len = if s.n == 0 { 1 } else { s.len };
            s.n = 1;
        }
        s.pc = cx.fe.pc();
        s.uops[0].flags.0 |= UopFlags::FIRST | UopFlags::LAST | UopFlags::NON_SPECULATIVE;
        s.uops[0].flags.0 &= !(UopFlags::EFFECT | UopFlags::TRAP | UopFlags::BRANCH);
        s.mem[0].valid = false;
        s.branch = Default::default();
        s.next_pc = s.pc.wrapping_add(s.len.into());
        self.place_step(self.path.placed);
        self.ring.set_note(self.path.tail, what);
        true
    }

    /// Puts the micro-ops of the step at `at`.
    #[inline(always)]
    pub(super) fn place_step(&mut self, at: Seq) {
        let s = &self.fetch.step;
        let flow = Flow {
            next_pc: s.next_pc,
            predicted: 0,
            target: s.branch.target,
            branch: s.branch.kind,
            len: s.len,
            taken: false,
        };
        for i in 0..usize::from(s.n).min(MAX_UOPS) {
            let seq = at + i as u64;
            self.ring.place(seq, &s.uops[i], &s.mem[i], s.pc, &flow);
            let special = s.uops[i].flags.any(SPECIAL);
            let mut bits = 0;
            if special {
                let flags = s.uops[i].flags;
                if flags.any(UopFlags::EFFECT) {
                    self.ring.set_effect(seq, s.effect);
                }
                if self.rules.micro_fusion && flags.any(UopFlags::MICRO_FUSED) {
                    bits |= note::FUSED_NO_SLOT;
                }
                if self.rules.move_elimination && flags.any(UopFlags::ELIMINATED) {
                    bits |= note::ELIMINATED;
                }
                if self.rules.macro_fusion && flags.any(UopFlags::FUSE_TAIL) && self.follows_fusion_head(seq) {
                    bits |= note::FUSED_NO_SLOT | note::FUSED_WITH_PREV;
                }
                // What the loop buffer holds has been decoded.
                if flags.any(UopFlags::FIRST_DECODER) && !self.looping() {
                    bits |= note::FIRST_DECODER;
                    self.fetch.first_decoder = true;
                }
            }
            self.ring.set_note(seq, bits);
        }
        self.path.placed = at + u64::from(s.n);
    }

    /// The micro-op directly before `seq` is in flight and can take a compare-and-branch's branch along.
    fn follows_fusion_head(&self, seq: Seq) -> bool {
        let before = seq - 1;
        before >= self.at.queue
            && self.ring.flags(before).any(UopFlags::FUSE_HEAD)
            && self.ring.note(before) & note::ELIMINATED == 0
            && self.ring.flow(before).next_pc == self.ring.pc(seq)
            && self.ring.flow(before).next_pc == self.ring.pc(before).wrapping_add(self.ring.flow(before).len.into())
    }

    #[cold]
    fn trace_fetched<F: FrontEnd, B: Bus>(&mut self, seq: Seq, cx: &mut CoreCtx<'_, F, B>, now: u64) {
        let Some(trace) = &mut self.trace else { return };
        let (pc, mut text) = (self.ring.pc(seq), String::new());
        cx.fe.disassemble(cx.bus, pc, &mut text);
        trace.fetched(self.ring.slot(seq), now, seq, pc, self.ring.flags(seq).any(UopFlags::FIRST), &text);
    }

    /// The last micro-op of an instruction has been fetched: where does fetch go on? True when it ends the cycle.
    #[inline]
    fn end_instruction<F: FrontEnd, B: Bus>(&mut self, seq: Seq, cx: &mut CoreCtx<'_, F, B>) -> bool {
        // Field by field: they have just been written so, and a host cannot forward several stores to one wider load.
        let s = self.ring.at(seq);
        let (flags, noted, next_pc) = (s.uop.flags, s.note, s.flow.next_pc);
        let fall_through = s.pc.wrapping_add(s.flow.len.into());
        if !flags.any(UopFlags::BRANCH | UopFlags::TRAP) && noted & note::PLACEHOLDER == 0 && next_pc == fall_through {
            self.ring.flow_mut(seq).predicted = fall_through;
            self.fetch.pc = fall_through;
            return false;
        }
        self.end_unusual(seq, fall_through, cx)
    }

    #[inline(never)]
    fn end_unusual<F: FrontEnd, B: Bus>(&mut self, seq: Seq, fall_through: u64, cx: &mut CoreCtx<'_, F, B>) -> bool {
        let s = self.ring.at(seq);
        let (pc, flags, noted) = (s.pc, s.uop.flags, s.note);
        let (next_pc, len, branch) = (s.flow.next_pc, s.flow.len, s.flow.branch);
        let mut taken = false;
        let mut goes_to = fall_through;
        if noted & note::PLACEHOLDER != 0 {
            // Behind one that serialises fetch goes on (nothing of that leaves rename before), and on a wrong path; else it waits.
            let on = flags.any(UopFlags::SERIALIZE_AFTER) || self.path.open() > 0;
            if on && noted & note::WAITS != 0 && len > 0 && self.path.can_fork() {
                self.path.fork(cx.fe, fall_through, &self.ring, false);
            } else {
                self.fetch.status = Status::Stopped;
            }
        } else if flags.any(UopFlags::TRAP) {
            if len == 0 || !self.path.can_fork() {
                self.fetch.status = Status::Stopped;
            } else {
                self.path.fork(cx.fe, fall_through, &self.ring, true);
            }
        } else {
            if flags.any(UopFlags::BRANCH) {
                let p = self.predictor.predict(seq, pc, len, branch);
                self.fetch.stats.branches += 1;
                self.fetch.stats.predicted_taken += u64::from(p.taken);
                taken = p.taken;
                goes_to = p.target;
                if taken && self.rules.loop_buffer > 0 {
                    self.watch_loops(pc, fall_through, goes_to);
                }
            }
            if goes_to != next_pc {
                if self.path.can_fork() {
                    self.path.fork(cx.fe, goes_to, &self.ring, true);
                } else {
                    self.fetch.status = Status::Stopped;
                }
            }
        }
        let flow = self.ring.flow_mut(seq);
        (flow.predicted, flow.taken) = (goes_to, taken);
        // Behind a micro-branch the instruction itself goes on, in the same cycle; where it was predicted wrongly, the front
        // end knows whether it does.
        self.fetch.pc = match (flags.any(UopFlags::LAST), goes_to == next_pc) {
            (true, _) => goes_to,
            (false, true) => pc,
            (false, false) => cx.fe.pc(),
        };
        taken && !flags.any(UopFlags::MICRO_BRANCH) || self.fetch.status != Status::Running
    }

    /// A backward branch taken twice in a row whose body fits puts its loop into the loop buffer.
    fn watch_loops(&mut self, pc: u64, end: u64, target: u64) {
        let fits = target <= pc && end.wrapping_sub(target) <= u64::from(self.rules.loop_buffer);
        let f = &mut self.fetch;
        if fits && f.loop_start == target && f.loop_end == end {
            f.loop_on = true;
        } else if fits {
            (f.loop_start, f.loop_end, f.loop_on) = (target, end, false);
        } else if !(f.loop_start..f.loop_end).contains(&target) {
            f.loop_on = false;
        }
    }
}
