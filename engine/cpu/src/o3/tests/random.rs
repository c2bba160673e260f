//! Random programs on small and odd machines: they commit what the front end executes, whatever is thrown away and fetched
//! again.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use proptest::prelude::*;

use super::*;
use crate::o3::memo::archive::Written;
use crate::testing::cases;

fn register() -> impl Strategy<Value = u8> {
    1..13_u8
}

/// A few places, some of them across a line.
fn place() -> impl Strategy<Value = u64> {
    (0..6_u64, 0..2_u64).prop_map(|(word, apart)| DATA + word * 4 + apart * 61)
}

/// A forward branch over up to five instructions; `at` is its index in a program of `n`.
fn branch(at: usize, n: usize, over: usize, taken: &[bool], register: u8) -> Inst {
    let mut b = Inst::branch(BranchKind::Cond, (at + 1 + over).min(n), &taken.repeat(3));
    b.uops[0].0.src[0] = breakeven_base::Reg(register);
    b
}

/// Load, operate, store: one instruction of three micro-ops, the first two of which may travel as one.
fn load_operate_store(address: u8, from: u64, data: u8, to: u64) -> Inst {
    let mut inst = Inst::load(13, address, from, 8);
    inst.uops.extend(Inst::op(OpClass::IntAlu, 13, &[13]).flags(UopFlags::MICRO_FUSED).uops);
    inst.uops.extend(Inst::store(13, data, to, 8).uops);
    inst
}

fn serializing() -> impl Strategy<Value = Inst> {
    prop_oneof![
        Just(UopFlags::SERIALIZE_AFTER | UopFlags::NON_SPECULATIVE),
        Just(UopFlags::SQUASH_AFTER),
        Just(UopFlags::READ_BARRIER | UopFlags::WRITE_BARRIER),
        Just(UopFlags::FLAG_STALL),
        Just(UopFlags::SERIALIZE_BEFORE),
    ]
    .prop_map(|flags| Inst::nop().flags(flags))
}

fn timed(register: u8) -> Inst {
    let mut timed = Inst::op(OpClass::IntAlu, register, &[]);
    timed.timed = true;
    timed.flags(UopFlags::SERIALIZE_AFTER | UopFlags::NON_SPECULATIVE)
}

/// A branch's target depends on where it stands.
#[derive(Clone, Debug)]
enum Kind {
    Plain(Inst),
    Branch { over: usize, taken: Vec<bool>, register: u8 },
}

fn kind() -> impl Strategy<Value = Kind> {
    let r = register;
    prop_oneof![
        6 => (r(), r(), r()).prop_map(|(d, a, b)| Kind::Plain(Inst::op(OpClass::IntAlu, d, &[a, b]))),
        1 => (r(), r()).prop_map(|(d, a)| Kind::Plain(Inst::op(OpClass::IntMult, d, &[a]))),
        1 => (r(), r()).prop_map(|(d, a)| Kind::Plain(Inst::op(OpClass::IntDiv, d, &[a]))),
        3 => (r(), r(), place()).prop_map(|(d, a, at)| Kind::Plain(Inst::load(d, a, at, 8))),
        3 => (r(), r(), place()).prop_map(|(d, a, at)| Kind::Plain(Inst::store(d, a, at, 8))),
        2 => (r(), place(), r(), place()).prop_map(|(a, from, d, to)| Kind::Plain(load_operate_store(a, from, d, to))),
        4 => (0..6_usize, prop::collection::vec(any::<bool>(), 7), r())
            .prop_map(|(over, taken, register)| Kind::Branch { over, taken, register }),
        1 => serializing().prop_map(Kind::Plain),
        1 => r().prop_map(|d| Kind::Plain(timed(d))),
    ]
}

/// Straight code with forward branches, loads and stores to a few places, serialising and timed instructions, in a loop.
fn program() -> impl Strategy<Value = Vec<Inst>> {
    prop::collection::vec((kind(), prop::bool::weighted(0.33)), 1..100).prop_map(|kinds| {
        let n = kinds.len();
        let mut program: Vec<Inst> = kinds
            .into_iter()
            .enumerate()
            .map(|(i, (kind, short))| {
                let inst = match kind {
                    Kind::Plain(inst) => inst,
                    Kind::Branch { over, taken, register } => branch(i, n, over, &taken, register),
                };
                if short {
                    inst.short()
                } else {
                    inst
                }
            })
            .collect();
        program.push(Inst::branch(BranchKind::Cond, 0, &[&[true; 30][..], &[false]].concat()));
        program.push(mark());
        program
    })
}

fn odd_machines() -> Vec<O3Config> {
    let base = O3Config::default;
    vec![
        base(),
        O3Config { numROBEntries: 8, numIQEntries: 4, LQEntries: 2, SQEntries: 2, fetchQueueSize: 2, ..base() },
        O3Config { fetchWidth: 1, decodeWidth: 1, renameWidth: 1, dispatchWidth: 1, issueWidth: 1, ..base() },
        O3Config { wbWidth: 1, commitWidth: 1, squashWidth: 1, fetchBufferSize: 8, ..base() },
        O3Config { fetchToDecodeDelay: 3, renameToIEWDelay: 5, iewToCommitDelay: 4, commitToFetchDelay: 6, ..base() },
        O3Config { renameToROBDelay: 2, decodeToFetchDelay: 3, iewToRenameDelay: 5, issueToExecuteDelay: 3, ..base() },
        O3Config { numPhysIntRegs: 40, numROBEntries: 32, renameRecovery: RenameRecovery::Checkpoint, ..base() },
        O3Config { needsTSO: true, SQEntries: 4, loopBufferSize: 64, commitWidth: 3, dispatchWidth: 2, ..base() },
        O3Config { microFusion: true, macroFusion: true, moveElimination: true, numROBEntries: 12, ..base() },
        O3Config { fetchToDecodeDelay: 11, fetchQueueSize: 64, decodeToRenameDelay: 4, ..base() },
        O3Config { fetchToDecodeDelay: 11, loopBufferSize: 8, fetchQueueSize: 1, decodeWidth: 3, ..base() },
        O3Config { loopBufferSize: 64, microFusion: true, macroFusion: true, numROBEntries: 12, ..base() },
        O3Config { quirks: Gem5Quirks::ALL, cacheLoadPorts: 1, ..base() },
        O3Config {
            quirks: Gem5Quirks::ALL,
            needsTSO: true,
            cacheStorePorts: 1,
            lsq: lsq::LsqConfig { tsoStoresInFlight: 1, aliasCheckBits: 5, aliasPenalty: 3, ..Default::default() },
            ..base()
        },
    ]
}

proptest! {
    #![proptest_config(cases(480))]

    #[test]
    fn random_programs_commit_what_is_executed(odd in 0..odd_machines().len(), program in program()) {
        let cfg = odd_machines().swap_remove(odd);
        let width = u64::from(cfg.commitWidth);
        let mut r = machine(cfg, 3, MockFe::new(program));
        prop_assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        prop_assert_eq!(r.core.insts(), r.fe.executed);
        prop_assert_eq!(r.core.account().total(), r.core.cycles() * width);
        prop_assert!(r.fe.times.windows(2).all(|t| t[0] < t[1]), "time goes back");
    }
}

/// Every statistic.
fn statistics(core: &O3) -> Vec<(String, f64)> {
    let mut sink = breakeven_base::StatSink::new();
    core.collect(&mut sink);
    sink.stats.into_iter().map(|s| (s.name, s.value)).collect()
}

/// Cases of the test below, and those in which no state has been read.
static CASES: AtomicU32 = AtomicU32::new(0);
static EMPTY: AtomicU32 = AtomicU32::new(0);

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_state_in_relative_form_goes_on_alike(odd in 0..odd_machines().len(), program in program(), shift in 0..1000_u64) {
        let cfg = || odd_machines().swap_remove(odd);
        // What idle units count depends on where a run is cut.
        let mut whole = machine(cfg(), 3, MockFe::new(program.clone()));
        (1..).find(|limit| whole.go(Budget { max_cycles: limit * 3, ..ALL }) != Stop::MaxCycles);
        let mut r = machine(cfg(), 3, MockFe::new(program));
        let (mut state, mut again, mut loaded) = (Written::new(), Written::new(), 0);
        for limit in 1.. {
            match r.go(Budget { max_cycles: limit * 3, ..ALL }) {
                Stop::MaxCycles if r.core.pipe.save(&mut state) => {
                    // Another pipeline goes on with it, at other numbers and places.
                    let mut base = r.core.pipe.base();
                    base.seq += shift;
                    base.loads += 3 * shift;
                    base.stores += 5 * shift;
                    let mut pipe = Pipeline::new(&cfg(), 64);
                    pipe.take_counts(&r.core.pipe);
                    let mems: Vec<_> = state.references.iter().map(|r| r.mem).collect();
                    pipe.load(state.bytes(), &mems, base);
                    prop_assert!(pipe.save(&mut again));
                    let differ = state.bytes().iter().zip(again.bytes()).position(|(a, b)| a != b);
                    prop_assert_eq!((differ, state.bytes().len()), (None, again.bytes().len()));
                    r.core.predictor.shift(shift);
                    r.core.pipe = pipe;
                    loaded += 1;
                }
                Stop::MaxCycles => {}
                Stop::Effect(_) => break,
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        prop_assert_eq!(r.core.cycles(), whole.core.cycles());
        prop_assert_eq!(statistics(&r.core), statistics(&whole.core));
        // A micro-op that waits to be the oldest has no relative form: a short loop with one may have no other states.
        let (cases, empty) = (CASES.fetch_add(1, Relaxed) + 1, EMPTY.fetch_add(u32::from(loaded == 0), Relaxed));
        prop_assert!(loaded > 0 || empty <= 2 + cases / 50, "{empty} of {cases} cases have read no state");
    }

    #[test]
    fn memoized_and_plain_execution_agree(odd in 0..odd_machines().len(), program in program(), turns in 50..500_usize) {
        let mut program = program;
        let back = program.len() - 2;
        program[back].taken = [vec![true; turns], vec![false]].concat();
        let run = |on: bool| {
            let mut r = machine(odd_machines().swap_remove(odd), 3, MockFe::new(program.clone()));
            r.core.memoize(on);
            let mut stops = vec![];
            for limit in [3_000, 7_001, 3_000_000] {
                stops.push(r.go(Budget { max_cycles: limit, ..ALL }));
            }
            let memo = r.core.memo_statistics();
            (stops, r.core.cycles(), r.fe.times.clone(), statistics(&r.core), memo)
        };
        let (on, off) = (run(true), run(false));
        prop_assert_eq!(&on.0, &off.0);
        prop_assert_eq!(on.1, off.1);
        prop_assert_eq!(on.2, off.2);
        for (a, b) in on.3.iter().zip(&off.3) {
            prop_assert!(a == b || a.1.is_nan() && b.1.is_nan(), "{a:?} {b:?} {:?}", on.4);
        }
    }

    #[test]
    fn slices_and_copies_change_nothing(program in program()) {
        let mut whole = machine(O3Config::default(), 3, MockFe::new(program.clone()));
        prop_assert_eq!(whole.go(ALL), Stop::Effect(DUMP));
        let mut r = machine(O3Config::default(), 3, MockFe::new(program));
        for limit in 1.. {
            match r.go(Budget { max_cycles: limit * 3, ..ALL }) {
                Stop::MaxCycles => {
                    r.core = r.core.clone();
                    r.mem = r.mem.clone();
                }
                Stop::Effect(_) => break,
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        prop_assert_eq!(r.core.cycles(), whole.core.cycles());
    }
}
