//! Memory references of a sequence of instructions, for functional warming of caches and TLBs.

use crate::uop::{MemKind, MemRef};

/// References in the order of the program. A load is left out if the load before it went to the same line, even if a store or
/// a fetch lies between the two; likewise stores and fetches. So the order of last uses can differ a little from the exact one.
#[derive(Clone, Debug)]
pub struct References {
    list: Vec<MemRef>,
    line_shift: u32,
    /// The lines of the last load, store and instruction fetch.
    last: [u64; 3],
}

/// No line has this number.
const NONE: u64 = u64::MAX;

impl References {
    /// `line_bytes`: a power of two.
    #[must_use]
    pub fn new(line_bytes: u32) -> Self {
        References { list: Vec::new(), line_shift: line_bytes.trailing_zeros(), last: [NONE; 3] }
    }

    /// An instruction's memory reference.
    #[inline]
    pub fn note(&mut self, m: &MemRef) {
        let last = match m.kind {
            MemKind::Load => &mut self.last[0],
            MemKind::Store => &mut self.last[1],
            _ => return self.list.push(*m),
        };
        let line = m.vaddr >> self.line_shift;
        let end = m.vaddr.wrapping_add(u64::from(m.size.max(1)) - 1) >> self.line_shift;
        if line != *last || end != line {
            *last = end;
            self.list.push(*m);
        }
    }

    /// An instruction was fetched at `pc`.
    #[inline]
    pub fn fetch(&mut self, pc: u64) {
        let line = pc >> self.line_shift;
        if line != self.last[2] {
            self.last[2] = line;
            self.list.push(MemRef { vaddr: pc, kind: MemKind::Fetch, ..MemRef::default() });
        }
    }

    /// What has been noted since the last call. The buffer goes back with [`References::reuse`].
    #[must_use]
    pub fn take(&mut self) -> Vec<MemRef> {
        self.last = [NONE; 3];
        std::mem::take(&mut self.list)
    }

    /// Gives a buffer back.
    pub fn reuse(&mut self, mut list: Vec<MemRef>) {
        list.clear();
        self.list = list;
    }
}
