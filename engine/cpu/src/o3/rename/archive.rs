//! Rename's state in relative form.

use super::credits::Credits;
use super::registers::Registers;
use super::Rename;
use crate::memo::archive::Archive;
use crate::o3::decode::Status;
use crate::o3::inst::archive_producer;

impl Rename {
    pub fn archive(&mut self, a: &mut Archive) {
        let Self {
            status,
            stalled,
            next,
            end,
            registers,
            credits,
            serialize,
            serialize_done,
            serialize_next,
            retired,
            stall_until,
            stats: _,
        } = self;
        a.one_of(status, &Status::ALL);
        a.flag(stalled);
        a.seq(next);
        a.seq(end);
        registers.archive(a);
        credits.archive(a);
        a.seq_in_flight(serialize);
        // What has left is not renamed again.
        a.seq_in_flight(serialize_done);
        a.flag(serialize_next);
        a.seq(retired);
        a.seq_or_none(stall_until);
    }
}

impl Registers {
    fn archive(&mut self, a: &mut Archive) {
        let Self { map, free, freeing } = self;
        map[..breakeven_base::Reg::COUNT].iter_mut().for_each(|from| archive_producer(from, a));
        a.refuse(map[breakeven_base::Reg::COUNT..].iter().any(|from| from.is_some()));
        free.iter_mut().chain(freeing).for_each(|n| a.u32(n));
    }
}

impl Credits {
    fn archive(&mut self, a: &mut Archive) {
        let Self { rob, queues, rob_empty, in_progress, in_progress_rob, loads, stores } = self;
        a.i64(rob);
        queues.iter_mut().for_each(|n| a.i64(n));
        a.flag(rob_empty);
        [in_progress, in_progress_rob, loads, stores].into_iter().for_each(|n| a.i64(n));
    }
}
