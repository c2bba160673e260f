//! Random programs: nothing panics, described and fast execution agree, and a wrong path can be taken anywhere and
//! leaves the state as it was.

use crate::common::{now, Machine, DEVICE, RAM};
use breakeven_base::{FrontEnd, MemRef, PathEnd, PathInst, References, Step, StepResult, UopFlags};
use breakeven_riscv::{decode, describe, Extensions, MisalignedPolicy, Mode, Op, RiscvConfig};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};

const WORDS: u64 = 1500;
const EXTENSIONS: Extensions = Extensions::ALL;

/// The same cases in each run: a change, not chance, decides whether a test passes.
fn same(cases: u32) -> Config {
    let rng_seed = RngSeed::Fixed(1);
    Config { cases, rng_seed, failure_persistence: None, max_local_rejects: u32::MAX, ..Config::default() }
}

/// A word that decodes to something, but one in eight.
fn word() -> impl Strategy<Value = u32> {
    const MAJOR: &[u32] = &[
        0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x07, 0x27, 0x13, 0x1b, 0x33, 0x3b, 0x0f, 0x2f, 0x43, 0x53, 0x73,
        0x57, 0x57,
    ];
    let compressed = (any::<u32>(), 0..3_u32).prop_map(|(raw, low)| raw & !3 | low);
    let full = (any::<u32>(), select(MAJOR)).prop_map(|(raw, major)| raw & !0x7f | major);
    let legal = |w: &u32| decode(*w, &EXTENSIONS).op != Op::Illegal;
    prop_oneof![
        1 => any::<u32>(),
        2 => compressed.prop_filter("an instruction", legal),
        5 => full.prop_filter("an instruction", legal),
    ]
}

/// A program and the state it starts in: registers point at RAM, a device, and nowhere; traps go on at a random place.
#[derive(Clone, Debug)]
struct Program {
    words: Vec<u32>,
    policy: MisalignedPolicy,
    vectors: [u64; 2],
    medeleg: u64,
    x: Vec<u64>,
    f: Vec<u64>,
    mstatus: u64,
}

fn programs() -> impl Strategy<Value = Program> {
    let policy = prop_oneof![
        1 => Just(MisalignedPolicy::Trap),
        1 => Just(MisalignedPolicy::Pma(vec![RAM..RAM + 0x8_0000])),
        2 => Just(MisalignedPolicy::Hardware),
    ];
    let vector = (0..WORDS / 2).prop_map(|n| RAM + n * 4);
    let x = prop_oneof![
        1 => any::<u64>(),
        1 => Just(DEVICE),
        1 => (0..WORDS * 4).prop_map(|n| RAM + n),
        3 => (0..0x8000_u64).prop_map(|n| RAM + 0x4_0000 + n * 8),
    ];
    let f = (any::<u64>(), any::<bool>()).prop_map(|(v, boxed)| if boxed { v | 0xffff_ffff << 32 } else { v });
    let mode = select(&[Mode::M, Mode::S, Mode::U][..]);
    let mstatus = (mode, any::<u64>()).prop_map(|(mode, v)| (mode as u64) << 11 | 1 << 13 | 1 << 9 | v & 0xe_0000);
    let words = vec(word(), WORDS as usize);
    (words, policy, [vector.clone(), vector], any::<u64>(), vec(x, 32), vec(f, 32), mstatus).prop_map(
        |(words, policy, vectors, medeleg, x, f, mstatus)| Program { words, policy, vectors, medeleg, x, f, mstatus },
    )
}

fn machine(p: &Program) -> Machine {
    let misaligned = p.policy.clone();
    let mut m = Machine::with(&RiscvConfig { misaligned, extensions: EXTENSIONS, ..RiscvConfig::default() }, &p.words);
    m.set_csr(0x3b0, u64::MAX >> 10);
    m.set_csr(0x3a0, 0x1f);
    m.set_csr(0x305, p.vectors[0]);
    m.set_csr(0x105, p.vectors[1]);
    m.set_csr(0x302, p.medeleg);
    for n in 1..32 {
        m.set_x(n, p.x[usize::from(n)]);
        m.set_f(n, p.f[usize::from(n)]);
    }
    m.set_csr(0x300, p.mstatus);
    m.set_csr(0x341, RAM);
    m.code(RAM + 0x8_0000, &[crate::common::asm::MRET]);
    m.fe.set_pc(RAM + 0x8_0000);
    m
}

/// Everything that a program can have changed, RAM as a checksum.
fn state(m: &mut Machine) -> (Vec<u64>, u64) {
    let mut v: Vec<u64> = (0..32).map(|n| m.x(n)).chain((0..32).map(|n| m.f(n))).collect();
    v.extend([m.fe.pc(), m.fe.mode() as u64, m.fe.retired(), m.csr(0x300), m.csr(0x341), m.csr(0x342), m.csr(0x180)]);
    let ram = m.bus.ram.slice(RAM, 1 << 20).expect("in RAM");
    let sum = ram.chunks(8).fold(0u64, |s, c| s.rotate_left(5) ^ c.iter().fold(0, |v, &b| v << 8 | u64::from(b)));
    (v, sum)
}

fn decodes_and_describes_itself(raw: u32, describes: bool) {
    let i = decode(raw, &EXTENSIONS);
    assert_eq!(i.len, if raw & 3 == 3 { 4 } else { 2 });
    assert!(i.uop.flags.any(UopFlags::FIRST) && i.uop.flags.any(UopFlags::LAST));
    if describes {
        assert!(i.op.is_vector() || describe(raw).contains(i.op.mnemonic()));
    }
}

#[test]
fn every_halfword_decodes_and_describes_itself() {
    (0..0x1_0000).for_each(|raw| decodes_and_describes_itself(raw, raw % 16 == 0));
}

/// Whole instructions (a vector instruction may take several steps), or traps.
fn instructions(m: &mut Machine, n: usize) {
    for _ in 0..n {
        loop {
            m.steps(1);
            if m.step.uops[usize::from(m.step.n) - 1].flags.any(UopFlags::LAST) {
                break;
            }
        }
    }
}

/// `n` instructions by steps, each a micro-op, and their references.
fn noted_as_described(m: &mut Machine, n: usize, references: &mut References) {
    for _ in 0..n {
        let pc = m.fe.pc();
        m.steps(1);
        references.fetch(pc);
        if m.step.uops[0].flags.any(UopFlags::MEM) && m.step.mem[0].valid {
            references.note(&m.step.mem[0]);
        }
    }
}

fn fast_and_described_execution_agree(program: &Program) {
    let mut a = machine(program);
    let mut b = Machine { fe: a.fe.clone(), bus: crate::common::TestBus::new(1 << 20), step: a.step };
    let image = a.bus.ram.slice(RAM, 1 << 20).expect("in RAM").to_vec();
    b.bus.ram.slice_mut(RAM, 1 << 20).expect("in RAM").copy_from_slice(&image);
    let mut c = Machine { fe: a.fe.clone(), bus: crate::common::TestBus::new(1 << 20), step: a.step };
    c.bus.ram.slice_mut(RAM, 1 << 20).expect("in RAM").copy_from_slice(&image);
    let (mut noted, mut described) = (References::new(64), References::new(64));
    let mut done = 0;
    while done < 3000 {
        // As the fast path, but what is noted is what the described steps refer to.
        let n = c.fe.run_noting(&mut c.bus, now(true), 100, &mut noted) as usize;
        done += n;
        if n > 0 {
            noted_as_described(&mut b, n, &mut described);
            assert_eq!(noted.take(), described.take());
        }
        instructions(&mut b, 1);
        instructions(&mut c, 1);
        done += 1;
    }
    assert_eq!(state(&mut c), state(&mut b));
    let mut b = Machine { fe: a.fe.clone(), bus: crate::common::TestBus::new(1 << 20), step: a.step };
    b.bus.ram.slice_mut(RAM, 1 << 20).expect("in RAM").copy_from_slice(&image);
    let mut done = 0;
    while done < 3000 {
        // The fast path, then one described step over whatever it left; the other machine steps all the way.
        let n = a.fe.run_fast(&mut a.bus, now(true), 100) as usize;
        instructions(&mut b, n);
        instructions(&mut a, 1);
        instructions(&mut b, 1);
        done += n + 1;
    }
    assert_eq!(state(&mut a), state(&mut b));
}

/// Steps on the right path, then down a wrong one: where its forks go, as offsets, most steps none.
type Excursion = (usize, u64, Vec<Option<u64>>);

fn excursions() -> impl Strategy<Value = Vec<Excursion>> {
    let fork = 0..WORDS * 2;
    vec((0..20_usize, fork.clone(), vec(proptest::option::weighted(0.12, fork), 0..60)), 60)
}

fn wrong_paths_change_nothing(program: &Program, excursions: &[Excursion]) {
    let mut m = machine(program);
    for (before, first, path) in excursions {
        m.steps(*before);
        let before = state(&mut m);
        let log = m.bus.device_log.len();
        let depth = m.fe.fork(RAM + first * 2);
        for fork in path {
            if let Some(at) = fork {
                m.fe.fork(RAM + at * 2);
            }
            match m.go() {
                StepResult::Done => assert!(!m.step.uops[0].flags.any(UopFlags::TRAP)),
                other => assert_eq!(other, StepResult::Blocked),
            }
        }
        m.fe.rollback(depth);
        assert_eq!(m.fe.depth(), 0);
        assert_eq!(before, state(&mut m));
        assert_eq!(log, m.bus.device_log.len());
    }
}

/// What may be done to a path: nothing; from instruction n on it goes elsewhere, or is another instruction's; the reference of
/// instruction n, or the next one with one, is refused.
#[derive(Clone, Copy, Debug)]
enum Change {
    None,
    Elsewhere(usize),
    Another(usize),
    Refused(usize),
}

fn changes() -> impl Strategy<Value = Vec<(usize, Change)>> {
    let change = prop_oneof![
        2 => Just(Change::None),
        1 => (0..30_usize).prop_map(Change::Elsewhere),
        1 => (0..30_usize).prop_map(Change::Another),
        2 => (0..30_usize).prop_map(Change::Refused),
    ];
    vec((0..40_usize, change), 12)
}

/// Programs that seldom trap: addresses come from x16 to x31, which no instruction writes.
fn quiet_programs() -> impl Strategy<Value = Program> {
    const MAJOR: &[u32] = &[0x03, 0x03, 0x23, 0x23, 0x13, 0x1b, 0x33, 0x3b, 0x37, 0x17, 0x63];
    let word = (any::<u32>(), select(MAJOR)).prop_map(|(raw, major)| {
        let low = raw & !0x7f & !(0x10 << 7) | major;
        if matches!(major, 0x03 | 0x23) {
            low | 0x10 << 15
        } else {
            low
        }
    });
    let words = vec(word.prop_filter("an instruction", |w| decode(*w, &EXTENSIONS).op != Op::Illegal), WORDS as usize);
    let x = vec((0..0x8000_u64).prop_map(|n| RAM + 0x4_0000 + n * 8), 32);
    (programs(), words, x).prop_map(|(program, words, x)| Program { words, x, ..program })
}

/// A copy with memory of its own.
fn copy_of(m: &Machine) -> Machine {
    let mut copy = Machine { fe: m.fe.clone(), bus: crate::common::TestBus::new(1 << 20), step: m.step };
    let image = m.bus.ram.slice(RAM, 1 << 20).expect("in RAM");
    copy.bus.ram.slice_mut(RAM, 1 << 20).expect("in RAM").copy_from_slice(image);
    copy
}

/// The path that a machine takes, up to 30 instructions, and where its references go.
fn path_of(m: &mut Machine) -> (Vec<PathInst>, Vec<MemRef>) {
    let (mut path, mut mems) = (Vec::new(), Vec::new());
    while path.len() < 30 && m.go() == StepResult::Done {
        let s = &m.step;
        if s.decoded == 0 || s.n != 1 {
            break;
        }
        let has_references = s.uops[0].flags.any(UopFlags::MEM);
        path.push(PathInst { pc: s.pc, decoded: s.decoded, next_pc: s.next_pc, has_references });
        mems.push(s.mem[0]);
    }
    (path, mems)
}

/// A known path is executed as by steps, up to where it is another one.
fn paths_are_run_as_by_steps(program: &Program, changes: &[(usize, Change)]) {
    let mut a = machine(program);
    for &(before, change) in changes {
        a.steps(before);
        let mut b = copy_of(&a);
        let (mut path, mems) = path_of(&mut copy_of(&a));
        let (mut end, mut other) = (path.len(), false);
        match change {
            Change::Elsewhere(n) if n < path.len() => {
                path[n].next_pc ^= 64;
                (end, other) = (n, true);
            }
            Change::Another(n) if n < path.len() => {
                path[n].decoded ^= 64;
                end = n;
            }
            Change::Refused(n) => {
                if let Some(n) = (n..path.len()).find(|&n| path[n].has_references) {
                    (end, other) = (n, true);
                }
            }
            _ => {}
        }
        let mut seen = Vec::new();
        let found = a.fe.run_path(
            &mut a.bus,
            &mut a.step,
            |n| path.get(n).copied(),
            |n, m| {
                seen.push((n, m[0]));
                !(matches!(change, Change::Refused(_)) && other && n == end)
            },
        );
        // It may leave any instruction to a step, and does so with the rest.
        assert!(found.done <= end && (!found.other || other && found.done == end));
        assert!(seen.iter().all(|(n, m)| *m == mems[*n] && path[*n].has_references));
        b.steps(found.done);
        if found.other {
            b.steps(1);
            assert_eq!(described(&a.step), described(&b.step));
        }
        assert_eq!(state(&mut a), state(&mut b));
    }
}

/// All that a step of one micro-op says.
fn described(s: &Step) -> String {
    let mem = s.uops[0].flags.any(UopFlags::MEM).then_some(s.mem[0]);
    format!("{:?}", (s.pc, s.len, s.n, s.next_pc, s.branch, s.decoded, s.effect, s.uops[0], mem))
}

#[test]
fn a_path_within_a_page_is_run_whole() {
    use crate::common::asm::{addi, b, ld, sd};
    let program = [ld(5, 10, 0), sd(5, 11, 0), addi(10, 10, 8), addi(11, 11, 8), addi(12, 12, -1), b(1, 12, 0, -20)];
    let mut m = Machine::new(&program);
    (m.set_x(10, RAM + 0x1000), m.set_x(11, RAM + 0x2000), m.set_x(12, 9));
    m.steps(6);
    let (path, mems) = path_of(&mut copy_of(&m));
    let mut seen = Vec::new();
    let all = |n: usize| path.get(n).copied();
    let end = m.fe.run_path(&mut m.bus, &mut m.step, all, |n, mem| {
        seen.push((n, mem[0]));
        true
    });
    assert_eq!(end, PathEnd { done: 30, other: false });
    let referring: Vec<_> = (0..30).filter(|n| n % 6 < 2).map(|n| (n, mems[n])).collect();
    assert_eq!(seen, referring);
    assert_eq!((m.x(12), m.fe.retired()), (3, 36));
}

proptest! {
    #![proptest_config(same(100_000))]

    #[test]
    fn every_word_decodes_and_describes_itself(raw in any::<u32>(), describes in proptest::bool::weighted(0.06)) {
        decodes_and_describes_itself(raw, describes);
    }
}

proptest! {
    #![proptest_config(same(120))]

    #[test]
    fn fast_and_described_execution_agree_on_random_programs(program in programs()) {
        fast_and_described_execution_agree(&program);
    }
}

proptest! {
    #![proptest_config(same(60))]

    #[test]
    fn known_paths_of_random_programs_are_run_as_by_steps(
        program in prop_oneof![programs(), quiet_programs()],
        changes in changes(),
    ) {
        paths_are_run_as_by_steps(&program, &changes);
    }

    #[test]
    fn wrong_paths_anywhere_change_nothing(program in programs(), excursions in excursions()) {
        wrong_paths_change_nothing(&program, &excursions);
    }
}
