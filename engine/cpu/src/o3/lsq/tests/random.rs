//! Random programs with random squashes: nothing is lost, nothing stays, and whoever forwards is who has the bytes.

use proptest::prelude::*;

use super::rig::{fence, load, store, Op, Rig, DATA};
use super::*;
use crate::testing::cases;

/// What happens in a cycle besides commits.
#[derive(Clone, Debug)]
struct Cycle {
    /// Everything from somewhere behind the last commit on is squashed: where, in 1/256 of what is in flight.
    squash: Option<u8>,
    /// A reference is dispatched if there is room.
    reference: Reference,
}

#[derive(Clone, Debug)]
struct Reference {
    page: u64,
    offset: u64,
    log_size: u32,
    /// Cycles until its operands are there.
    ready: u64,
    kind: u8,
    paged: bool,
    pc: u64,
}

impl Reference {
    fn op(&self, cycle: u64) -> Op {
        let vaddr = DATA + self.page * 4096 + self.offset;
        let (size, at) = (1 << self.log_size, cycle + 1 + self.ready);
        let op = match self.kind {
            0..=4 => load(vaddr, size, at),
            5..=8 => store(vaddr, size, at),
            _ => fence(at),
        };
        let op = if self.paged && op.mem.valid { op.paged() } else { op };
        op.pc(self.pc * 4)
    }
}

fn reference() -> impl Strategy<Value = Reference> {
    (0..4_u64, 0..160_u64, 0..4_u32, 0..30_u64, 0..10_u8, prop::bool::weighted(0.25), 0..8_u64).prop_map(
        |(page, offset, log_size, ready, kind, paged, pc)| Reference { page, offset, log_size, ready, kind, paged, pc },
    )
}

fn cycles() -> impl Strategy<Value = Vec<Cycle>> {
    let cycle = (prop::option::weighted(0.05, any::<u8>()), reference());
    prop::collection::vec(cycle.prop_map(|(squash, reference)| Cycle { squash, reference }), 1..300)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn every_reference_completes_whatever_is_squashed(
        cycles in cycles(),
        needs_tso: bool,
        alias in 0..3_usize,
        joins: bool,
        mshrs in 0..4_u32,
    ) {
        let cfg = with(|c| {
            c.LQEntries = 8;
            c.SQEntries = 6;
            c.cacheLoadPorts = 2;
            c.needsTSO = needs_tso;
            c.lsq.aliasCheckBits = [0, 8, 12][alias];
            c.quirks.gem5StoresJoinMisses = joins;
        });
        let mut rig = Rig::with_memory(&cfg, 5, mshrs);
        let (mut seq, mut committed) = (0, 0);
        for c in cycles {
            rig.step();
            // Commits what has written back, at most two a cycle.
            let mut commit = committed;
            while commit < committed + 2 && commit < seq && rig.done[commit as usize + 1] != 0 {
                commit += 1;
            }
            if commit > committed {
                committed = commit;
                rig.lsq.commit(Seq(committed));
            }
            if let Some(place) = c.squash.filter(|_| seq > committed) {
                seq = committed + (seq - committed) * u64::from(place) / 256;
                rig.squash(seq);
            }
            if rig.lsq.free_loads() > 0 && rig.lsq.free_stores() > 0 && seq < 150 {
                seq = rig.dispatch(c.reference.op(rig.cycle));
            }
        }
        for _ in 0..3000 {
            rig.step();
            while committed < seq && rig.done[committed as usize + 1] != 0 {
                committed += 1;
                rig.lsq.commit(Seq(committed));
            }
        }
        prop_assert_eq!(committed, seq, "{}", rig.lsq.describe());
        prop_assert!(rig.lsq.drained() && rig.lsq.next_event() == breakeven_base::Cycle::MAX, "{}", rig.lsq.describe());
        prop_assert_eq!(rig.lsq.audit(), Ok(()));
    }
}
