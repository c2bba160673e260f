//! A decoded instruction: operation, operands and micro-op, in 32 bytes.

use breakeven_base::{BranchKind, Uop};

macro_rules! operations {
    ($($name:ident $mnemonic:literal)*) => {
        /// Every operation that the decoder distinguishes. The order groups them: integer, loads and stores first (the
        /// inner loop's), then atomics, floating point, and from [`Op::Ecall`] on everything that is cold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $($name),* }
        impl Op {
            pub const ALL: &'static [Op] = &[$(Op::$name),*];
            /// As the assembler writes it.
            #[must_use]
            pub fn mnemonic(self) -> &'static str {
                match self { $(Op::$name => $mnemonic),* }
            }
        }
    };
}

operations! {
    Lui "lui" Auipc "auipc" Jal "jal" Jalr "jalr"
    Beq "beq" Bne "bne" Blt "blt" Bge "bge" Bltu "bltu" Bgeu "bgeu"
    Lb "lb" Lh "lh" Lw "lw" Ld "ld" Lbu "lbu" Lhu "lhu" Lwu "lwu" Sb "sb" Sh "sh" Sw "sw" Sd "sd"
    Flw "flw" Fld "fld" Fsw "fsw" Fsd "fsd"
    Addi "addi" Slti "slti" Sltiu "sltiu" Xori "xori" Ori "ori" Andi "andi" Slli "slli" Srli "srli" Srai "srai"
    Add "add" Sub "sub" Sll "sll" Slt "slt" Sltu "sltu" Xor "xor" Srl "srl" Sra "sra" Or "or" And "and"
    Addiw "addiw" Slliw "slliw" Srliw "srliw" Sraiw "sraiw"
    Addw "addw" Subw "subw" Sllw "sllw" Srlw "srlw" Sraw "sraw"
    Mul "mul" Mulh "mulh" Mulhsu "mulhsu" Mulhu "mulhu" Div "div" Divu "divu" Rem "rem" Remu "remu"
    Mulw "mulw" Divw "divw" Divuw "divuw" Remw "remw" Remuw "remuw"
    AddUw "add.uw" Sh1add "sh1add" Sh2add "sh2add" Sh3add "sh3add"
    Sh1addUw "sh1add.uw" Sh2addUw "sh2add.uw" Sh3addUw "sh3add.uw" SlliUw "slli.uw"
    Andn "andn" Orn "orn" Xnor "xnor" Clz "clz" Ctz "ctz" Cpop "cpop" Clzw "clzw" Ctzw "ctzw" Cpopw "cpopw"
    Max "max" Maxu "maxu" Min "min" Minu "minu" SextB "sext.b" SextH "sext.h" ZextH "zext.h"
    Rol "rol" Ror "ror" Rori "rori" Rolw "rolw" Rorw "rorw" Roriw "roriw" OrcB "orc.b" Rev8 "rev8"
    Bclr "bclr" Bclri "bclri" Bext "bext" Bexti "bexti" Binv "binv" Binvi "binvi" Bset "bset" Bseti "bseti"
    Clmul "clmul" Clmulh "clmulh" Clmulr "clmulr" CzeroEqz "czero.eqz" CzeroNez "czero.nez"
    Fence "fence" PrefetchI "prefetch.i" PrefetchR "prefetch.r" PrefetchW "prefetch.w"
    LrW "lr.w" LrD "lr.d" ScW "sc.w" ScD "sc.d"
    AmoswapW "amoswap.w" AmoaddW "amoadd.w" AmoxorW "amoxor.w" AmoandW "amoand.w" AmoorW "amoor.w"
    AmominW "amomin.w" AmomaxW "amomax.w" AmominuW "amominu.w" AmomaxuW "amomaxu.w"
    AmoswapD "amoswap.d" AmoaddD "amoadd.d" AmoxorD "amoxor.d" AmoandD "amoand.d" AmoorD "amoor.d"
    AmominD "amomin.d" AmomaxD "amomax.d" AmominuD "amominu.d" AmomaxuD "amomaxu.d"
    FaddS "fadd.s" FsubS "fsub.s" FmulS "fmul.s" FdivS "fdiv.s" FsqrtS "fsqrt.s"
    FmaddS "fmadd.s" FmsubS "fmsub.s" FnmsubS "fnmsub.s" FnmaddS "fnmadd.s"
    FsgnjS "fsgnj.s" FsgnjnS "fsgnjn.s" FsgnjxS "fsgnjx.s" FminS "fmin.s" FmaxS "fmax.s"
    FeqS "feq.s" FltS "flt.s" FleS "fle.s" FclassS "fclass.s" FmvXW "fmv.x.w" FmvWX "fmv.w.x"
    FcvtWS "fcvt.w.s" FcvtWuS "fcvt.wu.s" FcvtLS "fcvt.l.s" FcvtLuS "fcvt.lu.s"
    FcvtSW "fcvt.s.w" FcvtSWu "fcvt.s.wu" FcvtSL "fcvt.s.l" FcvtSLu "fcvt.s.lu"
    FaddD "fadd.d" FsubD "fsub.d" FmulD "fmul.d" FdivD "fdiv.d" FsqrtD "fsqrt.d"
    FmaddD "fmadd.d" FmsubD "fmsub.d" FnmsubD "fnmsub.d" FnmaddD "fnmadd.d"
    FsgnjD "fsgnj.d" FsgnjnD "fsgnjn.d" FsgnjxD "fsgnjx.d" FminD "fmin.d" FmaxD "fmax.d"
    FeqD "feq.d" FltD "flt.d" FleD "fle.d" FclassD "fclass.d" FmvXD "fmv.x.d" FmvDX "fmv.d.x"
    FcvtWD "fcvt.w.d" FcvtWuD "fcvt.wu.d" FcvtLD "fcvt.l.d" FcvtLuD "fcvt.lu.d"
    FcvtDW "fcvt.d.w" FcvtDWu "fcvt.d.wu" FcvtDL "fcvt.d.l" FcvtDLu "fcvt.d.lu"
    FcvtSD "fcvt.s.d" FcvtDS "fcvt.d.s"
    VecConfig "vset" VecLoad "vload" VecStore "vstore" VecArith "vector"
    Ecall "ecall" Ebreak "ebreak" Mret "mret" Sret "sret" Wfi "wfi" SfenceVma "sfence.vma" FenceI "fence.i"
    Csrrw "csrrw" Csrrs "csrrs" Csrrc "csrrc" Csrrwi "csrrwi" Csrrsi "csrrsi" Csrrci "csrrci"
    CboClean "cbo.clean" CboFlush "cbo.flush" CboInval "cbo.inval" CboZero "cbo.zero"
    M5Op "m5op" Illegal "illegal" Straddle "(crosses a page)"
}

impl Op {
    #[inline]
    #[must_use]
    pub fn is_amo(self) -> bool {
        (Op::LrW..=Op::AmomaxuD).contains(&self)
    }
    /// A floating-point computation (not a load or store).
    #[inline]
    #[must_use]
    pub fn is_fp(self) -> bool {
        (Op::FaddS..=Op::FcvtDS).contains(&self)
    }
    /// A vector instruction: executed and cracked for the present `vtype`.
    #[inline]
    #[must_use]
    pub fn is_vector(self) -> bool {
        (Op::VecConfig..=Op::VecArith).contains(&self)
    }
    /// Whether the slow path executes it (`step`): vectors and cold instructions.
    #[inline]
    #[must_use]
    pub fn leaves_inner_loop(self) -> bool {
        self >= Op::VecConfig
    }
    /// System and other rare instructions, which the slow path executes (`step`).
    #[inline]
    #[must_use]
    pub fn is_cold(self) -> bool {
        self >= Op::Ecall
    }
}

/// Where writes to x0 go: a register that nothing reads.
pub const SINK: u8 = 255;
/// Index of f0 in the register file (and its [`breakeven_base::Reg`] number).
pub const F0: u8 = 32;

/// A decoded instruction. Registers are numbered as in the micro-op: x0..x31, then f0..f31 from 32; operands that the
/// operation does not have are 0.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Inst {
    pub op: Op,
    /// [`SINK`] when the destination is x0 or there is none.
    pub rd: u8,
    pub rs1: u8,
    pub rs2: u8,
    pub rs3: u8,
    /// Rounding mode field, 7: dynamic; the immediate source of a CSR instruction.
    pub rm: u8,
    /// Bytes.
    pub len: u8,
    pub branch: BranchKind,
    /// Immediate, shift amount, CSR number, or pseudo-op function.
    pub imm: i32,
    pub raw: u32,
    pub uop: Uop,
}

/// The operands from which an [`Inst`] is made.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Operands {
    pub rd: u8,
    pub rs1: u8,
    pub rs2: u8,
    pub rs3: u8,
    pub rm: u8,
    pub imm: i32,
}

/// The operation and operands of an encoding; `None`: no instruction.
pub(crate) type Decoded = Option<(Op, Operands)>;

const _: () = assert!(std::mem::size_of::<Inst>() == 32);
