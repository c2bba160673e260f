//! String instructions. With a repeat prefix a step does part of the work (one element, or a block: [`crate::rep`])
//! and leaves rip at the instruction until the count is used up, so that it can be interrupted between any two steps;
//! a fault leaves rcx, rsi and rdi at the element that faulted. The fast path does as much as it can at once.

use breakeven_base::{Bus, MemKind};
use iced_x86::Mnemonic;

use super::alu::sub;
use super::Exec;
use crate::config::StringMode;
use crate::cpu::{Stop, R};
use crate::inst::{mask, InstFlags, Kind, Piece, Steps, RAX, RCX, RDI, RIP, RSI};
use crate::microcode::Micro;
use crate::mmu::{Access, PAGE};
use crate::rep::{join, Job, Run};
use crate::simd::V;

/// Most elements, or pages at once, that the fast path does before it returns to its caller.
const FAST_ELEMENTS: u64 = 1 << 16;
/// So many of them, of one instruction or of several, take as long as thousands of other instructions.
const LONG: u32 = 1 << 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum StringOp {
    Movs,
    Stos,
    Lods,
    Scas,
    Cmps,
}

fn string_op(op: Mnemonic) -> Option<StringOp> {
    use Mnemonic::*;
    Some(match op {
        Movsb | Movsw | Movsd | Movsq => StringOp::Movs,
        Stosb | Stosw | Stosd | Stosq => StringOp::Stos,
        Lodsb | Lodsw | Lodsd | Lodsq => StringOp::Lods,
        Scasb | Scasw | Scasd | Scasq => StringOp::Scas,
        Cmpsb | Cmpsw | Cmpsd | Cmpsq => StringOp::Cmps,
        _ => return None,
    })
}

impl<B: Bus> Exec<'_, B> {
    fn address_mask(&self) -> u64 {
        if self.i.has(InstFlags::ADDR32) {
            0xffff_ffff
        } else {
            !0
        }
    }
    fn source(&self) -> u64 {
        (self.reg(RSI as u8) & self.address_mask()).wrapping_add(self.cpu.c.base[usize::from(self.i.addr.seg & 3)])
    }
    fn destination(&self) -> u64 {
        self.reg(RDI as u8) & self.address_mask()
    }
    /// Moves a pointer by `bytes` in the direction of the flag.
    fn bump(&mut self, r: usize, bytes: u64) {
        let m = self.address_mask();
        let v = self.reg(r as u8);
        let v = if self.cpu.c.backwards { v.wrapping_sub(bytes) } else { v.wrapping_add(bytes) };
        self.cpu.c.r[r] = v & m;
    }

    pub(super) fn string(&mut self) -> R<()> {
        let Some(w) = string_op(self.i.op) else { return Err(Stop::Unknown) };
        if !self.i.has(InstFlags::REP | InstFlags::REPNE) {
            return self.element(w);
        }
        if !self.cpu.outcome.fast {
            return self.part(w);
        }
        let m = self.address_mask();
        let mut iterations = 0;
        while self.reg(RCX as u8) & m != 0 && iterations < FAST_ELEMENTS {
            iterations += 1;
            let left = self.reg(RCX as u8) & m;
            let done = if matches!(w, StringOp::Movs | StringOp::Stos) { self.bulk(w, left)? } else { 0 };
            self.cpu.outcome.turns += 1;
            if self.cpu.outcome.turns >= LONG {
                self.cpu.outcome.turns = 0;
                self.bus.worked_long();
            }
            if done > 0 {
                self.advance(w, done);
            } else if self.counted_element(w, left)? {
                return Ok(());
            }
        }
        self.repeat_instruction();
        Ok(())
    }

    /// One step of a repeated instruction.
    fn part(&mut self, w: StringOp) -> R<()> {
        let left = self.reg(RCX as u8) & self.address_mask();
        if self.i.uops.steps == Steps::Microcode {
            return self.microcode(w, left);
        }
        let mut run = matches!(w, StringOp::Movs | StringOp::Stos).then(|| self.engine(w, left)).flatten();
        let modes = self.cpu.options.rep.clone();
        let modes = if w == StringOp::Movs { &modes.movs } else { &modes.stos };
        let mode = run.as_ref().and_then(|r| r.mode(modes));
        if let Some(run) = &mut run {
            self.cpu.outcome.string.engine = true;
            self.cpu.outcome.string.fillers = run.startup_step();
        }
        let mut ended = left == 0;
        if self.cpu.outcome.string.fillers > 0 {
            (self.cpu.outcome.string.more, ended) = (true, false);
        } else if let (Some(run), Some(mode)) = (&mut run, mode) {
            let mut done = if left == 0 { 0 } else { self.block(w, left, mode) };
            if done > 0 {
                self.advance(w, done);
            } else if left != 0 {
                self.counted_element(w, left)?;
                done = 1;
                self.cpu.outcome.string.fillers = mode.element_uops;
            }
            self.cpu.outcome.string.cycles = run.charge(mode, done, done * u64::from(self.i.size));
        } else if left != 0 {
            ended = self.counted_element(w, left)?;
        }
        if !ended {
            self.repeat_instruction();
        }
        self.cpu.c.run = run.filter(|_| self.cpu.outcome.string.more).unwrap_or_default();
        Ok(())
    }

    /// One step of gem5's microcode: what precedes its loop, an iteration, or what follows it.
    fn microcode(&mut self, w: StringOp, left: u64) -> R<()> {
        let pc = self.reg(RIP);
        if self.cpu.c.micro.left && self.cpu.c.micro.pc == pc {
            self.cpu.outcome.string.piece = Piece::Straight(1);
            self.cpu.c.micro = Micro::default();
            return Ok(());
        }
        self.cpu.outcome.string.more = true;
        self.next = pc;
        if self.cpu.c.micro.pc != pc {
            let (end, over) = (pc.wrapping_add(self.i.len.into()), left == 0);
            self.cpu.outcome.string.piece = Piece::Entry { over };
            self.cpu.c.micro = Micro { pc, end, left: over, entry: true, ..Micro::default() };
            return Ok(());
        }
        if std::mem::take(&mut self.cpu.c.micro.entry) {
            self.cpu.outcome.string.piece = Piece::Straight(0);
            return Ok(());
        }
        // On a wrong path the loop may not end.
        let ended = left == 0 && !self.cpu.speculative() || self.counted_element(w, left)?;
        let again = !ended && self.reg(RCX as u8) & self.address_mask() != 0;
        self.cpu.outcome.string.piece = Piece::Iteration { again };
        self.cpu.c.micro.left = !again;
        Ok(())
    }

    /// The instruction is executed again as the next step, unless its count is used up.
    fn repeat_instruction(&mut self) {
        if self.cpu.outcome.string.more || self.reg(RCX as u8) & self.address_mask() != 0 {
            self.cpu.outcome.string.more = true;
            self.next = self.reg(RIP);
        }
    }

    /// The string engine's state for this instruction; begins it if this is the first step.
    fn engine(&self, w: StringOp, left: u64) -> Option<Run> {
        let pc = self.reg(RIP);
        if self.cpu.c.run.pc == pc {
            return Some(self.cpu.c.run);
        }
        let (dst, movs) = (self.destination(), w == StringOp::Movs);
        let src = if movs { self.source() } else { dst };
        let job = Job { count: left, size: self.i.size, src, dst, movs, backwards: self.cpu.c.backwards };
        Run::begin(if movs { &self.cpu.options.rep.movs } else { &self.cpu.options.rep.stos }, &job, pc)
    }

    /// One element, counted; true: the comparison ends the repetition.
    fn counted_element(&mut self, w: StringOp, left: u64) -> R<bool> {
        self.element(w)?;
        self.cpu.c.r[RCX] = left.wrapping_sub(1) & self.address_mask();
        Ok(self.ends(w))
    }

    /// Whether the comparison ends the repetition.
    fn ends(&mut self, w: StringOp) -> bool {
        matches!(w, StringOp::Scas | StringOp::Cmps) && self.cpu.c.f.zf() != self.i.has(InstFlags::REP)
    }

    /// Counts `n` elements that movs or stos has done.
    fn advance(&mut self, w: StringOp, n: u64) {
        let bytes = n * u64::from(self.i.size);
        if w == StringOp::Movs {
            self.bump(RSI, bytes);
        }
        self.bump(RDI, bytes);
        self.cpu.c.r[RCX] = self.reg(RCX as u8).wrapping_sub(n) & self.address_mask();
    }

    fn element(&mut self, w: StringOp) -> R<()> {
        let s = self.i.size;
        let step = u64::from(s);
        let kind = match s {
            1 => Kind::R8,
            2 => Kind::R16,
            4 => Kind::R32,
            _ => Kind::R64,
        };
        let acc = self.reg(RAX as u8) & mask(s);
        match w {
            StringOp::Movs => {
                let v = self.load(self.source(), s)?;
                self.store(self.destination(), s, v)?;
                self.bump(RSI, step);
                self.bump(RDI, step);
            }
            StringOp::Stos => {
                self.store(self.destination(), s, acc)?;
                self.bump(RDI, step);
            }
            StringOp::Lods => {
                let v = self.load(self.source(), s)?;
                self.set_reg(kind, RAX as u8, v);
                self.bump(RSI, step);
            }
            StringOp::Scas => {
                let v = self.load(self.destination(), s)?;
                sub(self.flags(), acc, v, false, s);
                self.bump(RDI, step);
            }
            StringOp::Cmps => {
                // When neither can be read, the fault is the destination's, as on the processors tried.
                let b = self.load(self.destination(), s)?;
                let a = self.load(self.source(), s)?;
                sub(self.flags(), a, b, false, s);
                self.bump(RSI, step);
                self.bump(RDI, step);
            }
        }
        Ok(())
    }

    /// One block of the string engine, one load and one store; the elements done, 0 where it must go by element.
    fn block(&mut self, w: StringOp, left: u64, mode: &StringMode) -> u64 {
        let size = u64::from(self.i.size);
        let (src, dst) = (self.source(), self.destination());
        let block = u64::from(mode.block);
        if self.cpu.c.backwards || block == 0 || self.i.has(InstFlags::ADDR32) {
            return 0;
        }
        // The first block ends where the destination's blocks do.
        let room = if dst & (size - 1) == 0 { block - (dst & (block - 1)) } else { block };
        let bytes = left.saturating_mul(size).min(room) & !(size - 1);
        let crosses_page = (dst & (PAGE - 1)) + bytes > PAGE;
        // Where the destination overlaps ahead of the source, elements are copied from earlier ones.
        if bytes <= size || crosses_page || (w == StringOp::Movs && dst.wrapping_sub(src) < bytes) {
            return 0;
        }
        let noted = self.cpu.outcome.nrefs;
        if self.copy_block(w, src, dst, bytes).is_err() {
            self.cpu.outcome.nrefs = noted;
            return 0;
        }
        if mode.whole_lines && bytes == self.cpu.options.line && dst & (bytes - 1) == 0 {
            if let Some(m) = self.cpu.outcome.refs[..self.cpu.outcome.nrefs].last_mut().filter(|m| !m.uncacheable) {
                m.kind = MemKind::StoreLine;
            }
        }
        bytes / size
    }

    /// Up to 64 bytes: all are read before any is written. The destination lies in one page, so no
    /// store faults in its middle.
    fn copy_block(&mut self, w: StringOp, src: u64, dst: u64, bytes: u64) -> R<()> {
        let (low, high) = (bytes.min(32) as u8, bytes.saturating_sub(32) as u8);
        let mut data = [self.pattern(); 2];
        if w == StringOp::Movs {
            let from = self.cpu.outcome.nrefs;
            data[0] = self.cpu.load_v(self.bus, self.now, src, low)?;
            if high > 0 {
                data[1] = self.cpu.load_v(self.bus, self.now, src.wrapping_add(32), high)?;
                self.merge_references(from);
            }
        }
        let from = self.cpu.outcome.nrefs;
        self.cpu.store_v(self.bus, self.now, dst, low, data[0])?;
        if high > 0 {
            self.cpu.store_v(self.bus, self.now, dst.wrapping_add(32), high, data[1])?;
            self.merge_references(from);
        }
        Ok(())
    }

    /// The two references from `from` on become one.
    fn merge_references(&mut self, from: usize) {
        if let Some([a, b]) = self.cpu.outcome.refs.get_mut(from..from + 2) {
            *a = join(a, b);
            self.cpu.outcome.nrefs = from + 1;
        }
    }

    /// The accumulator's element, broadcast.
    fn pattern(&self) -> V {
        let v = self.reg(RAX as u8);
        let w = match self.i.size {
            1 => (v & 0xff).wrapping_mul(0x0101_0101_0101_0101),
            2 => (v & 0xffff).wrapping_mul(0x0001_0001_0001_0001),
            4 => (v & 0xffff_ffff).wrapping_mul(0x0000_0001_0000_0001),
            _ => v,
        };
        V([w; 4])
    }

    /// As many elements as lie in one page on either side; 0 when it must go by element.
    fn bulk(&mut self, w: StringOp, left: u64) -> R<u64> {
        let size = u64::from(self.i.size);
        let (src, dst) = (self.source(), self.destination());
        let rest = |a: u64| PAGE - (a & (PAGE - 1));
        let room = if w == StringOp::Movs { rest(src).min(rest(dst)) } else { rest(dst) };
        let n = left.min(room / size);
        let bytes = n * size;
        if self.cpu.c.backwards || n == 0 || self.i.has(InstFlags::ADDR32) {
            return Ok(0);
        }
        let Some(to) = self.cpu.bulk(self.bus, dst, bytes, Access::Store) else { return Ok(0) };
        if w == StringOp::Stos {
            let pattern = self.pattern().bytes();
            let Some(out) = self.bus.ram_mut().slice_mut(to, bytes) else { return Ok(0) };
            for chunk in out.chunks_mut(32) {
                chunk.copy_from_slice(&pattern[..chunk.len()]);
            }
            return Ok(n);
        }
        let Some(from) = self.cpu.bulk(self.bus, src, bytes, Access::Load) else { return Ok(0) };
        if to.wrapping_sub(from) < bytes {
            return Ok(0);
        }
        let mut page = [0; PAGE as usize];
        let buffer = &mut page[..bytes as usize];
        let Some(data) = self.bus.ram().slice(from, bytes) else { return Ok(0) };
        buffer.copy_from_slice(data);
        let Some(out) = self.bus.ram_mut().slice_mut(to, bytes) else { return Ok(0) };
        out.copy_from_slice(buffer);
        Ok(n)
    }
}
