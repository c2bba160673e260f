//! Atomic instructions (A) on RAM. A misaligned one always traps. A store-conditional fails when the reservation is gone,
//! names another address, or when the bytes have changed since (as qemu does it).

use breakeven_base::{Bus, MemKind, MemRef, Now};

use crate::bitmanip::sext32;
use crate::hart::{Hart, Stop};
use crate::inst::{Inst, Op};
use crate::pmp::Access;
use crate::state::Reservation;

fn is_word(op: Op) -> bool {
    matches!(op, Op::LrW | Op::ScW) || (Op::AmoswapW..=Op::AmomaxuW).contains(&op)
}

/// The new memory contents from the old and the register, both sign-extended from the access size.
fn combine(op: Op, old: u64, reg: u64) -> u64 {
    use Op::*;
    match op {
        AmoaddW | AmoaddD => old.wrapping_add(reg),
        AmoxorW | AmoxorD => old ^ reg,
        AmoandW | AmoandD => old & reg,
        AmoorW | AmoorD => old | reg,
        AmominW | AmominD => (old as i64).min(reg as i64) as u64,
        AmomaxW | AmomaxD => (old as i64).max(reg as i64) as u64,
        // Sign extension keeps the unsigned order too.
        AmominuW | AmominuD => old.min(reg),
        AmomaxuW | AmomaxuD => old.max(reg),
        _ => reg,
    }
}

impl Hart {
    #[inline(never)]
    pub(crate) fn atomic<B: Bus>(&mut self, bus: &mut B, now: &Now, i: &Inst, m: &mut MemRef) -> Result<(), Stop> {
        let word = is_word(i.op);
        let size: u64 = if word { 4 } else { 8 };
        let vaddr = self.regs[i.rs1 as usize];
        let reg = self.regs[i.rs2 as usize];
        let reserve = matches!(i.op, Op::LrW | Op::LrD);
        let conditional = matches!(i.op, Op::ScW | Op::ScD);
        let access = if reserve { Access::Load } else { Access::Store };
        let fault = |cause| if reserve { cause } else { cause + 2 };
        if vaddr & (size - 1) != 0 {
            return Err(Stop::Fault { cause: fault(4), tval: vaddr });
        }
        let part = self.data_part(bus, vaddr, size, access).map_err(|cause| Stop::Fault { cause, tval: vaddr })?;
        let Some(raw) = self.read_bytes(bus.ram(), part.paddr, size) else {
            return Err(Stop::Fault { cause: fault(5), tval: vaddr });
        };
        let extend = |v: u64| if word { sext32(v) } else { v };
        let old = extend(raw);
        let mut result = old;
        let mut store = !reserve;
        if reserve {
            self.reservation = Some(Reservation { paddr: part.paddr, value: old });
        } else if conditional {
            let held = self.reservation;
            store = held.is_some_and(|r| r.paddr == part.paddr && extend(r.value) == old);
            result = u64::from(!store);
        }
        if store {
            let new = if conditional { reg } else { combine(i.op, old, extend(reg)) };
            let told = !self.speculative() && bus.ram().watched(part.paddr);
            if told && !now.drained {
                return Err(Stop::NeedsDrain);
            }
            self.write_bytes(bus.ram_mut(), part.paddr, size, new).ok_or(Stop::Blocked)?;
            if told {
                self.device_store(bus, now, vaddr, part.paddr, size, new)?;
            }
        }
        if conditional {
            self.reservation = None;
        }
        self.regs[i.rd as usize] = result;
        *m = MemRef::in_one_page(vaddr, size, MemKind::Atomic, part.shift, part.paddr, part.uncacheable);
        Ok(())
    }
}
