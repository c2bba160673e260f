//! The string engine: which mode takes an instruction, what its steps charge, and that memory comes out right.

use crate::common::{assemble, now, Machine, CODE};
use breakeven_base::{FrontEnd, MemKind, UopFlags};
use breakeven_x86::{Pace, RepConfig, StringMode, X86Config};

const SRC: u64 = 0x40_0000;
const DST: u64 = 0x50_0000;

/// What the steps of one `rep movsb` came to.
#[derive(Debug, Default, PartialEq)]
struct Total {
    steps: u32,
    uops: u32,
    /// Latencies of the sequencer's micro-ops.
    cycles: u32,
    loads: u32,
    whole_lines: u32,
    /// Instructions ended.
    last: u32,
}

fn copy(rep: RepConfig, src: u64, dst: u64, count: u64, element: u64) -> Total {
    let mut m = Machine::with(&X86Config { rep, ..X86Config::default() });
    let bytes = count * element;
    for k in 0..bytes.div_ceil(8) + 1 {
        m.put(src / 8 * 8 + 8 * k, (src / 8 + k).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    let before: Vec<u8> = (0..bytes).map(|k| byte(&m, src + k)).collect();
    m.fe.set_gpr(6, src);
    m.fe.set_gpr(7, dst);
    m.fe.set_gpr(1, count);
    m.code(CODE, &assemble(CODE, |a| if element == 8 { a.rep().movsq() } else { a.rep().movsb() }));
    let mut t = Total::default();
    while t.last == 0 {
        let s = *m.step();
        let uops = &s.uops[..usize::from(s.n)];
        t.steps += 1;
        t.uops += u32::from(s.n);
        for (u, r) in uops.iter().zip(&s.mem) {
            t.cycles += u32::from(u.latency);
            t.loads += u32::from(u.flags.any(UopFlags::LOAD));
            t.whole_lines += u32::from(u.flags.any(UopFlags::STORE) && r.kind == MemKind::StoreLine);
            t.last += u32::from(u.flags.any(UopFlags::LAST));
            assert!(!u.flags.any(UopFlags::MEM) || (r.valid && r.size > 0 && r.size <= 64));
        }
        assert!(t.steps < 10_000);
    }
    assert_eq!((m.fe.gpr(1), m.fe.gpr(6), m.fe.gpr(7)), (0, src + bytes, dst + bytes));
    for (k, b) in before.iter().enumerate() {
        assert_eq!(byte(&m, dst + k as u64), *b, "byte {k}");
    }
    t
}

fn byte(m: &Machine, at: u64) -> u8 {
    (m.u64(at / 8 * 8) >> (8 * (at % 8))) as u8
}

fn one(mode: StringMode) -> RepConfig {
    RepConfig { movs: vec![mode], stos: vec![mode] }
}

#[test]
fn time_is_start_up_and_bytes_by_the_pace() {
    let mode = StringMode {
        block: 64,
        startup: 35,
        startup_uops: 20,
        alignment: 16,
        pace: Pace::bytes_per_cycle(30.0),
        pace_misaligned: Pace::bytes_per_cycle(20.0),
        pace_crossed: Pace::bytes_per_cycle(10.0),
        whole_lines: true,
        ..StringMode::default()
    };
    let t = copy(one(mode), SRC, DST, 4096, 1);
    // Rounded down in whole cycles, once: the rest is carried along.
    assert_eq!((t.cycles, t.loads, t.whole_lines, t.steps), (35 + 136, 64, 64, 64 + 3));
    assert_eq!(copy(one(mode), SRC + 3, DST + 3, 4096, 1).cycles, 35 + 204);
    let crossed = copy(one(mode), SRC + 3, DST, 4096, 1);
    assert_eq!((crossed.cycles, crossed.whole_lines), (35 + 409, 64));
    // Blocks end at the destination's lines.
    assert_eq!(copy(one(mode), SRC, DST + 60, 128, 1).loads, 3);
    // Words at an odd address cross lines instead; on a page's end they go one at a time.
    assert_eq!(copy(one(mode), SRC, DST + 61, 16, 8).loads, 2);
    assert_eq!(copy(one(mode), SRC, DST + 0xff5, 16, 8).loads, 1 + 1 + 2);
}

#[test]
fn the_first_mode_that_fits_takes_it() {
    let fast = StringMode {
        min_count: 64,
        co_alignment: 8,
        min_distance: 32,
        block: 64,
        startup: 100,
        ..StringMode::default()
    };
    let slow = StringMode { block: 0, element_cycles: 2, element_uops: 3, backwards: true, ..StringMode::default() };
    let p6 = RepConfig { movs: vec![fast, slow], stos: Vec::new() };
    assert_eq!(
        copy(p6.clone(), SRC, DST, 64, 8),
        Total { steps: 8, uops: 19, cycles: 100, loads: 8, whole_lines: 0, last: 1 }
    );
    for (src, dst, count) in [(SRC, DST, 63), (SRC + 4, DST, 64), (SRC, DST + 4, 64)] {
        let t = copy(p6.clone(), src, dst, count, 8);
        assert_eq!((t.loads, t.cycles), (count as u32, 2 * count as u32));
    }
    // The destination alone.
    let fast = StringMode { co_alignment: 1, destination_alignment: 32, ..fast };
    let to_aligned = RepConfig { movs: vec![fast, slow], stos: Vec::new() };
    for (src, dst, loads) in [(SRC + 4, DST + 64, 8), (SRC + 4, DST + 16, 64), (SRC + 16, DST + 16, 64)] {
        assert_eq!(copy(to_aligned.clone(), src, dst, 64, 8).loads, loads);
    }
    // Overlapping right ahead of itself: each element sees the one before, whatever the mode.
    let near = StringMode { block: 64, ..StringMode::default() };
    let mut m = Machine::with(&X86Config { rep: one(near), ..X86Config::default() });
    m.put(SRC, 0x0807_0605_0403_02ff);
    m.fe.set_gpr(6, SRC);
    m.fe.set_gpr(7, SRC + 1);
    m.fe.set_gpr(1, 7);
    m.code(CODE, &assemble(CODE, |a| a.rep().movsb()));
    for _ in 0..7 {
        m.step();
    }
    assert_eq!((m.u64(SRC), m.fe.gpr(1)), (u64::MAX, 0));
    // AMD's: a destination a little above the source, page for page.
    let aliased = StringMode { min_page_offset: 16, block: 64, ..StringMode::default() };
    let zen = RepConfig { movs: vec![aliased, slow], stos: Vec::new() };
    assert_eq!(copy(zen.clone(), SRC, DST + 15, 256, 1).loads, 256);
    assert_eq!(copy(zen.clone(), SRC, DST + 64, 256, 1).loads, 4);
    // Whether the same place of its page is as slow.
    assert_eq!(copy(zen, SRC, DST, 256, 1).loads, 256);
    let zen = RepConfig { movs: vec![StringMode { equal_page_offset: true, ..aliased }, slow], stos: Vec::new() };
    assert_eq!(copy(zen.clone(), SRC, DST + 1, 256, 1).loads, 256);
    assert_eq!(copy(zen, SRC, DST, 256, 1).loads, 4);
}

#[test]
fn nothing_to_do_costs_the_start_up() {
    let none = StringMode { max_count: 0, startup: 11, ..StringMode::default() };
    let rep = RepConfig { movs: vec![none, StringMode::default()], stos: Vec::new() };
    assert_eq!(copy(rep, SRC, DST, 0, 1), Total { steps: 1, uops: 3, cycles: 11, last: 1, ..Total::default() });
}

#[test]
fn refuses_engines_that_cannot_be() {
    for mode in
        [StringMode { block: 24, ..StringMode::default() }, StringMode { alignment: 3, ..StringMode::default() }]
    {
        assert!(X86Config { rep: one(mode), ..X86Config::default() }.check().is_err());
    }
}

/// Instructions that each move pages may take as long as thousands of others: the bus is told, and the fast path comes back
/// behind the one that has made its observer wait.
#[test]
fn the_fast_path_comes_back_after_long_string_instructions() {
    const BYTES: u64 = 64 * 4096;
    let mut m = Machine::with(&X86Config::default());
    // Again and again: mov ecx, BYTES; mov edi, DST; rep stosb; jmp to the first.
    let mut code = vec![0xb9];
    code.extend((BYTES as u32).to_le_bytes());
    code.push(0xbf);
    code.extend((DST as u32).to_le_bytes());
    code.extend([0xf3, 0xaa, 0xeb, 0xf2]);
    m.code(CODE, &code);
    for instructions in [15, 16, 16] {
        assert_eq!(m.fe.run_fast(&mut m.bus, now(false), 1 << 20), instructions);
        assert_eq!((m.bus.worked, m.fe.gpr(1)), (1, 0), "behind a whole one");
        m.bus.worked = 0;
    }
    assert_eq!(m.bus.ram.slice(DST, BYTES).map(|bytes| bytes.iter().all(|b| *b == m.fe.gpr(0) as u8)), Some(true));
}
