//! Computed results: what Bochs 2.7 does not do as the manual says, the system's switches, wrong paths, micro-ops.

use breakeven_base::bus::ExitCause;
use breakeven_base::{FrontEnd, MemKind, OpClass, Uop, UopFlags};
use breakeven_x86::regs::{OPMASK, V0};
use breakeven_x86::{CrackConfig, Features, X86Config};
use iced_x86::code_asm::*;
use iced_x86::IcedError;

use crate::common::{assemble, exit, Machine, CODE};

type Asm = CodeAssembler;
const DATA: u64 = 0x40_0000;

fn run(config: &X86Config, f: impl FnOnce(&mut Asm) -> Result<(), IcedError>) -> Machine {
    let mut m = Machine::with(config);
    m.fe.enable_avx();
    m.fe.set_gpr(6, DATA);
    m.code(
        CODE,
        &assemble(CODE, |a| {
            f(a)?;
            exit(a)
        }),
    );
    m
}

fn done(f: impl FnOnce(&mut Asm) -> Result<(), IcedError>) -> Machine {
    let mut m = run(&X86Config::default(), f);
    assert_eq!(m.run(), ExitCause::M5Exit, "{}", m.halt_reason());
    m
}

#[test]
fn where_bochs_departs_from_the_manual() {
    let m = done(|a| {
        a.vpternlogd(zmm1, zmm1, zmm1, 0xff)?;
        a.mov(eax, 0x1_2345)?;
        a.kmovd(k1, eax)?;
        a.vpbroadcastmb2q(xmm1, k1)?;
        a.vpbroadcastmw2d(ymm2, k1)?;
        a.vpbroadcastd(zmm3, eax)?;
        a.vpxorq(xmm4, xmm4, xmm4)?;
        a.vinserti32x4(zmm3, zmm3, xmm4, 1)?;
        a.vpconflictd(zmm5, zmm3)
    });
    assert_eq!(m.fe.zmm(1), [0x45, 0x45, 0, 0, 0, 0, 0, 0]);
    assert_eq!(m.fe.zmm(2)[3..5], [0x2345_0000_2345, 0]);
    // Lanes 0 to 3 and 8 to 15 are equal, and 4 to 7.
    let equal = |n: u32| if (4..8).contains(&n) { 0xf0 } else { 0xff0f } & ((1u64 << n) - 1);
    for n in 0..8u32 {
        assert_eq!(m.fe.zmm(5)[n as usize], equal(2 * n) | equal(2 * n + 1) << 32, "lanes {}", 2 * n);
    }
}

#[test]
fn bytes_broadcast_from_memory_to_64_lanes_under_a_mask() {
    let mut m = run(&X86Config::default(), |a| {
        a.mov(rax, 0x8000_0000_0000_0001u64)?;
        a.kmovq(k1, rax)?;
        a.vpbroadcastb(zmm1.k1().z(), byte_ptr(rsi))
    });
    m.put(DATA, 0x77);
    m.run();
    assert_eq!(m.fe.zmm(1), [0x77, 0, 0, 0, 0, 0, 0, 0x77 << 56]);
}

/// A page's last bytes; the next 2 MiB are not present.
fn at_the_end(f: impl FnOnce(&mut Asm) -> Result<(), IcedError>) -> (Machine, u64) {
    let crack = CrackConfig { max_access: 64, ..CrackConfig::default() };
    let mut m = run(&X86Config { crack, ..X86Config::default() }, f);
    let end = DATA + 0x20_0000;
    m.put(breakeven_x86::BOOT_TABLES + 0x2000 + 8 * (end >> 21), 0);
    m.fe.set_gpr(6, end);
    (m, end)
}

#[test]
fn elements_left_out_do_not_fault() {
    let (mut m, end) = at_the_end(|a| {
        a.mov(eax, 0x7)?;
        a.kmovd(k1, eax)?;
        a.vpmovsxbd(zmm1.k1().z(), xmmword_ptr(rsi - 3))?;
        a.vmovdqu8(zmm2.k1(), zmmword_ptr(rsi - 3))?;
        a.vmovdqu8(zmmword_ptr(rsi - 3).k1(), zmm0)
    });
    m.put(end - 8, 0xff02_0100_0000_0000);
    assert_eq!(m.run(), ExitCause::M5Exit, "{}", m.halt_reason());
    assert_eq!(m.fe.zmm(1)[..2], [0x0000_0002_0000_0001, 0xffff_ffff]);
    assert_eq!((m.fe.zmm(2)[0], m.u64(end - 8)), (0x00ff_0201, 0));
    // One that is chosen does, at its page.
    let (mut m, end) = at_the_end(|a| {
        a.mov(eax, 0xf)?;
        a.kmovd(k1, eax)?;
        a.vmovdqu8(zmmword_ptr(rsi - 3).k1(), zmm0)
    });
    assert_eq!((m.run(), m.fe.last_fault()), (ExitCause::TripleFault, Some((14, 2, end))));
}

#[test]
fn a_masked_access_is_one_reference() {
    let (mut m, end) = at_the_end(|a| {
        a.mov(eax, 0b1011_0000)?;
        a.kmovd(k1, eax)?;
        a.vmovdqu8(zmmword_ptr(rsi - 100).k1(), zmm0)?;
        a.vmovdqu8(zmm2.k1(), zmmword_ptr(rsi - 100))?;
        a.vmovdqu8(zmm2.k1(), zmmword_ptr(rsi - 8))?;
        a.kxorq(k1, k1, k1)?;
        a.vmovdqu8(zmm2.k1(), zmmword_ptr(rsi - 8))
    });
    m.step();
    m.step();
    let references = |m: &mut Machine| {
        let s = *m.step();
        let all = s.uops.iter().zip(&s.mem).take(s.n.into()).filter(|(u, _)| u.flags.any(UopFlags::MEM));
        all.map(|(_, r)| (r.kind, r.vaddr.wrapping_sub(end) as i64, r.size)).collect::<Vec<_>>()
    };
    assert_eq!(references(&mut m), [(MemKind::Store, -96, 4)], "from the first chosen byte to the last");
    assert_eq!(references(&mut m), [(MemKind::Load, -100, 64)]);
    assert_eq!(references(&mut m), [(MemKind::Load, -4, 4)], "the whole would fault");
    m.step();
    let s = *m.step();
    assert!(s.mem[..s.n.into()].iter().all(|r| !r.valid), "no element, no reference");
}

#[test]
fn vex_instructions_and_vzeroupper_clear_upper_halves() {
    let m = done(|a| {
        for r in [zmm1, zmm2, zmm3, zmm17] {
            a.vpternlogd(r, r, r, 0xff)?;
        }
        a.vmovdqu(ymm1, ymm2)?;
        a.vpxor(xmm2, xmm3, xmm3)?;
        a.vzeroupper()
    });
    assert_eq!((m.fe.zmm(1), m.fe.zmm(2)), ([!0, !0, 0, 0, 0, 0, 0, 0], [0; 8]));
    assert_eq!((m.fe.zmm(3), m.fe.zmm(17)), ([!0, !0, 0, 0, 0, 0, 0, 0], [!0; 8]));
    assert!(!m.fe.upper_vector_state());
    let legacy = done(|a| {
        a.vpternlogd(zmm1, zmm1, zmm1, 0xff)?;
        a.pxor(xmm1, xmm1)
    });
    assert_eq!(legacy.fe.zmm(1), [0, 0, !0, !0, !0, !0, !0, !0], "a legacy instruction keeps the rest");
}

#[test]
fn it_needs_cpuid_and_the_system() {
    let program = |a: &mut Asm| a.vpxord(zmm0, zmm0, zmm0);
    let without = X86Config { features: Features { avx512: false, ..Features::default() }, ..X86Config::default() };
    let mut m = run(&without, program);
    m.run();
    assert_eq!(m.fe.last_fault().map(|f| f.0), Some(6), "no CPUID bit");
    assert_eq!((m.fe.cpuid(7, 0)[1] >> 16 & 1, m.fe.cpuid(13, 0)[0]), (0, 7));
    let mut m = Machine::new(program);
    m.run();
    assert_eq!(m.fe.last_fault().map(|f| f.0), Some(6), "not switched on");
    assert_eq!((m.fe.cpuid(7, 0)[1] >> 16 & 1, m.fe.cpuid(13, 0)[0]), (1, 0xe7));
    // What is not known stops the machine by name.
    let mut m = run(&X86Config::default(), |a| a.vaddps(zmm0, zmm1, zmm2));
    assert_eq!(m.run(), ExitCause::Unimplemented);
    assert!(m.halt_reason().contains("vaddps"), "{}", m.halt_reason());
}

#[test]
fn a_wrong_path_leaves_wide_registers() {
    let mut m = run(&X86Config::default(), |a| {
        a.vpternlogd(zmm1, zmm1, zmm1, 0xff)?;
        a.vpternlogd(zmm20, zmm20, zmm20, 0xff)?;
        a.kxnorq(k1, k1, k1)?;
        a.nop()?;
        a.vpxord(zmm1, zmm1, zmm1)?;
        a.vpxord(zmm20, zmm20, zmm20)?;
        a.kxorq(k1, k1, k1)?;
        a.vzeroupper()
    });
    for _ in 0..4 {
        m.step();
    }
    let depth = m.fe.fork(m.fe.pc());
    for _ in 0..4 {
        m.step();
    }
    assert_eq!((m.fe.zmm(20), m.fe.opmask(1)), ([0; 8], 0));
    m.fe.rollback(depth);
    assert_eq!((m.fe.zmm(1), m.fe.zmm(20), m.fe.opmask(1)), ([!0; 8], [!0; 8], !0));
    assert!(m.fe.upper_vector_state());
}

fn uops(crack: CrackConfig, n: usize, f: impl FnOnce(&mut Asm) -> Result<(), IcedError>) -> Vec<Uop> {
    let mut m = run(&X86Config { crack, ..X86Config::default() }, f);
    for _ in 1..n {
        m.step();
    }
    let s = *m.step();
    s.uops[..s.n.into()].to_vec()
}

#[test]
fn micro_ops_by_the_widths_of_the_datapath() {
    let of = |max_access, max_operation| CrackConfig { max_access, max_operation, ..CrackConfig::default() };
    let shape = |u: &[Uop]| u.iter().map(|u| (u.class, u.flags.any(UopFlags::MICRO_FUSED))).collect::<Vec<_>>();
    let load = |a: &mut Asm| a.vmovdqu64(zmm1, zmmword_ptr(rsi));
    let store = |a: &mut Asm| a.vmovdqu64(zmmword_ptr(rsi), zmm1);
    let add = |a: &mut Asm| a.vpaddd(zmm1, zmm2, zmm3);
    use OpClass::{FloatMemRead, FloatMemWrite, No_OpClass, SimdAdd};
    assert_eq!(shape(&uops(of(64, 64), 1, load)), [(FloatMemRead, false)]);
    assert_eq!(shape(&uops(of(32, 64), 1, load)), [(FloatMemRead, false), (FloatMemRead, true)]);
    assert_eq!(shape(&uops(of(64, 64), 1, store)), [(No_OpClass, false), (FloatMemWrite, true)]);
    let halves = [(No_OpClass, false), (FloatMemWrite, true), (No_OpClass, false), (FloatMemWrite, true)];
    assert_eq!(shape(&uops(of(32, 64), 1, store)), halves);
    let narrow = CrackConfig { max_store: 32, ..of(64, 64) };
    assert_eq!(shape(&uops(narrow.clone(), 1, store)), halves);
    assert_eq!(shape(&uops(narrow, 1, load)), [(FloatMemRead, false)]);
    assert_eq!(shape(&uops(of(64, 64), 1, add)), [(SimdAdd, false)]);
    assert_eq!(shape(&uops(of(64, 32), 1, add)), [(SimdAdd, false), (SimdAdd, true)]);
    assert_eq!(shape(&uops(of(64, 32), 1, |a| a.evex().vpaddd(ymm1, ymm2, ymm17))), [(SimdAdd, false)]);
}

#[test]
fn masks_are_sources() {
    let whole = CrackConfig { max_access: 64, ..CrackConfig::default() };
    let u = uops(whole.clone(), 1, |a| a.vmovdqu8(zmmword_ptr(rsi).k3(), zmm1));
    assert!(u[0].src.contains(&breakeven_base::Reg(OPMASK + 3)) && u[0].dst[0] == V0, "{u:?}");
    let u = uops(whole.clone(), 1, |a| a.vmovdqu8(zmm1.k3().z(), zmmword_ptr(rsi)));
    assert_eq!(u.len(), 2, "a load, and what applies the mask");
    assert!(u[1].src.contains(&breakeven_base::Reg(OPMASK + 3)), "{u:?}");
    let u = uops(whole.clone(), 1, |a| a.kmovq(k2, rax));
    assert_eq!((u.len(), u[0].dst[0]), (1, breakeven_base::Reg(OPMASK + 2)));
}
