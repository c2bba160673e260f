//! A decoded instruction: operands resolved to what execution needs, independent of where it lies.

use breakeven_base::{BranchKind, UopFlags};
use iced_x86::Mnemonic;

use crate::crack::Uops;
use crate::regs::{C, Z};

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
    Mm,
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
        matches!(self, Kind::Xmm | Kind::Ymm | Kind::Mm)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Opnd {
    pub kind: Kind,
    pub r: u8,
}

pub(crate) mod flag {
    pub const LOCK: u16 = 1 << 0;
    pub const REP: u16 = 1 << 1;
    pub const REPNE: u16 = 1 << 2;
    /// VEX-encoded: writes zero the rest of the vector register.
    pub const VEX: u16 = 1 << 3;
    /// 32-bit addresses.
    pub const ADDR32: u16 = 1 << 4;
    /// Left to `step` by the fast path, and not done on a wrong path.
    pub const COLD: u16 = 1 << 5;
    /// The memory operand must be aligned to its size.
    pub const ALIGN: u16 = 1 << 6;
    pub const STRING: u16 = 1 << 7;
    /// Valid, but this front end does not execute it.
    pub const UNKNOWN: u16 = 1 << 8;
    /// Raises #UD: no instruction, or one that CPUID does not offer.
    pub const UNDEFINED: u16 = 1 << 9;
    /// Not decoded yet, or crossing into the next page.
    pub const ABSENT: u16 = 1 << 10;
    /// gem5's pseudo-op; the function is the immediate.
    pub const PSEUDO: u16 = 1 << 11;
    /// A conditional branch's displacement is in the immediate.
    pub const BRANCH: u16 = 1 << 12;
    pub const MMX: u16 = 1 << 13;
    /// A gather's index is a ymm register.
    pub const WIDE_INDEX: u16 = 1 << 14;
    pub const X87: u16 = 1 << 15;
    /// Needs a look by the front end before execution.
    pub const SPECIAL: u16 = UNKNOWN | UNDEFINED | ABSENT | PSEUDO | COLD;
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

#[derive(Clone, Copy, Debug)]
pub(crate) struct Inst {
    pub op: Mnemonic,
    pub flags: u16,
    pub k: [Opnd; 4],
    /// Operand size in bytes.
    pub size: u8,
    /// Bytes of the memory operand; 0 where there is none.
    pub msize: u8,
    pub len: u8,
    /// Condition code, Intel's encoding.
    pub cc: u8,
    pub base: u8,
    pub index: u8,
    pub scale: u8,
    /// Segment that has a base: 0 none, 1 FS, 2 GS.
    pub seg: u8,
    /// Operands that are not immediates.
    pub nreg: u8,
    /// Micro-ops, from `uop` in the page's pool.
    pub nuop: u8,
    /// Groups of flags written ([`crate::crack::group`]).
    pub fw: u8,
    /// Micro-ops that load, and others that make a reference.
    pub loads: u8,
    pub stores: u8,
    /// A micro-op's source is a group of flags.
    pub reads_flags: bool,
    pub branch: BranchKind,
    pub steps: Steps,
    pub uop: u32,
    pub disp: u64,
    pub imm: u64,
}

impl Default for Inst {
    fn default() -> Self {
        Inst {
            op: Mnemonic::INVALID,
            flags: flag::ABSENT,
            k: [Opnd::default(); 4],
            size: 0,
            msize: 0,
            len: 0,
            cc: 0,
            base: ZERO,
            index: ZERO,
            scale: 0,
            seg: 0,
            nreg: 0,
            nuop: 0,
            fw: 0,
            loads: 0,
            stores: 0,
            reads_flags: false,
            branch: BranchKind::None,
            steps: Steps::One,
            uop: 0,
            disp: 0,
            imm: 0,
        }
    }
}

impl Inst {
    #[inline(always)]
    pub fn has(&self, mask: u16) -> bool {
        self.flags & mask != 0
    }
    #[inline(always)]
    pub fn vex(&self) -> bool {
        self.has(flag::VEX)
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
    /// Notes what describing an execution must know of the micro-ops.
    pub fn summarize(&mut self, u: &Uops) {
        let list = u.get();
        let count = |what: &dyn Fn(UopFlags) -> bool| list.iter().filter(|u| what(u.flags)).count() as u8;
        self.fw = u.flags_written;
        self.steps = u.steps;
        self.nuop = list.len() as u8;
        self.loads = count(&|f| f.any(UopFlags::LOAD));
        self.stores = count(&|f| f.any(UopFlags::MEM) && !f.any(UopFlags::LOAD));
        self.reads_flags = list.iter().flat_map(|u| u.src).any(|r| (C.0..=Z.0).contains(&r.0));
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
