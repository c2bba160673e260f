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
    /// Upper bound of any register's targets since the file was last empty: saves most searches.
    most_targets: u32,
}
impl MshrFile {
    pub fn new(limit: u32, max_targets: u32) -> Self {
        let entries = Vec::with_capacity(limit as usize + 1);
        MshrFile { entries, limit: limit as usize, max_targets, most_targets: 0 }
    }

    /// Frees registers whose response has arrived by `now`; no later call is about an earlier time.
    pub fn retire(&mut self, now: u64) {
        self.entries.retain(|m| m.resp_at > now);
        if self.entries.is_empty() {
            self.most_targets = 0;
        }
    }

    /// Whether a register is free and every register can take a target, at any time; false: it depends on the time.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.entries.len() < self.limit && self.most_targets < self.max_targets
    }

    /// The register that waits for `line` at `now`.
    pub fn find(&mut self, line: LineAddr, now: u64) -> Option<&mut Mshr> {
        self.entries.iter_mut().find(|m| m.line == line && m.resp_at > now)
    }

    /// The register of a miss to `line` that has not been sent.
    pub fn allocated(&mut self, line: LineAddr) -> Option<&mut Mshr> {
        self.entries.iter_mut().find(|m| m.line == line && m.state == MshrState::Allocated)
    }

    /// One more target of the unsent miss to `line`; whether its target list is full now.
    pub fn takes_target(&mut self, line: LineAddr) -> bool {
        let Some(m) = self.allocated(line) else { return false };
        m.targets += 1;
        let targets = m.targets;
        self.most_targets = self.most_targets.max(targets);
        targets >= self.max_targets
    }

    /// One more target of the register that waits for `line` at `now`; the register.
    pub fn join(&mut self, line: LineAddr, now: u64) -> Option<Mshr> {
        let m = self.find(line, now)?;
        m.targets += 1;
        let m = *m;
        self.most_targets = self.most_targets.max(m.targets);
        Some(m)
    }

    pub fn push(&mut self, m: Mshr) {
        self.most_targets = self.most_targets.max(m.targets);
        self.entries.push(m);
    }

    fn live(&self, now: u64) -> impl Iterator<Item = &Mshr> {
        self.entries.iter().filter(move |m| m.alloc_at <= now && m.resp_at > now)
    }

    /// When a full file has a register free again; `None`: now.
    pub fn full_until(&self, now: u64) -> Option<u64> {
        self.below_from(self.limit, now)
    }

    /// When one of `limit` registers or more is free again; `None`: fewer are in use.
    pub fn below_from(&self, limit: usize, now: u64) -> Option<u64> {
        if self.entries.len() < limit || self.live(now).count() < limit {
            return None;
        }
        self.live(now).map(|m| m.resp_at).min()
    }

    /// When the last register with no target to spare has been answered; `None`: all have.
    pub fn targets_full_until(&self, now: u64) -> Option<u64> {
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
        if self.entries.iter().any(|m| m.targets > self.most_targets) {
            return Err(format!("an MSHR has more targets than the {} known of", self.most_targets));
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
        let m = f.allocated(line(0x40)).expect("it is there");
        (m.state, m.resp_at) = (MshrState::Sent, 100);
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
