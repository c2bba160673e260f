//! Free entries of the ROB and of the queues, as rename knows them.

use crate::o3::config::O3Config;
use crate::o3::wires::{Dispatched, ToRename};

/// What rename knows of the free entries behind it.
#[derive(Clone, Copy, Debug)]
pub struct Credits {
    /// Free entries as reported last: ROB; issue, load and store queue.
    pub rob: i64,
    pub queues: [i64; 3],
    pub rob_empty: bool,
    /// Renamed and not dispatched: micro-ops, loads, stores (below); those with a ROB entry until `rob` has counted it, too.
    pub in_progress: i64,
    pub in_progress_rob: i64,
    pub loads: i64,
    pub stores: i64,
}

impl Credits {
    pub fn new(cfg: &O3Config) -> Self {
        Credits {
            rob: i64::from(cfg.numROBEntries),
            queues: [cfg.queues().iter().map(|q| q.0).sum(), cfg.LQEntries, cfg.SQEntries].map(i64::from),
            rob_empty: true,
            in_progress: 0,
            in_progress_rob: 0,
            loads: 0,
            stores: 0,
        }
    }

    #[inline]
    pub fn room_in_rob(&self) -> i64 {
        self.rob - self.in_progress_rob
    }
    #[inline]
    pub fn room_in_iq(&self) -> i64 {
        self.queues[0] - self.in_progress
    }
    #[inline]
    pub fn room_for_loads(&self) -> i64 {
        self.queues[1] - self.loads
    }
    #[inline]
    pub fn room_for_stores(&self) -> i64 {
        self.queues[2] - self.stores
    }

    /// The ROB is empty and nothing is on its way to it.
    #[inline]
    pub fn drained(&self) -> bool {
        self.rob_empty && self.in_progress == 0 && self.in_progress_rob == 0
    }

    #[inline]
    pub fn update(&mut self, wire: &ToRename) {
        if let Some([iq, lq, sq]) = wire.free_queues {
            self.queues = [iq.into(), lq.into(), sq.into()];
        }
        if let Some((free, empty)) = wire.free_rob {
            self.rob = i64::from(free);
            self.rob_empty = empty;
        }
        self.take_off(&wire.dispatched);
    }

    /// These are no longer on their way to dispatch.
    #[inline]
    pub fn take_off(&mut self, dispatched: &Dispatched) {
        self.in_progress -= i64::from(dispatched.uops);
        self.in_progress_rob -= i64::from(dispatched.rob);
        self.loads -= i64::from(dispatched.loads);
        self.stores -= i64::from(dispatched.stores);
    }
}
