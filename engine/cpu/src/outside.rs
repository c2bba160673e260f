//! What goes into the pipeline and out of it: the front end, the memory side and the branch predictor. All else that a cycle
//! does follows from the pipeline's own state.

use std::fmt;
use std::ops::Range;

use breakeven_base::{
    BranchKind, Bus, FetchXlat, FrontEnd, MemRef, Now, PathEnd, PathInst, PhysAddr, Predecode, Step, StepResult, Tick,
};
use breakeven_memory::{DataUses, InstSide, MissResponse, MshrId, Port, Request, Response, Side, TlbResult};

use crate::bpred::{BranchPredictor, Prediction};
use crate::seq::Seq;
use crate::CoreCtx;

/// A data access: whose it is, and how many of its bytes went before it.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub seq: Seq,
    pub sent: u16,
}

/// A data page that is looked up: a reference's first one, or that of its last byte.
#[derive(Clone, Copy, Debug)]
pub struct DataPage {
    pub seq: Seq,
    pub vaddr: u64,
    pub page_shift: u8,
    pub last: bool,
}

/// Predictor and instruction side at some time.
#[derive(Default)]
pub struct Earlier {
    predictor: Option<Box<BranchPredictor>>,
    inst_side: Option<InstSide>,
    translations: Option<u64>,
}

impl Earlier {
    /// Whether the predictor is among them.
    pub fn has_predictor(&self) -> bool {
        self.predictor.is_some()
    }
}

impl fmt::Debug for Earlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Earlier")
    }
}

/// Which of them stand as at an earlier time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    pub predictor: bool,
    pub inst_side: bool,
    /// Of instruction addresses, while [`Outside::translations`] says the same.
    pub translations: bool,
}

/// A round of a loop: where it ended, its micro-ops' numbers, and the lines of its instructions.
#[derive(Clone, Debug)]
pub struct Round {
    pub end: Tick,
    pub seqs: u64,
    pub code: Vec<PhysAddr>,
}

/// The pipeline's outside. The calls are those of [`FrontEnd`], [`breakeven_memory::MemorySystem`] and [`BranchPredictor`].
pub trait Outside {
    /// Executes the next instruction; its micro-ops will stand from `at` on.
    fn step(&mut self, at: Seq, now: Now, out: &mut Step) -> StepResult;
    /// See [`FrontEnd::run_path`].
    fn run_path(
        &mut self,
        _out: &mut Step,
        _path: impl FnMut(usize) -> Option<PathInst>,
        _visit: impl FnMut(usize, &[MemRef]) -> bool,
    ) -> PathEnd {
        PathEnd::default()
    }
    fn pc(&mut self) -> u64;
    fn fork(&mut self, pc: u64) -> u32;
    fn rollback(&mut self, depth: u32);
    fn redirect(&mut self, pc: u64);
    /// Open forks.
    fn depth(&mut self) -> u32;
    fn predecode(&mut self, out: &mut Step) -> Predecode<'_>;
    /// Executes the oldest instruction that has only been predecoded; its micro-ops stand from `at` on.
    fn execute_deferred(&mut self, at: Seq, now: Now, out: &mut Step) -> bool;
    fn asid(&mut self) -> u16;
    fn in_microcode(&mut self) -> bool;
    fn fetch_translate(&mut self, vaddr: u64) -> Option<FetchXlat>;
    /// See [`FrontEnd::translations`].
    fn translations(&mut self) -> Option<u64> {
        None
    }
    fn irq_deadline(&mut self) -> Tick;
    /// See [`Bus::slice_is_over`].
    fn slice_is_over(&mut self) -> bool {
        false
    }
    fn disassemble(&mut self, pc: u64, out: &mut String);

    fn fetch(&mut self, now: Tick, request: &Request) -> Response;
    fn access(&mut self, packet: Packet, now: Tick, request: &Request) -> Response;
    /// `seq`: whose access waits with the MSHR.
    fn response_of(&mut self, seq: Seq, now: Tick, id: MshrId) -> Option<MissResponse>;
    fn send_pending(&mut self, now: Tick) -> Option<Tick>;
    /// Caches between the data port and the memory.
    fn data_levels(&mut self) -> u8;
    fn flush_write_combining(&mut self, now: Tick) -> Tick;
    fn inst_tlb(&mut self, now: Tick, vaddr: u64, page_shift: u8, asid: u16) -> TlbResult;
    fn data_tlb(&mut self, now: Tick, page: DataPage, asid: u16, is_store: bool) -> TlbResult;
    /// The end of the walk for an address that `now` is looked up for in vain.
    fn walk(&mut self, side: Side, now: Tick, vaddr: u64, page_shift: u8, asid: u16) -> Tick;
    fn tlb_flush(&mut self, vaddr: Option<u64>);
    fn fetch_flush(&mut self);
    fn flush_caches(&mut self, at: Tick, line_cycles: u8);

    fn predict(&mut self, seq: Seq, pc: u64, len: u8, kind: BranchKind) -> Prediction;
    /// Everything up to `done` has committed.
    fn train(&mut self, done: Seq);
    fn correct(&mut self, seq: Seq, target: u64, taken: bool, from_commit: bool);
    fn squash_predictions(&mut self, after: Seq);

    /// Keeps predictor and instruction side as they are at `now`. False: of neither it could be told whether it stands so again.
    fn keep(&mut self, _to: &mut Earlier, _now: Tick) -> bool {
        false
    }
    /// Which of them stand behind `round` as before it.
    fn repeats(&mut self, _earlier: &Earlier, _round: &Round) -> Repeats {
        Repeats::default()
    }
    /// As if the calls of `round` that are theirs had been made so many `times` more.
    fn repeat(&mut self, _earlier: &mut Earlier, _round: &Round, _which: Repeats, _times: u64) {}
    /// Whether hits of the data side may be made together; `may_wait`: also of requests that may.
    fn counts_data_hits(&mut self, _may_wait: bool) -> bool {
        false
    }
    /// Whether `uses` all hit, made at any time of `during`.
    fn all_hit(&mut self, _uses: &DataUses, _during: &Range<Tick>) -> bool {
        false
    }
    /// Makes `uses`, which all hit.
    fn use_all(&mut self, _uses: &DataUses) {}
}

/// The outside itself.
pub struct Live<'a, 'b, F: FrontEnd, B: Bus> {
    pub cx: &'a mut CoreCtx<'b, F, B>,
    pub predictor: &'a mut BranchPredictor,
}

impl<F: FrontEnd, B: Bus> Outside for Live<'_, '_, F, B> {
    #[inline]
    fn step(&mut self, _at: Seq, now: Now, out: &mut Step) -> StepResult {
        self.cx.fe.step(self.cx.bus, now, out)
    }
    #[inline]
    fn run_path(
        &mut self,
        out: &mut Step,
        path: impl FnMut(usize) -> Option<PathInst>,
        visit: impl FnMut(usize, &[MemRef]) -> bool,
    ) -> PathEnd {
        self.cx.fe.run_path(self.cx.bus, out, path, visit)
    }
    #[inline]
    fn pc(&mut self) -> u64 {
        self.cx.fe.pc()
    }
    #[inline]
    fn fork(&mut self, pc: u64) -> u32 {
        self.cx.fe.fork(pc)
    }
    #[inline]
    fn rollback(&mut self, depth: u32) {
        self.cx.fe.rollback(depth);
    }
    #[inline]
    fn redirect(&mut self, pc: u64) {
        self.cx.fe.redirect(pc);
    }
    #[inline]
    fn depth(&mut self) -> u32 {
        self.cx.fe.depth()
    }
    #[inline]
    fn predecode(&mut self, out: &mut Step) -> Predecode<'_> {
        self.cx.fe.predecode(self.cx.bus, out)
    }
    #[inline]
    fn execute_deferred(&mut self, _at: Seq, now: Now, out: &mut Step) -> bool {
        self.cx.fe.execute_deferred(self.cx.bus, now, out)
    }
    #[inline]
    fn in_microcode(&mut self) -> bool {
        self.cx.fe.in_microcode()
    }
    #[inline]
    fn asid(&mut self) -> u16 {
        self.cx.fe.asid()
    }
    #[inline]
    fn fetch_translate(&mut self, vaddr: u64) -> Option<FetchXlat> {
        self.cx.fe.fetch_translate(self.cx.bus, vaddr)
    }
    #[inline]
    fn translations(&mut self) -> Option<u64> {
        self.cx.fe.translations()
    }
    #[inline]
    fn irq_deadline(&mut self) -> Tick {
        self.cx.bus.irq_deadline()
    }
    #[inline]
    fn slice_is_over(&mut self) -> bool {
        self.cx.bus.slice_is_over()
    }
    #[cold]
    fn disassemble(&mut self, pc: u64, out: &mut String) {
        self.cx.fe.disassemble(self.cx.bus, pc, out);
    }

    #[inline]
    fn fetch(&mut self, now: Tick, request: &Request) -> Response {
        self.cx.mem.access(Port::Inst, now, request)
    }
    #[inline]
    fn access(&mut self, _packet: Packet, now: Tick, request: &Request) -> Response {
        self.cx.mem.access(Port::Data, now, request)
    }
    #[inline]
    fn response_of(&mut self, _seq: Seq, now: Tick, id: MshrId) -> Option<MissResponse> {
        self.cx.mem.response_of(now, id)
    }
    #[inline]
    fn send_pending(&mut self, now: Tick) -> Option<Tick> {
        self.cx.mem.send_pending(now)
    }
    #[inline]
    fn data_levels(&mut self) -> u8 {
        self.cx.mem.cache_levels(Port::Data)
    }
    #[inline]
    fn flush_write_combining(&mut self, now: Tick) -> Tick {
        self.cx.mem.flush_write_combining(now)
    }
    #[inline]
    fn inst_tlb(&mut self, now: Tick, vaddr: u64, page_shift: u8, asid: u16) -> TlbResult {
        self.cx.mem.tlb_lookup(Side::Inst, now, vaddr, page_shift, asid, false)
    }
    #[inline]
    fn data_tlb(&mut self, now: Tick, page: DataPage, asid: u16, is_store: bool) -> TlbResult {
        self.cx.mem.tlb_lookup(Side::Data, now, page.vaddr, page.page_shift, asid, is_store)
    }
    #[inline]
    fn walk(&mut self, side: Side, now: Tick, vaddr: u64, page_shift: u8, asid: u16) -> Tick {
        let path = self.cx.fe.walk_path(self.cx.bus, vaddr);
        self.cx.mem.tlb_walk(side, now, vaddr, page_shift, asid, &path)
    }
    fn tlb_flush(&mut self, vaddr: Option<u64>) {
        self.cx.mem.tlb_flush(vaddr);
    }
    fn fetch_flush(&mut self) {
        self.cx.mem.fetch_flush();
    }
    fn flush_caches(&mut self, at: Tick, line_cycles: u8) {
        self.cx.mem.flush_caches(at, line_cycles);
    }

    #[inline]
    fn predict(&mut self, seq: Seq, pc: u64, len: u8, kind: BranchKind) -> Prediction {
        self.predictor.predict(seq.0, pc, len, kind)
    }
    #[inline]
    fn train(&mut self, done: Seq) {
        self.predictor.update(done.0);
    }
    #[inline]
    fn correct(&mut self, seq: Seq, target: u64, taken: bool, from_commit: bool) {
        self.predictor.correct(seq.0, target, taken, from_commit);
    }
    #[inline]
    fn squash_predictions(&mut self, after: Seq) {
        self.predictor.squash(after.0);
    }

    fn keep(&mut self, to: &mut Earlier, now: Tick) -> bool {
        if self.predictor.has_steady_state() {
            self.predictor.keep(&mut to.predictor);
        }
        to.inst_side = self.cx.mem.inst_side(now);
        to.translations = self.cx.fe.translations();
        to.inst_side.is_some() || self.predictor.has_steady_state()
    }
    fn repeats(&mut self, earlier: &Earlier, round: &Round) -> Repeats {
        let mem = &*self.cx.mem;
        Repeats {
            predictor: earlier.predictor.as_ref().is_some_and(|p| self.predictor.repeats(p, round.seqs)),
            inst_side: earlier.inst_side.as_ref().is_some_and(|i| mem.inst_side_repeats(i, round.end, &round.code)),
            translations: earlier.translations.is_some() && earlier.translations == self.cx.fe.translations(),
        }
    }
    fn repeat(&mut self, earlier: &mut Earlier, round: &Round, which: Repeats, times: u64) {
        if let (Some(predictor), true) = (&mut earlier.predictor, which.predictor) {
            self.predictor.repeat(predictor, times, round.seqs);
        }
        if let (Some(inst_side), true) = (&earlier.inst_side, which.inst_side) {
            self.cx.mem.repeat_inst_side(inst_side, round.end, times);
        }
    }
    fn counts_data_hits(&mut self, may_wait: bool) -> bool {
        self.cx.mem.counts_data_hits(may_wait)
    }
    fn all_hit(&mut self, uses: &DataUses, during: &Range<Tick>) -> bool {
        self.cx.mem.all_hit(uses, during)
    }
    fn use_all(&mut self, uses: &DataUses) {
        self.cx.mem.use_all(uses);
    }
}
