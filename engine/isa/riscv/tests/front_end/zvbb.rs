//! Zvbb and Zvkb: words and texts as LLVM 22's assembler has them, results computed bit by bit from the specification.
//! Random programs against a qemu that knows them: `tests/test_qemu.py`.

use crate::common::{Machine, RAM};
use breakeven_riscv::{decode, listing, Extensions, Op, RiscvConfig, VectorConfig};

/// Each instruction, its word, whether it is Zvkb's.
const WORDS: [(&str, u32, bool); 18] = [
    ("vandn.vv v8, v4, v2", 0x0641_0457, true),
    ("vandn.vx v8, v4, a0, v0.t", 0x0445_4457, true),
    ("vrol.vv v8, v4, v2, v0.t", 0x5441_0457, true),
    ("vrol.vx v8, v4, a0", 0x5645_4457, true),
    ("vror.vv v8, v4, v2", 0x5241_0457, true),
    ("vror.vx v8, v4, a0", 0x5245_4457, true),
    ("vror.vi v8, v4, 5", 0x5242_b457, true),
    ("vror.vi v8, v4, 37, v0.t", 0x5442_b457, true),
    ("vbrev8.v v8, v4", 0x4a44_2457, true),
    ("vrev8.v v8, v4, v0.t", 0x4844_a457, true),
    ("vbrev.v v8, v4", 0x4a45_2457, false),
    ("vclz.v v8, v4", 0x4a46_2457, false),
    ("vctz.v v8, v4, v0.t", 0x4846_a457, false),
    ("vcpop.v v8, v4", 0x4a47_2457, false),
    ("vwsll.vv v8, v4, v2", 0xd641_0457, false),
    ("vwsll.vx v8, v4, a0", 0xd645_4457, false),
    ("vwsll.vi v8, v4, 31, v0.t", 0xd44f_b457, false),
    ("vwsll.vi v8, v4, 31", 0xd64f_b457, false),
];
const ALL: Extensions = Extensions::ALL;
const DATA: u64 = RAM + 0x8000;
const SCALAR: u64 = 0xfedc_ba98_7654_321b;
/// vl1re8.v, vl2re8.v and vs2r.v
const LOAD1: u32 = 0x0280_0007;
const LOAD2: u32 = 0x2280_0007;
const STORE2: u32 = 0x2280_0027;

fn at(word: u32, v: u32, base: u32) -> u32 {
    word | base << 15 | v << 7
}

#[test]
fn listings_and_the_extensions_they_need() {
    for (text, word, zvkb) in WORDS {
        let line = &listing(&word.to_le_bytes(), RAM, 1)[0];
        assert_eq!(line.text, text);
        assert_eq!(line.needs, ["V", if zvkb { "Zvkb" } else { "Zvbb" }], "{text}");
        let without = |ext: Extensions| decode(word, &ext).op == Op::Illegal;
        assert!(!without(ALL), "{text}");
        assert_eq!(without(Extensions { zvkb: false, ..ALL }), zvkb, "{text}");
        assert_eq!(without(Extensions { zvbb: false, ..ALL }), !zvkb, "{text}");
        assert!(without(Extensions { v: false, ..ALL }), "{text}");
    }
}

/// The element's bits, the lowest first.
fn bits(v: u64, n: usize) -> Vec<bool> {
    (0..n).map(|k| v >> k & 1 != 0).collect()
}
fn number(bits: &[bool]) -> u64 {
    bits.iter().enumerate().map(|(k, &b)| u64::from(b) << k).sum()
}

/// What `name` makes of an element `a` of `n` bits and the second operand `b`.
fn expected(name: &str, a: u64, b: u64, n: usize) -> u64 {
    let a = bits(a, n);
    let amount = b as usize % n;
    let every = |from: &dyn Fn(usize) -> bool| number(&(0..n).map(from).collect::<Vec<_>>());
    match name {
        "vandn" => every(&|k| a[k] && b >> k & 1 == 0),
        "vrol" => every(&|k| a[(k + n - amount) % n]),
        "vror" => every(&|k| a[(k + amount) % n]),
        "vbrev8" => every(&|k| a[k / 8 * 8 + 7 - k % 8]),
        "vrev8" => every(&|k| a[n - 8 - k / 8 * 8 + k % 8]),
        "vbrev" => every(&|k| a[n - 1 - k]),
        "vclz" => a.iter().rev().take_while(|&&b| !b).count() as u64,
        "vctz" => a.iter().take_while(|&&b| !b).count() as u64,
        "vcpop" => a.iter().filter(|&&b| b).count() as u64,
        _ => {
            let amount = b as usize % (2 * n);
            let wide: Vec<bool> = (0..2 * n).map(|k| k >= amount && k - amount < n && a[k - amount]).collect();
            number(&wide)
        }
    }
}

/// `n` bits of `bytes` from element `k` on.
fn element(bytes: &[u8], k: usize, n: usize) -> u64 {
    bytes[k * n / 8..(k + 1) * n / 8].iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
}

/// v0, v2, v4 and v8, v9 as they lie in memory, then v8 and v9 after `word` ran with elements of `8 << sew` bits.
fn run(word: u32, sew: u32) -> (Vec<u8>, Vec<u8>) {
    let setting = sew << 23 | 5 << 7 | 7 << 12 | 0x57;
    let load = [at(LOAD1, 0, 11), at(LOAD1, 2, 12), at(LOAD1, 4, 13), at(LOAD2, 8, 14)];
    let program = [&load[..], &[setting, word, at(STORE2, 8, 15)]].concat();
    let vector = VectorConfig { vlen: 256, dlen: 256, ..VectorConfig::default() };
    let mut m = Machine::with(&RiscvConfig { extensions: ALL, vector, ..RiscvConfig::default() }, &program);
    m.set_csr(0x300, 0x6600);
    m.set_x(10, SCALAR);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for k in 0..20 {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        // Among the values small ones, zero and all ones.
        let value = [state, state >> (state % 64), 0, u64::MAX, 1 << (k * 3)][k as usize % 5];
        m.bus.put(DATA + 8 * k, if k < 4 { state } else { value });
    }
    for n in 0..5 {
        m.set_x(11 + n, DATA + 32 * u64::from(n));
    }
    m.set_x(15, DATA + 0x400);
    m.steps(program.len());
    assert_eq!(m.csr(0x342), 0, "no trap");
    let bytes = |m: &Machine, at: u64, n: u64| m.bus.ram.slice(at, n).expect("in RAM").to_vec();
    (bytes(&m, DATA, 0xc0), bytes(&m, DATA + 0x400, 0x40))
}

#[test]
fn results_are_the_specification_s() {
    let mut elements = 0;
    for (text, word, _) in WORDS {
        let (name, rest) = text.split_once('.').expect("a form");
        let wide = name == "vwsll";
        for sew in 0..if wide { 3 } else { 4 } {
            let n = 8usize << sew;
            let (before, after) = run(word, sew);
            let (v2, v4, v8) = (&before[0x20..0x40], &before[0x40..0x60], &before[0x60..0xa0]);
            let out = if wide { 2 * n } else { n };
            for k in 0..256 / n {
                let last = rest.split(", ").nth(2);
                let b = match last {
                    Some("v2") => element(v2, k, n),
                    Some("a0") => SCALAR,
                    Some(imm) => imm.parse().unwrap_or(0),
                    None => 0,
                };
                let off = text.ends_with("v0.t") && before[k / 8] >> (k % 8) & 1 == 0;
                let want = if off { element(v8, k, out) } else { expected(name, element(v4, k, n), b, n) };
                assert_eq!(element(&after, k, out), want, "{text}, element {k} of {n} bits");
                elements += 1;
            }
        }
    }
    assert!(elements > 800);
}

#[test]
fn what_has_no_such_form_or_width_is_illegal() {
    // vandn.vi; vwsll of 64-bit elements; vror in place of vs1 where nothing is defined.
    for (word, sew) in [(0x0643_3457, 0), (0xd641_0457, 3), (0x4a45_a457, 1), (0x4a47_a457, 2)] {
        let vector = VectorConfig { vlen: 256, dlen: 256, ..VectorConfig::default() };
        let c = RiscvConfig { extensions: ALL, vector, ..RiscvConfig::default() };
        let mut m = Machine::with(&c, &[sew << 23 | 5 << 7 | 7 << 12 | 0x57, word]);
        m.set_csr(0x300, 0x6600);
        m.set_csr(0x305, RAM + 0x1000);
        m.steps(2);
        assert_eq!((m.csr(0x342), m.csr(0x343)), (2, u64::from(word)), "{word:#x}");
    }
}
