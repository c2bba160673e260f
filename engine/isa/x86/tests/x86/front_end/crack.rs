//! Micro-ops of instructions that decide the studies, under both families of parameters.

use std::collections::HashMap;

use crate::common::{assemble, Machine, CODE};
use breakeven_base::{OpClass, Reg, Uop, UopFlags};
use breakeven_x86::regs::{gpr, C, FUSED, O, T0, T2, Z};
use breakeven_x86::{CrackConfig, FlagMerge, X86Config};
use iced_x86::code_asm::*;
use iced_x86::IcedError;

fn steps(crack: CrackConfig, n: usize, f: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<Vec<Uop>> {
    let mut m = Machine::with(&X86Config { crack, ..X86Config::default() });
    m.fe.enable_avx();
    m.fe.set_gpr(6, 0x40_0000);
    m.fe.set_gpr(7, 0x50_0000);
    m.code(CODE, &assemble(CODE, f));
    (0..n)
        .map(|_| {
            let s = *m.step();
            for (u, r) in s.uops.iter().zip(&s.mem).take(usize::from(s.n)) {
                assert!(!u.flags.any(UopFlags::MEM) || (r.valid && r.size > 0), "a micro-op without its reference");
            }
            s.uops[..usize::from(s.n)].to_vec()
        })
        .collect()
}

fn sources(u: &Uop) -> Vec<Reg> {
    u.src.iter().copied().filter(|r| r.is_some()).collect()
}

#[test]
fn the_carry_chain_does_not_wait_for_dec() {
    let program = |a: &mut CodeAssembler| {
        a.add(rax, rbx)?;
        a.dec(rcx)?;
        a.adc(rax, qword_ptr(rsi))?;
        a.jne(CODE)
    };
    let s = steps(CrackConfig::default(), 4, program);
    assert_eq!(s[0][0].dst, [gpr(0), C]);
    assert_eq!((s[1][0].dst, sources(&s[1][0])), ([gpr(1), Z], vec![gpr(1)]));
    assert_eq!((s[2].len(), s[2][0].class, s[2][0].dst[0]), (2, OpClass::MemRead, FUSED));
    assert_eq!(sources(&s[2][1]), [FUSED, gpr(0), C]);
    assert!(s[2][1].flags.any(UopFlags::MICRO_FUSED) && !s[2][0].flags.any(UopFlags::MICRO_FUSED));
    assert_eq!(sources(&s[3][0]), [C], "adc wrote all flags last");
    // The same where partial writes are merged, or stall.
    let s = steps(CrackConfig { flag_merge: FlagMerge::Uop, ..CrackConfig::default() }, 3, program);
    assert_eq!((s[2].len(), sources(&s[2][1]), s[2][1].dst[0]), (3, vec![C, Z, Z], C));
    let waits = |micro_fusion| {
        let s = steps(CrackConfig { flag_merge: FlagMerge::Stall, micro_fusion, ..CrackConfig::default() }, 3, program);
        s[2].iter().map(|u| u.flags.any(UopFlags::FLAG_STALL)).collect::<Vec<_>>()
    };
    assert_eq!(waits(false), [false, true], "the load goes ahead");
    assert_eq!(waits(true), [true, false], "renamed with its reader, the load waits");
}

#[test]
fn a_reader_of_flags_has_a_number_for_each_set_of_registers_that_hold_them() {
    for flag_merge in [FlagMerge::None, FlagMerge::Uop, FlagMerge::Stall] {
        let crack = CrackConfig { flag_merge, ..CrackConfig::default() };
        let mut m = Machine::with(&X86Config { crack, ..X86Config::default() });
        m.code(
            CODE,
            &assemble(CODE, |a| {
                a.adc(rax, rbx)?;
                a.test(rcx, 2)?;
                a.lea(rcx, qword_ptr(rcx + 1))?;
                a.jne(CODE)?;
                a.inc(rdx)?;
                a.jmp(CODE)
            }),
        );
        let mut of_adc = HashMap::new();
        for _ in 0..200 {
            let s = *m.step();
            assert_ne!(s.decoded, 0, "at {:#x}", s.pc);
            if s.pc == CODE {
                let uops = format!("{:?}", &s.uops[..usize::from(s.n)]);
                assert_eq!(of_adc.entry(s.decoded).or_insert_with(|| uops.clone()), &uops, "{flag_merge:?}");
            }
        }
        assert_eq!(of_adc.len(), 2, "behind the test, and behind the increment: {flag_merge:?}");
    }
}

#[test]
fn adcx_and_adox_are_two_chains() {
    let s = steps(CrackConfig::default(), 5, |a| {
        a.xor(eax, eax)?;
        a.adcx(rax, rbx)?;
        a.adox(rcx, rbx)?;
        a.adcx(rax, rbx)?;
        a.adox(rcx, rbx)
    });
    assert_eq!((s[3][0].dst[1], s[4][0].dst[1]), (C, O));
    assert_eq!((s[3][0].src[2], s[4][0].src[2]), (C, O));
}

#[test]
fn read_modify_write_is_load_operation_store() {
    let s = steps(CrackConfig::default(), 1, |a| a.add(qword_ptr(rsi + rbx * 8), rdx));
    let kinds: Vec<bool> = s[0].iter().map(|u| u.flags.any(UopFlags::STORE)).collect();
    assert_eq!(kinds, [false, false, false, true], "load, add, store data, store");
    let s = steps(CrackConfig::gem5(), 1, |a| a.add(qword_ptr(rsi + rbx * 8), rdx));
    assert_eq!(s[0].len(), 3);
    assert_eq!(sources(&s[0][2]), [gpr(6), gpr(3), T0]);
}

#[test]
fn idioms_and_moves_need_no_execution() {
    let program = |a: &mut CodeAssembler| {
        a.xor(eax, eax)?;
        a.mov(rcx, rbx)?;
        a.vpxor(ymm1, ymm1, ymm1)?;
        a.movaps(xmm2, xmm1)
    };
    let s = steps(CrackConfig::default(), 4, program);
    assert!(s.iter().all(|u| u.len() == 1 && u[0].flags.any(UopFlags::ELIMINATED)), "{s:?}");
    assert_eq!((sources(&s[0][0]), sources(&s[1][0])), (vec![], vec![gpr(3)]));
    let s = steps(CrackConfig::gem5(), 4, program);
    assert!(s.iter().all(|u| !u[0].flags.any(UopFlags::ELIMINATED)));
    assert_eq!(sources(&s[0][0])[0], gpr(0));
}

#[test]
fn tables_set_latencies_and_counts_and_refuse_unknown_names() {
    let table = vec![("adc".to_owned(), 2)];
    let mut c = CrackConfig { latency: table.clone(), uops: table, ..CrackConfig::default() };
    let s = steps(c.clone(), 1, |a| a.adc(rax, rbx));
    assert_eq!((s[0].len(), s[0][1].latency), (2, 2));
    c.uops[0].0 = "adx".into();
    let e = X86Config { crack: c, ..X86Config::default() }.check().expect_err("no such instruction");
    assert!(e.to_string().contains("adx"), "{e}");
}

#[test]
fn wide_accesses_are_split_to_the_width() {
    let s = steps(CrackConfig::gem5(), 2, |a| {
        a.movups(xmm0, ptr(rsi))?;
        a.movntdq(ptr(rdi), xmm0)
    });
    assert_eq!((s[0].len(), s[1].len()), (2, 2));
    assert!(s[1].iter().all(|u| u.flags.any(UopFlags::NON_TEMPORAL) && u.flags.any(UopFlags::STORE)));
}

#[test]
fn compare_and_branch_may_merge() {
    let c = CrackConfig { fuse_cmp_test: true, ..CrackConfig::default() };
    let s = steps(c, 2, |a| {
        a.cmp(rax, rbx)?;
        a.jne(CODE)
    });
    assert!(s[0][0].flags.any(UopFlags::FUSE_HEAD) && s[1][0].flags.any(UopFlags::FUSE_TAIL));
}

/// `adc` as on Sandy Bridge to Haswell.
fn early_sum() -> CrackConfig {
    let two = vec![("adc".to_owned(), 2)];
    CrackConfig {
        latency: two.clone(),
        uops: two,
        carry_latency: vec![("adc".to_owned(), 1)],
        simple_zero: vec![("adc".to_owned(), true)],
        first_decoder: true,
        ..CrackConfig::default()
    }
}

#[test]
fn what_does_not_wait_for_the_carry_is_added_before() {
    let s = steps(early_sum(), 1, |a| a.adc(rax, qword_ptr(rsi)));
    let [load, early, last] = &s[0][..] else { panic!("{s:?}") };
    assert_eq!((load.dst[0], sources(early), early.dst[0], early.latency), (FUSED, vec![FUSED, gpr(0)], T2, 1));
    assert_eq!((sources(last), last.dst, last.latency), (vec![T2, C], [gpr(0), C], 1));
    // Two travel as one, the third by itself.
    assert!(early.flags.any(UopFlags::MICRO_FUSED) && !last.flags.any(UopFlags::MICRO_FUSED));
}

#[test]
fn adding_nothing_but_the_carry_is_one_micro_op() {
    let s = steps(early_sum(), 4, |a| {
        a.adc(rax, 0)?;
        a.adc(eax, 1)?;
        a.adc(bl, 0)?;
        a.adc(rax, rbx)
    });
    assert_eq!((s[0].len(), s[0][0].latency, sources(&s[0][0])), (1, 1, vec![gpr(0), C]));
    assert_eq!((s[1].len(), s[2].len(), s[3].len()), (2, 2, 2), "another number, a byte, a register");
}

#[test]
fn several_micro_ops_want_the_first_decoder() {
    let s = steps(early_sum(), 5, |a| {
        a.add(rax, qword_ptr(rsi))?;
        a.adc(rax, rbx)?;
        a.push(rax)?;
        a.add(qword_ptr(rsi), rax)?;
        a.ret()
    });
    let wants: Vec<bool> = s.iter().map(|u| u[0].flags.any(UopFlags::FIRST_DECODER)).collect();
    assert_eq!(wants, [false, true, false, true, false], "{s:?}");
    assert!(s[4][1].flags.any(UopFlags::MICRO_FUSED), "ret's load and jump travel as one");
}
