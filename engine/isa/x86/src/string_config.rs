//! What a string engine is built from: the modes of `rep movs` and `rep stos`.

use breakeven_base::ConfigError;

/// The fixed-point unit of [`Pace`]: one cycle.
pub const CYCLE: u32 = 1 << 16;

/// Cycles a byte, in 1/[`CYCLE`]; 0: as fast as the rest of the core takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pace(pub u32);

impl Pace {
    /// From bytes a cycle; 0 or less: unlimited.
    #[must_use]
    pub fn bytes_per_cycle(b: f64) -> Pace {
        if b > 0.0 {
            Pace((f64::from(CYCLE) / b).round() as u32) // saturates
        } else {
            Pace(0)
        }
    }
}

/// How `rep movs` or `rep stos` is done under some conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringMode {
    /// Conditions: repetitions, bytes, and bytes of an element.
    pub min_count: u32,
    pub max_count: u32,
    pub max_bytes: u32,
    pub min_element: u8,
    /// Also where the direction flag is set.
    pub backwards: bool,
    /// Both addresses are multiples of this.
    pub co_alignment: u8,
    /// The destination is a multiple of this.
    pub destination_alignment: u8,
    /// The addresses are at least this far apart.
    pub min_distance: u32,
    /// Destination less source, in the low 12 bits, is at least this.
    pub min_page_offset: u16,
    /// Or none at all.
    pub equal_page_offset: bool,
    /// Cycles before the first access.
    pub startup: u8,
    /// Micro-ops that come before.
    pub startup_uops: u16,
    /// Cycles and further micro-ops of each element.
    pub element_cycles: u8,
    pub element_uops: u8,
    /// Bytes at once, 8..=64; 0: an element at a time.
    pub block: u8,
    /// Pace with both ends at multiples of `alignment`; with both off by the same; otherwise.
    pub alignment: u8,
    pub pace: Pace,
    pub pace_misaligned: Pace,
    pub pace_crossed: Pace,
    /// Whole lines are written without being read first.
    pub whole_lines: bool,
}

impl Default for StringMode {
    fn default() -> Self {
        StringMode {
            min_count: 0,
            max_count: u32::MAX,
            max_bytes: u32::MAX,
            min_element: 1,
            backwards: false,
            co_alignment: 1,
            destination_alignment: 1,
            min_distance: 0,
            min_page_offset: 0,
            equal_page_offset: false,
            startup: 0,
            startup_uops: 0,
            element_cycles: 0,
            element_uops: 0,
            block: 32,
            alignment: 1,
            pace: Pace(0),
            pace_misaligned: Pace(0),
            pace_crossed: Pace(0),
            whole_lines: false,
        }
    }
}

/// The engine: modes in order of preference, at most 255 each. None: an element at a time.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RepConfig {
    pub movs: Vec<StringMode>,
    pub stos: Vec<StringMode>,
}

impl RepConfig {
    /// One mode without costs: blocks of 32 bytes.
    #[must_use]
    pub fn blocks() -> Self {
        RepConfig { movs: vec![StringMode::default()], stos: vec![StringMode::default()] }
    }

    /// # Errors
    /// Names a mode that cannot be built.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (name, modes) in [("movs", &self.movs), ("stos", &self.stos)] {
            let bad = |k: usize, what: String| Err(ConfigError::new(format!("x86.rep.{name}[{k}]"), what));
            if modes.len() > 255 {
                return bad(255, "is one mode too many; 255 are enough".into());
            }
            for (k, m) in modes.iter().enumerate() {
                if m.block != 0 && (!m.block.is_power_of_two() || !(8..=64).contains(&m.block)) {
                    return bad(k, format!("block is {}; use 0 (elements) or a power of two from 8 to 64", m.block));
                }
                for (what, v) in [
                    ("co_alignment", m.co_alignment),
                    ("destination_alignment", m.destination_alignment),
                    ("alignment", m.alignment),
                ] {
                    if !v.is_power_of_two() {
                        return bad(k, format!("{what} is {v}; use a power of two, 1 for any address"));
                    }
                }
            }
        }
        Ok(())
    }
}
