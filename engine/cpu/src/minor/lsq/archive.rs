//! The load-store queue in relative form. Which places of the pool requests have means nothing.

use breakeven_base::{Cycle, MemRef};

use super::request::{Fragments, LsqRequest, State};
use super::{Lsq, Params, Slots, NEVER};
use crate::memo::archive::{AddressRules, Archive};
use crate::minor::pipe::STREAMS;

const STATES: [State; 10] = [
    State::InTranslation,
    State::Translated,
    State::RequestIssuing,
    State::RequestNeedsRetry,
    State::StoreToStoreBuffer,
    State::StoreInStoreBuffer,
    State::StoreBufferIssuing,
    State::StoreBufferNeedsRetry,
    State::Failed,
    State::Complete,
];

impl Lsq {
    /// What of addresses the queue looks at.
    pub fn address_rules(&self) -> AddressRules {
        let Params { width, line, costs, .. } = self.p;
        let granule = if width < line { width.into() } else { 1 };
        AddressRules {
            line: line.into(),
            granule,
            costs: costs.granules(line).map(u64::from),
            apart: 1,
            physical: true,
        }
    }

    pub fn archive(&mut self, a: &mut Archive) {
        let Self {
            p: _,
            pool,
            free,
            requests,
            transfers,
            stores,
            port,
            next_translation,
            stores_in_transfers,
            unissued,
            last_barrier,
            wake,
            wake_later,
            forwarded: _,
        } = self;
        let queues = [requests, transfers, stores];
        let mut first = 0;
        let order: Vec<u8> =
            if a.loads() { Vec::new() } else { queues.iter().flat_map(|q| q.iter().copied()).collect() };
        for queue in queues {
            first = archive_queue(queue, pool, first, a);
        }
        if a.loads() {
            free.clear();
            #[allow(clippy::cast_possible_truncation)] // a slot number fits a byte
            free.extend((first..pool.len()).rev().map(|slot| slot as u8));
        }
        // Places in the order of the queues stand for places of the pool.
        let place = |slot: u8| order.iter().position(|s| *s == slot);
        let is_known = port.in_memory.iter().all(|(_, slot)| place(*slot).is_some());
        a.refuse(!a.loads() && !is_known);
        if !a.loads() {
            port.in_memory.sort_unstable_by_key(|(at, slot)| (*at, place(*slot)));
        }
        #[allow(clippy::cast_possible_truncation)] // a slot number fits a byte
        let number = |slot: &mut u8, a: &mut Archive| {
            let mut n = if a.loads() { 0 } else { place(*slot).unwrap_or(0) as u8 };
            a.u8(&mut n);
            if a.loads() {
                *slot = n;
            }
        };
        a.list(&mut port.in_memory, (Cycle::ZERO, 0), |a, (at, slot)| {
            a.cycle(at);
            number(slot, a);
        });
        port.next_response = port.in_memory.iter().map(|(at, _)| *at).min().unwrap_or(NEVER);
        a.cycle(&mut port.retry_at);
        if port.retry_at != NEVER {
            number(&mut port.retry_slot, a);
        }
        a.cycle(&mut port.free_from);
        a.cycle(next_translation);
        a.u32(stores_in_transfers);
        a.u32(unissued);
        a.seq_or_none(last_barrier);
        a.flag(wake);
        a.flag(wake_later);
    }
}

/// A queue, whose requests are read into the pool from place `first` on; the place behind them.
#[allow(clippy::cast_possible_truncation)] // a slot number fits a byte
fn archive_queue(queue: &mut Slots, pool: &mut [LsqRequest], first: usize, a: &mut Archive) -> usize {
    let mut place = first;
    queue.archive(a, |a, slot| {
        if a.loads() {
            *slot = place as u8;
            pool[place] = LsqRequest::default();
        }
        pool[usize::from(*slot)].archive(a);
        place += 1;
    });
    place
}

impl LsqRequest {
    fn archive(&mut self, a: &mut Archive) {
        let Self {
            seq,
            pc,
            mem,
            stream,
            state,
            is_load,
            bufferable,
            barrier,
            non_temporal,
            barrier_only,
            translated,
            fragments: Fragments { first, sent, issued, retired, level, extra, slots },
        } = self;
        a.seq(seq);
        let index = STATES.iter().position(|s| s == state).unwrap_or(0) as u8;
        let flags = u8::from(*is_load)
            | u8::from(*bufferable) << 1
            | u8::from(*barrier) << 2
            | u8::from(*non_temporal) << 3
            | u8::from(*barrier_only) << 4;
        let mut word = [index, flags, *issued, *retired, *level, 0, 0, 0];
        a.word(&mut word);
        let [index, flags, ..] = word;
        [_, _, *issued, *retired, *level, ..] = word;
        *state = STATES[usize::from(index) % STATES.len()];
        let flag = |bit: u8| flags >> bit & 1 != 0;
        (*is_load, *bufferable, *barrier, *non_temporal, *barrier_only) = (flag(0), flag(1), flag(2), flag(3), flag(4));
        if *barrier_only {
            a.empty(mem, MemRef::default());
            return;
        }
        a.u64(pc);
        a.reference(*seq, mem);
        a.number32(STREAMS, stream);
        a.u16(first);
        a.u16(sent);
        a.u32(extra);
        a.u32(slots);
        if *state == State::InTranslation {
            a.cycle(translated);
        }
    }
}
