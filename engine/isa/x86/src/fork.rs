//! Wrong paths: forks of the hart, and memory with the path's own stores over it.

use breakeven_base::PhysMem;

use crate::cpu::Cpu;
use crate::inst::RIP;

impl Cpu {
    pub fn fork(&mut self, wrong_pc: u64) -> u32 {
        self.keep_registers();
        self.spec.returns_to = Some(self.rip());
        self.spec.depth += 1;
        self.set_rip(wrong_pc);
        self.spec.depth()
    }

    /// Call before an instruction executes: saves the registers of an open fork, if they are not saved yet.
    #[inline(always)]
    pub fn keep_registers(&mut self) {
        if let Some(rip) = self.spec.returns_to.take() {
            self.save(rip);
        }
    }

    #[inline(never)]
    fn save(&mut self, rip: u64) {
        // From a slice they are copied once, not by way of the stack.
        self.spec.saved.extend_from_slice(std::slice::from_ref(&self.c));
        if let Some(saved) = self.spec.saved.last_mut() {
            saved.r[usize::from(RIP)] = rip;
        }
        if self.avx512_enabled() {
            self.spec.saved_wide.extend_from_slice(std::slice::from_ref(&*self.wide));
        }
        self.spec.marks.push(self.spec.stores.len());
    }

    pub fn rollback(&mut self, depth: u32) {
        let Some(keep) = (depth as usize).checked_sub(1).filter(|_| depth <= self.spec.depth) else { return };
        let returns_to = self.spec.returns_to.take();
        self.spec.depth = depth - 1;
        if let (Some(core), Some(&stores)) = (self.spec.saved.get(keep), self.spec.marks.get(keep)) {
            self.c = *core;
            self.spec.stores.truncate(stores);
            // XCR0 does not change on a wrong path: every fork saved them, or none.
            if let Some(wide) = self.spec.saved_wide.get(keep) {
                self.wide.as_mut().clone_from(wide);
                self.spec.saved_wide.truncate(keep);
            }
            self.spec.saved.truncate(keep);
            self.spec.marks.truncate(keep);
            self.context_changed();
        } else if let Some(rip) = returns_to {
            // Nothing has executed since the fork: there are no registers to restore.
            self.set_rip(rip);
        }
    }

    /// Bytes of RAM as the path being followed sees them.
    pub fn read_bytes(&self, ram: &PhysMem, paddr: u64, out: &mut [u8]) -> Option<()> {
        out.copy_from_slice(ram.slice(paddr, out.len() as u64)?);
        if !self.spec.is_clean() {
            self.spec.overlay(paddr, out);
        }
        Some(())
    }

    /// Stores bytes to RAM, on a speculative path to its log.
    pub fn write_bytes(&mut self, ram: &mut PhysMem, paddr: u64, bytes: &[u8]) -> Option<()> {
        if self.speculative() {
            ram.contains(paddr, bytes.len() as u64).then_some(())?;
            return self.spec.push(paddr, bytes);
        }
        ram.slice_mut(paddr, bytes.len() as u64)?.copy_from_slice(bytes);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::X86Config;
    use crate::spec::MAX_STORES;

    #[test]
    fn stores_of_a_path_are_seen_by_its_loads_and_gone_after() {
        let mut ram = PhysMem::new(0, 4096).expect("maps");
        ram.write::<u64>(0, 0x1111_1111_1111_1111).expect("in range");
        let mut h = Cpu::new(&X86Config::default());
        let read = |h: &Cpu, ram: &PhysMem, at, n: usize| {
            let mut b = [0; 8];
            h.read_bytes(ram, at, &mut b[..n]).expect("in RAM");
            u64::from_le_bytes(b)
        };
        let outer = h.fork(0x100);
        h.keep_registers();
        h.write_bytes(&mut ram, 6, &0xaabb_ccddu32.to_le_bytes()).expect("logged");
        assert_eq!(read(&h, &ram, 0, 8), 0xccdd_1111_1111_1111);
        assert_eq!(read(&h, &ram, 4, 8), 0xaabb_ccdd_1111);
        h.c.r[5] = 7;
        let inner = h.fork(0x200);
        h.keep_registers();
        h.write_bytes(&mut ram, 7, &[0xee]).expect("logged");
        h.c.r[5] = 8;
        assert_eq!(read(&h, &ram, 6, 2), 0xeedd);
        h.rollback(inner);
        assert_eq!((h.c.r[5], read(&h, &ram, 6, 2)), (7, 0xccdd));
        h.rollback(outer);
        assert_eq!((h.c.r[5], h.spec.depth(), h.rip()), (0, 0, 0x20_0000));
        // One on which nothing executes.
        let idle = h.fork(0x300);
        assert_eq!((h.spec.depth(), h.rip()), (1, 0x300));
        h.rollback(idle);
        assert_eq!((h.spec.depth(), h.rip()), (0, 0x20_0000));
        assert_eq!(read(&h, &ram, 0, 8), 0x1111_1111_1111_1111);
    }

    #[test]
    fn the_log_is_bounded_and_keeps_to_ram() {
        let mut ram = PhysMem::new(0x1000, 4096).expect("maps");
        let mut h = Cpu::new(&X86Config::default());
        h.fork(0);
        assert_eq!(h.write_bytes(&mut ram, 0xffc, &[0; 8]), None);
        let done = (0..2 * MAX_STORES).take_while(|_| h.write_bytes(&mut ram, 0x1000, &[1; 8]).is_some()).count();
        assert!(done < MAX_STORES);
    }
}
