//! Runs one instruction in the engine, under page tables that map the test's data and code pages and nothing else.

use breakeven_base::bus::ExitCause;
use breakeven_base::{Cycle, FrontEnd, Now, Step, StepResult, SysEffect, Tick, UopFlags};
use breakeven_x86::{X86Config, X86FrontEnd, BOOT_TABLES};

use super::state::{Outcome, State, CODE, CODE_LEN, DATA, DATA_LEN};
use crate::common::TestBus;

const DATA_AT: u64 = 0x1_0000;
const CODE_AT: u64 = 0x2_0000;

pub struct Engine {
    fe: X86FrontEnd,
    bus: TestBus,
    step: Step,
    /// An access of the last instruction stepped lay in the code's pages, where the host has its runner's bytes, too.
    pub in_code: bool,
}

impl Engine {
    pub fn new() -> Engine {
        let mut bus = TestBus::new(1 << 20);
        X86FrontEnd::boot(&mut bus);
        let mut fe = X86FrontEnd::new(&X86Config::default()).expect("default configuration");
        fe.enable_avx();
        let mut put = |at: u64, v: u64| bus.ram.write::<u64>(at, v).expect("in RAM");
        // Root, directory pointers, one directory and one table for each region.
        let tables = BOOT_TABLES + 0x1000;
        for k in 0..512 {
            put(tables + 8 * k, 0);
        }
        for (n, (vaddr, paddr, len)) in
            (0u64..).zip([(DATA, DATA_AT, DATA_LEN as u64), (CODE, CODE_AT, CODE_LEN as u64)])
        {
            let (directory, table) = (0x4_0000 + 0x2000 * n, 0x4_1000 + 0x2000 * n);
            put(tables + 8 * (vaddr >> 30), directory | 7);
            put(directory + 8 * (vaddr >> 21 & 511), table | 7);
            for p in 0..len / 4096 {
                put(table + 8 * ((vaddr >> 12 & 511) + p), (paddr + 4096 * p) | 7);
            }
        }
        Engine { fe, bus, step: Step::default(), in_code: false }
    }

    pub fn run(&mut self, s: &State, at: u64, code: &[u8], memory: &mut [u8], fast: bool) -> Outcome {
        let ram = &mut self.bus.ram;
        ram.slice_mut(DATA_AT, DATA_LEN as u64).expect("in RAM").copy_from_slice(memory);
        let to = ram.slice_mut(CODE_AT + (at - CODE), code.len() as u64).expect("in RAM");
        to.copy_from_slice(code);
        let fe = &mut self.fe;
        fe.invalidate_code();
        for (n, v) in s.gpr.iter().enumerate() {
            fe.set_gpr(n, *v);
        }
        for (n, v) in s.ymm.iter().enumerate() {
            fe.set_ymm(n, *v);
        }
        for (n, v) in s.mm.iter().enumerate() {
            fe.set_mm(n, *v);
        }
        fe.set_rflags(s.flags);
        fe.set_mxcsr(s.mxcsr);
        fe.set_pc(at);
        self.in_code = false;
        let (fault, address) = self.execute(fast);
        let fe = &self.fe;
        let mut r = State::default();
        for (n, v) in r.gpr.iter_mut().enumerate() {
            *v = fe.gpr(n);
        }
        for (n, v) in r.ymm.iter_mut().enumerate() {
            *v = fe.ymm(n);
        }
        for (n, v) in r.mm.iter_mut().enumerate() {
            *v = fe.mm(n);
        }
        r.flags = fe.rflags();
        r.mxcsr = fe.mxcsr();
        memory.copy_from_slice(self.bus.ram.slice(DATA_AT, DATA_LEN as u64).expect("in RAM"));
        let next = if fault == 0 { fe.pc() } else { 0 };
        Outcome { state: r, fault, next, address }
    }

    /// The fault's kind and address.
    fn execute(&mut self, fast: bool) -> (u8, u64) {
        let now = Now { tick: Tick(0), cycle: Cycle::ZERO, drained: true };
        for _ in 0..100_000 {
            if fast && self.fe.run_fast(&mut self.bus, now, 1) == 1 {
                return (0, 0);
            }
            let result = self.fe.step(&mut self.bus, now, &mut self.step);
            assert_eq!(result, StepResult::Done, "at {:#x}", self.fe.pc());
            let s = &self.step;
            let accesses = s.uops.iter().zip(&s.mem).take(s.n.into()).filter(|(u, _)| u.flags.any(UopFlags::MEM));
            self.in_code |= accesses.into_iter().any(|(_, m)| (CODE..CODE + CODE_LEN as u64).contains(&m.vaddr));
            match self.step.effect {
                SysEffect::Exit { cause: ExitCause::TripleFault, .. } => {
                    let (vector, _, addr) = self.fe.last_fault().expect("there was one");
                    let kind = match vector {
                        0 | 19 => 1,
                        6 => 2,
                        3 | 1 => 4,
                        _ => 3,
                    };
                    return (kind, if vector == 14 { addr } else { 0 });
                }
                SysEffect::Exit { .. } => return (9, 0),
                _ => {}
            }
            let n = usize::from(self.step.n);
            assert!((1..=8).contains(&n), "{n} micro-ops");
            if self.step.uops[n - 1].flags.any(breakeven_base::UopFlags::LAST) {
                return (0, 0);
            }
        }
        (10, 0)
    }

    pub fn halt_reason(&mut self) -> String {
        self.fe.halt_reason(&mut self.bus).unwrap_or_default()
    }
}
