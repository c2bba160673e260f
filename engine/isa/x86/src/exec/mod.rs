//! Execution: operand access, and dispatch to one file a group. A handler reads everything and makes every access that
//! can fault before it changes a register or a flag, so that nothing has changed when it stops.

mod alu;
mod bits;
mod control;
mod muldiv;
mod shift;
mod stack;
mod string;
mod system;
mod x87;

use breakeven_base::{Bus, Now};
use iced_x86::Mnemonic;

use crate::cpu::{gp, Cpu, Stop, R, UD};
use crate::flags::Flags;
use crate::inst::{mask, Inst, InstFlags, Kind, RIP};

/// The context of an instruction's execution.
pub(crate) struct Exec<'a, B> {
    pub cpu: &'a mut Cpu,
    pub bus: &'a mut B,
    pub now: &'a Now,
    pub i: &'a Inst,
    /// The next instruction's address.
    pub next: u64,
}

impl<B: Bus> Exec<'_, B> {
    #[inline(always)]
    pub fn reg(&self, r: u8) -> u64 {
        self.cpu.c.r[usize::from(r & 31)]
    }

    /// The memory operand's address.
    #[inline(always)]
    pub fn ea(&self) -> u64 {
        let i = self.i;
        let mut a =
            self.reg(i.addr.base).wrapping_add(self.reg(i.addr.index) << (i.addr.scale & 3)).wrapping_add(i.addr.disp);
        if i.has(InstFlags::ADDR32) {
            a &= 0xffff_ffff;
        }
        a.wrapping_add(self.cpu.c.base[usize::from(i.addr.seg & 3)])
    }

    /// Reads a general operand, zero-extended: register, memory or immediate (which comes sign-extended).
    #[inline(always)]
    pub fn read(&mut self, n: usize) -> R<u64> {
        let k = self.i.k[n];
        Ok(match k.kind {
            Kind::R64 => self.reg(k.r),
            Kind::R32 => self.reg(k.r) & 0xffff_ffff,
            Kind::R16 => self.reg(k.r) & 0xffff,
            Kind::R8 => self.reg(k.r) & 0xff,
            Kind::R8H => self.reg(k.r) >> 8 & 0xff,
            Kind::Imm => self.i.imm,
            Kind::Mem => {
                let at = self.ea();
                self.cpu.load(self.bus, self.now, at, self.i.msize)?
            }
            Kind::Seg => u64::from(self.cpu.s.sel[usize::from(k.r) % 6]),
            _ => return Err(Stop::Unknown),
        })
    }

    /// Reads operand `n`, which will be written: memory that may not be written faults as a write.
    #[inline(always)]
    pub fn read_to_write(&mut self, n: usize) -> R<u64> {
        if self.i.k[n].kind == Kind::Mem {
            let at = self.ea();
            return self.cpu.load_to_write(self.bus, self.now, at, self.i.msize);
        }
        self.read(n)
    }

    #[inline(always)]
    pub fn set_reg(&mut self, kind: Kind, r: u8, v: u64) {
        let slot = &mut self.cpu.c.r[usize::from(r & 15)];
        match kind {
            Kind::R64 => *slot = v,
            Kind::R32 => *slot = v & 0xffff_ffff,
            Kind::R16 => *slot = *slot & !0xffff | v & 0xffff,
            Kind::R8 => *slot = *slot & !0xff | v & 0xff,
            Kind::R8H => *slot = *slot & !0xff00 | (v & 0xff) << 8,
            _ => {}
        }
    }

    /// Writes a general operand: register or memory.
    #[inline(always)]
    pub fn write(&mut self, n: usize, v: u64) -> R<()> {
        let k = self.i.k[n];
        if k.kind == Kind::Mem {
            let at = self.ea();
            return self.cpu.store(self.bus, self.now, at, self.i.msize, v);
        }
        self.set_reg(k.kind, k.r, v);
        Ok(())
    }

    #[inline(always)]
    pub fn flags(&mut self) -> &mut Flags {
        &mut self.cpu.c.f
    }

    /// Operands 0 and 1 at the operation's size, the first to be written.
    #[inline(always)]
    pub fn pair(&mut self) -> R<(u64, u64)> {
        let m = mask(self.i.size);
        let a = self.read_to_write(0)?;
        let b = self.read(1)?;
        Ok((a & m, b & m))
    }

    pub fn load(&mut self, at: u64, size: u8) -> R<u64> {
        self.cpu.load(self.bus, self.now, at, size)
    }
    pub fn store(&mut self, at: u64, size: u8, v: u64) -> R<()> {
        self.cpu.store(self.bus, self.now, at, size, v)
    }
}

/// Executes one decoded instruction and returns where execution goes on.
#[inline(always)]
pub(crate) fn exec<B: Bus>(cpu: &mut Cpu, bus: &mut B, now: &Now, i: &Inst) -> R<u64> {
    if i.has(InstFlags::SPECIAL) {
        if let Some(stop) = special(cpu, i) {
            return Err(stop);
        }
    }
    let next = cpu.c.r[usize::from(RIP)].wrapping_add(u64::from(i.len));
    let mut x = Exec { cpu, bus, now, i, next };
    x.run()?;
    Ok(x.next)
}

#[cold]
fn special(cpu: &Cpu, i: &Inst) -> Option<Stop> {
    if i.has(InstFlags::ABSENT) {
        return Some(Stop::SlowPath);
    }
    if i.has(InstFlags::COLD | InstFlags::PSEUDO | InstFlags::UNKNOWN) {
        if cpu.outcome.fast {
            return Some(Stop::SlowPath);
        }
        if cpu.speculative() {
            return Some(Stop::Blocked);
        }
    }
    if i.has(InstFlags::UNDEFINED) {
        return Some(UD);
    }
    i.has(InstFlags::UNKNOWN).then_some(Stop::Unknown)
}

impl<B: Bus> Exec<'_, B> {
    /// Dispatch: the most frequent instructions first, then by group.
    #[inline(always)]
    fn run(&mut self) -> R<()> {
        use Mnemonic::*;
        match self.i.op {
            Mov if !self.i.has(InstFlags::COLD) => self.mov(),
            Add | Sub | And | Or | Xor | Cmp | Test | Adc | Sbb => self.alu(),
            Jo | Jno | Jb | Jae | Je | Jne | Jbe | Ja | Js | Jns | Jp | Jnp | Jl | Jge | Jle | Jg => {
                self.jcc();
                Ok(())
            }
            Lea => {
                // lea ignores segment bases.
                let at = self.ea().wrapping_sub(self.cpu.c.base[usize::from(self.i.addr.seg & 3)]);
                self.write(0, at)
            }
            Inc | Dec => self.inc_dec(),
            _ => self.group(),
        }
    }

    #[inline(always)]
    fn mov(&mut self) -> R<()> {
        let v = self.read(1)?;
        self.write(0, v)
    }

    #[inline(never)]
    fn group(&mut self) -> R<()> {
        use Mnemonic::*;
        if self.i.has(InstFlags::PSEUDO) {
            return self.pseudo_op();
        }
        if self.i.has(InstFlags::STRING) {
            return self.string();
        }
        match self.i.op {
            Neg | Not | Movzx | Movsx | Movsxd | Xchg | Xadd | Cmpxchg | Cmpxchg8b | Cmpxchg16b | Adcx | Adox
            | Movbe | Movnti | Bswap | Cbw | Cwde | Cdqe | Cwd | Cdq | Cqo | Xlatb => self.data(),
            Cmovo | Cmovno | Cmovb | Cmovae | Cmove | Cmovne | Cmovbe | Cmova | Cmovs | Cmovns | Cmovp | Cmovnp
            | Cmovl | Cmovge | Cmovle | Cmovg => {
                let v = self.read(1)?;
                let old = self.read(0)?;
                let v = if self.cpu.c.f.test(self.i.cc) { v } else { old };
                self.write(0, v)
            }
            Seto | Setno | Setb | Setae | Sete | Setne | Setbe | Seta | Sets | Setns | Setp | Setnp | Setl | Setge
            | Setle | Setg => {
                let v = u64::from(self.cpu.c.f.test(self.i.cc));
                self.write(0, v)
            }
            Shl | Sal | Shr | Sar | Rol | Ror | Rcl | Rcr | Shld | Shrd | Rorx | Sarx | Shlx | Shrx => self.shift(),
            Mul | Imul | Div | Idiv | Mulx => self.muldiv(),
            Bt | Bts | Btr | Btc | Bsf | Bsr | Tzcnt | Lzcnt | Popcnt | Andn | Bextr | Blsi | Blsmsk | Blsr | Bzhi
            | Pdep | Pext | Crc32 => self.bits(),
            Push | Pop | Pushfq | Popfq | Pushf | Popf | Leave | Enter => self.stack(),
            Jmp | Call | Ret | Jrcxz | Jecxz | Loop | Loope | Loopne => self.control(),
            Clc | Stc | Cmc | Cld | Std | Lahf | Sahf | Nop | Reservednop | Pause | Endbr64 | Endbr32 | Rdsspd
            | Rdsspq => self.flag_op(),
            Prefetchnta | Prefetcht0 | Prefetcht1 | Prefetcht2 | Prefetch | Prefetchw | Prefetchwt1 | Clflush
            | Clflushopt | Clwb | Lfence | Mfence | Sfence | Cpuid | Xgetbv | Ud2 | Ud0 | Ud1 => self.cache_and_fence(),
            _ if self.i.has(InstFlags::COLD) => self.system(),
            _ if self.i.has(InstFlags::X87) => self.x87_op(),
            _ => self.simd(),
        }
    }

    /// #GP unless ring 0.
    pub fn privileged(&self) -> R<()> {
        if self.cpu.cpl == 0 {
            Ok(())
        } else {
            Err(gp(0))
        }
    }
}
