//! The core-local interruptor: software interrupt, timer compare and the real-time counter of hart 0, at the offsets
//! that SiFive's CLINT, Spike and gem5 share.

use breakeven_base::Tick;

/// Where it answers unless the description's platform says otherwise (Spike, `HiFive`).
pub const CLINT_BASE: u64 = 0x0200_0000;
pub const CLINT_SIZE: u64 = 0xc000;
/// The real-time counter's frequency unless the description has a `RiscvRTC`; Spike's and QEMU's `virt` clock.
pub const DEFAULT_TIME_HZ: u64 = 10_000_000;

const MSIP: u64 = 0;
const MTIMECMP: u64 = 0x4000;
const MTIME: u64 = 0xbff8;
const TICKS_PER_SECOND: u128 = 1_000_000_000_000;

/// Interrupt lines, RISC-V's numbering in `mip`.
const SOFTWARE: u64 = 1 << 3;
const TIMER: u64 = 1 << 7;

#[derive(Clone, Debug)]
pub struct Clint {
    hz: u64,
    /// What guests added to the counter by writing it.
    offset: u64,
    msip: bool,
    mtimecmp: u64,
    /// When the timer line rises.
    deadline: Tick,
}

impl Clint {
    #[must_use]
    pub fn new(hz: u64) -> Self {
        Clint { hz: hz.max(1), offset: 0, msip: false, mtimecmp: u64::MAX, deadline: Tick::MAX }
    }

    #[must_use]
    pub fn time(&self, now: Tick) -> u64 {
        self.count(now).wrapping_add(self.offset)
    }
    #[allow(clippy::cast_possible_truncation)] // below 2^64 for any frequency below 1 THz
    fn count(&self, now: Tick) -> u64 {
        (u128::from(now.0) * u128::from(self.hz) / TICKS_PER_SECOND) as u64
    }

    #[must_use]
    pub fn lines(&self, now: Tick) -> u64 {
        (if self.msip { SOFTWARE } else { 0 }) | (if self.time(now) >= self.mtimecmp { TIMER } else { 0 })
    }
    /// No line changes before this instant.
    #[must_use]
    pub fn deadline(&self) -> Tick {
        if self.msip {
            Tick::ZERO
        } else {
            self.deadline
        }
    }

    fn update(&mut self) {
        // The first tick at which time() reaches mtimecmp; the counter may already stand beyond it.
        let missing = u128::from(self.mtimecmp.saturating_sub(self.offset));
        let at = (missing * TICKS_PER_SECOND).div_ceil(u128::from(self.hz));
        self.deadline = u64::try_from(at).map_or(Tick::MAX, Tick);
    }

    /// Reads `size` bytes at `offset` of the device.
    #[must_use]
    pub fn read(&self, offset: u64, size: u16, now: Tick) -> u64 {
        let (register, value) = match offset {
            MSIP..8 => (MSIP, u64::from(self.msip)),
            MTIMECMP..=0x4007 => (MTIMECMP, self.mtimecmp),
            MTIME..=0xbfff => (MTIME, self.time(now)),
            _ => return 0,
        };
        part(value, offset - register, size)
    }

    /// Writes `size` bytes at `offset` of the device.
    pub fn write(&mut self, offset: u64, size: u16, value: u64, now: Tick) {
        match offset {
            MSIP => self.msip = value & 1 != 0,
            MTIMECMP..=0x4007 => self.mtimecmp = merge(self.mtimecmp, offset - MTIMECMP, size, value),
            MTIME..=0xbfff => {
                let time = merge(self.time(now), offset - MTIME, size, value);
                self.offset = time.wrapping_sub(self.count(now));
            }
            _ => {}
        }
        self.update();
    }
}

fn mask(size: u16) -> u64 {
    if size >= 8 {
        u64::MAX
    } else {
        (1 << (8 * size)) - 1
    }
}
fn part(register: u64, at: u64, size: u16) -> u64 {
    register.wrapping_shr(8 * at as u32) & mask(size)
}
fn merge(register: u64, at: u64, size: u16, value: u64) -> u64 {
    let (shift, mask) = (8 * at as u32, mask(size));
    register & !mask.wrapping_shl(shift) | (value & mask).wrapping_shl(shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_line_rises_at_its_deadline_and_not_before() {
        let mut c = Clint::new(DEFAULT_TIME_HZ);
        c.write(MTIMECMP, 8, 1000, Tick(0));
        let at = c.deadline();
        assert_eq!(at, Tick(100_000_000), "1000 counts of 100 ns");
        assert_eq!(c.lines(Tick(at.0 - 1)), 0);
        assert_eq!(c.lines(at), TIMER);
        c.write(MTIME, 8, 990, Tick(0));
        assert_eq!(c.deadline(), Tick(1_000_000));
        assert_eq!(c.time(Tick(1_000_000)), 1000);
    }

    #[test]
    fn halves_of_registers_can_be_written_and_read() {
        let mut c = Clint::new(1);
        c.write(MTIMECMP + 4, 4, 0x1234_5678, Tick(0));
        c.write(MTIMECMP, 4, 0x9abc_def0, Tick(0));
        assert_eq!(c.read(MTIMECMP, 8, Tick(0)), 0x1234_5678_9abc_def0);
        assert_eq!(c.read(MTIMECMP + 4, 4, Tick(0)), 0x1234_5678);
        c.write(MSIP, 4, 1, Tick(0));
        assert_eq!((c.lines(Tick(0)), c.deadline()), (SOFTWARE, Tick::ZERO));
    }
}
