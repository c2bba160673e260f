//! Enough of an assembler for guests of a few dozen instructions.

use super::elf::build;
use super::RAM;

pub const ZERO: u32 = 0;
pub const T0: u32 = 5;
pub const T1: u32 = 6;
pub const T2: u32 = 7;
pub const A0: u32 = 10;
pub const A1: u32 = 11;
pub const A2: u32 = 12;
pub const A3: u32 = 13;
pub const A4: u32 = 14;
pub const A5: u32 = 15;
pub const S0: u32 = 8;
pub const S1: u32 = 9;

/// Where guests keep data: beyond their code, on a page of its own.
pub const DATA: u64 = RAM + 0x1000;
pub const TOHOST: u64 = RAM + 0x3000;
pub const FROMHOST: u64 = RAM + 0x3040;

#[derive(Default)]
pub struct Asm {
    pub words: Vec<u32>,
    data: Vec<(u64, Vec<u8>)>,
}

fn i_type(imm: i32, rs1: u32, funct3: u32, rd: u32, opcode: u32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

impl Asm {
    pub fn new() -> Self {
        Self::default()
    }
    pub fn word(&mut self, w: u32) -> &mut Self {
        self.words.push(w);
        self
    }
    /// Any 32-bit number, zero-extended.
    pub fn li(&mut self, rd: u32, value: u64) -> &mut Self {
        assert!(value < 1 << 32);
        if value < 2048 {
            return self.addi(rd, ZERO, value as i32);
        }
        let low = ((value as i32) << 20) >> 20;
        let high = (value as u32).wrapping_sub(low as u32);
        self.word(high | rd << 7 | 0x37);
        self.word(i_type(low, rd, 0, rd, 0x1b)); // addiw
        self.word(i_type(32, rd, 1, rd, 0x13)); // slli
        self.word(i_type(32, rd, 5, rd, 0x13)) // srli
    }
    pub fn addi(&mut self, rd: u32, rs1: u32, imm: i32) -> &mut Self {
        self.word(i_type(imm, rs1, 0, rd, 0x13))
    }
    pub fn slli(&mut self, rd: u32, rs1: u32, by: i32) -> &mut Self {
        self.word(i_type(by, rs1, 1, rd, 0x13))
    }
    pub fn mv(&mut self, rd: u32, rs1: u32) -> &mut Self {
        self.addi(rd, rs1, 0)
    }
    pub fn add(&mut self, rd: u32, rs1: u32, rs2: u32) -> &mut Self {
        self.word(rs2 << 20 | rs1 << 15 | rd << 7 | 0x33)
    }
    pub fn ld(&mut self, rd: u32, rs1: u32, imm: i32) -> &mut Self {
        self.word(i_type(imm, rs1, 3, rd, 0x03))
    }
    fn store(&mut self, funct3: u32, rs2: u32, rs1: u32, imm: i32) -> &mut Self {
        let imm = imm as u32 & 0xfff;
        self.word((imm >> 5) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (imm & 31) << 7 | 0x23)
    }
    pub fn sd(&mut self, rs2: u32, rs1: u32, imm: i32) -> &mut Self {
        self.store(3, rs2, rs1, imm)
    }
    pub fn sb(&mut self, rs2: u32, rs1: u32, imm: i32) -> &mut Self {
        self.store(0, rs2, rs1, imm)
    }
    /// Branches to instruction `to` (its index).
    fn branch(&mut self, funct3: u32, rs1: u32, rs2: u32, to: usize) -> &mut Self {
        let offset = (to as i32 - self.words.len() as i32) * 4;
        let o = offset as u32;
        let w = (o >> 12 & 1) << 31
            | (o >> 5 & 63) << 25
            | rs2 << 20
            | rs1 << 15
            | funct3 << 12
            | (o >> 1 & 15) << 8
            | (o >> 11 & 1) << 7
            | 0x63;
        self.word(w)
    }
    pub fn bne(&mut self, rs1: u32, rs2: u32, to: usize) -> &mut Self {
        self.branch(1, rs1, rs2, to)
    }
    pub fn beq(&mut self, rs1: u32, rs2: u32, to: usize) -> &mut Self {
        self.branch(0, rs1, rs2, to)
    }
    /// An endless loop.
    pub fn spin(&mut self) -> &mut Self {
        let here = self.words.len();
        self.beq(ZERO, ZERO, here)
    }
    pub fn csrw(&mut self, csr: u32, rs1: u32) -> &mut Self {
        self.word(csr << 20 | rs1 << 15 | 1 << 12 | 0x73)
    }
    pub fn csrs(&mut self, csr: u32, rs1: u32) -> &mut Self {
        self.word(csr << 20 | rs1 << 15 | 2 << 12 | 0x73)
    }
    pub fn csrr(&mut self, rd: u32, csr: u32) -> &mut Self {
        self.word(csr << 20 | 2 << 12 | rd << 7 | 0x73)
    }
    pub fn wfi(&mut self) -> &mut Self {
        self.word(0x1050_0073)
    }
    /// A pseudo-op without arguments set here.
    pub fn op(&mut self, func: u32) -> &mut Self {
        self.word(func << 25 | 0x7b)
    }
    /// A pseudo-op with constant arguments.
    pub fn m5(&mut self, func: u32, args: &[u64]) -> &mut Self {
        for (i, a) in args.iter().enumerate() {
            self.li(A0 + i as u32, *a);
        }
        self.op(func)
    }
    /// Ends with `code` in a register, through m5 fail.
    pub fn fail_with(&mut self, rs: u32) -> &mut Self {
        self.mv(A1, rs).addi(A0, ZERO, 0).op(0x22).spin()
    }
    pub fn exit(&mut self) -> &mut Self {
        self.m5(0x21, &[0]).spin()
    }
    /// The address of the next instruction.
    pub fn here(&self) -> u64 {
        RAM + 4 * self.words.len() as u64
    }
    pub fn data(&mut self, at: u64, bytes: &[u8]) -> &mut Self {
        self.data.push((at, bytes.to_vec()));
        self
    }
    pub fn elf(&self) -> Vec<u8> {
        let mut image: Vec<u8> = self.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(image.len() <= 0x1000);
        image.resize(0x4000, 0);
        for (at, bytes) in &self.data {
            let at = (at - RAM) as usize;
            image[at..at + bytes.len()].copy_from_slice(bytes);
        }
        build(RAM, &image, image.len() as u64, &[("tohost", TOHOST), ("fromhost", FROMHOST)])
    }
}
