//! Wrong paths: forks of the hart, and memory with the path's own stores over it.

use breakeven_base::PhysMem;

use crate::hart::Hart;
use crate::spec::{byte_mask, Saved, SAVED};

impl Hart {
    pub fn fork(&mut self, wrong_pc: u64) -> u32 {
        let mut regs = [0; SAVED];
        regs.copy_from_slice(&self.regs[..SAVED]);
        let vector = self.vector.fork();
        self.spec.saved.push(Saved {
            regs,
            vector,
            pc: self.pc,
            fflags: self.fcsr.fflags,
            mstatus: self.mstatus,
            retired: self.counters.retired,
            reservation: self.reservation,
            stores: self.spec.stores.len(),
        });
        self.pc = wrong_pc & !1;
        self.spec.depth()
    }

    pub fn rollback(&mut self, depth: u32) {
        let Some(keep) = (depth as usize).checked_sub(1) else { return };
        let Some(s) = self.spec.saved.get(keep) else { return };
        self.regs[..SAVED].copy_from_slice(&s.regs);
        self.pc = s.pc;
        self.fcsr.fflags = s.fflags;
        self.mstatus = s.mstatus;
        self.counters.retired = s.retired;
        self.reservation = s.reservation;
        self.vector.rollback(keep, &s.vector);
        self.spec.stores.truncate(s.stores);
        self.spec.saved.truncate(keep);
    }

    /// `n` bytes (1..=8) of RAM as the path being followed sees them.
    pub fn read_bytes(&self, ram: &PhysMem, paddr: u64, n: u64) -> Option<u64> {
        let mut v = match n {
            8 => ram.read::<u64>(paddr)?,
            4 => u64::from(ram.read::<u32>(paddr)?),
            2 => u64::from(ram.read::<u16>(paddr)?),
            _ => ram.slice(paddr, n)?.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b)),
        };
        if !self.spec.stores.is_empty() {
            let (word, off) = (paddr & !7, paddr & 7);
            let here = n.min(8 - off);
            let low = self.spec.overlay(word, v << (8 * off)) >> (8 * off);
            v = if here < n {
                let high = self.spec.overlay(word + 8, v >> (8 * here));
                low & byte_mask(here) | high << (8 * here)
            } else {
                low
            };
        }
        Some(v & byte_mask(n))
    }

    /// Stores `n` bytes (1..=8) to RAM, on a speculative path to its log.
    pub fn write_bytes(&mut self, ram: &mut PhysMem, paddr: u64, n: u64, value: u64) -> Option<()> {
        if self.speculative() {
            ram.contains(paddr, n).then_some(())?;
            return self.spec.push(paddr, n, value & byte_mask(n));
        }
        let bytes = ram.slice_mut(paddr, n)?;
        let len = bytes.len();
        bytes.copy_from_slice(&value.to_le_bytes()[..len.min(8)]);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RiscvConfig;
    use crate::spec::MAX_STORES;

    #[test]
    fn stores_of_a_path_are_seen_by_its_loads_and_gone_after() {
        let mut ram = PhysMem::new(0x8000_0000, 4096).expect("maps");
        ram.write::<u64>(0x8000_0000, 0x1111_1111_1111_1111).expect("in range");
        let mut h = Hart::new(&RiscvConfig::default());
        let outer = h.fork(0x100);
        h.write_bytes(&mut ram, 0x8000_0006, 4, 0xaabb_ccdd).expect("logged");
        assert_eq!(h.read_bytes(&ram, 0x8000_0000, 8), Some(0xccdd_1111_1111_1111));
        assert_eq!(h.read_bytes(&ram, 0x8000_0004, 8), Some(0xaabb_ccdd_1111));
        h.regs[5] = 7;
        let inner = h.fork(0x200);
        h.write_bytes(&mut ram, 0x8000_0007, 1, 0xee).expect("logged");
        h.regs[5] = 8;
        assert_eq!(h.read_bytes(&ram, 0x8000_0006, 2), Some(0xeedd));
        h.rollback(inner);
        assert_eq!((h.regs[5], h.read_bytes(&ram, 0x8000_0006, 2)), (7, Some(0xccdd)));
        h.rollback(outer);
        assert_eq!((h.regs[5], h.spec.depth(), h.pc), (0, 0, 0x8000_0000));
        assert_eq!(h.read_bytes(&ram, 0x8000_0000, 8), Some(0x1111_1111_1111_1111));
        // A rollback across both forks at once, and one that has no fork.
        let outer = h.fork(0x100);
        h.fork(0x200);
        h.rollback(outer);
        h.rollback(3);
        assert_eq!(h.spec.depth(), 0);
    }

    #[test]
    fn the_log_is_bounded_and_keeps_to_ram() {
        let mut ram = PhysMem::new(0x8000_0000, 4096).expect("maps");
        let mut h = Hart::new(&RiscvConfig::default());
        h.fork(0);
        assert_eq!(h.write_bytes(&mut ram, 0x7fff_fffc, 8, 0), None);
        let done = (0..2 * MAX_STORES).take_while(|_| h.write_bytes(&mut ram, 0x8000_0000, 8, 1).is_some()).count();
        assert!(done < MAX_STORES);
    }
}
