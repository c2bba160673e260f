//! Rights, page-table entries, and free RAM.

use breakeven_base::PhysMem;

use super::PAGE;
use crate::IsaName;

/// What a page may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::se) struct Prot(pub u8);

impl Prot {
    pub const NONE: Prot = Prot(0);
    pub const READ: Prot = Prot(1);
    pub const WRITE: Prot = Prot(2);
    pub const EXEC: Prot = Prot(4);
    pub const RW: Prot = Prot(3);

    pub fn from_bits(bits: u64) -> Prot {
        Prot((bits & 7) as u8)
    }
    pub fn has(self, other: Prot) -> bool {
        self.0 & other.0 == other.0
    }
    pub fn with(self, other: Prot) -> Prot {
        Prot(self.0 | other.0)
    }
}

/// How an instruction set writes a page-table entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entries {
    pub isa: IsaName,
    /// Tables on the way to a page, root first.
    pub levels: u32,
}

impl Entries {
    pub fn table(self, at: u64) -> u64 {
        match self.isa {
            // Valid; the rest would make it a leaf.
            IsaName::Riscv => (at >> 12) << 10 | 1,
            // Present, writable, user, accessed: the leaf decides.
            IsaName::X86 => at | 0x27,
        }
    }
    /// A leaf, accessed and dirty from the start. Without a right it is not present but keeps its frame.
    pub fn leaf(self, frame: u64, prot: Prot) -> u64 {
        let bit = |on: bool, n: u32| u64::from(on) << n;
        let any = prot != Prot::NONE;
        match self.isa {
            // V, R, W, X, U, A, D; writable pages are readable.
            IsaName::Riscv => {
                let write = prot.has(Prot::WRITE);
                let rights = bit(prot.has(Prot::READ) || write, 1) | bit(write, 2) | bit(prot.has(Prot::EXEC), 3);
                (frame >> 12) << 10 | bit(any, 0) | rights | 1 << 4 | 1 << 6 | 1 << 7
            }
            // P, W, U, A, D, NX.
            IsaName::X86 => {
                frame
                    | bit(any, 0)
                    | bit(prot.has(Prot::WRITE), 1)
                    | 1 << 2
                    | 1 << 5
                    | 1 << 6
                    | bit(!prot.has(Prot::EXEC), 63)
            }
        }
    }
    /// The same rights to another frame.
    pub fn with_frame(self, entry: u64, frame: u64) -> u64 {
        match self.isa {
            IsaName::Riscv => entry & !(((1 << 44) - 1) << 10) | (frame >> 12) << 10,
            IsaName::X86 => entry & !0x000f_ffff_ffff_f000 | frame,
        }
    }
    pub fn frame(self, entry: u64) -> u64 {
        match self.isa {
            IsaName::Riscv => (entry >> 10 & ((1 << 44) - 1)) << 12,
            IsaName::X86 => entry & 0x000f_ffff_ffff_f000,
        }
    }
}

/// Free RAM.
#[derive(Debug)]
pub(super) struct Frames {
    pub next: u64,
    /// Page tables lie from here on.
    pub end: u64,
    pub freed: Vec<u64>,
    pub freed_tables: Vec<u64>,
}

impl Frames {
    pub fn frame(&mut self, ram: &mut PhysMem) -> Option<u64> {
        if let Some(at) = self.freed.pop() {
            ram.slice_mut(at, PAGE)?.fill(0);
            return Some(at);
        }
        let at = self.next;
        (at < self.end).then(|| self.next += PAGE)?;
        Some(at)
    }
    pub fn table(&mut self, ram: &mut PhysMem) -> Option<u64> {
        if let Some(at) = self.freed_tables.pop() {
            ram.slice_mut(at, PAGE)?.fill(0);
            return Some(at);
        }
        if self.next < self.end {
            self.end -= PAGE;
            return Some(self.end);
        }
        self.frame(ram)
    }
}
