//! Decoding of 16-bit instructions (C with F and D, RV64): each is one of the 32-bit operations with its operands.

use crate::inst::{Decoded, Inst, Op, Operands, F0};

/// Decodes a halfword whose low two bits are not 11.
pub(crate) fn decode(half: u16) -> Inst {
    let h = u32::from(half);
    let found = match h & 3 {
        0 => quadrant0(h),
        1 => quadrant1(h),
        _ => quadrant2(h),
    };
    match found {
        Some((op, operands)) => Inst::new(op, h, 2, operands),
        None => Inst::illegal(h, 2),
    }
}

/// Bits `hi..=lo` of `h`, moved to bit `to`.
fn field(h: u32, hi: u32, lo: u32, to: u32) -> i32 {
    ((h >> lo & ((1 << (hi - lo + 1)) - 1)) << to) as i32
}
fn sext(v: i32, bits: u32) -> i32 {
    v << (32 - bits) >> (32 - bits)
}
/// The three-bit register numbers stand for x8..x15.
fn low(h: u32, at: u32) -> u8 {
    (h >> at & 7) as u8 + 8
}
fn full(h: u32, at: u32) -> u8 {
    (h >> at & 31) as u8
}
fn imm6(h: u32) -> i32 {
    sext(field(h, 12, 12, 5) | field(h, 6, 2, 0), 6)
}
fn shamt6(h: u32) -> i32 {
    field(h, 12, 12, 5) | field(h, 6, 2, 0)
}

fn quadrant0(h: u32) -> Decoded {
    use Op::*;
    let word = field(h, 12, 10, 3) | field(h, 6, 6, 2) | field(h, 5, 5, 6);
    let double = field(h, 12, 10, 3) | field(h, 6, 5, 6);
    let (base, data) = (low(h, 7), low(h, 2));
    let load = |op, rd, imm| Some((op, Operands { rd, rs1: base, imm, ..Operands::default() }));
    let store = |op, rs2, imm| Some((op, Operands { rs1: base, rs2, imm, ..Operands::default() }));
    match h >> 13 {
        0 => {
            let imm = field(h, 12, 11, 4) | field(h, 10, 7, 6) | field(h, 6, 6, 2) | field(h, 5, 5, 3);
            (imm != 0).then_some((Addi, Operands { rd: data, rs1: 2, imm, ..Operands::default() }))
        }
        1 => load(Fld, data + F0, double),
        2 => load(Lw, data, word),
        3 => load(Ld, data, double),
        5 => store(Fsd, data + F0, double),
        6 => store(Sw, data, word),
        7 => store(Sd, data, double),
        _ => None,
    }
}

fn quadrant1(h: u32) -> Decoded {
    use Op::*;
    let rd = full(h, 7);
    match h >> 13 {
        0 => Some((Addi, Operands { rd, rs1: rd, imm: imm6(h), ..Operands::default() })),
        1 => (rd != 0).then_some((Addiw, Operands { rd, rs1: rd, imm: imm6(h), ..Operands::default() })),
        2 => Some((Addi, Operands { rd, imm: imm6(h), ..Operands::default() })),
        3 if rd == 2 => {
            let imm =
                field(h, 12, 12, 9) | field(h, 6, 6, 4) | field(h, 5, 5, 6) | field(h, 4, 3, 7) | field(h, 2, 2, 5);
            (imm != 0).then_some((Addi, Operands { rd, rs1: 2, imm: sext(imm, 10), ..Operands::default() }))
        }
        3 => (imm6(h) != 0).then_some((Lui, Operands { rd, imm: imm6(h) << 12, ..Operands::default() })),
        4 => arithmetic(h),
        5 => {
            let imm = field(h, 12, 12, 11)
                | field(h, 11, 11, 4)
                | field(h, 10, 9, 8)
                | field(h, 8, 8, 10)
                | field(h, 7, 7, 6)
                | field(h, 6, 6, 7)
                | field(h, 5, 3, 1)
                | field(h, 2, 2, 5);
            Some((Jal, Operands { imm: sext(imm, 12), ..Operands::default() }))
        }
        n => {
            let imm =
                field(h, 12, 12, 8) | field(h, 11, 10, 3) | field(h, 6, 5, 6) | field(h, 4, 3, 1) | field(h, 2, 2, 5);
            let op = if n == 6 { Beq } else { Bne };
            Some((op, Operands { rs1: low(h, 7), imm: sext(imm, 9), ..Operands::default() }))
        }
    }
}

fn arithmetic(h: u32) -> Decoded {
    use Op::*;
    let rd = low(h, 7);
    let imm = |op, imm| Some((op, Operands { rd, rs1: rd, imm, ..Operands::default() }));
    match h >> 10 & 3 {
        0 => imm(Srli, shamt6(h)),
        1 => imm(Srai, shamt6(h)),
        2 => imm(Andi, imm6(h)),
        _ => {
            let op = match (h >> 12 & 1, h >> 5 & 3) {
                (0, 0) => Sub,
                (0, 1) => Xor,
                (0, 2) => Or,
                (0, _) => And,
                (_, 0) => Subw,
                (_, 1) => Addw,
                _ => return None,
            };
            Some((op, Operands { rd, rs1: rd, rs2: low(h, 2), ..Operands::default() }))
        }
    }
}

fn quadrant2(h: u32) -> Decoded {
    use Op::*;
    let (rd, rs2) = (full(h, 7), full(h, 2));
    let word = field(h, 12, 12, 5) | field(h, 6, 4, 2) | field(h, 3, 2, 6);
    let double = field(h, 12, 12, 5) | field(h, 6, 5, 3) | field(h, 4, 2, 6);
    let store_double = field(h, 12, 10, 3) | field(h, 9, 7, 6);
    let store_word = field(h, 12, 9, 2) | field(h, 8, 7, 6);
    let load = |op, rd, imm| Some((op, Operands { rd, rs1: 2, imm, ..Operands::default() }));
    let store = |op, rs2, imm| Some((op, Operands { rs1: 2, rs2, imm, ..Operands::default() }));
    match h >> 13 {
        0 => Some((Slli, Operands { rd, rs1: rd, imm: shamt6(h), ..Operands::default() })),
        1 => load(Fld, rd + F0, double),
        2 if rd != 0 => load(Lw, rd, word),
        3 if rd != 0 => load(Ld, rd, double),
        4 => match (h >> 12 & 1, rd, rs2) {
            (0, 0, 0) => None,
            (0, _, 0) => Some((Jalr, Operands { rs1: rd, ..Operands::default() })),
            (0, _, _) => Some((Add, Operands { rd, rs2, ..Operands::default() })),
            (_, 0, 0) => Some((Ebreak, Operands::default())),
            (_, _, 0) => Some((Jalr, Operands { rd: 1, rs1: rd, ..Operands::default() })),
            (_, _, _) => Some((Add, Operands { rd, rs1: rd, rs2, ..Operands::default() })),
        },
        5 => store(Fsd, rs2 + F0, store_double),
        6 => store(Sw, rs2, store_word),
        7 => store(Sd, rs2, store_double),
        _ => None,
    }
}
