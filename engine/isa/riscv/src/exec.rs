//! The inner loop's instructions: integer, loads and stores, branches. Atomics and floating point are called from here.

use breakeven_base::{Bus, MemRef, Now};

use crate::bitmanip::{clmul, div, divu, mulh, mulhsu, mulhu, orc_b, rem, remu, sext32};
use crate::csr::status;
use crate::hart::{Hart, Stop};
use crate::inst::{Inst, Op};

/// Single-precision values are NaN-boxed.
pub(crate) const BOX: u64 = 0xffff_ffff_0000_0000;

/// Executes one instruction at `pc` that is not cold ([`Op::is_cold`]) and returns where execution goes on. On `Err`
/// nothing has changed. `FAST`: architectural path only, nothing is described, and instructions left to `step` stop it.
#[inline(always)]
pub(crate) fn exec<const FAST: bool, B: Bus>(
    h: &mut Hart,
    bus: &mut B,
    now: &Now,
    i: &Inst,
    pc: u64,
    m: &mut MemRef,
) -> Result<u64, Stop> {
    let next = pc.wrapping_add(u64::from(i.len));
    let a = h.regs[i.rs1 as usize];
    let b = h.regs[i.rs2 as usize];
    let imm = i64::from(i.imm) as u64;
    let (aw, bw) = (a as u32, b as u32);
    let shamt = imm as u32;

    macro_rules! branch {
        ($taken:expr) => {{
            let taken = $taken;
            if !FAST {
                h.outcome.taken = taken;
            }
            return Ok(if taken { pc.wrapping_add(imm) } else { next });
        }};
    }
    macro_rules! load {
        ($t:ty, $conv:expr) => {{
            let v = h.load::<FAST, $t, B>(bus, now, a.wrapping_add(imm), m)?;
            #[allow(clippy::redundant_closure_call)] // the macro's argument is a closure
            ($conv)(v)
        }};
    }
    macro_rules! store {
        ($t:ty) => {{
            h.store::<FAST, $t, B>(bus, now, a.wrapping_add(imm), b, m)?;
            return Ok(next);
        }};
    }
    let value = match i.op {
        Op::Lui => imm,
        Op::Auipc => pc.wrapping_add(imm),
        Op::Jal => {
            h.regs[i.rd as usize] = next;
            return Ok(pc.wrapping_add(imm));
        }
        Op::Jalr => {
            h.regs[i.rd as usize] = next;
            return Ok(a.wrapping_add(imm) & !1);
        }
        Op::Beq => branch!(a == b),
        Op::Bne => branch!(a != b),
        Op::Blt => branch!((a as i64) < b as i64),
        Op::Bge => branch!(a as i64 >= b as i64),
        Op::Bltu => branch!(a < b),
        Op::Bgeu => branch!(a >= b),
        Op::Lb => load!(u8, |v: u64| v as i8 as i64 as u64),
        Op::Lh => load!(u16, |v: u64| v as i16 as i64 as u64),
        Op::Lw => load!(u32, sext32),
        Op::Ld => load!(u64, |v| v),
        Op::Lbu => load!(u8, |v| v),
        Op::Lhu => load!(u16, |v| v),
        Op::Lwu => load!(u32, |v| v),
        Op::Sb => store!(u8),
        Op::Sh => store!(u16),
        Op::Sw => store!(u32),
        Op::Sd => store!(u64),
        Op::Flw | Op::Fld | Op::Fsw | Op::Fsd => {
            if h.mstatus & status::FS == 0 {
                return Err(Stop::Fault { cause: 2, tval: u64::from(i.raw) });
            }
            match i.op {
                Op::Fsw => store!(u32),
                Op::Fsd => store!(u64),
                _ => {}
            }
            let v = if i.op == Op::Flw { load!(u32, |v| v | BOX) } else { load!(u64, |v| v) };
            h.mstatus |= status::FS;
            v
        }
        Op::Addi => a.wrapping_add(imm),
        Op::Slti => u64::from((a as i64) < imm as i64),
        Op::Sltiu => u64::from(a < imm),
        Op::Xori => a ^ imm,
        Op::Ori => a | imm,
        Op::Andi => a & imm,
        Op::Slli => a << (shamt & 63),
        Op::Srli => a >> (shamt & 63),
        Op::Srai => (a as i64 >> (shamt & 63)) as u64,
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Sll => a << (b & 63),
        Op::Slt => u64::from((a as i64) < b as i64),
        Op::Sltu => u64::from(a < b),
        Op::Xor => a ^ b,
        Op::Srl => a >> (b & 63),
        Op::Sra => (a as i64 >> (b & 63)) as u64,
        Op::Or => a | b,
        Op::And => a & b,
        Op::Addiw => sext32(a.wrapping_add(imm)),
        Op::Slliw => sext32(u64::from(aw << (shamt & 31))),
        Op::Srliw => sext32(u64::from(aw >> (shamt & 31))),
        Op::Sraiw => (aw as i32 >> (shamt & 31)) as i64 as u64,
        Op::Addw => sext32(a.wrapping_add(b)),
        Op::Subw => sext32(a.wrapping_sub(b)),
        Op::Sllw => sext32(u64::from(aw << (bw & 31))),
        Op::Srlw => sext32(u64::from(aw >> (bw & 31))),
        Op::Sraw => (aw as i32 >> (bw & 31)) as i64 as u64,
        Op::Mul => a.wrapping_mul(b),
        Op::Mulh => mulh(a, b),
        Op::Mulhsu => mulhsu(a, b),
        Op::Mulhu => mulhu(a, b),
        Op::Div => div(a as i64, b as i64) as u64,
        Op::Divu => divu(a, b),
        Op::Rem => rem(a as i64, b as i64) as u64,
        Op::Remu => remu(a, b),
        Op::Mulw => sext32(a.wrapping_mul(b)),
        Op::Divw => sext32(div(i64::from(aw as i32), i64::from(bw as i32)) as u64),
        Op::Divuw => sext32(divu(u64::from(aw), u64::from(bw))),
        Op::Remw => sext32(rem(i64::from(aw as i32), i64::from(bw as i32)) as u64),
        Op::Remuw => sext32(remu(u64::from(aw), u64::from(bw))),
        Op::AddUw => u64::from(aw).wrapping_add(b),
        Op::Sh1add => (a << 1).wrapping_add(b),
        Op::Sh2add => (a << 2).wrapping_add(b),
        Op::Sh3add => (a << 3).wrapping_add(b),
        Op::Sh1addUw => (u64::from(aw) << 1).wrapping_add(b),
        Op::Sh2addUw => (u64::from(aw) << 2).wrapping_add(b),
        Op::Sh3addUw => (u64::from(aw) << 3).wrapping_add(b),
        Op::SlliUw => u64::from(aw) << (shamt & 63),
        Op::Andn => a & !b,
        Op::Orn => a | !b,
        Op::Xnor => !(a ^ b),
        Op::Clz => u64::from(a.leading_zeros()),
        Op::Ctz => u64::from(a.trailing_zeros()),
        Op::Cpop => u64::from(a.count_ones()),
        Op::Clzw => u64::from(aw.leading_zeros()),
        Op::Ctzw => u64::from(aw.trailing_zeros()),
        Op::Cpopw => u64::from(aw.count_ones()),
        Op::Max => (a as i64).max(b as i64) as u64,
        Op::Maxu => a.max(b),
        Op::Min => (a as i64).min(b as i64) as u64,
        Op::Minu => a.min(b),
        Op::SextB => a as i8 as i64 as u64,
        Op::SextH => a as i16 as i64 as u64,
        Op::ZextH => a & 0xffff,
        Op::Rol => a.rotate_left(bw & 63),
        Op::Ror => a.rotate_right(bw & 63),
        Op::Rori => a.rotate_right(shamt & 63),
        Op::Rolw => sext32(u64::from(aw.rotate_left(bw & 31))),
        Op::Rorw => sext32(u64::from(aw.rotate_right(bw & 31))),
        Op::Roriw => sext32(u64::from(aw.rotate_right(shamt & 31))),
        Op::OrcB => orc_b(a),
        Op::Rev8 => a.swap_bytes(),
        Op::Bclr => a & !(1 << (b & 63)),
        Op::Bclri => a & !(1 << (shamt & 63)),
        Op::Bext => a >> (b & 63) & 1,
        Op::Bexti => a >> (shamt & 63) & 1,
        Op::Binv => a ^ 1 << (b & 63),
        Op::Binvi => a ^ 1 << (shamt & 63),
        Op::Bset => a | 1 << (b & 63),
        Op::Bseti => a | 1 << (shamt & 63),
        Op::Clmul => clmul(a, b) as u64,
        Op::Clmulh => (clmul(a, b) >> 64) as u64,
        Op::Clmulr => (clmul(a, b) >> 63) as u64,
        Op::CzeroEqz => [0, a][usize::from(b != 0)],
        Op::CzeroNez => [0, a][usize::from(b == 0)],
        // One hart, in order: there is nothing to order functionally.
        Op::Fence => return Ok(next),
        Op::PrefetchI | Op::PrefetchR | Op::PrefetchW => {
            if !FAST {
                h.prefetch(bus, i, m);
            }
            return Ok(next);
        }
        op if op.is_amo() => {
            h.atomic(bus, now, i, m)?;
            return Ok(next);
        }
        op if op.is_fp() => {
            h.exec_fp(i)?;
            return Ok(next);
        }
        _ => return Err(Stop::SlowPath),
    };
    h.regs[i.rd as usize] = value;
    Ok(next)
}
