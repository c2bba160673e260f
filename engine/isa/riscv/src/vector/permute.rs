//! Permutations: slides, gathers, compress and whole-register moves.

use breakeven_base::{OpClass, Reg};

use super::crack::Shape;
use super::element::registers;
use super::forms::{Form, Second};
use super::integer::scalar_reg;
use super::{legal, Legal, VectorUnit};
use crate::hart::Hart;

/// Legal where two register groups have no register in common.
fn disjoint(a: (usize, i8), b: (usize, i8)) -> Legal {
    legal(a.0 + registers(a.1) <= b.0 || b.0 + registers(b.1) <= a.0)
}

impl Hart {
    pub(super) fn vector_slide_or_gather(&mut self, f: &Form) -> Legal {
        match (f.funct6, f.second) {
            (0x0c, Second::Vector) => self.gather(f, self.vector.vtype.sew, self.vector.vtype.lmul),
            (0x0e, Second::Vector) => {
                let t = self.vector.vtype;
                // Indices of 16 bits: their group has LMUL scaled by 16 over SEW.
                self.gather(f, 1, t.lmul + 1 - t.sew as i8)
            }
            (0x0c, _) => self.gather_one(f),
            (0x0e, _) => self.slide(f, true),
            (_, Second::Vector) => legal(false),
            _ => self.slide(f, false),
        }
    }

    fn slide(&mut self, f: &Form, up: bool) -> Legal {
        let t = self.vector.vtype;
        self.vector.plain_groups(f)?;
        if up {
            disjoint((f.vd, t.lmul), (f.vs2, t.lmul))?;
        }
        let offset = self.vector_amount(f);
        let u = &mut self.vector;
        let most = u.vlmax(t.sew, t.lmul);
        for k in u.range() {
            if !u.active(f.masked, k) {
                continue;
            }
            let from = if up {
                // Below the offset elements stay.
                let Some(from) = (k as u64).checked_sub(offset) else { continue };
                Some(from)
            } else {
                (k as u64).checked_add(offset).filter(|&from| from < most)
            };
            let v = from.map_or(0, |from| u.get(f.vs2, from as usize, t.sew));
            u.set(f.vd, k, t.sew, v);
        }
        self.crack_plain(f, OpClass::SimdMisc, scalar_reg(f), false);
        Ok(())
    }

    /// vslide1up, vslide1down and their floating-point forms.
    pub(super) fn vector_slide_one(&mut self, f: &Form, value: u64, reg: Reg) -> Legal {
        let t = self.vector.vtype;
        self.vector.plain_groups(f)?;
        let up = f.funct6 == 0x0e;
        if up {
            disjoint((f.vd, t.lmul), (f.vs2, t.lmul))?;
        }
        let u = &mut self.vector;
        let last = (u.vl as usize).wrapping_sub(1);
        for k in u.range() {
            if u.active(f.masked, k) {
                let v = match (up, k) {
                    (true, 0) => value,
                    (true, _) => u.get(f.vs2, k - 1, t.sew),
                    (false, k) if k == last => value,
                    (false, _) => u.get(f.vs2, k + 1, t.sew),
                };
                u.set(f.vd, k, t.sew, v);
            }
        }
        self.crack_plain(f, OpClass::SimdMisc, reg, false);
        Ok(())
    }

    /// vrgather.vv and vrgatherei16.vv: indices of `1 << index_sew` bytes in a group of `index_lmul`.
    fn gather(&mut self, f: &Form, index_sew: u8, index_lmul: i8) -> Legal {
        let t = self.vector.vtype;
        VectorUnit::keeps_clear_of_mask(f)?;
        VectorUnit::aligned(f.vd, t.lmul)?;
        VectorUnit::aligned(f.vs2, t.lmul)?;
        VectorUnit::aligned(f.vs1, index_lmul)?;
        disjoint((f.vd, t.lmul), (f.vs2, t.lmul))?;
        disjoint((f.vd, t.lmul), (f.vs1, index_lmul))?;
        let u = &mut self.vector;
        let most = u.vlmax(t.sew, t.lmul);
        for k in u.range() {
            if u.active(f.masked, k) {
                let from = u.get(f.vs1, k, index_sew);
                let v = if from < most { u.get(f.vs2, from as usize, t.sew) } else { 0 };
                u.set(f.vd, k, t.sew, v);
            }
        }
        let shape = Shape { vs1: Some(index_lmul), ..Shape::plain(OpClass::SimdMisc, t.lmul) };
        self.vector.crack(f, &shape, Reg::NONE);
        Ok(())
    }

    /// vrgather.vx, vrgather.vi: one source element into every element.
    fn gather_one(&mut self, f: &Form) -> Legal {
        let t = self.vector.vtype;
        self.vector.plain_groups(f)?;
        disjoint((f.vd, t.lmul), (f.vs2, t.lmul))?;
        let from = self.vector_amount(f);
        let u = &mut self.vector;
        let v = if from < u.vlmax(t.sew, t.lmul) { u.get(f.vs2, from as usize, t.sew) } else { 0 };
        for k in u.range() {
            if u.active(f.masked, k) {
                u.set(f.vd, k, t.sew, v);
            }
        }
        self.crack_plain(f, OpClass::SimdMisc, scalar_reg(f), false);
        Ok(())
    }

    pub(super) fn vector_compress(&mut self, f: &Form) -> Legal {
        let t = self.vector.vtype;
        legal(!f.masked && self.vector.vstart == 0)?;
        VectorUnit::aligned(f.vd, t.lmul)?;
        VectorUnit::aligned(f.vs2, t.lmul)?;
        disjoint((f.vd, t.lmul), (f.vs2, t.lmul))?;
        disjoint((f.vd, t.lmul), (f.vs1, 0))?;
        let u = &mut self.vector;
        let mut to = 0;
        for k in u.range() {
            if u.bit(f.vs1, k) {
                let v = u.get(f.vs2, k, t.sew);
                u.set(f.vd, to, t.sew, v);
                to += 1;
            }
        }
        let shape = Shape { vs1: Some(0), ..Shape::plain(OpClass::SimdMisc, t.lmul) };
        self.vector.crack(f, &shape, Reg::NONE);
        Ok(())
    }

    /// vmv1r.v, vmv2r.v, vmv4r.v, vmv8r.v. Its elements are those of SEW, or bytes where `vtype` says nothing.
    pub(super) fn vector_whole_move(&mut self, f: &Form) -> Legal {
        let lmul = match f.vs1 {
            0 => 0,
            1 => 1,
            3 => 2,
            7 => 3,
            _ => return legal(false),
        };
        legal(!f.masked)?;
        VectorUnit::aligned(f.vd, lmul)?;
        VectorUnit::aligned(f.vs2, lmul)?;
        let u = &mut self.vector;
        let bytes = u.vlenb << lmul;
        let skipped = ((u.vstart as usize) << u.vtype.sew).min(bytes);
        let from = f.vs2 * u.vlenb;
        u.file.copy_within(from + skipped..from + bytes, f.vd * u.vlenb + skipped);
        let shape = Shape { vs1: None, ..Shape::plain(OpClass::SimdMisc, lmul) };
        self.vector.crack(f, &shape, Reg::NONE);
        Ok(())
    }
}
