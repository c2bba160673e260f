//! Disassembly listings of code.

use breakeven_base::listing::Line;
use breakeven_base::BranchKind;

use crate::config::Extensions;
use crate::decode::decode;
use crate::inst::{Inst, Op, F0, SINK};

/// The register names of the calling convention.
const NAMES: [&str; 64] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2",
    "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "ft0", "ft1", "ft2", "ft3", "ft4",
    "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "fs2", "fs3", "fs4",
    "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
];

/// All extensions.
const ALL: Extensions = Extensions::ALL;

/// Each extension by its name in a machine's description, and the decoder without it.
const EXTENSIONS: [(&str, Extensions); 10] = {
    [
        ("Zba", Extensions { zba: false, ..ALL }),
        ("Zbb", Extensions { zbb: false, ..ALL }),
        ("Zbc", Extensions { zbc: false, ..ALL }),
        ("Zbs", Extensions { zbs: false, ..ALL }),
        ("Zicond", Extensions { zicond: false, ..ALL }),
        ("Zicbom", Extensions { zicbom: false, ..ALL }),
        ("Zicboz", Extensions { zicboz: false, ..ALL }),
        ("V", Extensions { v: false, ..ALL }),
        ("Zvkb", Extensions { zvkb: false, ..ALL }),
        ("Zvbb", Extensions { zvbb: false, ..ALL }),
    ]
};

/// The instructions of `code`, which lies at `address`, from its first byte on; at most `most`.
#[must_use]
pub fn listing(code: &[u8], address: u64, most: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut at = 0;
    while let Some(raw) = word(&code[at.min(code.len())..]).filter(|_| lines.len() < most) {
        let i = decode(raw, &ALL);
        lines.push(line(&i, raw, address.wrapping_add(at as u64)));
        at += usize::from(i.len);
    }
    lines
}

/// The instruction's word, of a 16-bit one the halfword; `None`: it is not whole.
fn word(code: &[u8]) -> Option<u32> {
    let half = u32::from(u16::from_le_bytes([*code.first()?, *code.get(1)?]));
    if half & 3 != 3 {
        return Some(half);
    }
    Some(half | u32::from(*code.get(2)?) << 16 | u32::from(*code.get(3)?) << 24)
}

fn line(i: &Inst, raw: u32, address: u64) -> Line {
    let direct = matches!(i.branch, BranchKind::Cond | BranchKind::Jump | BranchKind::Call);
    let target = direct.then(|| address.wrapping_add_signed(i64::from(i.imm)));
    let indirect = i.branch == BranchKind::Indirect;
    let ends = indirect
        || matches!(i.branch, BranchKind::Jump | BranchKind::Return)
        || matches!(i.op, Op::Illegal | Op::Ebreak | Op::Mret | Op::Sret);
    Line { address, len: i.len, text: text(i, raw, target), needs: needs(i, raw), target, indirect, ends }
}

fn needs(i: &Inst, raw: u32) -> Vec<String> {
    if i.op == Op::Illegal {
        return Vec::new();
    }
    let without = EXTENSIONS.iter().filter(|(_, off)| decode(raw, off).op == Op::Illegal);
    without.map(|(name, _)| (*name).to_owned()).collect()
}

fn register(r: u8) -> &'static str {
    NAMES.get(usize::from(r)).copied().unwrap_or("zero")
}

/// Assembler text; compressed instructions in expanded form, branches with their targets.
fn text(i: &Inst, raw: u32, target: Option<u64>) -> String {
    let name = i.op.mnemonic();
    let rd = if i.rd == SINK { "zero" } else { register(i.rd) };
    let (rs1, rs2) = (register(i.rs1), register(i.rs2));
    let to = target.unwrap_or_default();
    let among = |first, last| (first..=last).contains(&i.op);
    match (i.op, i.branch) {
        (Op::Illegal, _) if i.len == 2 => format!(".2byte {raw:#06x}"),
        (Op::Illegal, _) => format!(".4byte {raw:#010x}"),
        (op, _) if op.is_vector() => {
            let x = |n: usize| register(n as u8).to_owned();
            let f = |n: usize| register(n as u8 + F0).to_owned();
            crate::vector::text(raw, x, f).unwrap_or_else(|| format!(".4byte {raw:#010x}"))
        }
        (_, BranchKind::Return) => "ret".to_owned(),
        (_, BranchKind::Cond) => format!("{name} {rs1}, {rs2}, {to:#x}"),
        (Op::Jal, _) if i.rd == SINK => format!("j {to:#x}"),
        (Op::Jal, _) => format!("jal {rd}, {to:#x}"),
        (Op::Jalr, _) => format!("jalr {rd}, {}({rs1})", i.imm),
        (Op::Lui | Op::Auipc, _) => format!("{name} {rd}, {:#x}", i.imm as u32 >> 12),
        (Op::Flw | Op::Fld, _) => format!("{name} {rd}, {}({rs1})", i.imm),
        (Op::Fsw | Op::Fsd, _) => format!("{name} {rs2}, {}({rs1})", i.imm),
        (Op::Fence, _) => name.to_owned(),
        _ if among(Op::Lb, Op::Lwu) => format!("{name} {rd}, {}({rs1})", i.imm),
        _ if among(Op::Sb, Op::Sd) => format!("{name} {rs2}, {}({rs1})", i.imm),
        _ if among(Op::PrefetchI, Op::PrefetchW) => format!("{name} {}({rs1})", i.imm),
        _ if among(Op::CboClean, Op::CboZero) => format!("{name} ({rs1})"),
        _ if i.op.is_amo() => format!("{name} {rd}, {rs2}, ({rs1})"),
        _ if among(Op::Csrrw, Op::Csrrc) => format!("{name} {rd}, {:#x}, {rs1}", i.imm),
        _ if among(Op::Csrrwi, Op::Csrrci) => format!("{name} {rd}, {:#x}, {}", i.imm, i.rm),
        _ if i.op.is_cold() => name.to_owned(),
        _ => computation(i, name, rd),
    }
}

/// Destination, the sources there are, an immediate.
fn computation(i: &Inst, name: &str, rd: &str) -> String {
    let among = |first, last| (first..=last).contains(&i.op);
    let single = matches!(i.op, Op::SlliUw | Op::Rori | Op::Roriw | Op::Bclri | Op::Bexti | Op::Binvi | Op::Bseti);
    let mut text = format!("{name} {rd}, {}", register(i.rs1));
    if single || among(Op::Addi, Op::Srai) || among(Op::Addiw, Op::Sraiw) {
        text += &format!(", {}", i.imm);
    } else if !one_source(i.op) {
        text += &format!(", {}", register(i.rs2));
    }
    if i.rs3 >= F0 {
        text += &format!(", {}", register(i.rs3));
    }
    text
}

fn one_source(op: Op) -> bool {
    let among = |first, last| (first..=last).contains(&op);
    among(Op::Clz, Op::Cpopw)
        || among(Op::SextB, Op::ZextH)
        || among(Op::FclassS, Op::FcvtSLu)
        || among(Op::FclassD, Op::FcvtDS)
        || matches!(op, Op::OrcB | Op::Rev8 | Op::FsqrtS | Op::FsqrtD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[u32]) -> Vec<(String, String, Option<u64>, bool)> {
        let code: Vec<u8> =
            words.iter().flat_map(|w| w.to_le_bytes()[..if w & 3 == 3 { 4 } else { 2 }].to_vec()).collect();
        let lines = listing(&code, 0x8000_0000, 99);
        lines.into_iter().map(|l| (l.text, l.needs.join(","), l.target, l.ends)).collect()
    }

    #[test]
    fn lines_read_like_assembly() {
        let plain = |text: &str| (text.to_owned(), String::new(), None, false);
        assert_eq!(
            texts(&[0x00c5_8533, 0xff01_0113, 0x0085_b703, 0x00e5_3423, 0x3004_1073, 0x1234_5537]),
            [
                plain("add a0, a1, a2"),
                plain("addi sp, sp, -16"),
                plain("ld a4, 8(a1)"),
                plain("sd a4, 8(a0)"),
                plain("csrrw zero, 0x300, s0"),
                plain("lui a0, 0x12345"),
            ]
        );
    }

    #[test]
    fn jumps_have_their_targets_and_extensions_their_names() {
        assert_eq!(
            texts(&[0x00b5_6463, 0x8082, 0x0080_006f, 0x40b5_7533, 0xffff_ffff, 0x0205_f007]),
            [
                ("bltu a0, a1, 0x80000008".to_owned(), String::new(), Some(0x8000_0008), false),
                ("ret".to_owned(), String::new(), None, true),
                ("j 0x8000000e".to_owned(), String::new(), Some(0x8000_000e), true),
                ("andn a0, a0, a1".to_owned(), "Zbb".to_owned(), None, false),
                (".4byte 0xffffffff".to_owned(), String::new(), None, true),
                ("vle64.v v0, (a1)".to_owned(), "V".to_owned(), None, false),
            ]
        );
    }
}
