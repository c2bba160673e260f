//! Vectors where random programs against qemu (`tests/test_qemu.py`) do not look: faults in the middle, `vstart`, wrong
//! paths, micro-ops, what is not there.

use crate::common::asm::{addi, NOP};
use crate::common::{Machine, RAM};
use breakeven_base::{FrontEnd, MemKind, StepResult, UopFlags};
use breakeven_riscv::{Chaining, Extensions, MisalignedPolicy, RiscvConfig, VectorConfig, VectorTiming};

const DATA: u64 = RAM + 0x8000;
const END: u64 = RAM + (1 << 20);
const VSTART: u16 = 0x008;
const VL: u16 = 0xc20;
const VTYPE: u16 = 0xc21;
/// e64, and LMUL 1, 2 and 8.
const E64M1: u32 = 3 << 3;
const E64M2: u32 = 3 << 3 | 1;
const E64M8: u32 = 3 << 3 | 3;

fn vsetivli(rd: u32, avl: u32, vtype: u32) -> u32 {
    3 << 30 | vtype << 20 | avl << 15 | 7 << 12 | rd << 7 | 0x57
}
/// vsetvli rd, x0: VLMAX.
fn vsetvli_max(rd: u32, vtype: u32) -> u32 {
    vtype << 20 | 7 << 12 | rd << 7 | 0x57
}
/// A unit-stride load (`op` 0x07) or store (0x27) of 64-bit elements; `how` is lumop.
fn memory(op: u32, how: u32, v: u32, rs1: u32) -> u32 {
    1 << 25 | how << 20 | rs1 << 15 | 7 << 12 | v << 7 | op
}
fn vle64(v: u32, rs1: u32) -> u32 {
    memory(0x07, 0, v, rs1)
}
fn vse64(v: u32, rs1: u32) -> u32 {
    memory(0x27, 0, v, rs1)
}
fn arith(f6: u32, f3: u32, vd: u32, vs2: u32, vs1: u32) -> u32 {
    f6 << 26 | 1 << 25 | vs2 << 20 | vs1 << 15 | f3 << 12 | vd << 7 | 0x57
}
fn vadd_vi(vd: u32, vs2: u32, imm: u32) -> u32 {
    arith(0, 3, vd, vs2, imm)
}

fn config(vlen: u32, dlen: u32) -> RiscvConfig {
    let extensions = Extensions { v: true, ..Extensions::default() };
    RiscvConfig { extensions, vector: VectorConfig { vlen, dlen, ..VectorConfig::default() }, ..RiscvConfig::default() }
}

/// Vectors of 256 bits, switched on; x11 points to DATA, where the numbers 100, 101, ... lie.
fn machine(program: &[u32]) -> Machine {
    machine_of(&config(256, 256), program)
}
fn machine_of(c: &RiscvConfig, program: &[u32]) -> Machine {
    let mut m = Machine::with(c, program);
    m.set_csr(0x300, 0x6600);
    m.set_csr(0x305, RAM + 0x1000);
    m.set_x(11, DATA);
    for k in 0..64 {
        m.bus.put(DATA + 8 * k, 100 + k);
    }
    m
}

#[test]
fn without_the_extension_or_its_state_they_are_illegal() {
    let mut m = Machine::new(&[vsetivli(5, 4, E64M1)]);
    m.set_csr(0x305, RAM + 0x100);
    m.steps(1);
    assert_eq!((m.csr(0x342), m.csr(0x343)), (2, u64::from(vsetivli(5, 4, E64M1))));
    assert_eq!(m.csr(0x301) >> 21 & 1, 0, "misa.V");
    assert_eq!(m.csr(0x300) & 0x600, 0, "mstatus.VS is not there");
    let mut m = machine(&[vsetivli(5, 4, E64M1), vle64(8, 11)]);
    m.set_csr(0x300, 0x6000);
    m.steps(1);
    assert_eq!((m.csr(0x342), m.fe.pc()), (2, RAM + 0x1000), "VS is off");
    m.set_csr(0x300, 0x6200);
    m.fe.set_pc(RAM);
    m.steps(1);
    assert_eq!((m.x(5), m.csr(VL), m.csr(VTYPE)), (4, 4, u64::from(E64M1)));
    assert_eq!(m.csr(0x300) & 0x600, 0x600, "VS is dirty");
    assert_eq!(m.csr(0x300) >> 63, 1, "and so is SD");
}

#[test]
fn a_load_that_faults_in_the_middle_says_where_and_goes_on_there() {
    let mut m = machine(&[vsetivli(0, 4, E64M1), vle64(8, 11), vse64(8, 12)]);
    for (k, v) in [7, 8].into_iter().enumerate() {
        m.bus.put(END - 16 + 8 * k as u64, v);
    }
    m.set_x(11, END - 16);
    m.set_x(12, DATA + 0x100);
    m.steps(2);
    assert_eq!((m.csr(0x342), m.csr(0x343), m.csr(VSTART)), (5, END, 2));
    // The handler moves the pointer so that element 2 is found; elements 0 and 1 are kept.
    m.set_x(11, DATA);
    m.fe.set_pc(RAM + 4);
    m.steps(2);
    assert_eq!(m.csr(VSTART), 0);
    let got: Vec<u64> = (0..4).map(|k| m.bus.u64(DATA + 0x100 + 8 * k)).collect();
    assert_eq!(got, [7, 8, 102, 103]);
}

#[test]
fn fault_only_first_shortens_vl_but_for_element_0() {
    let first = memory(0x07, 0x10, 8, 11);
    let mut m = machine(&[vsetivli(0, 4, E64M1), first]);
    m.set_x(11, END - 16);
    m.steps(2);
    assert_eq!((m.csr(VL), m.csr(0x342), m.fe.pc()), (2, 0, RAM + 8));
    let mut m = machine(&[vsetivli(0, 4, E64M1), first]);
    m.set_x(11, END);
    m.steps(2);
    assert_eq!((m.csr(VL), m.csr(0x342), m.csr(0x343)), (4, 5, END));
}

#[test]
fn vstart_is_where_arithmetic_begins_and_reductions_refuse() {
    let sum = arith(0, 2, 9, 8, 8);
    let mut m = machine(&[vsetivli(0, 4, E64M1), vle64(8, 11), vadd_vi(8, 8, 5), vse64(8, 12), sum]);
    m.set_x(12, DATA + 0x100);
    m.steps(2);
    m.set_csr(VSTART, 3);
    m.steps(2);
    let got: Vec<u64> = (0..4).map(|k| m.bus.u64(DATA + 0x100 + 8 * k)).collect();
    assert_eq!(got, [100, 101, 102, 108]);
    m.set_csr(VSTART, 1);
    m.steps(1);
    assert_eq!(m.csr(0x342), 2);
}

#[test]
fn a_wrong_path_leaves_nothing_behind() {
    let wrong = RAM + 0x40;
    let mut m = machine(&[vsetivli(5, 4, E64M1), vle64(8, 11), NOP, vse64(8, 12)]);
    m.code(wrong, &[vsetvli_max(5, E64M8), vle64(8, 13), vadd_vi(8, 8, 1), vse64(8, 11), addi(5, 0, 9)]);
    m.set_x(12, DATA + 0x100);
    // Part of what the wrong path reads is not there: those elements read zero, and nothing is reported.
    m.set_x(13, END - 64);
    m.steps(2);
    let depth = m.fe.fork(wrong);
    let mut steps = 0;
    while m.fe.pc() != wrong + 20 {
        assert_eq!(m.go(), StepResult::Done);
        steps += 1;
    }
    assert!(steps >= 5, "eight micro-ops a step at most");
    m.fe.rollback(depth);
    assert_eq!((m.x(5), m.csr(VL), m.csr(VTYPE), m.csr(0x342)), (4, 4, u64::from(E64M1), 0));
    m.steps(2);
    let got: Vec<u64> = (0..4).map(|k| m.bus.u64(DATA + 0x100 + 8 * k)).collect();
    assert_eq!(got, [100, 101, 102, 103]);
    assert_eq!(m.bus.u64(DATA), 100, "the wrong path's store");
}

#[test]
fn a_wrong_path_given_up_within_an_instruction_is_forgotten() {
    let wrong = RAM + 0x40;
    let mut m = machine_of(&config(256, 64), &[vsetvli_max(5, E64M8), NOP, NOP]);
    m.code(wrong, &[vle64(8, 11)]);
    m.steps(1);
    let depth = m.fe.fork(wrong);
    assert_eq!(m.go(), StepResult::Done);
    assert_eq!(m.fe.pc(), wrong, "32 micro-ops do not fit into a step");
    m.fe.rollback(depth);
    m.steps(1);
    assert_eq!((m.step.pc, m.step.n), (RAM + 4, 1));
}

#[test]
fn memory_is_cracked_into_pieces_of_the_datapath() {
    let mut m = machine_of(&config(256, 128), &[vsetvli_max(5, E64M8), vle64(8, 11)]);
    m.steps(1);
    let mut pieces = Vec::new();
    let (mut first, mut last) = (0, 0);
    for _ in 0..2 {
        m.steps(1);
        for (u, r) in m.step.uops.iter().zip(&m.step.mem).take(m.step.n.into()) {
            assert_eq!((u.flags.any(UopFlags::LOAD), r.kind, r.size), (true, MemKind::Load, 16));
            pieces.push((r.vaddr, u.dst[0].0));
            first += u32::from(u.flags.any(UopFlags::FIRST));
            last += u32::from(u.flags.any(UopFlags::LAST));
        }
    }
    let want: Vec<(u64, u8)> =
        (0..16).map(|k| (DATA + 16 * k, if k % 2 == 1 { 64 + 8 + (k / 2) as u8 } else { 0 })).collect();
    assert_eq!((pieces, first, last), (want, 1, 1));
    assert_eq!((m.fe.pc(), m.fe.retired()), (RAM + 8, 2));
}

/// A load of three doublewords into a group of two registers: 24 of its 64 bytes, on a datapath of 16.
fn short_load(whole_groups: bool) -> Vec<(u16, bool, bool)> {
    let mut c = config(256, 128);
    c.vector.timing.whole_groups = whole_groups;
    let mut m = machine_of(&c, &[vsetivli(5, 3, E64M2), vle64(8, 11)]);
    m.steps(2);
    let uops = m.step.uops.iter().zip(&m.step.mem).take(m.step.n.into());
    uops.map(|(u, r)| (r.size, u.flags.any(UopFlags::LOAD), u.flags.any(UopFlags::LAST))).collect()
}

#[test]
fn a_group_that_vl_leaves_empty_takes_time_where_the_machine_says_so() {
    assert_eq!(short_load(false), [(16, true, false), (8, true, true)]);
    // The beats for the rest go to no memory.
    assert_eq!(short_load(true), [(16, true, false), (8, true, false), (0, false, false), (0, false, true)]);
}

#[test]
fn arithmetic_is_a_micro_op_a_register_and_further_beats_are_fused() {
    let mut m = machine_of(&config(256, 128), &[vsetvli_max(5, E64M2), vadd_vi(8, 4, 1)]);
    m.steps(2);
    let uops: Vec<(u8, u8, bool)> = m.step.uops[..m.step.n.into()]
        .iter()
        .map(|u| (u.src[0].0, u.dst[0].0, u.flags.any(UopFlags::MICRO_FUSED)))
        .collect();
    assert_eq!(uops, [(68, 0, false), (68, 72, true), (69, 0, false), (69, 73, true)]);
}

/// The micro-ops of the last instruction of `program` with `timing`, on registers of 256 bits and a datapath of 128: whether
/// each is a reference, its second and third source and its destination, as numbers of vector registers (0: none).
fn cracked(timing: VectorTiming, program: &[u32]) -> Vec<(bool, u8, u8, u8)> {
    let mut c = config(256, 128);
    c.vector.timing = timing;
    let mut m = machine_of(&c, program);
    m.set_x(12, 16);
    let mut uops = Vec::new();
    while m.fe.pc() != RAM + 4 * program.len() as u64 {
        let last = m.fe.pc() == RAM + 4 * (program.len() - 1) as u64;
        m.steps(1);
        let v = |r: breakeven_base::Reg| r.0.saturating_sub(63);
        let step = m.step.uops[..m.step.n.into()].iter().filter(|_| last);
        uops.extend(step.map(|u| (u.flags.any(UopFlags::MEM), v(u.src[0]), v(u.src[1]), v(u.dst[0]))));
    }
    // Register n is n + 1 here, so that v0 is told from none.
    uops
}

#[test]
fn chaining_is_which_register_is_waited_for_and_which_beat_carries_it() {
    let with = |chaining| VectorTiming { chaining, ..VectorTiming::default() };
    let vadd = |vd, vs2, vs1| arith(0, 0, vd, vs2, vs1);
    let program = [vsetvli_max(5, E64M2), vadd(8, 4, 2)];
    let sources = |rows: Vec<(bool, u8, u8, u8)>| rows.iter().map(|r| (r.1, r.2)).collect::<Vec<_>>();
    let results = |rows: Vec<(bool, u8, u8, u8)>| rows.iter().map(|r| r.3).collect::<Vec<_>>();
    // By register, the default; without chaining each waits for the last of its group.
    assert_eq!(VectorTiming::default(), with(Chaining::Register));
    assert_eq!(sources(cracked(with(Chaining::Register), &program)), [(5, 3), (5, 3), (6, 4), (6, 4)]);
    assert_eq!(sources(cracked(with(Chaining::Group), &program)), [(6, 4); 4]);
    assert_eq!(results(cracked(with(Chaining::Group), &program)), [0, 9, 0, 10]);
    // By beat: the first of a register's two carries it.
    assert_eq!(results(cracked(with(Chaining::Beat), &program)), [9, 0, 10, 0]);
    assert_eq!(sources(cracked(with(Chaining::Beat), &program)), [(5, 3), (0, 0), (6, 4), (0, 0)]);
    // Of a group that vl fills by half the last register in use is waited for.
    let short = [vsetivli(5, 3, E64M2), vadd(8, 4, 2)];
    assert_eq!(sources(cracked(with(Chaining::Group), &short)), [(5, 3), (5, 3), (6, 4), (6, 4)]);
    let store = [vsetvli_max(5, E64M2), vse64(8, 11)];
    assert_eq!(cracked(with(Chaining::Group), &store).iter().map(|r| r.2).collect::<Vec<_>>(), [10; 4]);
    assert_eq!(cracked(with(Chaining::Beat), &store).iter().map(|r| r.2).collect::<Vec<_>>(), [9, 9, 10, 10]);
    let load = [vsetvli_max(5, E64M2), vle64(8, 11)];
    assert_eq!(results(cracked(with(Chaining::Beat), &load)), [9, 0, 10, 0]);
    // v9 lies in two lines: what it has of the second is not there with the first piece.
    let crossing = [vsetvli_max(5, E64M2), addi(11, 11, 16), vle64(8, 11)];
    assert_eq!(results(cracked(with(Chaining::Beat), &crossing)), [9, 0, 0, 10]);
}

#[test]
fn start_up_and_slow_elements_are_beats() {
    let beats = |timing, program: &[u32]| cracked(timing, program).iter().map(|r| r.0).collect::<Vec<_>>();
    let slow = VectorTiming {
        startup: 2,
        memory_startup: 1,
        strided_cycles: 2,
        indexed_cycles: 3,
        segment_cycles: 2,
        ..VectorTiming::default()
    };
    let vadd = [vsetvli_max(5, E64M1), vadd_vi(8, 4, 1)];
    assert_eq!(beats(VectorTiming::default(), &vadd).len(), 2);
    assert_eq!(beats(slow, &vadd).len(), 4);
    assert_eq!(beats(slow, &[vsetvli_max(5, E64M1), vle64(8, 11)]), [false, true, true]);
    let (two, strided) = (vsetivli(5, 2, E64M1), vle64(8, 11) | 2 << 26 | 12 << 20);
    assert_eq!(beats(slow, &[two, strided]), [false, true, false, true, false]);
    // Indices: v4, element numbers of 8 bytes (vid.v).
    let (vid, indexed) = (0x5208_a257, vle64(8, 11) | 1 << 26 | 4 << 20);
    assert_eq!(beats(slow, &[two, vid, indexed]), [false, true, false, false, true, false, false]);
    let segment = vle64(8, 11) | 1 << 29;
    assert_eq!(beats(slow, &[two, segment]), [false, true, false, true, false, false, false]);
    for (bad, name) in [
        (VectorTiming { strided_cycles: 0, ..slow }, "riscv.strided_element_cycles"),
        (VectorTiming { startup: 65, ..slow }, "riscv.vector_startup_cycles"),
    ] {
        let mut c = config(256, 128);
        c.vector.timing = bad;
        assert_eq!(c.check().expect_err("cannot be meant").path, name);
    }
}

#[test]
fn gem5_s_micro_ops() {
    let rows = |program: &[u32]| cracked(VectorTiming { gem5: true, ..VectorTiming::default() }, program);
    let vadd = |masked: u32| arith(0, 0, 8, 4, 2) & !(masked << 25);
    // Two registers: no further beats; with vl behind the first, one; without elements, one that does nothing.
    let wide = vsetvli_max(5, E64M2);
    assert_eq!(rows(&[wide, vadd(0)]), [(false, 5, 3, 9), (false, 6, 4, 10)]);
    assert_eq!(rows(&[vsetivli(5, 3, E64M2), vadd(1)]), [(false, 5, 3, 9)]);
    assert_eq!(rows(&[vsetivli(5, 0, E64M2), vadd(0)]).len(), 1);
    // vmseq.vv v10: results in temporaries (register 97), merged.
    let compare = rows(&[wide, arith(0x18, 0, 10, 4, 2)]);
    assert_eq!(compare, [(false, 5, 3, 34), (false, 6, 4, 34), (false, 34, 11, 11)]);
    // A load of registers reads what it overwrites; a store what it stores.
    assert_eq!(rows(&[wide, vle64(8, 11)]), [(true, 0, 9, 9), (true, 0, 10, 10)]);
    assert_eq!(rows(&[wide, vse64(8, 11)]), [(true, 0, 9, 0), (true, 0, 10, 0)]);
    // Fault-only-first: vl (register 96) comes last.
    assert_eq!(rows(&[wide, memory(0x07, 0x10, 8, 11)])[2], (false, 9, 10, 33));
    // Strided elements follow each other through their register.
    let two = vsetivli(5, 2, E64M1);
    assert_eq!(rows(&[two, vle64(8, 11) | 2 << 26 | 12 << 20]), [(true, 0, 0, 9); 2]);
    // Two fields of four elements: a register each.
    let segment = rows(&[vsetvli_max(5, E64M1), vle64(8, 11) | 1 << 29]);
    assert_eq!(segment, [(true, 0, 34, 34), (true, 0, 34, 34), (false, 34, 9, 9), (false, 34, 10, 10)]);
}

#[test]
fn arithmetic_leaves_out_what_vl_does_not_reach_where_the_machine_says_so() {
    let count = |short_groups, avl, word| {
        let timing = VectorTiming { short_groups, ..VectorTiming::default() };
        cracked(timing, &[vsetivli(5, avl, E64M8), word]).len()
    };
    // Registers of four elements, two beats each.
    let vadd = vadd_vi(8, 16, 1);
    assert_eq!(
        [count(false, 5, vadd), count(true, 5, vadd), count(true, 4, vadd), count(true, 0, vadd)],
        [16, 4, 2, 2]
    );
    // vmv8r.v does not look at vl.
    assert_eq!(count(true, 5, arith(0x27, 3, 8, 16, 7)), 16);
}

#[test]
fn an_indexed_access_waits_for_the_register_of_its_index() {
    // e64, LMUL 2: elements 4 to 7 have their indices in v5.
    let program = [vsetvli_max(5, E64M2), vle64(8, 11) | 1 << 26 | 4 << 20];
    let third = {
        let mut m = machine_of(&config(256, 256), &program);
        m.steps(2);
        m.step.uops[..8].iter().map(|u| u.src[2].0 - 64).collect::<Vec<_>>()
    };
    assert_eq!(third, [4, 4, 4, 4, 5, 5, 5, 5]);
}

#[test]
fn misaligned_elements_have_a_policy_of_their_own() {
    let run = |scalar, vector, word| {
        let mut c = config(256, 128);
        (c.misaligned, c.vector_misaligned) = (scalar, vector);
        let mut m = machine_of(&c, &[vsetivli(5, 2, E64M1), word]);
        m.set_x(11, DATA + 4);
        m.steps(2);
        (m.csr(0x342), m.csr(VSTART), m.fe.pc() - RAM)
    };
    use MisalignedPolicy::{Hardware, Trap};
    let (load, scalar_load) = (vle64(8, 11), crate::common::asm::ld(5, 11, 0));
    assert_eq!(run(Trap, Some(Hardware), load), (0, 0, 8));
    assert_eq!(run(Hardware, Some(Trap), load), (4, 0, 0x1000));
    assert_eq!(run(Trap, None, load), (4, 0, 0x1000));
    assert_eq!(run(Hardware, Some(Trap), scalar_load), (0, 0, 8));
    assert_eq!(run(Hardware, Some(Trap), vse64(8, 11)), (6, 0, 0x1000));
}

#[test]
fn conversions_with_a_rounding_of_their_own() {
    // vfcvt.x.f.v and vfcvt.rtz.x.f.v of 1.75; vfncvt.rod.f.f.w of 1 + 2^-50 and vfncvt.f.f.w of the same.
    let program = [
        vsetivli(0, 1, E64M1),
        vle64(8, 11),
        arith(0x12, 1, 9, 8, 1),
        vse64(9, 12),
        arith(0x12, 1, 9, 8, 7),
        vse64(9, 12),
    ];
    let mut m = machine(&program);
    m.bus.put(DATA, 1.75f64.to_bits());
    m.set_x(12, DATA + 0x100);
    m.steps(4);
    assert_eq!(m.bus.u64(DATA + 0x100), 2);
    m.steps(2);
    assert_eq!(m.bus.u64(DATA + 0x100), 1);
    let e32 = 2 << 3;
    let program = [
        vsetivli(0, 1, E64M1),
        vle64(8, 11),
        vsetivli(0, 1, e32),
        arith(0x12, 1, 10, 8, 0x15),
        arith(0x12, 1, 12, 8, 0x14),
        vsetivli(0, 1, E64M1),
        vse64(10, 12),
        vse64(12, 13),
    ];
    let mut m = machine(&program);
    m.bus.put(DATA, (1.0f64 + 2f64.powi(-50)).to_bits());
    m.set_x(12, DATA + 0x100);
    m.set_x(13, DATA + 0x200);
    m.steps(8);
    assert_eq!(m.bus.u64(DATA + 0x100) as u32, 1.0f32.to_bits() | 1);
    assert_eq!(m.bus.u64(DATA + 0x200) as u32, 1.0f32.to_bits());
}

#[test]
fn the_fast_path_executes_them_too() {
    let program = [vsetivli(5, 4, E64M1), vle64(8, 11), vadd_vi(8, 8, 1), vse64(8, 12)];
    let mut m = machine(&program);
    m.set_x(12, DATA + 0x100);
    assert_eq!(m.fe.run_fast(&mut m.bus, crate::common::now(false), 4), 4);
    assert_eq!((m.fe.pc(), m.bus.u64(DATA + 0x118)), (RAM + 16, 104));
}

#[test]
fn sizes_that_no_unit_has_are_refused() {
    for (vlen, dlen, name) in [(96, 64, "riscv.vlen"), (2048, 64, "riscv.vlen"), (256, 512, "riscv.dlen")] {
        let error = config(vlen, dlen).check().expect_err("cannot be built");
        assert_eq!(error.path, name);
    }
}
