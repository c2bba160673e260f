//! Why a commit slot stays empty: what the cycle account is charged with.

use super::inst::{Note, State, Wait};
use super::pipeline::Pipeline;
use super::seq::Seq;
use super::{commit, decode, fetch};
use crate::account::Reason;

impl Pipeline {
    #[inline]
    pub(super) fn reason(&self) -> Reason {
        let (head, refill) = (self.io.ring.head(), self.commit.refill());
        if head < self.commit.rob_end() {
            let reason = self.reason_of_head(head);
            if !matches!(reason, Reason::Execution | Reason::Level1) {
                return reason;
            }
            // A squash has taken what could have hidden such a latency: the first micro-op after it has the pipeline to itself.
            return match refill {
                Some((squash, after)) if head > after => squash,
                // The window hides it while the front end delivers less than could be taken.
                _ if !self.starved() => reason,
                Some((squash, _)) => squash,
                None => self.reason_of_fetch(),
            };
        }
        if let Some((squash, _)) = refill {
            return squash;
        }
        match self.commit.status() {
            commit::Status::TrapPending | commit::Status::FlushPending => return Reason::Serialize,
            _ => {}
        }
        if self.rename.status() == decode::Status::SerializeStall {
            let for_stores = self.rename.waits_for_stores() && self.lsq.has_stores_to_write();
            return if for_stores { Reason::StoreQueue } else { Reason::Serialize };
        }
        self.reason_of_fetch()
    }

    /// Rename has taken everything there is, and less is on its way than it could take.
    fn starved(&self) -> bool {
        let on_its_way = self.decode.next() - self.rename.next();
        self.rename.status() == decode::Status::Running
            && self.rename.next() == self.rename.end()
            && on_its_way < u64::from(self.io.rules.widths.rename) * self.io.rules.delays.decode_to_rename
            && !matches!(self.fetch.status(), fetch::Status::Stopped | fetch::Status::Serializing)
    }

    fn reason_of_fetch(&self) -> Reason {
        match self.fetch.status() {
            fetch::Status::WaitCache | fetch::Status::Retry => Reason::FetchCache,
            fetch::Status::Translating => Reason::FetchTlb,
            fetch::Status::Stopped | fetch::Status::Serializing => Reason::Serialize,
            _ => Reason::FrontEnd,
        }
    }

    fn reason_of_head(&self, head: Seq) -> Reason {
        let ring = &self.io.ring;
        let bits = ring.state(head);
        if bits.intersects(State::DONE) {
            return Reason::Execution;
        }
        if ring.note(head).intersects(Note::REPLAYED) {
            return Reason::Replay;
        }
        if bits.intersects(State::NON_SPEC) && !bits.intersects(State::ISSUED) {
            return if self.lsq.has_stores_to_write() { Reason::StoreQueue } else { Reason::Serialize };
        }
        match ring.wait(head) {
            Wait::Execution => Reason::Execution,
            Wait::Unit => Reason::Unit,
            Wait::Level1 => Reason::Level1,
            Wait::Level2 => Reason::Level2,
            Wait::Level3 => Reason::Level3,
            Wait::Memory => Reason::Memory,
            Wait::TlbWalk => Reason::TlbWalk,
            Wait::Split => Reason::Split,
            Wait::ForwardFail => Reason::ForwardFail,
            Wait::Replay => Reason::Replay,
            Wait::StoreQueue => Reason::StoreQueue,
            Wait::Serialize => Reason::Serialize,
        }
    }
}
