//! Converts iced's instruction to [`Inst`]. Addresses are relative to the instruction's own, so that a decoded page
//! is valid wherever it is mapped.

use breakeven_base::BranchKind;
use iced_x86::{
    Code, ConditionCode, CpuidFeature, Decoder, DecoderError, DecoderOptions, EncodingKind, Instruction, MemorySize,
    Mnemonic, OpKind, Register, RoundingControl,
};

use crate::config::Features;
use crate::inst::{Inst, InstFlags, Kind, Opnd, RIP, ZERO};
use crate::simd::{element, length, opmask_bits, Evex};

/// The longest instruction, in bytes.
pub(crate) const MAX_LEN: usize = 15;

/// The result of decoding.
pub(crate) enum Decoded {
    /// The record, and iced's view for cracking.
    Inst(Inst, Instruction),
    /// The bytes end inside the instruction.
    Short,
}

fn general(r: Register) -> Option<Opnd> {
    let kind = match r {
        Register::AH | Register::CH | Register::DH | Register::BH => {
            return Some(Opnd { kind: Kind::R8H, r: (r as u32 - Register::AH as u32) as u8 });
        }
        _ if r.is_gpr8() => Kind::R8,
        _ if r.is_gpr16() => Kind::R16,
        _ if r.is_gpr32() => Kind::R32,
        _ if r.is_gpr64() => Kind::R64,
        _ => return None,
    };
    Some(Opnd { kind, r: (r.full_register() as u32).wrapping_sub(Register::RAX as u32) as u8 })
}

fn register(r: Register) -> Opnd {
    if let Some(o) = general(r) {
        return o;
    }
    let number = |first: Register| (r as u32).wrapping_sub(first as u32) as u8;
    let (kind, n) = if r.is_xmm() {
        (Kind::Xmm, number(Register::XMM0))
    } else if r.is_ymm() {
        (Kind::Ymm, number(Register::YMM0))
    } else if r.is_zmm() {
        (Kind::Zmm, number(Register::ZMM0))
    } else if r.is_k() {
        (Kind::K, number(Register::K0))
    } else if r.is_mm() {
        (Kind::Mm, number(Register::MM0))
    } else if r.is_segment_register() {
        (Kind::Seg, number(Register::ES))
    } else if r.is_cr() {
        (Kind::Cr, number(Register::CR0))
    } else if r.is_dr() {
        (Kind::Dr, number(Register::DR0))
    } else if r.is_st() {
        (Kind::Other, number(Register::ST0))
    } else {
        (Kind::Other, 0)
    };
    Opnd { kind, r: n }
}

fn width(k: Kind) -> u8 {
    match k {
        Kind::R8 | Kind::R8H => 1,
        Kind::R16 => 2,
        Kind::R32 => 4,
        Kind::Xmm => 16,
        Kind::Ymm => 32,
        Kind::Zmm => 64,
        _ => 8,
    }
}

/// Index of an address register: the general ones, or none.
fn address_register(r: Register) -> u8 {
    match r {
        Register::RIP | Register::EIP => RIP,
        _ => general(r).map_or(ZERO, |o| o.r),
    }
}

fn memory(ins: &Instruction, i: &mut Inst) {
    i.addr.base = address_register(ins.memory_base());
    // xlatb has al as an index, which execution adds.
    if ins.mnemonic() != Mnemonic::Xlatb {
        let index = ins.memory_index();
        i.addr.index =
            if index.is_xmm() || index.is_ymm() { index.number() as u8 & 15 } else { address_register(index) };
        i.flags.set(InstFlags::WIDE_INDEX, index.is_ymm());
    }
    i.addr.scale = ins.memory_index_scale().trailing_zeros() as u8;
    i.addr.disp = ins.memory_displacement64();
    let narrow = |r: Register| r.is_gpr32() || r == Register::EIP;
    let bare = ins.memory_base() == Register::None && ins.memory_index() == Register::None;
    if narrow(ins.memory_base())
        || narrow(ins.memory_index())
        || (bare
            && ins.memory_displ_size() == 4
            && ins.memory_displacement64() >> 32 == 0
            && ins.memory_displacement64() >> 31 != 0)
    {
        i.flags |= InstFlags::ADDR32;
    }
    if i.addr.base == RIP && ins.memory_base() == Register::RIP {
        i.flags &= !InstFlags::ADDR32;
    }
}

fn segment(ins: &Instruction) -> u8 {
    match ins.memory_segment() {
        Register::FS => 1,
        Register::GS => 2,
        _ => 0,
    }
}

/// Whether CPUID reports it; `None`: unknown to this front end.
fn offered(f: &Features, feature: CpuidFeature) -> Option<bool> {
    use CpuidFeature as C;
    Some(match feature {
        C::INTEL8086 | C::INTEL186 | C::INTEL286 | C::INTEL386 | C::INTEL486 | C::X64 | C::CPUID | C::CX8 => true,
        C::MSR | C::TSC | C::SYSCALL | C::PAUSE | C::MULTIBYTENOP | C::FXSR | C::FPU | C::FPU287 | C::FPU387 => true,
        C::CET_IBT | C::CET_SS | C::RDPMC => true,
        C::CMOV => f.cmov,
        C::MMX => f.mmx,
        C::SSE => f.sse,
        C::SSE2 => f.sse2,
        C::SSE3 => f.sse3,
        C::SSSE3 => f.ssse3,
        C::SSE4_1 => f.sse4_1,
        C::SSE4_2 => f.sse4_2,
        C::POPCNT => f.popcnt,
        C::MOVBE => f.movbe,
        C::LZCNT => f.lzcnt,
        C::AVX | C::XSAVE => f.avx,
        C::AVX2 => f.avx2,
        C::AVX512F | C::AVX512BW | C::AVX512CD | C::AVX512DQ | C::AVX512VL => f.avx512,
        C::BMI1 => f.bmi1,
        C::BMI2 => f.bmi2,
        C::ADX => f.adx,
        C::CLFSH => f.clflush,
        C::CLFLUSHOPT => f.clflushopt,
        C::CLWB => f.clwb,
        C::PREFETCHW => f.prefetchw,
        C::RDTSCP => f.rdtscp,
        C::CMPXCHG16B => f.cx16,
        C::SMAP => f.smap,
        C::FSGSBASE => f.fsgsbase,
        _ => return None,
    })
}

/// Instructions with a 16-byte memory operand that may be misaligned without VEX.
fn may_misalign(m: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        m,
        Movups | Movupd | Movdqu | Lddqu | Pcmpestri | Pcmpestrm | Pcmpestri64 | Pcmpestrm64 | Pcmpistri | Pcmpistrm
    )
}

fn must_align(ins: &Instruction, i: &Inst) -> bool {
    use Mnemonic::*;
    let aligned_move = matches!(
        ins.mnemonic(),
        Vmovaps | Vmovapd | Vmovdqa | Vmovdqa32 | Vmovdqa64 | Vmovntdq | Vmovntps | Vmovntpd | Vmovntdqa | Cmpxchg16b
    );
    let legacy = !i.vex() && i.msize == 16 && i.k.iter().any(|k| k.kind.is_vec()) && !may_misalign(ins.mnemonic());
    aligned_move || legacy
}

/// Instructions that `step` alone executes, and no wrong path: they have effects, need the time, or change privilege.
fn cold(ins: &Instruction, i: &Inst) -> bool {
    use Mnemonic::*;
    let control = i.k.iter().any(|k| matches!(k.kind, Kind::Cr | Kind::Dr));
    let segment_load = i.k[0].kind == Kind::Seg && ins.mnemonic() == Mov;
    let matched = matches!(
        ins.mnemonic(),
        In | Out
            | Hlt
            | Rdtsc
            | Rdtscp
            | Rdmsr
            | Wrmsr
            | Invlpg
            | Syscall
            | Sysret
            | Sysretq
            | Iret
            | Iretd
            | Iretq
            | Lgdt
            | Lidt
            | Ltr
            | Lldt
            | Swapgs
            | Xsetbv
            | Int
            | Int1
            | Int3
            | Wbinvd
            | Invd
            | Clts
            | Lmsw
            | Stac
            | Clac
            | Cli
            | Sti
            | Popf
            | Popfq
            | Retf
            | Wrfsbase
            | Wrgsbase
            | Rdpmc
            | Fxsave
            | Fxsave64
            | Fxrstor
            | Fxrstor64
            | Fninit
            | Fnclex
            | Fldcw
            | Fnstcw
            | Fnstsw
    );
    control || segment_load || matched
}

/// Decodes the instruction that `bytes` start with.
pub(crate) fn decode(bytes: &[u8], features: &Features) -> Decoded {
    if let [0x0f, 0x04, low, high, ..] = bytes {
        let imm = u64::from(u16::from_le_bytes([*low, *high]));
        let i = Inst { flags: InstFlags::PSEUDO, len: 4, imm, ..Inst::default() };
        return Decoded::Inst(i, Instruction::new());
    }
    if bytes.first() == Some(&0x0f) && bytes.get(1) == Some(&0x04) {
        return Decoded::Short;
    }
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    decoder.set_ip(0);
    let ins = decoder.decode();
    if ins.is_invalid() {
        if decoder.last_error() == DecoderError::NoMoreBytes && bytes.len() < MAX_LEN {
            return Decoded::Short;
        }
        return Decoded::Inst(Inst { flags: InstFlags::UNDEFINED, len: ins.len() as u8, ..Inst::default() }, ins);
    }
    Decoded::Inst(record(&ins, features), ins)
}

fn record(ins: &Instruction, features: &Features) -> Inst {
    let mut i = Inst { op: ins.mnemonic(), flags: InstFlags::empty(), len: ins.len() as u8, ..Inst::default() };
    if !features.lzcnt && i.op == Mnemonic::Lzcnt {
        i.op = Mnemonic::Bsr;
    }
    if !features.bmi1 && i.op == Mnemonic::Tzcnt {
        i.op = Mnemonic::Bsf;
    }
    let set = |i: &mut Inst, on: bool, f: InstFlags| {
        if on {
            i.flags |= f;
        }
    };
    let plain = i.op != ins.mnemonic();
    for feature in ins.cpuid_features() {
        let x87 = matches!(feature, CpuidFeature::FPU | CpuidFeature::FPU287 | CpuidFeature::FPU387);
        let x87 = x87 || i.op == Mnemonic::Wait;
        set(&mut i, x87, InstFlags::X87);
        match offered(features, *feature) {
            None => set(&mut i, true, InstFlags::UNKNOWN),
            Some(on) => set(&mut i, !on && !plain, InstFlags::UNDEFINED),
        }
    }
    set(&mut i, matches!(ins.encoding(), EncodingKind::XOP | EncodingKind::MVEX), InstFlags::UNKNOWN);
    set(&mut i, ins.encoding() == EncodingKind::VEX, InstFlags::VEX);
    set(&mut i, ins.has_lock_prefix(), InstFlags::LOCK);
    set(&mut i, ins.has_rep_prefix(), InstFlags::REP);
    set(&mut i, ins.has_repne_prefix(), InstFlags::REPNE);
    set(&mut i, ins.is_string_instruction(), InstFlags::STRING);
    let counts_ecx = matches!(ins.code(), Code::Loop_rel8_64_ECX | Code::Loope_rel8_64_ECX | Code::Loopne_rel8_64_ECX);
    set(&mut i, counts_ecx, InstFlags::ADDR32);
    i.addr.seg = segment(ins);
    i.cc = (ins.condition_code() as u8).wrapping_sub(ConditionCode::o as u8) & 15;
    operands(ins, &mut i);
    let size = ins.memory_size();
    if size != MemorySize::Unknown || i.k.iter().any(|k| k.kind == Kind::Mem) {
        i.msize = u8::try_from(size.size()).unwrap_or(0);
    }
    i.size = match i.k[0].kind {
        Kind::Mem => i.msize,
        Kind::Imm => ins.stack_pointer_increment().unsigned_abs() as u8,
        k => width(k),
    };
    if i.has(InstFlags::STRING) {
        i.size = size.size() as u8;
    }
    if ins.encoding() == EncodingKind::EVEX {
        evex(ins, &mut i);
    } else if opmask_bits(i.op).is_some() {
        i.flags |= InstFlags::AVX512;
    }
    let mmx = i.k.iter().any(|k| k.kind == Kind::Mm) || i.op == Mnemonic::Maskmovq;
    set(&mut i, mmx, InstFlags::MMX);
    let (align, is_cold) = (must_align(ins, &i), cold(ins, &i));
    set(&mut i, align, InstFlags::ALIGN);
    set(&mut i, is_cold, InstFlags::COLD);
    i.branch = branch_kind(&i);
    i
}

fn evex(ins: &Instruction, i: &mut Inst) {
    i.flags |= InstFlags::AVX512 | InstFlags::VEX;
    // Rounding and what has no entry in the table are not known.
    let Some(element) = element(i.op).filter(|_| ins.rounding_control() == RoundingControl::None) else {
        i.flags |= InstFlags::UNKNOWN;
        return;
    };
    i.evex = Evex {
        length: length(&i.k),
        mask: ins.op_mask().number() as u8 & if ins.has_op_mask() { 7 } else { 0 },
        zeroing: ins.zeroing_masking(),
        broadcast: ins.is_broadcast(),
        element,
    };
}

fn branch_kind(i: &Inst) -> BranchKind {
    use Mnemonic::*;
    let direct = i.has(InstFlags::BRANCH);
    match i.op {
        Jmp if direct => BranchKind::Jump,
        Jmp => BranchKind::Indirect,
        Call if direct => BranchKind::Call,
        Call => BranchKind::IndirectCall,
        Ret => BranchKind::Return,
        _ if direct => BranchKind::Cond,
        _ => BranchKind::None,
    }
}

fn operands(ins: &Instruction, i: &mut Inst) {
    let mut second_imm = false;
    for n in 0..ins.op_count().min(4) {
        let slot = &mut i.k[n as usize];
        match ins.op_kind(n) {
            OpKind::Register => *slot = register(ins.op_register(n)),
            OpKind::Memory => {
                slot.kind = Kind::Mem;
                memory(ins, i);
            }
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => {
                slot.kind = Kind::Imm;
                i.imm = ins.near_branch_target();
                i.flags |= InstFlags::BRANCH;
                continue;
            }
            OpKind::Immediate8_2nd => {
                slot.kind = Kind::Imm;
                i.addr.disp = u64::from(ins.immediate8_2nd());
                continue;
            }
            OpKind::FarBranch16 | OpKind::FarBranch32 => slot.kind = Kind::Other,
            k if is_string_kind(k) => {
                let narrow = matches!(
                    k,
                    OpKind::MemorySegESI
                        | OpKind::MemoryESEDI
                        | OpKind::MemorySegEDI
                        | OpKind::MemorySegSI
                        | OpKind::MemorySegDI
                        | OpKind::MemoryESDI
                );
                slot.kind = Kind::Other;
                if narrow {
                    i.flags |= InstFlags::ADDR32;
                }
            }
            _ => {
                slot.kind = Kind::Imm;
                let v = ins.try_immediate(n).unwrap_or(0);
                if second_imm {
                    i.addr.disp = v;
                } else {
                    i.imm = v;
                }
                second_imm = true;
                continue;
            }
        }
        i.nreg += 1;
    }
}

fn is_string_kind(k: OpKind) -> bool {
    matches!(
        k,
        OpKind::MemorySegSI
            | OpKind::MemorySegESI
            | OpKind::MemorySegRSI
            | OpKind::MemorySegDI
            | OpKind::MemorySegEDI
            | OpKind::MemorySegRDI
            | OpKind::MemoryESDI
            | OpKind::MemoryESEDI
            | OpKind::MemoryESRDI
    )
}
