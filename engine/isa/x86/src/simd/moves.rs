//! Vector moves: aligned, unaligned, partial, non-temporal, masked, broadcast; logic; state.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::V;
use crate::cpu::{gp, Fault, Stop, R, UD};
use crate::exec::Exec;
use crate::flags::Rflags;
use crate::inst::{InstFlags, Kind, RDI};

impl<B: Bus> Exec<'_, B> {
    /// True when the instruction was one of this group's.
    pub(super) fn vector_move(&mut self) -> R<bool> {
        use Mnemonic::*;
        match self.i.op {
            Movaps | Vmovaps | Movapd | Vmovapd | Movups | Vmovups | Movupd | Vmovupd | Movdqa | Vmovdqa | Movdqu
            | Vmovdqu | Lddqu | Vlddqu | Movntdq | Vmovntdq | Movntps | Vmovntps | Movntpd | Vmovntpd | Movntq
            | Movntdqa | Vmovntdqa => {
                let v = self.vread(1)?;
                self.vwrite(0, v)?;
            }
            Movd | Vmovd => self.move_word(0xffff_ffff)?,
            Movq | Vmovq => self.move_word(!0)?,
            Movss | Vmovss => self.move_scalar(0xffff_ffff)?,
            Movsd | Vmovsd => self.move_scalar(!0)?,
            Movlps | Vmovlps | Movlpd | Vmovlpd => self.move_half(0)?,
            Movhps | Vmovhps | Movhpd | Vmovhpd => self.move_half(1)?,
            Movhlps | Vmovhlps => {
                let (a, b) = self.ab()?;
                self.vwrite(0, V([b.0[1], a.0[1], 0, 0]))?;
            }
            Movlhps | Vmovlhps => {
                let (a, b) = self.ab()?;
                self.vwrite(0, V([a.0[0], b.0[0], 0, 0]))?;
            }
            Movdq2q | Movq2dq => {
                let v = self.vread(1)?;
                self.vwrite(0, V([v.0[0], 0, 0, 0]))?;
            }
            Movmskps | Vmovmskps => self.sign_mask::<4>()?,
            Movmskpd | Vmovmskpd => self.sign_mask::<8>()?,
            Pmovmskb | Vpmovmskb => self.sign_mask::<1>()?,
            Maskmovq | Maskmovdqu | Vmaskmovdqu => self.masked_bytes()?,
            Vmaskmovps | Vpmaskmovd => self.masked_lanes(4)?,
            Vmaskmovpd | Vpmaskmovq => self.masked_lanes(8)?,
            Pand | Vpand | Andps | Vandps | Andpd | Vandpd => self.words(|a, b| a & b)?,
            Pandn | Vpandn | Andnps | Vandnps | Andnpd | Vandnpd => self.words(|a, b| !a & b)?,
            Por | Vpor | Orps | Vorps | Orpd | Vorpd => self.words(|a, b| a | b)?,
            Pxor | Vpxor | Xorps | Vxorps | Xorpd | Vxorpd => self.words(|a, b| a ^ b)?,
            Ptest | Vptest => self.test(|v| v)?,
            Vtestps => self.test(|v| V(v.0.map(|w| w & 0x8000_0000_8000_0000)))?,
            Vtestpd => self.test(|v| V(v.0.map(|w| w & 1 << 63)))?,
            Emms => self.cpu.c.x87.tags = 0,
            Vzeroupper => {
                self.cpu.c.v = self.cpu.c.v.map(V::low);
                self.cpu.clear_upper(None);
            }
            Vzeroall => {
                self.cpu.c.v = [V::ZERO; 16];
                self.cpu.clear_upper(None);
            }
            Ldmxcsr | Vldmxcsr => {
                let at = self.ea();
                let v = self.load(at, 4)? as u32;
                if v & 0xffff_0000 != 0 {
                    return Err(gp(0));
                }
                self.cpu.c.mxcsr = v;
            }
            Stmxcsr | Vstmxcsr => {
                let (at, v) = (self.ea(), u64::from(self.cpu.c.mxcsr));
                self.store(at, 4, v)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// movd, movq: the rest of a vector destination is cleared.
    fn move_word(&mut self, m: u64) -> R<()> {
        let v = self.vread(1)?.0[0] & m;
        if self.i.k[0].kind.is_gpr() {
            return self.write(0, v);
        }
        self.vwrite(0, V([v, 0, 0, 0]))
    }

    /// movss, movsd: loads clear the rest, register moves merge.
    fn move_scalar(&mut self, m: u64) -> R<()> {
        let v = if self.i.nreg >= 3 || (self.i.k[1].kind == Kind::Xmm && self.i.k[0].kind == Kind::Xmm) {
            let (a, b) = self.ab()?;
            V([a.0[0] & !m | b.0[0] & m, a.0[1], 0, 0])
        } else {
            V([self.vread(1)?.0[0] & m, 0, 0, 0])
        };
        self.vwrite(0, v)
    }

    /// movlps, movhps: one half from or to memory.
    fn move_half(&mut self, half: usize) -> R<()> {
        if self.i.writes_memory() {
            let v = self.vread(1)?;
            return self.vwrite(0, V([v.0[half], 0, 0, 0]));
        }
        let (mut a, b) = self.ab()?;
        a.0[half] = b.0[0];
        self.vwrite(0, a.low())
    }

    fn sign_mask<const BYTES: usize>(&mut self) -> R<()> {
        let bytes = self.vread(1)?.bytes();
        let r =
            bytes.iter().skip(BYTES - 1).step_by(BYTES).enumerate().fold(0u64, |r, (n, b)| r | u64::from(b >> 7) << n);
        self.write(0, r)
    }

    /// maskmovq, maskmovdqu: bytes whose mask has its top bit, to rdi.
    fn masked_bytes(&mut self) -> R<()> {
        let len = if self.i.op == Mnemonic::Maskmovq { 8 } else { 16 };
        let mut regs = [0usize; 2];
        let mut n = 0;
        for (k, o) in self.i.k.iter().enumerate() {
            if o.kind.is_vec() && n < 2 {
                regs[n] = k;
                n += 1;
            }
        }
        let (data, mask) = (self.vread(regs[0])?.bytes(), self.vread(regs[1])?.bytes());
        let narrow = self.i.has(InstFlags::ADDR32);
        let rdi = self.reg(RDI as u8) & if narrow { 0xffff_ffff } else { !0 };
        let base = rdi.wrapping_add(self.cpu.c.base[usize::from(self.i.addr.seg & 3)]);
        let chosen = |k: &usize| mask[*k] >> 7 != 0;
        for k in (0..len).filter(chosen) {
            // A fault reports the start of the operand, or of its part on the next page.
            let at = base.wrapping_add(k as u64);
            self.cpu.probe_store(self.bus, at, 1).map_err(|stop| match stop {
                Stop::Fault(f) if f.vector == 14 => {
                    Stop::Fault(Fault { addr: if at & !4095 > base { at & !4095 } else { base }, ..f })
                }
                other => other,
            })?;
        }
        for k in (0..len).filter(chosen) {
            self.store(base.wrapping_add(k as u64), 1, u64::from(data[k]))?;
        }
        Ok(())
    }

    /// vmaskmov, vpmaskmov: only chosen lanes are touched.
    fn masked_lanes(&mut self, bytes: u64) -> R<()> {
        let at = self.ea();
        let mask = self.vread(1)?;
        let total = u64::from(self.i.msize);
        let picks = |k: u64| mask.bytes()[(k * bytes + bytes - 1) as usize & 31] >> 7 != 0;
        let lanes = total / bytes.max(1);
        if self.i.writes_memory() {
            let data = self.vread(2)?.bytes();
            for k in (0..lanes).filter(|k| picks(*k)) {
                self.cpu.probe_store(self.bus, at.wrapping_add(k * bytes), bytes)?;
            }
            for k in (0..lanes).filter(|k| picks(*k)) {
                let v = V::from_slice(&data[(k * bytes) as usize..]).0[0];
                self.store(at.wrapping_add(k * bytes), bytes as u8, v)?;
            }
            return Ok(());
        }
        let mut out = [0u8; 32];
        for k in (0..lanes).filter(|k| picks(*k)) {
            let v = self.load(at.wrapping_add(k * bytes), bytes as u8)?;
            out[(k * bytes) as usize..(k * bytes + bytes) as usize].copy_from_slice(&v.to_le_bytes()[..bytes as usize]);
        }
        self.vwrite(0, V::from_slice(&out))
    }

    fn test(&mut self, keep: impl Fn(V) -> V) -> R<()> {
        let (a, b) = (keep(self.vread(0)?), keep(self.vread(1)?));
        if self.i.k[1].kind == Kind::Cr {
            return Err(UD);
        }
        let any = |f: &dyn Fn(u64, u64) -> u64| a.0.iter().zip(b.0).fold(0, |r, (x, y)| r | f(*x, y));
        let (both, rest) = (any(&|x, y| x & y), any(&|x, y| !x & y));
        let f = self.flags();
        f.set(Rflags::empty());
        f.zero = both;
        f.cf = rest == 0;
        Ok(())
    }
}
