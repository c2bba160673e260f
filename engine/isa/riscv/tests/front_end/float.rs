//! Every F and D instruction reaches its operation, with operands, rounding mode and flags in the right places. The
//! values are small enough to be computed in the head; the arithmetic itself is tested in the library.

use crate::common::asm::r;
use crate::common::Machine;
use breakeven_base::OpClass;
use breakeven_riscv::{decode, Extensions};

const BOX: u64 = 0xffff_ffff << 32;

fn single(v: f32) -> u64 {
    u64::from(v.to_bits()) | BOX
}
fn double(v: f64) -> u64 {
    v.to_bits()
}
fn by(d: bool, v: f64) -> u64 {
    if d {
        double(v)
    } else {
        single(v as f32)
    }
}

fn machine(word: u32) -> Machine {
    let mut m = Machine::new(&[word]);
    m.set_csr(0x300, 1 << 13);
    m
}

/// Two float operands (3.0 and -0.5, the third 10.0), a float result.
#[test]
fn float_to_float() {
    let f5 = |n: u32, rm: u32, rs2: u32| (n << 2, rm, rs2);
    let cases = [
        ("fadd", f5(0x00, 7, 3), 2.5, OpClass::FloatAdd),
        ("fsub", f5(0x01, 7, 3), 3.5, OpClass::FloatAdd),
        ("fmul", f5(0x02, 7, 3), -1.5, OpClass::FloatMult),
        ("fdiv", f5(0x03, 7, 3), -6.0, OpClass::FloatDiv),
        ("fsgnj", f5(0x04, 0, 3), -3.0, OpClass::FloatMisc),
        ("fsgnjn", f5(0x04, 1, 3), 3.0, OpClass::FloatMisc),
        ("fsgnjx", f5(0x04, 2, 3), -3.0, OpClass::FloatMisc),
        ("fmin", f5(0x05, 0, 3), -0.5, OpClass::FloatCmp),
        ("fmax", f5(0x05, 1, 3), 3.0, OpClass::FloatCmp),
    ];
    for d in [false, true] {
        for (name, (f7, rm, rs2), want, class) in cases {
            let word = r(0x53, rm, f7 | u32::from(d), 1, 2, rs2);
            let mut m = machine(word);
            m.set_f(2, by(d, 3.0));
            m.set_f(3, by(d, -0.5));
            m.steps(1);
            assert_eq!(m.f(1), by(d, want), "{name} double {d}");
            assert_eq!(m.step.uops[0].class, class, "{name}");
            assert!(decode(word, &Extensions::default()).op.mnemonic().starts_with(name));
        }
        let mut m = machine(r(0x53, 7, 0x2c | u32::from(d), 1, 2, 0));
        m.set_f(2, by(d, 6.25));
        m.steps(1);
        assert_eq!((m.f(1), m.step.uops[0].class), (by(d, 2.5), OpClass::FloatSqrt));
    }
}

#[test]
fn fused() {
    for d in [false, true] {
        for (op, want) in [(0x43, 8.5), (0x47, -11.5), (0x4b, 11.5), (0x4f, -8.5)] {
            // rs3 is f4.
            let mut m = machine(r(op, 7, 4 << 2 | u32::from(d), 1, 2, 3));
            m.set_f(2, by(d, 3.0));
            m.set_f(3, by(d, -0.5));
            m.set_f(4, by(d, 10.0));
            m.steps(1);
            assert_eq!(m.f(1), by(d, want), "{op:#x} double {d}");
            assert_eq!(m.step.uops[0].class, OpClass::FloatMultAcc);
        }
    }
}

#[test]
fn compare_classify_move() {
    for d in [false, true] {
        let run = |f5: u32, rm: u32, a: u64, b: u64, two: bool| {
            let mut m = machine(r(0x53, rm, f5 << 2 | u32::from(d), 10, 2, if two { 3 } else { 0 }));
            m.set_f(2, a);
            m.set_f(3, b);
            m.steps(1);
            (m.x(10), m.csr(0x001))
        };
        let (one, two, nan) = (by(d, 1.0), by(d, 2.0), by(d, f64::NAN));
        assert_eq!((run(0x14, 2, one, one, true), run(0x14, 2, one, two, true)), ((1, 0), (0, 0)), "feq");
        assert_eq!((run(0x14, 1, one, two, true), run(0x14, 1, one, one, true)), ((1, 0), (0, 0)), "flt");
        assert_eq!((run(0x14, 0, one, one, true), run(0x14, 0, two, one, true)), ((1, 0), (0, 0)), "fle");
        assert_eq!((run(0x14, 2, nan, one, true), run(0x14, 1, nan, one, true)), ((0, 0), (0, 16)), "unordered");
        assert_eq!((run(0x1c, 1, one, 0, false).0, run(0x1c, 1, nan, 0, false).0), (1 << 6, 1 << 9), "fclass");
        let moved = if d { double(-1.0) } else { 0xffff_ffff_bf80_0000 };
        assert_eq!(run(0x1c, 0, by(d, -1.0), 0, false).0, moved, "fmv.x");
        let mut m = machine(r(0x53, 0, 0x78 | u32::from(d), 1, 11, 0));
        m.set_x(11, 0x1234_5678_3f80_0000);
        m.steps(1);
        assert_eq!(m.f(1), if d { 0x1234_5678_3f80_0000 } else { single(1.0) }, "fmv from x");
    }
}

#[test]
fn conversions_take_their_rounding_mode() {
    for d in [false, true] {
        // To integers: rs2 selects w, wu, l, lu; static rounding modes rne, rtz, rdn, rup, rmm.
        let to_int = |kind: u32, rm: u32, v: f64| {
            let mut m = machine(r(0x53, rm, 0x60 | u32::from(d), 10, 2, kind));
            m.set_f(2, by(d, v));
            m.steps(1);
            m.x(10) as i64
        };
        let by_mode: Vec<i64> = (0..5).map(|rm| to_int(0, rm, -2.5)).collect();
        assert_eq!(by_mode, [-2, -2, -3, -2, -3]);
        assert_eq!((to_int(1, 1, 3e9), to_int(3, 1, 3e9)), (3_000_000_000u32 as i32 as i64, 3_000_000_000));
        assert_eq!((to_int(2, 1, -3e9), to_int(1, 1, -3.0)), (-3_000_000_000, 0));
        let from_int = |kind: u32, v: u64| {
            let mut m = machine(r(0x53, 7, 0x68 | u32::from(d), 1, 11, kind));
            m.set_x(11, v);
            m.steps(1);
            m.f(1)
        };
        let minus_two = 0x7fff_0000_ffff_fffe;
        assert_eq!(from_int(0, minus_two), by(d, -2.0));
        assert_eq!(from_int(1, 0xffff_0000_8000_0000), by(d, 2147483648.0));
        assert_eq!((from_int(2, u64::MAX), from_int(3, 1 << 63)), (by(d, -1.0), by(d, 9223372036854775808.0)));
    }
    // Between formats; the dynamic mode comes from frm.
    let mut m = machine(r(0x53, 7, 0x20, 1, 2, 1));
    m.set_csr(0x002, 3);
    m.set_f(2, double(1.0 + f64::EPSILON));
    m.steps(1);
    assert_eq!((m.f(1), m.csr(0x001)), (single(1.0 + f32::EPSILON), 1), "fcvt.s.d rounds up");
    let mut m = machine(r(0x53, 0, 0x21, 1, 2, 0));
    m.set_f(2, single(-1.25));
    m.steps(1);
    assert_eq!(m.f(1), double(-1.25), "fcvt.d.s");
}

#[test]
fn flags_accumulate() {
    let mut m = Machine::new(&[r(0x53, 7, 0x0d, 1, 2, 3), r(0x53, 7, 0x0d, 1, 2, 4), r(0x53, 7, 0x01, 1, 2, 2)]);
    m.set_csr(0x300, 1 << 13);
    m.set_f(2, double(1.0));
    m.set_f(3, double(3.0));
    m.steps(1);
    assert_eq!(m.csr(0x001), 1, "1/3 is inexact");
    m.steps(1);
    assert_eq!((m.csr(0x001), m.f(1)), (9, double(f64::INFINITY)), "and 1/0 divides by zero");
    m.steps(1);
    assert_eq!(m.csr(0x001), 9);
}
