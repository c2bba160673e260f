//! A decoded instruction: operands resolved to what execution needs, independent of where it lies.

use bitflags::bitflags;
use breakeven_base::{BranchKind, UopFlags};
use iced_x86::Mnemonic;

use crate::flags::FlagGroups;
use crate::simd::Evex;

/// Index of a register that is always zero, and of the address of the instruction being executed.
pub(crate) const ZERO: u8 = 16;
pub(crate) const RIP: u8 = 17;

pub(crate) const RAX: usize = 0;
pub(crate) const RCX: usize = 1;
pub(crate) const RDX: usize = 2;
pub(crate) const RBX: usize = 3;
pub(crate) const RSP: usize = 4;
pub(crate) const RBP: usize = 5;
pub(crate) const RSI: usize = 6;
pub(crate) const RDI: usize = 7;

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    #[default]
    None,
    R8,
    /// ah, ch, dh, bh.
    R8H,
    R16,
    R32,
    R64,
    Imm,
    Mem,
    Xmm,
    Ymm,
    Zmm,
    /// An opmask register.
    K,
    Mm,
    /// An EVEX instruction's vector operand while it executes ([`crate::simd::Scratch`]).
    Part,
    Seg,
    Cr,
    Dr,
    Other,
}

impl Kind {
    pub fn is_gpr(self) -> bool {
        matches!(self, Kind::R8 | Kind::R8H | Kind::R16 | Kind::R32 | Kind::R64)
    }
    pub fn is_vec(self) -> bool {
        matches!(self, Kind::Xmm | Kind::Ymm | Kind::Zmm | Kind::Mm)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Opnd {
    pub kind: Kind,
    pub r: u8,
}

bitflags! {
    /// Prefixes and properties of an instruction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct InstFlags: u32 {
        const LOCK = 1 << 0;
        const REP = 1 << 1;
        const REPNE = 1 << 2;
        /// VEX-encoded: writes zero the rest of the vector register.
        const VEX = 1 << 3;
        /// 32-bit addresses.
        const ADDR32 = 1 << 4;
        /// The fast path leaves it to `step`; not executed on a wrong path.
        const COLD = 1 << 5;
        /// The memory operand must be aligned to its size.
        const ALIGN = 1 << 6;
        const STRING = 1 << 7;
        /// Valid, but this front end does not execute it.
        const UNKNOWN = 1 << 8;
        /// Raises #UD: no instruction, or one that CPUID does not offer.
        const UNDEFINED = 1 << 9;
        /// Not decoded yet, or crossing into the next page.
        const ABSENT = 1 << 10;
        /// gem5's pseudo-op; the function is the immediate.
        const PSEUDO = 1 << 11;
        /// A conditional branch's displacement is in the immediate.
        const BRANCH = 1 << 12;
        const MMX = 1 << 13;
        /// A gather's index is a ymm register.
        const WIDE_INDEX = 1 << 14;
        const X87 = 1 << 15;
        /// EVEX-encoded, or on opmask registers.
        const AVX512 = 1 << 16;
        /// The front end must check it before execution.
        const SPECIAL = Self::UNKNOWN.bits()
            | Self::UNDEFINED.bits()
            | Self::ABSENT.bits()
            | Self::PSEUDO.bits()
            | Self::COLD.bits();
    }
}

/// Whether an instruction on a wrong path can be described without being executed: it cannot fault, and control continues
/// at the next instruction or as predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deferral {
    No,
    Yes,
    /// Where vector state is enabled.
    Vector,
    /// Where the return address on the stack is canonical.
    Return,
    /// It never executes on a wrong path.
    Never,
}

/// In how many steps an instruction executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Steps {
    #[default]
    One,
    /// A repeated string instruction.
    Repeated,
    /// A loop of gem5's microcode ([`crate::microcode`]).
    Microcode,
}

/// The part of its instruction that a step executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Piece {
    /// Not gem5's microcode.
    #[default]
    None,
    /// A string instruction's first: the test of its count and the branch over its loop.
    Entry { over: bool },
    /// Straight-line micro-ops, counted from the instruction's first step, or from behind the entry.
    Straight(u8),
    /// One iteration of the loop; `again`: the branch at its end is taken.
    Iteration { again: bool },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Inst {
    pub op: Mnemonic,
    pub flags: InstFlags,
    pub k: [Opnd; 4],
    /// Operand size in bytes.
    pub size: u8,
    /// Bytes of the memory operand; 0 where there is none.
    pub msize: u8,
    pub len: u8,
    /// Condition code, Intel's encoding.
    pub cc: u8,
    /// Operands that are not immediates.
    pub nreg: u8,
    pub branch: BranchKind,
    pub evex: Evex,
    pub deferral: Deferral,
    /// What it adds to the stack pointer, or [`Inst::ANY_RSP`].
    pub rsp: i32,
    pub addr: Address,
    pub uops: UopSummary,
    pub imm: u64,
}

/// The address of a memory operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub base: u8,
    pub index: u8,
    /// Logarithm of the index's factor.
    pub scale: u8,
    /// Segment that has a base: 0 none, 1 FS, 2 GS.
    pub seg: u8,
    pub disp: u64,
}

/// Properties of the micro-ops that describing an execution needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UopSummary {
    /// The first, in the page's pool, and how many there are.
    pub first: u32,
    pub n: u8,
    /// The flags of all of them.
    pub flags: UopFlags,
    /// Groups of flags written.
    pub flags_written: FlagGroups,
    /// Micro-ops that load, and others that make a reference.
    pub loads: u8,
    pub stores: u8,
    /// A micro-op's source is a group of flags.
    pub reads_flags: bool,
    /// Micro-ops before the first that does.
    pub flags_from: u8,
    pub steps: Steps,
}

impl Default for Inst {
    fn default() -> Self {
        Inst {
            op: Mnemonic::INVALID,
            flags: InstFlags::ABSENT,
            k: [Opnd::default(); 4],
            size: 0,
            msize: 0,
            len: 0,
            cc: 0,
            nreg: 0,
            branch: BranchKind::None,
            evex: Evex::default(),
            deferral: Deferral::No,
            rsp: 0,
            addr: Address { base: ZERO, index: ZERO, scale: 0, seg: 0, disp: 0 },
            uops: UopSummary::default(),
            imm: 0,
        }
    }
}

impl Inst {
    /// The stack pointer may be anything.
    pub const ANY_RSP: i32 = i32::MIN;

    #[inline(always)]
    pub fn has(&self, mask: InstFlags) -> bool {
        self.flags.intersects(mask)
    }
    /// gem5's pseudo-ops that reset or dump statistics (its `m5ops`: 0x40, 0x41, 0x42): they only mark an instant.
    pub fn is_statistics_op(&self) -> bool {
        self.has(InstFlags::PSEUDO) && matches!(self.imm, 0x40..=0x42)
    }
    #[inline(always)]
    pub fn vex(&self) -> bool {
        self.has(InstFlags::VEX)
    }
    /// Index of a VEX three-operand form's first source, else of the destination that is also a source.
    #[inline(always)]
    pub fn a(&self) -> usize {
        usize::from(self.nreg >= 3 || (self.nreg == 2 && self.vex() && self.k[2].kind == Kind::Imm && self.is_shift()))
    }
    /// Index of the second source.
    #[inline(always)]
    pub fn b(&self) -> usize {
        1 + usize::from(self.nreg >= 3)
    }
    /// VEX vector shifts by an immediate: destination, source, count.
    fn is_shift(&self) -> bool {
        use Mnemonic::*;
        matches!(self.op, Vpsllw | Vpslld | Vpsllq | Vpsrlw | Vpsrld | Vpsrlq | Vpsraw | Vpsrad | Vpslldq | Vpsrldq)
    }
    /// Records what a description without execution needs ([`crate::deferred`]).
    pub fn prepare_deferral(&mut self) {
        self.deferral = if self.uops.steps == Steps::One { self.deferral_of_op() } else { Deferral::No };
        self.rsp = self.moves_rsp();
    }
    fn deferral_of_op(&self) -> Deferral {
        use Mnemonic::*;
        if self.has(InstFlags::COLD | InstFlags::PSEUDO | InstFlags::UNKNOWN) {
            return Deferral::Never;
        }
        if self.has(
            InstFlags::AVX512
                | InstFlags::SPECIAL
                | InstFlags::LOCK
                | InstFlags::STRING
                | InstFlags::X87
                | InstFlags::MMX,
        ) {
            return Deferral::No;
        }
        let only = |vector: bool| {
            let known = |k: &Opnd| matches!(k.kind, Kind::None | Kind::Imm | Kind::Mem) || k.kind.is_gpr();
            self.k.iter().all(|k| known(k) || vector && k.kind.is_vec())
        };
        match self.op {
            // Other targets are in a register and may not be canonical.
            Jmp | Call if self.has(InstFlags::BRANCH) => Deferral::Yes,
            Ret => Deferral::Return,
            Jo | Jno | Jb | Jae | Je | Jne | Jbe | Ja | Js | Jns | Jp | Jnp | Jl | Jge | Jle | Jg => Deferral::Yes,
            Mov | Add | Sub | And | Or | Xor | Cmp | Test | Adc | Sbb | Lea | Inc | Dec | Neg | Not | Movzx | Movsx
            | Movsxd | Cbw | Cwde | Cdqe | Cwd | Cdq | Cqo | Bswap | Imul | Nop | Reservednop | Endbr64 | Push
            | Pop | Leave | Cmovo | Cmovno | Cmovb | Cmovae | Cmove | Cmovne | Cmovbe | Cmova | Cmovs | Cmovns
            | Cmovp | Cmovnp | Cmovl | Cmovge | Cmovle | Cmovg | Seto | Setno | Setb | Setae | Sete | Setne | Setbe
            | Seta | Sets | Setns | Setp | Setnp | Setl | Setge | Setle | Setg | Shl | Sal | Shr | Sar | Rol | Ror
            | Rorx | Sarx | Shlx | Shrx
                if only(false) =>
            {
                Deferral::Yes
            }
            Movaps | Movups | Movapd | Movupd | Movdqa | Movdqu | Movd | Movq | Movntdq | Movntps | Pxor | Por
            | Pand | Paddb | Paddw | Paddd | Paddq | Vmovaps | Vmovups | Vmovdqa | Vmovdqu | Vmovntdq | Vpxor
            | Vpor | Vpand | Vpaddd | Vpaddq
                if only(true) =>
            {
                Deferral::Vector
            }
            _ => Deferral::No,
        }
    }
    /// By how much the instruction moves the stack pointer; [`Inst::ANY_RSP`] where that depends on a value.
    fn moves_rsp(&self) -> i32 {
        use Mnemonic::*;
        let word = if self.size == 2 { 2 } else { 8 };
        let to_rsp = self.k[0].kind.is_gpr() && usize::from(self.k[0].r) == RSP;
        let imm = i32::try_from(self.imm as i64).unwrap_or(Self::ANY_RSP);
        match self.op {
            Push => -word,
            Call => -8,
            Ret => 8 + if self.k[0].kind == Kind::Imm { (self.imm & 0xffff) as i32 } else { 0 },
            Pop if !to_rsp => word,
            Cmp | Test => 0,
            Leave => Self::ANY_RSP,
            Add if to_rsp && self.k[0].kind == Kind::R64 && self.k[1].kind == Kind::Imm => imm,
            Sub if to_rsp && self.k[0].kind == Kind::R64 && self.k[1].kind == Kind::Imm => imm.saturating_neg(),
            _ if to_rsp => Self::ANY_RSP,
            _ => 0,
        }
    }
    /// The instruction writes `k[0]` of memory, or reads and writes it.
    #[inline(always)]
    pub fn writes_memory(&self) -> bool {
        self.k[0].kind == Kind::Mem
    }
}

/// All ones in the low `size` bytes (1..=8).
#[inline(always)]
pub(crate) fn mask(size: u8) -> u64 {
    !0 >> (64 - 8 * u32::from(size & 15).clamp(1, 8))
}

/// Sign-extends the low `size` bytes.
#[inline(always)]
pub(crate) fn sext(v: u64, size: u8) -> u64 {
    let s = 64 - 8 * u32::from(size & 15).clamp(1, 8);
    ((v << s) as i64 >> s) as u64
}

/// The instruction as GNU's assembler writes it; returns its length, 0 for none.
pub(crate) fn disassemble(bytes: &[u8], pc: u64, out: &mut String) -> usize {
    if let [0x0f, 0x04, low, high, ..] = bytes {
        out.push_str(&format!("m5op {:#x}", u16::from_le_bytes([*low, *high])));
        return 4;
    }
    let mut decoder = iced_x86::Decoder::new(64, bytes, iced_x86::DecoderOptions::NONE);
    decoder.set_ip(pc);
    let ins = decoder.decode();
    if ins.is_invalid() {
        out.push_str("(no instruction)");
        return 0;
    }
    iced_x86::Formatter::format(&mut iced_x86::GasFormatter::new(), &ins, out);
    ins.len()
}

/// One line for messages: bytes, mnemonic, operands.
pub(crate) fn describe(bytes: &[u8], pc: u64) -> String {
    let mut text = String::new();
    let len = match disassemble(bytes, pc, &mut text) {
        0 => 4,
        n => n,
    };
    let hex: Vec<String> = bytes.iter().take(len).map(|b| format!("{b:02x}")).collect();
    format!("{} {text}", hex.join(" "))
}
