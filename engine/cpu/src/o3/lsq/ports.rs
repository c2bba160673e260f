//! The data cache's ports: so many loads and so many stores a cycle (`cacheLoadPorts`, `cacheStorePorts`). A split access
//! may hold its port longer (`misaligned.split_slots`).

use crate::memo::archive::Archive;
use breakeven_base::Cycle;

/// The ports of one kind.
#[derive(Clone, Debug)]
pub struct Ports {
    number: u32,
    /// Used in `cycle`.
    used: u32,
    cycle: Cycle,
    /// Cycles up to which a port is held by a split access.
    held: Vec<Cycle>,
}

impl Ports {
    pub fn new(number: u32) -> Self {
        Ports { number, used: 0, cycle: Cycle::ZERO, held: Vec::new() }
    }

    /// The state in relative form, between two cycles.
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { number: _, used, cycle, held } = self;
        let now = a.base.cycle;
        (*used, *cycle) = (0, Cycle::ZERO);
        held.retain(|until| *until > now);
        a.list(held, Cycle::ZERO, Archive::cycle);
    }

    #[inline]
    pub fn take(&mut self, now: Cycle) -> bool {
        if self.cycle != now {
            self.cycle = now;
            self.used = 0;
            if !self.held.is_empty() {
                self.held.retain(|until| *until > now);
            }
        }
        let busy = self.used as usize + self.held.len();
        let free = busy < self.number as usize;
        self.used += u32::from(free);
        free
    }

    /// The access that took a port was refused: the port is free still.
    #[inline]
    pub fn give_back(&mut self) {
        self.used = self.used.saturating_sub(1);
    }

    /// The access that has just been sent keeps its port for `slots` more cycles.
    #[cold]
    pub fn hold(&mut self, now: Cycle, slots: u32) {
        // Counted as used in this cycle already.
        if self.held.len() < self.number as usize {
            self.used = self.used.saturating_sub(1);
            self.held.push(now + 1 + u64::from(slots));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_free_again_next_cycle_unless_held() {
        let mut p = Ports::new(2);
        assert!(p.take(Cycle(5)) && p.take(Cycle(5)) && !p.take(Cycle(5)));
        p.hold(Cycle(5), 2);
        assert!(!p.take(Cycle(5)));
        // One of two is held in cycles 6 and 7.
        assert!(p.take(Cycle(6)) && !p.take(Cycle(6)));
        assert!(p.take(Cycle(7)) && !p.take(Cycle(7)));
        assert!(p.take(Cycle(8)) && p.take(Cycle(8)) && !p.take(Cycle(8)));
    }
}
