//! Speculative paths: a stack of saved registers and one log of stores that later loads on the path search.
//! Nothing architectural changes on a path: memory, page tables, devices and control registers stay as they are.

use crate::simd::WideRegisters;
use crate::state::Core;

/// Stores on one wrong path; far more than a pipeline holds.
pub(crate) const MAX_STORES: usize = 4096;

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
    pub depth: u32,
    /// The last fork's registers are still those that the path has: nothing has executed on it but for the program counter.
    pub returns_to: Option<u64>,
    /// The registers at each other fork, and the stores before it.
    pub saved: Vec<Core>,
    /// AVX-512's part of them, where it is on.
    pub saved_wide: Vec<WideRegisters>,
    pub marks: Vec<usize>,
    pub stores: Vec<Store>,
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
        self.depth
    }

    /// No store has been made on the paths.
    #[inline(always)]
    pub fn is_clean(&self) -> bool {
        self.stores.is_empty()
    }

    /// Logs `bytes` at `paddr`; `None` when the log is full.
    pub fn push(&mut self, paddr: u64, bytes: &[u8]) -> Option<()> {
        if self.stores.len() + 2 * bytes.len().div_ceil(8) > MAX_STORES {
            return None;
        }
        for (at, piece) in (paddr..).step_by(8).zip(bytes.chunks(8)) {
            self.push_word(at, piece.len() as u64, word(piece))?;
        }
        Some(())
    }

    /// Logs the low `size` bytes (up to 8) of `v` at `paddr`; `None` when the log is full.
    pub fn push_word(&mut self, paddr: u64, size: u64, v: u64) -> Option<()> {
        if self.stores.len() + 2 > MAX_STORES {
            return None;
        }
        let (at, shift, mask) = (paddr & !7, 8 * (paddr & 7), byte_mask(size));
        self.stores.push(Store { word: at, mask: mask << shift, data: v << shift });
        if shift + 8 * size > 64 {
            let shift = 64 - shift;
            self.stores.push(Store { word: at + 8, mask: mask >> shift, data: v >> shift });
        }
        Some(())
    }

    /// The `size` bytes (up to 8) of memory at `paddr`, `v`, with the path's stores over them, the youngest last.
    pub fn overlay_word(&self, paddr: u64, size: u64, v: u64) -> u64 {
        let mut v = v;
        for s in self.stores.iter().filter(|s| s.word < paddr + size && s.word + 8 > paddr) {
            let (mask, data) = if s.word >= paddr {
                let shift = 8 * (s.word - paddr);
                (s.mask << shift, s.data << shift)
            } else {
                let shift = 8 * (paddr - s.word);
                (s.mask >> shift, s.data >> shift)
            };
            v = v & !mask | data & mask;
        }
        v & byte_mask(size)
    }

    /// As [`Speculation::overlay_word`], for any number of bytes.
    pub fn overlay(&self, paddr: u64, bytes: &mut [u8]) {
        for (at, piece) in (paddr..).step_by(8).zip(bytes.chunks_mut(8)) {
            let n = piece.len();
            let v = self.overlay_word(at, n as u64, word(piece));
            piece.copy_from_slice(&v.to_le_bytes()[..n]);
        }
    }
}

/// Up to eight bytes as a number.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
}
