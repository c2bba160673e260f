//! What an EVEX prefix says, and which state AVX-512 needs.

/// What the EVEX prefix and the operands' kinds say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evex {
    /// Vector length in bytes; 0: not EVEX.
    pub length: u8,
    /// The opmask register; 0: every element.
    pub mask: u8,
    /// Elements that are left out are cleared; else they keep what the destination had.
    pub zeroing: bool,
    /// The memory operand is one element for all lanes.
    pub broadcast: bool,
    /// Bytes of an element ([`element`](super::element)).
    pub element: u8,
}

/// XCR0's bits of SSE, AVX, opmasks, upper halves and high registers.
pub(crate) const XCR0: u64 = 0xe6;
