//! AVX-512: EVEX-encoded instructions and opmask registers.
//!
//! An EVEX instruction's operands are read whole, as 64 bytes. What AVX2 knows, too, is then done by the VEX instruction's own
//! code on each 256-bit half, anything else by [`ops`]. At last the mask merges or clears elements, and the result is
//! written: registers above the vector length are cleared. Elements of a memory operand that the mask leaves out do not
//! fault. An access with a mask is one reference: a load's of the whole operand, or from its first chosen element to its last
//! where the whole would fault; a store's always the latter.

mod memory;
mod opmask;
mod ops;
mod prefix;
mod table;
mod wide;

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::V;
use crate::cpu::{cr0, cr4, Cpu, Stop, NM, R, UD};
use crate::exec::Exec;
use crate::inst::{Inst, InstFlags, Kind, Opnd};
pub(crate) use opmask::bits as opmask_bits;
pub(crate) use prefix::{Evex, XCR0};
pub(crate) use table::element;
use wide::{low_bits, W};
pub(crate) use wide::{Scratch, WideRegisters};

impl Cpu {
    /// The system has switched AVX-512 on.
    #[inline]
    pub(crate) fn avx512_enabled(&self) -> bool {
        self.ctl.xcr0 & XCR0 == XCR0
    }

    fn wide_state(&self) -> R<()> {
        if self.ctl.cr4 & cr4::OSXSAVE == 0 || !self.avx512_enabled() {
            return Err(UD);
        }
        if self.ctl.cr0 & cr0::TS != 0 {
            return Err(NM);
        }
        Ok(())
    }

    /// The first `bytes` bytes of vector register `n` (0 to 31).
    pub(crate) fn wide_register(&self, n: u8, bytes: usize) -> W {
        let n = usize::from(n & 31);
        let all = match n.checked_sub(16) {
            Some(high) => self.wide.high[high],
            None => W::of(self.c.v[n], self.wide.upper[n]),
        };
        all.first(bytes)
    }

    /// Writes vector register `n` whole.
    pub(crate) fn set_wide_register(&mut self, n: u8, w: W) {
        let n = usize::from(n & 31);
        match n.checked_sub(16) {
            Some(high) => self.wide.high[high] = w,
            None => {
                self.c.v[n] = w.half(0);
                let upper = w.half(1);
                self.wide.upper_used |= upper != V::ZERO;
                self.wide.upper[n] = upper;
            }
        }
    }

    /// A VEX instruction writes register `n`: bits from 256 on are cleared. Of all registers: vzeroupper, vzeroall.
    #[cold]
    pub(crate) fn clear_upper(&mut self, n: Option<u8>) {
        match n {
            Some(n) => self.wide.upper[usize::from(n & 15)] = V::ZERO,
            None => {
                self.wide.upper = [V::ZERO; 16];
                self.wide.upper_used = false;
            }
        }
    }
}

fn width(kind: Kind) -> usize {
    match kind {
        Kind::Xmm => 16,
        Kind::Ymm => 32,
        Kind::Zmm => 64,
        _ => 0,
    }
}

/// The vector length: the widest register's.
pub(crate) fn length(k: &[Opnd; 4]) -> u8 {
    k.iter().map(|o| width(o.kind)).max().unwrap_or(0) as u8
}

impl<B: Bus> Exec<'_, B> {
    /// An instruction of AVX-512.
    #[inline(never)]
    pub(super) fn avx512(&mut self) -> R<()> {
        self.cpu.wide_state()?;
        if let Some(bits) = opmask_bits(self.i.op) {
            return self.opmask(bits);
        }
        let operands = self.wide_operands()?;
        if let Some(mask) = self.compare(&operands) {
            let lanes = self.i.evex.length / self.i.evex.element.max(1);
            return self.set_opmask(0, mask & self.opmask_value() & low_bits(lanes.into()));
        }
        if self.i.k[0].kind == Kind::K {
            let bits = self.sign_bits(&operands[1]) & low_bits((self.i.evex.length / self.sign_lane()).into());
            return self.set_opmask(0, bits);
        }
        let result = match self.wide_op(&operands) {
            Some(w) => w,
            None => match self.by_halves(&operands)? {
                Some(w) => w,
                None => return Ok(()),
            },
        };
        self.write_chosen(result, &operands)
    }

    /// The mask's bits; all ones without a mask.
    fn opmask_value(&self) -> u64 {
        match self.i.evex.mask {
            0 => !0,
            n => self.cpu.wide.k[usize::from(n & 7)],
        }
    }

    /// Bytes of the result before those that are cleared.
    fn result_bytes(&self) -> usize {
        let e = self.i.evex;
        match (table::narrows_from(self.i.op), self.i.k[0].kind) {
            (Some(from), _) => usize::from(e.length) * usize::from(e.element) / usize::from(from),
            (None, Kind::Mem) => usize::from(self.i.msize),
            (None, kind) => width(kind),
        }
    }

    fn wide_operands(&mut self) -> R<[W; 4]> {
        let mut w = [W::ZERO; 4];
        for (n, (w, k)) in w.iter_mut().zip(self.i.k).enumerate() {
            *w = match k.kind {
                Kind::Xmm | Kind::Ymm | Kind::Zmm => {
                    let bytes = width(k.kind);
                    let v = self.cpu.wide_register(k.r, bytes);
                    // A count, or what is broadcast, is found in each half.
                    let repeats = k.kind == Kind::Xmm && n > 0;
                    if repeats {
                        W::repeated(&v.bytes(), bytes)
                    } else {
                        v
                    }
                }
                Kind::Mem if n > 0 => self.wide_load()?,
                kind if kind.is_gpr() && n > 0 => {
                    let v = self.read(n)?;
                    W([v, 0, v, 0, v, 0, v, 0])
                }
                _ => W::ZERO,
            };
        }
        Ok(w)
    }

    /// The VEX instruction's code on each half; `None`: its result went to a general register.
    fn by_halves(&mut self, operands: &[W; 4]) -> R<Option<W>> {
        let mut i: Inst = *self.i;
        i.flags = InstFlags::VEX;
        for (n, k) in (0u8..).zip(&mut i.k) {
            if matches!(k.kind, Kind::Xmm | Kind::Ymm | Kind::Zmm | Kind::Mem) {
                *k = Opnd { kind: Kind::Part, r: n };
            }
        }
        self.cpu.scratch.operands = *operands;
        self.cpu.scratch.out = [V::ZERO; 2];
        for half in 0..=usize::from(i.evex.length > 32) {
            if half > 0 {
                if let Some(ratio) = table::widens_by(i.op) {
                    // What the upper half widens lies behind what the lower one does.
                    let from = 32 / usize::from(ratio);
                    let b = operands[1].bytes();
                    let source = W::from_bytes(&std::array::from_fn(|n| b[(n % 32 + from) & 63]));
                    self.cpu.scratch.operands[1] = source;
                }
                if matches!(i.op, Mnemonic::Vshufpd | Mnemonic::Vpermilpd) {
                    i.imm >>= 4;
                }
            }
            self.cpu.scratch.half = half;
            let mut x = Exec { cpu: &mut *self.cpu, bus: &mut *self.bus, now: self.now, i: &i, next: self.next };
            if !x.vex_groups()? {
                return Err(Stop::Unknown);
            }
        }
        let [low, high] = self.cpu.scratch.out;
        Ok((i.k[0].kind == Kind::Part).then_some(W::of(low, high)))
    }

    /// Writes a result's elements that the mask chooses to operand 0.
    fn write_chosen(&mut self, result: W, operands: &[W; 4]) -> R<()> {
        let e = self.i.evex;
        let (bytes, element) = (self.result_bytes(), usize::from(e.element.max(1)));
        let mask = if e.element == 0 { !0 } else { self.opmask_value() };
        if self.i.k[0].kind == Kind::Mem {
            return self.store_chosen(&result.bytes(), bytes, element, mask);
        }
        let blend = matches!(
            self.i.op,
            Mnemonic::Vpblendmb
                | Mnemonic::Vpblendmw
                | Mnemonic::Vpblendmd
                | Mnemonic::Vpblendmq
                | Mnemonic::Vblendmps
                | Mnemonic::Vblendmpd
        );
        let kept = match (e.zeroing, blend) {
            (true, _) => &W::ZERO,
            (false, true) => &operands[1],
            (false, false) => &operands[0],
        };
        let w = if e.mask == 0 { result } else { result.chosen(kept, mask, element) };
        // A move that narrows to bytes may leave fewer than a word.
        let w = if bytes % 8 == 0 { w.first(bytes) } else { w.chosen(&W::ZERO, low_bits(bytes), 1) };
        self.cpu.set_wide_register(self.i.k[0].r, w);
        Ok(())
    }
}
