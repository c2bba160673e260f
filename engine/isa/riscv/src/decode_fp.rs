//! Decoding of the OP-FP major opcode (F and D).

use crate::inst::{Decoded, Op, Operands, F0};

/// Which register files the operands are in.
enum Shape {
    /// f <- f, f
    Two,
    /// f <- f
    One,
    /// x <- f, f
    Compare,
    /// x <- f
    ToInt,
    /// f <- x
    FromInt,
}

/// Decodes major opcode 0x53.
pub(crate) fn op_fp(raw: u32) -> Decoded {
    let (rd, rs1, rs2) = ((raw >> 7 & 31) as u8, (raw >> 15 & 31) as u8, (raw >> 20 & 31) as u8);
    let rm = (raw >> 12 & 7) as u8;
    let double = match raw >> 25 & 3 {
        0 => false,
        1 => true,
        _ => return None,
    };
    let (op, shape, rounds) = select(raw >> 27, double, rm, rs2)?;
    if rounds && (rm == 5 || rm == 6) {
        return None;
    }
    let base = Operands { rd, rs1, rm, ..Operands::default() };
    let operands = match shape {
        Shape::Two => Operands { rd: rd + F0, rs1: rs1 + F0, rs2: rs2 + F0, ..base },
        Shape::One => Operands { rd: rd + F0, rs1: rs1 + F0, ..base },
        Shape::Compare => Operands { rs1: rs1 + F0, rs2: rs2 + F0, ..base },
        Shape::ToInt => Operands { rs1: rs1 + F0, ..base },
        Shape::FromInt => Operands { rd: rd + F0, ..base },
    };
    Some((op, operands))
}

/// Operation, operand shape, and whether `rm` is a rounding mode.
fn select(f5: u32, double: bool, rm: u8, rs2: u8) -> Option<(Op, Shape, bool)> {
    use Op::*;
    use Shape::{Compare, FromInt, One, ToInt, Two};
    let by = |s, d| if double { d } else { s };
    Some(match (f5, rm, rs2) {
        (0x00, _, _) => (by(FaddS, FaddD), Two, true),
        (0x01, _, _) => (by(FsubS, FsubD), Two, true),
        (0x02, _, _) => (by(FmulS, FmulD), Two, true),
        (0x03, _, _) => (by(FdivS, FdivD), Two, true),
        (0x0b, _, 0) => (by(FsqrtS, FsqrtD), One, true),
        (0x04, 0, _) => (by(FsgnjS, FsgnjD), Two, false),
        (0x04, 1, _) => (by(FsgnjnS, FsgnjnD), Two, false),
        (0x04, 2, _) => (by(FsgnjxS, FsgnjxD), Two, false),
        (0x05, 0, _) => (by(FminS, FminD), Two, false),
        (0x05, 1, _) => (by(FmaxS, FmaxD), Two, false),
        (0x14, 0, _) => (by(FleS, FleD), Compare, false),
        (0x14, 1, _) => (by(FltS, FltD), Compare, false),
        (0x14, 2, _) => (by(FeqS, FeqD), Compare, false),
        (0x1c, 1, 0) => (by(FclassS, FclassD), ToInt, false),
        (0x1c, 0, 0) => (by(FmvXW, FmvXD), ToInt, false),
        (0x1e, 0, 0) => (by(FmvWX, FmvDX), FromInt, false),
        (0x08, _, 1) if !double => (FcvtSD, One, true),
        (0x08, _, 0) if double => (FcvtDS, One, true),
        (0x18, _, 0) => (by(FcvtWS, FcvtWD), ToInt, true),
        (0x18, _, 1) => (by(FcvtWuS, FcvtWuD), ToInt, true),
        (0x18, _, 2) => (by(FcvtLS, FcvtLD), ToInt, true),
        (0x18, _, 3) => (by(FcvtLuS, FcvtLuD), ToInt, true),
        (0x1a, _, 0) => (by(FcvtSW, FcvtDW), FromInt, true),
        (0x1a, _, 1) => (by(FcvtSWu, FcvtDWu), FromInt, true),
        (0x1a, _, 2) => (by(FcvtSL, FcvtDL), FromInt, true),
        (0x1a, _, 3) => (by(FcvtSLu, FcvtDLu), FromInt, true),
        _ => return None,
    })
}
