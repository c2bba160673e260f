//! Decoding of 32-bit instructions. Every word decodes, invalid ones to [`Op::Illegal`].

use crate::config::Extensions;
use crate::inst::{Decoded, Inst, Op, Operands, F0};

/// Decodes the instruction that starts with `raw` (of a 16-bit one only the low half counts).
#[must_use]
pub fn decode(raw: u32, ext: &Extensions) -> Inst {
    if raw & 3 != 3 {
        return crate::decode_c::decode(raw as u16);
    }
    match decode_full(raw, ext) {
        Some((op, operands)) => Inst::new(op, raw, 4, operands).on(ext),
        None => Inst::illegal(raw, 4),
    }
}

fn bits(raw: u32, hi: u32, lo: u32) -> u32 {
    raw >> lo & ((1 << (hi - lo + 1)) - 1)
}
fn rd(raw: u32) -> u8 {
    bits(raw, 11, 7) as u8
}
fn rs1(raw: u32) -> u8 {
    bits(raw, 19, 15) as u8
}
fn rs2(raw: u32) -> u8 {
    bits(raw, 24, 20) as u8
}
fn imm_i(raw: u32) -> i32 {
    raw as i32 >> 20
}
fn imm_s(raw: u32) -> i32 {
    (raw as i32 >> 25) << 5 | bits(raw, 11, 7) as i32
}
fn imm_b(raw: u32) -> i32 {
    (raw as i32 >> 31) << 12 | (bits(raw, 7, 7) << 11 | bits(raw, 30, 25) << 5 | bits(raw, 11, 8) << 1) as i32
}
fn imm_j(raw: u32) -> i32 {
    (raw as i32 >> 31) << 20 | (bits(raw, 19, 12) << 12 | bits(raw, 20, 20) << 11 | bits(raw, 30, 21) << 1) as i32
}
fn r_type(raw: u32) -> Operands {
    Operands { rd: rd(raw), rs1: rs1(raw), rs2: rs2(raw), ..Operands::default() }
}
fn i_type(raw: u32, imm: i32) -> Operands {
    Operands { rd: rd(raw), rs1: rs1(raw), imm, ..Operands::default() }
}

fn decode_full(raw: u32, ext: &Extensions) -> Decoded {
    use Op::*;
    let f3 = bits(raw, 14, 12);
    match raw & 0x7f {
        0x37 => Some((Lui, Operands { rd: rd(raw), imm: (raw & !0xfff) as i32, ..Operands::default() })),
        0x17 => Some((Auipc, Operands { rd: rd(raw), imm: (raw & !0xfff) as i32, ..Operands::default() })),
        0x6f => Some((Jal, Operands { rd: rd(raw), imm: imm_j(raw), ..Operands::default() })),
        0x67 if f3 == 0 => Some((Jalr, i_type(raw, imm_i(raw)))),
        0x63 => {
            let op =
                *[Some(Beq), Some(Bne), None, None, Some(Blt), Some(Bge), Some(Bltu), Some(Bgeu)].get(f3 as usize)?;
            Some((op?, Operands { rs1: rs1(raw), rs2: rs2(raw), imm: imm_b(raw), ..Operands::default() }))
        }
        0x03 => {
            let op = *[Lb, Lh, Lw, Ld, Lbu, Lhu, Lwu].get(f3 as usize)?;
            Some((op, i_type(raw, imm_i(raw))))
        }
        0x23 => {
            let op = *[Sb, Sh, Sw, Sd].get(f3 as usize)?;
            Some((op, Operands { rs1: rs1(raw), rs2: rs2(raw), imm: imm_s(raw), ..Operands::default() }))
        }
        0x07 => {
            let op = match f3 {
                2 => Flw,
                3 => Fld,
                0 | 5..=7 if ext.v => return Some((VecLoad, Operands { rs1: rs1(raw), ..Operands::default() })),
                _ => return None,
            };
            Some((op, Operands { rd: rd(raw) + F0, rs1: rs1(raw), imm: imm_i(raw), ..Operands::default() }))
        }
        0x27 => {
            let op = match f3 {
                2 => Fsw,
                3 => Fsd,
                0 | 5..=7 if ext.v => return Some((VecStore, Operands { rs1: rs1(raw), ..Operands::default() })),
                _ => return None,
            };
            Some((op, Operands { rs1: rs1(raw), rs2: rs2(raw) + F0, imm: imm_s(raw), ..Operands::default() }))
        }
        0x13 => op_imm(raw, f3, ext),
        0x1b => op_imm_32(raw, f3, ext),
        0x33 => op_reg(raw, f3, ext).map(|op| (op, r_type(raw))),
        0x3b => op_reg_32(raw, f3, ext).map(|op| {
            let mut o = r_type(raw);
            if op == ZextH {
                o.rs2 = 0;
            }
            (op, o)
        }),
        0x0f => misc_mem(raw, f3, ext),
        0x2f => atomic(raw, f3).map(|op| (op, r_type(raw))),
        0x43 | 0x47 | 0x4b | 0x4f => fused(raw),
        0x53 => crate::decode_fp::op_fp(raw),
        0x57 if ext.v => match f3 {
            7 => Some((VecConfig, Operands::default())),
            _ => crate::vector::has(raw, ext).then(|| (VecArith, Operands::default())),
        },
        0x73 => system(raw, f3),
        // gem5's pseudo-ops: the function is in bits 31:25, arguments and result follow the calling convention.
        0x7b => Some((M5Op, Operands { rd: 10, imm: bits(raw, 31, 25) as i32, ..Operands::default() })),
        _ => None,
    }
}

fn op_imm(raw: u32, f3: u32, ext: &Extensions) -> Decoded {
    use Op::*;
    let shamt = bits(raw, 25, 20) as i32;
    let simple = |op| Some((op, i_type(raw, imm_i(raw))));
    match f3 {
        0 => simple(Addi),
        2 => simple(Slti),
        3 => simple(Sltiu),
        4 => simple(Xori),
        6 if rd(raw) == 0 && matches!(rs2(raw), 0 | 1 | 3) => {
            let op = match rs2(raw) {
                0 => PrefetchI,
                1 => PrefetchR,
                _ => PrefetchW,
            };
            Some((op, i_type(raw, imm_i(raw) & !31)))
        }
        6 => simple(Ori),
        7 => simple(Andi),
        1 => {
            let op = match bits(raw, 31, 26) {
                0x00 => Slli,
                0x12 if ext.zbs => Bclri,
                0x1a if ext.zbs => Binvi,
                0x0a if ext.zbs => Bseti,
                0x18 if ext.zbb => match shamt {
                    0 => Clz,
                    1 => Ctz,
                    2 => Cpop,
                    4 => SextB,
                    5 => SextH,
                    _ => return None,
                },
                _ => return None,
            };
            Some((op, i_type(raw, shamt)))
        }
        _ => {
            let op = match bits(raw, 31, 26) {
                0x00 => Srli,
                0x10 => Srai,
                0x12 if ext.zbs => Bexti,
                0x18 if ext.zbb => Rori,
                0x0a if ext.zbb && shamt == 7 => OrcB,
                0x1a if ext.zbb && shamt == 0x38 => Rev8,
                _ => return None,
            };
            Some((op, i_type(raw, shamt)))
        }
    }
}

fn op_imm_32(raw: u32, f3: u32, ext: &Extensions) -> Decoded {
    use Op::*;
    let shamt5 = i32::from(rs2(raw));
    let f7 = bits(raw, 31, 25);
    let (op, imm) = match (f3, f7) {
        (0, _) => (Addiw, imm_i(raw)),
        (1, 0x00) => (Slliw, shamt5),
        (1, 0x04 | 0x05) if ext.zba => (SlliUw, bits(raw, 25, 20) as i32),
        (1, 0x30) if ext.zbb => match shamt5 {
            0 => (Clzw, 0),
            1 => (Ctzw, 0),
            2 => (Cpopw, 0),
            _ => return None,
        },
        (5, 0x00) => (Srliw, shamt5),
        (5, 0x20) => (Sraiw, shamt5),
        (5, 0x30) if ext.zbb => (Roriw, shamt5),
        _ => return None,
    };
    Some((op, i_type(raw, imm)))
}

fn op_reg(raw: u32, f3: u32, ext: &Extensions) -> Option<Op> {
    use Op::*;
    let group: [Option<Op>; 8] = match bits(raw, 31, 25) {
        0x00 => [Add, Sll, Slt, Sltu, Xor, Srl, Or, And].map(Some),
        0x20 => {
            let z = |op| ext.zbb.then_some(op);
            [Some(Sub), None, None, None, z(Xnor), Some(Sra), z(Orn), z(Andn)]
        }
        0x01 => [Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu].map(Some),
        0x05 => {
            let b = |op| ext.zbb.then_some(op);
            let c = |op| ext.zbc.then_some(op);
            [None, c(Clmul), c(Clmulr), c(Clmulh), b(Min), b(Minu), b(Max), b(Maxu)]
        }
        0x07 if ext.zicond => [None, None, None, None, None, Some(CzeroEqz), None, Some(CzeroNez)],
        0x10 if ext.zba => [None, None, Some(Sh1add), None, Some(Sh2add), None, Some(Sh3add), None],
        0x14 if ext.zbs => [None, Some(Bset), None, None, None, None, None, None],
        0x24 if ext.zbs => [None, Some(Bclr), None, None, None, Some(Bext), None, None],
        0x30 if ext.zbb => [None, Some(Rol), None, None, None, Some(Ror), None, None],
        0x34 if ext.zbs => [None, Some(Binv), None, None, None, None, None, None],
        _ => [None; 8],
    };
    group.get(f3 as usize).copied().flatten()
}

fn op_reg_32(raw: u32, f3: u32, ext: &Extensions) -> Option<Op> {
    use Op::*;
    Some(match (bits(raw, 31, 25), f3) {
        (0x00, 0) => Addw,
        (0x00, 1) => Sllw,
        (0x00, 5) => Srlw,
        (0x20, 0) => Subw,
        (0x20, 5) => Sraw,
        (0x01, 0) => Mulw,
        (0x01, 4) => Divw,
        (0x01, 5) => Divuw,
        (0x01, 6) => Remw,
        (0x01, 7) => Remuw,
        (0x04, 0) if ext.zba => AddUw,
        (0x04, 4) if ext.zbb && rs2(raw) == 0 => ZextH,
        (0x10, 2) if ext.zba => Sh1addUw,
        (0x10, 4) if ext.zba => Sh2addUw,
        (0x10, 6) if ext.zba => Sh3addUw,
        (0x30, 1) if ext.zbb => Rolw,
        (0x30, 5) if ext.zbb => Rorw,
        _ => return None,
    })
}

fn misc_mem(raw: u32, f3: u32, ext: &Extensions) -> Decoded {
    let op = match (f3, raw >> 20) {
        (0, _) => Op::Fence,
        (1, _) => Op::FenceI,
        (2, n) if rd(raw) == 0 => match n {
            0 if ext.zicbom => Op::CboInval,
            1 if ext.zicbom => Op::CboClean,
            2 if ext.zicbom => Op::CboFlush,
            4 if ext.zicboz => Op::CboZero,
            _ => return None,
        },
        _ => return None,
    };
    let base = if f3 == 2 { rs1(raw) } else { 0 };
    Some((op, Operands { rs1: base, ..Operands::default() }))
}

fn atomic(raw: u32, f3: u32) -> Option<Op> {
    use Op::*;
    let (w, d) = match bits(raw, 31, 27) {
        0x02 if rs2(raw) == 0 => (LrW, LrD),
        0x03 => (ScW, ScD),
        0x01 => (AmoswapW, AmoswapD),
        0x00 => (AmoaddW, AmoaddD),
        0x04 => (AmoxorW, AmoxorD),
        0x0c => (AmoandW, AmoandD),
        0x08 => (AmoorW, AmoorD),
        0x10 => (AmominW, AmominD),
        0x14 => (AmomaxW, AmomaxD),
        0x18 => (AmominuW, AmominuD),
        0x1c => (AmomaxuW, AmomaxuD),
        _ => return None,
    };
    match f3 {
        2 => Some(w),
        3 => Some(d),
        _ => None,
    }
}

fn fused(raw: u32) -> Decoded {
    use Op::*;
    let double = match bits(raw, 26, 25) {
        0 => false,
        1 => true,
        _ => return None,
    };
    let rm = bits(raw, 14, 12) as u8;
    if rm == 5 || rm == 6 {
        return None;
    }
    let op = match (raw & 0x7f, double) {
        (0x43, false) => FmaddS,
        (0x47, false) => FmsubS,
        (0x4b, false) => FnmsubS,
        (_, false) => FnmaddS,
        (0x43, true) => FmaddD,
        (0x47, true) => FmsubD,
        (0x4b, true) => FnmsubD,
        (_, true) => FnmaddD,
    };
    let rs3 = bits(raw, 31, 27) as u8 + F0;
    Some((op, Operands { rd: rd(raw) + F0, rs1: rs1(raw) + F0, rs2: rs2(raw) + F0, rs3, rm, imm: 0 }))
}

fn system(raw: u32, f3: u32) -> Decoded {
    use Op::*;
    let csr = |op, rs1, uimm| {
        let imm = (raw >> 20) as i32;
        Some((op, Operands { rd: rd(raw), rs1, rm: uimm, imm, ..Operands::default() }))
    };
    match f3 {
        0 => match raw {
            0x0000_0073 => Some((Ecall, Operands::default())),
            0x0010_0073 => Some((Ebreak, Operands::default())),
            0x1020_0073 => Some((Sret, Operands::default())),
            0x3020_0073 => Some((Mret, Operands::default())),
            0x1050_0073 => Some((Wfi, Operands::default())),
            _ if bits(raw, 31, 25) == 9 && rd(raw) == 0 => Some((SfenceVma, r_type(raw))),
            _ => None,
        },
        1 => csr(Csrrw, rs1(raw), 0),
        2 => csr(Csrrs, rs1(raw), 0),
        3 => csr(Csrrc, rs1(raw), 0),
        5 => csr(Csrrwi, 0, rs1(raw)),
        6 => csr(Csrrsi, 0, rs1(raw)),
        7 => csr(Csrrci, 0, rs1(raw)),
        _ => None,
    }
}
