//! Privilege modes.

/// Privilege modes, by their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Mode {
    U = 0,
    S = 1,
    M = 3,
}

impl Mode {
    /// From the two low bits; the reserved encoding counts as U.
    #[must_use]
    pub fn from_bits(bits: u64) -> Mode {
        match bits & 3 {
            3 => Mode::M,
            1 => Mode::S,
            _ => Mode::U,
        }
    }
}
