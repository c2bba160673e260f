//! Modes, traps, delegation, interrupts, CSRs, counters, PMP and Sv39 as seen by programs.

use crate::common::asm::{addi, csrrs, csrrw, i, ld, m5, r, sd, EBREAK, ECALL, MRET, NOP, SFENCE, SRET, WFI};
use crate::common::{now, Machine, RAM};
use breakeven_base::bus::ExitCause;
use breakeven_base::{FrontEnd, PhysAddr, PseudoOutcome, StepResult, SysEffect, UopFlags};
use breakeven_riscv::{Mode, RiscvConfig, RiscvFrontEnd};

const HANDLER: u64 = RAM + 0x100;
const S_HANDLER: u64 = RAM + 0x200;
const DATA: u64 = RAM + 0x8000;
const TABLES: u64 = RAM + 0x1_0000;

/// Everything is allowed by PMP entry 0, the vectors are set, and the hart is in `mode` at `RAM`.
fn in_mode(mode: Mode, program: &[u32]) -> Machine {
    let mut m = Machine::new(program);
    m.set_csr(0x3b0, u64::MAX >> 10);
    m.set_csr(0x3a0, 0x1f);
    m.set_csr(0x305, HANDLER);
    m.set_csr(0x105, S_HANDLER);
    m.set_csr(0x300, 3 << 13);
    if mode != Mode::M {
        m.code(RAM + 0x40, &[MRET]);
        m.set_csr(0x341, RAM);
        m.set_csr(0x300, (mode as u64) << 11 | 3 << 13);
        m.fe.set_pc(RAM + 0x40);
        m.steps(1);
        assert_eq!((m.fe.mode(), m.fe.pc()), (mode, RAM));
    }
    m
}

/// Maps the 4 KiB page of `va` to `pa` with these bits (V is added).
fn map(m: &mut Machine, va: u64, pa: u64, bits: u64) {
    let (mid, low) = (TABLES + 0x1000, TABLES + 0x2000);
    m.bus.put(TABLES + (va >> 30 & 511) * 8, mid >> 12 << 10 | 1);
    m.bus.put(mid + (va >> 21 & 511) * 8, low >> 12 << 10 | 1);
    m.bus.put(low + (va >> 12 & 511) * 8, pa >> 12 << 10 | bits | 1);
    m.set_csr(0x180, 8 << 60 | 0x12 << 44 | TABLES >> 12);
}

fn pte_of(m: &Machine, va: u64) -> u64 {
    m.bus.u64(TABLES + 0x2000 + (va >> 12 & 511) * 8)
}

const R: u64 = 2;
const W: u64 = 4;
const X: u64 = 8;
const U: u64 = 16;
const A: u64 = 64;
const D: u64 = 128;

#[test]
fn exceptions_enter_machine_mode() {
    for (word, cause, tval) in [(ECALL, 11, 0), (EBREAK, 3, RAM), (0xffff_ffff, 2, 0xffff_ffff), (0, 2, 0)] {
        let mut m = in_mode(Mode::M, &[word]);
        m.set_csr(0x300, 8);
        m.steps(1);
        assert_eq!((m.csr(0x342), m.csr(0x343), m.csr(0x341)), (cause, tval, RAM));
        assert_eq!(m.fe.pc(), HANDLER);
        assert_eq!(m.csr(0x300) & 0x1888, 0x1880, "MIE moved to MPIE, MPP is M");
        assert!(m.step.uops[0].flags.any(UopFlags::TRAP) && m.step.next_pc == HANDLER);
        assert_eq!(m.fe.retired(), 0, "a trapping instruction does not retire");
    }
}

#[test]
fn delegation_and_sret() {
    let mut m = in_mode(Mode::U, &[ECALL, NOP]);
    m.set_csr(0x302, 1 << 8);
    m.code(S_HANDLER, &[SRET]);
    m.steps(1);
    assert_eq!((m.fe.mode(), m.fe.pc(), m.csr(0x142), m.csr(0x141)), (Mode::S, S_HANDLER, 8, RAM));
    assert_eq!(m.csr(0x100) & 0x100, 0, "SPP is U");
    m.set_csr(0x141, RAM + 4);
    m.steps(2);
    assert_eq!((m.fe.mode(), m.fe.pc()), (Mode::U, RAM + 8));
    // Not delegated: the same call goes to M.
    let mut m = in_mode(Mode::S, &[ECALL]);
    m.set_csr(0x302, 1 << 8);
    m.steps(1);
    assert_eq!((m.fe.mode(), m.csr(0x342)), (Mode::M, 9));
}

#[test]
fn privileged_instructions_are_refused_below() {
    let cases: &[(Mode, u32, u64)] = &[
        (Mode::U, MRET, 0),
        (Mode::S, MRET, 0),
        (Mode::U, SRET, 0),
        (Mode::S, SRET, 1 << 22),
        (Mode::U, WFI, 0),
        (Mode::S, WFI, 1 << 21),
        (Mode::U, SFENCE, 0),
        (Mode::S, SFENCE, 1 << 20),
        (Mode::S, csrrs(10, 0x180, 0), 1 << 20),
        (Mode::U, csrrs(10, 0x100, 0), 0),
        (Mode::S, csrrs(10, 0x300, 0), 0),
        (Mode::M, csrrw(0, 0xf14, 10), 0),
        (Mode::M, csrrs(10, 0x7c0, 0), 0),
        (Mode::S, csrrs(10, 0xc00, 0), 0),
        (Mode::S, 0x0015_a00f, 0), // cbo.clean: menvcfg.CBCFE is off
    ];
    for &(mode, word, status) in cases {
        let mut m = in_mode(mode, &[word]);
        let old = m.csr(0x300);
        m.set_csr(0x300, old | status);
        m.set_x(11, DATA);
        m.steps(1);
        assert_eq!((m.csr(0x342), m.csr(0x343)), (2, u64::from(word)), "{mode:?} {word:#x}");
    }
}

#[test]
fn interrupts_vector_and_prioritise() {
    let mut m = in_mode(Mode::M, &[NOP, NOP]);
    m.set_csr(0x305, HANDLER | 1);
    m.set_csr(0x304, 0x88);
    m.bus.lines = 0x88;
    m.steps(1);
    assert_eq!(m.fe.pc(), RAM + 4, "MIE is off");
    m.set_csr(0x300, 8);
    m.bus.lines = 0x80;
    m.bus.deadline = breakeven_base::Tick(0);
    assert_eq!(m.fe.run_fast(&mut m.bus, now(false), 10), 0, "step takes the interrupt");
    m.bus.lines = 0x88;
    m.steps(1);
    assert_eq!((m.csr(0x342), m.fe.pc()), (1 << 63 | 3, HANDLER + 12));
    assert_eq!((m.csr(0x341), m.step.len), (RAM + 4, 0));
    // Delegated software interrupt, raised by software, taken in S.
    let mut m = in_mode(Mode::S, &[NOP, NOP]);
    m.set_csr(0x303, 2);
    m.set_csr(0x304, 2);
    m.set_csr(0x344, 2);
    m.steps(1);
    assert_eq!(m.fe.pc(), RAM + 4, "SIE is off");
    let old = m.csr(0x300);
    m.set_csr(0x300, old | 2);
    m.steps(1);
    assert_eq!((m.fe.mode(), m.csr(0x142), m.fe.pc()), (Mode::S, 1 << 63 | 1, S_HANDLER));
}

#[test]
fn wfi_halts_only_when_nothing_can_come() {
    let mut m = in_mode(Mode::M, &[WFI, WFI]);
    m.steps(1);
    assert_eq!(m.step.effect, SysEffect::Exit { cause: ExitCause::HaltedForever, code: 0 });
    m.set_csr(0x304, 0x80);
    m.bus.deadline = breakeven_base::Tick(1 << 40);
    assert_eq!(m.fe.step(&mut m.bus, now(false), &mut m.step), StepResult::NeedsDrain);
    m.steps(1);
    assert_eq!((m.step.effect, m.fe.pc()), (SysEffect::None, RAM + 8));
}

#[test]
fn counters() {
    let mut m = in_mode(
        Mode::M,
        &[NOP, csrrs(10, 0xc02, 0), csrrw(0, 0xb02, 11), csrrs(12, 0xb02, 0), csrrs(13, 0xc00, 0), csrrs(14, 0xc01, 0)],
    );
    m.set_x(11, 1000);
    m.steps(4);
    assert_eq!((m.x(10), m.x(12)), (1, 1000));
    assert_eq!(m.fe.step(&mut m.bus, now(false), &mut m.step), StepResult::NeedsDrain);
    m.steps(2);
    assert_eq!((m.x(13), m.x(14)), (777, 5000));
    m.set_csr(0xb00, 5);
    assert_eq!(m.csr(0xb00), 5);
    m.set_csr(0x320, 5);
    m.fe.set_pc(RAM);
    m.steps(1);
    let frozen = m.csr(0xb02);
    m.fe.set_pc(RAM);
    m.steps(1);
    assert_eq!(m.csr(0xb02), frozen);
    // Access from below: mcounteren, then scounteren.
    let mut m = in_mode(Mode::U, &[csrrs(10, 0xc02, 0)]);
    m.set_csr(0x306, 4);
    m.steps(1);
    assert_eq!(m.csr(0x342), 2);
    let mut m = in_mode(Mode::U, &[csrrs(10, 0xc02, 0)]);
    m.set_csr(0x306, 4);
    m.set_csr(0x106, 4);
    m.steps(1);
    assert_eq!(m.fe.pc(), RAM + 4);
}

#[test]
fn warl_fields() {
    let mut m = in_mode(Mode::M, &[]);
    let checks: &[(u16, u64, u64)] = &[
        (0x300, u64::MAX, 0x8000_000a_007e_79aa),
        (0x003, u64::MAX, 0xff),
        (0x100, 0, 0x2_0000_0000),
        (0x304, u64::MAX, 0xaaa),
        (0x303, u64::MAX, 0x222),
        (0x302, u64::MAX, 0xb3ff),
        (0x305, RAM | 2, HANDLER),
        (0x341, RAM | 1, RAM),
        (0x180, 9 << 60, 0),
        (0x30a, u64::MAX, 0xf1),
        (0xb05, 99, 0),
        (0x301, 0, 0x8000_0000_0014_112d),
    ];
    for &(csr, write, read) in checks {
        m.set_csr(csr, write);
        assert_eq!(m.csr(csr), read, "CSR {csr:#x}");
    }
    // MPP = 2 is reserved: the field stays.
    m.set_csr(0x300, 1 << 11);
    m.set_csr(0x300, 2 << 11);
    assert_eq!(m.csr(0x300) >> 11 & 3, 1);
    // Float CSRs share their bits and need FS.
    m.set_csr(0x300, 1 << 13);
    m.set_csr(0x003, 0);
    m.set_csr(0x002, 3);
    m.set_csr(0x001, 0x11);
    assert_eq!((m.csr(0x003), m.csr(0x300) >> 63), (0x71, 1));
    m.set_csr(0x300, 0);
    assert_eq!(m.fe.csr(&m.bus, now(true), 0x003), None);
}

#[test]
fn sv39_translates_and_sets_accessed_and_dirty() {
    let va = 0x4000_1000;
    let mut m = in_mode(Mode::S, &[]);
    map(&mut m, va, RAM, R | X);
    map(&mut m, va + 0x1000, DATA, R | W);
    m.code(RAM, &[ld(10, 11, 8), sd(12, 11, 16)]);
    m.bus.put(DATA + 8, 42);
    m.set_x(11, va + 0x1000);
    m.set_x(12, 43);
    m.fe.set_pc(va);
    m.steps(1);
    assert_eq!((m.x(10), m.step.mem[0].paddr.0, m.step.mem[0].page_shift), (42, DATA + 8, 12));
    assert_eq!((pte_of(&m, va) & (A | D), pte_of(&m, va + 0x1000) & (A | D)), (A, A));
    m.steps(1);
    assert_eq!((m.bus.u64(DATA + 16), pte_of(&m, va + 0x1000) & (A | D)), (43, A | D));
    assert_eq!(m.fe.asid(), 0x12);
    let path = m.fe.walk_path(&m.bus, va + 0x1000);
    assert_eq!(path.ptes[..3], [TABLES + 8, TABLES + 0x1000, TABLES + 0x2000 + 16].map(PhysAddr));
    let x = m.fe.fetch_translate(&mut m.bus, va + 4).expect("mapped");
    assert_eq!((x.paddr.0, x.page_shift), (RAM + 4, 12));
    assert!(m.fe.fetch_translate(&mut m.bus, va + 0x1000).is_none(), "not executable");
}

#[test]
fn sv39_faults() {
    let va = 0x4000_1000;
    // bits of the page, load?, SUM|MXR, cause (0: none)
    let cases: &[(u64, bool, u64, u64)] = &[
        (R, true, 0, 0),
        (R, false, 0, 15),
        (W, true, 0, 13),
        (X, true, 0, 13),
        (X, true, 1 << 19, 0),
        (R | U, true, 0, 13),
        (R | U, true, 1 << 18, 0),
        (0, true, 0, 13),
        (R | 1 << 60, true, 0, 13),
    ];
    for &(bits, load, status, cause) in cases {
        let mut m = in_mode(Mode::S, &[if load { ld(10, 11, 0) } else { sd(10, 11, 0) }]);
        map(&mut m, 0x8000_0000, RAM, R | X | A);
        map(&mut m, va, DATA, bits);
        m.bus.put(TABLES + 16, (TABLES + 0x1000) >> 12 << 10 | 1);
        let old = m.csr(0x300);
        m.set_csr(0x300, old | status);
        m.set_x(11, va);
        m.steps(1);
        if cause == 0 {
            assert_eq!(m.fe.pc(), RAM + 4, "{bits:#x} {status:#x}");
        } else {
            assert_eq!((m.csr(0x342), m.csr(0x343)), (cause, va), "{bits:#x} {status:#x}");
        }
    }
    // Not canonical; and a fetch from there.
    let mut m = in_mode(Mode::S, &[ld(10, 11, 0)]);
    map(&mut m, 0x8000_0000, RAM, R | X | A);
    m.set_x(11, 1 << 39);
    m.steps(1);
    assert_eq!((m.csr(0x342), m.csr(0x343)), (13, 1 << 39));
    let mut m = in_mode(Mode::S, &[]);
    map(&mut m, 0x8000_0000, RAM, R | X | A);
    m.fe.set_pc(va);
    m.steps(1);
    assert_eq!((m.csr(0x342), m.csr(0x341), m.step.len), (12, va, 0));
}

#[test]
fn superpages_and_their_alignment() {
    let (va, mid) = (0x4000_0000, TABLES + 0x1000);
    for (pte, cause) in [(RAM >> 12 << 10 | 0xcf, 0), ((RAM + 0x1000) >> 12 << 10 | 0xcf, 13)] {
        let mut m = in_mode(Mode::M, &[ld(10, 11, 0)]);
        m.bus.put(TABLES + 8, mid >> 12 << 10 | 1);
        m.bus.put(mid, pte);
        m.set_csr(0x180, 8 << 60 | TABLES >> 12);
        m.bus.put(DATA, 77);
        m.set_csr(0x300, 1 << 17 | 1 << 11); // MPRV, as S
        m.set_x(11, va + DATA - RAM);
        m.steps(1);
        if cause == 0 {
            assert_eq!((m.x(10), m.step.mem[0].page_shift), (77, 21));
        } else {
            assert_eq!(m.csr(0x342), cause);
        }
    }
}

#[test]
fn a_page_crossing_store_is_all_or_nothing() {
    let va = 0x4000_1000;
    let mut m = in_mode(Mode::S, &[sd(12, 11, 0), ld(10, 11, 0)]);
    map(&mut m, 0x8000_0000, RAM, R | X | A);
    m.bus.put(TABLES + 16, (TABLES + 0x1000) >> 12 << 10 | 1);
    map(&mut m, va, DATA, R | W | A | D);
    m.set_x(11, va + 0xffc);
    m.set_x(12, u64::MAX);
    m.steps(1);
    assert_eq!((m.csr(0x342), m.csr(0x343)), (15, va + 0x1000), "the second page is reported");
    assert_eq!(m.bus.u64(DATA + 0xff8), 0);
    // With both pages there, in places that are not neighbours.
    let mut m = in_mode(Mode::S, &[sd(12, 11, 0), ld(10, 11, 0)]);
    map(&mut m, 0x8000_0000, RAM, R | X | A);
    m.bus.put(TABLES + 16, (TABLES + 0x1000) >> 12 << 10 | 1);
    map(&mut m, va, DATA, R | W);
    map(&mut m, va + 0x1000, DATA + 0x5000, R | W);
    m.set_x(11, va + 0xffc);
    m.set_x(12, 0x1122_3344_5566_7788);
    m.steps(1);
    let part = m.step.mem[0];
    assert_eq!((part.paddr.0, part.paddr2.0), (DATA + 0xffc, DATA + 0x5000));
    m.steps(1);
    assert_eq!(m.x(10), 0x1122_3344_5566_7788);
    assert_eq!((m.bus.u64(DATA + 0xff8) >> 32, m.bus.u64(DATA + 0x5000)), (0x5566_7788, 0x1122_3344));
}

#[test]
fn an_instruction_may_cross_a_page() {
    let va = 0x4000_1000;
    let mut m = in_mode(Mode::S, &[]);
    map(&mut m, va, RAM, R | X);
    let word = addi(10, 0, 99);
    m.code(RAM + 0xffc, &[word << 16]);
    m.code(DATA, &[word >> 16]);
    m.fe.set_pc(va + 0xffe);
    m.steps(1);
    assert_eq!((m.csr(0x342), m.csr(0x343), m.csr(0x341)), (12, va + 0x1000, va + 0xffe));
    // mret to try again, now that the second page is there.
    map(&mut m, va + 0x1000, DATA, R | X);
    m.code(HANDLER, &[MRET]);
    m.steps(2);
    assert_eq!((m.x(10), m.fe.pc(), m.step.len), (99, va + 0x1002, 4));
}

#[test]
fn pmp_protects() {
    // Without any entry S-mode may do nothing, not even fetch.
    let mut m = in_mode(Mode::S, &[NOP]);
    m.set_csr(0x3a0, 0);
    m.steps(1);
    assert_eq!((m.csr(0x342), m.csr(0x341)), (1, RAM));
    // Half a page readable: finer than a page.
    let mut m = in_mode(Mode::S, &[ld(10, 11, 0), ld(10, 11, 8), sd(10, 11, 0)]);
    m.set_csr(0x3b0, (DATA + 0x808) >> 2);
    m.set_csr(0x3b1, (DATA + 0x810) >> 2);
    m.set_csr(0x3b2, u64::MAX >> 10);
    m.set_csr(0x3a0, 0x1f << 16 | 0x08 << 8);
    m.set_x(11, DATA + 0x800);
    m.steps(1);
    assert_eq!(m.fe.pc(), RAM + 4);
    m.steps(1);
    assert_eq!((m.csr(0x342), m.csr(0x343)), (5, DATA + 0x808));
    // Locked, read-only for M too.
    let mut m = in_mode(Mode::M, &[sd(10, 11, 0)]);
    m.set_csr(0x3b0, DATA >> 2 | 0x1ff);
    m.set_csr(0x3a0, 0x99);
    m.set_x(11, DATA);
    m.steps(1);
    assert_eq!((m.csr(0x342), m.csr(0x343)), (7, DATA));
}

#[test]
fn fences_and_satp_report_their_effects() {
    let mut m = in_mode(Mode::M, &[r(0x73, 0, 9, 0, 11, 0), SFENCE, csrrw(0, 0x180, 12)]);
    m.set_x(11, 0x1234_5000);
    m.steps(1);
    assert_eq!(m.step.effect, SysEffect::TlbFlush { vaddr: Some(0x1234_5000) });
    m.steps(1);
    assert_eq!(m.step.effect, SysEffect::TlbFlush { vaddr: None });
    m.steps(1);
    assert!(m.step.uops[0].flags.any(UopFlags::SQUASH_AFTER));
}

#[test]
fn pseudo_ops() {
    let mut m = in_mode(Mode::M, &[m5(0x23), m5(0x21)]);
    for n in 0..6 {
        m.set_x(10 + n, u64::from(n) + 1);
    }
    m.bus.pseudo_result = PseudoOutcome::NeedsDrain;
    assert_eq!(m.go(), StepResult::NeedsDrain);
    m.bus.pseudo_result = PseudoOutcome::Pause;
    assert_eq!((m.go(), m.fe.pc()), (StepResult::Paused, RAM));
    m.bus.pseudo_result = PseudoOutcome::Done { ret: Some(21), effect: SysEffect::None };
    m.steps(1);
    assert_eq!((m.x(10), m.bus.pseudo.last()), (21, Some(&(0x23, [1, 2, 3, 4, 5, 6]))));
    m.steps(1);
    assert_eq!(m.step.effect, SysEffect::Exit { cause: ExitCause::M5Exit, code: 0 });
    assert_eq!(m.x(10), 21, "no result, no change");
    m.bus.pseudo_result = PseudoOutcome::Unknown;
    m.code(RAM, &[m5(0x77)]);
    let mut other = in_mode(Mode::M, &[m5(0x77)]);
    other.bus.pseudo_result = PseudoOutcome::Unknown;
    other.steps(1);
    assert_eq!(other.csr(0x342), 2);
}

#[test]
fn float_needs_fs_and_marks_it_dirty() {
    let fadd = r(0x53, 7, 1, 1, 2, 3);
    let mut m = in_mode(Mode::M, &[fadd]);
    m.set_csr(0x300, 0);
    m.steps(1);
    assert_eq!(m.csr(0x342), 2);
    let mut m = in_mode(Mode::M, &[fadd, i(0x07, 3, 4, 11, 0), i(0x07, 2, 5, 11, 0)]);
    m.set_csr(0x300, 1 << 13);
    m.set_f(2, 1.5f64.to_bits());
    m.set_f(3, 2.25f64.to_bits());
    m.bus.put(DATA, 0x8000_0000_4048_f5c3);
    m.set_x(11, DATA);
    m.steps(1);
    assert_eq!((m.f(1), m.csr(0x300) >> 13 & 3), (3.75f64.to_bits(), 3));
    m.steps(2);
    assert_eq!((m.f(4), m.f(5)), (0x8000_0000_4048_f5c3, 0xffff_ffff_4048_f5c3));
    // A reserved dynamic rounding mode.
    m.set_csr(0x002, 5);
    m.fe.set_pc(RAM);
    m.steps(1);
    assert_eq!(m.csr(0x342), 2);
}

#[test]
fn single_precision_values_are_boxed() {
    // fadd.s, fmv.x.w, fsgnj.s, feq.s, fcvt.d.s
    let program = [
        r(0x53, 7, 0, 1, 2, 3),
        r(0x53, 0, 0x70, 10, 2, 0),
        r(0x53, 0, 0x10, 4, 2, 2),
        r(0x53, 2, 0x50, 11, 3, 3),
        r(0x53, 7, 0x21, 5, 3, 0),
    ];
    let mut m = in_mode(Mode::M, &program);
    m.set_f(2, 0x4000_0000);
    m.set_f(3, 0xffff_ffff_3f80_0000);
    m.steps(5);
    assert_eq!(m.f(1), 0xffff_ffff_7fc0_0000, "an unboxed operand is a NaN");
    assert_eq!(m.x(10), 0x4000_0000, "but moves as it is");
    assert_eq!(m.f(4), 0xffff_ffff_7fc0_0000);
    assert_eq!((m.x(11), m.f(5)), (1, 1f64.to_bits()));
}

#[test]
fn configurations_that_cannot_be_built() {
    let ok = RiscvConfig::default();
    for (bad, path) in [
        (RiscvConfig { cbo_block: 48, ..ok.clone() }, "riscv.cbo_block"),
        (RiscvConfig { pmp_entries: 7, ..ok.clone() }, "riscv.pmp_entries"),
        (RiscvConfig { reset_pc: 1, ..ok }, "riscv.reset_pc"),
    ] {
        assert_eq!(RiscvFrontEnd::new(&bad).map(|_| ()).map_err(|e| e.path), Err(path.to_owned()));
    }
}

#[test]
fn the_bus_hears_of_cycle_reads_that_happen() {
    // rdcycle, rdinstret, rdcycle: the first attempt has to wait and is none.
    let mut m = Machine::new(&[csrrs(10, 0xc00, 0), csrrs(11, 0xc02, 0), csrrs(12, 0xb00, 0)]);
    assert_eq!(m.fe.step(&mut m.bus, now(false), &mut m.step), StepResult::NeedsDrain);
    assert!(m.bus.cycle_reads.is_empty());
    m.steps(3);
    assert_eq!(m.bus.cycle_reads, [777, 777]);
}

#[test]
fn what_stands_at_an_address_is_disassembled_without_running_it() {
    let mut m = Machine::new(&[addi(2, 2, -16), 0x0001_8082]);
    let mut line = |pc| {
        let mut text = String::new();
        m.fe.disassemble(&mut m.bus, pc, &mut text);
        text
    };
    assert_eq!(line(RAM), "ff010113 addi x2, x2, -16");
    assert_eq!(line(RAM + 4), "8082 jalr x1");
    assert_eq!(line(0x10), "", "nothing there");
    assert_eq!(m.fe.pc(), RAM);
}
