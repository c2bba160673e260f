//! The program: set-up, the instructions, a routine that hashes the state after each, one that draws a new state.

use iced_x86::code_asm::*;
use iced_x86::{
    Code, CpuidFeature, Encoder, EncodingKind, Formatter, GasFormatter, IcedError, Instruction, OpCodeOperandKind as K,
    OpKind, Register,
};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::machine;
use breakeven_base::SysEffect;

pub const PROGRAM: u64 = 0x1_0000;
pub const PROGRAM_END: u64 = 0x6_8000;
pub const LOG: u64 = 0x20_0000;
pub const CASES: usize = 6000;
/// Bochs's boot sector leaves a mark here.
pub const MARK_AT: u64 = 0x500;
pub const MARK: u32 = 0xb0c5;

const IDT: u64 = 0x6_8000;
const STACK: u64 = 0x6_f000;
const STATE: u64 = 0x10_0000;
/// Vector registers, opmasks, general registers, flags, fault.
const STATE_WORDS: u64 = 32 * 8 + 8 + 8;
/// The first byte that is not present; memory operands lie around here.
const END: u64 = 0x40_0000;
const WINDOW: u64 = 256;
/// The directory entry of the page that is taken away.
const ENTRY: u64 = 0x7_2000 + 8 * (END >> 21);

pub struct Program {
    pub image: Vec<u8>,
    /// The instructions in words.
    pub cases: Vec<String>,
    pub codes: usize,
    pub near_the_end: usize,
}

struct Random(TestRng);

impl Random {
    fn new(seed: u64) -> Random {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Random(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }
    fn below(&mut self, n: u64) -> u64 {
        (self.0.next_u64() >> 16) % n.max(1)
    }
}

fn candidates() -> Vec<Code> {
    use CpuidFeature as C;
    let known = |f: &CpuidFeature| matches!(f, C::AVX512F | C::AVX512BW | C::AVX512CD | C::AVX512DQ | C::AVX512VL);
    Code::values()
        .filter(|c| {
            let o = c.op_code();
            o.is_instruction()
                && o.mode64()
                && matches!(c.encoding(), EncodingKind::EVEX | EncodingKind::VEX)
                && !c.cpuid_features().is_empty()
                && c.cpuid_features().iter().all(known)
                && !o.op_kinds().iter().any(|k| format!("{k:?}").contains("vsib"))
        })
        .collect()
}

/// Registers that instructions may write; rsi stays the memory operands' base, r8 to r15 and rbp are the program's.
const GENERAL: [u64; 5] = [0, 1, 2, 3, 7];

fn register(first: Register, n: u64) -> Register {
    Register::try_from(first as usize + n as usize).expect("a register of the class")
}

/// Where the memory operand lies: mostly inside, sometimes across the end.
fn place(r: &mut Random, size: u64) -> i64 {
    let below = match r.below(4) {
        0 => r.below(size + 1),
        1 => size.next_power_of_two() * (1 + r.below(WINDOW / 2 / size)),
        _ => size + r.below(WINDOW - size),
    };
    -(below as i64)
}

fn instruction(code: Code, r: &mut Random) -> Option<(Instruction, bool)> {
    let mut ins = Instruction::new();
    ins.set_code(code);
    let o = code.op_code();
    let vectors = if code.encoding() == EncodingKind::EVEX { 32 } else { 16 };
    let mut memory = None;
    for (n, k) in (0u32..).zip(o.op_kinds()) {
        let (first, count, or_memory) = match k {
            K::xmm_reg | K::xmm_rm | K::xmm_vvvv => (Register::XMM0, vectors, false),
            K::ymm_reg | K::ymm_rm | K::ymm_vvvv => (Register::YMM0, vectors, false),
            K::zmm_reg | K::zmm_rm | K::zmm_vvvv => (Register::ZMM0, vectors, false),
            K::xmm_or_mem => (Register::XMM0, vectors, true),
            K::ymm_or_mem => (Register::YMM0, vectors, true),
            K::zmm_or_mem => (Register::ZMM0, vectors, true),
            K::k_reg | K::k_rm | K::k_vvvv => (Register::K0, 8, false),
            K::k_or_mem => (Register::K0, 8, true),
            K::r32_reg | K::r32_rm => (Register::EAX, 16, false),
            K::r64_reg | K::r64_rm => (Register::RAX, 16, false),
            K::r32_or_mem => (Register::EAX, 16, true),
            K::r64_or_mem => (Register::RAX, 16, true),
            K::mem => (Register::None, 0, true),
            K::imm8 => {
                ins.set_op_kind(n, OpKind::Immediate8);
                ins.set_immediate8(r.below(256) as u8);
                continue;
            }
            _ => return None,
        };
        if or_memory && (count == 0 || r.below(2) == 0) {
            ins.set_op_kind(n, OpKind::Memory);
            memory = Some(n);
        } else {
            ins.set_op_kind(n, OpKind::Register);
            let pick = match first {
                Register::EAX | Register::RAX => GENERAL[r.below(5) as usize],
                _ => r.below(count),
            };
            ins.set_op_register(n, register(first, pick));
        }
    }
    if o.can_use_op_mask_register() && (o.require_op_mask_register() || r.below(3) != 0) {
        ins.set_op_mask(register(Register::K1, r.below(7)));
        ins.set_zeroing_masking(o.can_use_zeroing_masking() && memory != Some(0) && r.below(2) == 0);
    }
    let mut crosses = false;
    if memory.is_some() {
        ins.set_is_broadcast(o.can_broadcast() && r.below(3) == 0);
        let size = (ins.memory_size().size() as u64).max(1);
        let at = place(r, size);
        crosses = at + size as i64 > 0;
        ins.set_memory_base(Register::RSI);
        ins.set_memory_displacement64(at as u64);
        ins.set_memory_displ_size(8);
    }
    Some((ins, crosses))
}

/// Where Bochs 2.7 departs from the manual; `computed.rs` has these.
fn bochs_departs(ins: &Instruction, crosses: bool) -> bool {
    use iced_x86::Mnemonic::*;
    match ins.mnemonic() {
        // Bits above the vector stay.
        Vpbroadcastmb2q | Vpbroadcastmw2d => true,
        // Compares with results.
        Vpconflictd | Vpconflictq => true,
        // Its mask of 64 lanes is empty.
        Vpbroadcastb => ins.memory_base() != Register::None && ins.op0_register().is_zmm(),
        // Elements that are left out fault.
        Vpmovsxbw | Vpmovsxbd | Vpmovsxbq | Vpmovsxwd | Vpmovsxwq | Vpmovsxdq | Vpmovzxbw | Vpmovzxbd | Vpmovzxbq
        | Vpmovzxwd | Vpmovzxwq | Vpmovzxdq => crosses,
        _ => false,
    }
}

/// Whether the engine executes it.
fn executes(bytes: &[u8]) -> bool {
    let mut m = machine(bytes);
    m.fe.enable_avx();
    m.fe.set_gpr(6, END);
    m.step();
    !matches!(m.step.effect, SysEffect::Exit { cause: breakeven_base::bus::ExitCause::Unimplemented, .. })
}

fn encode(ins: &Instruction, at: u64) -> Option<Vec<u8>> {
    let mut encoder = Encoder::new(64);
    encoder.encode(ins, at).ok()?;
    Some(encoder.take_buffer())
}

impl Program {
    pub fn new(seed: u64) -> Program {
        let mut r = Random::new(seed);
        let mut codes = Vec::new();
        for code in candidates() {
            let sample = (0..20).find_map(|_| encode(&instruction(code, &mut r)?.0, PROGRAM));
            if sample.is_some_and(|bytes| executes(&bytes)) {
                let general =
                    |c: &Code| instruction(*c, &mut Random::new(1)).is_some_and(|(i, _)| !bochs_departs(&i, false));
                if general(&code) {
                    codes.push(code);
                }
            }
        }
        assert!(codes.len() > 700, "{} codes", codes.len());
        let (mut cases, mut list, mut near_the_end) = (Vec::new(), Vec::new(), 0);
        while list.len() < CASES {
            let code = codes[list.len() % codes.len()];
            let Some((ins, crosses)) = instruction(code, &mut r) else { continue };
            if bochs_departs(&ins, crosses) {
                continue;
            }
            let Some(bytes) = encode(&ins, PROGRAM) else { continue };
            let mut text = String::new();
            GasFormatter::new().format(&ins, &mut text);
            near_the_end += usize::from(crosses);
            cases.push(text);
            list.push(bytes);
        }
        let image = assemble(&list, r.below(u64::MAX) | 1).expect("assembles");
        assert!(PROGRAM + (image.len() as u64) < PROGRAM_END, "{} bytes", image.len());
        Program { image, cases, codes: codes.len(), near_the_end }
    }
}

fn assemble(list: &[Vec<u8>], seed: u64) -> Result<Vec<u8>, IcedError> {
    let mut a = CodeAssembler::new(64)?;
    let (mut digest, mut draw, mut fault) = (a.create_label(), a.create_label(), a.create_label());
    let (mut undefined, mut protection, mut page) = (a.create_label(), a.create_label(), a.create_label());
    set_up(&mut a, [undefined, protection, page], seed)?;
    for (n, bytes) in list.iter().enumerate() {
        if n % 8 == 0 {
            a.call(draw)?;
        }
        let mut after = a.create_label();
        a.lea(r15, ptr(after))?;
        a.db(bytes)?;
        a.set_label(&mut after)?;
        a.call(digest)?;
    }
    finish(&mut a, list.len() as i32)?;

    for (label, vector) in [(&mut undefined, 6), (&mut protection, 13), (&mut page, 14)] {
        a.set_label(label)?;
        if vector == 6 {
            a.push(0)?;
        }
        a.mov(r14d, vector)?;
        a.jmp(fault)?;
    }
    // The error code goes; execution continues behind the instruction.
    a.set_label(&mut fault)?;
    a.add(rsp, 8)?;
    a.mov(qword_ptr(rsp), r15)?;
    a.iretq()?;

    a.set_label(&mut digest)?;
    hash_the_state(&mut a)?;
    a.set_label(&mut draw)?;
    draw_a_state(&mut a)?;
    a.assemble(PROGRAM)
}

fn set_up(a: &mut CodeAssembler, handlers: [CodeLabel; 3], seed: u64) -> Result<(), IcedError> {
    a.mov(rsp, STACK)?;
    a.mov(rax, cr0)?;
    a.and(rax, !0xci32)?;
    a.or(rax, 2)?;
    a.mov(cr0, rax)?;
    a.mov(rax, cr4)?;
    a.or(rax, 0x4_0600)?;
    a.mov(cr4, rax)?;
    a.xor(ecx, ecx)?;
    a.mov(eax, 0xe7)?;
    a.xor(edx, edx)?;
    a.xsetbv()?;
    for (vector, handler) in [6u64, 13, 14].into_iter().zip(handlers) {
        a.lea(rax, ptr(handler))?;
        a.mov(rdi, IDT + 16 * vector)?;
        // A handler lies below 1 MiB: 16 bits of its address, the selector, a present interrupt gate, the rest.
        a.mov(word_ptr(rdi), ax)?;
        a.mov(word_ptr(rdi + 2), 8)?;
        a.mov(word_ptr(rdi + 4), 0x8e00)?;
        a.shr(rax, 16)?;
        a.mov(word_ptr(rdi + 6), ax)?;
        a.mov(qword_ptr(rdi + 8), 0)?;
    }
    a.mov(rdi, IDT - 16)?;
    a.mov(word_ptr(rdi), 16 * 256 - 1)?;
    a.mov(rax, IDT)?;
    a.mov(qword_ptr(rdi + 2), rax)?;
    a.lidt(ptr(rdi))?;
    a.mov(qword_ptr(ENTRY), 0)?;
    a.mov(rax, cr3)?;
    a.mov(cr3, rax)?;
    a.mov(rsi, END)?;
    a.mov(r10, LOG)?;
    a.mov(r11, 0x0000_0100_0000_01b3u64)?;
    a.mov(r12, STATE)?;
    a.mov(rbp, seed)?;
    a.xor(r14d, r14d)
}

fn zmm(n: i32) -> AsmRegisterZmm {
    const ALL: [AsmRegisterZmm; 32] = [
        zmm0, zmm1, zmm2, zmm3, zmm4, zmm5, zmm6, zmm7, zmm8, zmm9, zmm10, zmm11, zmm12, zmm13, zmm14, zmm15, zmm16,
        zmm17, zmm18, zmm19, zmm20, zmm21, zmm22, zmm23, zmm24, zmm25, zmm26, zmm27, zmm28, zmm29, zmm30, zmm31,
    ];
    ALL[n as usize]
}

fn opmask(n: i32) -> AsmRegisterK {
    [k0, k1, k2, k3, k4, k5, k6, k7][n as usize]
}

fn hash_the_state(a: &mut CodeAssembler) -> Result<(), IcedError> {
    let masks = 32 * 64;
    a.mov(qword_ptr(r12 + masks + 64), rax)?;
    a.pushfq()?;
    a.pop(rax)?;
    a.and(eax, 0x8d5)?;
    a.mov(qword_ptr(r12 + masks + 72), rax)?;
    for (n, from) in [rcx, rdx, rbx, rdi, r14].into_iter().enumerate() {
        a.mov(qword_ptr(r12 + masks + 80 + 8 * n as i32), from)?;
    }
    a.mov(qword_ptr(r12 + masks + 120), 0)?;
    a.xor(r14d, r14d)?;
    for n in 0..32 {
        a.vmovdqu64(zmmword_ptr(r12 + 64 * n), zmm(n))?;
    }
    for n in 0..8 {
        a.kmovq(qword_ptr(r12 + masks + 8 * n), opmask(n))?;
    }
    a.mov(r8, 0xcbf2_9ce4_8422_2325u64)?;
    for (from, words) in [(STATE, STATE_WORDS), (END - WINDOW, WINDOW / 8)] {
        a.mov(r9, from)?;
        a.lea(r13, ptr(r9 + 8 * words as i32))?;
        let mut again = a.create_label();
        a.set_label(&mut again)?;
        a.xor(r8, qword_ptr(r9))?;
        a.imul_2(r8, r11)?;
        a.rol(r8, 23)?;
        a.add(r9, 8)?;
        a.cmp(r9, r13)?;
        a.jne(again)?;
    }
    a.mov(qword_ptr(r10), r8)?;
    a.add(r10, 8)?;
    a.ret()
}

/// The next number of Marsaglia's xorshift.
fn next(a: &mut CodeAssembler) -> Result<(), IcedError> {
    a.mov(rax, rbp)?;
    a.shl(rax, 13)?;
    a.xor(rbp, rax)?;
    a.mov(rax, rbp)?;
    a.shr(rax, 7)?;
    a.xor(rbp, rax)?;
    a.mov(rax, rbp)?;
    a.shl(rax, 17)?;
    a.xor(rbp, rax)
}

fn draw_a_state(a: &mut CodeAssembler) -> Result<(), IcedError> {
    for (from, words) in [(STATE, STATE_WORDS), (END - WINDOW, WINDOW / 8)] {
        a.mov(r9, from)?;
        a.lea(r13, ptr(r9 + 8 * words as i32))?;
        let mut again = a.create_label();
        a.set_label(&mut again)?;
        next(a)?;
        a.mov(qword_ptr(r9), rbp)?;
        a.add(r9, 8)?;
        a.cmp(r9, r13)?;
        a.jne(again)?;
    }
    // Small elements, so that shifts, indices and comparisons meet; equal ones.
    for n in 0..32 {
        a.vmovdqu64(zmm(n), zmmword_ptr(r12 + 64 * n))?;
        if n % 4 == 1 {
            a.mov(eax, 0x0001_000f)?;
            a.vpbroadcastd(zmm(n - 1), eax)?;
            a.vpandq(zmm(n), zmm(n), zmm(n - 1))?;
        }
    }
    for n in 0..8 {
        a.kmovq(opmask(n), qword_ptr(r12 + 2048 + 8 * n))?;
    }
    // The low lanes, none, the high lanes, all.
    a.mov(rcx, rbp)?;
    a.mov(rax, -1i64)?;
    a.shr(rax, cl)?;
    a.kmovq(k2, rax)?;
    a.kxorq(k3, k3, k3)?;
    a.and(ecx, 15)?;
    a.mov(rax, -1i64)?;
    a.shl(rax, cl)?;
    a.kmovq(k4, rax)?;
    a.kxnorq(k5, k5, k5)?;
    for to in [rax, rcx, rdx, rbx, rdi] {
        a.mov(to, rbp)?;
        a.ror(rbp, 11)?;
    }
    a.ret()
}

/// Under Bochs the log is printed in hexadecimal and the machine switched off; else the run exits.
fn finish(a: &mut CodeAssembler, cases: i32) -> Result<(), IcedError> {
    let (mut bochs, mut entry, mut digit, mut print, mut name) =
        (a.create_label(), a.create_label(), a.create_label(), a.create_label(), a.create_label());
    a.cmp(dword_ptr(MARK_AT), MARK as i32)?;
    a.je(bochs)?;
    a.db(&[0x0f, 0x04, 0x21, 0x00])?;
    a.set_label(&mut bochs)?;
    a.mov(rsi, LOG)?;
    a.mov(ebx, cases)?;
    a.mov(al, 0x3e)?;
    a.out(0xe9, al)?;
    a.set_label(&mut entry)?;
    a.mov(r8, qword_ptr(rsi))?;
    a.mov(ecx, 16)?;
    a.set_label(&mut digit)?;
    a.rol(r8, 4)?;
    a.mov(eax, r8d)?;
    a.and(eax, 15)?;
    a.add(eax, 0x30)?;
    a.cmp(eax, 0x3a)?;
    a.jb(print)?;
    a.add(eax, 39)?;
    a.set_label(&mut print)?;
    a.out(0xe9, al)?;
    a.dec(ecx)?;
    a.jne(digit)?;
    a.add(rsi, 8)?;
    a.dec(ebx)?;
    a.jne(entry)?;
    a.mov(al, 0x3c)?;
    a.out(0xe9, al)?;
    a.mov(edx, 0x8900)?;
    a.set_label(&mut name)?;
    for letter in *b"Shutdown" {
        a.mov(al, i32::from(letter))?;
        a.out(dx, al)?;
    }
    a.jmp(name)
}
