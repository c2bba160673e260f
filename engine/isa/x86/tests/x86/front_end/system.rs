//! Exceptions, privilege, paging, repeated strings, speculation, code that changes: a few instructions each.

use crate::common::{assemble, exit, load_tables, now, Machine, CODE, STACK};
use breakeven_base::bus::ExitCause;
use breakeven_base::{BranchKind, FrontEnd, MemKind, StepResult, SysEffect, UopFlags};
use breakeven_x86::{RepConfig, X86Config, BOOT_TABLES};
use iced_x86::code_asm::*;

const HANDLER: u64 = 0x21_0000;
const RAX: usize = 0;
const RSP: usize = 4;

/// Replaces the 2 MiB mapping of `vaddr` (below 2 MiB * 512) by 4 KiB pages whose table lies at `table`.
fn split(m: &mut Machine, vaddr: u64, table: u64) {
    let pd = BOOT_TABLES + 0x2000 + 8 * (vaddr >> 21);
    for k in 0..512 {
        m.put(table + 8 * k, ((vaddr & !0x1f_ffff) + 4096 * k) | 7);
    }
    m.put(pd, table | 7);
}

#[test]
fn page_fault_has_its_code_address_and_frame_and_iretq_returns() {
    let mut m = Machine::new(|a| {
        load_tables(a)?;
        a.mov(rbx, 0x40_1ff8u64)?;
        a.mov(qword_ptr(rbx + 4), rax)?;
        exit(a)
    });
    m.handler(14, HANDLER, 0);
    split(&mut m, 0x40_0000, 0x10_0000);
    m.put(0x10_0000 + 8 * 2, 0);
    let handler = assemble(HANDLER, |a| {
        a.mov(rax, cr2)?;
        a.mov(rcx, qword_ptr(rsp))?;
        a.mov(rdx, qword_ptr(rsp + 8))?;
        // Map the page and go back.
        a.mov(r8, 0x40_2007u64)?;
        a.mov(qword_ptr(0x10_0010u64), r8)?;
        a.invlpg(ptr(0x40_2000u64))?;
        a.add(rsp, 8)?;
        a.iretq()
    });
    m.code(HANDLER, &handler);
    assert_eq!(m.run(), ExitCause::M5Exit);
    assert_eq!(m.fe.gpr(RAX), 0x40_2000, "the first byte on the missing page");
    assert_eq!(m.fe.gpr(1), 2, "a write to a page that is not there, by the supervisor");
    assert_eq!(m.fe.gpr(RSP), STACK);
    assert_eq!(m.u64(0x10_0008) & 0x60, 0x60, "accessed and dirty after the retry");
}

#[test]
fn ring_3_traps_to_the_task_stack_and_comes_back() {
    let mut m = Machine::new(|a| {
        load_tables(a)?;
        // To ring 3 by iretq.
        a.push(0x1b)?;
        a.push(0x38_0000)?;
        a.push(0x202)?;
        a.push(0x23)?;
        a.push(0x22_0000)?;
        a.iretq()
    });
    m.handler(6, HANDLER, 0);
    m.code(0x22_0000, &assemble(0x22_0000, |a| a.ud2()));
    m.code(HANDLER, &assemble(HANDLER, exit));
    assert_eq!(m.run(), ExitCause::M5Exit);
    assert_eq!((m.fe.gpr(RSP), m.fe.ring()), (STACK - 40, 0));
    let frame: Vec<u64> = (0..5).map(|k| m.u64(STACK - 40 + 8 * k)).collect();
    assert_eq!(frame, [0x22_0000, 0x23, 0x202, 0x38_0000, 0x1b]);
}

#[test]
fn syscall_and_sysret_change_rings() {
    let mut m = Machine::new(|a| {
        a.mov(ecx, 0xc000_0081u32)?;
        a.xor(eax, eax)?;
        a.mov(edx, 0x0013_0008)?;
        a.wrmsr()?;
        a.mov(ecx, 0xc000_0082u32)?;
        a.mov(eax, 0x21_0000)?;
        a.xor(edx, edx)?;
        a.wrmsr()?;
        a.mov(rcx, 0x22_0000u64)?;
        a.mov(r11, 0x202u64)?;
        a.sysretq()
    });
    m.code(
        0x22_0000,
        &assemble(0x22_0000, |a| {
            a.mov(rbx, 5u64)?;
            a.syscall()
        }),
    );
    m.code(HANDLER, &assemble(HANDLER, exit));
    assert_eq!(m.run(), ExitCause::M5Exit);
    assert_eq!((m.fe.gpr(3), m.fe.ring(), m.fe.gpr(11) & 0x200), (5, 0, 0x200));
    assert_eq!(m.fe.gpr(1), 0x22_000c, "rcx is the address behind syscall");
}

#[test]
fn smap_keeps_the_supervisor_out_until_stac() {
    let program = |a: &mut CodeAssembler| {
        a.mov(rax, cr4)?;
        a.or(rax, 1 << 21)?;
        a.mov(cr4, rax)?;
        a.stac()?;
        a.mov(rbx, qword_ptr(0x40_0000u64))?;
        a.clac()?;
        a.mov(rcx, qword_ptr(0x40_0000u64))
    };
    let mut m = Machine::new(program);
    // Code, stack and tables are supervisor's; 4 MiB is the user's.
    for k in [0u64, 1] {
        let at = BOOT_TABLES + 0x2000 + 8 * k;
        let v = m.u64(at);
        m.put(at, v & !4);
    }
    m.put(0x40_0000, 99);
    assert_eq!(m.run(), ExitCause::TripleFault);
    assert_eq!((m.fe.gpr(3), m.fe.last_fault()), (99, Some((14, 1, 0x40_0000))));
    assert!(m.halt_reason().contains("exception 14"), "{}", m.halt_reason());
}

#[test]
fn alignment_check_only_for_users_who_asked() {
    let mut m = Machine::new(|a| {
        load_tables(a)?;
        a.mov(rax, cr0)?;
        a.or(rax, 1 << 18)?;
        a.mov(cr0, rax)?;
        a.mov(rbx, qword_ptr(0x40_0001u64))?;
        a.mov(rcx, 0x22_0000u64)?;
        a.mov(r11, 0x4_0202u64)?;
        a.sysretq()
    });
    m.handler(17, HANDLER, 0);
    m.code(
        0x22_0000,
        &assemble(0x22_0000, |a| {
            a.mov(eax, dword_ptr(0x40_0004u64))?;
            a.mov(rax, qword_ptr(0x40_0004u64))
        }),
    );
    m.code(HANDLER, &assemble(HANDLER, exit));
    assert_eq!(m.run(), ExitCause::M5Exit);
    assert_eq!(m.u64(STACK - 40), 0x22_0009, "the second load");
}

#[test]
fn what_is_not_implemented_says_so() {
    let mut m = Machine::with(&X86Config::default());
    m.code(CODE, &[0xd9, 0xfe]); // fsin
    assert_eq!(m.run(), ExitCause::Unimplemented);
    assert_eq!(m.halt_reason(), "instruction not implemented at 0x200000: d9 fe fsin");
    // What CPUID does not offer is undefined instead.
    let mut config = X86Config::default();
    config.features.popcnt = false;
    let mut m = Machine::with(&config);
    m.code(CODE, &[0xf3, 0x0f, 0xb8, 0xc1]);
    assert_eq!((m.run(), m.fe.last_fault()), (ExitCause::TripleFault, Some((6, 0, 0))));
}

#[test]
fn repeated_moves_stop_at_a_fault_with_exact_registers() {
    for per_element in [false, true] {
        let mut config = X86Config::default();
        if per_element {
            config.rep = RepConfig::default();
        }
        let mut m = Machine::with(&config);
        m.code(
            CODE,
            &assemble(CODE, |a| {
                load_tables(a)?;
                a.mov(rsi, 0x40_0000u64)?;
                a.mov(rdi, 0x60_0f35u64)?;
                a.mov(ecx, 1000)?;
                a.rep().movsb()?;
                exit(a)
            }),
        );
        m.handler(14, HANDLER, 0);
        m.code(HANDLER, &assemble(HANDLER, exit));
        split(&mut m, 0x60_0000, 0x10_0000);
        m.put(0x10_0008, 0);
        assert_eq!(m.run(), ExitCause::M5Exit);
        let done = 0x1000 - 0xf35;
        assert_eq!(m.fe.gpr(1), 1000 - done);
        assert_eq!((m.fe.gpr(6), m.fe.gpr(7), m.fe.cr2()), (0x40_0000 + done, 0x60_1000, 0x60_1000));
    }
}

#[test]
fn a_repeated_move_takes_several_steps_and_counts_once() {
    let mut m = Machine::new(|a| {
        a.mov(rsi, 0x40_0000u64)?;
        a.mov(rdi, 0x50_0000u64)?;
        a.mov(ecx, 300)?;
        a.rep().movsb()?;
        exit(a)
    });
    for k in 0..40 {
        m.put(0x40_0000 + 8 * k, 0x0101_0101_0101_0101 * (k + 1));
    }
    let mut chunks = 0;
    let mut bytes = 0;
    loop {
        m.step();
        let s = &m.step;
        if let SysEffect::Exit { .. } = s.effect {
            break;
        }
        if s.uops[0].flags.any(UopFlags::LOAD) {
            chunks += 1;
            assert!(s.uops[0].flags.any(UopFlags::FIRST));
            let n = usize::from(s.n);
            bytes +=
                (0..n).filter(|k| s.uops[*k].flags.any(UopFlags::STORE)).map(|k| u64::from(s.mem[k].size)).sum::<u64>();
            let last = s.uops[n - 1].flags.any(UopFlags::LAST);
            assert_eq!(last, s.next_pc != s.pc);
        }
    }
    assert_eq!((bytes, m.fe.retired()), (300, 5));
    assert!(chunks >= 4, "{chunks}");
    assert_eq!(m.bus.ram.slice(0x40_0000, 300), m.bus.ram.slice(0x50_0000, 300));
}

#[test]
fn a_wrong_path_changes_nothing() {
    let mut m = Machine::new(|a| {
        a.mov(qword_ptr(0x40_0000u64), rax)?;
        a.mov(rbx, qword_ptr(0x40_0000u64))?;
        a.inc(rax)?;
        a.mov(rcx, qword_ptr(rdx))?;
        a.hlt()
    });
    m.fe.set_gpr(RAX, 5);
    m.fe.set_gpr(2, 0x7000_0000_0000_0000);
    let depth = m.fe.fork(CODE);
    m.step();
    m.step();
    assert_eq!((m.fe.gpr(3), m.u64(0x40_0000)), (5, 0), "its own stores are seen by its loads alone");
    m.step();
    m.step();
    assert!(!m.step.mem[0].valid, "a bad address goes nowhere");
    assert_eq!(m.fe.step(&mut m.bus, now(true), &mut m.step), StepResult::Blocked);
    m.fe.rollback(depth);
    assert_eq!((m.fe.gpr(RAX), m.fe.gpr(3), m.fe.pc(), m.fe.depth()), (5, 0, CODE, 0));
}

#[test]
fn code_that_writes_itself_is_decoded_again() {
    let mut m = Machine::new(|a| {
        let mut top = a.create_label();
        a.set_label(&mut top)?;
        a.mov(eax, 1)?;
        a.cmp(eax, 2)?;
        let mut done = a.create_label();
        a.je(done)?;
        a.mov(byte_ptr(CODE + 1), 2)?;
        a.jmp(top)?;
        a.set_label(&mut done)?;
        exit(a)
    });
    assert_eq!(m.run(), ExitCause::M5Exit);
    let mut m2 = Machine::with(&X86Config::default());
    let code = m.bus.ram.slice(CODE, 64).expect("in RAM").to_vec();
    m2.code(CODE, &code);
    m2.code(CODE + 1, &[1]);
    let done = m2.fe.run_fast(&mut m2.bus, now(false), 1000);
    assert_eq!((done, m2.fe.gpr(RAX)), (8, 2), "up to the pseudo-op");
}

#[test]
fn time_ports_and_pseudo_ops_wait_for_an_empty_pipeline() {
    let mut m = Machine::new(|a| {
        a.rdtsc()?;
        a.mov(edx, 0x3fd)?;
        a.in_(al, dx)?;
        a.mov(edx, 0x3f8)?;
        a.mov(al, 65)?;
        a.out(dx, al)?;
        a.mov(edi, 3)?;
        a.db(&[0x0f, 0x04, 0x30, 0x00])?;
        exit(a)
    });
    assert_eq!(m.fe.step(&mut m.bus, now(false), &mut m.step), StepResult::NeedsDrain);
    assert_eq!((m.step.n, m.step.len), (1, 2));
    m.step();
    assert_eq!(m.fe.gpr(RAX), 777);
    m.step();
    m.step();
    assert_eq!(m.fe.gpr(RAX) & 0xff, 0x60);
    assert_eq!(m.run(), ExitCause::M5Exit);
    assert_eq!(m.bus.printed, b"A");
    assert_eq!((m.bus.pseudo[0].0, m.bus.pseudo[0].1[0], m.fe.gpr(RAX)), (0x30, 3, 77));
}

#[test]
fn branches_say_what_they_are() {
    let mut m = Machine::new(|a| {
        let mut f = a.create_label();
        a.call(f)?;
        a.jmp(rbx)?;
        a.set_label(&mut f)?;
        a.xor(eax, eax)?;
        a.jne(f)?;
        a.ret()
    });
    let kinds: Vec<_> = (0..4)
        .map(|_| {
            m.step();
            (m.step.branch.kind, m.step.branch.taken)
        })
        .collect();
    assert_eq!(
        kinds,
        [(BranchKind::Call, true), (BranchKind::None, false), (BranchKind::Cond, false), (BranchKind::Return, true)]
    );
    m.step();
    assert_eq!(m.step.branch.kind, BranchKind::Indirect);
}

#[test]
fn an_access_across_pages_names_both() {
    let mut m = Machine::new(|a| {
        a.movups(xmm0, ptr(0x40_0ff8u64))?;
        a.clflush(ptr(0x40_0fffu64))
    });
    split(&mut m, 0x40_0000, 0x10_0000);
    m.put(0x10_0008, 0x80_0007);
    m.put(0x80_0000, 42);
    m.step();
    let r = m.step.mem[0];
    assert_eq!(
        (r.vaddr, r.paddr.0, r.paddr2.0, r.size, r.page_shift, r.valid),
        (0x40_0ff8, 0x40_0ff8, 0x80_0000, 16, 12, true)
    );
    assert_eq!(m.fe.ymm(0)[1], 42);
    m.step();
    assert_eq!((m.step.mem[0].kind, m.step.mem[0].vaddr, m.step.mem[0].size), (MemKind::CboFlush, 0x40_0fc0, 64));
}

#[test]
fn wbinvd_waits_for_the_pipeline_and_empties_the_caches() {
    let mut m = Machine::new(|a| a.wbinvd());
    let mut step = m.step;
    assert_eq!(m.fe.step(&mut m.bus, now(false), &mut step), StepResult::NeedsDrain);
    assert_eq!(m.step().effect, SysEffect::CacheFlush { at: now(true).tick, line_cycles: 1 });
    assert_eq!(m.bus.worked, 1, "whoever observes the run is asked soon: a large cache takes the host long");
    let mut config = X86Config::default();
    config.crack.latency.push(("wbinvd".to_owned(), 7));
    let mut m = Machine::with(&config);
    m.code(CODE, &assemble(CODE, |a| a.wbinvd()));
    assert_eq!(m.step().effect, SysEffect::CacheFlush { at: now(true).tick, line_cycles: 7 });
}

#[test]
fn an_instruction_across_pages_survives_a_full_cache_of_decoded_pages() {
    const PAGE: u64 = 4096;
    const MOST: u64 = 512;
    const FIRST: u64 = 0x40_0000;
    let mut m = Machine::new(|a| a.jmp(FIRST));
    // With the first program's page they fill the cache; the last one's instruction goes on on one page more.
    for n in 0..MOST - 2 {
        let at = FIRST + n * PAGE;
        m.code(at, &assemble(at, |a| a.jmp(at + PAGE)));
    }
    let last = FIRST + (MOST - 2) * PAGE;
    m.code(last, &assemble(last, |a| a.jmp(last + PAGE - 2)));
    m.code(
        last + PAGE - 2,
        &assemble(last + PAGE - 2, |a| {
            a.mov(eax, 0x1234_5678)?;
            a.ud2()
        }),
    );
    m.handler(6, HANDLER, 0);
    m.code(HANDLER, &assemble(HANDLER, exit));
    for _ in 0..MOST + 2 {
        m.step();
    }
    assert_eq!(m.fe.gpr(0), 0x1234_5678);
}
