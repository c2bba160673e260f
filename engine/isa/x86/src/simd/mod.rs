//! MMX, SSE to SSE4.2, AVX, AVX2: one file a group; AVX-512 on top of them in [`evex`]. An operation is computed on all 32 bytes and written at the operand's
//! width: a legacy write keeps the rest of the register, a VEX write clears it.
//!
//! Floating point is the host's in round-to-nearest; the directed modes and MXCSR's exception flags are derived from it. An unmasked
//! exception raises #XM. `rcpps` and `rsqrtps` give the exact quotient rounded, where processors differ from each other.

mod class;
mod convert;
mod evex;
mod float;
mod fp;
mod int;
mod moves;
mod permute;
mod shift;
mod shuffle;
mod string_compare;
mod vec;

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use crate::cpu::{cr0, cr4, gp, Cpu, Stop, NM, R, UD};
use crate::exec::Exec;
use crate::inst::{Inst, InstFlags, Kind};
pub(crate) use class::class_of;
pub(crate) use evex::{element, length, opmask_bits, Evex, Scratch, WideRegisters, XCR0};
pub(crate) use vec::V;
pub(crate) use vec::{Lane, L};

impl Cpu {
    /// Checks that vector state is enabled.
    #[inline]
    pub(crate) fn vector_state(&self, i: &Inst) -> R<()> {
        let mmx = i.has(InstFlags::MMX) || i.op == Mnemonic::Emms;
        let usable = if i.vex() {
            self.ctl.cr4 & cr4::OSXSAVE != 0 && self.ctl.xcr0 & 6 == 6
        } else {
            self.ctl.cr0 & cr0::EM == 0 && (mmx || self.ctl.cr4 & cr4::OSFXSR != 0)
        };
        if !usable {
            return Err(UD);
        }
        if self.ctl.cr0 & cr0::TS != 0 {
            return Err(NM);
        }
        Ok(())
    }
}

impl<B: Bus> Exec<'_, B> {
    /// Reads operand `n` as a vector; a general register is its low word. Not inlined, like the two below: two hundred
    /// operations call them. With the way to memory in each of these the engine took a seventh longer to compile.
    #[inline(never)]
    pub(crate) fn vread(&mut self, n: usize) -> R<V> {
        let k = self.i.k[n];
        Ok(match k.kind {
            Kind::Xmm => self.cpu.c.v[usize::from(k.r & 15)].low(),
            Kind::Ymm => self.cpu.c.v[usize::from(k.r & 15)],
            Kind::Mm => V([self.cpu.c.x87.mm[usize::from(k.r & 7)], 0, 0, 0]),
            Kind::Part => self.cpu.scratch.read(k.r),
            Kind::Mem => {
                let at = self.vector_address()?;
                self.cpu.load_v(self.bus, self.now, at, self.i.msize)?
            }
            _ => V([self.read(n)?, 0, 0, 0]),
        })
    }

    /// The memory operand's address, checked where alignment is wanted.
    pub(super) fn vector_address(&mut self) -> R<u64> {
        let at = self.ea();
        if self.i.has(InstFlags::ALIGN) && at & (u64::from(self.i.msize.max(1)) - 1) != 0 && !self.cpu.speculative() {
            return Err(gp(0));
        }
        Ok(at)
    }

    /// Writes a vector to operand `n`.
    #[inline(never)]
    pub(crate) fn vwrite(&mut self, n: usize, v: V) -> R<()> {
        let k = self.i.k[n];
        match k.kind {
            Kind::Xmm => {
                let vex = self.i.vex();
                let slot = &mut self.cpu.c.v[usize::from(k.r & 15)];
                *slot = if vex { v.low() } else { V([v.0[0], v.0[1], slot.0[2], slot.0[3]]) };
                if vex && self.cpu.wide.upper_used {
                    self.cpu.clear_upper(Some(k.r));
                }
            }
            Kind::Ymm => {
                self.cpu.c.v[usize::from(k.r & 15)] = v;
                if self.cpu.wide.upper_used {
                    self.cpu.clear_upper(Some(k.r));
                }
            }
            Kind::Part => self.cpu.scratch.write(v),
            Kind::Mm => self.cpu.c.x87.mm[usize::from(k.r & 7)] = v.0[0],
            Kind::Mem => {
                let at = self.vector_address()?;
                self.cpu.store_v(self.bus, self.now, at, self.i.msize, v)?;
            }
            _ => self.write(n, v.0[0])?,
        }
        Ok(())
    }

    /// The two sources of a binary operation.
    #[inline(never)]
    pub(super) fn ab(&mut self) -> R<(V, V)> {
        let a = self.vread(self.i.a())?;
        let b = self.vread(self.i.b())?;
        Ok((a, b))
    }

    #[inline(always)]
    pub(super) fn bin<T: Lane>(&mut self, f: impl Fn(T, T) -> T) -> R<()> {
        let (a, b) = self.ab()?;
        self.vwrite(0, a.map2(b, f))
    }

    /// Words without regard to lanes.
    #[inline(always)]
    pub(super) fn words(&mut self, f: impl Fn(u64, u64) -> u64) -> R<()> {
        self.bin::<u64>(f)
    }

    #[inline(always)]
    pub(super) fn un<T: Lane>(&mut self, f: impl Fn(T) -> T) -> R<()> {
        let b = self.vread(1)?;
        self.vwrite(0, b.map2(b, |x, _| f(x)))
    }

    /// Lane by lane: 8 bytes for MMX, else 16.
    pub(super) fn lanes(&mut self, f: impl Fn(&L, &L) -> L) -> R<()> {
        let (a, b) = self.ab()?;
        let len = if self.i.has(InstFlags::MMX) { 8 } else { 16 };
        self.vwrite(0, V::from_lanes(f(&a.lane(0, len), &b.lane(0, len)), f(&a.lane(1, len), &b.lane(1, len))))
    }

    /// Moves, integers, shuffles; false: the instruction is none of these.
    fn vex_groups(&mut self) -> R<bool> {
        Ok(self.vector_move()?
            || self.vector_int()?
            || self.vector_shift()?
            || self.vector_shuffle()?
            || self.vector_permute()?)
    }

    /// Everything that is not general-purpose.
    #[inline(never)]
    pub(crate) fn simd(&mut self) -> R<()> {
        if self.i.has(InstFlags::AVX512) {
            return self.avx512();
        }
        self.cpu.vector_state(self.i)?;
        let done =
            self.vex_groups()? || self.vector_float()? || self.vector_convert()? || self.vector_string_compare()?;
        if !done {
            return Err(Stop::Unknown);
        }
        if self.i.has(InstFlags::MMX) {
            // An MMX write sets the exponents to all ones (of all registers at once: MMX and x87 code are not mixed).
            let c = &mut self.cpu.c;
            (c.x87.tags, c.x87.exponents, c.x87.fsw) = (0xff, [0xffff; 8], c.x87.fsw & !0x3800);
        }
        Ok(())
    }
}
