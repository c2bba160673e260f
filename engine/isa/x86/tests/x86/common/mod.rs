//! A machine just big enough to test a hart: RAM, one port, pseudo-ops noted; programs come from iced's assembler.
#![allow(dead_code)]

use breakeven_base::bus::ExitCause;
use breakeven_base::{Bus, BusError, Cycle, FrontEnd, Now, PhysMem, PseudoOutcome, Step, StepResult, SysEffect, Tick};
use breakeven_x86::{X86Config, X86FrontEnd};
use iced_x86::code_asm::CodeAssembler;

pub const CODE: u64 = 0x20_0000;
pub const STACK: u64 = 0x30_0000;
/// gem5's COM1 in the physical address space.
pub const PORT: u64 = (1 << 63) + 0x3f8;

pub struct TestBus {
    pub ram: PhysMem,
    pub pseudo: Vec<(u8, [u64; 6])>,
    pub printed: Vec<u8>,
    /// Long work that has been told.
    pub worked: u32,
}

impl TestBus {
    pub fn new(bytes: u64) -> TestBus {
        TestBus { ram: PhysMem::new(0, bytes).expect("maps"), pseudo: Vec::new(), printed: Vec::new(), worked: 0 }
    }
}

impl Bus for TestBus {
    fn ram(&self) -> &PhysMem {
        &self.ram
    }
    fn ram_mut(&mut self) -> &mut PhysMem {
        &mut self.ram
    }
    fn device_read(&mut self, paddr: u64, size: u16, _now: Tick) -> Result<u64, BusError> {
        if paddr == PORT + 5 {
            Ok(0x60)
        } else {
            Err(BusError { paddr, size })
        }
    }
    fn device_write(&mut self, paddr: u64, size: u16, value: u64, _now: Tick) -> Result<SysEffect, BusError> {
        if paddr != PORT {
            return Err(BusError { paddr, size });
        }
        self.printed.push(value as u8);
        Ok(SysEffect::None)
    }
    fn is_device(&self, _paddr: u64) -> bool {
        false
    }
    fn is_uncacheable(&self, _paddr: u64) -> bool {
        false
    }
    /// An impatient observer.
    fn worked_long(&mut self) {
        self.worked += 1;
    }
    fn slice_is_over(&self) -> bool {
        self.worked > 0
    }
    fn irq_deadline(&self) -> Tick {
        Tick::MAX
    }
    fn irq_lines(&self, _now: Tick) -> u64 {
        0
    }
    fn timer(&self, _now: Tick) -> u64 {
        0
    }
    fn pseudo_op(
        &mut self,
        func: u8,
        args: [u64; 6],
        now: Now,
        _translate: &mut dyn FnMut(&mut PhysMem, u64, bool) -> Option<u64>,
    ) -> PseudoOutcome {
        if !now.drained {
            return PseudoOutcome::NeedsDrain;
        }
        self.pseudo.push((func, args));
        match func {
            0x40 => PseudoOutcome::Done { ret: None, effect: SysEffect::ResetStats },
            0x21 => PseudoOutcome::Done { ret: None, effect: SysEffect::Exit { cause: ExitCause::M5Exit, code: 0 } },
            _ => PseudoOutcome::Done { ret: Some(77), effect: SysEffect::None },
        }
    }
}

pub fn now(drained: bool) -> Now {
    Now { tick: Tick(5_000_000), cycle: Cycle(777), drained }
}

pub struct Machine {
    pub fe: X86FrontEnd,
    pub bus: TestBus,
    pub step: Step,
}

/// Assembles a program at `at`.
pub fn assemble(at: u64, f: impl FnOnce(&mut CodeAssembler) -> Result<(), iced_x86::IcedError>) -> Vec<u8> {
    let mut a = CodeAssembler::new(64).expect("64-bit assembler");
    f(&mut a).expect("instructions are made");
    a.assemble(at).expect("assembles")
}

impl Machine {
    pub fn with(config: &X86Config) -> Machine {
        let mut bus = TestBus::new(16 << 20);
        X86FrontEnd::boot(&mut bus);
        let mut fe = X86FrontEnd::new(config).expect("a good configuration");
        fe.set_gpr(4, STACK);
        Machine { fe, bus, step: Step::default() }
    }
    pub fn new(f: impl FnOnce(&mut CodeAssembler) -> Result<(), iced_x86::IcedError>) -> Machine {
        let mut m = Machine::with(&X86Config::default());
        m.code(CODE, &assemble(CODE, f));
        m
    }
    pub fn code(&mut self, at: u64, bytes: &[u8]) {
        self.bus.ram.slice_mut(at, bytes.len() as u64).expect("in RAM").copy_from_slice(bytes);
    }
    pub fn put(&mut self, at: u64, v: u64) {
        self.bus.ram.write::<u64>(at, v).expect("in RAM");
    }
    pub fn u64(&self, at: u64) -> u64 {
        self.bus.ram.read::<u64>(at).expect("in RAM")
    }
    /// One step, which must complete.
    pub fn step(&mut self) -> &Step {
        let r = self.fe.step(&mut self.bus, now(true), &mut self.step);
        assert_eq!(r, StepResult::Done, "at {:#x}", self.fe.pc());
        &self.step
    }
    /// Steps until the machine ends.
    pub fn run(&mut self) -> ExitCause {
        for _ in 0..100_000 {
            self.step();
            if let SysEffect::Exit { cause, .. } = self.step.effect {
                return cause;
            }
        }
        panic!("does not end; at {:#x}", self.fe.pc());
    }
    pub fn halt_reason(&mut self) -> String {
        self.fe.halt_reason(&mut self.bus).unwrap_or_default()
    }

    /// An IDT at 0x5000 with one gate to `handler`, and a TSS whose ring-0 stack is `STACK`.
    pub fn handler(&mut self, vector: u64, handler: u64, dpl: u64) {
        let at = 0x5000 + 16 * vector;
        let low = handler & 0xffff | 8 << 16 | 0x8e << 40 | dpl << 45 | (handler >> 16 & 0xffff) << 48;
        self.put(at, low);
        self.put(at + 8, handler >> 32);
        // lidt's operand, a GDT with user segments and the task state.
        self.put(0x4000, 0x5000 << 16 | 0xfff);
        self.put(0x4008, 0x5000 >> 48);
        self.put(0x6000, 0);
        self.put(0x6008, 0x00af_9b00_0000_ffff);
        self.put(0x6010, 0x00cf_9300_0000_ffff);
        self.put(0x6018, 0x00cf_f300_0000_ffff);
        self.put(0x6020, 0x00af_fb00_0000_ffff);
        self.put(0x6028, 0x0000_8900_0000_0067 | 0x7000 << 16);
        self.put(0x6030, 0);
        self.put(0x4010, 0x6000 << 16 | 0x37);
        self.put(0x4018, 0);
        self.put(0x7004, STACK);
    }
}

/// `lidt`, `lgdt`, `ltr` for [`Machine::handler`]'s tables.
pub fn load_tables(a: &mut CodeAssembler) -> Result<(), iced_x86::IcedError> {
    #[allow(clippy::wildcard_imports)] // an assembler names dozens of registers
    use iced_x86::code_asm::*;
    a.lidt(ptr(0x4000u64))?;
    a.lgdt(ptr(0x4010u64))?;
    a.mov(eax, 0x28)?;
    a.ltr(ax)
}

/// gem5's exit.
pub fn exit(a: &mut CodeAssembler) -> Result<(), iced_x86::IcedError> {
    a.db(&[0x0f, 0x04, 0x21, 0x00])
}
