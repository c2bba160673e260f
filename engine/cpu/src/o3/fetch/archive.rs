//! Fetch's state in relative form.

use super::block::Buffer;
use super::loops::LoopBuffer;
use super::redirect::Redirection;
use super::{Fetch, Status};
use crate::memo::archive::Archive;
use breakeven_base::Cycle;

const STATUSES: [Status; 9] = [
    Status::Running,
    Status::Squashing,
    Status::Translating,
    Status::Retry,
    Status::WaitCache,
    Status::Complete,
    Status::Stopped,
    Status::Target,
    Status::Serializing,
];

impl Fetch {
    pub fn archive(&mut self, a: &mut Archive) {
        let Self {
            status,
            pc,
            buffer,
            at,
            redirection,
            serializing,
            stalled,
            loops,
            targets,
            first_decoder,
            step: _,
            queue,
            decode_slots,
            path,
            stats: _,
        } = self;
        a.one_of(status, &STATUSES);
        a.u64(pc);
        let Buffer { block, paddr, valid, second_half } = buffer;
        a.u64(block);
        a.u64(&mut paddr.0);
        a.flag(valid);
        a.flag(second_half);
        if matches!(*status, Status::Translating | Status::Retry | Status::WaitCache | Status::Target) {
            a.cycle(at);
        } else {
            a.empty(at, Cycle::MAX);
        }
        let Redirection { at: redirected, correction } = redirection;
        if a.present(correction.is_some()) {
            let (mut seq, mut target) = correction.unwrap_or_default();
            a.seq(&mut seq);
            a.u64(&mut target);
            *correction = Some((seq, target));
        } else {
            *correction = None;
        }
        if correction.is_some() || *status == Status::Squashing {
            a.cycle_then(redirected);
        }
        a.seq_in_flight(serializing);
        a.flag(stalled);
        let LoopBuffer { start, end, on } = loops;
        a.u64(start);
        a.u64(end);
        a.flag(on);
        targets.archive(a);
        a.flag(first_decoder);
        a.seq(queue);
        a.u32(decode_slots);
        path.archive(a);
    }
}
