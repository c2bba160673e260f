//! Answers a process's system calls and faults.

use breakeven_base::{FaultAnswer, Now, PhysMem, SysEffect, Syscall, SyscallDone, UserAccess, UserContext, UserFault};

use super::calls::{self, Call};
use super::errno::ENOSYS;
use super::memory::{Prot, Refused, PAGE};
use super::process::Process;
use super::schedule::set_result;
use super::signals::{self, Info};
use crate::IsaName;

/// Where x86-64 Linux has the calls that need no kernel.
const VSYSCALL: u64 = 0xffff_ffff_ff60_0000;

impl Process {
    /// Answers a system call.
    pub(crate) fn syscall(
        &mut self,
        ram: &mut PhysMem,
        call: &Syscall,
        now: Now,
        context: &mut dyn UserContext,
    ) -> SyscallDone {
        self.clock.tick = now.tick.0;
        self.task.call.again = false;
        let name = calls::name(self.isa, call.number);
        let mut c = Call { p: self, ram, context, args: call.args, bases: call.bases, pc: call.pc };
        let ret = match name.and_then(|name| c.dispatch(name)) {
            Some(Ok(value)) => value,
            Some(Err(e)) => e.value(),
            None => {
                let name = name.map(|n| format!(" ({n})")).unwrap_or_default();
                c.p.warn(format!("system call {}{name} is not implemented: ENOSYS", call.number));
                ENOSYS.value()
            }
        };
        let bases = c.bases;
        if self.continues() {
            return SyscallDone { ret: Some(ret), bases, stale: self.space.take_stale(), effect: SysEffect::None };
        }
        let state = self.replaced.take().unwrap_or_else(|| {
            let mut state = Box::new(context.save());
            state.bases = bases;
            if self.task.wait.is_some() {
                state.pc = call.pc;
            } else {
                set_result(self.isa, &mut state, ret);
            }
            state
        });
        match self.resume(ram, state) {
            Ok(state) => {
                context.load(&state);
                self.space.take_stale();
                SyscallDone { ret: None, bases, stale: true, effect: SysEffect::None }
            }
            Err(effect) => SyscallDone { ret: Some(ret), bases, stale: self.space.take_stale(), effect },
        }
    }

    /// Answers a fault.
    pub(crate) fn fault(
        &mut self,
        ram: &mut PhysMem,
        pc: u64,
        fault: UserFault,
        context: &mut dyn UserContext,
    ) -> FaultAnswer {
        // The codes of `siginfo_t`.
        const MAPERR: i32 = 1;
        const ACCERR: i32 = 2;
        const ADRERR: i32 = 2;
        const FIRST: i32 = 1;
        let mut behind = 0;
        let (number, code, addr, what) = match fault {
            UserFault::Page { addr, access } => {
                let (wanted, doing) = match access {
                    UserAccess::Load => (Prot::READ, "read from"),
                    UserAccess::Store => (Prot::WRITE, "written to"),
                    UserAccess::Fetch => (Prot::EXEC, "executed"),
                };
                match self.touch(ram, addr, wanted) {
                    Ok(_) => return FaultAnswer::Retry,
                    Err(Refused::OutOfMemory) => {
                        let why = self.out_of_memory(ram);
                        self.die(signals::KILL, &why);
                        return self.answer(ram, context, 0);
                    }
                    Err(refused) => {
                        let (number, code, why) = match refused {
                            Refused::Beyond => (signals::BUS, ADRERR, "lies behind the end of what is mapped there"),
                            _ if self.space.rights(addr).is_some() => {
                                (signals::SEGV, ACCERR, "is mapped without that right")
                            }
                            _ => (signals::SEGV, MAPERR, "is not mapped"),
                        };
                        (number, code, addr, format!("address {addr:#x} cannot be {doing}: it {why}"))
                    }
                }
            }
            UserFault::Bus { addr } => (signals::BUS, FIRST, addr, format!("address {addr:#x} cannot be accessed so")),
            UserFault::Protection => {
                let what = "an address or an instruction that a process may not use";
                // `SI_KERNEL`: there is no address.
                (signals::SEGV, 0x80, 0, what.to_owned())
            }
            UserFault::Illegal => (signals::ILL, FIRST, pc, self.illegal(ram, pc).to_owned()),
            UserFault::Breakpoint => {
                // x86's is a trap: it has been executed.
                behind = u64::from(self.isa == IsaName::X86);
                (signals::TRAP, FIRST, pc, "a breakpoint".to_owned())
            }
            UserFault::Arithmetic => (signals::FPE, FIRST, pc, "a division by zero or its overflow".to_owned()),
        };
        let info = Info { code, fields: [addr, 0], why: format!("{what}, at pc {pc:#x}") };
        self.task.signals.force(number, info);
        self.answer(ram, context, behind)
    }

    /// What an instruction is that the processor refuses.
    fn illegal(&mut self, ram: &mut PhysMem, pc: u64) -> &'static str {
        /// Begins AVX-512's instructions, but for those of opmasks alone.
        const EVEX: u8 = 0x62;
        let mut first = [0];
        if self.isa == IsaName::X86 && self.space.read(ram, pc, &mut first).is_ok() && first[0] == EVEX {
            return "an AVX-512 instruction: a process under syscall emulation has AVX2 at most";
        }
        "an instruction that this processor does not have"
    }

    /// Looks at the clock between two instructions; `None`: the running process goes on.
    pub(crate) fn preempt(
        &mut self,
        ram: &mut PhysMem,
        now: Now,
        context: &mut dyn UserContext,
    ) -> Option<FaultAnswer> {
        self.clock.tick = now.tick.0;
        self.is_due().then(|| self.answer(ram, context, 0))
    }

    /// What becomes of the running process, `behind` bytes after its pc.
    fn answer(&mut self, ram: &mut PhysMem, context: &mut dyn UserContext, behind: u64) -> FaultAnswer {
        let mut state = Box::new(context.save());
        state.pc = state.pc.wrapping_add(behind);
        match self.resume(ram, state) {
            Ok(state) => {
                context.load(&state);
                self.space.take_stale();
                FaultAnswer::Loaded
            }
            Err(effect) => FaultAnswer::End(effect),
        }
    }

    fn out_of_memory(&self, ram: &PhysMem) -> String {
        let processes = if self.processes.others.is_empty() { "the process uses" } else { "the processes use" };
        format!("{processes} all of its {} bytes of memory; enlarge system.mem_ranges", ram.len())
    }

    fn touch(&mut self, ram: &mut PhysMem, addr: u64, wanted: Prot) -> Result<u64, Refused> {
        if self.isa == IsaName::X86 && addr & !(PAGE - 1) == VSYSCALL && self.space.rights(addr).is_none() {
            self.map_vsyscall(ram)?;
        }
        self.space.touch(ram, addr, wanted)
    }

    /// Linux's vsyscall page, when it is first used: `gettimeofday`, `time` and `getcpu` at fixed addresses.
    fn map_vsyscall(&mut self, ram: &mut PhysMem) -> Result<(), Refused> {
        const CALLS: [u32; 3] = [96, 201, 309];
        const APART: usize = 1024;
        // int3 wherever nothing is.
        let mut page = vec![0xcc; PAGE as usize];
        for (n, number) in CALLS.iter().enumerate() {
            // mov eax, number; syscall; ret
            let code = [&[0xb8], &number.to_le_bytes()[..], &[0x0f, 0x05, 0xc3]].concat();
            page[n * APART..n * APART + code.len()].copy_from_slice(&code);
        }
        self.space.map(ram, VSYSCALL, VSYSCALL + PAGE, Prot::READ.with(Prot::EXEC));
        self.space.put(ram, VSYSCALL, &page)
    }
}
