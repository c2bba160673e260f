//! What the queue waits for, for the account of cycles and the deadlock report.

use super::request::{Coverage, State};
use super::{Lsq, Slots, NEVER};
use crate::account::Reason;
use crate::minor::inst::Seq;
use breakeven_base::Cycle;

impl Lsq {
    /// What the reference of the oldest instruction waits for; `levels`: caches in front of the memory.
    pub fn waits_for(&self, seq: Seq, now: Cycle, levels: u8) -> Reason {
        let here = self.transfers.iter().chain(self.requests.iter());
        let Some(r) = here.map(|&slot| &self.pool[slot as usize]).find(|r| r.seq == seq) else {
            return Reason::Execution;
        };
        let of_level = |level| match level {
            0 => Reason::Level1,
            n if n >= levels => Reason::Memory,
            1 => Reason::Level2,
            _ => Reason::Level3,
        };
        match r.state {
            State::InTranslation => Reason::TlbWalk,
            State::StoreToStoreBuffer | State::StoreInStoreBuffer => Reason::StoreQueue,
            State::RequestIssuing
                if r.fragments.level == 0 && (r.fragments.issued > 1 || !r.sent_all() || r.fragments.extra > 0) =>
            {
                Reason::Split
            }
            State::RequestIssuing => of_level(r.fragments.level),
            State::RequestNeedsRetry => Reason::Memory,
            State::Translated if self.stores_in_transfers != 0 => Reason::StoreQueue,
            State::Translated if r.is_load && self.forwarding(r) == Coverage::Partial => Reason::ForwardFail,
            State::Translated if now < self.port.free_from => Reason::Split,
            // Its turn comes when one of those in memory is done; they may be stores that miss.
            State::Translated => of_level(
                self.port
                    .in_memory
                    .iter()
                    .map(|(_, slot)| self.pool[*slot as usize].fragments.level)
                    .max()
                    .unwrap_or(0),
            ),
            _ => Reason::Execution,
        }
    }

    /// What each queue holds, for the deadlock report.
    pub fn describe(&self) -> String {
        let list = |ring: &Slots| {
            let parts: Vec<String> = ring
                .iter()
                .map(|s| {
                    let r = &self.pool[*s as usize];
                    format!("{} {:?} {:#x} {:?}", r.seq, r.mem.kind, r.mem.vaddr, r.state)
                })
                .collect();
            if parts.is_empty() {
                "empty".to_owned()
            } else {
                parts.join(", ")
            }
        };
        let response = match self.port.next_response {
            NEVER => "no response due".to_owned(),
            at => format!("next response at cycle {at}"),
        };
        format!(
            "requests: {}; transfers: {}; store buffer: {}; {} in memory ({response}); barrier {}",
            list(&self.requests),
            list(&self.transfers),
            list(&self.stores),
            self.port.in_memory.len(),
            self.last_barrier,
        )
    }
}
