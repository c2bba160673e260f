//! What memoized execution is held to on every core that has it.

use breakeven_base::StatSink;
use proptest::prelude::*;

use super::rig::Core;
use super::{Inst, Run};
use crate::{Budget, Stop};

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

/// Runs `program` with so many turns of its loop on two cores of `machine`, the second without memoized execution: up to two
/// cycles exactly, then in slices that may be late.
pub fn agree<C: Core>(
    mut program: Vec<Inst>,
    turns: usize,
    machine: impl Fn(Vec<Inst>, bool) -> Run<C>,
) -> Result<(), TestCaseError> {
    let back = program.len() - 2;
    program[back].taken = [vec![true; turns], vec![false]].concat();
    let all = Budget::new(10_000_000, 3_000_000);
    let run = |on: bool| {
        let mut r = machine(program.clone(), on);
        let mut stops = vec![];
        for limit in [3_000, 7_001] {
            stops.push(r.go(Budget { max_cycles: limit, ..all }));
        }
        while matches!(stops.last(), Some(Stop::MaxCycles)) {
            stops.pop();
            stops.push(r.go(Budget { max_cycles: r.core.cycles() + 500, late_cycles: 1 << 20, ..all }));
        }
        (stops, r.core.cycles(), r.fe.times.clone(), statistics(&r.core))
    };
    let (on, off) = (run(true), run(false));
    prop_assert_eq!(&on.0, &off.0);
    prop_assert_eq!(on.1, off.1);
    prop_assert_eq!(on.2, off.2);
    same(&on.3, &off.3)
}
