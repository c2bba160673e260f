//! Random programs on small and odd machines: they commit what the front end executes, whatever is thrown away and fetched
//! again.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use breakeven_memory::config::Replacement;
use proptest::prelude::*;

use super::*;
use crate::memo::archive::Written;
use crate::memo::Memoizable;
use crate::o3::seq::{LOADS, STORES};
use crate::testing::memoized::{agree, alike, before, plain_loop, statistics};
use crate::testing::programs::{data_cycles, program, streams};
use crate::testing::{cached_memory_config, cases, memory};

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
        O3Config { callReturnDelay: 2, serializingStopsFetch: true, ..base() },
        O3Config { decoupledFrontEnd: true, numFTQEntries: 2, callReturnDelay: 3, fetchBufferSize: 16, ..base() },
        O3Config { decoupledFrontEnd: true, serializingStopsFetch: true, branchIssueWidth: 1, ..base() },
        O3Config { decoupledFrontEnd: true, maxTakenPredPerCycle: 2, callReturnDelay: 1, fetchWidth: 5, ..base() },
        O3Config { decoupledFrontEnd: true, maxTakenPredPerCycle: 5, numFTQEntries: 1, macroFusion: true, ..base() },
        O3Config { macroFusion: true, branchIssueWidth: 1, numROBEntries: 12, fetchQueueSize: 3, ..base() },
        O3Config { instQueues: by_kind(3), numROBEntries: 24, ..base() },
        O3Config { instQueues: by_kind(1), branchIssueWidth: 1, microFusion: true, ..base() },
        O3Config {
            instQueues: by_kind(4),
            iqInsertionPolicy: IqInsertionPolicy::LeastLoaded,
            loadsLeaveAtIssue: true,
            microFusion: true,
            macroFusion: true,
            moveElimination: true,
            ..base()
        },
        O3Config { quirks: Gem5Quirks::ALL, cacheLoadPorts: 1, ..base() },
        O3Config {
            quirks: Gem5Quirks::ALL,
            needsTSO: true,
            cacheStorePorts: 1,
            lsq: lsq::LsqConfig {
                tsoStoresInFlight: 1,
                aliasCheckBits: 5,
                aliasPenalty: 3,
                fenceLatency: 17,
                fenceAfterStores: 9,
                ..Default::default()
            },
            ..base()
        },
    ]
}

/// Issue queues of `entries`: two with an adder, of which one has the memory's unit, and one with the rest.
fn by_kind(entries: u32) -> Vec<IqUnit> {
    let usual = fu_pool::default_fu_pool();
    let pool =
        |which: &[usize]| which.iter().map(|unit| FuDesc { count: 1, ..usual[*unit].clone() }).collect::<Vec<_>>();
    [pool(&[0]), pool(&[0, 6]), pool(&[1, 2, 3, 4, 5, 7])]
        .map(|pool| IqUnit { numEntries: entries, fuPool: pool })
        .into()
}

/// Cycles from stage to stage: each machine's own, or any.
fn delays() -> impl Strategy<Value = Option<[u32; 12]>> {
    prop_oneof![1 => Just(None), 3 => prop::array::uniform12(1..=6_u32).prop_map(Some)]
}

/// How many results a cycle can write back: as the machine does, or few.
fn write_backs() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![Just(None), (1..=2_u32).prop_map(Some)]
}

/// One of the odd machines.
fn odd_machine(odd: usize, delays: Option<[u32; 12]>, write_backs: Option<u32>) -> O3Config {
    let mut cfg = odd_machines().swap_remove(odd);
    cfg.wbWidth = write_backs.unwrap_or(cfg.wbWidth);
    if let Some(cycles) = delays {
        let all = [
            &mut cfg.decodeToFetchDelay,
            &mut cfg.commitToFetchDelay,
            &mut cfg.renameToDecodeDelay,
            &mut cfg.commitToDecodeDelay,
            &mut cfg.fetchToDecodeDelay,
            &mut cfg.iewToRenameDelay,
            &mut cfg.commitToRenameDelay,
            &mut cfg.decodeToRenameDelay,
            &mut cfg.commitToIEWDelay,
            &mut cfg.issueToExecuteDelay,
            &mut cfg.iewToCommitDelay,
            &mut cfg.renameToROBDelay,
        ];
        all.into_iter().zip(cycles).for_each(|(delay, cycles)| *delay = cycles);
        // Execution needs a ROB entry.
        cfg.renameToIEWDelay = cfg.renameToIEWDelay.max(cfg.renameToROBDelay);
    }
    cfg
}

proptest! {
    #![proptest_config(cases(480))]

    #[test]
    fn random_programs_commit_what_is_executed(
        odd in 0..odd_machines().len(),
        delays in delays(),
        write_backs in write_backs(),
        program in program(),
    ) {
        let cfg = odd_machine(odd, delays, write_backs);
        let width = u64::from(cfg.commitWidth);
        let mut r = machine(cfg, 3, MockFe::new(program));
        prop_assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        prop_assert_eq!(r.core.insts(), r.fe.executed);
        prop_assert_eq!(r.core.account().total(), r.core.cycles() * width);
        prop_assert!(r.fe.times.windows(2).all(|t| t[0] < t[1]), "time goes back");
    }
}

/// Cases of the test below, and those in which no state has been read.
static CASES: AtomicU32 = AtomicU32::new(0);
static EMPTY: AtomicU32 = AtomicU32::new(0);

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_state_in_relative_form_goes_on_alike(
        odd in 0..odd_machines().len(),
        delays in delays(),
        write_backs in write_backs(),
        program in program(),
        cycles in data_cycles(),
        caches in prop::bool::weighted(0.7),
        shift in 0..1000_u64,
    ) {
        let cfg = || odd_machine(odd, delays, write_backs);
        let start = |program| {
            let mut r = machine(cfg(), cycles, MockFe::new(program));
            if caches {
                r.mem = memory(cached_memory_config(Replacement::Lru, cycles));
            }
            r
        };
        let (mut whole, mut r) = (start(program.clone()), start(program));
        let (mut state, mut again, mut loaded) = (Written::new(), Written::new(), 0);
        let mut pipe = Pipeline::new(&cfg(), 64);
        for limit in 1.. {
            let budget = Budget { max_cycles: limit * 3, ..ALL };
            let stop = r.go(budget);
            prop_assert_eq!(&whole.go(budget), &stop);
            match stop {
                Stop::MaxCycles if r.core.pipe.save(&mut state) => {
                    // It stands where the one does that nothing has been done to.
                    prop_assert!(whole.core.pipe.clone().save(&mut again));
                    alike(&state, &again)?;
                    // Another pipeline, which stood elsewhere, goes on with it, at other numbers and places.
                    let mut base = r.core.pipe.base();
                    base.seq += shift;
                    base.numbers[LOADS] += 3 * shift;
                    base.numbers[STORES] += 5 * shift;
                    pipe.take_counts(&r.core.pipe);
                    let mems: Vec<_> = state.references.iter().map(|r| r.mem).collect();
                    pipe.load(state.bytes(), &mems, base);
                    prop_assert!(pipe.save(&mut again));
                    alike(&state, &again)?;
                    r.core.predictor.shift(shift);
                    std::mem::swap(&mut r.core.pipe, &mut pipe);
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
    fn memoized_and_plain_execution_agree(
        odd in 0..odd_machines().len(),
        delays in delays(),
        write_backs in write_backs(),
        program in program(),
        cycles in data_cycles(),
        (turns, before) in (50..500_usize, before()),
    ) {
        agree(program, (turns, cycles, before), |program, on| {
            let mut r = machine(odd_machine(odd, delays, write_backs), cycles, MockFe::new(program));
            r.core.memoize(on);
            r
        })?;
    }

    #[test]
    fn memoized_and_plain_execution_agree_on_streams(
        odd in 0..odd_machines().len(),
        delays in delays(),
        write_backs in write_backs(),
        program in streams(),
        cycles in data_cycles(),
        (turns, before) in (100..1000_usize, before()),
    ) {
        agree(program, (4 * turns, cycles, before), |program, on| {
            let mut r = machine(odd_machine(odd, delays, write_backs), cycles, MockFe::new(program));
            r.core.memoize(on);
            r
        })?;
    }

    #[test]
    fn slices_and_copies_change_nothing(
        odd in 0..odd_machines().len(),
        delays in delays(),
        write_backs in write_backs(),
        program in program(),
        step in 1..=3_u64,
    ) {
        let cfg = || odd_machine(odd, delays, write_backs);
        let mut whole = machine(cfg(), 3, MockFe::new(program.clone()));
        prop_assert_eq!(whole.go(ALL), Stop::Effect(DUMP));
        // Cycle by cycle none is skipped.
        let mut r = machine(cfg(), 3, MockFe::new(program));
        for limit in 1.. {
            match r.go(Budget { max_cycles: limit * step, ..ALL }) {
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

/// The properties above would hold, too, of a core that never replays.
#[test]
fn a_loop_is_replayed_most_of_it_in_a_steady_state() {
    // With an even number of turns there are caches.
    for (turns, stride) in [(12_001, 8), (12_000, 0), (12_000, 8), (12_000, 16), (12_000, 8u64.wrapping_neg())] {
        let memo = agree(plain_loop(stride), (turns, 2, 0), |program, on| {
            let mut r = machine(O3Config::default(), 3, MockFe::new(program));
            r.core.memoize(on);
            r
        });
        let is_steady = memo.as_ref().is_ok_and(|memo| memo.steady > 50 && (turns % 2 == 1 || memo.in_rounds > 50));
        assert!(is_steady, "{turns}, {stride}: {memo:?}");
    }
}

#[test]
fn what_has_not_repeated_itself_is_no_deadlock() {
    let mut program = plain_loop(8);
    program[3].taken = [vec![true; 1_000], vec![false]].concat();
    let mut r = machine(O3Config::default(), 3, MockFe::new(program));
    r.core.memoize(true);
    r.core.memo.contradict();
    assert!(matches!(r.go(ALL), Stop::NotRepeated(text) if text.contains("BREAKEVEN_MEMOIZE=off")));
}
