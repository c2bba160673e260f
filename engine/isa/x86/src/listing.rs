//! Disassembly listings of code.

use breakeven_base::listing::Line;
use iced_x86::{CpuidFeature, Decoder, DecoderOptions, FlowControl, Formatter, GasFormatter, Instruction, OpKind};

/// The instructions of `code`, which lies at `address`, from its first byte on; at most `most`. Bytes that are no
/// instruction are one byte each.
#[must_use]
pub fn listing(code: &[u8], address: u64, most: usize) -> Vec<Line> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut lines = Vec::new();
    while decoder.can_decode() && lines.len() < most {
        let at = decoder.ip();
        let ins = decoder.decode();
        if ins.is_invalid() {
            let from = (at - address) as usize;
            let text = format!(".byte {:#04x}", code[from]);
            lines.push(Line {
                address: at,
                len: 1,
                text,
                needs: Vec::new(),
                target: None,
                indirect: false,
                ends: true,
            });
            if decoder.set_position(from + 1).is_err() {
                break;
            }
            decoder.set_ip(at + 1);
            continue;
        }
        lines.push(line(&ins));
    }
    lines
}

fn line(ins: &Instruction) -> Line {
    let mut text = String::new();
    let mut formatter = GasFormatter::new();
    formatter.options_mut().set_branch_leading_zeros(false);
    formatter.options_mut().set_uppercase_hex(false);
    formatter.format(ins, &mut text);
    let flow = ins.flow_control();
    let indirect = flow == FlowControl::IndirectBranch;
    let ends =
        indirect || matches!(flow, FlowControl::UnconditionalBranch | FlowControl::Return | FlowControl::Exception);
    let direct = matches!(ins.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
    let target = direct.then(|| ins.near_branch_target());
    let mut needs: Vec<String> = ins.cpuid_features().iter().filter_map(|f| name(*f)).collect();
    needs.dedup();
    Line { address: ins.ip(), len: ins.len() as u8, text, needs, target, indirect, ends }
}

/// What machine descriptions call a feature; `None`: every 64-bit processor has it.
fn name(feature: CpuidFeature) -> Option<String> {
    use CpuidFeature as C;
    Some(match feature {
        C::INTEL8086 | C::INTEL186 | C::INTEL286 | C::INTEL386 | C::INTEL486 | C::X64 | C::CPUID | C::CX8 => {
            return None
        }
        C::MSR | C::TSC | C::SYSCALL | C::PAUSE | C::MULTIBYTENOP | C::FXSR | C::FPU | C::FPU287 | C::FPU387 => {
            return None
        }
        C::CET_IBT | C::CET_SS | C::RDPMC => return None,
        C::CLFSH => "clflush".to_owned(),
        C::CMPXCHG16B => "cx16".to_owned(),
        C::XSAVE => "avx".to_owned(),
        C::AVX512F | C::AVX512BW | C::AVX512CD | C::AVX512DQ | C::AVX512VL => "avx512".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_an_instruction_needs_and_where_it_goes() {
        // vmovdqu ymm0, [rsi]; adcx rax, rbx; rep movsb; jne +2; (no instruction); ret
        let code = [0xc5, 0xfe, 0x6f, 0x06, 0x66, 0x48, 0x0f, 0x38, 0xf6, 0xc3, 0xf3, 0xa4, 0x75, 0x02, 0x06, 0xc3];
        let lines = listing(&code, 0x1000, 99);
        let seen: Vec<_> =
            lines.iter().map(|l| (l.address, l.text.as_str(), l.needs.join(","), l.target, l.ends)).collect();
        assert_eq!(
            seen,
            [
                (0x1000, "vmovdqu (%rsi),%ymm0", "avx".to_owned(), None, false),
                (0x1004, "adcx %rbx,%rax", "adx".to_owned(), None, false),
                (0x100a, "rep movsb (%rsi),(%rdi)", String::new(), None, false),
                (0x100c, "jne 0x1010", String::new(), Some(0x1010), false),
                (0x100e, ".byte 0x06", String::new(), None, true),
                (0x100f, "ret", String::new(), None, true),
            ]
        );
        assert_eq!(listing(&code, 0, 2).len(), 2);
    }
}
