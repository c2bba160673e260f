//! What memoized execution is held to on every core that has it.

use breakeven_base::{BranchKind, OpClass, PhysAddr, StatSink, SysEffect, UopFlags};
use breakeven_memory::config::Replacement;
use proptest::prelude::*;

use super::rig::{cached_memory_config, memory, Core};
use super::{Inst, Run, BASE};
use crate::memo::archive::Written;
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

/// Runs `program` with so many turns of its loop on two cores of `machine`, the second without memoized execution: up to two
/// cycles exactly, then in slices that may be late; in a short loop the bus ends some of them early. With an even number of
/// turns they have caches before a memory of so many cycles, with one that four divides a data cache that holds all. The core
/// with memoized execution has run it up to cycle `before` already, as points of a sweep do, if that is odd with its data
/// elsewhere. What memoized execution came to.
pub fn agree<C: Memoized + Clone>(
    mut program: Vec<Inst>,
    (turns, memory_cycles, before): (usize, u64, u64),
    machine: impl Fn(Vec<Inst>, bool) -> Run<C>,
) -> Result<MemoStatistics, TestCaseError> {
    let back = program.len() - 2;
    program[back].taken = [vec![true; turns], vec![false]].concat();
    let all = Budget::new(10_000_000, 3_000_000);
    let policies = [Replacement::Lru, Replacement::TreePlru, Replacement::Random { seed: 1, any_way: false }];
    let start = |program: &[Inst], on: bool| {
        let mut r = machine(program.to_vec(), on);
        if turns % 2 == 0 {
            let mut config = cached_memory_config(policies[turns / 2 % policies.len()], memory_cycles);
            if turns % 4 == 0 {
                config.caches[1].size = 32 << 10;
            }
            r.mem = memory(config);
        }
        r
    };
    let run = |on: bool| {
        let mut r = start(&program, on);
        if on && before > 0 {
            let mut first = start(&moved(program.clone(), before % 2 * 8), on);
            first.core = r.core.clone();
            first.go(Budget { max_cycles: before, ..all });
            first.core.clone_from(&r.core);
            r.core = first.core;
        }
        let mut stops = vec![];
        for limit in [3_000, 7_001] {
            stops.push(r.go(Budget { max_cycles: limit, ..all }));
        }
        // A long loop is to come to its steady state.
        r.bus.questions.set(if turns < 1_000 { 20_000 } else { 0 });
        while matches!(stops.last(), Some(Stop::MaxCycles | Stop::SliceOver)) {
            stops.pop();
            stops.push(r.go(Budget {
                max_cycles: r.core.cycles() + 500 + 8 * turns as u64,
                late_cycles: 1 << 20,
                ..all
            }));
        }
        let mut sink = StatSink::new();
        r.mem.collect(&mut sink);
        let memory: Vec<_> = sink.stats.into_iter().map(|s| (s.name, s.value)).collect();
        let memo = r.core.memo_statistics();
        ((stops, r.core.cycles(), r.fe.times.clone()), [statistics(&r.core), memory], memo)
    };
    let (on, off) = (run(true), run(false));
    prop_assert_eq!(&on.0, &off.0);
    on.1.iter().zip(&off.1).try_for_each(|(on, off)| same(on, off))?;
    Ok(on.2)
}

/// Whether two states in relative form are the same.
pub fn alike(one: &Written, other: &Written) -> Result<(), TestCaseError> {
    let differ = one.bytes().iter().zip(other.bytes()).position(|(a, b)| a != b);
    prop_assert_eq!((differ, one.bytes().len()), (None, other.bytes().len()));
    let places = |state: &Written| state.references.iter().map(|r| (r.seq, r.mem.vaddr)).collect::<Vec<_>>();
    prop_assert_eq!(places(one), places(other));
    Ok(())
}

/// The program with its references so many bytes further on.
fn moved(mut program: Vec<Inst>, by: u64) -> Vec<Inst> {
    for (_, m) in program.iter_mut().flat_map(|inst| &mut inst.uops) {
        m.vaddr += by;
        (m.paddr, m.paddr2) = (PhysAddr(m.vaddr), PhysAddr(m.vaddr + 4096 - (m.vaddr & 4095)));
    }
    program
}

/// Up to which cycle a core has run before: not at all, or some loops' turns.
pub fn before() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1_000..20_000_u64]
}

/// A loop of a few instructions, whose references move.
pub fn plain_loop(stride: u64) -> Vec<Inst> {
    let mut mark = Inst::effect(SysEffect::DumpStats);
    mark.timed = false;
    vec![
        Inst::load(5, 1, BASE + 0x1_0000, 8).moving(stride, 1_000),
        Inst::op(OpClass::IntAlu, 6, &[5]),
        Inst::store(1, 6, BASE + 0x3_0040, 8).moving(stride, 1_000),
        Inst::branch(BranchKind::Cond, 0, &[]),
        mark.flags(UopFlags::empty()),
    ]
}
