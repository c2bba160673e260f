//! Syscall emulation: a process in ring 3 whose system calls and exceptions go to the bus. Both are traps to the pipeline,
//! as gem5 has them: it flushes when they commit, and they take no further time.

use breakeven_base::{
    BranchInfo, Bus, FaultAnswer, MemRef, Now, OpClass, ProcessStart, Step, StepResult, SysEffect, Syscall, Uop,
    UopFlags, UserAccess, UserContext, UserFault, UserState,
};

use crate::cpu::{cr4, Cpu, Fault};
use crate::crack::trap_uop;
use crate::flags::Rflags;
use crate::frontend::X86FrontEnd;
use crate::inst::{RAX, RCX, RSP};

/// Linux's user segments.
const CS: u16 = 0x33;
const SS: u16 = 0x2b;
/// rdi, rsi, rdx, r10, r8, r9.
const ARGUMENTS: [usize; 6] = [7, 6, 2, 10, 8, 9];
const R11: usize = 11;

/// Bits of a page fault's error code.
const WRITE: u32 = 1 << 1;
const FETCH: u32 = 1 << 4;

fn user_fault(f: Fault) -> UserFault {
    let access = match f.error {
        e if e & FETCH != 0 => UserAccess::Fetch,
        e if e & WRITE != 0 => UserAccess::Store,
        _ => UserAccess::Load,
    };
    match f.vector {
        14 => UserFault::Page { addr: f.addr, access },
        0 | 16 | 19 => UserFault::Arithmetic,
        1 | 3 => UserFault::Breakpoint,
        6 => UserFault::Illegal,
        17 | 18 => UserFault::Bus { addr: f.addr },
        _ => UserFault::Protection,
    }
}

fn system_call_uop() -> Uop {
    use UopFlags as F;
    let flags = F::SERIALIZE_AFTER | F::NON_SPECULATIVE | F::FIRST | F::LAST;
    Uop { class: OpClass::No_OpClass, flags, ..Uop::default() }
}

impl Cpu {
    /// A system call leaves the flags in r11 and its return address in rcx, as the instruction does.
    fn system_call<B: Bus>(&mut self, bus: &mut B, now: &Now, len: u8) -> SysEffect {
        let pc = self.rip();
        let next = pc.wrapping_add(u64::from(len));
        let args = ARGUMENTS.map(|r| self.c.r[r]);
        let bases = [self.c.base[1], self.c.base[2]];
        self.c.r[RCX] = next;
        self.c.r[R11] = self.rflags().difference(Rflags::RF).bits();
        self.set_rip(next);
        let done = bus.syscall(&Syscall { number: self.c.r[RAX], args, bases, pc }, *now, self);
        if let Some(ret) = done.ret {
            self.c.r[RAX] = ret;
            [self.c.base[1], self.c.base[2]] = done.bases;
        }
        if !done.stale {
            return done.effect;
        }
        self.xlat.flush();
        match done.effect {
            SysEffect::None => SysEffect::TlbFlush { vaddr: None },
            effect => effect,
        }
    }
}

/// Flags that a program may set. Single-stepping is not modelled.
const USER_FLAGS: Rflags = Rflags::ARITH.union(Rflags::DF).union(Rflags::AC);
/// Offsets of the x87 and SSE registers in an FXSAVE area, 16 bytes each.
const ST: usize = 32;
const XMM: usize = 160;

impl UserContext for Cpu {
    fn save(&self) -> UserState {
        let c = &self.c;
        let mut fxsave = [0; UserState::FXSAVE];
        let mut put = |at: usize, bytes: &[u8]| fxsave[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &c.x87.fcw.to_le_bytes());
        put(2, &c.x87.fsw.to_le_bytes());
        put(4, &[c.x87.tags]);
        put(UserState::MXCSR, &(u64::from(c.mxcsr) | 0xffff << 32).to_le_bytes());
        for (n, (significand, exponent)) in c.x87.in_order().into_iter().enumerate() {
            put(ST + 16 * n, &significand.to_le_bytes());
            put(ST + 16 * n + 8, &exponent.to_le_bytes());
        }
        for (n, v) in c.v.iter().enumerate() {
            put(XMM + 16 * n, &v.0[0].to_le_bytes());
            put(XMM + 16 * n + 8, &v.0[1].to_le_bytes());
        }
        UserState {
            regs: std::array::from_fn(|n| if n < 16 { c.r[n] } else { 0 }),
            pc: self.rip(),
            flags: self.rflags().bits(),
            bases: [c.base[1], c.base[2]],
            fxsave,
            upper: std::array::from_fn(|n| [c.v[n].0[2], c.v[n].0[3]]),
            page_table: self.ctl.cr3,
            ..UserState::default()
        }
    }

    fn load(&mut self, state: &UserState) {
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&state.fxsave[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let c = &mut self.c;
        c.r[..16].copy_from_slice(&state.regs[..16]);
        let head = word(0);
        (c.x87.fcw, c.x87.fsw, c.x87.tags) = (head as u16, (head >> 16) as u16, (head >> 32) as u8);
        c.mxcsr = word(UserState::MXCSR) as u32 & 0xffff;
        for n in 0..8 {
            let slot = (usize::from(c.x87.fsw >> 11) + n) & 7;
            (c.x87.mm[slot], c.x87.exponents[slot]) = (word(ST + 16 * n), word(ST + 16 * n + 8) as u16);
        }
        for (n, v) in c.v.iter_mut().enumerate() {
            let [low, high] = state.upper[n];
            v.0 = [word(XMM + 16 * n), word(XMM + 16 * n + 8), low, high];
        }
        [c.base[1], c.base[2]] = state.bases;
        self.set_rip(state.pc);
        self.set_rflags(Rflags::from_bits_truncate(state.flags), USER_FLAGS);
        self.ctl.cr3 = state.page_table;
        self.restart_instruction();
        self.xlat.flush();
    }
}

impl X86FrontEnd {
    /// Puts the hart into ring 3 as Linux starts a program: AVX and the segment-base instructions on, where CPUID has them.
    pub fn start_process(&mut self, start: &ProcessStart) {
        let c = &mut self.cpu;
        // A process's saved state ends with AVX's: it does not get AVX-512.
        c.options.features.avx512 = false;
        c.options.cpuid.hide_avx512();
        self.enable_avx();
        let c = &mut self.cpu;
        c.options.emulated = true;
        c.options.free_translation = !start.timed_translation;
        c.cpl = 3;
        (c.s.sel, c.s.tr) = ([0, CS, SS, 0, 0, 0], 0);
        c.ctl.cr3 = start.page_table;
        if c.options.features.fsgsbase {
            c.ctl.cr4 |= cr4::FSGSBASE;
        }
        c.c.r[RSP] = start.stack;
        c.set_rflags(Rflags::IF, Rflags::IF);
        c.context_changed();
        c.xlat.flush();
        self.set_pc(start.entry);
        self.after_cold();
    }

    /// EAX, EBX, ECX and EDX of a CPUID leaf.
    #[must_use]
    pub fn cpuid(&self, leaf: u32, subleaf: u32) -> [u32; 4] {
        self.cpu.options.cpuid.get(leaf, subleaf)
    }

    /// The process's system call (`fault` `None`), or its fault.
    pub(crate) fn user_trap<B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        out: &mut Step,
        fault: Option<Fault>,
    ) -> StepResult {
        if fault.is_none() && !now.drained {
            // gem5's is one micro-op without registers: what the emulation writes is not renamed.
            out.n = 1;
            out.uops[0] = system_call_uop();
            return StepResult::NeedsDrain;
        }
        let pc = self.cpu.rip();
        self.cpu.restart_instruction();
        let effect = match fault {
            None => self.cpu.system_call(bus, now, out.len),
            Some(fault) => match bus.user_fault(pc, user_fault(fault), &mut self.cpu) {
                FaultAnswer::Retry => SysEffect::None,
                FaultAnswer::Loaded => SysEffect::TlbFlush { vaddr: None },
                FaultAnswer::End(effect) => effect,
            },
        };
        self.user_trapped(bus, out, effect);
        StepResult::Done
    }

    /// Its time slice is over, or a timer has expired. False: it continues with its next instruction.
    #[cold]
    pub(crate) fn user_preempt<B: Bus>(&mut self, bus: &mut B, now: &Now, out: &mut Step) -> bool {
        // An instruction of several steps completes first.
        if self.cpu.speculative() || self.cpu.in_progress() {
            return false;
        }
        (out.pc, out.len) = (self.cpu.rip(), 0);
        let effect = match bus.user_preempt(*now, &mut self.cpu) {
            Some(FaultAnswer::End(effect)) => effect,
            Some(FaultAnswer::Loaded) => SysEffect::TlbFlush { vaddr: None },
            Some(FaultAnswer::Retry) | None => {
                self.cpu.slice_end = bus.user_deadline();
                return false;
            }
        };
        self.user_trapped(bus, out, effect);
        true
    }

    /// Describes a trap that the emulation has handled; `out` has pc and length.
    fn user_trapped<B: Bus>(&mut self, bus: &B, out: &mut Step, effect: SysEffect) {
        out.n = 1;
        out.branch = BranchInfo::default();
        out.effect = effect;
        out.uops[0] = trap_uop();
        out.mem[0] = MemRef::default();
        if effect != SysEffect::None {
            out.uops[0].flags |= UopFlags::EFFECT;
        }
        out.next_pc = self.cpu.rip();
        // It may have written code, through whatever mapping.
        self.cpu.xlat.code_stale = true;
        self.after_cold();
        self.cpu.slice_end = bus.user_deadline();
    }
}
