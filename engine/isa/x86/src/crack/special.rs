//! Stack, control flow, strings and system instructions; which pairs fuse.

use breakeven_base::{OpClass, Reg};
use iced_x86::{FlowControl, Instruction, Mnemonic};

use super::facts::Facts;
use super::{flag_names, uop, Cracker, Uops, F, SERIAL};
use crate::inst::{Inst, RSP};
use crate::regs::{gpr, C, T0, T1, T2, Z};

impl Cracker {
    /// The micro-op that moves the stack pointer, where one is needed.
    pub(super) fn move_rsp(&self, u: &mut Uops) {
        if !self.config.stack_engine {
            let rsp = gpr(RSP as u8);
            u.push(uop(OpClass::IntAlu, [rsp, Reg::NONE, Reg::NONE], [rsp, Reg::NONE], F::empty()));
        }
    }

    /// push, pop and the like; false: none of them.
    pub(super) fn stack(&self, i: &Inst, f: &Facts, u: &mut Uops) -> bool {
        use Mnemonic::*;
        let rsp = gpr(RSP as u8);
        let top = [if self.config.stack_engine { Reg::NONE } else { rsp }, Reg::NONE];
        match i.op {
            Push | Pushfq | Pushf => {
                let mut data = f.src.iter().copied().find(|r| *r != rsp || i.k[0].r == RSP as u8).unwrap_or(Reg::NONE);
                if f.loads {
                    self.load(u, f.address, T0, i.msize, F::empty());
                    data = T0;
                }
                self.move_rsp(u);
                self.store(u, top, data, 8, F::empty());
            }
            Pop => {
                let dst = f.dst.first().copied().filter(|_| !f.stores).unwrap_or(T0);
                self.load(u, top, dst, 8, F::empty());
                if dst != rsp {
                    self.move_rsp(u);
                }
                if f.stores {
                    self.store(u, f.address, T0, 8, F::empty());
                }
            }
            Leave => {
                let rbp = gpr(5);
                u.push(uop(OpClass::IntAlu, [rbp, Reg::NONE, Reg::NONE], [rsp, Reg::NONE], F::empty()));
                self.load(u, [rsp, Reg::NONE], rbp, 8, F::empty());
                self.move_rsp(u);
            }
            Enter => {
                self.store(u, top, gpr(5), 8, F::empty());
                u.push(uop(OpClass::IntAlu, [rsp, Reg::NONE, Reg::NONE], [rsp, gpr(5)], SERIAL));
            }
            _ => return false,
        }
        true
    }

    pub(super) fn control(&self, ins: &Instruction, i: &Inst, f: &Facts, u: &mut Uops) {
        use Mnemonic::*;
        let rsp = gpr(RSP as u8);
        let top = [if self.config.stack_engine { Reg::NONE } else { rsp }, Reg::NONE];
        let mut target = f.src.iter().copied().find(|r| *r != rsp).unwrap_or(Reg::NONE);
        let loaded = self.handed_on(false, T0);
        if f.loads {
            self.load(u, f.address, loaded, 8, F::empty());
            target = loaded;
        }
        let mut branch = uop(OpClass::IntAlu, [target, Reg::NONE, Reg::NONE], [Reg::NONE; 2], F::BRANCH);
        match i.op {
            Call => {
                self.move_rsp(u);
                self.store(u, top, Reg::NONE, 8, F::empty());
            }
            Ret => {
                self.load(u, top, loaded, 8, F::empty());
                self.move_rsp(u);
                branch.src[0] = loaded;
            }
            Loop | Loope | Loopne => {
                let rcx = gpr(1);
                u.push(uop(OpClass::IntAlu, [rcx, Reg::NONE, Reg::NONE], [rcx, Reg::NONE], F::empty()));
                branch.src = [rcx, if f.flags_read.is_empty() { Reg::NONE } else { Z }, Reg::NONE];
            }
            _ => {
                let first = usize::from(target.is_some());
                for (slot, r) in branch.src.iter_mut().skip(first).zip(flag_names(f.flags_read)) {
                    *slot = r;
                }
            }
        }
        for _ in 1..self.uops.get(i.op as usize).copied().unwrap_or(0).clamp(1, 4) {
            u.push(uop(OpClass::IntAlu, branch.src, [T2, Reg::NONE], F::empty()));
        }
        branch.latency = self.latency_of(i.op);
        if (ins.flow_control() == FlowControl::IndirectBranch && f.loads) || i.op == Ret {
            branch.flags |= self.fused();
        }
        u.push(branch);
    }

    /// A string instruction without a repeat prefix: load, store, compare; the pointers.
    pub(super) fn string(&self, i: &Inst, u: &mut Uops) {
        use Mnemonic::*;
        let (rax, rsi, rdi) = (gpr(0), gpr(6), gpr(7));
        let bump =
            |u: &mut Uops, r: Reg| u.push(uop(OpClass::IntAlu, [r, Reg::NONE, Reg::NONE], [r, Reg::NONE], F::empty()));
        let compare =
            |u: &mut Uops, a: Reg, b: Reg| u.push(uop(OpClass::IntAlu, [a, b, Reg::NONE], [Reg::NONE, C], F::empty()));
        match i.op {
            Movsb | Movsw | Movsd | Movsq => {
                self.load(u, [rsi, Reg::NONE], T0, i.size, F::empty());
                self.store(u, [rdi, Reg::NONE], T0, i.size, F::empty());
                bump(u, rsi);
                bump(u, rdi);
            }
            Stosb | Stosw | Stosd | Stosq => {
                self.store(u, [rdi, Reg::NONE], rax, i.size, F::empty());
                bump(u, rdi);
            }
            Lodsb | Lodsw | Lodsd | Lodsq => {
                self.load(u, [rsi, Reg::NONE], rax, i.size, F::empty());
                bump(u, rsi);
            }
            Scasb | Scasw | Scasd | Scasq => {
                self.load(u, [rdi, Reg::NONE], T0, i.size, F::empty());
                compare(u, T0, rax);
                bump(u, rdi);
            }
            _ => {
                self.load(u, [rsi, Reg::NONE], T0, i.size, F::empty());
                self.load(u, [rdi, Reg::NONE], T1, i.size, F::empty());
                compare(u, T0, T1);
                bump(u, rsi);
                bump(u, rdi);
            }
        }
    }

    pub(super) fn system(&self, ins: &Instruction, f: &Facts, u: &mut Uops) {
        let s = |n: usize| f.src.get(n).copied().unwrap_or(Reg::NONE);
        let d = |n: usize| f.dst.get(n).copied().unwrap_or(Reg::NONE);
        // Changes of privilege, translation and control flow: younger instructions are fetched again. Not after stac and
        // clac, which the manual does not call serialising: younger instructions only wait for them.
        let squash = match ins.mnemonic() {
            Mnemonic::Rdtsc
            | Mnemonic::Rdtscp
            | Mnemonic::Rdpmc
            | Mnemonic::In
            | Mnemonic::Out
            | Mnemonic::Rdmsr
            | Mnemonic::Stac
            | Mnemonic::Clac => F::empty(),
            _ => F::SQUASH_AFTER,
        };
        u.push(uop(OpClass::No_OpClass, [s(0), s(1), s(2)], [d(0), d(1)], SERIAL | squash));
    }

    pub(super) fn mark_fusion(&self, ins: &Instruction, i: &Inst, u: &mut Uops) {
        use Mnemonic::*;
        if ins.is_jcc_short_or_near() {
            u.list[u.n.saturating_sub(1)].flags |= F::FUSE_TAIL;
        }
        let c = &self.config;
        let head = match i.op {
            Cmp | Test => c.fuse_cmp_test,
            Add | Sub | And => c.fuse_add_sub_and,
            Inc | Dec => c.fuse_inc_dec,
            _ => false,
        };
        if head && u.n == 1 {
            u.list[0].flags |= F::FUSE_HEAD;
        }
    }
}
