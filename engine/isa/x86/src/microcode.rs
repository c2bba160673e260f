//! gem5's instructions that loop in microcode, step by step: repeated string instructions and divisions
//! (`CrackConfig::gem5_microcode`); no processor works so.
//!
//! Facts: gem5 24.0 `src/arch/x86/isa/insts/general_purpose` (`string/*.py`, `arithmetic/multiply_and_divide.py`) and
//! `microops/regop.isa` (how many bits a `div2` divides). A step is a straight-line piece of the microcode, or one iteration of its loop,
//! which ends in a micro-branch ([`UopFlags::MICRO_BRANCH`]) back to the loop's top. Between steps the instruction pointer
//! stays and no architectural state has changed that a restart would need: a division executes in its last step, a
//! repeated string instruction one element per iteration.
//!
//! A mispredicted micro-branch stays in its instruction, too: the wrong path is what follows the loop, or one more iteration
//! ([`Micro::follow`]). To the pipeline a micro-branch falls through to the next instruction, and leads to the instruction
//! itself (its loop) or one byte on ([`over`]): gem5 distinguishes them by micro-PC, which the pipeline here does not have.

use breakeven_base::{BranchInfo, BranchKind, MemKind, MemRef, OpClass, Reg, Step, Uop, UopFlags};
use iced_x86::Mnemonic;

use crate::crack::{uop, Uops};
use crate::flags::FlagGroups;
use crate::inst::{Inst, Piece};
use crate::regs::{gpr, C, DIVIDER, LEFT, SIGN, T0, T1, T2, T3};
use crate::rep::{compares, pointers};

type F = UopFlags;
const NONE: Reg = Reg::NONE;

/// The instruction in progress, from `pc` to `end`: steps done, and iterations of its loop in all (of a division: a string
/// instruction's are known by its count).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Micro {
    pub pc: u64,
    pub end: u64,
    pub done: u8,
    pub iterations: u8,
    /// The loop has ended.
    pub left: bool,
    /// The last step was the branch over the loop.
    pub entry: bool,
}

impl Default for Micro {
    fn default() -> Self {
        // No instruction is there.
        Micro { pc: u64::MAX, end: u64::MAX, done: 0, iterations: 0, left: false, entry: false }
    }
}

impl Micro {
    /// The branch just described is followed to `target` although it went elsewhere. False: the target is outside this
    /// instruction.
    pub fn follow(&mut self, target: u64) -> bool {
        if target == self.pc {
            // The first, or one more iteration.
            (self.left, self.entry) = (false, false);
            self.iterations = self.iterations.saturating_add(1);
        } else if target == over(self.pc) {
            self.left = true;
        } else if target == self.end {
            self.left = !self.entry;
        } else {
            return false;
        }
        true
    }
}

/// Where the branch over the loop of the instruction at `pc` leads, as the pipeline sees it. No instruction begins there: a repeated
/// string instruction has a prefix and an opcode.
fn over(pc: u64) -> u64 {
    pc.wrapping_add(1)
}

/// Iterations of the loop of gem5's division: `div1` takes the dividend's high half, `div2i` and every `div2` shift bits
/// of the low half in until the divisor fits, then subtract it once. Two come before the loop, four (bytes: two) are in it.
pub(crate) fn division_iterations(high: u64, low: u64, divisor: u64, bits: u32) -> u8 {
    let (steps, _) = divide(high, low, divisor, bits);
    // Two come before the loop.
    u8::try_from(steps - 2u32.min(steps)).unwrap_or(u8::MAX).div_ceil(div2s_per_iteration((bits / 8) as u8)).max(1)
}

/// The `div2`s that shift or subtract, and the remainder.
fn divide(high: u64, low: u64, divisor: u64, bits: u32) -> (u32, u64) {
    let mut rest = high;
    subtract(&mut rest, divisor);
    let mut remaining = bits;
    let mut steps = 0;
    while remaining > 0 && steps < 128 {
        steps += 1;
        let top = 1 << 63;
        if divisor & top != 0 {
            while remaining > 0 && rest & top == 0 {
                rest = shift_in(rest, low, &mut remaining);
            }
            if rest & top != 0 {
                let carried = rest < divisor && remaining > 0;
                if carried {
                    rest = shift_in(rest, low, &mut remaining);
                }
                if carried || divisor <= rest {
                    rest = rest.wrapping_sub(divisor);
                }
            }
        } else {
            while remaining > 0 && rest < divisor {
                rest = shift_in(rest, low, &mut remaining);
            }
            subtract(&mut rest, divisor);
        }
    }
    (steps, rest)
}

fn div2s_per_iteration(size: u8) -> u8 {
    if size == 1 {
        2
    } else {
        4
    }
}

fn shift_in(rest: u64, low: u64, remaining: &mut u32) -> u64 {
    *remaining -= 1;
    rest << 1 | low >> *remaining & 1
}

/// One subtraction of the divisor, shifted as far left as it fits.
fn subtract(rest: &mut u64, divisor: u64) {
    if divisor == 0 || divisor > *rest {
        return;
    }
    let mut shift = divisor.leading_zeros() - rest.leading_zeros();
    if divisor << shift > *rest {
        shift -= 1;
    }
    *rest -= divisor << shift;
}

/// Straight-line pieces before a division's loop; as many follow it.
pub(crate) fn division_pieces(op: Mnemonic) -> u8 {
    if op == Mnemonic::Idiv {
        2
    } else {
        1
    }
}

/// A step's micro-ops with one result each.
fn alu(u: &mut Uops, ops: &[([Reg; 3], Reg)]) {
    for (src, dst) in ops {
        u.push(uop(OpClass::IntAlu, *src, [*dst, NONE], F::empty()));
    }
}

/// Computes some bits of the quotient.
fn div2(u: &mut Uops, low: Reg) {
    u.push(uop(OpClass::IntDiv, [DIVIDER, low, LEFT], [DIVIDER, LEFT], F::empty()));
}

/// A division's first three: `div1`, `div2i`, `div2`.
fn begin_division(u: &mut Uops, high: Reg, low: Reg, divisor: Reg) {
    u.push(uop(OpClass::IntDiv, [high, divisor, NONE], [DIVIDER, NONE], F::empty()));
    u.push(uop(OpClass::IntDiv, [DIVIDER, low, NONE], [DIVIDER, LEFT], F::empty()));
    div2(u, low);
}

/// What an instruction is decoded into, behind the load of a divisor in memory: a division's first step.
pub(crate) fn division(op: Mnemonic, divisor: Reg, u: &mut Uops) {
    let (rax, rdx) = (gpr(0), gpr(2));
    if op == Mnemonic::Div {
        return begin_division(u, rdx, rax, divisor);
    }
    // The dividend negated, the divisor's sign, the divisor negated.
    alu(u, &[([rax, NONE, NONE], T1), ([T1, NONE, NONE], SIGN), ([rdx, NONE, NONE], T2), ([T2, SIGN, NONE], T2)]);
    alu(u, &[([divisor, NONE, NONE], SIGN), ([divisor, SIGN, NONE], T3)]);
}

/// The steps of a division behind the first, `n` counted with it but without its loop's iterations.
fn division_piece(i: &Inst, n: u8, u: &mut Uops) {
    let (rax, rdx) = (gpr(0), gpr(2));
    match (i.op, n) {
        (Mnemonic::Idiv, 1) => {
            // The divisor's absolute value, the dividend's sign, its absolute value.
            alu(u, &[([T3, SIGN, NONE], T3), ([rdx, NONE, NONE], SIGN)]);
            alu(u, &[([T1, rax, SIGN], T1), ([T2, rdx, SIGN], T2)]);
            begin_division(u, T2, T1, T3);
        }
        (Mnemonic::Idiv, 2) => {
            // Remainder and quotient with the dividend's sign; the divisor's.
            alu(u, &[([DIVIDER, NONE, NONE], T0), ([DIVIDER, NONE, NONE], T1), ([T1, NONE, NONE], T2)]);
            alu(u, &[([rdx, T2, SIGN], rdx), ([rdx, T1, SIGN], rdx), ([T0, NONE, NONE], T2), ([T0, T2, SIGN], T0)]);
            alu(u, &[([T3, NONE, NONE], SIGN)]);
        }
        (Mnemonic::Idiv, _) => {
            alu(u, &[([T0, NONE, NONE], T2), ([rax, T2, SIGN], rax), ([rax, T0, SIGN], rax)]);
        }
        _ => alu(u, &[([DIVIDER, NONE, NONE], rax), ([DIVIDER, NONE, NONE], if i.size == 1 { rax } else { rdx })]),
    }
}

/// A branch within the instruction, on what is in `condition`. Its class is what gem5's parser gives to micro-ops that name
/// none (`br` of `microops/seqop.isa`).
fn branch(u: &mut Uops, condition: [Reg; 2]) {
    let flags = F::BRANCH | F::MICRO_BRANCH;
    u.push(uop(OpClass::IntAlu, [condition[0], condition[1], NONE], [NONE; 2], flags));
}

/// The micro-ops of a step behind a division's first; `refs` are the accesses it made.
pub(crate) fn crack(i: &Inst, refs: &[MemRef], piece: Piece, last: bool) -> Uops {
    let mut u = Uops::default();
    let divides = matches!(i.op, Mnemonic::Div | Mnemonic::Idiv);
    match (piece, divides) {
        (Piece::Straight(n), true) => division_piece(i, n, &mut u),
        (_, true) => {
            let low = if i.op == Mnemonic::Div { gpr(0) } else { T1 };
            for _ in 0..div2s_per_iteration(i.size) {
                div2(&mut u, low);
            }
            branch(&mut u, [LEFT, NONE]);
        }
        (Piece::Iteration { .. }, false) => element(i, refs, &mut u),
        (Piece::Straight(1..), false) => u.push(EMPTY),
        (Piece::Straight(0), false) => {
            // The step that the pointers take.
            alu(&mut u, &[([NONE; 3], SIGN), ([SIGN, T1, NONE], T1), ([NONE; 3], T2), ([T1, T2, SIGN], T1)]);
        }
        (_, false) => {
            alu(&mut u, &[([gpr(1), NONE, NONE], T2)]);
            branch(&mut u, [T2, NONE]);
        }
    }
    u.ends(matches!(piece, Piece::Entry { .. }) || divides && piece == Piece::Straight(0), last);
    u
}

/// What follows a string instruction's loop.
const EMPTY: Uop =
    Uop { class: OpClass::No_OpClass, latency: 0, src: [NONE; 3], dst: [NONE; 2], flags: UopFlags::empty() };

/// One iteration of a repeated string instruction's loop.
fn element(i: &Inst, refs: &[MemRef], u: &mut Uops) {
    let (rax, rcx, none) = (gpr(0), gpr(1), [NONE; 2]);
    let pointers = pointers(i.op);
    let mut loaded = [NONE; 2];
    for (n, m) in refs.iter().take(2).enumerate() {
        let pointer = if n > 0 && pointers[1].is_some() { pointers[1] } else { pointers[0] };
        if m.kind == MemKind::Load {
            loaded[n] = if n == 0 { T0 } else { T2 };
            // Less than 4 bytes are merged with what the register held.
            let merged = if i.size < 4 { loaded[n] } else { NONE };
            u.push(uop(OpClass::MemRead, [pointer, NONE, merged], [loaded[n], NONE], F::LOAD));
        } else {
            let data = if loaded[0].is_some() { loaded[0] } else { rax };
            u.push(uop(OpClass::MemWrite, [pointer, NONE, data], none, F::STORE));
        }
    }
    let compares = compares(i.op);
    if compares {
        let with = if loaded[1].is_some() { loaded[1] } else { rax };
        u.push(uop(OpClass::IntAlu, [loaded[0], with, NONE], [NONE, C], F::empty()));
        u.flags_written = FlagGroups::all();
    } else if refs.len() == 1 && loaded[0].is_some() {
        alu(u, &[([rax, T0, NONE], rax)]);
    }
    u.push(uop(OpClass::IntAlu, [rcx, NONE, NONE], [rcx, T2], F::empty()));
    for p in pointers.into_iter().filter(|p| p.is_some()).rev() {
        alu(u, &[([p, T1, NONE], p)]);
    }
    branch(u, [T2, if compares { C } else { NONE }]);
}

/// Describes a step's micro-branch: direction and target.
pub(crate) fn describe_branch(piece: Piece, out: &mut Step) {
    let (taken, target) = match piece {
        Piece::Iteration { again } => (again, out.pc),
        Piece::Entry { over: taken } => (taken, over(out.pc)),
        Piece::None | Piece::Straight(_) => return,
    };
    out.branch = BranchInfo { kind: BranchKind::Cond, taken, target };
    out.next_pc = if taken { target } else { out.pc.wrapping_add(out.len.into()) };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed};

    use super::*;

    /// Numbers of all lengths.
    fn number() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..64_u32).prop_map(|(bits, shift)| bits >> shift)
    }

    proptest! {
        #![proptest_config(Config { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() })]

        #[test]
        fn the_bits_worked_off_leave_the_remainder(high in any::<u64>(), low in number(), divisor in number()) {
            let divisor = divisor.max(1);
            let high = high % divisor;
            let dividend = u128::from(high) << 64 | u128::from(low);
            let (steps, rest) = divide(high, low, divisor, 64);
            prop_assert_eq!(u128::from(rest), dividend % u128::from(divisor));
            let ones = (dividend / u128::from(divisor)).count_ones();
            prop_assert!((ones..=ones + 1).contains(&steps), "a step for each one of the quotient: {} for {}", steps, ones);
        }
    }
}
