//! Integer, M, Zba, Zbb, Zbc, Zbs, Zicond: results computed independently (arbitrary-precision integers), words encoded by hand.

use crate::common::asm::{addi, b, jal, r, NOP};
use crate::common::{Machine, RAM};
use crate::integer_cases::{IMMEDIATE, REGISTER};
use breakeven_base::{BranchKind, FrontEnd, OpClass, UopFlags};
use breakeven_riscv::{decode, Extensions, Op, RiscvConfig};

#[test]
fn register_register() {
    for &(name, word, a, b, want) in REGISTER {
        let word = word | 12 << 20 | 11 << 15 | 10 << 7;
        let mut m = Machine::new(&[word]);
        m.set_x(11, a);
        m.set_x(12, b);
        m.steps(1);
        assert_eq!(decode(word, &Extensions::default()).op.mnemonic(), name);
        assert_eq!(m.x(10), want, "{name} {a:#x}, {b:#x}");
        assert_eq!((m.x(11), m.x(12), m.fe.pc()), (a, b, RAM + 4), "{name} changes nothing else");
    }
}

#[test]
fn register_immediate() {
    for &(name, word, a, want) in IMMEDIATE {
        let word = if name == "lui" { word | 10 << 7 } else { word | 11 << 15 | 10 << 7 };
        let mut m = Machine::new(&[word]);
        m.set_x(11, a);
        m.steps(1);
        assert_eq!(decode(word, &Extensions::default()).op.mnemonic(), name);
        assert_eq!(m.x(10), want, "{name} {a:#x}");
    }
}

#[test]
fn x0_stays_zero() {
    let mut m = Machine::new(&[addi(0, 0, 5), r(0x33, 0, 0, 10, 0, 0)]);
    m.set_x(10, 9);
    m.steps(2);
    assert_eq!((m.x(0), m.x(10)), (0, 0));
}

#[test]
fn branches_compare_and_report() {
    // f3, a, b, taken
    let cases = [
        (0, 5, 5, true),
        (0, 5, 6, false),
        (1, 5, 6, true),
        (4, u64::MAX, 0, true),
        (5, u64::MAX, 0, false),
        (6, u64::MAX, 0, false),
        (7, u64::MAX, 0, true),
        (5, 7, 7, true),
        (6, 7, 7, false),
    ];
    for (f3, x, y, taken) in cases {
        let mut m = Machine::new(&[NOP, b(f3, 11, 12, -4)]);
        m.set_x(11, x);
        m.set_x(12, y);
        m.steps(2);
        assert_eq!(m.fe.pc(), if taken { RAM } else { RAM + 8 }, "f3 {f3} {x} {y}");
        let branch = m.step.branch;
        assert_eq!((branch.kind, branch.taken, branch.target), (BranchKind::Cond, taken, RAM));
    }
}

#[test]
fn jumps_link_and_are_classified() {
    let jalr = |rd: u32, rs1: u32, imm: u32| imm << 20 | rs1 << 15 | rd << 7 | 0x67;
    let kinds = [
        (jal(0, 8), BranchKind::Jump),
        (jal(1, 8), BranchKind::Call),
        (jal(5, 8), BranchKind::Call),
        (jalr(0, 11, 0), BranchKind::Indirect),
        (jalr(1, 11, 0), BranchKind::IndirectCall),
        (jalr(0, 1, 0), BranchKind::Return),
        (jalr(0, 5, 0), BranchKind::Return),
        (0x8082, BranchKind::Return),
        (0x9582, BranchKind::IndirectCall),
    ];
    for (word, kind) in kinds {
        let mut m = Machine::new(&[word]);
        for x in [1, 5, 11] {
            m.set_x(x, RAM + 9);
        }
        m.steps(1);
        assert_eq!((m.step.branch.kind, m.fe.pc()), (kind, RAM + 8), "{word:#x}");
    }
    let mut m = Machine::new(&[jalr(1, 1, 4)]);
    m.set_x(1, RAM + 0x100);
    m.steps(1);
    assert_eq!((m.fe.pc(), m.x(1)), (RAM + 0x104, RAM + 4), "source and link may be one register");
    let mut m = Machine::new(&[NOP, 0xfffff517]);
    m.steps(2);
    assert_eq!(m.x(10), RAM + 4 - 4096, "auipc");
}

#[test]
fn extensions_can_be_switched_off() {
    let off = Extensions {
        zba: false,
        zbb: false,
        zbc: false,
        zbs: false,
        zicond: false,
        zicbom: false,
        zicboz: false,
        v: false,
        zvkb: false,
        zvbb: false,
        ..Extensions::ALL
    };
    for &(name, word, ..) in REGISTER {
        let optional = (Op::AddUw..=Op::CzeroNez).contains(&decode(word, &Extensions::default()).op);
        assert_eq!(decode(word, &off).op == Op::Illegal, optional, "{name}");
    }
    let config = RiscvConfig { extensions: off, ..RiscvConfig::default() };
    let mut m = Machine::with(&config, &[0x0025_a00f]); // cbo.flush... is not there
    m.steps(1);
    assert_eq!(m.csr(0x342), 2);
}

#[test]
fn total_store_ordering_makes_fences_redundant_and_atomics_fences() {
    let tso = Extensions { ztso: true, ..Extensions::ALL };
    let orders =
        |word, ext: &Extensions| decode(word, ext).uop.flags.any(UopFlags::READ_BARRIER | UopFlags::WRITE_BARRIER);
    // fence pred, succ of I, O, R, W; mode 8 is fence.tso.
    let fence = |mode: u32, before: u32, after: u32| mode << 28 | before << 24 | after << 20 | 0x0f;
    let cases = [
        (fence(0, 0b0011, 0b0001), false), // rw, w
        (fence(0, 0b0010, 0b0011), false), // r, rw
        (fence(0, 0b0001, 0b0001), false), // w, w
        (fence(8, 0b0011, 0b0011), false), // fence.tso
        (fence(0, 0b0001, 0b0010), true),  // w, r
        (fence(0, 0b0011, 0b0011), true),  // rw, rw
        (fence(0, 0b1010, 0b0011), true),  // ir, rw: devices
        (0x00a5_262f, true),               // amoadd.w x12, x10, (x10)
        (0x1005_262f, true),               // lr.w x12, (x10)
    ];
    for (word, ordered) in cases {
        assert_eq!(orders(word, &tso), ordered, "{word:#x}");
        assert_eq!(orders(word, &Extensions::ALL), word & 0x7f == 0x0f, "{word:#x}: every fence, no relaxed atomic");
    }
}

#[test]
fn a_product_without_carries_takes_what_the_core_says() {
    let slow = Extensions { clmul_latency: 3, ..Extensions::ALL };
    // clmul, clmulr, clmulh x10, x11, x12; mul.
    for (word, latency) in [(0x0ac5_9533, 3), (0x0ac5_a533, 3), (0x0ac5_b533, 3), (0x02c5_8533, 0)] {
        let class = if latency == 3 { OpClass::IntAlu } else { OpClass::IntMult };
        assert_eq!((decode(word, &slow).uop.latency, decode(word, &slow).uop.class), (latency, class));
        assert_eq!(decode(word, &Extensions::ALL).uop.latency, 0);
    }
}

#[test]
fn compressed_forms_expand() {
    use Op::{
        Add, Addi, Addiw, Andi, Beq, Bne, Ebreak, Fld, Fsd, Illegal, Jal, Jalr, Ld, Lui, Lw, Sd, Slli, Srai, Srli,
        Subw, Sw,
    };
    // Words and their meaning as GNU objdump prints them: op, rd, rs1, rs2 (f0 is 32, no rd 255), immediate.
    let cases: &[(u16, Op, u8, u8, u8, i32)] = &[
        (0x0808, Addi, 10, 2, 0, 16),   // addi a0,sp,16
        (0x4588, Lw, 10, 11, 0, 8),     // lw a0,8(a1)
        (0x75e8, Ld, 10, 11, 0, 232),   // ld a0,232(a1)
        (0x2588, Fld, 42, 11, 0, 8),    // fld fa0,8(a1)
        (0xc9c8, Sw, 255, 11, 10, 20),  // sw a0,20(a1)
        (0xe988, Sd, 255, 11, 10, 16),  // sd a0,16(a1)
        (0xa988, Fsd, 255, 11, 42, 16), // fsd fa0,16(a1)
        (0x1571, Addi, 10, 10, 0, -4),  // addi a0,a0,-4
        (0x357d, Addiw, 10, 10, 0, -1), // addiw a0,a0,-1
        (0x5579, Addi, 10, 0, 0, -2),   // li a0,-2
        (0x7139, Addi, 2, 2, 0, -64),   // addi sp,sp,-64
        (0x757d, Lui, 10, 0, 0, -4096), // lui a0,0xfffff
        (0x9105, Srli, 10, 10, 0, 33),  // srli a0,a0,0x21
        (0x9505, Srai, 10, 10, 0, 33),  // srai a0,a0,0x21
        (0x993d, Andi, 10, 10, 0, -17), // andi a0,a0,-17
        (0x9d0d, Subw, 10, 10, 11, 0),  // subw a0,a0,a1
        (0xbffd, Jal, 255, 0, 0, -2),   // j .-2
        (0xd17d, Beq, 255, 10, 0, -26), // beqz a0,.-26
        (0xe111, Bne, 255, 10, 0, 4),   // bnez a0,.+4
        (0x1502, Slli, 10, 10, 0, 32),  // slli a0,a0,0x20
        (0x4522, Lw, 10, 2, 0, 8),      // lw a0,8(sp)
        (0x752e, Ld, 10, 2, 0, 232),    // ld a0,232(sp)
        (0x8502, Jalr, 255, 10, 0, 0),  // jr a0
        (0x852e, Add, 10, 0, 11, 0),    // mv a0,a1
        (0x952e, Add, 10, 10, 11, 0),   // add a0,a0,a1
        (0x9002, Ebreak, 255, 0, 0, 0),
        (0xe42a, Sd, 255, 2, 10, 8), // sd a0,8(sp)
        (0x0000, Illegal, 255, 0, 0, 0),
        (0x8002, Illegal, 255, 0, 0, 0), // jr x0
        (0x6101, Illegal, 255, 0, 0, 0), // addi16sp 0
        (0x9c41, Illegal, 255, 0, 0, 0), // reserved
    ];
    for &(half, op, rd, rs1, rs2, imm) in cases {
        let i = decode(u32::from(half) | 0xabcd_0000, &Extensions::default());
        assert_eq!((i.op, i.len), (op, 2), "{half:#06x}");
        assert_eq!((i.rd, i.rs1, i.rs2, i.imm), (rd, rs1, rs2, imm), "{half:#06x}");
    }
}
