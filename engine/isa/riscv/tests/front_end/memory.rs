//! Loads, stores, misalignment policies, atomics, devices, HTIF, cache-block operations, speculative paths.

use crate::common::asm::{addi, b, csrrs, i, ld, r, s, sd, NOP};
use crate::common::{now, Machine, DEVICE, RAM};
use breakeven_base::bus::ExitCause;
use breakeven_base::{FrontEnd, MemKind, StepResult, SysEffect, UopFlags};
use breakeven_riscv::{MisalignedPolicy, RiscvConfig};

const DATA: u64 = RAM + 0x8000;

fn policy(misaligned: MisalignedPolicy) -> RiscvConfig {
    RiscvConfig { misaligned, ..RiscvConfig::default() }
}

#[test]
fn loads_extend_as_they_should() {
    // f3, bytes 0x..: lb lh lw ld lbu lhu lwu
    let want = [
        0xffff_ffff_ffff_ff88u64,
        0xffff_ffff_ffff_8788,
        0xffff_ffff_8586_8788,
        0x8182_8384_8586_8788,
        0x88,
        0x8788,
        0x8586_8788,
    ];
    for (f3, want) in want.into_iter().enumerate() {
        let mut m = Machine::new(&[i(0x03, f3 as u32, 10, 11, -8)]);
        m.bus.put(DATA, 0x8182_8384_8586_8788);
        m.set_x(11, DATA + 8);
        m.steps(1);
        assert_eq!(m.x(10), want);
        let r = m.step.mem[0];
        assert_eq!((r.vaddr, r.paddr.0, u32::from(r.size), r.valid), (DATA, DATA, 1 << (f3 & 3), true));
        assert_eq!((r.kind, r.page_shift, r.uncacheable), (MemKind::Load, 0, false));
    }
}

#[test]
fn stores_write_their_bytes_only() {
    for (f3, want) in [(0, 0xffff_ffff_ffff_ff88u64), (1, 0xffff_ffff_ffff_7788), (2, 0xffff_ffff_5566_7788)] {
        let mut m = Machine::new(&[s(0x23, f3, 11, 12, 16)]);
        m.bus.put(DATA + 16, u64::MAX);
        m.set_x(11, DATA);
        m.set_x(12, 0x1122_3344_5566_7788);
        m.steps(1);
        assert_eq!(m.bus.u64(DATA + 16), want);
        assert_eq!((m.step.mem[0].kind, m.step.mem[0].paddr.0), (MemKind::Store, DATA + 16));
    }
}

#[test]
fn misaligned_by_policy() {
    let program = [ld(10, 11, 1), sd(12, 11, 9)];
    for p in [MisalignedPolicy::Hardware, MisalignedPolicy::Emulate, MisalignedPolicy::Pma(vec![DATA..DATA + 0x1000])] {
        let mut m = Machine::with(&policy(p), &program);
        m.bus.put(DATA, 0x1122_3344_5566_7788);
        m.bus.put(DATA + 8, 0x99);
        m.set_x(11, DATA);
        m.set_x(12, 0xa1a2_a3a4_a5a6_a7a8);
        m.steps(2);
        assert_eq!(m.x(10), 0x9911_2233_4455_6677);
        assert_eq!(m.bus.u64(DATA + 9), 0xa1a2_a3a4_a5a6_a7a8);
    }
    for p in [MisalignedPolicy::Trap, MisalignedPolicy::Pma(vec![]), MisalignedPolicy::Pma(vec![DATA..DATA + 15])] {
        // Unreachable addresses: only a check before translation reports misalignment for them.
        for (word, cause, at) in [(program[0], 4, DATA), (program[1], 6, DATA), (program[0], 4, 0)] {
            let mut m = Machine::with(&policy(p.clone()), &[word]);
            m.set_x(11, at);
            m.set_csr(0x305, RAM + 0x100);
            m.steps(1);
            let inside = p == MisalignedPolicy::Pma(vec![DATA..DATA + 15]) && cause == 4 && at == DATA;
            if inside {
                assert_eq!(m.fe.pc(), RAM + 4);
                continue;
            }
            let want = if at == 0 && p == MisalignedPolicy::Pma(vec![DATA..DATA + 15]) { 4 } else { cause };
            assert_eq!((m.csr(0x342), m.fe.pc()), (want, RAM + 0x100), "{p:?}");
            assert_eq!(m.csr(0x343), at + if cause == 6 { 9 } else { 1 });
            assert_eq!(m.csr(0x341), RAM);
        }
    }
}

#[test]
fn an_access_past_the_end_of_ram_faults_and_stores_nothing() {
    let end = RAM + (1 << 20);
    for (word, cause) in [(ld(10, 11, 0), 5), (sd(12, 11, 0), 7)] {
        let mut m = Machine::new(&[word]);
        m.bus.put(end - 8, 0x55);
        m.set_x(11, end - 4);
        m.set_x(12, u64::MAX);
        m.steps(1);
        assert_eq!((m.csr(0x342), m.csr(0x343), m.bus.u64(end - 8)), (cause, end - 4, 0x55));
        assert!(m.step.uops[0].flags.any(UopFlags::TRAP) && m.step.len == 4);
    }
}

#[test]
fn atomics() {
    // f5, old, register, new (words sign-extend what they return)
    let word: [(u32, u32, u32, u32); 9] = [
        (0x01, 0x8000_0000, 5, 5),
        (0x00, 0xffff_ffff, 2, 1),
        (0x04, 0xff00, 0x0ff0, 0xf0f0),
        (0x0c, 0xff00, 0x0ff0, 0x0f00),
        (0x08, 0xff00, 0x0ff0, 0xfff0),
        (0x10, 0xffff_ffff, 1, 0xffff_ffff),
        (0x14, 0xffff_ffff, 1, 1),
        (0x18, 0xffff_ffff, 1, 1),
        (0x1c, 0xffff_ffff, 1, 0xffff_ffff),
    ];
    for (f5, old, reg, new) in word {
        for wide in [false, true] {
            let mut m = Machine::new(&[r(0x2f, 2 + u32::from(wide), f5 << 2, 10, 11, 12)]);
            let spread = |v: u32| if wide { i64::from(v as i32) as u64 } else { u64::from(v) };
            m.bus.put(DATA, spread(old));
            m.set_x(11, DATA);
            m.set_x(12, spread(reg) | if wide { 0 } else { 0xdead << 32 });
            m.steps(1);
            assert_eq!(m.x(10), i64::from(old as i32) as u64, "f5 {f5:#x}");
            assert_eq!(m.bus.u64(DATA), spread(new), "f5 {f5:#x} wide {wide}");
            assert_eq!(m.step.mem[0].kind, MemKind::Atomic);
        }
    }
}

#[test]
fn atomics_trap_when_misaligned_whatever_the_policy() {
    let lr = r(0x2f, 3, 0x02 << 2, 10, 11, 0);
    for (word, cause) in [(lr, 4), (r(0x2f, 3, 0x03 << 2, 10, 11, 12), 6), (r(0x2f, 3, 0, 10, 11, 12), 6)] {
        let mut m = Machine::new(&[word]);
        m.set_x(11, DATA + 4);
        m.steps(1);
        assert_eq!((m.csr(0x342), m.csr(0x343)), (cause, DATA + 4));
    }
}

#[test]
fn store_conditional_needs_its_reservation() {
    let (lr, sc) = (r(0x2f, 3, 0x02 << 2, 10, 11, 0), r(0x2f, 3, 0x03 << 2, 13, 11, 12));
    let run = |program: &[u32]| {
        let mut m = Machine::new(program);
        m.bus.put(DATA, 7);
        m.set_x(11, DATA);
        m.set_x(12, 9);
        m.steps(program.len());
        (m.x(13), m.bus.u64(DATA))
    };
    assert_eq!(run(&[lr, sc]), (0, 9));
    assert_eq!(run(&[sc]), (1, 7));
    assert_eq!(run(&[lr, sc, sc]), (1, 9));
    assert_eq!(run(&[lr, sd(12, 11, 0), sc]), (1, 9), "the value has changed in between");
    assert_eq!(run(&[lr, addi(11, 11, 8), sc]), (1, 7), "another address");
}

#[test]
fn devices_wait_for_the_drain() {
    let mut m = Machine::new(&[i(0x03, 2, 10, 11, 0), s(0x23, 2, 11, 12, 0)]);
    m.bus.device = 0x8000_0001;
    m.set_x(11, DEVICE);
    m.set_x(12, 0xffff_ffff_0000_0042);
    assert_eq!(m.fe.step(&mut m.bus, now(false), &mut m.step), StepResult::NeedsDrain);
    assert_eq!((m.fe.pc(), m.step.pc, m.step.len, m.step.n), (RAM, RAM, 4, 1));
    assert!(m.step.uops[0].flags.any(UopFlags::LOAD), "described while it waits");
    m.steps(1);
    assert_eq!((m.x(10), m.step.mem[0].uncacheable), (0xffff_ffff_8000_0001, true));
    assert_eq!(m.fe.step(&mut m.bus, now(false), &mut m.step), StepResult::NeedsDrain);
    assert!(m.bus.device_log.is_empty());
    m.steps(1);
    assert_eq!(m.bus.device_log, [(DEVICE, 4, 0x42)]);
    // A device that does not answer is an access fault.
    m.fe.set_pc(RAM);
    m.set_x(11, DEVICE + 8);
    m.steps(1);
    assert_eq!(m.csr(0x342), 5);
}

#[test]
fn htif_store_becomes_an_effect() {
    let mut m = Machine::new(&[sd(12, 11, 0)]);
    m.bus.ram.watch(DATA);
    m.set_x(11, DATA);
    m.set_x(12, 0x55);
    assert_eq!(m.fe.run_fast(&mut m.bus, now(true), 10), 0, "left to step");
    m.steps(1);
    assert_eq!(m.step.effect, SysEffect::Exit { cause: ExitCause::HtifExit, code: 0x2a });
    assert!(m.step.uops[0].flags.any(UopFlags::EFFECT));
    assert_eq!(m.bus.u64(DATA), 0x55);
}

#[test]
fn cache_block_operations() {
    let cbo = |n: u32| n << 20 | 11 << 15 | 2 << 12 | 0x0f;
    let kinds = [(0, MemKind::CboInval), (1, MemKind::CboClean), (2, MemKind::CboFlush), (4, MemKind::CboZero)];
    for (n, kind) in kinds {
        let mut m = Machine::new(&[cbo(n)]);
        for at in (DATA..DATA + 192).step_by(8) {
            m.bus.put(at, u64::MAX);
        }
        m.set_x(11, DATA + 64 + 13);
        m.steps(1);
        let r = m.step.mem[0];
        assert_eq!((r.kind, r.vaddr, r.size), (kind, DATA + 64, 64));
        assert!(m.step.uops[0].flags.any(UopFlags::CACHE_OP));
        assert_eq!(m.bus.u64(DATA + 64), if n == 4 { 0 } else { u64::MAX });
        assert_eq!(m.bus.u64(DATA + 120), if n == 4 { 0 } else { u64::MAX });
        assert_eq!((m.bus.u64(DATA + 56), m.bus.u64(DATA + 128)), (u64::MAX, u64::MAX));
    }
}

#[test]
fn prefetches_are_hints() {
    let prefetch = |n: u32, offset: i32| i(0x13, 6, 0, 11, offset | n as i32);
    let kinds = [(0, MemKind::PrefetchFetch), (1, MemKind::PrefetchRead), (3, MemKind::PrefetchWrite)];
    for (n, kind) in kinds {
        let mut m = Machine::new(&[prefetch(n, 64), prefetch(n, 64)]);
        m.set_x(11, DATA);
        m.steps(1);
        let r = m.step.mem[0];
        assert_eq!((r.kind, r.vaddr, r.valid), (kind, DATA + 64, true));
        m.set_x(11, 0x40);
        m.steps(1);
        assert!(!m.step.mem[0].valid && m.fe.pc() == RAM + 8, "nowhere to go, and no fault");
    }
}

#[test]
fn a_wrong_path_leaves_no_trace() {
    // The path: store, load it back, float to integer register, branch, then a system instruction.
    let program = [b(0, 0, 0, 64), sd(12, 11, 0), ld(13, 11, 0), addi(11, 11, 1), ld(14, 15, 0), csrrs(10, 0x300, 0)];
    let mut m = Machine::new(&program);
    m.bus.put(DATA, 1);
    m.set_x(11, DATA);
    m.set_x(12, 2);
    m.set_x(15, 0x10);
    m.steps(1);
    let before = m.fe.pc();
    let depth = m.fe.fork(RAM + 4);
    assert_eq!((m.fe.depth(), m.fe.pc()), (1, RAM + 4));
    m.steps(3);
    assert_eq!((m.x(13), m.bus.u64(DATA), m.x(11)), (2, 1, DATA + 1));
    let inner = m.fe.fork(RAM + 12);
    m.steps(2);
    assert!(!m.step.mem[0].valid, "a load from nowhere goes on with a reference that goes nowhere");
    assert_eq!((m.x(14), m.x(11)), (0, DATA + 2));
    assert_eq!(m.go(), StepResult::Blocked, "a system instruction ends the path");
    m.fe.rollback(inner);
    assert_eq!((m.x(11), m.fe.pc()), (DATA + 1, RAM + 16));
    m.fe.rollback(depth);
    assert_eq!((m.fe.depth(), m.fe.pc(), m.x(11), m.x(13)), (0, before, DATA, 0));
    assert_eq!((m.bus.u64(DATA), m.fe.retired()), (1, 1));
    // Unmapped code, an illegal instruction, a device.
    for pc in [0x1000, RAM + 0x2000] {
        let depth = m.fe.fork(pc);
        assert_eq!(m.go(), StepResult::Blocked);
        m.fe.rollback(depth);
    }
    m.set_x(15, DEVICE);
    let depth = m.fe.fork(RAM + 16);
    m.steps(1);
    assert!(!m.step.mem[0].valid);
    assert_eq!(m.fe.run_fast(&mut m.bus, now(false), 5), 0, "the fast path is architectural");
    m.fe.rollback(depth);
}

#[test]
fn code_is_coherent_after_fence_i() {
    let program = [s(0x23, 2, 11, 12, 0), crate::common::asm::FENCE_I, NOP, addi(10, 10, 1)];
    let mut m = Machine::new(&program);
    m.set_x(11, RAM + 12);
    m.set_x(12, u64::from(addi(10, 10, 100)));
    m.steps(2);
    assert_eq!(m.step.effect, SysEffect::FetchFlush);
    m.steps(2);
    assert_eq!(m.x(10), 100);
}

#[test]
fn fast_and_described_execution_agree() {
    // A loop with loads, stores, multiplication, a call, and a compressed instruction pair.
    let program = [
        addi(10, 0, 200),
        ld(12, 11, 3),
        r(0x33, 0, 1, 13, 12, 10),
        sd(13, 11, 8),
        addi(11, 11, 8),
        0x157d_0685, // addi a3,a3,1; addi a0,a0,-1
        b(1, 10, 0, -20),
        crate::common::asm::EBREAK,
    ];
    let (mut a, mut c) = (Machine::new(&program), Machine::new(&program));
    for m in [&mut a, &mut c] {
        m.set_x(11, DATA + 0x800);
        m.bus.put(DATA + 0x803, 0x0123_4567_89ab_cdef);
    }
    let n = a.fe.run_fast(&mut a.bus, now(false), 1_000_000);
    assert_eq!(n, 1 + 200 * 7);
    c.steps(n as usize);
    assert_eq!((a.fe.pc(), a.fe.retired()), (c.fe.pc(), c.fe.retired()));
    for x in 0..32 {
        assert_eq!(a.x(x), c.x(x), "x{x}");
    }
    let bytes = |m: &Machine| m.bus.ram.slice(DATA, 0x4000).expect("in RAM").to_vec();
    assert_eq!(bytes(&a), bytes(&c));
    // In small pieces too, and never more than asked for.
    let mut d = Machine::new(&program);
    d.set_x(11, DATA + 0x800);
    assert_eq!(d.fe.run_fast(&mut d.bus, now(false), 5), 5);
}
