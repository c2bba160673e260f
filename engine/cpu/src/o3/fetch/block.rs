//! Fetch's buffer: one block of `fetchBufferSize` bytes, its translation and its access of the instruction cache.

use breakeven_base::{Cycle, MemKind, PhysAddr};
use breakeven_memory::{Request, Response, Side, TlbResult};

use super::{Fetch, Status};
use crate::o3::io::Io;
use crate::outside::Outside;
use crate::when::When;

/// The fetch buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Buffer {
    /// Address of the block, whether it has arrived or not.
    pub block: u64,
    pub paddr: PhysAddr,
    pub valid: bool,
    /// The next instruction begins in the block before: its first part has been taken.
    pub second_half: bool,
}

/// The block of `bytes` in which `pc` lies.
#[inline]
pub(super) fn block_of(pc: u64, bytes: u32) -> u64 {
    pc & !u64::from(bytes - 1)
}

impl Buffer {
    /// The buffer's block is the one of the next bytes, whether or not it has arrived.
    #[inline]
    fn is_wanted(&self, pc: u64, bytes: u32) -> bool {
        let width = u64::from(bytes);
        // How far the next instruction begins behind the block's start.
        let offset = pc.wrapping_sub(self.block);
        if self.second_half {
            offset.wrapping_add(width) < width
        } else {
            offset < width
        }
    }

    /// Block of the next bytes: the one behind `pc`'s when an instruction's first part has been taken.
    #[inline]
    fn wanted(&self, pc: u64, bytes: u32) -> u64 {
        let block = block_of(pc, bytes);
        if self.second_half {
            block.wrapping_add(u64::from(bytes))
        } else {
            block
        }
    }
}

impl Fetch {
    /// The next bytes are in the fetch buffer or the loop buffer.
    #[inline]
    pub(super) fn in_buffer(&self, io: &Io) -> bool {
        self.loops.has(self.pc) || self.buffer.valid && self.buffer.is_wanted(self.pc, io.rules.fetch_buffer)
    }

    /// As [`Fetch::in_buffer`], or the block has been requested: a second request is pointless.
    #[inline]
    pub(super) fn is_requested(&self, io: &Io) -> bool {
        self.in_buffer(io) || self.buffer.is_wanted(self.pc, io.rules.fetch_buffer)
    }

    /// What fetch waited for has arrived.
    #[cold]
    pub(super) fn arrival<X: Outside>(&mut self, io: &mut Io, cx: &mut X, when: &When) {
        io.activity.moved = true;
        match self.status {
            Status::WaitCache => {
                self.buffer.valid = true;
                self.status = Status::Complete;
            }
            Status::Translating | Status::Retry => self.access_block(io, cx, when),
            Status::Target => self.status = Status::Running,
            _ => {}
        }
    }

    /// Translates the block of the next bytes and accesses the cache.
    pub(super) fn request_block<X: Outside>(&mut self, io: &mut Io, cx: &mut X, when: &When) {
        io.activity.moved = true;
        let block = self.buffer.wanted(self.pc, io.rules.fetch_buffer);
        self.buffer.block = block;
        self.buffer.valid = false;
        let Some(xlat) = cx.fetch_translate(block) else {
            // The front end raises the fault when it executes the instruction.
            self.status = Status::WaitCache;
            self.at = when.cycle + 1;
            return;
        };
        self.buffer.paddr = xlat.paddr;
        let asid = cx.asid();
        let at = match cx.inst_tlb(when.tick, block, xlat.page_shift, asid) {
            TlbResult::Hit { at } => at,
            TlbResult::Miss { at } => cx.walk(Side::Inst, at, block, xlat.page_shift, asid),
        };
        self.at = when.cycle_of(at);
        if self.at > when.cycle {
            self.status = Status::Translating;
            return;
        }
        self.access_block(io, cx, when);
    }

    fn access_block<X: Outside>(&mut self, io: &Io, cx: &mut X, when: &When) {
        #[allow(clippy::cast_possible_truncation)] // at most a line
        let request = Request {
            paddr: self.buffer.paddr,
            size: io.rules.fetch_buffer as u16,
            kind: MemKind::Fetch,
            uncacheable: false,
            non_temporal: false,
            pc: self.buffer.block,
            may_wait: false,
        };
        let (status, at) = match cx.fetch(when.tick, &request) {
            Response::Done { at, level } => {
                (Status::WaitCache, self.block_at(level > 0, when.cycle_of(at), io.rules.widths.targets, when.cycle))
            }
            Response::Blocked { retry } | Response::Pending { until: retry, .. } => {
                (Status::Retry, when.cycle_of(retry).max(when.cycle + 1))
            }
        };
        self.stats.cache_lines += u64::from(status == Status::WaitCache);
        self.status = status;
        self.at = at;
    }

    /// When the block can be fetched for which the instruction cache answers in cycle `at`.
    #[inline]
    fn block_at(&mut self, missed: bool, at: Cycle, per_cycle: u32, now: Cycle) -> Cycle {
        let at = at.max(now + 1);
        if !self.targets.decoupled() {
            return at;
        }
        let delayed = missed || matches!(self.status, Status::Translating | Status::Retry);
        self.targets.answered(self.buffer.block, delayed, per_cycle, at, now)
    }
}
