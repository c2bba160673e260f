//! Registers as micro-ops name them: one flat space, below [`breakeven_base::Reg::COUNT`].
//!
//! The arithmetic flags have three names. An instruction that writes all of them writes [`C`]; one that keeps the carry
//! (inc, dec) writes [`Z`]; adox writes [`O`]. The last writer of each group is known when an instruction executes, so
//! a reader names the register that holds the group then (see [`crate::crack`]).

use breakeven_base::Reg;

/// rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8..r15: 1..=16.
pub const GPR: u8 = 1;
/// Integer temporaries inside an instruction.
pub const T0: Reg = Reg(20);
pub const T1: Reg = Reg(21);
pub const T2: Reg = Reg(22);
pub const T3: Reg = Reg(23);
/// Where gem5's microcode leaves a product.
pub const PRODUCT: Reg = Reg(24);
/// gem5's division: the divider's hidden registers, the bits left to divide, a sign.
pub const DIVIDER: Reg = Reg(25);
pub const LEFT: Reg = Reg(26);
pub const SIGN: Reg = Reg(27);
/// The string engine's sequencer.
pub const STRING: Reg = Reg(23);
/// FS and GS base.
pub const FS_BASE: Reg = Reg(28);
pub const GS_BASE: Reg = Reg(29);
/// xmm0/ymm0..: 32..=47.
pub const VEC: u8 = 32;
/// mm0..: 48..=55.
pub const MMX: u8 = 48;
/// Vector temporaries inside an instruction.
pub const V0: Reg = Reg(56);
pub const V1: Reg = Reg(57);
pub const MXCSR: Reg = Reg(60);
pub const X87: Reg = Reg(61);

/// zmm16..: 64..=79.
pub const HIGH_VEC: u8 = 64;
/// k0..: 80..=87.
pub const OPMASK: u8 = 80;

/// All flags, or the carry flag alone.
pub const C: Reg = Reg(Reg::FLAGS as u8);
/// The overflow flag.
pub const O: Reg = Reg(C.0 + 1);
/// Zero, sign, parity, adjust; also overflow when written by inc and dec.
pub const Z: Reg = Reg(C.0 + 2);
/// What a fused load or store data hands to its operation or store.
pub const FUSED: Reg = Reg(Reg::UNCOUNTED as u8);
/// The same of a vector.
pub const FUSED_VECTOR: Reg = Reg(FUSED.0 + 1);
/// Half of a vector that is wider than its unit; the other half has the result.
pub const FUSED_HALF: Reg = Reg(FUSED.0 + 2);

/// Whether it is a register of vectors, masks or x87.
#[must_use]
pub const fn is_vector(reg: Reg) -> bool {
    reg.0 >= VEC && (reg.0 as usize) < Reg::FLAGS || reg.0 == FUSED_VECTOR.0 || reg.0 == FUSED_HALF.0
}

/// The name of general register `n` (0..16).
#[must_use]
pub const fn gpr(n: u8) -> Reg {
    Reg(GPR + n)
}
