//! Makes single instructions: every code of iced's that this front end executes outside the system set, with operands of
//! every kind it takes and a register state that makes most memory operands land in the test's data.

use iced_x86::{
    Code, CpuidFeature, Encoder, EncodingKind, FlowControl, Instruction, Mnemonic, OpCodeOperandKind as K, OpKind,
    Register,
};

use super::state::{Random, State, CODE, DATA, DATA_LEN};

/// One instruction and the state it runs in.
pub struct Case {
    pub code: Code,
    pub ins: Instruction,
    pub at: u64,
    pub bytes: Vec<u8>,
    pub state: State,
    pub memory_seed: u64,
    /// Fall-through and branch target.
    pub exits: [u64; 2],
    /// Flags that are compared.
    pub defined: u64,
}

fn feature_known(f: CpuidFeature) -> bool {
    use CpuidFeature as C;
    matches!(
        f,
        C::INTEL8086
            | C::INTEL186
            | C::INTEL286
            | C::INTEL386
            | C::INTEL486
            | C::X64
            | C::CX8
            | C::MULTIBYTENOP
            | C::CMOV
            | C::MMX
            | C::SSE
            | C::SSE2
            | C::SSE3
            | C::SSSE3
            | C::SSE4_1
            | C::SSE4_2
            | C::POPCNT
            | C::MOVBE
            | C::LZCNT
            | C::AVX
            | C::AVX2
            | C::BMI1
            | C::BMI2
            | C::ADX
            | C::CMPXCHG16B
            | C::PREFETCHW
            | C::CLFSH
            | C::CLFLUSHOPT
            | C::CLWB
            | C::PAUSE
    )
}

fn excluded(m: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        m,
        // Approximations that differ between processors.
        Rcpps | Rcpss | Rsqrtps | Rsqrtss | Vrcpps | Vrcpss | Vrsqrtps | Vrsqrtss
            // Flags of the system, the wrong stack, or state that the runner does not carry.
            | Pushf | Pushfq | Popf | Popfq | Ldmxcsr | Vldmxcsr | Stmxcsr | Vstmxcsr | Enter | Emms
            | Int | Int1 | Int3 | Iret | Iretd | Iretq | Retf | Syscall | Sysret | Sysretq | Cpuid | Xgetbv | Ud0 | Ud1
            | In | Out | Insb | Insw | Insd | Outsb | Outsw | Outsd | Lar | Lsl | Verr | Verw | Str | Sldt | Sgdt | Sidt
            | Smsw | Hlt | Lss | Lfs | Lgs | Cli | Sti | Clts | Invd | Wbinvd | Lgdt | Lidt | Lldt | Lmsw | Ltr | Invlpg
            | Prefetch | Prefetchwt1 | Reservednop | Getsec | Loadall | Ibts | Xbts | Umov | Wait | Xlatb
    )
}

/// Codes that are generated, in iced's order.
pub fn codes() -> Vec<Code> {
    Code::values()
        .filter(|c| {
            let o = c.op_code();
            let features = c.cpuid_features();
            o.is_instruction()
                && o.mode64()
                && matches!(c.encoding(), EncodingKind::Legacy | EncodingKind::VEX)
                && features.iter().all(|f| feature_known(*f))
                && !excluded(c.mnemonic())
                && !c.is_privileged()
                && !c.is_jmp_far() && !c.is_call_far() && !c.is_jmp_far_indirect() && !c.is_call_far_indirect()
                && o.op_kinds().iter().all(|k| supported(*k))
                // The 16-bit forms of stack and branch instructions.
                && !(matches!(c.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch | FlowControl::Call | FlowControl::IndirectBranch | FlowControl::IndirectCall | FlowControl::Return)
                    && o.instruction_string().contains("16"))
                && !matches!(c, Code::Bswap_r16 | Code::Retnw | Code::Retnw_imm16 | Code::Leavew)
                // AMD's reads four bytes.
                && *c != Code::Movsxd_r16_rm16
        })
        .collect()
}

fn supported(k: K) -> bool {
    !matches!(
        k,
        K::seg_reg
            | K::cr_reg
            | K::dr_reg
            | K::tr_reg
            | K::bnd_reg
            | K::es
            | K::cs
            | K::ss
            | K::ds
            | K::fs
            | K::gs
            | K::st0
            | K::sti_opcode
            | K::mem_offs
            | K::farbr2_2
            | K::farbr4_2
            | K::mem_mpx
            | K::mem_mib
            | K::br16_1
            | K::br16_2
            | K::br32_1
            | K::br32_4
            | K::xbegin_2
            | K::xbegin_4
            | K::zmm_reg
            | K::k_reg
    )
}

const GPR64: [Register; 16] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RBX,
    Register::RSP,
    Register::RBP,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

fn offset(first: Register, n: u64) -> Register {
    Register::try_from(first as usize + n as usize).expect("a register of the class")
}

fn byte_register(r: &mut Random) -> Register {
    // al.., spl.., r8l.., and ah.. (which exclude REX).
    offset(Register::AL, r.below(20))
}

struct Build<'a> {
    r: &'a mut Random,
    ins: Instruction,
    state: State,
    at: u64,
    /// The memory operand's address.
    ea: Option<u64>,
    branch: Option<u64>,
    second_imm: bool,
}

impl Build<'_> {
    fn register(&mut self, n: u32, r: Register) {
        self.ins.set_op_kind(n, OpKind::Register);
        self.ins.set_op_register(n, r);
    }

    fn gpr(&mut self, n: u32, first: Register) {
        let mut k = self.r.below(16);
        // The stack pointer is an operand less often.
        if k == 4 && !self.r.one_in(4) {
            k = 3;
        }
        self.register(n, offset(first, k));
    }

    fn immediate(&mut self, n: u32, kind: OpKind, v: u64) {
        let kind = if self.second_imm { OpKind::Immediate8_2nd } else { kind };
        self.second_imm = true;
        self.ins.set_op_kind(n, kind);
        self.ins.set_immediate_u64(n, v);
    }

    /// Where a memory operand shall be: mostly inside, often misaligned, sometimes across the end.
    fn place(&mut self) -> u64 {
        let size = self.ins.memory_size().size().max(1) as u64;
        match self.r.below(24) {
            0 => DATA + DATA_LEN as u64 - self.r.below(40),
            1 => DATA - self.r.below(40),
            2 => DATA + 4096 - self.r.below(size + 1),
            3 => self.r.hostile(),
            k if k < 14 => (DATA + 256 + self.r.below(7168 / size) * size) & !(size.next_power_of_two() - 1),
            _ => DATA + 256 + self.r.below(7168),
        }
    }

    fn memory(&mut self, n: u32) {
        self.ins.set_op_kind(n, OpKind::Memory);
        let ea = self.place();
        self.ea = Some(ea);
        if ea.abs_diff(self.at) < 0x7000_0000 && self.r.one_in(8) {
            self.ins.set_memory_base(Register::RIP);
            self.ins.set_memory_displacement64(ea);
            self.ins.set_memory_displ_size(8);
            return;
        }
        let narrow = ea < 1 << 32 && self.r.one_in(8);
        let (bits, mask) = if narrow { (Register::EAX, 0xffff_ffff) } else { (Register::RAX, !0) };
        let base = self.r.below(16) as usize;
        let mut index = if self.r.one_in(2) { Some(self.r.below(16) as usize) } else { None };
        index = index.filter(|k| *k != 4 && *k != base);
        let scale = 1u64 << self.r.below(4);
        let disp = match self.r.below(4) {
            0 => 0,
            1 => self.r.below(256) as i8 as i64 as u64,
            _ => self.r.next() as i32 as i64 as u64,
        };
        let scaled = index.map_or(0, |k| self.state.gpr[k].wrapping_mul(scale));
        let at = ea.wrapping_sub(disp).wrapping_sub(scaled);
        self.state.gpr[base] = if narrow { at & mask | self.r.next() << 32 } else { at };
        self.ins.set_memory_base(offset(bits, base as u64));
        if let Some(k) = index {
            self.ins.set_memory_index(offset(bits, k as u64));
            self.ins.set_memory_index_scale(scale as u32);
        }
        if disp != 0 {
            self.ins.set_memory_displ_size(if narrow { 4 } else { 8 });
            self.ins.set_memory_displacement64(if narrow { disp & mask } else { disp });
        }
    }

    /// A gather's operand: indices that stay near.
    fn gather(&mut self, n: u32, wide_register: bool, wide_index: bool) {
        self.ins.set_op_kind(n, OpKind::Memory);
        let index = self.r.below(16);
        for k in 0..4 {
            let near = |r: &mut Random| (r.below(600) as i64 - 20) as u64;
            self.state.ymm[index as usize][k] =
                if wide_index { near(self.r) } else { near(self.r) & 0xffff_ffff | near(self.r) << 32 };
        }
        let base = self.r.below(16) as usize;
        self.state.gpr[base] = DATA + self.r.below(2048);
        self.ins.set_memory_base(GPR64[base]);
        self.ins.set_memory_index(offset(if wide_register { Register::YMM0 } else { Register::XMM0 }, index));
        self.ins.set_memory_index_scale(1 << self.r.below(4));
    }

    fn either(&mut self, n: u32, first: Register, count: u64) {
        if self.r.one_in(2) {
            self.memory(n);
        } else if first == Register::AL {
            let r = byte_register(self.r);
            self.register(n, r);
        } else if count == 16 && (first as usize) < Register::XMM0 as usize {
            self.gpr(n, first);
        } else {
            let k = self.r.below(count);
            self.register(n, offset(first, k));
        }
    }

    fn operand(&mut self, n: u32, k: K) {
        let pick = |b: &mut Self, first: Register, count: u64| {
            let v = b.r.below(count);
            b.register(n, offset(first, v));
        };
        match k {
            K::mem => self.memory(n),
            K::mem_vsib32x => self.gather(n, false, false),
            K::mem_vsib64x => self.gather(n, false, true),
            K::mem_vsib32y => self.gather(n, true, false),
            K::mem_vsib64y => self.gather(n, true, true),
            K::r8_or_mem => self.either(n, Register::AL, 20),
            K::r16_or_mem => self.either(n, Register::AX, 16),
            K::r32_or_mem => self.either(n, Register::EAX, 16),
            K::r64_or_mem => self.either(n, Register::RAX, 16),
            K::mm_or_mem => self.either(n, Register::MM0, 8),
            K::xmm_or_mem => self.either(n, Register::XMM0, 16),
            K::ymm_or_mem => self.either(n, Register::YMM0, 16),
            K::r8_reg | K::r8_opcode => {
                let r = byte_register(self.r);
                self.register(n, r);
            }
            K::r16_reg | K::r16_rm | K::r16_opcode | K::r16_reg_mem => self.gpr(n, Register::AX),
            K::r32_reg | K::r32_rm | K::r32_opcode | K::r32_vvvv | K::r32_reg_mem => self.gpr(n, Register::EAX),
            K::r64_reg | K::r64_rm | K::r64_opcode | K::r64_vvvv | K::r64_reg_mem => self.gpr(n, Register::RAX),
            K::mm_reg | K::mm_rm => pick(self, Register::MM0, 8),
            K::xmm_reg | K::xmm_rm | K::xmm_vvvv | K::xmm_is4 | K::xmm_is5 => pick(self, Register::XMM0, 16),
            K::ymm_reg | K::ymm_rm | K::ymm_vvvv | K::ymm_is4 | K::ymm_is5 => pick(self, Register::YMM0, 16),
            K::al => self.register(n, Register::AL),
            K::cl => self.register(n, Register::CL),
            K::ax => self.register(n, Register::AX),
            K::dx => self.register(n, Register::DX),
            K::eax => self.register(n, Register::EAX),
            K::rax => self.register(n, Register::RAX),
            K::imm8_const_1 => self.immediate(n, OpKind::Immediate8, 1),
            K::imm8 => {
                let v = self.r.next() & 0xff;
                self.immediate(n, OpKind::Immediate8, v);
            }
            K::imm8sex16 | K::imm8sex32 | K::imm8sex64 => {
                let v = self.r.hostile() as i8 as i64 as u64;
                let kind = match k {
                    K::imm8sex16 => OpKind::Immediate8to16,
                    K::imm8sex32 => OpKind::Immediate8to32,
                    _ => OpKind::Immediate8to64,
                };
                self.immediate(n, kind, v);
            }
            K::imm16 => {
                let v = self.r.hostile() & 0xffff;
                self.immediate(n, OpKind::Immediate16, v);
            }
            K::imm32 => {
                let v = self.r.hostile() & 0xffff_ffff;
                self.immediate(n, OpKind::Immediate32, v);
            }
            K::imm32sex64 => {
                let v = self.r.hostile() as i32 as i64 as u64;
                self.immediate(n, OpKind::Immediate32to64, v);
            }
            K::imm64 => {
                let v = self.r.hostile();
                self.immediate(n, OpKind::Immediate64, v);
            }
            K::br64_1 | K::br64_4 => {
                let to =
                    self.at + if self.at & 4095 < 2048 { 96 } else { 0 } - if self.at & 4095 < 2048 { 0 } else { 96 };
                self.ins.set_op_kind(n, OpKind::NearBranch64);
                self.ins.set_near_branch64(to);
                self.branch = Some(to);
            }
            K::seg_rSI => self.ins.set_op_kind(n, OpKind::MemorySegRSI),
            K::es_rDI => self.ins.set_op_kind(n, OpKind::MemoryESRDI),
            K::seg_rDI => self.ins.set_op_kind(n, OpKind::MemorySegRDI),
            other => panic!("operand kind {other:?} is not generated"),
        }
    }

    /// Pointers and counts that an instruction uses without naming them.
    fn implicit(&mut self, code: Code) {
        use Mnemonic::*;
        let m = code.mnemonic();
        let string = self.ins.is_string_instruction();
        if string {
            for k in [6, 7] {
                self.state.gpr[k] = if self.r.one_in(30) { self.r.hostile() } else { DATA + 512 + self.r.below(6000) };
            }
            if self.r.one_in(6) {
                self.state.gpr[7] = self.state.gpr[6].wrapping_add(self.r.below(64)).wrapping_sub(32);
            }
            if self.r.one_in(2) {
                let most = if self.r.one_in(4) { 2000 } else { 40 };
                self.state.gpr[1] = self.r.below(most);
                if matches!(m, Scasb | Scasw | Scasd | Scasq | Cmpsb | Cmpsw | Cmpsd | Cmpsq) && self.r.one_in(2) {
                    self.ins.set_has_repne_prefix(true);
                } else {
                    self.ins.set_has_rep_prefix(true);
                }
            }
        }
        if matches!(m, Maskmovq | Maskmovdqu | Vmaskmovdqu) {
            self.state.gpr[7] = DATA + 64 + self.r.below(8150);
            // A mask of all zeros may or may not fault on a bad address.
        }
        if m == Leave {
            self.state.gpr[5] = DATA + 64 + self.r.below(8000);
        }
        if self.ins.is_stack_instruction() && self.ins.memory_base() != Register::RSP {
            let uses = self.ins.memory_index() == Register::RSP;
            if !uses && !self.r.one_in(30) {
                self.state.gpr[4] = DATA + 64 + self.r.below(8000);
            }
        }
    }

    /// A branch through a register or memory goes to the second exit.
    fn indirect(&mut self, to: u64) -> bool {
        self.branch = Some(to);
        if self.ins.op_count() > 0 && self.ins.op0_kind() == OpKind::Register {
            let k = self.ins.op0_register() as usize - Register::RAX as usize;
            if k == 4 {
                return false;
            }
            self.state.gpr[k] = to;
        }
        true
    }
}

fn defined_flags(ins: &Instruction) -> u64 {
    use iced_x86::RflagsBits as F;
    let u = ins.rflags_undefined();
    let mut mask = 0xcd5u64;
    for (bit, at) in [(F::CF, 0), (F::PF, 2), (F::AF, 4), (F::ZF, 6), (F::SF, 7), (F::OF, 11)] {
        if u & bit != 0 {
            mask &= !(1 << at);
        }
    }
    use Mnemonic::*;
    match ins.mnemonic() {
        // Counts beyond the operand's width leave CF undefined.
        Shl | Sal | Shr | Sar => mask & !(1 << 4),
        _ => mask & !super::latitude::undefined_flags(ins),
    }
}

/// A case of `code`; `None` when the draw cannot be encoded (it is drawn again).
pub fn case(code: Code, seed: u64, patch: &mut dyn FnMut(u64, u64)) -> Option<Case> {
    let mut r = Random::new(seed);
    for _ in 0..4 {
        r.next();
    }
    let state = r.state();
    let memory_seed = r.next();
    let at = if r.one_in(16) { CODE + 4096 - r.below(12) } else { CODE + 128 + r.below(1700) };
    let mut ins = Instruction::new();
    ins.set_code(code);
    let mut b = Build { r: &mut r, ins, state, at, ea: None, branch: None, second_imm: false };
    for (n, k) in (0u32..).zip(code.op_code().op_kinds()) {
        b.operand(n, *k);
    }
    b.implicit(code);
    let stub = if at & 4095 < 2048 { at + 96 } else { at - 96 };
    let flow = code.flow_control();
    if matches!(flow, FlowControl::IndirectBranch | FlowControl::IndirectCall | FlowControl::Return) {
        if !b.indirect(stub) {
            return None;
        }
        if flow == FlowControl::Return {
            patch(b.state.gpr[4], stub);
        } else if let Some(ea) = b.ea {
            patch(ea, stub);
        }
    }
    if code.op_code().can_use_lock_prefix() && b.ins.op0_kind() == OpKind::Memory && b.r.one_in(3) {
        b.ins.set_has_lock_prefix(true);
    }
    let double_16 = matches!(code.mnemonic(), Mnemonic::Shld | Mnemonic::Shrd)
        && code.op_code().instruction_string().contains("16");
    if double_16 && (b.ins.immediate8() & 31 > 16 || b.state.gpr[1] & 31 > 16) {
        return None;
    }
    let mut encoder = Encoder::new(64);
    let len = encoder.encode(&b.ins, at).ok()?;
    let bytes = encoder.take_buffer();
    let exits = [at + len as u64, b.branch.unwrap_or(stub)];
    if len > 15 || exits[0] + 24 > exits[1] && exits[1] + 24 > exits[0] {
        return None;
    }
    let defined = defined_flags(&b.ins);
    let mut state = b.state;
    // Pointers given to a shift count and the like are what they are; DF only matters to strings.
    state.flags &= if b.ins.is_string_instruction() { !0 } else { !0x400 };
    Some(Case { code, ins: b.ins, at, bytes, state, memory_seed, exits, defined })
}
