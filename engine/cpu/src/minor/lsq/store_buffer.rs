//! The store buffer: committed stores and barriers, in order, on their way to memory.

use super::request::{Coverage, LsqRequest, State};
use super::{Lsq, When};
use crate::outside::Outside;

impl Lsq {
    #[inline]
    pub fn can_push_into_store_buffer(&self) -> bool {
        self.stores.len() < self.p.store_buffer_size
    }

    /// A committed store (or barrier) enters.
    pub(super) fn insert_store(&mut self, slot: u8) {
        self.unissued += 1;
        let r = &mut self.pool[slot as usize];
        if r.state != State::Complete {
            r.state = State::StoreInStoreBuffer;
        }
        self.stores.push(slot);
        self.wake = true;
    }

    /// What the youngest overlapping store has of what `load` wants.
    pub(super) fn forwarding(&self, load: &LsqRequest) -> Coverage {
        for i in (0..self.stores.len()).rev() {
            if let Some(&slot) = self.stores.get(i) {
                let coverage = self.pool[slot as usize].covers(load);
                if coverage != Coverage::None {
                    return coverage;
                }
            }
        }
        Coverage::None
    }

    /// A store's last response has come.
    pub(super) fn remove_store(&mut self, slot: u8) {
        let found = self.stores.iter().position(|s| *s == slot);
        if let Some(i) = found {
            self.stores.remove(i);
            self.release(slot);
        }
    }

    /// One cycle of the store buffer: clears barriers at its head, sends stores in order.
    #[inline]
    pub(super) fn step_store_buffer<X: Outside>(&mut self, when: &When, cx: &mut X) {
        if self.unissued != 0 && (self.can_send(when.cycle) || self.barrier_is_first()) {
            self.work_on_stores(when, cx);
        }
    }

    #[inline]
    pub(super) fn barrier_is_first(&self) -> bool {
        self.stores.front().is_some_and(|slot| self.pool[*slot as usize].barrier)
    }

    fn work_on_stores<X: Outside>(&mut self, when: &When, cx: &mut X) {
        if self.port.retry_at != super::NEVER {
            return;
        }
        while let Some(&slot) = self.stores.front() {
            let r = &self.pool[slot as usize];
            if !(r.is_complete() && r.barrier) {
                break;
            }
            let seq = r.seq;
            self.unissued -= 1;
            self.clear_barrier(seq);
            self.stores.pop();
            self.release(slot);
        }
        let mut sent = 0;
        let mut i = 0;
        while sent < self.p.stores_per_cycle && self.can_send(when.cycle) {
            let Some(&slot) = self.stores.get(i) else { break };
            let r = &self.pool[slot as usize];
            if r.barrier && r.is_complete() {
                break;
            }
            if !(r.state == State::StoreBufferIssuing && r.sent_all()) {
                let barrier = r.barrier;
                // A store that has not been sent whole holds up those behind it: their order stays.
                if !self.try_to_send(slot, when, cx) {
                    break;
                }
                // A barrier is counted when it is cleared.
                self.unissued -= u32::from(!barrier);
                sent += 1;
            }
            i += 1;
        }
    }
}
