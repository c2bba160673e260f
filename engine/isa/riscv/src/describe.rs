//! An instruction as one line for messages and traces: bytes, mnemonic, operands.

use std::fmt::Write;

use crate::config::Extensions;
use crate::decode::decode;
use crate::inst::{Op, F0};

fn register(r: u8) -> String {
    if r < F0 {
        format!("x{r}")
    } else {
        format!("f{}", r - F0)
    }
}

/// The instruction that starts with `raw`: `00c58533 add x10, x11, x12`.
#[must_use]
pub fn describe(raw: u32) -> String {
    let i = decode(raw, &Extensions::ALL);
    let bytes = if i.len == 2 { format!("{:04x}", i.raw) } else { format!("{:08x}", i.raw) };
    if i.op.is_vector() {
        let text = crate::vector::text(raw, |n| register(n as u8), |n| register(n as u8 + F0));
        return format!("{bytes} {}", text.unwrap_or_else(|| "reserved".to_owned()));
    }
    let mut s = format!("{bytes} {}", i.op.mnemonic());
    let mut first = true;
    let mut operand = |text: &str| {
        let _ = write!(s, "{}{text}", if std::mem::take(&mut first) { " " } else { ", " });
    };
    if i.uop.dst[0].is_some() {
        operand(&register(i.uop.dst[0].0));
    }
    let csr = (Op::Csrrw..=Op::Csrrci).contains(&i.op);
    if csr {
        operand(&format!("{:#x}", i.imm));
    }
    for r in i.uop.src.iter().filter(|r| r.is_some()) {
        operand(&register(r.0));
    }
    if csr && i.rm != 0 {
        operand(&i.rm.to_string());
    }
    if !csr && i.imm != 0 {
        operand(&i.imm.to_string());
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_like_assembly() {
        assert_eq!(describe(0x00c5_8533), "00c58533 add x10, x11, x12");
        assert_eq!(describe(0xff01_0113), "ff010113 addi x2, x2, -16");
        assert_eq!(describe(0x8082), "8082 jalr x1");
        assert_eq!(describe(0x3004_1073), "30041073 csrrw 0x300, x8");
        assert_eq!(describe(0xffff_ffff), "ffffffff illegal");
    }
}
