//! Random programs on odd machines, with and without memoized execution.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use breakeven_memory::config::Replacement;

use super::*;
use crate::memo::archive::Written;
use crate::memo::Memoizable;
use crate::minor::pipe::{PREDICTIONS, STREAMS};
use crate::minor::pipeline::Pipeline;
use crate::testing::memoized::{agree, alike, before, plain_loop, same, statistics};
use crate::testing::programs::{data_cycles, program, streams};
use crate::testing::{cached_memory_config, cases, memory};

fn odd_machines() -> Vec<MinorConfig> {
    let base = MinorConfig::default;
    let quirks = MinorQuirks {
        gem5LastUnitEndsIssue: false,
        gem5BundleBubbles: false,
        gem5SplitTranslation: false,
        gem5HeadHoldsEarlyIssue: false,
    };
    vec![
        base(),
        MinorConfig { quirks, ..base() },
        MinorConfig { executeBranchDelay: 11, fetch1ToFetch2BackwardDelay: 4, ..base() },
        MinorConfig { executeMemoryWidth: 8, executeMaxAccessesInMemory: 1, executeLSQStoreBufferSize: 1, ..base() },
        MinorConfig { executeIssueLimit: 1, executeCommitLimit: 1, decodeInputWidth: 1, quirks, ..base() },
        MinorConfig {
            fetch1FetchLimit: 4,
            fetch1LineWidth: 16,
            fetch1LineSnapWidth: 16,
            fetch2InputBufferSize: 6,
            quirks,
            ..base()
        },
        MinorConfig { enableIdling: false, executeAllowEarlyMemoryIssue: false, ..base() },
        MinorConfig { predictsBranches: false, decodeToExecuteForwardDelay: 5, ..base() },
    ]
}

static CASES: AtomicU32 = AtomicU32::new(0);
static EMPTY: AtomicU32 = AtomicU32::new(0);

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_state_in_relative_form_goes_on_alike(
        odd in 0..odd_machines().len(),
        program in program(),
        cycles in data_cycles(),
        caches in prop::bool::weighted(0.7),
        shift in 0..1000_u32,
    ) {
        let cfg = || odd_machines().swap_remove(odd);
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
        pipe.time.started = true;
        for limit in 1.. {
            let budget = Budget { max_cycles: limit * 3, ..ALL };
            let stop = r.go(budget);
            prop_assert_eq!(&whole.go(budget), &stop);
            match stop {
                Stop::MaxCycles if r.fe.depth() == 0 && r.core.pipe.save(&mut state) => {
                    // It stands where the one does that nothing has been done to.
                    prop_assert!(whole.core.pipe.clone().save(&mut again));
                    alike(&state, &again)?;
                    // Another pipeline, which stood elsewhere, goes on with it, at other numbers.
                    let mut base = r.core.pipe.base();
                    base.seq += u64::from(shift);
                    base.numbers[STREAMS] += u64::from(3 * shift);
                    base.numbers[PREDICTIONS] += u64::from(5 * shift);
                    let mut counts = Vec::new();
                    r.core.pipe.for_each_count(&mut |count| counts.push(*count));
                    let mut each = counts.into_iter();
                    pipe.for_each_count(&mut |count| *count = each.next().unwrap_or_default());
                    let mems: Vec<_> = state.references.iter().map(|r| r.mem).collect();
                    pipe.load(state.bytes(), &mems, base);
                    prop_assert!(pipe.save(&mut again));
                    alike(&state, &again)?;
                    r.core.predictor.shift(shift.into());
                    std::mem::swap(&mut r.core.pipe, &mut pipe);
                    loaded += 1;
                }
                Stop::MaxCycles => {}
                Stop::Effect(_) => break,
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        prop_assert_eq!(r.core.cycles(), whole.core.cycles());
        same(&statistics(&r.core), &statistics(&whole.core))?;
        // On a wrong path, and with a timed instruction in flight, there is no relative form.
        let (cases, empty) = (CASES.fetch_add(1, Relaxed) + 1, EMPTY.fetch_add(u32::from(loaded == 0), Relaxed));
        prop_assert!(loaded > 0 || empty <= 2 + cases / 20, "{empty} of {cases} cases have read no state");
    }

    #[test]
    fn memoized_and_plain_execution_agree(
        odd in 0..odd_machines().len(),
        program in program(),
        cycles in data_cycles(),
        (turns, before) in (50..500_usize, before()),
    ) {
        agree(program, (turns, cycles, before), |program, on| {
            let mut r = machine(odd_machines().swap_remove(odd), cycles, MockFe::new(program));
            r.core.memoize(on);
            r
        })?;
    }

    #[test]
    fn memoized_and_plain_execution_agree_on_streams(
        odd in 0..odd_machines().len(),
        program in streams(),
        cycles in data_cycles(),
        (turns, before) in (100..1000_usize, before()),
    ) {
        agree(program, (4 * turns, cycles, before), |program, on| {
            let mut r = machine(odd_machines().swap_remove(odd), cycles, MockFe::new(program));
            r.core.memoize(on);
            r
        })?;
    }
}

/// The property above would hold, too, of a core that never replays.
#[test]
fn a_loop_is_replayed_most_of_it_in_a_steady_state() {
    // With an even number of turns there are caches.
    for (turns, stride) in [(12_001, 8), (12_000, 0), (12_000, 8), (12_000, 16), (12_000, 8u64.wrapping_neg())] {
        let memo = agree(plain_loop(stride), (turns, 2, 0), |program, on| {
            let mut r = machine(MinorConfig::default(), 3, MockFe::new(program));
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
    let mut r = machine(MinorConfig::default(), 3, MockFe::new(program));
    r.core.memoize(true);
    r.core.memo.contradict();
    assert!(matches!(r.go(ALL), Stop::NotRepeated(text) if text.contains("BREAKEVEN_MEMOIZE=off")));
}
