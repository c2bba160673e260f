//! Fetch's buffer: one block of `fetchBufferSize` bytes, its translation and its access of the instruction cache.

use breakeven_base::{Bus, FrontEnd, MemKind};
use breakeven_memory::{Port, Request, Response, Side, TlbResult};

use super::Status;
use crate::o3::O3;
use crate::when::When;
use crate::CoreCtx;

impl O3 {
    #[inline]
    fn block_of(&self, pc: u64) -> u64 {
        pc & !u64::from(self.rules.fetch_buffer - 1)
    }

    /// The bytes that come next are there.
    #[inline]
    pub(super) fn in_buffer(&self) -> bool {
        self.looping() || self.fetch.valid && self.block_wanted()
    }

    /// The buffer's block is the one of the next bytes, whether or not it has arrived.
    #[inline]
    fn block_wanted(&self) -> bool {
        let f = &self.fetch;
        let width = u64::from(self.rules.fetch_buffer);
        // How far the next instruction begins behind the block's.
        let ahead = f.pc.wrapping_sub(f.block);
        if f.half {
            ahead.wrapping_add(width) < width
        } else {
            ahead < width
        }
    }

    /// Where the bytes that come next are: past a block's end when the first part of the instruction has been taken.
    #[inline]
    fn fetch_address(&self) -> u64 {
        if !self.fetch.half {
            return self.fetch.pc;
        }
        self.block_of(self.fetch.pc).wrapping_add(u64::from(self.rules.fetch_buffer))
    }

    #[cold]
    pub(super) fn fetch_arrival<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) {
        self.moved = true;
        match self.fetch.status {
            Status::WaitCache => {
                self.fetch.valid = true;
                self.fetch.status = Status::Complete;
            }
            Status::Translating | Status::Retry => self.access_block(cx, when),
            _ => {}
        }
    }

    /// Asks for the block of the next bytes.
    pub(super) fn request_block<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) {
        self.moved = true;
        let block = self.block_of(self.fetch_address());
        self.fetch.block = block;
        self.fetch.valid = false;
        let Some(xlat) = cx.fe.fetch_translate(cx.bus, block) else {
            // The instruction there says itself what is wrong.
            self.fetch.status = Status::WaitCache;
            self.fetch.at = when.cycle + 1;
            return;
        };
        self.fetch.paddr = xlat.paddr;
        let asid = cx.fe.asid();
        let at = match cx.mem.tlb_lookup(Side::Inst, when.tick, block, xlat.page_shift, asid, false) {
            TlbResult::Hit { at } => at,
            TlbResult::Miss { at } => {
                let path = cx.fe.walk_path(cx.bus, block);
                cx.mem.tlb_walk(Side::Inst, at, block, xlat.page_shift, asid, &path)
            }
        };
        self.fetch.at = when.cycle_of(at);
        if self.fetch.at > when.cycle {
            self.fetch.status = Status::Translating;
            return;
        }
        self.access_block(cx, when);
    }

    fn access_block<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) {
        #[allow(clippy::cast_possible_truncation)] // at most a line
        let request = Request {
            paddr: self.fetch.paddr,
            size: self.rules.fetch_buffer as u16,
            kind: MemKind::Fetch,
            uncacheable: false,
            non_temporal: false,
            pc: self.fetch.block,
        };
        let (status, at) = match cx.mem.access(Port::Inst, when.tick, &request) {
            Response::Done { at, .. } => (Status::WaitCache, at),
            Response::Blocked { retry } => (Status::Retry, retry),
        };
        self.fetch.stats.cache_lines += u64::from(status == Status::WaitCache);
        self.fetch.status = status;
        self.fetch.at = when.cycle_of(at).max(when.cycle + 1);
    }

    /// As [`O3::in_buffer`], whether or not the block has arrived: a second request for it is pointless.
    #[inline]
    pub(super) fn in_buffer_block(&self) -> bool {
        self.in_buffer() || self.block_wanted()
    }
}
