//! Integer, M, Zba, Zbb, Zbs: results computed independently (arbitrary-precision integers), words encoded by hand.

use crate::common::asm::{addi, b, jal, r, NOP};
use crate::common::{Machine, RAM};
use breakeven_base::{BranchKind, FrontEnd};
use breakeven_riscv::{decode, Extensions, Op, RiscvConfig};

/// Mnemonic, word without registers, operands, result.
#[rustfmt::skip]
const REGISTER: &[(&str, u32, u64, u64, u64)] = &[
    ("add", 0x33, 0x123456789abcdef0, 0xfedcba9876543217, 0x1111111111111107),
    ("add", 0x33, 0x8000000000000000, 0xffffffffffffffff, 0x7fffffffffffffff),
    ("add", 0x33, 0xffffffff80000000, 0x3f, 0xffffffff8000003f),
    ("add", 0x33, 0x5, 0x0, 0x5),
    ("add", 0x33, 0xffffff7f, 0x180000001, 0x27fffff80),
    ("sub", 0x40000033, 0x123456789abcdef0, 0xfedcba9876543217, 0x13579be02468acd9),
    ("sub", 0x40000033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000001),
    ("sub", 0x40000033, 0xffffffff80000000, 0x3f, 0xffffffff7fffffc1),
    ("sub", 0x40000033, 0x5, 0x0, 0x5),
    ("sub", 0x40000033, 0xffffff7f, 0x180000001, 0xffffffff7fffff7e),
    ("sll", 0x1033, 0x123456789abcdef0, 0xfedcba9876543217, 0x3c4d5e6f78000000),
    ("sll", 0x1033, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("sll", 0x1033, 0xffffffff80000000, 0x3f, 0x0),
    ("sll", 0x1033, 0x5, 0x0, 0x5),
    ("sll", 0x1033, 0xffffff7f, 0x180000001, 0x1fffffefe),
    ("slt", 0x2033, 0x123456789abcdef0, 0xfedcba9876543217, 0x0),
    ("slt", 0x2033, 0x8000000000000000, 0xffffffffffffffff, 0x1),
    ("slt", 0x2033, 0xffffffff80000000, 0x3f, 0x1),
    ("slt", 0x2033, 0x5, 0x0, 0x0),
    ("slt", 0x2033, 0xffffff7f, 0x180000001, 0x1),
    ("sltu", 0x3033, 0x123456789abcdef0, 0xfedcba9876543217, 0x1),
    ("sltu", 0x3033, 0x8000000000000000, 0xffffffffffffffff, 0x1),
    ("sltu", 0x3033, 0xffffffff80000000, 0x3f, 0x0),
    ("sltu", 0x3033, 0x5, 0x0, 0x0),
    ("sltu", 0x3033, 0xffffff7f, 0x180000001, 0x1),
    ("xor", 0x4033, 0x123456789abcdef0, 0xfedcba9876543217, 0xece8ece0ece8ece7),
    ("xor", 0x4033, 0x8000000000000000, 0xffffffffffffffff, 0x7fffffffffffffff),
    ("xor", 0x4033, 0xffffffff80000000, 0x3f, 0xffffffff8000003f),
    ("xor", 0x4033, 0x5, 0x0, 0x5),
    ("xor", 0x4033, 0xffffff7f, 0x180000001, 0x17fffff7e),
    ("srl", 0x5033, 0x123456789abcdef0, 0xfedcba9876543217, 0x2468acf135),
    ("srl", 0x5033, 0x8000000000000000, 0xffffffffffffffff, 0x1),
    ("srl", 0x5033, 0xffffffff80000000, 0x3f, 0x1),
    ("srl", 0x5033, 0x5, 0x0, 0x5),
    ("srl", 0x5033, 0xffffff7f, 0x180000001, 0x7fffffbf),
    ("sra", 0x40005033, 0x123456789abcdef0, 0xfedcba9876543217, 0x2468acf135),
    ("sra", 0x40005033, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("sra", 0x40005033, 0xffffffff80000000, 0x3f, 0xffffffffffffffff),
    ("sra", 0x40005033, 0x5, 0x0, 0x5),
    ("sra", 0x40005033, 0xffffff7f, 0x180000001, 0x7fffffbf),
    ("or", 0x6033, 0x123456789abcdef0, 0xfedcba9876543217, 0xfefcfef8fefcfef7),
    ("or", 0x6033, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("or", 0x6033, 0xffffffff80000000, 0x3f, 0xffffffff8000003f),
    ("or", 0x6033, 0x5, 0x0, 0x5),
    ("or", 0x6033, 0xffffff7f, 0x180000001, 0x1ffffff7f),
    ("and", 0x7033, 0x123456789abcdef0, 0xfedcba9876543217, 0x1214121812141210),
    ("and", 0x7033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000),
    ("and", 0x7033, 0xffffffff80000000, 0x3f, 0x0),
    ("and", 0x7033, 0x5, 0x0, 0x0),
    ("and", 0x7033, 0xffffff7f, 0x180000001, 0x80000001),
    ("addw", 0x3b, 0x123456789abcdef0, 0xfedcba9876543217, 0x11111107),
    ("addw", 0x3b, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("addw", 0x3b, 0xffffffff80000000, 0x3f, 0xffffffff8000003f),
    ("addw", 0x3b, 0x5, 0x0, 0x5),
    ("addw", 0x3b, 0xffffff7f, 0x180000001, 0x7fffff80),
    ("subw", 0x4000003b, 0x123456789abcdef0, 0xfedcba9876543217, 0x2468acd9),
    ("subw", 0x4000003b, 0x8000000000000000, 0xffffffffffffffff, 0x1),
    ("subw", 0x4000003b, 0xffffffff80000000, 0x3f, 0x7fffffc1),
    ("subw", 0x4000003b, 0x5, 0x0, 0x5),
    ("subw", 0x4000003b, 0xffffff7f, 0x180000001, 0x7fffff7e),
    ("sllw", 0x103b, 0x123456789abcdef0, 0xfedcba9876543217, 0x78000000),
    ("sllw", 0x103b, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("sllw", 0x103b, 0xffffffff80000000, 0x3f, 0x0),
    ("sllw", 0x103b, 0x5, 0x0, 0x5),
    ("sllw", 0x103b, 0xffffff7f, 0x180000001, 0xfffffffffffffefe),
    ("srlw", 0x503b, 0x123456789abcdef0, 0xfedcba9876543217, 0x135),
    ("srlw", 0x503b, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("srlw", 0x503b, 0xffffffff80000000, 0x3f, 0x1),
    ("srlw", 0x503b, 0x5, 0x0, 0x5),
    ("srlw", 0x503b, 0xffffff7f, 0x180000001, 0x7fffffbf),
    ("sraw", 0x4000503b, 0x123456789abcdef0, 0xfedcba9876543217, 0xffffffffffffff35),
    ("sraw", 0x4000503b, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("sraw", 0x4000503b, 0xffffffff80000000, 0x3f, 0xffffffffffffffff),
    ("sraw", 0x4000503b, 0x5, 0x0, 0x5),
    ("sraw", 0x4000503b, 0xffffff7f, 0x180000001, 0xffffffffffffffbf),
    ("mul", 0x2000033, 0x123456789abcdef0, 0xfedcba9876543217, 0xa2dbe64a9142e790),
    ("mul", 0x2000033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000),
    ("mul", 0x2000033, 0xffffffff80000000, 0x3f, 0xffffffe080000000),
    ("mul", 0x2000033, 0x5, 0x0, 0x0),
    ("mul", 0x2000033, 0xffffff7f, 0x180000001, 0x7fffff3f7fffff7f),
    ("mulh", 0x2001033, 0x123456789abcdef0, 0xfedcba9876543217, 0xffeb49923cc09532),
    ("mulh", 0x2001033, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("mulh", 0x2001033, 0xffffffff80000000, 0x3f, 0xffffffffffffffff),
    ("mulh", 0x2001033, 0x5, 0x0, 0x0),
    ("mulh", 0x2001033, 0xffffff7f, 0x180000001, 0x1),
    ("mulhsu", 0x2002033, 0x123456789abcdef0, 0xfedcba9876543217, 0x121fa00ad77d7422),
    ("mulhsu", 0x2002033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000),
    ("mulhsu", 0x2002033, 0xffffffff80000000, 0x3f, 0xffffffffffffffff),
    ("mulhsu", 0x2002033, 0x5, 0x0, 0x0),
    ("mulhsu", 0x2002033, 0xffffff7f, 0x180000001, 0x1),
    ("mulhu", 0x2003033, 0x123456789abcdef0, 0xfedcba9876543217, 0x121fa00ad77d7422),
    ("mulhu", 0x2003033, 0x8000000000000000, 0xffffffffffffffff, 0x7fffffffffffffff),
    ("mulhu", 0x2003033, 0xffffffff80000000, 0x3f, 0x3e),
    ("mulhu", 0x2003033, 0x5, 0x0, 0x0),
    ("mulhu", 0x2003033, 0xffffff7f, 0x180000001, 0x1),
    ("div", 0x2004033, 0x123456789abcdef0, 0xfedcba9876543217, 0xfffffffffffffff0),
    ("div", 0x2004033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000),
    ("div", 0x2004033, 0xffffffff80000000, 0x3f, 0xfffffffffdf7df7e),
    ("div", 0x2004033, 0x5, 0x0, 0xffffffffffffffff),
    ("div", 0x2004033, 0xffffff7f, 0x180000001, 0x0),
    ("divu", 0x2005033, 0x123456789abcdef0, 0xfedcba9876543217, 0x0),
    ("divu", 0x2005033, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("divu", 0x2005033, 0xffffffff80000000, 0x3f, 0x41041040e38e38e),
    ("divu", 0x2005033, 0x5, 0x0, 0xffffffffffffffff),
    ("divu", 0x2005033, 0xffffff7f, 0x180000001, 0x0),
    ("rem", 0x2006033, 0x123456789abcdef0, 0xfedcba9876543217, 0x60),
    ("rem", 0x2006033, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("rem", 0x2006033, 0xffffffff80000000, 0x3f, 0xfffffffffffffffe),
    ("rem", 0x2006033, 0x5, 0x0, 0x5),
    ("rem", 0x2006033, 0xffffff7f, 0x180000001, 0xffffff7f),
    ("remu", 0x2007033, 0x123456789abcdef0, 0xfedcba9876543217, 0x123456789abcdef0),
    ("remu", 0x2007033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000),
    ("remu", 0x2007033, 0xffffffff80000000, 0x3f, 0xe),
    ("remu", 0x2007033, 0x5, 0x0, 0x5),
    ("remu", 0x2007033, 0xffffff7f, 0x180000001, 0xffffff7f),
    ("mulw", 0x200003b, 0x123456789abcdef0, 0xfedcba9876543217, 0xffffffff9142e790),
    ("mulw", 0x200003b, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("mulw", 0x200003b, 0xffffffff80000000, 0x3f, 0xffffffff80000000),
    ("mulw", 0x200003b, 0x5, 0x0, 0x0),
    ("mulw", 0x200003b, 0xffffff7f, 0x180000001, 0x7fffff7f),
    ("divw", 0x200403b, 0x123456789abcdef0, 0xfedcba9876543217, 0x0),
    ("divw", 0x200403b, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("divw", 0x200403b, 0xffffffff80000000, 0x3f, 0xfffffffffdf7df7e),
    ("divw", 0x200403b, 0x5, 0x0, 0xffffffffffffffff),
    ("divw", 0x200403b, 0xffffff7f, 0x180000001, 0x0),
    ("divuw", 0x200503b, 0x123456789abcdef0, 0xfedcba9876543217, 0x1),
    ("divuw", 0x200503b, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("divuw", 0x200503b, 0xffffffff80000000, 0x3f, 0x2082082),
    ("divuw", 0x200503b, 0x5, 0x0, 0xffffffffffffffff),
    ("divuw", 0x200503b, 0xffffff7f, 0x180000001, 0x1),
    ("remw", 0x200603b, 0x123456789abcdef0, 0xfedcba9876543217, 0xffffffff9abcdef0),
    ("remw", 0x200603b, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("remw", 0x200603b, 0xffffffff80000000, 0x3f, 0xfffffffffffffffe),
    ("remw", 0x200603b, 0x5, 0x0, 0x5),
    ("remw", 0x200603b, 0xffffff7f, 0x180000001, 0xffffffffffffff7f),
    ("remuw", 0x200703b, 0x123456789abcdef0, 0xfedcba9876543217, 0x2468acd9),
    ("remuw", 0x200703b, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("remuw", 0x200703b, 0xffffffff80000000, 0x3f, 0x2),
    ("remuw", 0x200703b, 0x5, 0x0, 0x5),
    ("remuw", 0x200703b, 0xffffff7f, 0x180000001, 0x7fffff7e),
    ("add.uw", 0x800003b, 0x123456789abcdef0, 0xfedcba9876543217, 0xfedcba9911111107),
    ("add.uw", 0x800003b, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("add.uw", 0x800003b, 0xffffffff80000000, 0x3f, 0x8000003f),
    ("add.uw", 0x800003b, 0x5, 0x0, 0x5),
    ("add.uw", 0x800003b, 0xffffff7f, 0x180000001, 0x27fffff80),
    ("sh1add", 0x20002033, 0x123456789abcdef0, 0xfedcba9876543217, 0x23456789abcdeff7),
    ("sh1add", 0x20002033, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("sh1add", 0x20002033, 0xffffffff80000000, 0x3f, 0xffffffff0000003f),
    ("sh1add", 0x20002033, 0x5, 0x0, 0xa),
    ("sh1add", 0x20002033, 0xffffff7f, 0x180000001, 0x37ffffeff),
    ("sh2add", 0x20004033, 0x123456789abcdef0, 0xfedcba9876543217, 0x47ae147ae147add7),
    ("sh2add", 0x20004033, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("sh2add", 0x20004033, 0xffffffff80000000, 0x3f, 0xfffffffe0000003f),
    ("sh2add", 0x20004033, 0x5, 0x0, 0x14),
    ("sh2add", 0x20004033, 0xffffff7f, 0x180000001, 0x57ffffdfd),
    ("sh3add", 0x20006033, 0x123456789abcdef0, 0xfedcba9876543217, 0x907f6e5d4c3b2997),
    ("sh3add", 0x20006033, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("sh3add", 0x20006033, 0xffffffff80000000, 0x3f, 0xfffffffc0000003f),
    ("sh3add", 0x20006033, 0x5, 0x0, 0x28),
    ("sh3add", 0x20006033, 0xffffff7f, 0x180000001, 0x97ffffbf9),
    ("sh1add.uw", 0x2000203b, 0x123456789abcdef0, 0xfedcba9876543217, 0xfedcba99abcdeff7),
    ("sh1add.uw", 0x2000203b, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("sh1add.uw", 0x2000203b, 0xffffffff80000000, 0x3f, 0x10000003f),
    ("sh1add.uw", 0x2000203b, 0x5, 0x0, 0xa),
    ("sh1add.uw", 0x2000203b, 0xffffff7f, 0x180000001, 0x37ffffeff),
    ("sh2add.uw", 0x2000403b, 0x123456789abcdef0, 0xfedcba9876543217, 0xfedcba9ae147add7),
    ("sh2add.uw", 0x2000403b, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("sh2add.uw", 0x2000403b, 0xffffffff80000000, 0x3f, 0x20000003f),
    ("sh2add.uw", 0x2000403b, 0x5, 0x0, 0x14),
    ("sh2add.uw", 0x2000403b, 0xffffff7f, 0x180000001, 0x57ffffdfd),
    ("sh3add.uw", 0x2000603b, 0x123456789abcdef0, 0xfedcba9876543217, 0xfedcba9d4c3b2997),
    ("sh3add.uw", 0x2000603b, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("sh3add.uw", 0x2000603b, 0xffffffff80000000, 0x3f, 0x40000003f),
    ("sh3add.uw", 0x2000603b, 0x5, 0x0, 0x28),
    ("sh3add.uw", 0x2000603b, 0xffffff7f, 0x180000001, 0x97ffffbf9),
    ("andn", 0x40007033, 0x123456789abcdef0, 0xfedcba9876543217, 0x20446088a8cce0),
    ("andn", 0x40007033, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("andn", 0x40007033, 0xffffffff80000000, 0x3f, 0xffffffff80000000),
    ("andn", 0x40007033, 0x5, 0x0, 0x5),
    ("andn", 0x40007033, 0xffffff7f, 0x180000001, 0x7fffff7e),
    ("orn", 0x40006033, 0x123456789abcdef0, 0xfedcba9876543217, 0x1337577f9bbfdff8),
    ("orn", 0x40006033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000),
    ("orn", 0x40006033, 0xffffffff80000000, 0x3f, 0xffffffffffffffc0),
    ("orn", 0x40006033, 0x5, 0x0, 0xffffffffffffffff),
    ("orn", 0x40006033, 0xffffff7f, 0x180000001, 0xfffffffeffffffff),
    ("xnor", 0x40004033, 0x123456789abcdef0, 0xfedcba9876543217, 0x1317131f13171318),
    ("xnor", 0x40004033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000),
    ("xnor", 0x40004033, 0xffffffff80000000, 0x3f, 0x7fffffc0),
    ("xnor", 0x40004033, 0x5, 0x0, 0xfffffffffffffffa),
    ("xnor", 0x40004033, 0xffffff7f, 0x180000001, 0xfffffffe80000081),
    ("max", 0xa006033, 0x123456789abcdef0, 0xfedcba9876543217, 0x123456789abcdef0),
    ("max", 0xa006033, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("max", 0xa006033, 0xffffffff80000000, 0x3f, 0x3f),
    ("max", 0xa006033, 0x5, 0x0, 0x5),
    ("max", 0xa006033, 0xffffff7f, 0x180000001, 0x180000001),
    ("maxu", 0xa007033, 0x123456789abcdef0, 0xfedcba9876543217, 0xfedcba9876543217),
    ("maxu", 0xa007033, 0x8000000000000000, 0xffffffffffffffff, 0xffffffffffffffff),
    ("maxu", 0xa007033, 0xffffffff80000000, 0x3f, 0xffffffff80000000),
    ("maxu", 0xa007033, 0x5, 0x0, 0x5),
    ("maxu", 0xa007033, 0xffffff7f, 0x180000001, 0x180000001),
    ("min", 0xa004033, 0x123456789abcdef0, 0xfedcba9876543217, 0xfedcba9876543217),
    ("min", 0xa004033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000),
    ("min", 0xa004033, 0xffffffff80000000, 0x3f, 0xffffffff80000000),
    ("min", 0xa004033, 0x5, 0x0, 0x0),
    ("min", 0xa004033, 0xffffff7f, 0x180000001, 0xffffff7f),
    ("minu", 0xa005033, 0x123456789abcdef0, 0xfedcba9876543217, 0x123456789abcdef0),
    ("minu", 0xa005033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000),
    ("minu", 0xa005033, 0xffffffff80000000, 0x3f, 0x3f),
    ("minu", 0xa005033, 0x5, 0x0, 0x0),
    ("minu", 0xa005033, 0xffffff7f, 0x180000001, 0xffffff7f),
    ("rol", 0x60001033, 0x123456789abcdef0, 0xfedcba9876543217, 0x3c4d5e6f78091a2b),
    ("rol", 0x60001033, 0x8000000000000000, 0xffffffffffffffff, 0x4000000000000000),
    ("rol", 0x60001033, 0xffffffff80000000, 0x3f, 0x7fffffffc0000000),
    ("rol", 0x60001033, 0x5, 0x0, 0x5),
    ("rol", 0x60001033, 0xffffff7f, 0x180000001, 0x1fffffefe),
    ("ror", 0x60005033, 0x123456789abcdef0, 0xfedcba9876543217, 0x79bde02468acf135),
    ("ror", 0x60005033, 0x8000000000000000, 0xffffffffffffffff, 0x1),
    ("ror", 0x60005033, 0xffffffff80000000, 0x3f, 0xffffffff00000001),
    ("ror", 0x60005033, 0x5, 0x0, 0x5),
    ("ror", 0x60005033, 0xffffff7f, 0x180000001, 0x800000007fffffbf),
    ("rolw", 0x6000103b, 0x123456789abcdef0, 0xfedcba9876543217, 0x784d5e6f),
    ("rolw", 0x6000103b, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("rolw", 0x6000103b, 0xffffffff80000000, 0x3f, 0x40000000),
    ("rolw", 0x6000103b, 0x5, 0x0, 0x5),
    ("rolw", 0x6000103b, 0xffffff7f, 0x180000001, 0xfffffffffffffeff),
    ("rorw", 0x6000503b, 0x123456789abcdef0, 0xfedcba9876543217, 0x79bde135),
    ("rorw", 0x6000503b, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("rorw", 0x6000503b, 0xffffffff80000000, 0x3f, 0x1),
    ("rorw", 0x6000503b, 0x5, 0x0, 0x5),
    ("rorw", 0x6000503b, 0xffffff7f, 0x180000001, 0xffffffffffffffbf),
    ("bclr", 0x48001033, 0x123456789abcdef0, 0xfedcba9876543217, 0x123456789a3cdef0),
    ("bclr", 0x48001033, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("bclr", 0x48001033, 0xffffffff80000000, 0x3f, 0x7fffffff80000000),
    ("bclr", 0x48001033, 0x5, 0x0, 0x4),
    ("bclr", 0x48001033, 0xffffff7f, 0x180000001, 0xffffff7d),
    ("bext", 0x48005033, 0x123456789abcdef0, 0xfedcba9876543217, 0x1),
    ("bext", 0x48005033, 0x8000000000000000, 0xffffffffffffffff, 0x1),
    ("bext", 0x48005033, 0xffffffff80000000, 0x3f, 0x1),
    ("bext", 0x48005033, 0x5, 0x0, 0x1),
    ("bext", 0x48005033, 0xffffff7f, 0x180000001, 0x1),
    ("binv", 0x68001033, 0x123456789abcdef0, 0xfedcba9876543217, 0x123456789a3cdef0),
    ("binv", 0x68001033, 0x8000000000000000, 0xffffffffffffffff, 0x0),
    ("binv", 0x68001033, 0xffffffff80000000, 0x3f, 0x7fffffff80000000),
    ("binv", 0x68001033, 0x5, 0x0, 0x4),
    ("binv", 0x68001033, 0xffffff7f, 0x180000001, 0xffffff7d),
    ("bset", 0x28001033, 0x123456789abcdef0, 0xfedcba9876543217, 0x123456789abcdef0),
    ("bset", 0x28001033, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000),
    ("bset", 0x28001033, 0xffffffff80000000, 0x3f, 0xffffffff80000000),
    ("bset", 0x28001033, 0x5, 0x0, 0x5),
    ("bset", 0x28001033, 0xffffff7f, 0x180000001, 0xffffff7f),
];

/// Mnemonic, word without registers, operand, result.
#[rustfmt::skip]
const IMMEDIATE: &[(&str, u32, u64, u64)] = &[
    ("addi", 0x80000013, 0x8123456789abcdef, 0x8123456789abc5ef),
    ("addi", 0x80000013, 0x0, 0xfffffffffffff800),
    ("addi", 0x80000013, 0xffffffff00000080, 0xfffffffefffff880),
    ("slti", 0xfff02013, 0x8123456789abcdef, 0x1),
    ("slti", 0xfff02013, 0x0, 0x0),
    ("slti", 0xfff02013, 0xffffffff00000080, 0x1),
    ("sltiu", 0xfff03013, 0x8123456789abcdef, 0x1),
    ("sltiu", 0xfff03013, 0x0, 0x1),
    ("sltiu", 0xfff03013, 0xffffffff00000080, 0x1),
    ("xori", 0xfff04013, 0x8123456789abcdef, 0x7edcba9876543210),
    ("xori", 0xfff04013, 0x0, 0xffffffffffffffff),
    ("xori", 0xfff04013, 0xffffffff00000080, 0xffffff7f),
    ("ori", 0x55506013, 0x8123456789abcdef, 0x8123456789abcdff),
    ("ori", 0x55506013, 0x0, 0x555),
    ("ori", 0x55506013, 0xffffffff00000080, 0xffffffff000005d5),
    ("andi", 0xf0007013, 0x8123456789abcdef, 0x8123456789abcd00),
    ("andi", 0xf0007013, 0x0, 0x0),
    ("andi", 0xf0007013, 0xffffffff00000080, 0xffffffff00000000),
    ("slli", 0x3f01013, 0x8123456789abcdef, 0x8000000000000000),
    ("slli", 0x3f01013, 0x0, 0x0),
    ("slli", 0x3f01013, 0xffffffff00000080, 0x0),
    ("srli", 0x2105013, 0x8123456789abcdef, 0x4091a2b3),
    ("srli", 0x2105013, 0x0, 0x0),
    ("srli", 0x2105013, 0xffffffff00000080, 0x7fffffff),
    ("srai", 0x42105013, 0x8123456789abcdef, 0xffffffffc091a2b3),
    ("srai", 0x42105013, 0x0, 0x0),
    ("srai", 0x42105013, 0xffffffff00000080, 0xffffffffffffffff),
    ("addiw", 0x7ff0001b, 0x8123456789abcdef, 0xffffffff89abd5ee),
    ("addiw", 0x7ff0001b, 0x0, 0x7ff),
    ("addiw", 0x7ff0001b, 0xffffffff00000080, 0x87f),
    ("slliw", 0x1f0101b, 0x8123456789abcdef, 0xffffffff80000000),
    ("slliw", 0x1f0101b, 0x0, 0x0),
    ("slliw", 0x1f0101b, 0xffffffff00000080, 0x0),
    ("srliw", 0x40501b, 0x8123456789abcdef, 0x89abcde),
    ("srliw", 0x40501b, 0x0, 0x0),
    ("srliw", 0x40501b, 0xffffffff00000080, 0x8),
    ("sraiw", 0x4040501b, 0x8123456789abcdef, 0xfffffffff89abcde),
    ("sraiw", 0x4040501b, 0x0, 0x0),
    ("sraiw", 0x4040501b, 0xffffffff00000080, 0x8),
    ("slli.uw", 0xa80101b, 0x8123456789abcdef, 0xabcdef0000000000),
    ("slli.uw", 0xa80101b, 0x0, 0x0),
    ("slli.uw", 0xa80101b, 0xffffffff00000080, 0x800000000000),
    ("clz", 0x60001013, 0x8123456789abcdef, 0x0),
    ("clz", 0x60001013, 0x0, 0x40),
    ("clz", 0x60001013, 0xffffffff00000080, 0x0),
    ("ctz", 0x60101013, 0x8123456789abcdef, 0x0),
    ("ctz", 0x60101013, 0x0, 0x40),
    ("ctz", 0x60101013, 0xffffffff00000080, 0x7),
    ("cpop", 0x60201013, 0x8123456789abcdef, 0x21),
    ("cpop", 0x60201013, 0x0, 0x0),
    ("cpop", 0x60201013, 0xffffffff00000080, 0x21),
    ("sext.b", 0x60401013, 0x8123456789abcdef, 0xffffffffffffffef),
    ("sext.b", 0x60401013, 0x0, 0x0),
    ("sext.b", 0x60401013, 0xffffffff00000080, 0xffffffffffffff80),
    ("sext.h", 0x60501013, 0x8123456789abcdef, 0xffffffffffffcdef),
    ("sext.h", 0x60501013, 0x0, 0x0),
    ("sext.h", 0x60501013, 0xffffffff00000080, 0x80),
    ("zext.h", 0x800403b, 0x8123456789abcdef, 0xcdef),
    ("zext.h", 0x800403b, 0x0, 0x0),
    ("zext.h", 0x800403b, 0xffffffff00000080, 0x80),
    ("clzw", 0x6000101b, 0x8123456789abcdef, 0x0),
    ("clzw", 0x6000101b, 0x0, 0x20),
    ("clzw", 0x6000101b, 0xffffffff00000080, 0x18),
    ("ctzw", 0x6010101b, 0x8123456789abcdef, 0x0),
    ("ctzw", 0x6010101b, 0x0, 0x20),
    ("ctzw", 0x6010101b, 0xffffffff00000080, 0x7),
    ("cpopw", 0x6020101b, 0x8123456789abcdef, 0x14),
    ("cpopw", 0x6020101b, 0x0, 0x0),
    ("cpopw", 0x6020101b, 0xffffffff00000080, 0x1),
    ("rori", 0x60d05013, 0x8123456789abcdef, 0x6f7c091a2b3c4d5e),
    ("rori", 0x60d05013, 0x0, 0x0),
    ("rori", 0x60d05013, 0xffffffff00000080, 0x407fffffff80000),
    ("roriw", 0x60d0501b, 0x8123456789abcdef, 0x6f7c4d5e),
    ("roriw", 0x60d0501b, 0x0, 0x0),
    ("roriw", 0x60d0501b, 0xffffffff00000080, 0x4000000),
    ("orc.b", 0x28705013, 0x8123456789abcdef, 0xffffffffffffffff),
    ("orc.b", 0x28705013, 0x0, 0x0),
    ("orc.b", 0x28705013, 0xffffffff00000080, 0xffffffff000000ff),
    ("rev8", 0x6b805013, 0x8123456789abcdef, 0xefcdab8967452381),
    ("rev8", 0x6b805013, 0x0, 0x0),
    ("rev8", 0x6b805013, 0xffffffff00000080, 0x80000000ffffffff),
    ("bclri", 0x4bf01013, 0x8123456789abcdef, 0x123456789abcdef),
    ("bclri", 0x4bf01013, 0x0, 0x0),
    ("bclri", 0x4bf01013, 0xffffffff00000080, 0x7fffffff00000080),
    ("bexti", 0x4bf05013, 0x8123456789abcdef, 0x1),
    ("bexti", 0x4bf05013, 0x0, 0x0),
    ("bexti", 0x4bf05013, 0xffffffff00000080, 0x1),
    ("binvi", 0x68101013, 0x8123456789abcdef, 0x8123456789abcded),
    ("binvi", 0x68101013, 0x0, 0x2),
    ("binvi", 0x68101013, 0xffffffff00000080, 0xffffffff00000082),
    ("bseti", 0x2a801013, 0x8123456789abcdef, 0x8123456789abcdef),
    ("bseti", 0x2a801013, 0x0, 0x10000000000),
    ("bseti", 0x2a801013, 0xffffffff00000080, 0xffffffff00000080),
    ("lui", 0xfffff037, 0x8123456789abcdef, 0xfffffffffffff000),
    ("lui", 0xfffff037, 0x0, 0xfffffffffffff000),
    ("lui", 0xfffff037, 0xffffffff00000080, 0xfffffffffffff000),
];

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
    let off = Extensions { zba: false, zbb: false, zbs: false, zicbom: false, zicboz: false };
    for &(name, word, ..) in REGISTER {
        let optional = (Op::AddUw..=Op::Bseti).contains(&decode(word, &Extensions::default()).op);
        assert_eq!(decode(word, &off).op == Op::Illegal, optional, "{name}");
    }
    let config = RiscvConfig { extensions: off, ..RiscvConfig::default() };
    let mut m = Machine::with(&config, &[0x0025_a00f]); // cbo.flush... is not there
    m.steps(1);
    assert_eq!(m.csr(0x342), 2);
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
