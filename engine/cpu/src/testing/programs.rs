//! Random programs for the cores' property tests.

use breakeven_base::{BranchKind, OpClass, SysEffect, UopFlags};
use proptest::prelude::*;

use super::{Inst, BASE};

/// Cycles of the data memory: few, or more than the core's calendars are long.
pub fn data_cycles() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(3), 1 => 20..120_u64, 3 => 260..700_u64]
}

/// A line-aligned address.
const DATA: u64 = BASE + 0x1_0000;

fn register() -> impl Strategy<Value = u8> {
    1..13_u8
}

/// A few places, some of them across a line, some in the program itself.
fn place() -> impl Strategy<Value = u64> {
    let from = prop_oneof![19 => Just(DATA), 1 => Just(BASE)];
    (from, 0..6_u64, 0..2_u64).prop_map(|(from, word, apart)| from + word * 4 + apart * 61)
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

/// By how many bytes references move, and behind how many turns they go back: words, lines, down, not at all.
fn stride() -> impl Strategy<Value = (u64, u64)> {
    let stride = prop_oneof![Just(8), Just(64), Just(16), Just(64u64.wrapping_neg()), Just(256), Just(12), Just(0)];
    (stride, 1..300_u64)
}

/// Straight code with forward branches, loads and stores to a few places, some of them further on in each turn, serialising and
/// timed instructions, in a loop.
pub fn program() -> impl Strategy<Value = Vec<Inst>> {
    let kinds = prop::collection::vec((kind(), prop::bool::weighted(0.33), prop::bool::weighted(0.7)), 1..100);
    (kinds, stride()).prop_map(|(kinds, (stride, rewinds))| {
        let n = kinds.len();
        let mut program: Vec<Inst> = kinds
            .into_iter()
            .enumerate()
            .map(|(i, (kind, short, moves))| {
                let inst = match kind {
                    Kind::Plain(inst) if moves => inst.moving(stride, rewinds),
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
        let mut mark = Inst::effect(SysEffect::DumpStats);
        mark.timed = false;
        program.push(mark.flags(UopFlags::empty()));
        program
    })
}

/// A reference of a stream: where it begins, and by how much it moves.
fn moving() -> impl Strategy<Value = (u64, u64)> {
    let from = (0..4_u64, 0..16_u64, 0..8_u64);
    let stride = prop_oneof![4 => Just(8), 3 => Just(64), 2 => Just(0), 1 => Just(16), 1 => Just(48), 1 => Just(8u64.wrapping_neg())];
    // Most are words; of those at odd places some cross lines and pages.
    (from, stride).prop_map(|((region, word, odd), stride)| {
        (DATA + region * 0x4800 + word * 8 + u64::from(odd == 7) * 61, stride)
    })
}

/// A short loop of loads, stores and operations that goes through memory.
pub fn streams() -> impl Strategy<Value = Vec<Inst>> {
    let r = register;
    let inst = prop_oneof![
        2 => (r(), r()).prop_map(|(d, a)| (Inst::op(OpClass::IntAlu, d, &[a]), None)),
        3 => (r(), r(), moving()).prop_map(|(d, a, (at, by))| (Inst::load(d, a, at, 8), Some(by))),
        3 => (r(), r(), moving()).prop_map(|(d, a, (at, by))| (Inst::store(d, a, at, 8), Some(by))),
    ];
    let alike = prop_oneof![Just(None), Just(Some(8)), Just(Some(64))];
    (prop::collection::vec(inst, 1..10), alike, 20..1_000_u64).prop_map(|(insts, alike, rewinds)| {
        let moves = |(inst, by): (Inst, Option<u64>)| match by {
            Some(by) => inst.moving(alike.unwrap_or(by), rewinds).paged(12),
            None => inst,
        };
        let mut program: Vec<Inst> = insts.into_iter().map(moves).collect();
        program.push(Inst::branch(BranchKind::Cond, 0, &[&[true; 30][..], &[false]].concat()));
        let mut mark = Inst::effect(SysEffect::DumpStats);
        mark.timed = false;
        program.push(mark.flags(UopFlags::empty()));
        program
    })
}
