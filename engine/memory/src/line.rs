//! Addresses of lines.

use std::fmt;

use breakeven_base::PhysAddr;

/// The address of a line's first byte: what tags, MSHRs and write buffers know lines by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LineAddr(u64);

impl LineAddr {
    /// Of no line.
    pub const NONE: LineAddr = LineAddr(u64::MAX);

    /// The line of `addr`; `line_bytes` is a power of two.
    #[inline(always)]
    pub fn of(addr: PhysAddr, line_bytes: u64) -> Self {
        LineAddr(addr.align_down(line_bytes).0)
    }

    /// The line of `addr`; `mask` has the bits that number lines.
    #[inline(always)]
    pub fn masked(addr: PhysAddr, mask: u64) -> Self {
        LineAddr(addr.0 & mask)
    }

    /// Its first byte's.
    #[inline(always)]
    pub fn addr(self) -> PhysAddr {
        PhysAddr(self.0)
    }
}

impl fmt::LowerHex for LineAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}
