//! Miss status holding registers: outstanding lines, their targets, and when the file is full.

use breakeven_base::{PhysAddr, Tick};
use educe::Educe;

use crate::layer::Slot;
use crate::line::LineAddr;
use crate::packet::Pkt;
use crate::prefetch::Access;

/// Where a miss is at some time ([`Mshr::state`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MshrState {
    /// Not sent yet: other accesses join it ([`super::wait`]).
    Allocated,
    /// The level below has it.
    Sent,
    /// The line is there, the register free.
    Filled,
}

/// What an MSHR has as long as it has not been sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsent {
    /// Mask of the bytes that its stores have written so far.
    pub written: u128,
    /// The first target.
    pub first: Pkt,
    /// Its slot on the bus begins at [`Mshr::resp_at`], so many ticks before the crossbar's next clock edge.
    pub offset: u64,
    /// Number and sum of arrival times of its targets: of those at the first one's address, and of the others.
    pub arrivals: [(u64, u64); 2],
    /// The core's access, on which prefetchers of lower levels train.
    pub trigger: Access,
}

/// One outstanding line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mshr {
    pub line: LineAddr,
    pub alloc_at: Tick,
    /// Sent: when the response arrives and the register is free. Allocated: when it may be sent.
    pub resp_at: Tick,
    /// Ticks from the critical word to the rest of the line: what targets at another offset wait for.
    pub payload: u64,
    /// Of the first target.
    pub addr: PhysAddr,
    pub targets: u32,
    pub level: u8,
    /// Until it is sent.
    pub unsent: Option<Unsent>,
}

impl Mshr {
    /// Its state at `now`.
    pub fn state(&self, now: Tick) -> MshrState {
        match self.unsent {
            Some(_) => MshrState::Allocated,
            None if self.resp_at <= now => MshrState::Filled,
            None => MshrState::Sent,
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
    first_response: Tick,
    /// No register is allocated later.
    last_alloc: Tick,
    /// Registers filled by then have been freed.
    retired: Tick,
    /// When the first of those that have not been sent may be; [`Tick::MAX`]: all have been sent.
    next_send: Tick,
}
impl MshrFile {
    pub fn new(limit: u32, max_targets: u32) -> Self {
        let entries = Vec::with_capacity(limit as usize + 1);
        let (first_response, next_send) = (Tick::MAX, Tick::MAX);
        MshrFile {
            entries,
            limit: limit as usize,
            max_targets,
            full: 0,
            first_response,
            last_alloc: Tick::ZERO,
            retired: Tick::ZERO,
            next_send,
        }
    }

    /// Frees registers whose response has arrived by `now`; no later call is about an earlier time.
    #[inline]
    pub fn retire(&mut self, now: Tick) {
        self.retired = now;
        if self.first_response <= now {
            self.retire_some(now);
        }
    }

    #[inline(never)]
    fn retire_some(&mut self, now: Tick) {
        let (mut full, mut first) = (0, Tick::MAX);
        let max_targets = self.max_targets;
        self.entries.retain(|m| {
            let stays = m.resp_at > now || m.unsent.is_some();
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

    /// Whether a register waits for one of these lines.
    pub fn waits_for_any(&self, lines: &[LineAddr], now: Tick) -> bool {
        self.entries.iter().any(|m| lines.contains(&m.line) && (m.resp_at > now || m.unsent.is_some()))
    }

    /// The register that waits for `line` at `now`.
    #[inline]
    pub fn find(&self, line: LineAddr, now: Tick) -> Option<&Mshr> {
        self.entries.iter().find(|m| m.line == line && m.resp_at > now)
    }

    /// The register of `line` that has not been sent.
    pub fn unsent(&self, line: LineAddr) -> Option<&Unsent> {
        self.entries.iter().find(|m| m.line == line && m.unsent.is_some())?.unsent.as_ref()
    }

    /// When the first of those that have not been sent may be; `None`: all have been sent.
    #[inline]
    pub fn next_send(&self) -> Option<Tick> {
        (self.next_send != Tick::MAX).then_some(self.next_send)
    }

    /// Whether a register may be sent by `now`.
    #[inline]
    pub fn may_send(&self, now: Tick) -> bool {
        self.next_send <= now
    }

    /// The number of the first register from `from` on that has not been sent, its line, and when it may be sent.
    pub fn next_unsent(&self, from: usize) -> Option<(usize, LineAddr, Tick)> {
        let i = from + self.entries.get(from..)?.iter().position(|m| m.unsent.is_some())?;
        Some((i, self.entries[i].line, self.entries[i].resp_at))
    }

    /// Register number `i`, which has not been sent: its slot on the bus, and what else is to be sent.
    pub fn to_send(&self, i: usize) -> Option<(Slot, Unsent)> {
        let m = self.entries.get(i)?;
        let unsent = m.unsent?;
        Some((Slot { start: m.resp_at, offset: unsent.offset }, unsent))
    }

    /// The times at which registers may be sent have changed.
    pub fn note_next_send(&mut self) {
        let unsent = self.entries.iter().filter(|m| m.unsent.is_some());
        self.next_send = unsent.map(|m| m.resp_at).min().unwrap_or(Tick::MAX);
    }

    /// A response that was to come at `before` comes at `at`.
    fn moved(&mut self, before: Tick, at: Tick) {
        if at < self.first_response {
            self.first_response = at;
        } else if before == self.first_response {
            self.first_response = self.entries.iter().map(|m| m.resp_at).min().unwrap_or(Tick::MAX);
        }
    }

    /// Register number `i`, which has not been sent, has this slot on the bus from now on.
    pub fn postpone(&mut self, i: usize, slot: Slot) {
        let m = &mut self.entries[i];
        let before = std::mem::replace(&mut m.resp_at, slot.start);
        if let Some(unsent) = &mut m.unsent {
            unsent.offset = slot.offset;
        }
        self.moved(before, slot.start);
    }

    /// Register number `i` has been sent; `resp_at`, `payload`, `level`: of the response. When it was allocated.
    pub fn sent(&mut self, i: usize, resp_at: Tick, payload: u64, level: u8) -> Tick {
        let m = &mut self.entries[i];
        let (before, alloc_at) = (m.resp_at, m.alloc_at);
        (m.unsent, m.resp_at, m.payload, m.level) = (None, resp_at, payload, level);
        self.moved(before, resp_at);
        alloc_at
    }

    /// One more target, `pkt`, of the register of `line` that has not been sent: `written` are its bytes. When it may be sent,
    /// and whether its target list is full now; `None`: there is no such register.
    pub fn join_unsent(&mut self, line: LineAddr, pkt: &Pkt, written: u128, at: Tick) -> Option<(Tick, bool)> {
        let m = self.entries.iter_mut().find(|m| m.line == line && m.unsent.is_some())?;
        let unsent = m.unsent.as_mut()?;
        unsent.written |= written;
        let (n, sum) = &mut unsent.arrivals[usize::from(pkt.addr != unsent.first.addr)];
        *n += 1;
        *sum += at.0;
        m.targets += 1;
        let (start, targets) = (m.resp_at, m.targets);
        self.full += usize::from(targets == self.max_targets);
        Some((start, targets >= self.max_targets))
    }

    /// One more target of the register that waits for `line` at `now`; the register.
    pub fn join(&mut self, line: LineAddr, now: Tick) -> Option<&Mshr> {
        let m = self.entries.iter_mut().find(|m| m.line == line && m.resp_at > now)?;
        m.targets += 1;
        self.full += usize::from(m.targets == self.max_targets);
        Some(m)
    }

    pub fn push(&mut self, m: Mshr) {
        self.full += usize::from(m.targets >= self.max_targets);
        self.first_response = self.first_response.min(m.resp_at);
        self.last_alloc = self.last_alloc.max(m.alloc_at);
        if m.unsent.is_some() {
            self.next_send = self.next_send.min(m.resp_at);
        }
        self.entries.push(m);
    }

    fn live(&self, now: Tick) -> impl Iterator<Item = &Mshr> {
        self.entries.iter().filter(move |m| m.alloc_at <= now && m.resp_at > now)
    }

    /// When a full file has a register free again; `None`: now.
    #[inline]
    pub fn full_until(&self, now: Tick) -> Option<Tick> {
        self.below_from(self.limit, now)
    }

    /// When one of `limit` registers or more is free again; `None`: fewer are in use.
    pub fn below_from(&self, limit: usize, now: Tick) -> Option<Tick> {
        if self.entries.len() < limit {
            return None;
        }
        if self.last_alloc <= now && now < self.first_response {
            // All of them are in use.
            return (self.first_response != Tick::MAX).then_some(self.first_response);
        }
        let (used, first) = self.live(now).fold((0, Tick::MAX), |(n, first), m| (n + 1, first.min(m.resp_at)));
        (used >= limit && used > 0).then_some(first)
    }

    /// When the last register with no target to spare has been answered; `None`: all have.
    pub fn targets_full_until(&self, now: Tick) -> Option<Tick> {
        if self.full == 0 {
            return None;
        }
        self.live(now).filter(|m| m.targets >= self.max_targets).map(|m| m.resp_at).max()
    }

    pub fn describe(&self, now: Tick) -> String {
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

    pub fn audit(&self, now: Tick) -> Result<(), String> {
        let full = self.entries.iter().filter(|m| m.targets >= self.max_targets).count();
        if full != self.full {
            return Err(format!("{full} MSHRs have no target to spare, {} are known of", self.full));
        }
        let first = self.entries.iter().map(|m| m.resp_at).min().unwrap_or(Tick::MAX);
        if first != self.first_response || self.entries.iter().any(|m| m.alloc_at > self.last_alloc) {
            return Err(format!("MSHRs: first response {first}, not {}, or allocated late", self.first_response));
        }
        let freed = self.retired.min(now);
        let filled = self.entries.iter().filter(|m| m.state(freed) == MshrState::Filled).count();
        if filled > 0 {
            return Err(format!("{filled} MSHRs have been filled by {freed} and are kept"));
        }
        let next_send = self.entries.iter().filter(|m| m.unsent.is_some()).map(|m| m.resp_at).min();
        if next_send != self.next_send() {
            return Err(format!("the next MSHR is sent at {next_send:?}, not {:?}", self.next_send()));
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
    use crate::packet::Cmd;

    fn line(addr: u64) -> LineAddr {
        LineAddr::of(PhysAddr(addr), 64)
    }

    fn mshr(addr: u64, alloc_at: u64, resp_at: u64) -> Mshr {
        let (alloc_at, resp_at) = (Tick(alloc_at), Tick(resp_at));
        Mshr {
            line: line(addr),
            alloc_at,
            resp_at,
            payload: 0,
            addr: PhysAddr(addr),
            targets: 1,
            level: 1,
            unsent: None,
        }
    }

    fn unsent(addr: u64, alloc_at: u64, sent_at: u64) -> Mshr {
        let first = Pkt::new(Cmd::WriteReq, PhysAddr(addr), 8, 0);
        let trigger = Access { addr: PhysAddr(addr), pc: 0, requestor: 0 };
        let unsent = Unsent { written: 0xff, first, offset: 0, arrivals: [(1, alloc_at), (0, 0)], trigger };
        Mshr { unsent: Some(unsent), ..mshr(addr, alloc_at, sent_at) }
    }

    /// A store of eight bytes to `addr`.
    fn joins(f: &mut MshrFile, addr: u64) -> Option<(Tick, bool)> {
        f.join_unsent(line(addr), &Pkt::new(Cmd::WriteReq, PhysAddr(addr), 8, 0), 0xff << (addr & 63), Tick::ZERO)
    }

    #[test]
    fn a_register_is_allocated_then_sent_then_filled() {
        let mut f = MshrFile::new(2, 3);
        f.push(unsent(0x40, 10, 20));
        // It may be sent at 20, and has not been: it stays.
        f.retire(Tick(30));
        assert_eq!(
            (f.entries[0].state(Tick(30)), f.next_unsent(0)),
            (MshrState::Allocated, Some((0, line(0x40), Tick(20))))
        );
        assert!(f.may_send(Tick(20)) && !f.may_send(Tick(19)) && f.audit(Tick(30)) == Ok(()));
        assert_eq!(joins(&mut f, 0x48), Some((Tick(20), false)));
        assert_eq!(f.unsent(line(0x40)).map(|u| (u.written, u.arrivals)), Some((0xffff, [(1, 10), (1, 0)])));
        assert_eq!(f.sent(0, Tick(100), 0, 1), Tick(10));
        f.note_next_send();
        assert!(f.unsent(line(0x40)).is_none() && f.next_send().is_none() && joins(&mut f, 0x40).is_none());
        let m = *f.find(line(0x40), Tick(30)).expect("it is on its way");
        assert_eq!([m.state(Tick(30)), m.state(Tick(100))], [MshrState::Sent, MshrState::Filled]);
        f.retire(Tick(99));
        assert_eq!(f.entries.len(), 1);
        f.retire(Tick(100));
        assert!(f.entries.is_empty() && f.audit(Tick(100)) == Ok(()));
    }

    #[test]
    fn a_register_that_is_postponed_keeps_the_file_full_for_longer() {
        let mut f = MshrFile::new(1, 3);
        f.push(unsent(0x40, 10, 20));
        assert_eq!(f.full_until(Tick(15)), Some(Tick(20)));
        f.postpone(0, Slot { start: Tick(50), offset: 3 });
        f.note_next_send();
        assert_eq!((f.full_until(Tick(15)), f.next_send()), (Some(Tick(50)), Some(Tick(50))));
        assert_eq!(f.to_send(0).map(|(slot, _)| (slot.start, slot.offset)), Some((Tick(50), 3)));
        assert_eq!(f.audit(Tick(15)), Ok(()));
    }

    #[test]
    fn full_until_the_first_answer() {
        let mut f = MshrFile::new(2, 3);
        f.push(mshr(0x40, 10, 100));
        assert_eq!(f.full_until(Tick(20)), None);
        f.push(mshr(0x80, 20, 90));
        assert_eq!(f.full_until(Tick(15)), None);
        assert_eq!(f.full_until(Tick(20)), Some(Tick(90)));
        assert_eq!(f.full_until(Tick(90)), None);
        f.retire(Tick(95));
        assert!(f.find(line(0x80), Tick(0)).is_none() && f.find(line(0x40), Tick(0)).is_some());
    }

    #[test]
    fn targets_run_out() {
        let mut f = MshrFile::new(4, 2);
        f.push(mshr(0x40, 10, 100));
        assert_eq!(f.targets_full_until(Tick(20)), None);
        assert!(
            f.join(line(0x40), Tick(20)).is_some_and(|m| m.targets == 2) && f.join(line(0x40), Tick(100)).is_none()
        );
        assert_eq!(f.targets_full_until(Tick(20)), Some(Tick(100)));
        assert_eq!(f.audit(Tick(20)), Ok(()));
        assert!(f.join(line(0x40), Tick(20)).is_some());
        assert!(f.audit(Tick(20)).is_err());
    }

    #[test]
    fn room_is_known_without_looking_at_each() {
        let mut f = MshrFile::new(2, 2);
        f.push(mshr(0x40, 10, 100));
        assert!(f.has_room());
        f.push(mshr(0x80, 20, 90));
        assert!(!f.has_room(), "no register");
        f.retire(Tick(95));
        assert!(f.has_room());
        f.join(line(0x40), Tick(96));
        assert!(!f.has_room() && f.targets_full_until(Tick(96)) == Some(Tick(100)), "no target");
        f.retire(Tick(100));
        f.push(unsent(0x40, 110, 200));
        assert!(f.has_room() && joins(&mut f, 0x80).is_none());
        assert_eq!(joins(&mut f, 0x40), Some((Tick(200), true)));
        assert!(!f.has_room() && f.audit(Tick(120)) == Ok(()));
    }
}
