//! Data accesses that hit, as one ([`crate::data_side`]).

use breakeven_base::PhysAddr;

/// A line that is used.
#[derive(Clone, Copy, Debug)]
pub struct LineUse {
    pub addr: PhysAddr,
    pub is_written: bool,
}

/// A page that is looked up.
#[derive(Clone, Copy, Debug)]
pub struct PageUse {
    pub vaddr: u64,
    /// Not 0: translation is on.
    pub shift: u8,
    pub asid: u16,
}

/// Accesses that hit, of reads and of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HitCounts {
    pub accesses: [u64; 2],
    /// From access to response.
    pub ticks: [u64; 2],
    /// Look-ups in the TLB.
    pub pages: [u64; 2],
}

/// Data accesses that hit, one after the other.
#[derive(Clone, Debug, Default)]
pub struct DataUses {
    /// Each once, in the order of their last uses.
    pub lines: Vec<LineUse>,
    pub pages: Vec<PageUse>,
    pub counts: HitCounts,
}
