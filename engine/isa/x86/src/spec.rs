//! Speculative paths: a stack of saved registers and one log of stores that later loads on the path search.
//! Nothing architectural changes on a path: memory, page tables, devices and control registers stay as they are.

use breakeven_base::PhysMem;

use crate::cpu::{Core, Cpu};

/// Stores on one wrong path; far more than a pipeline holds.
const MAX_STORES: usize = 4096;

#[derive(Clone, Debug)]
struct Saved {
    core: Core,
    stores: usize,
}

/// Bytes of an aligned eight-byte word.
#[derive(Clone, Copy, Debug)]
struct Store {
    word: u64,
    mask: u64,
    data: u64,
}

/// The open forks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speculation {
    saved: Vec<Saved>,
    stores: Vec<Store>,
}

fn byte_mask(bytes: u64) -> u64 {
    if bytes >= 8 {
        !0
    } else {
        (1 << (8 * bytes)) - 1
    }
}

impl Speculation {
    #[inline]
    pub fn depth(&self) -> u32 {
        self.saved.len() as u32
    }

    /// Logs `bytes` at `paddr`; `None` when the log is full.
    fn push(&mut self, paddr: u64, bytes: &[u8]) -> Option<()> {
        if self.stores.len() + bytes.len() / 8 + 2 > MAX_STORES {
            return None;
        }
        let mut at = paddr;
        let mut rest = bytes;
        while !rest.is_empty() {
            let off = at & 7;
            let (now, then) = rest.split_at((8 - off).min(rest.len() as u64) as usize);
            let v = now.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b));
            self.stores.push(Store {
                word: at & !7,
                mask: byte_mask(now.len() as u64) << (8 * off),
                data: v << (8 * off),
            });
            at += now.len() as u64;
            rest = then;
        }
        Some(())
    }

    /// Memory at `paddr` with the path's stores over it, the youngest last.
    fn overlay(&self, paddr: u64, bytes: &mut [u8]) {
        let end = paddr + bytes.len() as u64;
        for s in self.stores.iter().filter(|s| s.word < end && s.word + 8 > paddr) {
            for k in 0..8 {
                let at = s.word + k;
                if s.mask >> (8 * k) & 1 != 0 && at >= paddr {
                    if let Some(b) = bytes.get_mut((at - paddr) as usize) {
                        *b = (s.data >> (8 * k)) as u8;
                    }
                }
            }
        }
    }
}

impl Cpu {
    pub fn fork(&mut self, wrong_pc: u64) -> u32 {
        self.spec.saved.push(Saved { core: self.c, stores: self.spec.stores.len() });
        self.set_rip(wrong_pc);
        self.spec.depth()
    }

    pub fn rollback(&mut self, depth: u32) {
        let Some(keep) = (depth as usize).checked_sub(1) else { return };
        let Some(s) = self.spec.saved.get(keep) else { return };
        self.c = s.core;
        let stores = s.stores;
        self.spec.stores.truncate(stores);
        self.spec.saved.truncate(keep);
        self.context_changed();
    }

    /// Bytes of RAM as the path being followed sees them.
    pub fn read_bytes(&self, ram: &PhysMem, paddr: u64, out: &mut [u8]) -> Option<()> {
        out.copy_from_slice(ram.slice(paddr, out.len() as u64)?);
        if !self.spec.stores.is_empty() {
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
        h.write_bytes(&mut ram, 6, &0xaabb_ccddu32.to_le_bytes()).expect("logged");
        assert_eq!(read(&h, &ram, 0, 8), 0xccdd_1111_1111_1111);
        assert_eq!(read(&h, &ram, 4, 8), 0xaabb_ccdd_1111);
        h.c.r[5] = 7;
        let inner = h.fork(0x200);
        h.write_bytes(&mut ram, 7, &[0xee]).expect("logged");
        h.c.r[5] = 8;
        assert_eq!(read(&h, &ram, 6, 2), 0xeedd);
        h.rollback(inner);
        assert_eq!((h.c.r[5], read(&h, &ram, 6, 2)), (7, 0xccdd));
        h.rollback(outer);
        assert_eq!((h.c.r[5], h.spec.depth(), h.rip()), (0, 0, 0x20_0000));
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
