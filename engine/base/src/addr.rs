//! Physical addresses.

use std::fmt;
use std::ops::{Add, Sub};

/// The physical address of a byte: no virtual address (those and the PC are `u64`), no number of a line, no offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct PhysAddr(pub u64);

impl PhysAddr {
    pub const ZERO: PhysAddr = PhysAddr(0);

    /// The first byte of the block of `bytes` (a power of two) that holds it.
    #[inline(always)]
    #[must_use]
    pub fn align_down(self, bytes: u64) -> PhysAddr {
        PhysAddr(self.0 & !(bytes - 1))
    }

    /// Bytes from the beginning of its block of `bytes` (a power of two).
    #[inline(always)]
    #[must_use]
    pub fn offset_in(self, bytes: u64) -> u64 {
        self.0 & (bytes - 1)
    }

    /// The address `bytes` further on, modulo 2^64: a wrong path computes anything.
    #[inline(always)]
    #[must_use]
    pub fn wrapping_add(self, bytes: u64) -> PhysAddr {
        PhysAddr(self.0.wrapping_add(bytes))
    }
}

impl Add<u64> for PhysAddr {
    type Output = PhysAddr;
    #[inline(always)]
    fn add(self, bytes: u64) -> PhysAddr {
        PhysAddr(self.0 + bytes)
    }
}

/// Bytes between two addresses.
impl Sub for PhysAddr {
    type Output = u64;
    #[inline(always)]
    fn sub(self, from: PhysAddr) -> u64 {
        self.0 - from.0
    }
}

impl fmt::LowerHex for PhysAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}
