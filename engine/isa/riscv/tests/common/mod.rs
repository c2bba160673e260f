//! A machine just big enough to test a hart: RAM, an HTIF word, one device register, interrupt lines, pseudo-ops noted.
#![allow(dead_code)]

use breakeven_base::bus::ExitCause;
use breakeven_base::{
    Bus, BusError, Cycle, FrontEnd, Now, PhysMem, PseudoOutcome, Reg, Step, StepResult, SysEffect, Tick,
};
use breakeven_riscv::{RiscvConfig, RiscvFrontEnd};

pub const RAM: u64 = 0x8000_0000;
pub const DEVICE: u64 = 0x1000_0000;

pub struct TestBus {
    pub ram: PhysMem,
    pub lines: u64,
    pub deadline: Tick,
    pub device: u64,
    pub pseudo: Vec<(u8, [u64; 6])>,
    pub pseudo_result: PseudoOutcome,
    pub device_log: Vec<(u64, u16, u64)>,
    pub uncacheable: std::ops::Range<u64>,
    /// What HTIF's console got.
    pub console: Vec<u8>,
    /// When the cycle counter was read.
    pub cycle_reads: Vec<u64>,
}

impl TestBus {
    pub fn new(bytes: u64) -> Self {
        TestBus {
            ram: PhysMem::new(RAM, bytes).expect("RAM maps"),
            lines: 0,
            deadline: Tick::MAX,
            device: 0,
            pseudo: Vec::new(),
            pseudo_result: PseudoOutcome::Done { ret: Some(0), effect: SysEffect::None },
            device_log: Vec::new(),
            uncacheable: 0..0,
            console: Vec::new(),
            cycle_reads: Vec::new(),
        }
    }
    pub fn words(&mut self, at: u64, words: &[u32]) {
        for (i, &w) in words.iter().enumerate() {
            self.ram.write::<u32>(at + 4 * i as u64, w).expect("program fits");
        }
    }
    pub fn u64(&self, at: u64) -> u64 {
        self.ram.read::<u64>(at).expect("in RAM")
    }
    pub fn put(&mut self, at: u64, v: u64) {
        self.ram.write::<u64>(at, v).expect("in RAM");
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
        if paddr == DEVICE {
            Ok(self.device)
        } else {
            Err(BusError { paddr, size })
        }
    }
    fn device_write(&mut self, paddr: u64, size: u16, value: u64, _now: Tick) -> Result<SysEffect, BusError> {
        self.device_log.push((paddr, size, value));
        if self.ram.contains(paddr, 1) && value >> 48 == 0x0101 {
            self.console.push(value as u8);
            return Ok(SysEffect::None);
        }
        if self.ram.contains(paddr, 1) {
            return Ok(SysEffect::Exit { cause: ExitCause::HtifExit, code: (value >> 1) as i64 });
        }
        self.device = value;
        Ok(SysEffect::None)
    }
    fn is_device(&self, paddr: u64) -> bool {
        (DEVICE..DEVICE + 0x1000).contains(&paddr)
    }
    fn is_uncacheable(&self, paddr: u64) -> bool {
        self.is_device(paddr) || self.uncacheable.contains(&paddr)
    }
    fn irq_deadline(&self) -> Tick {
        self.deadline
    }
    fn irq_lines(&self, _now: Tick) -> u64 {
        self.lines
    }
    fn timer(&self, now: Tick) -> u64 {
        now.0 / 1000
    }
    fn cycle_read(&mut self, cycle: u64) {
        self.cycle_reads.push(cycle);
    }
    fn pseudo_op(
        &mut self,
        func: u8,
        args: [u64; 6],
        _now: Now,
        _translate: &mut dyn FnMut(&mut PhysMem, u64, bool) -> Option<u64>,
    ) -> PseudoOutcome {
        self.pseudo.push((func, args));
        if func == 0x21 {
            return PseudoOutcome::Done { ret: None, effect: SysEffect::Exit { cause: ExitCause::M5Exit, code: 0 } };
        }
        self.pseudo_result
    }
}

pub fn now(drained: bool) -> Now {
    Now { tick: Tick(5_000_000), cycle: Cycle(777), drained }
}

pub struct Machine {
    pub fe: RiscvFrontEnd,
    pub bus: TestBus,
    pub step: Step,
}

impl Machine {
    pub fn with(config: &RiscvConfig, program: &[u32]) -> Self {
        let mut bus = TestBus::new(1 << 20);
        bus.words(RAM, program);
        Machine { fe: RiscvFrontEnd::new(config).expect("a sound configuration"), bus, step: Step::default() }
    }
    pub fn new(program: &[u32]) -> Self {
        Self::with(&RiscvConfig::default(), program)
    }
    /// Puts code into RAM behind the hart's back.
    pub fn code(&mut self, at: u64, words: &[u32]) {
        self.bus.words(at, words);
        self.fe.invalidate_code();
    }
    pub fn x(&self, n: u8) -> u64 {
        self.fe.reg(Reg(n))
    }
    pub fn set_x(&mut self, n: u8, v: u64) {
        self.fe.set_reg(Reg(n), v);
    }
    pub fn f(&self, n: u8) -> u64 {
        self.fe.reg(Reg(32 + n))
    }
    pub fn set_f(&mut self, n: u8, v: u64) {
        self.fe.set_reg(Reg(32 + n), v);
    }
    pub fn csr(&mut self, n: u16) -> u64 {
        self.fe.csr(&self.bus, now(true), n).expect("the CSR is there")
    }
    pub fn set_csr(&mut self, n: u16, v: u64) {
        assert!(self.fe.set_csr(&self.bus, now(true), n, v), "CSR {n:#x} is writable");
    }
    /// One step, drained.
    pub fn go(&mut self) -> StepResult {
        self.fe.step(&mut self.bus, now(true), &mut self.step)
    }
    pub fn steps(&mut self, n: usize) {
        for _ in 0..n {
            assert_eq!(self.go(), StepResult::Done, "at {:#x}", self.fe.pc());
        }
    }
}

/// A tiny assembler: enough for the tests, written from the specification's instruction formats.
pub mod asm {
    pub fn r(op: u32, f3: u32, f7: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
        f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op
    }
    pub fn i(op: u32, f3: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
        (imm as u32) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op
    }
    pub fn s(op: u32, f3: u32, rs1: u32, rs2: u32, imm: i32) -> u32 {
        let u = imm as u32;
        (u >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (u & 31) << 7 | op
    }
    pub fn b(f3: u32, rs1: u32, rs2: u32, imm: i32) -> u32 {
        let u = imm as u32;
        (u >> 12 & 1) << 31
            | (u >> 5 & 63) << 25
            | rs2 << 20
            | rs1 << 15
            | f3 << 12
            | (u >> 1 & 15) << 8
            | (u >> 11 & 1) << 7
            | 0x63
    }
    pub fn jal(rd: u32, imm: i32) -> u32 {
        let u = imm as u32;
        (u >> 20 & 1) << 31 | (u >> 1 & 1023) << 21 | (u >> 11 & 1) << 20 | (u >> 12 & 255) << 12 | rd << 7 | 0x6f
    }
    pub fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
        i(0x13, 0, rd, rs1, imm)
    }
    pub fn ld(rd: u32, rs1: u32, imm: i32) -> u32 {
        i(0x03, 3, rd, rs1, imm)
    }
    pub fn sd(rs2: u32, rs1: u32, imm: i32) -> u32 {
        s(0x23, 3, rs1, rs2, imm)
    }
    pub fn csrrw(rd: u32, csr: u32, rs1: u32) -> u32 {
        csr << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x73
    }
    pub fn csrrs(rd: u32, csr: u32, rs1: u32) -> u32 {
        csr << 20 | rs1 << 15 | 2 << 12 | rd << 7 | 0x73
    }
    pub fn m5(func: u32) -> u32 {
        func << 25 | 0x7b
    }
    pub const NOP: u32 = 0x13;
    pub const ECALL: u32 = 0x73;
    pub const EBREAK: u32 = 0x0010_0073;
    pub const MRET: u32 = 0x3020_0073;
    pub const SRET: u32 = 0x1020_0073;
    pub const WFI: u32 = 0x1050_0073;
    pub const FENCE_I: u32 = 0x0000_100f;
    pub const SFENCE: u32 = 0x1200_0073;
}
