//! What kind of thing an instruction is: fences, cache operations, non-temporal accesses, moves, idioms, unit classes.

use breakeven_base::{OpClass, UopFlags};
use iced_x86::Mnemonic;

use crate::inst::{Inst, InstFlags, Kind};

type F = UopFlags;

pub(super) fn fence(op: Mnemonic) -> Option<F> {
    Some(match op {
        Mnemonic::Lfence | Mnemonic::Cpuid => F::SERIALIZE_BEFORE | F::SERIALIZE_AFTER,
        Mnemonic::Mfence => F::READ_BARRIER | F::WRITE_BARRIER,
        Mnemonic::Sfence => F::WRITE_BARRIER,
        _ => return None,
    })
}

pub(super) fn cache_op(op: Mnemonic) -> Option<F> {
    use Mnemonic::*;
    Some(match op {
        Prefetchnta => F::CACHE_OP | F::NON_TEMPORAL,
        Prefetcht0 | Prefetcht1 | Prefetcht2 | Prefetch | Prefetchw | Prefetchwt1 => F::CACHE_OP,
        // Ordered with stores, clflush with everything.
        Clflush => F::CACHE_OP | F::READ_BARRIER | F::WRITE_BARRIER,
        Clflushopt | Clwb => F::CACHE_OP,
        _ => return None,
    })
}

pub(super) fn non_temporal(op: Mnemonic) -> F {
    if is_non_temporal(op) {
        F::NON_TEMPORAL
    } else {
        F::empty()
    }
}

/// A load or store that goes past the caches, where the memory allows it.
pub(crate) fn is_non_temporal(op: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        op,
        Movnti
            | Movntq
            | Movntdq
            | Movntps
            | Movntpd
            | Vmovntdq
            | Vmovntps
            | Vmovntpd
            | Movntdqa
            | Vmovntdqa
            | Maskmovq
            | Maskmovdqu
            | Vmaskmovdqu
    )
}

/// Copies of a value: a load, a store or a register move, without an operation.
pub(super) fn is_move(op: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        op,
        Mov | Movzx
            | Movsx
            | Movsxd
            | Movaps
            | Movapd
            | Movups
            | Movupd
            | Movdqa
            | Movdqu
            | Movq
            | Movd
            | Movss
            | Movsd
            | Movnti
            | Movntq
            | Movntdq
            | Movntps
            | Movntpd
            | Movntdqa
            | Lddqu
            | Movddup
            | Vmovaps
            | Vmovapd
            | Vmovups
            | Vmovupd
            | Vmovdqa
            | Vmovdqu
            | Vmovdqu8
            | Vmovdqu16
            | Vmovdqu32
            | Vmovdqu64
            | Vmovdqa32
            | Vmovdqa64
            | Kmovb
            | Kmovw
            | Kmovd
            | Kmovq
            | Vbroadcasti32x4
            | Vbroadcasti64x2
            | Vbroadcasti32x8
            | Vbroadcasti64x4
            | Vmovq
            | Vmovd
            | Vmovss
            | Vmovsd
            | Vmovntdq
            | Vmovntps
            | Vmovntpd
            | Vmovntdqa
            | Vlddqu
            | Vmovddup
            | Vbroadcastss
            | Vbroadcastsd
            | Vbroadcastf128
            | Vbroadcasti128
            | Vpbroadcastd
            | Vpbroadcastq
    )
}

pub(super) fn is_nop(op: Mnemonic) -> bool {
    use Mnemonic::*;
    // A shadow stack is never switched on: reading its pointer leaves the register as it is (the unwinder asks that way).
    matches!(op, Nop | Reservednop | Pause | Endbr64 | Endbr32 | Rdsspd | Rdsspq)
}

/// `xor r,r` and the like: the result does not depend on the register.
pub(super) fn zero_idiom(i: &Inst) -> bool {
    use Mnemonic::*;
    let (a, b) = (i.k[i.a()], i.k[i.b()]);
    let whole = matches!(a.kind, Kind::R32 | Kind::R64 | Kind::Xmm | Kind::Ymm | Kind::Zmm | Kind::Mm);
    whole
        && i.evex.mask == 0
        && a == b
        && matches!(
            i.op,
            Xor | Sub
                | Pxor
                | Xorps
                | Xorpd
                | Vpxor
                | Vpxord
                | Vpxorq
                | Vxorps
                | Vxorpd
                | Psubb
                | Psubw
                | Psubd
                | Psubq
                | Vpsubb
                | Vpsubw
                | Vpsubd
                | Vpsubq
        )
}

/// The kind of unit for the operation itself.
pub(super) fn class_of(i: &Inst) -> OpClass {
    use Mnemonic::*;
    match i.op {
        // crc32 has a multiplier's latency and shares its pipe, from Nehalem and Zen on.
        Imul | Mul | Mulx | Crc32 => OpClass::IntMult,
        Div | Idiv => OpClass::IntDiv,
        Fmul | Fmulp | Fimul => OpClass::FloatMult,
        Fdiv | Fdivp | Fidiv | Fdivr | Fdivrp | Fidivr | Fprem => OpClass::FloatDiv,
        Fsqrt => OpClass::FloatSqrt,
        _ if i.has(InstFlags::X87) => OpClass::FloatAdd,
        _ if !i.k.iter().any(|k| k.kind.is_vec()) => OpClass::IntAlu,
        _ => crate::simd::class_of(i.op),
    }
}
