//! Instructions on opmask registers: moves, logic, shifts, tests.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::wide::low_bits;
use crate::cpu::{Stop, R};
use crate::exec::Exec;
use crate::flags::Rflags;
use crate::inst::Kind;

/// Bits that an instruction on opmasks works on, by its last letter; `None`: it is none.
pub(crate) fn bits(op: Mnemonic) -> Option<usize> {
    use Mnemonic::*;
    Some(match op {
        Kmovb | Kandb | Kandnb | Korb | Kxorb | Kxnorb | Knotb | Kaddb | Kshiftlb | Kshiftrb | Kortestb | Ktestb => 8,
        Kmovw | Kandw | Kandnw | Korw | Kxorw | Kxnorw | Knotw | Kaddw | Kshiftlw | Kshiftrw | Kortestw | Ktestw
        | Kunpckbw => 16,
        Kmovd | Kandd | Kandnd | Kord | Kxord | Kxnord | Knotd | Kaddd | Kshiftld | Kshiftrd | Kortestd | Ktestd
        | Kunpckwd => 32,
        Kmovq | Kandq | Kandnq | Korq | Kxorq | Kxnorq | Knotq | Kaddq | Kshiftlq | Kshiftrq | Kortestq | Ktestq
        | Kunpckdq => 64,
        _ => return None,
    })
}

impl<B: Bus> Exec<'_, B> {
    fn mask_operand(&mut self, n: usize) -> R<u64> {
        match self.i.k[n].kind {
            Kind::K => Ok(self.cpu.wide.k[usize::from(self.i.k[n].r & 7)]),
            _ => self.read(n),
        }
    }

    /// An instruction on opmask registers.
    pub(super) fn opmask(&mut self, bits: usize) -> R<()> {
        use Mnemonic::*;
        let low = low_bits(bits);
        let shift = self.i.imm & 0xff;
        let moved = |v: u64| if shift < bits as u64 { v } else { 0 };
        let last = usize::from(self.i.nreg.max(1) - 1);
        let b = self.mask_operand(last)? & low;
        let a = if last == 0 { 0 } else { self.mask_operand(last - 1)? & low };
        let result = match self.i.op {
            Kmovb | Kmovw | Kmovd | Kmovq => {
                return match self.i.k[0].kind {
                    Kind::K => self.set_opmask(0, b),
                    _ => self.write(0, b),
                };
            }
            Kandb | Kandw | Kandd | Kandq => a & b,
            Kandnb | Kandnw | Kandnd | Kandnq => !a & b,
            Korb | Korw | Kord | Korq => a | b,
            Kxorb | Kxorw | Kxord | Kxorq => a ^ b,
            Kxnorb | Kxnorw | Kxnord | Kxnorq => !(a ^ b),
            Knotb | Knotw | Knotd | Knotq => !b,
            Kaddb | Kaddw | Kaddd | Kaddq => a.wrapping_add(b),
            Kshiftlb | Kshiftlw | Kshiftld | Kshiftlq => moved(b) << (shift & 63),
            Kshiftrb | Kshiftrw | Kshiftrd | Kshiftrq => moved(b) >> (shift & 63),
            Kunpckbw | Kunpckwd | Kunpckdq => {
                let half = low_bits(bits / 2);
                (a & half) << (bits / 2) | b & half
            }
            Kortestb | Kortestw | Kortestd | Kortestq => return self.test_masks(a | b != 0, a | b == low),
            Ktestb | Ktestw | Ktestd | Ktestq => return self.test_masks(a & b != 0, !a & b == 0),
            _ => return Err(Stop::Unknown),
        };
        self.set_opmask(0, result & low)
    }

    /// ZF of kortest and ktest is clear if `some`; OF, SF, AF and PF are cleared.
    fn test_masks(&mut self, some: bool, carry: bool) -> R<()> {
        let f = self.flags();
        f.set(Rflags::empty());
        f.zero = u64::from(some);
        f.cf = carry;
        Ok(())
    }

    pub(super) fn set_opmask(&mut self, n: usize, v: u64) -> R<()> {
        self.cpu.wide.k[usize::from(self.i.k[n].r & 7)] = v;
        Ok(())
    }
}
