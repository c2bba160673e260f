//! Registers and flags that an instruction reads and writes, as micro-op registers; from iced.

use breakeven_base::Reg;
use iced_x86::{Instruction, InstructionInfoFactory, OpAccess, Register, RflagsBits};

use crate::flags::FlagGroups;
use crate::inst::{Inst, InstFlags, Kind};
use crate::regs;

const OTHER_FLAGS: u32 = RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::PF;

fn groups(rflags: u32) -> FlagGroups {
    let of = [(RflagsBits::CF, FlagGroups::C), (RflagsBits::OF, FlagGroups::O), (OTHER_FLAGS, FlagGroups::Z)];
    of.into_iter().filter(|(mask, _)| rflags & mask != 0).map(|(_, group)| group).collect()
}

/// What an instruction reads and writes.
#[derive(Default)]
pub(super) struct Facts {
    /// Register sources of the operation, not of addresses.
    pub src: Vec<Reg>,
    pub dst: Vec<Reg>,
    pub address: [Reg; 2],
    pub loads: bool,
    pub stores: bool,
    pub flags_read: FlagGroups,
    pub flags_written: FlagGroups,
}

fn add(list: &mut Vec<Reg>, r: Reg) {
    if r.is_some() && !list.contains(&r) {
        list.push(r);
    }
}

fn micro_register(r: Register) -> Reg {
    let full = r.full_register();
    let from = |first: Register, base: u8| Reg((full as u32).wrapping_sub(first as u32) as u8 + base);
    if full.is_gpr64() {
        from(Register::RAX, regs::GPR)
    } else if r.is_vector_register() {
        let n = r.number() as u8;
        Reg(if n < 16 { regs::VEC + n } else { regs::HIGH_VEC + (n & 15) })
    } else if r.is_k() {
        Reg(regs::OPMASK + (r.number() as u8 & 7))
    } else if r.is_mm() {
        from(Register::MM0, regs::MMX)
    } else {
        Reg::NONE
    }
}

fn reads(a: OpAccess) -> bool {
    matches!(
        a,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite | OpAccess::CondWrite
    )
}
fn writes(a: OpAccess) -> bool {
    matches!(a, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

impl Facts {
    pub fn of(ins: &Instruction, i: &Inst) -> Facts {
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(ins);
        let mut f = Facts::default();
        let (base, index) = (micro_register(ins.memory_base()), micro_register(ins.memory_index()));
        let has_memory = i.k.iter().any(|k| k.kind == Kind::Mem);
        if has_memory {
            f.address = [base, index];
        }
        let mut explicit = Vec::new();
        for n in 0..ins.op_count() {
            let access = info.op_access(n);
            match i.k.get(n as usize).map(|k| k.kind) {
                Some(Kind::Mem) => {
                    f.loads |= reads(access) && access != OpAccess::CondWrite;
                    f.stores |= writes(access);
                }
                Some(kind) if kind.is_gpr() || kind.is_vec() || kind == Kind::K => {
                    let r = micro_register(ins.op_register(n));
                    explicit.push(r);
                    // A partial write also reads the register.
                    let part = matches!(kind, Kind::R8 | Kind::R8H | Kind::R16) && writes(access);
                    if reads(access) || part {
                        add(&mut f.src, r);
                    }
                    if writes(access) {
                        add(&mut f.dst, r);
                    }
                }
                _ => {}
            }
        }
        // A clear of the rest of a vector register is no further write.
        for used in info.used_registers().iter().filter(|used| !used.register().is_zmm()) {
            let r = micro_register(used.register());
            let addresses = has_memory && (r == base || r == index);
            if reads(used.access()) && !explicit.contains(&r) && !addresses {
                add(&mut f.src, r);
            }
            if writes(used.access()) && used.register() != Register::RSP {
                // iced knows that VEX clears the upper half; that is the same register here.
                add(&mut f.dst, r);
            }
        }
        // The stack's registers are not renamed apart: each instruction waits for the one before it.
        if i.has(InstFlags::X87) && !i.has(InstFlags::COLD) {
            add(&mut f.src, Reg(regs::MMX));
            add(&mut f.dst, Reg(regs::MMX));
        }
        f.flags_read = groups(ins.rflags_read());
        f.flags_written = groups(ins.rflags_modified());
        f
    }
}
