//! The calls of a segment, with what was answered: all numbers relative to where the segment began.

use breakeven_base::{
    BranchInfo, BranchKind, FetchXlat, MemKind, MemRef, PathInst, PhysAddr, Predecode, Predecoded, Step, StepResult,
    Tick, Uop, UopFlags, MAX_UOPS,
};
use breakeven_memory::{MissResponse, MshrId, Request, Response, TlbResult};

use super::archive::{AddressRules, Base};
use crate::seq::Seq;
use educe::Educe;

/// When a request is answered, in ticks after it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    Done {
        after: u32,
        level: u8,
    },
    Blocked {
        after: u32,
    },
    /// The access waits with an MSHR that has not been sent.
    Pending {
        after: u32,
    },
    /// A TLB has the page, or has not.
    Hit {
        after: u32,
    },
    Miss {
        after: u32,
    },
}

#[allow(clippy::cast_possible_truncation)] // checked
pub fn after(at: Tick, now: Tick) -> Option<u32> {
    let ticks = at.0.checked_sub(now.0)?;
    u32::try_from(ticks).ok()
}

impl Answered {
    /// `None`: an answer that no segment holds.
    #[inline]
    pub fn of_response(response: &Response, now: Tick) -> Option<Answered> {
        match *response {
            Response::Done { at, level } => Some(Answered::Done { after: after(at, now)?, level }),
            Response::Blocked { retry } => Some(Answered::Blocked { after: after(retry, now)? }),
            Response::Pending { until, .. } => Some(Answered::Pending { after: after(until, now)? }),
        }
    }
    /// Whether `response` is this.
    #[inline]
    pub fn is_response(self, response: &Response, now: Tick) -> bool {
        match (self, *response) {
            (Answered::Done { after, level }, Response::Done { at, level: of }) => {
                at.0 == now.0.wrapping_add(after.into()) && level == of
            }
            _ => Answered::of_response(response, now) == Some(self),
        }
    }
    #[inline]
    pub fn is_tlb(self, result: TlbResult, now: Tick) -> bool {
        match (self, result) {
            (Answered::Hit { after }, TlbResult::Hit { at }) => at.0 == now.0.wrapping_add(after.into()),
            _ => Answered::of_tlb(result, now) == Some(self),
        }
    }
    #[inline]
    pub fn of_tlb(result: TlbResult, now: Tick) -> Option<Answered> {
        match result {
            TlbResult::Hit { at } => Some(Answered::Hit { after: after(at, now)? }),
            TlbResult::Miss { at } => Some(Answered::Miss { after: after(at, now)? }),
        }
    }
    /// `paddr`: of the request that was answered so, in lines of `line` bytes.
    pub fn response(self, now: Tick, paddr: PhysAddr, line: u64) -> Response {
        match self {
            Answered::Done { after, level } => Response::Done { at: now + u64::from(after), level },
            Answered::Pending { after } => {
                Response::Pending { id: mshr_of(paddr, line), until: now + u64::from(after) }
            }
            Answered::Blocked { after } | Answered::Hit { after } | Answered::Miss { after } => {
                Response::Blocked { retry: now + u64::from(after) }
            }
        }
    }
    pub fn tlb(self, now: Tick) -> TlbResult {
        match self {
            Answered::Miss { after } => TlbResult::Miss { at: now + u64::from(after) },
            Answered::Hit { after }
            | Answered::Done { after, .. }
            | Answered::Blocked { after }
            | Answered::Pending { after } => TlbResult::Hit { at: now + u64::from(after) },
        }
    }
}

/// When the targets of an MSHR are served: the first, after so many ticks, and the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// In the line.
    first: u16,
    level: u8,
    after: u32,
    rest: u32,
}

impl Served {
    pub fn of(r: &MissResponse, now: Tick, line: u64) -> Option<Served> {
        let (first, level) = (r.first.offset_in(line) as u16, r.level);
        // Ask late, and it has been served before.
        let at = r.at.0.checked_sub(now.0)?;
        Some(Served { first, level, after: u32::try_from(at).ok()?, rest: u32::try_from(r.rest).ok()? })
    }
    pub fn response(self, id: MshrId, paddr: PhysAddr, now: Tick, line: u64) -> MissResponse {
        let first = paddr.align_down(line) + u64::from(self.first);
        MissResponse { id, first, at: now + u64::from(self.after), rest: self.rest.into(), level: self.level }
    }
}

/// Of lines of `line` bytes.
pub fn mshr_of(paddr: PhysAddr, line: u64) -> MshrId {
    MshrId::of(paddr, line as u32)
}

/// The address of the first byte of a packet of `m`.
pub fn packet_of(m: &MemRef, second: bool, line: u64) -> PhysAddr {
    m.paddr_of(if second { (line - (m.vaddr & (line - 1))) as u16 } else { 0 })
}

/// One call. `at` and `seq` are numbers of micro-ops, `cycle` is the cycle of the call.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// What was executed is `what` of the instructions; its references are those from `places` on.
    Step {
        cycle: u32,
        at: i32,
        what: u32,
        places: u32,
        drained: bool,
    },
    Pc {
        pc: u64,
    },
    Fork {
        pc: u64,
        depth: u32,
    },
    Rollback {
        depth: u32,
    },
    Redirect {
        pc: u64,
    },
    /// `what` of the predecoded instructions, unless it must be executed.
    Predecode {
        kind: Predecoding,
        flags: UopFlags,
        what: u32,
    },
    /// What has only been predecoded is executed: as `Step`.
    Deferred {
        cycle: u32,
        at: i32,
        what: u32,
        places: u32,
    },
    FetchTranslate {
        vaddr: u64,
        answer: Option<FetchXlat>,
    },
    InstTlb {
        cycle: u32,
        page_shift: u8,
        vaddr: u64,
        answer: Answered,
    },
    Fetch {
        cycle: u32,
        size: u16,
        paddr: PhysAddr,
        pc: u64,
        answer: Answered,
    },
    DataTlb {
        cycle: u32,
        seq: i32,
        last: bool,
        is_store: bool,
        answer: Answered,
    },
    Access {
        cycle: u32,
        seq: i32,
        sent: u16,
        size: u16,
        may_wait: bool,
        non_temporal: bool,
        pc: u64,
        answer: Answered,
    },
    SendPending {
        cycle: u32,
        after: Option<u32>,
    },
    /// Of the access's packet that waits: its first, or its second one.
    ResponseOf {
        cycle: u32,
        seq: i32,
        second: bool,
        answer: Option<Served>,
    },
    FlushWriteCombining {
        cycle: u32,
        answer: Answered,
    },
    Predict {
        seq: i32,
        len: u8,
        kind: BranchKind,
        taken: bool,
        pc: u64,
        target: u64,
    },
    Train {
        done: i32,
    },
    Correct {
        seq: i32,
        target: u64,
        taken: bool,
        from_commit: bool,
    },
    SquashPredictions {
        after: i32,
    },
    /// The segment is over.
    End {
        segment: u32,
    },
}

/// The kinds of [`Predecode`](breakeven_base::Predecode).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predecoding {
    Described,
    Blocked,
    MustExecute,
}

impl Predecoding {
    /// The kind of `predecode`d and its flags; what it says is described in `out`, at `pc`.
    #[inline]
    pub fn of(predecoded: &Predecode<'_>, pc: u64, out: &mut Step) -> (Predecoding, UopFlags) {
        match predecoded {
            Predecode::Described(what) => {
                out.describe(pc, what);
                (Predecoding::Described, what.flags)
            }
            Predecode::Blocked => (Predecoding::Blocked, UopFlags::empty()),
            Predecode::MustExecute => (Predecoding::MustExecute, UopFlags::empty()),
        }
    }
    /// With which result the description is kept.
    pub fn result(self) -> StepResult {
        match self {
            Predecoding::Described => StepResult::Done,
            Predecoding::Blocked | Predecoding::MustExecute => StepResult::Blocked,
        }
    }
    /// What has been described so.
    pub fn answer(self, uops: &[Uop], flags: UopFlags, len: u8, branch: BranchKind) -> Predecode<'_> {
        match self {
            Predecoding::Described => Predecode::Described(Predecoded { uops, flags, len, branch }),
            Predecoding::Blocked => Predecode::Blocked,
            Predecoding::MustExecute => Predecode::MustExecute,
        }
    }
}

/// An instruction as the front end described it, but for where its references go.
#[derive(Clone, Copy, Debug, Educe)]
#[educe(PartialEq)]
pub struct Executed {
    /// [`Step::decoded`] of the last one: saves comparing micro-ops.
    #[educe(PartialEq(ignore))]
    pub decoded: u64,
    pub pc: u64,
    pub next_pc: u64,
    pub branch: BranchInfo,
    pub result: StepResult,
    pub len: u8,
    pub n: u8,
    /// Bit by bit, the micro-ops that have a reference.
    references: u8,
    pub uops: [Uop; MAX_UOPS],
}

impl Executed {
    /// `None`: no segment holds such a step.
    pub fn of(result: StepResult, step: &Step) -> Option<Executed> {
        if result == StepResult::Paused {
            return None;
        }
        let mut uops = [Uop::default(); MAX_UOPS];
        let n = usize::from(step.n);
        uops[..n].copy_from_slice(&step.uops[..n]);
        const NEVER: UopFlags = UopFlags::TRAP.union(UopFlags::EFFECT);
        if uops.iter().any(|uop| uop.flags.any(NEVER)) {
            return None;
        }
        // What has not been executed says what it is, at most.
        let done = result == StepResult::Done;
        let (next_pc, branch) = if done { (step.next_pc, step.branch) } else { (0, BranchInfo::default()) };
        let (pc, len) = if n == 0 { (0, 0) } else { (step.pc, step.len) };
        let has = |i: &usize| done && uops[*i].flags.any(UopFlags::MEM);
        let references = (0..n).filter(has).fold(0, |bits, i| bits | 1 << i);
        Some(Executed { decoded: step.decoded, pc, next_pc, branch, result, len, n: step.n, references, uops })
    }

    /// Whether this is what has just been executed.
    #[inline]
    pub fn is(&self, result: StepResult, step: &Step) -> bool {
        if self.decoded == step.decoded && step.decoded != 0 && self.pc == step.pc && self.result == StepResult::Done {
            // Decoding says all but where it went.
            let same =
                result == StepResult::Done && self.next_pc == step.next_pc && self.branch.taken == step.branch.taken;
            debug_assert!(!same || self.is_in_full(result, step), "a number of a decoded instruction stands for two");
            return same;
        }
        self.is_in_full(result, step)
    }

    #[inline(never)]
    fn is_in_full(&self, result: StepResult, step: &Step) -> bool {
        let n = usize::from(self.n);
        if self.result != StepResult::Done {
            return result == self.result && Executed::of(result, step).is_some_and(|e| e == *self);
        }
        result == StepResult::Done
            && self.pc == step.pc
            && self.next_pc == step.next_pc
            && self.n == step.n
            && self.len == step.len
            && self.branch == step.branch
            && self.uops[..n] == step.uops[..n]
    }

    /// As part of a path ([`breakeven_base::FrontEnd::run_path`]); `None`: it is to be stepped.
    pub fn on_path(&self) -> Option<PathInst> {
        let falls_through = self.pc.wrapping_add(self.len.into());
        let is_ambiguous = self.branch.kind == BranchKind::Cond && self.branch.target == falls_through;
        let is_known = self.result == StepResult::Done && self.decoded != 0 && !is_ambiguous;
        let (pc, decoded, next_pc) = (self.pc, self.decoded, self.next_pc);
        is_known.then_some(PathInst { pc, decoded, next_pc, has_references: self.references != 0 })
    }

    /// Whether this is `predecoded`, at `pc`, as [`Step::describe`] puts it.
    #[inline]
    pub fn describes(&self, pc: u64, predecoded: &Predecoded<'_>) -> bool {
        self.result == StepResult::Done
            && (self.pc, self.len, self.branch.kind) == (pc, predecoded.len, predecoded.branch)
            && !self.branch.taken
            && self.uops[..usize::from(self.n)] == *predecoded.uops
    }

    /// Into `out`, without the references.
    pub fn describe(&self, out: &mut Step) -> StepResult {
        let n = usize::from(self.n);
        (out.pc, out.next_pc, out.branch, out.len, out.n) = (self.pc, self.next_pc, self.branch, self.len, self.n);
        out.effect = breakeven_base::SysEffect::None;
        out.uops[..n].copy_from_slice(&self.uops[..n]);
        self.result
    }

    /// The micro-ops with a reference.
    #[inline]
    pub fn references(&self) -> UopSet {
        UopSet(self.references)
    }
}

/// Micro-ops of a step, bit by bit; goes through their numbers.
#[derive(Clone, Debug)]
pub struct UopSet(u8);

impl UopSet {
    pub const NONE: UopSet = UopSet(0);
}

impl Iterator for UopSet {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let next = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (next < MAX_UOPS).then_some(next)
    }
}

/// Where a reference went when its segment was recorded.
#[derive(Clone, Copy, Debug)]
pub struct RecordedReference {
    /// [`AddressRules::place_of`].
    pub place: u64,
    /// [`AddressRules::class_of`]; 0: it goes nowhere.
    pub class: u64,
}

impl RecordedReference {
    pub fn of(m: &MemRef, rules: &AddressRules) -> RecordedReference {
        RecordedReference { place: rules.place_of(m), class: rules.class_of(m) }
    }
}

/// The references of the micro-ops under way, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct References {
    ring: Box<[MemRef]>,
}

/// Micro-ops that may be under way at once: those in flight where a segment begins, those that are fetched in it, and
/// stores from before that have not been written.
pub const WINDOW: u64 = 16384;

impl References {
    pub fn new() -> Self {
        References { ring: vec![MemRef::default(); WINDOW as usize].into_boxed_slice() }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    pub fn of(&self, seq: Seq) -> &MemRef {
        &self.ring[(seq.0 % WINDOW) as usize]
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    pub fn set(&mut self, seq: Seq, mem: MemRef) {
        self.ring[(seq.0 % WINDOW) as usize] = mem;
    }
}

/// An instruction fetch.
#[inline]
pub fn fetch_request(paddr: PhysAddr, size: u16, pc: u64) -> Request {
    Request { paddr, size, kind: MemKind::Fetch, uncacheable: false, non_temporal: false, pc, may_wait: false }
}

/// A number of a micro-op where a segment begins at `base`.
#[inline]
pub fn seq_at(base: &Base, seq: i32) -> Seq {
    base.seq.at_distance(seq.into())
}

/// A cycle's tick where a segment begins at `base`.
#[inline]
pub fn tick_at(base: &Base, period: u64, cycle: u32) -> Tick {
    Tick(base.tick + u64::from(cycle) * period)
}
