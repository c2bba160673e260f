//! The load-store queue's statistics, under gem5's names.

use breakeven_base::stats::Unit;
use breakeven_base::StatSink;

use super::Lsq;

#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub forw_loads: u64,
    pub squashed_loads: u64,
    pub squashed_stores: u64,
    pub mem_order_violation: u64,
    pub rescheduled_loads: u64,
    pub blocked_by_cache: u64,
    pub alias_matches: u64,
    pub split_accesses: u64,
    pub inserted_loads: u64,
    pub inserted_stores: u64,
    pub conflicting_loads: u64,
    pub conflicting_stores: u64,
}

impl Lsq {
    /// The queue's statistics (gem5 `lsq0`).
    pub fn collect(&self, sink: &mut StatSink) {
        let c = &self.counts;
        let mut count = |name, value, desc| sink.count(name, value, Unit::Count, desc);
        count("forwLoads", c.forw_loads, "Number of loads that had data forwarded from stores");
        count("squashedLoads", c.squashed_loads, "Number of loads squashed");
        count("squashedStores", c.squashed_stores, "Number of stores squashed");
        count("memOrderViolation", c.mem_order_violation, "Number of memory ordering violations");
        count("rescheduledLoads", c.rescheduled_loads, "Number of loads that were rescheduled");
        count("blockedByCache", c.blocked_by_cache, "Number of times an access was refused by the cache");
        count("aliasMatches", c.alias_matches, "Number of loads that only the low address bits tied to a store");
        count("splitAccesses", c.split_accesses, "Number of accesses sent in two packets");
    }

    /// The memory-dependence unit's (gem5 `MemDepUnit__0`).
    pub fn collect_mem_dep(&self, sink: &mut StatSink) {
        let c = &self.counts;
        let mut count = |name, value, desc| sink.count(name, value, Unit::Count, desc);
        count("insertedLoads", c.inserted_loads, "Number of loads inserted to the mem dependence unit.");
        count("insertedStores", c.inserted_stores, "Number of stores inserted to the mem dependence unit.");
        count("conflictingLoads", c.conflicting_loads, "Number of conflicting loads.");
        count("conflictingStores", c.conflicting_stores, "Number of conflicting stores.");
    }

    /// Every count, in one order.
    pub fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        let Counts {
            forw_loads,
            squashed_loads,
            squashed_stores,
            mem_order_violation,
            rescheduled_loads,
            blocked_by_cache,
            alias_matches,
            split_accesses,
            inserted_loads,
            inserted_stores,
            conflicting_loads,
            conflicting_stores,
        } = &mut self.counts;
        [forw_loads, squashed_loads, squashed_stores, mem_order_violation, rescheduled_loads, blocked_by_cache]
            .into_iter()
            .for_each(&mut *each);
        [alias_matches, split_accesses, inserted_loads, inserted_stores, conflicting_loads, conflicting_stores]
            .into_iter()
            .for_each(&mut *each);
        each(&mut self.depend.store_sets.stores);
    }

    /// Counts on where `from` has come to, with its store sets.
    #[cfg(test)]
    pub fn take_counts(&mut self, from: &Lsq) {
        self.counts = from.counts;
        self.depend.store_sets = from.depend.store_sets.clone();
    }

    pub fn reset_stats(&mut self) {
        self.counts = Counts::default();
    }
}
