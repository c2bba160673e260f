//! What memoized execution is held to on every core that has it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use breakeven_base::StatSink;
use breakeven_memory::config::Replacement;
use proptest::prelude::*;

use super::rig::{cached_memory_config, memory, Core};
use super::{Inst, Run};
use crate::minor::Minor;
use crate::o3::O3;
use crate::{Budget, MemoStatistics, Stop};

/// A core that has memoized execution.
pub trait Memoized: Core {
    fn memo_statistics(&self) -> MemoStatistics;
}
impl Memoized for O3 {
    fn memo_statistics(&self) -> MemoStatistics {
        O3::memo_statistics(self)
    }
}
impl Memoized for Minor {
    fn memo_statistics(&self) -> MemoStatistics {
        Minor::memo_statistics(self)
    }
}

/// Every statistic.
pub fn statistics<C: Core>(core: &C) -> Vec<(String, f64)> {
    let mut sink = StatSink::new();
    core.collect(&mut sink);
    sink.stats.into_iter().map(|s| (s.name, s.value)).collect()
}

/// Whether all statistics are the same.
pub fn same(one: &[(String, f64)], other: &[(String, f64)]) -> Result<(), TestCaseError> {
    prop_assert_eq!(one.len(), other.len());
    for (a, b) in one.iter().zip(other) {
        prop_assert!(a == b || a.1.is_nan() && b.1.is_nan(), "{a:?} {b:?}");
    }
    Ok(())
}

/// Cases of [`agree`], and those in which a loop had a steady state.
static CASES: AtomicU32 = AtomicU32::new(0);
static STEADY: AtomicU32 = AtomicU32::new(0);

/// Runs `program` with so many turns of its loop on two cores of `machine`, the second without memoized execution: up to two
/// cycles exactly, then in slices that may be late. Half of them have caches.
pub fn agree<C: Memoized>(
    mut program: Vec<Inst>,
    turns: usize,
    machine: impl Fn(Vec<Inst>, bool) -> Run<C>,
) -> Result<(), TestCaseError> {
    let back = program.len() - 2;
    program[back].taken = [vec![true; turns], vec![false]].concat();
    let all = Budget::new(10_000_000, 3_000_000);
    let policies = [Replacement::Lru, Replacement::TreePlru, Replacement::Random { seed: 1, any_way: false }];
    let run = |on: bool| {
        let mut r = machine(program.clone(), on);
        if turns % 2 == 0 {
            r.mem = memory(cached_memory_config(policies[turns / 2 % policies.len()]));
        }
        let mut stops = vec![];
        for limit in [3_000, 7_001] {
            stops.push(r.go(Budget { max_cycles: limit, ..all }));
        }
        while matches!(stops.last(), Some(Stop::MaxCycles)) {
            stops.pop();
            stops.push(r.go(Budget { max_cycles: r.core.cycles() + 500, late_cycles: 1 << 20, ..all }));
        }
        let mut sink = StatSink::new();
        r.mem.collect(&mut sink);
        let memory: Vec<_> = sink.stats.into_iter().map(|s| (s.name, s.value)).collect();
        let steady = r.core.memo_statistics().steady;
        ((stops, r.core.cycles(), r.fe.times.clone()), [statistics(&r.core), memory], steady)
    };
    let (on, off) = (run(true), run(false));
    prop_assert_eq!(&on.0, &off.0);
    on.1.iter().zip(&off.1).try_for_each(|(on, off)| same(on, off))?;
    let (cases, steady) = (CASES.fetch_add(1, Relaxed) + 1, STEADY.fetch_add(u32::from(on.2 > 0), Relaxed));
    prop_assert!(cases < 40 || steady > cases / 50, "{steady} of {cases} cases had a steady state");
    Ok(())
}
