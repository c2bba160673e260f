//! The functional units as a description has them.

use breakeven_base::OpClass;

/// gem5 `OpDesc`: what a functional unit does with one class of micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct OpDesc {
    pub opClass: OpClass,
    /// Cycles from the start of execution to the result.
    pub opLat: u32,
    /// The unit can take another micro-op in the next cycle; else only when this one has ended.
    pub pipelined: bool,
}

/// gem5 `FUDesc`: `count` units alike. A unit with several classes is what others call an issue port.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct FuDesc {
    pub opList: Vec<OpDesc>,
    pub count: u32,
}

/// gem5 25.1 `IQUnit`: an issue queue and the units that it feeds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct IqUnit {
    pub numEntries: u32,
    pub fuPool: Vec<FuDesc>,
}

/// Which queue takes a micro-op, of those that can execute it and have a free entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IqInsertionPolicy {
    /// gem5 25.1: the first.
    #[default]
    FirstMatch,
    /// The one with the fewest entries taken; of several the first.
    LeastLoaded,
}

/// gem5's `DefaultFUPool`. Units that it lists with count 0 (`ReadPort`, `WritePort`) are left out.
#[must_use]
pub fn default_fu_pool() -> Vec<FuDesc> {
    use OpClass as C;
    let op = |class, latency, pipelined| OpDesc { opClass: class, opLat: latency, pipelined };
    let simple =
        |classes: Vec<C>, count| FuDesc { opList: classes.into_iter().map(|c| op(c, 1, true)).collect(), count };
    let between = |first: C, last: C| -> Vec<C> {
        C::ALL.iter().copied().filter(|c| (first as u8..=last as u8).contains(&(*c as u8))).collect()
    };
    let mut simd = between(C::SimdAdd, C::SimdFloatReduceCmp);
    simd.extend([C::SimdExt, C::SimdFloatExt, C::SimdConfig]);
    let mut memory = between(C::MemRead, C::FloatMemWrite);
    memory.extend(between(C::SimdUnitStrideLoad, C::SimdUnitStrideFaultOnlyFirstLoad));
    vec![
        simple(vec![C::IntAlu], 6),
        FuDesc { opList: vec![op(C::IntMult, 3, true), op(C::IntDiv, 20, false)], count: 2 },
        FuDesc { opList: vec![op(C::FloatAdd, 2, true), op(C::FloatCmp, 2, true), op(C::FloatCvt, 2, true)], count: 4 },
        FuDesc {
            opList: vec![
                op(C::FloatMult, 4, true),
                op(C::FloatMultAcc, 5, true),
                op(C::FloatMisc, 3, true),
                op(C::FloatDiv, 12, false),
                op(C::FloatSqrt, 24, false),
            ],
            count: 2,
        },
        simple(simd, 4),
        simple(vec![C::SimdPredAlu], 1),
        simple(memory, 4),
        FuDesc { opList: vec![op(C::IprAccess, 3, false)], count: 1 },
    ]
}
