//! Vector instructions that come again: their micro-ops are kept, and must be those of a hart that meets them first.

use crate::common::{Machine, RAM};
use breakeven_base::{FrontEnd, MemRef, StepResult, Uop, UopFlags};
use breakeven_riscv::{Chaining, Extensions, RiscvConfig, VectorConfig, VectorTiming};

const DATA: u64 = RAM + 0x8000;
const END: u64 = RAM + (1 << 20);
const CAUSE: u16 = 0x342;
const STATUS: u16 = 0x300;

fn vsetivli(avl: u32, vtype: u32) -> u32 {
    3 << 30 | vtype << 20 | avl << 15 | 7 << 12 | 0x57
}
/// An access of v8 at x11, of bytes (`width` 0) or 64-bit elements (7); `mode` is what stands from bit 20 on.
fn access(op: u32, width: u32, mode: u32) -> u32 {
    mode << 20 | 11 << 15 | width << 12 | 8 << 7 | op
}
/// OP-V of v8, vs2 v16 and vs1 v24.
fn arith(f6: u32, f3: u32) -> u32 {
    f6 << 26 | 1 << 25 | 16 << 20 | 24 << 15 | f3 << 12 | 8 << 7 | 0x57
}

/// Everything that the tests execute: loads and stores of each mode, and arithmetic.
fn instructions() -> Vec<u32> {
    let mut all = vec![arith(0, 0), arith(0x25, 2), arith(0x35, 2)];
    for op in [0x07, 0x27] {
        let (unit, mask, whole, masked, segment) = (1 << 5, 1 << 5 | 0x0b, 1 << 5 | 8, 0, 1 << 9 | 1 << 5);
        let strided = 2 << 6 | 1 << 5 | 0x0c;
        all.extend([access(op, 7, unit), access(op, 0, unit), access(op, 0, mask), access(op, 0, whole)]);
        all.extend([access(op, 7, masked), access(op, 7, segment), access(op, 7, strided)]);
    }
    let fault_only_first = 1 << 5 | 0x10;
    all.push(access(0x07, 7, fault_only_first));
    all
}

fn machine(c: &RiscvConfig) -> Machine {
    let mut m = Machine::with(c, &[]);
    m.set_csr(STATUS, 0x6600);
    m.set_csr(0x305, RAM + 0x1000);
    m.set_x(12, 24);
    m
}

/// A step: what it returned, where it stood and went on, its micro-ops and their references.
type Described = (StepResult, u64, u64, Vec<(Uop, Option<MemRef>)>);

/// What `program` is described as, up to its end or the first trap, on a wrong path if `forked`.
fn describe(m: &mut Machine, program: [u32; 2], base: u64, forked: bool) -> Vec<Described> {
    m.code(RAM, &program);
    m.set_x(11, base);
    m.fe.set_pc(RAM);
    let depth = forked.then(|| m.fe.fork(RAM));
    let mut steps = Vec::new();
    while (RAM..RAM + 8).contains(&m.fe.pc()) {
        let result = m.go();
        let s = &m.step;
        let uops = (0..usize::from(s.n))
            .map(|i| (s.uops[i], s.uops[i].flags.intersects(UopFlags::MEM).then_some(s.mem[i])))
            .collect();
        steps.push((result, s.pc, s.next_pc, uops));
        if result != StepResult::Done {
            break;
        }
    }
    if let Some(depth) = depth {
        m.fe.rollback(depth);
    }
    steps
}

fn the_same_as_at_first_on(timing: VectorTiming) {
    let extensions = Extensions { v: true, ..Extensions::default() };
    let vector = VectorConfig { vlen: 256, dlen: 128, timing };
    let c = RiscvConfig { extensions, vector, ..RiscvConfig::default() };
    let mut again = machine(&c);
    let bases = [DATA, DATA + 64, DATA + 8, DATA + 0xff0, DATA + 3, DATA + 0x2000, END - 16, DATA + 0x40];
    let mut described = 0;
    for instruction in instructions() {
        // e64 and e8 of several LMUL.
        for (avl, vtype) in [(4, 3 << 3), (3, 3 << 3), (0, 3 << 3), (8, 3 << 3 | 1), (31, 3), (5, 3 << 3 | 3)] {
            let program = [vsetivli(avl, vtype), instruction];
            for base in bases {
                for forked in [false, true, false] {
                    let expected = describe(&mut machine(&c), program, base, forked);
                    let got = describe(&mut again, program, base, forked);
                    assert_eq!(got, expected, "{instruction:#x}, vl {avl}, at {base:#x}, forked {forked}");
                    described += got.len();
                }
            }
        }
    }
    assert!(described > 5000, "{described} steps");
}

#[test]
fn micro_ops_of_an_instruction_that_comes_again_are_those_of_its_first_time() {
    the_same_as_at_first_on(VectorTiming { whole_groups: true, memory_startup: 2, ..VectorTiming::default() });
}

#[test]
fn so_they_are_where_beats_chain_and_lines_matter() {
    the_same_as_at_first_on(VectorTiming { chaining: Chaining::Beat, ..VectorTiming::default() });
}

#[test]
fn so_they_are_as_gem5_cracks() {
    the_same_as_at_first_on(VectorTiming { gem5: true, ..VectorTiming::default() });
}

#[test]
fn what_was_refused_has_its_micro_ops_when_it_is_legal() {
    let extensions = Extensions { v: true, ..Extensions::default() };
    let mut m = machine(&RiscvConfig { extensions, ..RiscvConfig::default() });
    let program = [vsetivli(4, 3 << 3), arith(0, 1)];
    m.set_csr(STATUS, 0x0600);
    for _ in 0..2 {
        describe(&mut m, program, DATA, false);
        assert_eq!(m.csr(CAUSE), 2, "floating point is off");
    }
    m.set_csr(STATUS, 0x6600);
    let steps = describe(&mut m, program, DATA, false);
    assert_eq!((steps.len(), steps[1].3.len()), (2, 1), "{steps:?}");
}
