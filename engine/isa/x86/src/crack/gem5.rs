//! gem5's x86 microcode, for comparisons with gem5 (`CrackConfig::gem5_microcode`); no processor works so.
//!
//! Facts: gem5 24.0 `src/arch/x86/isa/insts/general_purpose`. What differs from the general cracking:
//! - an immediate operand is a micro-op (`limm`), except of shifts; so is the program counter of a rip-relative address
//!   (`rdip`); a branch reads both and then writes the program counter (`wrip`);
//! - a pop is three micro-ops: load, stack pointer, move;
//! - a multiplication leaves its product in hidden registers, from where two micro-ops fetch it; since its flags are computed
//!   from them, it also reads them, and so depends on the multiplication before;
//! - shifts write some flags and merge the rest: they wait for the last writer (logic does not: it writes AF, too, since
//!   gem5's pull request 1171);
//! - `lea` reads the register it writes, whatever its size (gem5's issue 1682, of after 24.0);
//! - a division and a repeated string instruction loop in microcode ([`crate::microcode`]);
//! - a load that is extended takes a micro-op for the extension.

use breakeven_base::{OpClass, Reg, UopFlags};
use iced_x86::{Instruction, Mnemonic};

use super::{flag_names, kinds::is_nop, uop, Cracker, Facts, Uops};
use crate::flags::FlagGroups;
use crate::inst::{Inst, Kind, Steps, RSP};
use crate::microcode;
use crate::regs::{gpr, C, PRODUCT, T0, T1, T2, T3};

type F = UopFlags;

const NONE: Reg = Reg::NONE;

/// One result, one unit.
fn alu(u: &mut Uops, src: [Reg; 3], dst: Reg) {
    u.push(uop(OpClass::IntAlu, src, [dst, NONE], F::empty()));
}

/// A store below the stack pointer, which is then moved.
fn push(u: &mut Uops, data: Reg) {
    u.push(uop(OpClass::MemWrite, [gpr(RSP as u8), NONE, data], [NONE; 2], F::STORE));
    move_top(u);
}

fn move_top(u: &mut Uops) {
    let rsp = gpr(RSP as u8);
    alu(u, [rsp, NONE, NONE], rsp);
}

/// Whether the immediate is a micro-op of its own.
fn takes_immediate(i: &Inst) -> bool {
    use Mnemonic::*;
    let arithmetic = matches!(i.op, Add | Adc | Sub | Sbb | And | Or | Xor | Cmp | Test | Imul | Push);
    (arithmetic || (i.op == Mov && i.k[0].kind == Kind::Mem)) && i.k.iter().any(|k| k.kind == Kind::Imm)
}

/// A division's operand in a register; ah, ch, dh, bh lie in the first four.
fn divisor(i: &Inst) -> Reg {
    gpr(if i.k[0].kind == Kind::R8H { i.k[0].r & 3 } else { i.k[0].r })
}

/// Flags that an instruction merges with what it writes.
fn merged(op: Mnemonic) -> FlagGroups {
    use Mnemonic::*;
    match op {
        Shl | Shr | Sar | Shld | Shrd => FlagGroups::Z,
        Inc | Dec => FlagGroups::C,
        _ => FlagGroups::empty(),
    }
}

impl Cracker {
    /// An instruction that is neither a branch nor a string instruction nor the system's.
    pub(super) fn gem5(&self, ins: &Instruction, i: &Inst, f: &mut Facts, u: &mut Uops) {
        use Mnemonic::*;
        if ins.is_ip_rel_memory_operand() {
            alu(u, [NONE; 3], T3);
            f.address = [T3, NONE];
        }
        if takes_immediate(i) {
            alu(u, [NONE; 3], T1);
            f.src.push(T1);
        }
        f.flags_read |= merged(i.op);
        let rsp = gpr(RSP as u8);
        match i.op {
            Push => {
                let mut data = f.src.iter().copied().find(|r| *r != rsp || i.k[0].r == RSP as u8).unwrap_or(T1);
                if f.loads {
                    self.load(u, f.address, T0, i.msize, F::empty());
                    data = T0;
                }
                push(u, data);
            }
            Pop => {
                self.load(u, [rsp, NONE], T0, 8, F::empty());
                move_top(u);
                if f.stores {
                    self.store(u, f.address, T0, 8, F::empty());
                } else {
                    alu(u, [T0, NONE, NONE], f.dst.first().copied().unwrap_or(NONE));
                }
            }
            Mov if f.loads && !f.src.is_empty() => {
                // A part of the register: what is loaded is merged.
                let dst = f.dst.first().copied().unwrap_or(NONE);
                u.push(uop(OpClass::MemRead, [f.address[0], f.address[1], dst], [dst, NONE], F::LOAD));
            }
            Mul | Imul => self.multiply(i, f, u),
            Div | Idiv => {
                if f.loads {
                    self.load(u, f.address, T0, i.msize, F::empty());
                }
                microcode::division(i.op, if f.loads { T0 } else { divisor(i) }, u);
                u.steps = Steps::Microcode;
            }
            Movzx | Movsx | Movsxd if f.loads => {
                self.load(u, f.address, T0, i.msize, F::empty());
                alu(u, [T0, NONE, NONE], f.dst.first().copied().unwrap_or(NONE));
            }
            Lea => {
                f.src.extend(f.dst.first());
                self.general(i, f, u);
            }
            // Opcode 90 is no microcode but an instruction of the parser's usual class (`formats/nop.isa`).
            Nop | Pause if ins.op_count() == 0 => alu(u, [NONE; 3], NONE),
            op if is_nop(op) => u.push(uop(OpClass::No_OpClass, [NONE; 3], [NONE; 2], F::empty())),
            _ if self.stack(i, f, u) => {}
            _ => self.general(i, f, u),
        }
    }

    /// The product stays in a hidden register, from where it is fetched in halves.
    fn multiply(&self, i: &Inst, f: &Facts, u: &mut Uops) {
        let mut src = [NONE, NONE, PRODUCT];
        if f.loads {
            self.load(u, f.address, T0, i.msize, F::empty());
            src[0] = T0;
        }
        let rest = f.src.iter().copied();
        for (slot, r) in src[usize::from(f.loads)..2].iter_mut().zip(rest) {
            *slot = r;
        }
        u.push(uop(OpClass::IntMult, src, [PRODUCT, C], F::empty()));
        for n in 0..2 {
            alu(u, [PRODUCT, NONE, NONE], f.dst.get(n).copied().unwrap_or(NONE));
        }
    }

    /// Jumps, calls, returns.
    pub(super) fn gem5_control(&self, ins: &Instruction, i: &Inst, f: &Facts, u: &mut Uops) {
        use Mnemonic::*;
        let rsp = gpr(RSP as u8);
        let direct = i.k[0].kind == Kind::Imm || ins.is_jcc_short_or_near() || ins.near_branch_target() != 0;
        let mut sources: Vec<Reg> = Vec::new();
        let call = i.op == Call;
        if i.op == Ret {
            self.load(u, [rsp, NONE], T0, 8, F::empty());
            move_top(u);
            sources.push(T0);
        } else {
            if direct && call {
                alu(u, [NONE; 3], T1);
            }
            if direct || call || ins.is_ip_rel_memory_operand() {
                alu(u, [NONE; 3], T3);
            }
            if f.loads {
                let rip = ins.is_ip_rel_memory_operand();
                self.load(u, if rip { [T3, NONE] } else { f.address }, T0, 8, F::empty());
                sources.push(T0);
            } else if !direct {
                sources.extend(f.src.iter().copied().find(|r| *r != rsp));
            }
        }
        match i.op {
            Loop | Loope | Loopne | Jrcxz | Jecxz => {
                let rcx = gpr(1);
                let counts = !matches!(i.op, Jrcxz | Jecxz);
                alu(u, [rcx, NONE, NONE], if counts { rcx } else { T2 });
                sources.push(if counts { rcx } else { T2 });
            }
            _ if direct && !call => alu(u, [NONE; 3], T1),
            _ => {}
        }
        sources.extend(flag_names(f.flags_read));
        if call {
            push(u, T3);
        }
        if direct {
            sources.extend([T3, T1]);
        }
        let s = |n: usize| sources.get(n).copied().unwrap_or(NONE);
        u.push(uop(OpClass::IntAlu, [s(0), s(1), s(2)], [NONE; 2], F::BRANCH));
    }
}
