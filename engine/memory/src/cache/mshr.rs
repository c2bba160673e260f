//! Miss status holding registers: outstanding lines, their targets, and when the file is full.

use educe::Educe;

use crate::line::LineAddr;

/// Where a miss is. One whose response has come by the time asked about is filled ([`Mshr::state`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MshrState {
    /// Not sent yet: other accesses join it ([`super::pending`]).
    Allocated,
    /// The level below has it.
    Sent,
    /// The line is there, the register free.
    Filled,
}

/// One outstanding line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mshr {
    pub line: LineAddr,
    /// Allocated or sent.
    pub state: MshrState,
    pub alloc_at: u64,
    /// Sent: when the response arrives and the register is free. Allocated: when it may be sent.
    pub resp_at: u64,
    /// Ticks from the critical word to the rest of the line: what targets at another offset wait for.
    pub payload: u64,
    /// Of the first target.
    pub addr: u64,
    pub targets: u32,
    pub level: u8,
}

impl Mshr {
    /// Its state at `now`.
    pub fn state(&self, now: u64) -> MshrState {
        if self.state == MshrState::Sent && self.resp_at <= now {
            MshrState::Filled
        } else {
            self.state
        }
    }
}

/// The register file of one cache (gem5 `MSHRQueue`).
#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct MshrFile {
    entries: Vec<Mshr>,
    limit: usize,
    max_targets: u32,
    /// Entries with no target to spare.
    full: usize,
    /// The earliest `resp_at`: saves most searches for registers that are free again.
    first_response: u64,
    /// No register is allocated later.
    last_alloc: u64,
}
impl MshrFile {
    pub fn new(limit: u32, max_targets: u32) -> Self {
        let entries = Vec::with_capacity(limit as usize + 1);
        MshrFile { entries, limit: limit as usize, max_targets, full: 0, first_response: u64::MAX, last_alloc: 0 }
    }

    /// Frees registers whose response has arrived by `now`; no later call is about an earlier time.
    #[inline]
    pub fn retire(&mut self, now: u64) {
        if self.first_response <= now {
            self.retire_some(now);
        }
    }

    #[inline(never)]
    fn retire_some(&mut self, now: u64) {
        let (mut full, mut first) = (0, u64::MAX);
        let max_targets = self.max_targets;
        self.entries.retain(|m| {
            let stays = m.resp_at > now;
            if stays {
                full += usize::from(m.targets >= max_targets);
                first = first.min(m.resp_at);
            }
            stays
        });
        (self.full, self.first_response) = (full, first);
    }

    /// Whether a register is free and every register can take a target, at any time; false: it depends on the time.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.entries.len() < self.limit && self.full == 0
    }

    /// The register that waits for `line` at `now`.
    #[inline]
    pub fn find(&self, line: LineAddr, now: u64) -> Option<&Mshr> {
        self.entries.iter().find(|m| m.line == line && m.resp_at > now)
    }

    fn allocated(&mut self, line: LineAddr) -> Option<&mut Mshr> {
        self.entries.iter_mut().find(|m| m.line == line && m.state == MshrState::Allocated)
    }

    /// A response that was to come at `before` comes at `at`.
    fn moved(&mut self, before: u64, at: u64) {
        if at < self.first_response {
            self.first_response = at;
        } else if before == self.first_response {
            self.first_response = self.entries.iter().map(|m| m.resp_at).min().unwrap_or(u64::MAX);
        }
    }

    /// The unsent miss to `line` may be sent at `at`, not before.
    pub fn postpone(&mut self, line: LineAddr, at: u64) {
        if let Some(m) = self.allocated(line) {
            let before = std::mem::replace(&mut m.resp_at, at);
            self.moved(before, at);
        }
    }

    /// The unsent miss to `line` has been sent; `resp_at`, `payload`, `level`: of the response. When it was allocated.
    pub fn sent(&mut self, line: LineAddr, resp_at: u64, payload: u64, level: u8) -> Option<u64> {
        let m = self.allocated(line)?;
        let (before, alloc_at) = (m.resp_at, m.alloc_at);
        (m.state, m.resp_at, m.payload, m.level) = (MshrState::Sent, resp_at, payload, level);
        self.moved(before, resp_at);
        Some(alloc_at)
    }

    /// One more target of the unsent miss to `line`; whether its target list is full now.
    pub fn takes_target(&mut self, line: LineAddr) -> bool {
        let Some(m) = self.allocated(line) else { return false };
        m.targets += 1;
        let targets = m.targets;
        self.full += usize::from(targets == self.max_targets);
        targets >= self.max_targets
    }

    /// One more target of the register that waits for `line` at `now`; the register.
    pub fn join(&mut self, line: LineAddr, now: u64) -> Option<Mshr> {
        let m = self.entries.iter_mut().find(|m| m.line == line && m.resp_at > now)?;
        m.targets += 1;
        let m = *m;
        self.full += usize::from(m.targets == self.max_targets);
        Some(m)
    }

    pub fn push(&mut self, m: Mshr) {
        self.full += usize::from(m.targets >= self.max_targets);
        self.first_response = self.first_response.min(m.resp_at);
        self.last_alloc = self.last_alloc.max(m.alloc_at);
        self.entries.push(m);
    }

    fn live(&self, now: u64) -> impl Iterator<Item = &Mshr> {
        self.entries.iter().filter(move |m| m.alloc_at <= now && m.resp_at > now)
    }

    /// When a full file has a register free again; `None`: now.
    #[inline]
    pub fn full_until(&self, now: u64) -> Option<u64> {
        self.below_from(self.limit, now)
    }

    /// When one of `limit` registers or more is free again; `None`: fewer are in use.
    pub fn below_from(&self, limit: usize, now: u64) -> Option<u64> {
        if self.entries.len() < limit {
            return None;
        }
        if self.last_alloc <= now && now < self.first_response {
            // All of them are in use.
            return (self.first_response != u64::MAX).then_some(self.first_response);
        }
        let (used, first) = self.live(now).fold((0, u64::MAX), |(n, first), m| (n + 1, first.min(m.resp_at)));
        (used >= limit && used > 0).then_some(first)
    }

    /// When the last register with no target to spare has been answered; `None`: all have.
    pub fn targets_full_until(&self, now: u64) -> Option<u64> {
        if self.full == 0 {
            return None;
        }
        self.live(now).filter(|m| m.targets >= self.max_targets).map(|m| m.resp_at).max()
    }

    pub fn describe(&self, now: u64) -> String {
        use std::fmt::Write;
        let mut s = format!("{} of {} MSHRs in use", self.live(now).count(), self.limit);
        for m in self.live(now) {
            let what = match m.state(now) {
                MshrState::Allocated => "not sent before",
                MshrState::Sent | MshrState::Filled => "answered at",
            };
            let _ = write!(s, "; line {:#x}, {} targets, {what} {}", m.line, m.targets, m.resp_at);
        }
        s
    }

    pub fn audit(&self, now: u64) -> Result<(), String> {
        let full = self.entries.iter().filter(|m| m.targets >= self.max_targets).count();
        if full != self.full {
            return Err(format!("{full} MSHRs have no target to spare, {} are known of", self.full));
        }
        let first = self.entries.iter().map(|m| m.resp_at).min().unwrap_or(u64::MAX);
        if first != self.first_response || self.entries.iter().any(|m| m.alloc_at > self.last_alloc) {
            return Err(format!("MSHRs: first response {first}, not {}, or allocated late", self.first_response));
        }
        let filled = self.entries.iter().filter(|m| m.resp_at <= now).count();
        // Accesses past the cache may take any number at one time.
        if filled > 256 {
            return Err(format!("{filled} entries of registers that are free again are kept"));
        }
        if self.live(now).count() > self.limit {
            return Err(format!("{} MSHRs in use of {}", self.live(now).count(), self.limit));
        }
        if let Some(m) = self.live(now).find(|m| m.targets > self.max_targets) {
            return Err(format!("{} targets of {} on line {:#x}", m.targets, self.max_targets, m.line));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(addr: u64) -> LineAddr {
        LineAddr::of(addr, 64)
    }

    fn mshr(addr: u64, alloc_at: u64, resp_at: u64) -> Mshr {
        Mshr { line: line(addr), state: MshrState::Sent, alloc_at, resp_at, payload: 0, addr, targets: 1, level: 1 }
    }

    #[test]
    fn a_register_is_allocated_then_sent_then_filled() {
        let mut f = MshrFile::new(2, 3);
        f.push(Mshr { state: MshrState::Allocated, ..mshr(0x40, 10, 20) });
        // It may be sent at 20, and has not been.
        assert_eq!(f.allocated(line(0x40)).map(|m| m.state(30)), Some(MshrState::Allocated));
        assert_eq!(f.sent(line(0x40), 100, 0, 1), Some(10));
        assert!(f.allocated(line(0x40)).is_none());
        let m = *f.find(line(0x40), 30).expect("it is on its way");
        assert_eq!([m.state(30), m.state(100)], [MshrState::Sent, MshrState::Filled]);
    }

    #[test]
    fn full_until_the_first_answer() {
        let mut f = MshrFile::new(2, 3);
        f.push(mshr(0x40, 10, 100));
        assert_eq!(f.full_until(20), None);
        f.push(mshr(0x80, 20, 90));
        assert_eq!(f.full_until(15), None);
        assert_eq!(f.full_until(20), Some(90));
        assert_eq!(f.full_until(90), None);
        f.retire(95);
        assert!(f.find(line(0x80), 0).is_none() && f.find(line(0x40), 0).is_some());
    }

    #[test]
    fn targets_run_out() {
        let mut f = MshrFile::new(4, 2);
        f.push(mshr(0x40, 10, 100));
        assert_eq!(f.targets_full_until(20), None);
        assert!(f.join(line(0x40), 20).is_some_and(|m| m.targets == 2) && f.join(line(0x40), 100).is_none());
        assert_eq!(f.targets_full_until(20), Some(100));
        assert_eq!(f.audit(20), Ok(()));
        assert!(f.join(line(0x40), 20).is_some());
        assert!(f.audit(20).is_err());
    }

    #[test]
    fn room_is_known_without_looking_at_each() {
        let mut f = MshrFile::new(2, 2);
        f.push(mshr(0x40, 10, 100));
        assert!(f.has_room());
        f.push(mshr(0x80, 20, 90));
        assert!(!f.has_room(), "no register");
        f.retire(95);
        assert!(f.has_room());
        f.join(line(0x40), 96);
        assert!(!f.has_room() && f.targets_full_until(96) == Some(100), "no target");
        f.retire(100);
        f.push(Mshr { state: MshrState::Allocated, ..mshr(0x40, 110, 200) });
        assert!(f.has_room() && !f.takes_target(line(0x80)));
        assert!(f.takes_target(line(0x40)) && !f.has_room() && f.audit(120) == Ok(()));
    }
}
