//! Physical memory protection (privileged specification 1.12, "Physical Memory Protection"): TOR, NA4 and NAPOT
//! entries, locks, four-byte granularity.

use crate::mode::Mode;

/// What an access needs: the PMP permission bits R, W, X.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Access {
    Load = 1,
    Store = 2,
    Fetch = 4,
}

const LOCK: u8 = 0x80;
const TOR: u8 = 1;
const NA4: u8 = 2;
const ADDR_BITS: u64 = (1 << 54) - 1;

/// An enabled entry, as an inclusive range.
#[derive(Clone, Copy, Debug)]
struct Rule {
    first: u64,
    last: u64,
    cfg: u8,
}

/// The PMP registers of a hart.
#[derive(Clone, Debug)]
pub struct Pmp {
    cfg: [u8; 64],
    addr: [u64; 64],
    entries: usize,
    rules: Vec<Rule>,
}

impl Pmp {
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Pmp { cfg: [0; 64], addr: [0; 64], entries: entries.min(64), rules: Vec::new() }
    }

    /// pmpcfg`n` (n even on RV64); `None` when the hart does not have it.
    #[must_use]
    pub fn read_cfg(&self, n: usize) -> Option<u64> {
        let at = n * 4;
        if n % 2 != 0 || at >= self.entries {
            return None;
        }
        Some((0..8).rev().fold(0, |v, i| v << 8 | u64::from(self.cfg[at + i])))
    }

    pub fn write_cfg(&mut self, n: usize, value: u64) {
        for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
            let Some(cfg) = self.cfg.get_mut(n * 4 + i) else { continue };
            if *cfg & LOCK == 0 {
                // Write without read is reserved: neither.
                *cfg = byte & if byte & 3 == 2 { 0x9d } else { 0x9f };
            }
        }
        self.rebuild();
    }

    /// pmpaddr`n`; `None` when the hart does not have it.
    #[must_use]
    pub fn read_addr(&self, n: usize) -> Option<u64> {
        (n < self.entries).then(|| self.addr[n])
    }

    pub fn write_addr(&mut self, n: usize, value: u64) {
        let next_locks = self.cfg.get(n + 1).is_some_and(|&c| c & LOCK != 0 && c >> 3 & 3 == TOR);
        if n < self.entries && self.cfg[n] & LOCK == 0 && !next_locks {
            self.addr[n] = value & ADDR_BITS;
        }
        self.rebuild();
    }

    fn rebuild(&mut self) {
        self.rules.clear();
        for i in 0..self.entries {
            let (cfg, addr) = (self.cfg[i], self.addr[i]);
            let (first, last) = match cfg >> 3 & 3 {
                0 => continue,
                TOR => {
                    let low = if i == 0 { 0 } else { self.addr[i - 1] };
                    if low >= addr {
                        continue;
                    }
                    (low << 2, (addr << 2) - 1)
                }
                NA4 => (addr << 2, (addr << 2) + 3),
                _ => {
                    let span = (8u64 << addr.trailing_ones()) - 1;
                    let first = (addr << 2) & !span;
                    (first, first | span)
                }
            };
            self.rules.push(Rule { first, last, cfg });
        }
    }

    fn permits(cfg: u8, access: Access, mode: Mode) -> bool {
        (mode == Mode::M && cfg & LOCK == 0) || cfg & access as u8 != 0
    }

    /// Without a matching entry M-mode may do everything; the others nothing, once there are entries at all.
    fn default_for(&self, mode: Mode) -> bool {
        mode == Mode::M || self.entries == 0
    }

    /// Whether `mode` may access these bytes. The first entry that matches any of them must match them all.
    #[must_use]
    pub fn allows(&self, paddr: u64, size: u64, access: Access, mode: Mode) -> bool {
        let last = paddr.saturating_add(size.max(1) - 1);
        match self.rules.iter().find(|r| paddr <= r.last && r.first <= last) {
            None => self.default_for(mode),
            Some(r) => r.first <= paddr && last <= r.last && Self::permits(r.cfg, access, mode),
        }
    }

    /// Whether every access inside the page gets the same answer.
    #[must_use]
    pub fn uniform(&self, page: u64) -> bool {
        let last = page | 0xfff;
        match self.rules.iter().find(|r| page <= r.last && r.first <= last) {
            None => true,
            Some(r) => r.first <= page && last <= r.last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(entries: &[(u8, u64)]) -> Pmp {
        let mut p = Pmp::new(16);
        for (i, &(_, addr)) in entries.iter().enumerate() {
            p.write_addr(i, addr);
        }
        let cfg = entries.iter().enumerate().fold(0, |v, (i, &(c, _))| v | u64::from(c) << (8 * i));
        p.write_cfg(0, cfg);
        p
    }

    #[test]
    fn napot_covers_its_power_of_two() {
        // 0x80000000, 64 KiB: base >> 2 | (size / 8 - 1).
        let p = with(&[(0x1b, 0x8000_0000 >> 2 | 0x1fff)]);
        assert!(p.allows(0x8000_0000, 8, Access::Load, Mode::S));
        assert!(p.allows(0x8000_fff8, 8, Access::Store, Mode::U));
        assert!(!p.allows(0x8000_0000, 4, Access::Fetch, Mode::S));
        assert!(!p.allows(0x8001_0000, 1, Access::Load, Mode::S));
        assert!(!p.allows(0x7fff_fffc, 8, Access::Load, Mode::S));
        assert!(p.allows(0x8001_0000, 1, Access::Load, Mode::M));
        assert!(with(&[(0x1f, ADDR_BITS)]).allows(0xffff_ffff_0000, 8, Access::Fetch, Mode::U));
    }

    #[test]
    fn tor_and_na4_and_the_first_match_decides() {
        let p = with(&[(0x00, 0x1000 >> 2), (0x09, 0x2000 >> 2), (0x12, 0x1800 >> 2), (0x0f, 0x4000 >> 2)]);
        assert!(p.allows(0x1800, 4, Access::Load, Mode::S));
        // The NA4 entry comes after the TOR one that contains it.
        assert!(!p.allows(0x1800, 4, Access::Store, Mode::S));
        assert!(!p.allows(0x0ffc, 8, Access::Load, Mode::S), "half inside an entry");
        assert!(p.allows(0x2000, 8, Access::Store, Mode::S), "the last TOR starts where the NA4 address is");
        assert!(p.uniform(0x1000) && !with(&[(0x0f, 0x1800 >> 2)]).uniform(0x1000));
    }

    #[test]
    fn a_lock_binds_machine_mode_and_the_registers() {
        let mut p = with(&[(0x99, 0x8000_0000 >> 2 | 0x1ff)]);
        assert!(!p.allows(0x8000_0000, 8, Access::Store, Mode::M));
        assert!(p.allows(0x8000_0000, 8, Access::Load, Mode::M));
        p.write_cfg(0, 0x1f);
        p.write_addr(0, 0);
        assert_eq!(p.read_cfg(0), Some(0x99));
        assert_eq!(p.read_addr(0), Some(0x8000_0000 >> 2 | 0x1ff));
        // A locked TOR entry also locks the address below it.
        let mut p = with(&[(0, 0x100), (0x88, 0x200)]);
        p.write_addr(0, 0x180);
        assert_eq!(p.read_addr(0), Some(0x100));
    }

    #[test]
    fn absent_registers_and_reserved_values() {
        let mut p = Pmp::new(16);
        assert_eq!((p.read_cfg(1), p.read_cfg(4), p.read_addr(16)), (None, None, None));
        p.write_cfg(2, 0x1a);
        assert_eq!(p.read_cfg(2), Some(0x18), "write without read is reserved");
        assert!(!p.allows(0x1000, 4, Access::Load, Mode::S) && Pmp::new(0).allows(0, 4, Access::Load, Mode::U));
    }
}
