//! Mask registers: logic, population count, first set bit, set-before-first and related instructions, iota and element numbers; moves
//! between element 0 and the scalar registers.

use breakeven_base::{OpClass, Reg};

use super::crack::Shape;
use super::cracked::{V, VL, X};
use super::element::sign;
use super::forms::Form;
use super::{legal, Legal, VectorUnit};
use crate::hart::Hart;

impl Hart {
    /// The logical operations, vmand.mm and others: whole bits of vs2 and vs1.
    pub(super) fn vector_mask_logic(&mut self, f: &Form) -> Legal {
        legal(!f.masked)?;
        let u = &mut self.vector;
        for k in u.range() {
            let (a, b) = (u.bit(f.vs2, k), u.bit(f.vs1, k));
            let r = match f.funct6 {
                0x18 => a && !b,
                0x19 => a & b,
                0x1a => a | b,
                0x1b => a ^ b,
                0x1c => a || !b,
                0x1d => !(a & b),
                0x1e => !(a | b),
                _ => !(a ^ b),
            };
            u.set_bit(f.vd, k, r);
        }
        u.cracked.op(OpClass::SimdPredAlu, [V(f.vs2), V(f.vs1), VL], [V(f.vd), Reg::NONE]);
        Ok(())
    }

    /// vmv.x.s, vcpop.m, vfirst.m: results in an x register.
    pub(super) fn vector_to_scalar(&mut self, f: &Form) -> Legal {
        let u = &self.vector;
        let value = match f.vs1 {
            0 => {
                legal(!f.masked)?;
                sign(u.get(f.vs2, 0, u.vtype.sew), u.vtype.sew) as u64
            }
            0x10 | 0x11 => {
                legal(u.vstart == 0)?;
                let mut set = u.range().filter(|&k| u.active(f.masked, k) && u.bit(f.vs2, k));
                if f.vs1 == 0x10 {
                    set.count() as u64
                } else {
                    set.next().map_or(!0, |k| k as u64)
                }
            }
            _ => return legal(false),
        };
        let class = if f.vs1 == 0 { OpClass::SimdMisc } else { OpClass::SimdPredAlu };
        let mask = if f.masked { V(0) } else { VL };
        self.vector.cracked.op(class, [V(f.vs2), mask, Reg::NONE], [X(f.vd), Reg::NONE]);
        if f.vd != 0 {
            self.regs[f.vd] = value;
        }
        Ok(())
    }

    /// vmv.s.x, vfmv.s.f: element 0.
    pub(super) fn vector_from_scalar(&mut self, f: &Form, value: u64, reg: Reg) -> Legal {
        legal(!f.masked)?;
        let u = &mut self.vector;
        if u.vstart < u.vl {
            u.set(f.vd, 0, u.vtype.sew, value);
        }
        u.cracked.op(OpClass::SimdMisc, [reg, V(f.vd), VL], [V(f.vd), Reg::NONE]);
        Ok(())
    }

    /// VMUNARY0: vmsbf, vmsof, vmsif, viota, vid.
    pub(super) fn vector_mask_unary(&mut self, f: &Form) -> Legal {
        match f.vs1 {
            1..=3 => self.set_before_first(f),
            0x10 | 0x11 => self.iota_or_id(f),
            _ => legal(false),
        }
    }

    fn set_before_first(&mut self, f: &Form) -> Legal {
        let u = &mut self.vector;
        legal(u.vstart == 0 && f.vd != f.vs2)?;
        VectorUnit::keeps_clear_of_mask(f)?;
        let mut found = false;
        for k in u.range() {
            if u.active(f.masked, k) {
                let here = !found && u.bit(f.vs2, k);
                let r = match f.vs1 {
                    1 => !found && !here,
                    2 => here,
                    _ => !found,
                };
                found |= here;
                u.set_bit(f.vd, k, r);
            }
        }
        let third = if f.masked { V(0) } else { VL };
        u.cracked.op(OpClass::SimdPredAlu, [V(f.vs2), V(f.vd), third], [V(f.vd), Reg::NONE]);
        Ok(())
    }

    fn iota_or_id(&mut self, f: &Form) -> Legal {
        let t = self.vector.vtype;
        let iota = f.vs1 == 0x10;
        VectorUnit::keeps_clear_of_mask(f)?;
        VectorUnit::aligned(f.vd, t.lmul)?;
        if iota {
            legal(self.vector.vstart == 0)?;
            VectorUnit::overlap((f.vd, t.lmul), t.sew as i8, (f.vs2, 0), -1)?;
            // A mask source must lie outside the whole group, even where it is its highest register.
            legal(f.vs2 < f.vd || f.vs2 >= f.vd + super::element::registers(t.lmul))?;
        } else {
            legal(f.vs2 == 0)?;
        }
        let u = &mut self.vector;
        let mut before = 0;
        for k in u.range() {
            if u.active(f.masked, k) {
                let v = if iota { before } else { k as u64 };
                before += u64::from(iota && u.bit(f.vs2, k));
                u.set(f.vd, k, t.sew, v);
            }
        }
        let vs2 = iota.then_some(0);
        let shape = Shape { vs2, vs1: None, ..Shape::plain(OpClass::SimdMisc, t.lmul) };
        self.vector.crack(f, &shape, Reg::NONE);
        Ok(())
    }
}
