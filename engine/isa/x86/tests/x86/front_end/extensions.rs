//! What the comparison with the host CPU (`host`) leaves out of the extensions: state that it does not carry, the
//! memory kinds of cache control, and that an instruction is there exactly when CPUID says so.

use crate::common::{assemble, exit, load_tables, Machine, CODE};
use breakeven_base::bus::ExitCause;
use breakeven_base::{FrontEnd, MemKind, UopFlags};
use breakeven_x86::X86Config;
use iced_x86::code_asm::*;
use iced_x86::IcedError;

const HANDLER: u64 = 0x21_0000;
const DATA: u64 = 0x40_0000;
const RAX: usize = 0;
const RCX: usize = 1;
const RDX: usize = 2;

type Emit = fn(&mut CodeAssembler) -> Result<(), IcedError>;

/// The kind, address and size of an instruction's reference.
fn touched(f: Emit) -> (MemKind, u64, u16) {
    let mut m = Machine::new(f);
    let r = m.step().mem[0];
    assert!(r.valid);
    (r.kind, r.vaddr, r.size)
}

#[test]
fn cache_control_says_what_the_caches_are_to_do() {
    let cases: [(Emit, MemKind); 8] = [
        (|a| a.clflush(ptr(DATA + 0x47)), MemKind::CboFlush),
        (|a| a.clflushopt(ptr(DATA + 0x47)), MemKind::CboFlush),
        (|a| a.clwb(ptr(DATA + 0x47)), MemKind::CboClean),
        (|a| a.prefetcht0(ptr(DATA + 0x47)), MemKind::PrefetchRead),
        (|a| a.prefetcht1(ptr(DATA + 0x47)), MemKind::PrefetchRead),
        (|a| a.prefetcht2(ptr(DATA + 0x47)), MemKind::PrefetchRead),
        (|a| a.prefetchnta(ptr(DATA + 0x47)), MemKind::PrefetchRead),
        (|a| a.prefetchw(ptr(DATA + 0x47)), MemKind::PrefetchWrite),
    ];
    for (n, (f, kind)) in cases.into_iter().enumerate() {
        let (k, at, _) = touched(f);
        assert_eq!((k, at & !63), (kind, DATA + 0x40), "case {n}");
    }
}

#[test]
fn a_prefetch_never_faults_and_a_flush_does() {
    let mut m = Machine::new(|a| {
        a.mov(rbx, 0x7000_0000_0000u64)?;
        a.prefetcht0(ptr(rbx))?;
        a.prefetchnta(ptr(rbx))?;
        a.prefetchw(ptr(rbx))?;
        a.clflushopt(ptr(rbx))
    });
    assert_eq!(m.run(), ExitCause::TripleFault);
    assert_eq!(m.fe.last_fault().map(|(vector, _, at)| (vector, at)), Some((14, 0x7000_0000_0000)));
    assert_eq!(m.fe.pc(), CODE + assemble(CODE, |a| a.mov(rbx, 0x7000_0000_0000u64)).len() as u64 + 9);
}

#[test]
fn non_temporal_accesses_are_marked() {
    let stores: [Emit; 6] = [
        |a| a.movnti(dword_ptr(DATA), eax),
        |a| a.movntq(qword_ptr(DATA), mm0),
        |a| a.movntps(xmmword_ptr(DATA), xmm0),
        |a| a.movntpd(xmmword_ptr(DATA), xmm0),
        |a| a.movntdq(xmmword_ptr(DATA), xmm0),
        |a| a.vmovntdq(ymmword_ptr(DATA), ymm0),
    ];
    for (n, f) in stores.into_iter().enumerate() {
        let mut m = Machine::new(f);
        m.fe.enable_avx();
        let s = m.step();
        let marked = |u: &breakeven_base::Uop| u.flags.any(UopFlags::NON_TEMPORAL) && u.flags.any(UopFlags::STORE);
        assert!(s.uops[..usize::from(s.n)].iter().any(marked), "case {n}");
    }
    let mut m = Machine::new(|a| a.movntdqa(xmm0, xmmword_ptr(DATA)));
    let s = m.step();
    assert!(s.uops[..usize::from(s.n)].iter().any(|u| u.flags.any(UopFlags::NON_TEMPORAL)));
}

#[test]
fn time_and_the_processor_number() {
    let mut m = Machine::new(|a| {
        a.mov(ecx, 0xc000_0103u32)?;
        a.mov(eax, 9)?;
        a.xor(edx, edx)?;
        a.wrmsr()?;
        a.rdtscp()?;
        exit(a)
    });
    assert_eq!(m.run(), ExitCause::M5Exit);
    assert_eq!([RAX, RDX, RCX].map(|r| m.fe.gpr(r)), [777, 0, 9]);
}

#[test]
fn xgetbv_reads_what_xsetbv_wrote_once_the_system_asks_for_it() {
    let mut m = Machine::new(|a| {
        a.mov(rax, cr4)?;
        a.or(rax, 1 << 18)?;
        a.mov(cr4, rax)?;
        a.xor(ecx, ecx)?;
        a.xor(edx, edx)?;
        a.mov(eax, 7)?;
        a.xsetbv()?;
        a.xor(eax, eax)?;
        a.xgetbv()?;
        a.mov(rbx, rax)?;
        a.mov(eax, 1)?;
        a.cpuid()?;
        exit(a)
    });
    assert_eq!(m.run(), ExitCause::M5Exit);
    assert_eq!(m.fe.gpr(RCX) >> 27 & 1, 1, "CPUID says OSXSAVE");
    let mut m = Machine::new(|a| {
        a.xor(ecx, ecx)?;
        a.xgetbv()
    });
    assert_eq!((m.run(), m.fe.last_fault()), (ExitCause::TripleFault, Some((6, 0, 0))));
}

#[test]
fn what_cpuid_does_not_offer_is_undefined() {
    type Without = fn(&mut X86Config);
    let cases: [(Without, Emit); 5] = [
        (|c| c.features.movbe = false, |a| a.movbe(eax, dword_ptr(DATA))),
        (|c| c.features.adx = false, |a| a.adcx(rax, rbx)),
        (|c| c.features.bmi2 = false, |a| a.mulx(rax, rbx, rcx)),
        (|c| c.features.clflushopt = false, |a| a.clflushopt(ptr(DATA))),
        (|c| c.features.clwb = false, |a| a.clwb(ptr(DATA))),
    ];
    for (n, (without, f)) in cases.into_iter().enumerate() {
        let mut m = Machine::new(f);
        m.step();
        let mut config = X86Config::default();
        without(&mut config);
        let mut m = Machine::with(&config);
        m.code(CODE, &assemble(CODE, f));
        assert_eq!((m.run(), m.fe.last_fault()), (ExitCause::TripleFault, Some((6, 0, 0))), "case {n}");
    }
}

#[test]
fn cpuid_describes_the_configuration() {
    fn leaf(config: &X86Config, leaf: u32) -> [u64; 4] {
        let mut m = Machine::with(config);
        m.code(
            CODE,
            &assemble(CODE, |a| {
                a.mov(eax, leaf)?;
                a.xor(ecx, ecx)?;
                a.cpuid()?;
                exit(a)
            }),
        );
        assert_eq!(m.run(), ExitCause::M5Exit);
        [RAX, 3, RCX, RDX].map(|r| m.fe.gpr(r))
    }
    type Without = fn(&mut X86Config);
    // Leaf, register (eax, ebx, ecx, edx), bit.
    let cases: [(Without, u32, usize, u32); 10] = [
        (|c| c.features.movbe = false, 1, 2, 22),
        (|c| c.features.popcnt = false, 1, 2, 23),
        (|c| c.features.sse4_2 = false, 1, 2, 20),
        (|c| c.features.bmi1 = false, 7, 1, 3),
        (|c| c.features.bmi2 = false, 7, 1, 8),
        (|c| c.features.adx = false, 7, 1, 19),
        (|c| c.features.erms = false, 7, 1, 9),
        (|c| c.features.smap = false, 7, 1, 20),
        (|c| c.features.clflushopt = false, 7, 1, 23),
        (|c| c.features.clwb = false, 7, 1, 24),
    ];
    for (without, at, register, bit) in cases {
        let mut config = X86Config::default();
        config.features.erms = true;
        config.features.smap = true;
        let with = leaf(&config, at)[register];
        without(&mut config);
        let absent = leaf(&config, at)[register];
        assert_eq!(with & !absent, 1 << bit, "leaf {at}, register {register}");
    }
}

#[test]
fn what_is_not_known_is_named() {
    let cases: [(Emit, &str); 4] = [
        (|a| a.vfmadd231ps(xmm0, xmm1, xmm2), "vfmadd231ps"),
        (|a| a.aesenc(xmm0, xmm1), "aesenc"),
        (|a| a.xsave(ptr(DATA)), "xsave"),
        (|a| a.sha1msg1(xmm0, xmm1), "sha1msg1"),
    ];
    for (f, name) in cases {
        let mut m = Machine::new(f);
        m.fe.enable_avx();
        assert_eq!(m.run(), ExitCause::Unimplemented, "{name}");
        let said = m.halt_reason();
        assert!(said.contains(name) && said.contains("0x200000"), "{said}");
    }
}

/// 1.0 / `by`, with this MXCSR; whether it was trapped.
fn quotient(mxcsr: u32, by: f64) -> (bool, u32, f64) {
    let mut m = Machine::new(|a| {
        load_tables(a)?;
        a.divsd(xmm0, xmm1)?;
        exit(a)
    });
    m.handler(19, HANDLER, 0);
    m.code(
        HANDLER,
        &assemble(HANDLER, |a| {
            a.mov(ebx, 1)?;
            exit(a)
        }),
    );
    m.fe.set_mxcsr(mxcsr);
    m.fe.set_ymm(0, [1.0f64.to_bits(), 0, 0, 0]);
    m.fe.set_ymm(1, [by.to_bits(), 0, 0, 0]);
    assert_eq!(m.run(), ExitCause::M5Exit);
    (m.fe.gpr(3) == 1, m.fe.mxcsr(), f64::from_bits(m.fe.ymm(0)[0]))
}

#[test]
fn mxcsr_collects_exceptions_and_traps_those_it_does_not_mask() {
    const MASKED: u32 = 0x1f80;
    assert_eq!(quotient(MASKED, 4.0), (false, MASKED, 0.25));
    assert_eq!(quotient(MASKED | 1, 3.0), (false, MASKED | 0x21, 1.0 / 3.0), "flags stay; inexact comes");
    assert_eq!(quotient(MASKED, 0.0), (false, MASKED | 4, f64::INFINITY));
    assert_eq!(quotient(MASKED, 5e-324), (false, MASKED | 0x2a, f64::INFINITY), "denormal, overflow, inexact");
    // Not masked: the destination stays.
    assert_eq!(quotient(MASKED & !0x200, 0.0), (true, MASKED & !0x200 | 4, 1.0));
    assert_eq!(quotient(MASKED & !0x1000, 3.0), (true, MASKED & !0x1000 | 0x20, 1.0));
}

#[test]
fn the_shadow_stacks_pointer_is_not_there_to_be_read() {
    let mut m = Machine::new(|a| {
        a.mov(rax, 5u64)?;
        a.rdsspq(rax)?;
        exit(a)
    });
    assert_eq!(m.run(), ExitCause::M5Exit);
    assert_eq!(m.fe.gpr(RAX), 5, "with shadow stacks off it leaves the register alone, as the unwinder of C++ expects");
}

#[test]
fn a_dot_product_raises_stage_by_stage() {
    let after = |mxcsr: u32| {
        // The product is tiny and inexact; then it is a denormal operand of the sum.
        let mut m = Machine::new(|a| a.dpps(xmm0, xmm1, 0x1f));
        m.fe.set_ymm(0, [0x0d80_0001, 0, 0, 0]);
        m.fe.set_ymm(1, [0x2b80_0001, 0, 0, 0]);
        m.fe.set_mxcsr(mxcsr);
        m.step();
        m.fe.mxcsr() & 0x3f
    };
    let (denormal, underflow, precision) = (2, 0x10, 0x20);
    assert_eq!(after(0x1f80), denormal | underflow | precision);
    assert_eq!(after(0x1f80 & !(denormal << 7)), denormal | underflow | precision, "the products' flags stay");
    assert_eq!(after(0x1f80 & !(underflow << 7)) & !precision, underflow, "no sum is made");
}
