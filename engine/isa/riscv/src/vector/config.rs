//! The instructions that set `vtype` and `vl`.

use breakeven_base::{OpClass, Reg};

use crate::hart::Hart;

use super::cracked::{VL, X};
use super::vtype::Vtype;

impl Hart {
    /// vsetvli, vsetivli, vsetvl.
    pub(super) fn vector_config(&mut self, raw: u32) {
        let (rd, rs1) = ((raw >> 7 & 31) as u8, (raw >> 15 & 31) as u8);
        let immediate = raw >> 30 == 3;
        let vtype = match raw >> 30 {
            0 | 1 => u64::from(raw >> 20 & 0x7ff),
            3 => u64::from(raw >> 20 & 0x3ff),
            _ => self.regs[(raw >> 20 & 31) as usize],
        };
        let wanted = Vtype::from_bits(vtype);
        let v = &mut self.vector;
        let most = v.vlmax(wanted.sew, wanted.lmul);
        let vl = match (immediate, rs1, rd) {
            _ if wanted.vill => 0,
            (true, ..) => u64::from(rs1).min(most),
            (false, 0, 0) => v.vl.min(most),
            (false, 0, _) => most,
            _ => self.regs[usize::from(rs1)].min(most),
        };
        (v.vtype, v.vl, v.vstart) = (wanted, vl, 0);
        let source = if immediate { Reg::NONE } else { X(usize::from(rs1)) };
        let second = if raw >> 30 == 2 { X((raw >> 20 & 31) as usize) } else { Reg::NONE };
        v.cracked.op(OpClass::SimdConfig, [source, second, Reg::NONE], [VL, X(usize::from(rd))]);
        if rd != 0 {
            self.regs[usize::from(rd)] = vl;
        }
    }
}
