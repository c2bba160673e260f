//! Fetch1: fetches lines of instructions, in order, ahead of fetch2.
//! Fact source: gem5 24.0 `src/cpu/minor/fetch1.cc`.
//!
//! At most `fetch1FetchLimit` lines are on their way, and never more than fetch2's input buffer has room for. A line that
//! belongs to an old stream or an old prediction is thrown away when its response comes.

use breakeven_base::{Cycle, MemKind, PhysAddr};
use breakeven_memory::{Request, Response, Side, TlbResult};

use super::activity::Activity;
use super::config::{MinorConfig, MAX_WIDTH};
use super::latch::{InputBuffer, Latch, Ring};
use super::lsq::When;
use super::pipe::{Line, PredictedBranch, ResolvedBranch, PREDICTIONS, STREAMS};
use crate::account::Reason;
use crate::memo::archive::Archive;
use crate::outside::Outside;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    InTranslation,
    Translated,
    /// The cache refused it.
    NeedsRetry,
    InMemory,
    Complete,
}

const STATES: [State; 5] =
    [State::InTranslation, State::Translated, State::NeedsRetry, State::InMemory, State::Complete];

#[derive(Clone, Copy, Debug, Default)]
struct Fetch {
    line: Line,
    paddr: PhysAddr,
    state: State,
    /// End of the translation, of the wait for the cache, or of the access.
    at: Cycle,
}

#[derive(Clone, Debug)]
pub struct Fetch1 {
    /// Oldest first; the first `sent` of them are in or back from memory.
    fetches: Ring<Fetch, { MAX_WIDTH as usize }>,
    sent: usize,
    limit: usize,
    width: u32,
    /// Lines are requested (else: waiting for execute after a fault).
    running: bool,
    fetch_addr: u64,
    stream: u32,
    prediction: u32,
    next_event: Cycle,
    /// Lines requested so far.
    pub lines: u64,
}

/// What fetch1 works on in one cycle besides its own state.
pub struct Fetch1Io<'a> {
    pub resolved: Option<&'a ResolvedBranch>,
    pub predicted: Option<PredictedBranch>,
    pub next: &'a mut InputBuffer<Line>,
    pub out: &'a mut Latch<Line>,
    pub activity: &'a mut Activity,
}

const NEVER: Cycle = Cycle::MAX;

impl Fetch1 {
    pub fn new(cfg: &MinorConfig, line: u32) -> Self {
        Fetch1 {
            fetches: Ring::new(),
            sent: 0,
            limit: cfg.fetch1FetchLimit as usize,
            width: if cfg.fetch1LineWidth == 0 { line } else { cfg.fetch1LineWidth },
            running: true,
            fetch_addr: 0,
            stream: 0,
            prediction: 0,
            next_event: NEVER,
            lines: 0,
        }
    }

    pub fn start(&mut self, pc: u64) {
        self.fetch_addr = pc;
    }

    #[inline]
    pub fn next_event(&self) -> Cycle {
        self.next_event
    }

    #[inline]
    fn is_stale(&self, line: &Line) -> bool {
        line.stream != self.stream || line.prediction != self.prediction
    }

    /// What arrives up to this cycle, before the stages are evaluated.
    #[inline(never)]
    pub fn events<X: Outside>(&mut self, cx: &mut X, when: &When, activity: &mut Activity) {
        for i in 0..self.fetches.len() {
            let Some(mut f) = self.fetches.get(i).copied() else { break };
            if f.at > when.cycle {
                continue;
            }
            match f.state {
                State::InMemory => {
                    f.state = State::Complete;
                    activity.wake();
                }
                State::InTranslation => {
                    f.state = State::Translated;
                    activity.wake();
                }
                State::NeedsRetry => f.state = State::Translated,
                State::Translated | State::Complete => continue,
            }
            self.fetches.set(i, f);
            if f.state == State::Translated {
                self.try_to_send(cx, when, activity);
            }
        }
        self.find_next_event();
    }

    /// A plain loop: an iterator over both halves of the ring costs more than the one or two lines that there are.
    #[inline]
    fn find_next_event(&mut self) {
        self.next_event = NEVER;
        for i in 0..self.fetches.len() {
            if let Some(f) = self.fetches.get(i).filter(|f| !matches!(f.state, State::Translated | State::Complete)) {
                self.next_event = self.next_event.min(f.at);
            }
        }
    }

    /// One cycle.
    #[inline]
    pub fn tick<X: Outside>(&mut self, cx: &mut X, when: &When, io: &mut Fetch1Io) {
        let blocked = !io.next.can_reserve();
        if io.resolved.is_some() || io.predicted.is_some() {
            self.follow_branches(io.resolved, io.predicted);
        }
        if self.fetches.len() < self.limit && self.running && !blocked {
            io.next.reserve();
            self.fetch_line(cx, when, io.activity);
        }
        if self.sent < self.fetches.len() {
            self.try_to_send(cx, when, io.activity);
        }
        self.deliver(when, io);
    }

    /// Whether [`Fetch1::tick`] has something to do though nothing arrives; `room`: fetch2 can take another line.
    pub fn has_work(&self, room: bool) -> bool {
        let now = |f: Option<&Fetch>| f.is_some_and(|f| matches!(f.state, State::Translated | State::Complete));
        self.fetches.len() < self.limit && self.running && room
            || now(self.fetches.get(self.sent))
            || now(self.fetches.front())
    }

    fn follow_branches(&mut self, resolved: Option<&ResolvedBranch>, predicted: Option<PredictedBranch>) {
        if let Some(b) = resolved.filter(|b| b.changes_stream()) {
            self.stream = b.stream;
            self.prediction = b.prediction;
            self.fetch_addr = b.target;
            self.running = true;
        } else if let Some(p) = predicted.filter(|p| p.stream == self.stream) {
            self.prediction = p.prediction;
            self.fetch_addr = p.target;
            self.running = true;
        }
    }

    fn fetch_line<X: Outside>(&mut self, cx: &mut X, when: &When, activity: &mut Activity) {
        let base = self.fetch_addr & !u64::from(self.width - 1);
        self.fetch_addr = base.wrapping_add(u64::from(self.width));
        self.lines += 1;
        let line = Line { base, size: self.width, stream: self.stream, prediction: self.prediction, fault: false };
        let mut fetch = Fetch { line, paddr: PhysAddr::ZERO, state: State::Translated, at: when.cycle };
        match cx.fetch_translate(base) {
            None => fetch.line.fault = true,
            Some(xlat) => {
                fetch.paddr = xlat.paddr;
                if xlat.page_shift != 0 {
                    fetch.at = translate(cx, when, base, xlat.page_shift);
                }
            }
        }
        if fetch.at > when.cycle {
            fetch.state = State::InTranslation;
            self.next_event = self.next_event.min(fetch.at);
            self.fetches.push(fetch);
            return;
        }
        self.fetches.push(fetch);
        activity.wake();
        self.try_to_send(cx, when, activity);
    }

    /// Sends the oldest line that has not been, if its translation is known.
    fn try_to_send<X: Outside>(&mut self, cx: &mut X, when: &When, activity: &mut Activity) {
        let Some(mut f) = self.fetches.get(self.sent).copied() else { return };
        if f.state != State::Translated {
            return;
        }
        if self.is_stale(&f.line) || f.line.fault {
            f.state = State::Complete;
            activity.wake();
            self.sent += 1;
            self.fetches.set(self.sent - 1, f);
            return;
        }
        #[allow(clippy::cast_possible_truncation)] // a line
        let request = Request {
            paddr: f.paddr,
            size: f.line.size as u16,
            kind: MemKind::Fetch,
            uncacheable: false,
            non_temporal: false,
            pc: f.line.base,
            may_wait: false,
        };
        match cx.fetch(when.tick, &request) {
            Response::Done { at, .. } => {
                f.state = State::InMemory;
                f.at = when.cycle_of(at).max(when.cycle + 1);
                self.sent += 1;
                self.fetches.set(self.sent - 1, f);
            }
            Response::Blocked { retry } | Response::Pending { until: retry, .. } => {
                f.state = State::NeedsRetry;
                f.at = when.cycle_of(retry).max(when.cycle + 1);
                self.fetches.set(self.sent, f);
            }
        }
        self.next_event = self.next_event.min(f.at);
    }

    /// Hands the oldest line on when it has come.
    #[inline]
    fn deliver(&mut self, when: &When, io: &mut Fetch1Io) {
        if self.sent == 0 {
            return;
        }
        let Some(f) = self.fetches.front().filter(|f| f.state == State::Complete).copied() else { return };
        self.fetches.pop();
        self.sent -= 1;
        if self.is_stale(&f.line) {
            io.next.free_reservation();
            io.activity.wake();
            return;
        }
        if f.line.fault {
            self.running = false;
        }
        io.out.put(when.cycle, f.line);
        io.activity.mark(when.cycle);
    }

    /// The state in relative form.
    #[allow(clippy::cast_possible_truncation)] // few lines
    pub fn archive(&mut self, a: &mut Archive) {
        let Self {
            fetches,
            sent,
            limit: _,
            width: _,
            running,
            fetch_addr,
            stream,
            prediction,
            next_event: _,
            lines: _,
        } = self;
        fetches.archive(a, |a, Fetch { line, paddr, state, at }| {
            line.archive(a);
            a.u64(&mut paddr.0);
            a.one_of(state, &STATES);
            a.cycle(at);
        });
        let mut n = *sent as u8;
        a.u8(&mut n);
        *sent = n.into();
        a.flag(running);
        a.u64(fetch_addr);
        a.number32(STREAMS, stream);
        a.number32(PREDICTIONS, prediction);
        self.find_next_event();
    }

    /// What the front end waits for, for the account of cycles.
    pub fn waits_for(&self) -> Reason {
        match self.fetches.front().map(|f| f.state) {
            Some(State::InTranslation) => Reason::FetchTlb,
            Some(State::InMemory | State::NeedsRetry) => Reason::FetchCache,
            _ => Reason::FrontEnd,
        }
    }

    /// For the deadlock report.
    pub fn describe(&self) -> String {
        let lines: Vec<String> = self.fetches.iter().map(|f| format!("{:#x} {:?}", f.line.base, f.state)).collect();
        let state = if self.running { "running" } else { "waiting for a new address after a fault" };
        format!("{state}, next {:#x}; lines under way: [{}]", self.fetch_addr, lines.join(", "))
    }
}

/// When the translation of a line's address is known.
fn translate<X: Outside>(cx: &mut X, when: &When, vaddr: u64, page_shift: u8) -> Cycle {
    let asid = cx.asid();
    let at = match cx.inst_tlb(when.tick, vaddr, page_shift, asid) {
        TlbResult::Hit { at } => at,
        TlbResult::Miss { at } => cx.walk(Side::Inst, at, vaddr, page_shift, asid),
    };
    when.cycle_of(at)
}
