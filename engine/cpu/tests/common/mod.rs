//! The gem5 reference program (`tests/data/gem5`), and the memory of its `config.py`.

#[path = "../../../memory/tests/common/mod.rs"]
mod memory_reference;

use std::path::PathBuf;

use breakeven_base::bus::ExitCause;
use breakeven_base::{Bus, BusError, Now, PhysMem, PseudoOutcome, SysEffect, Tick};
use breakeven_memory::config::{AddrRange, MemoryConfig};
use breakeven_memory::MemorySystemConfig;

/// RAM and gem5's pseudo-ops, nothing else.
pub struct Platform {
    ram: PhysMem,
}

impl Bus for Platform {
    fn ram(&self) -> &PhysMem {
        &self.ram
    }
    fn ram_mut(&mut self) -> &mut PhysMem {
        &mut self.ram
    }
    fn device_read(&mut self, paddr: u64, size: u16, _: Tick) -> Result<u64, BusError> {
        Err(BusError { paddr, size })
    }
    fn device_write(&mut self, paddr: u64, size: u16, _: u64, _: Tick) -> Result<SysEffect, BusError> {
        Err(BusError { paddr, size })
    }
    fn is_device(&self, _: u64) -> bool {
        false
    }
    fn is_uncacheable(&self, _: u64) -> bool {
        false
    }
    fn irq_deadline(&self) -> Tick {
        Tick::MAX
    }
    fn irq_lines(&self, _: Tick) -> u64 {
        0
    }
    fn timer(&self, now: Tick) -> u64 {
        now.0 / 100_000
    }
    fn pseudo_op(
        &mut self,
        func: u8,
        args: [u64; 6],
        now: Now,
        _: &mut dyn FnMut(&mut PhysMem, u64, bool) -> Option<u64>,
    ) -> PseudoOutcome {
        if !now.drained {
            return PseudoOutcome::NeedsDrain;
        }
        let effect = match func {
            0x21 => SysEffect::Exit { cause: ExitCause::M5Exit, code: 0 },
            0x22 => SysEffect::Exit { cause: ExitCause::M5Fail, code: args[1] as i64 },
            0x40 => SysEffect::ResetStats,
            0x41 => SysEffect::DumpStats,
            _ => return PseudoOutcome::Unknown,
        };
        PseudoOutcome::Done { ret: None, effect }
    }
}

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/gem5").join(name)
}

fn word(bytes: &[u8], at: usize, n: usize) -> u64 {
    bytes[at..at + n].iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}

/// Loads a reference ELF's segments into RAM at `base`, and tells where it begins. It is our own file: no hostile input here.
pub fn load_segments(name: &str, base: u64) -> (Platform, u64) {
    let elf = std::fs::read(data(name)).expect("the reference ELF is in the repository");
    let mut ram = PhysMem::new(base, 512 << 20).expect("RAM is mapped");
    let (entry, table) = (word(&elf, 24, 8), word(&elf, 32, 8) as usize);
    for i in 0..word(&elf, 56, 2) as usize {
        let p = table + i * word(&elf, 54, 2) as usize;
        if word(&elf, p, 4) == 1 {
            let (offset, paddr, size) = (word(&elf, p + 8, 8) as usize, word(&elf, p + 24, 8), word(&elf, p + 32, 8));
            ram.slice_mut(paddr, size)
                .expect("the segment lies in RAM")
                .copy_from_slice(&elf[offset..offset + size as usize]);
        }
    }
    (Platform { ram }, entry)
}

/// The memory of the reference, with its RAM at `base`.
pub fn reference_memory_at(base: u64) -> MemorySystemConfig {
    let mut c = memory_reference::reference();
    let ram = AddrRange { start: base, end: base + memory_reference::RAM.end - memory_reference::RAM.start };
    for m in &mut c.memories {
        if let MemoryConfig::Dram(d) = m {
            d.dram.range = ram;
        }
    }
    for route in c.xbars.iter_mut().flat_map(|x| &mut x.routes) {
        if route.range == Some(memory_reference::RAM) {
            route.range = Some(ram);
        }
    }
    c
}
