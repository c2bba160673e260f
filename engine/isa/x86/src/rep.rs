//! Micro-ops of a step of a repeated string instruction: made from the references that the step made. Start-up costs and
//! the conditions of fast modes belong here.

use breakeven_base::{MemKind, MemRef, OpClass, Reg, UopFlags};
use iced_x86::Mnemonic;

use crate::crack::{group, uop, Uops};
use crate::inst::Inst;
use crate::regs::{gpr, C, T0};

type F = UopFlags;

/// The micro-ops for a step with these references; `last`: the instruction is done with it.
pub(crate) fn crack(i: &Inst, refs: &[MemRef], last: bool, writes_flags: bool) -> Uops {
    use Mnemonic::*;
    let (rax, rcx, rsi, rdi) = (gpr(0), gpr(1), gpr(6), gpr(7));
    let mut u = Uops::default();
    let mut loaded = rax;
    let none = [Reg::NONE; 2];
    for m in refs.iter().take(6) {
        if m.kind == MemKind::Load {
            loaded = T0;
            u.push(uop(OpClass::MemRead, [rsi, Reg::NONE, Reg::NONE], [T0, Reg::NONE], F::LOAD));
        } else {
            u.push(uop(OpClass::MemWrite, [rdi, Reg::NONE, loaded], none, F::STORE));
        }
    }
    if writes_flags {
        u.push(uop(OpClass::IntAlu, [T0, rax, Reg::NONE], [Reg::NONE, C], 0));
        u.flags_written = group::C | group::O | group::Z;
    }
    let pointers = match i.op {
        Stosb | Stosw | Stosd | Stosq | Scasb | Scasw | Scasd | Scasq => [rdi, Reg::NONE],
        Lodsb | Lodsw | Lodsd | Lodsq => [rsi, Reg::NONE],
        _ => [rsi, rdi],
    };
    u.push(uop(OpClass::IntAlu, [pointers[0], pointers[1], Reg::NONE], pointers, 0));
    if u.n < u.list.len() {
        u.push(uop(OpClass::IntAlu, [rcx, Reg::NONE, Reg::NONE], [rcx, Reg::NONE], 0));
    }
    u.list[0].flags.0 |= F::FIRST;
    if last {
        u.list[u.n - 1].flags.0 |= F::LAST;
    }
    u
}
