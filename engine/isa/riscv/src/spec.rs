//! Speculative paths: a stack of saved registers and one log of stores that later loads on the path search.
//! Nothing architectural changes on a path: memory, page tables, devices and control registers stay as they are.

use crate::inst::F0;
use crate::state::Reservation;
use crate::vector::SavedVector;

/// Registers that instructions on a wrong path change.
pub(crate) const SAVED: usize = F0 as usize + 32;
/// Stores on one wrong path; far more than a pipeline holds.
pub(crate) const MAX_STORES: usize = 4096;

#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub regs: [u64; SAVED],
    pub pc: u64,
    pub fflags: u8,
    pub mstatus: u64,
    pub retired: u64,
    pub reservation: Option<Reservation>,
    pub stores: usize,
    pub vector: SavedVector,
}

/// Bytes of an aligned eight-byte word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store {
    word: u64,
    mask: u64,
    data: u64,
}

/// The open forks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speculation {
    pub saved: Vec<Saved>,
    pub stores: Vec<Store>,
}

pub(crate) fn byte_mask(bytes: u64) -> u64 {
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

    /// Logs `n` bytes (1..=8) at `paddr`; `None` when the log is full.
    pub fn push(&mut self, paddr: u64, n: u64, value: u64) -> Option<()> {
        if self.stores.len() + 2 > MAX_STORES {
            return None;
        }
        let (word, off) = (paddr & !7, paddr & 7);
        let here = n.min(8 - off);
        self.stores.push(Store { word, mask: byte_mask(here) << (8 * off), data: value << (8 * off) });
        if here < n {
            self.stores.push(Store { word: word + 8, mask: byte_mask(n - here), data: value >> (8 * here) });
        }
        Some(())
    }

    /// `word` of memory with the path's stores over it, the youngest last.
    pub fn overlay(&self, word: u64, memory: u64) -> u64 {
        let mut v = memory;
        for s in &self.stores {
            if s.word == word {
                v = v & !s.mask | s.data & s.mask;
            }
        }
        v
    }
}
