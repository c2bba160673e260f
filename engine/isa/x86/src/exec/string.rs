//! String instructions. With a repeat prefix a step does part of the work (one element, or blocks: [`crate::config::RepConfig`])
//! and leaves rip at the instruction until the count is used up, so that it can be interrupted between any two steps;
//! a fault leaves rcx, rsi and rdi at the element that faulted. The fast path does as much as it can at once.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::alu::sub;
use super::Exec;
use crate::cpu::{Stop, R};
use crate::inst::{flag, mask, Kind, RAX, RCX, RDI, RIP, RSI};
use crate::mmu::{Access, PAGE};

/// Elements that the fast path does before it lets the caller look up.
const FAST_ELEMENTS: u64 = 1 << 16;
/// Blocks in one step: with their counters they fit a step's micro-ops.
const STEP_BLOCKS: u64 = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Movs,
    Stos,
    Lods,
    Scas,
    Cmps,
}

fn what(op: Mnemonic) -> Option<What> {
    use Mnemonic::*;
    Some(match op {
        Movsb | Movsw | Movsd | Movsq => What::Movs,
        Stosb | Stosw | Stosd | Stosq => What::Stos,
        Lodsb | Lodsw | Lodsd | Lodsq => What::Lods,
        Scasb | Scasw | Scasd | Scasq => What::Scas,
        Cmpsb | Cmpsw | Cmpsd | Cmpsq => What::Cmps,
        _ => return None,
    })
}

impl<B: Bus> Exec<'_, B> {
    fn address_mask(&self) -> u64 {
        if self.i.has(flag::ADDR32) {
            0xffff_ffff
        } else {
            !0
        }
    }
    fn source(&self) -> u64 {
        (self.reg(RSI as u8) & self.address_mask()).wrapping_add(self.cpu.c.base[usize::from(self.i.seg & 3)])
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
        let Some(w) = what(self.i.op) else { return Err(Stop::Unknown) };
        if !self.i.has(flag::REP | flag::REPNE) {
            return self.element(w);
        }
        let m = self.address_mask();
        let limit = if self.cpu.fast { FAST_ELEMENTS } else { STEP_BLOCKS };
        let mut turns = 0;
        while self.reg(RCX as u8) & m != 0 && turns < limit {
            turns += 1;
            let left = self.reg(RCX as u8) & m;
            let done = match w {
                What::Movs | What::Stos if self.cpu.fast => self.bulk(w, left)?,
                What::Movs | What::Stos => self.block(w, left),
                _ => 0,
            };
            if done > 0 {
                self.advance(w, done);
                continue;
            }
            self.element(w)?;
            self.cpu.c.r[RCX] = left.wrapping_sub(1) & m;
            if self.ends(w) {
                return Ok(());
            }
            if !self.cpu.fast {
                break;
            }
        }
        if self.reg(RCX as u8) & m != 0 {
            self.cpu.string.more = true;
            self.next = self.reg(RIP);
        }
        Ok(())
    }

    /// The comparison came out so that the repetition ends.
    fn ends(&mut self, w: What) -> bool {
        matches!(w, What::Scas | What::Cmps) && self.cpu.c.f.zf() != self.i.has(flag::REP)
    }

    /// Counts `n` elements that movs or stos has done.
    fn advance(&mut self, w: What, n: u64) {
        let bytes = n * u64::from(self.i.size);
        if w == What::Movs {
            self.bump(RSI, bytes);
        }
        self.bump(RDI, bytes);
        self.cpu.c.r[RCX] = self.reg(RCX as u8).wrapping_sub(n) & self.address_mask();
    }

    fn element(&mut self, w: What) -> R<()> {
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
            What::Movs => {
                let v = self.load(self.source(), s)?;
                self.store(self.destination(), s, v)?;
                self.bump(RSI, step);
                self.bump(RDI, step);
            }
            What::Stos => {
                self.store(self.destination(), s, acc)?;
                self.bump(RDI, step);
            }
            What::Lods => {
                let v = self.load(self.source(), s)?;
                self.set_reg(kind, RAX as u8, v);
                self.bump(RSI, step);
            }
            What::Scas => {
                let v = self.load(self.destination(), s)?;
                sub(self.flags(), acc, v, false, s);
                self.bump(RDI, step);
            }
            What::Cmps => {
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

    /// One block by a load and a store of up to `block` bytes; the elements done, 0 when it must go by element.
    fn block(&mut self, w: What, left: u64) -> u64 {
        let size = u64::from(self.i.size);
        let widest = u64::from(self.cpu.rep.block).min(32);
        let bytes = left.saturating_mul(size).min(widest);
        let bytes = if bytes.is_power_of_two() { bytes } else { bytes.next_power_of_two() / 2 };
        if self.cpu.rep.per_element || self.cpu.c.backwards || bytes <= size {
            return 0;
        }
        let (src, dst) = (self.source(), self.destination());
        // Overlapping ahead of itself the elements feed each other.
        if w == What::Movs && dst.wrapping_sub(src) < bytes {
            return 0;
        }
        let noted = self.cpu.nrefs;
        let moved = if w == What::Movs {
            match self.cpu.load_v(self.bus, self.now, src, bytes as u8) {
                Ok(v) => self.cpu.store_v(self.bus, self.now, dst, bytes as u8, v),
                Err(stop) => Err(stop),
            }
        } else {
            let v = self.pattern();
            self.cpu.store_v(self.bus, self.now, dst, bytes as u8, v)
        };
        if moved.is_err() {
            self.cpu.nrefs = noted;
            return 0;
        }
        bytes / size
    }

    /// The accumulator's element over a whole vector.
    fn pattern(&self) -> crate::simd::V {
        let v = self.reg(RAX as u8);
        let w = match self.i.size {
            1 => (v & 0xff).wrapping_mul(0x0101_0101_0101_0101),
            2 => (v & 0xffff).wrapping_mul(0x0001_0001_0001_0001),
            4 => (v & 0xffff_ffff).wrapping_mul(0x0000_0001_0000_0001),
            _ => v,
        };
        crate::simd::V([w; 4])
    }

    /// As many elements as lie in one page on either side; 0 when it must go by element.
    fn bulk(&mut self, w: What, left: u64) -> R<u64> {
        let size = u64::from(self.i.size);
        let (src, dst) = (self.source(), self.destination());
        let rest = |a: u64| PAGE - (a & (PAGE - 1));
        let room = if w == What::Movs { rest(src).min(rest(dst)) } else { rest(dst) };
        let n = left.min(room / size);
        let bytes = n * size;
        if self.cpu.c.backwards || n == 0 || self.i.has(flag::ADDR32) {
            return Ok(0);
        }
        let Some(to) = self.cpu.bulk(self.bus, dst, bytes, Access::Store) else { return Ok(0) };
        if w == What::Stos {
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
