//! Whether the references of a segment overlap each other as they did when it was recorded.
//!
//! References near each other that have all moved by the same distance since then are a group: within it every overlap is
//! as it was, as long as the distance keeps the granules, and so it is between groups of one distance. Groups of different
//! distances that are apart by lines (of O3; of Minor by bytes), then and now, do not touch each other.

use super::archive::AddressRules;

/// Groups that are told apart: source, destination, tables, results and stack.
const GROUPS: usize = 12;
/// Bytes from a group within which a reference becomes part of it.
const NEAR: u64 = 1024;
/// Addresses are compared without regard for their end.
const HIGH: u64 = 1 << 62;

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// By how much its references have moved.
    moved: u64,
    /// From the first byte to the last, when recorded.
    lo: u64,
    hi: u64,
    /// What it may grow to: so far it is known to be apart from the others.
    from: u64,
    to: u64,
}

/// Bytes by which a group may grow at either end before it is compared with the others again: tried in this order.
const ROOMS: [u64; 2] = [1024, 256];

#[derive(Clone, Debug, Default)]
pub struct Groups {
    groups: [Group; GROUPS],
    used: usize,
    /// Of the units by which references touch each other, the offset's bits.
    pad: u64,
    alias: u64,
}

impl Groups {
    /// `alias_bits`: loads look at so many low bits of stores' addresses; 0: they do not.
    pub fn start(&mut self, rules: &AddressRules, alias_bits: u32) {
        self.used = 0;
        self.pad = rules.apart - 1;
        self.alias = if alias_bits == 0 { 0 } else { (1u64.checked_shl(alias_bits).unwrap_or(0)).wrapping_sub(1) };
    }

    /// Adds a reference of `size` bytes that went to `then` and goes to `now`. False: what it overlaps may have changed.
    #[inline(always)]
    pub fn add(&mut self, then: u64, now: u64, size: u16) -> bool {
        let moved = now.wrapping_sub(then);
        let end = then.wrapping_add(u64::from(size.max(1)) - 1);
        for g in &mut self.groups[..self.used] {
            if g.moved == moved && then >= g.from && end <= g.to {
                (g.lo, g.hi) = (g.lo.min(then), g.hi.max(end));
                return true;
            }
        }
        self.grow(moved, then, end, now)
    }

    /// The same of a reference that is in no group's room.
    #[inline(never)]
    fn grow(&mut self, moved: u64, then: u64, end: u64, now: u64) -> bool {
        for i in 0..self.used {
            let g = &mut self.groups[i];
            if g.moved == moved && then.wrapping_add(NEAR) >= g.lo && then <= g.hi.wrapping_add(NEAR) {
                if then.max(now) >= HIGH && moved != 0 {
                    return false;
                }
                (g.lo, g.hi) = (g.lo.min(then), g.hi.max(end));
                return self.settle(i);
            }
        }
        self.open(moved, then, end, now)
    }

    #[inline(never)]
    fn open(&mut self, moved: u64, lo: u64, hi: u64, now: u64) -> bool {
        if self.used == GROUPS || lo.max(now) >= HIGH && moved != 0 {
            return false;
        }
        self.groups[self.used] = Group { moved, lo, hi, from: lo, to: hi };
        self.used += 1;
        self.settle(self.used - 1)
    }

    /// Whether group `i` is apart from the others; where there is room, with some to grow into.
    #[inline(never)]
    fn settle(&mut self, i: usize) -> bool {
        for room in ROOMS {
            let g = &mut self.groups[i];
            if g.lo.min(g.lo.wrapping_add(g.moved)) >= room && g.hi < HIGH {
                (g.from, g.to) = (g.lo - room, g.hi + room);
                if self.is_apart(i) {
                    return true;
                }
            }
        }
        for g in &mut self.groups[..self.used] {
            (g.from, g.to) = (g.lo, g.hi);
        }
        self.is_apart(i)
    }

    /// Whether what group `i` may grow to shares no unit with what another may, then and now, nor low bits where those count.
    fn is_apart(&self, i: usize) -> bool {
        let pad = self.pad;
        let g = self.groups[i];
        self.groups[..self.used].iter().all(|o| {
            let apart = |g_moved: u64, o_moved: u64| {
                let (g_lo, g_hi) = (g.from.wrapping_add(g_moved) & !pad, g.to.wrapping_add(g_moved) | pad);
                let (o_lo, o_hi) = (o.from.wrapping_add(o_moved) & !pad, o.to.wrapping_add(o_moved) | pad);
                g_hi < o_lo || o_hi < g_lo
            };
            g.moved == o.moved || apart(0, 0) && apart(g.moved, o.moved) && self.keeps_aliases(&g, o)
        })
    }

    /// Whether the low bits of two groups' addresses are as far from each other as they were, or differ then and now.
    #[inline]
    fn keeps_aliases(&self, g: &Group, o: &Group) -> bool {
        let alias = self.alias;
        let differ = |g_lo: u64, o_lo: u64| {
            g_lo.wrapping_sub(o_lo) & alias > o.to - o.from && o_lo.wrapping_sub(g_lo) & alias > g.to - g.from
        };
        g.moved.wrapping_sub(o.moved) & alias == 0
            || differ(g.from, o.from) && differ(g.from.wrapping_add(g.moved), o.from.wrapping_add(o.moved))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(alias_bits: u32) -> Groups {
        let mut g = Groups::default();
        g.start(&AddressRules { line: 64, granule: 16, costs: [64; 2], apart: 64, physical: false }, alias_bits);
        g
    }

    #[test]
    fn streams_that_stay_apart_may_move_each_by_its_own_distance() {
        let mut g = groups(0);
        assert!(g.add(0x1000, 0x1040, 8) && g.add(0x2000, 0x2100, 8) && g.add(0x1008, 0x1048, 8));
    }

    #[test]
    fn streams_that_meet_or_met_do_not_count_as_alike() {
        // Now the second is where the first is.
        assert!({
            let mut g = groups(0);
            g.add(0x1000, 0x1040, 8) && !g.add(0x2000, 0x1060, 8)
        });
        // Then it was.
        assert!({
            let mut g = groups(0);
            g.add(0x1000, 0x1040, 8) && !g.add(0x1030, 0x5030, 8)
        });
        // One grows into the other.
        assert!({
            let mut g = groups(0);
            g.add(0x1000, 0x1040, 8) && g.add(0x2000, 0x2000, 8) && !g.add(0x1fc0, 0x2000, 8)
        });
    }

    #[test]
    fn what_stays_may_lie_on_both_sides_of_what_moves() {
        let mut g = groups(0);
        assert!(g.add(0x1000, 0x1000, 8) && g.add(0x5000, 0x5010, 8) && g.add(0x9000, 0x9000, 8));
        assert!(g.add(0x5100, 0x5110, 8) && !g.add(0x5120, 0x5120, 8));
    }

    #[test]
    fn low_bits_that_count_move_alike_or_never_meet() {
        let add_both = |first: (u64, u64), second: (u64, u64)| {
            let mut g = groups(12);
            g.add(first.0, first.1, 8) && g.add(second.0, second.1, 8)
        };
        assert!(add_both((0x1000, 0x1040), (0x5000, 0x8040)), "by one distance in the low bits");
        assert!(add_both((0x1000, 0x1040), (0x9800, 0x9800)), "far from each other in them");
        assert!(!add_both((0x1000, 0x1040), (0x9004, 0x9004)), "the same ones then");
        assert!(!add_both((0x1000, 0x1040), (0x9044, 0x9044)), "the same ones now");
        assert!(!add_both((0x1000, 0x1040), (0x9ff9, 0x9ff9)), "across the end of a page, then");
    }
}
