//! Rename by itself, with the default delays: dispatch hears of micro-ops after 2 cycles, the ROB and decode after 1.

use breakeven_base::Reg;

use super::super::unit_rig::{flagged, op, UnitRig};
use super::super::wires::Dispatched;
use super::*;
use crate::o3::seq::Producer;

fn unit(cfg: &O3Config) -> (UnitRig, Rename) {
    (UnitRig::new(cfg), Rename::new(cfg))
}

fn decoded(n: u16) -> ToRename {
    ToRename { arrived: n, ..ToRename::default() }
}

#[test]
fn micro_ops_reach_dispatch_after_two_cycles_and_the_rob_after_one() {
    let (mut rig, mut r) = unit(&O3Config::default());
    rig.fetch_all([op(1, 0), op(2, 1), op(3, 2)]);
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(3), false), 3);
    assert_eq!(
        [rig.sent(1).commit.arrived, rig.sent(1).iew.arrived, rig.sent(2).commit.arrived, rig.sent(2).iew.arrived],
        [3, 0, 0, 3]
    );
}

#[test]
fn what_exceeds_the_width_blocks_decode_and_goes_first_when_it_goes_on() {
    let (mut rig, mut r) = unit(&O3Config { renameWidth: 2, ..O3Config::default() });
    rig.fetch_all((0..5).map(|_| op(1, 1)));
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(3), false), 2);
    assert_eq!((r.status(), rig.sent(1).decode.stall), (Status::Blocked, Stall::Block));
    // One from the skid buffer; what arrives now waits for the next cycle.
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(2), false), 1);
    assert_eq!((r.status(), r.next()), (Status::Unblocking, Seq(4)));
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(0), false), 2);
    assert_eq!((r.status(), rig.sent(1).decode.stall), (Status::Running, Stall::Unblock));
}

#[test]
fn a_squash_restores_the_producers_and_frees_registers_when_the_rob_has_been_walked() {
    let (mut rig, mut r) = unit(&O3Config { numPhysIntRegs: 40, ..O3Config::default() });
    rig.fetch_all([op(5, 0), op(6, 5), op(5, 0), op(5, 5)]);
    r.tick(&mut rig.io, rig.now, &decoded(4), false);
    let source = |rig: &UnitRig, seq| rig.io.ring.at(Seq(seq)).sources[0];
    assert_eq!([source(&rig, 2), source(&rig, 4)], [Producer::new(Seq(1), 0), Producer::new(Seq(3), 0)]);
    assert_eq!(r.registers.free()[0], 4);
    r.squash(Seq(3), &rig.io.ring);
    rig.io.ring.truncate(Seq(3));
    rig.now += 1;
    r.tick(&mut rig.io, rig.now, &ToRename { rob_squashing: true, ..ToRename::default() }, false);
    assert_eq!((r.registers.free()[0], r.next()), (4, Seq(3)));
    // The next reader finds the first producer again.
    rig.fetch(op(7, 5));
    rig.now += 1;
    r.tick(&mut rig.io, rig.now, &decoded(1), false);
    assert_eq!((source(&rig, 3), r.registers.free()[0]), (Producer::new(Seq(1), 0), 5));
}

#[test]
fn rename_stalls_without_a_register_until_the_cycle_after_one_has_been_freed() {
    let (mut rig, mut r) = unit(&O3Config { numPhysIntRegs: 40, renameWidth: 16, ..O3Config::default() });
    rig.fetch_all((0..9).map(|_| op(1, 0)));
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(9), false), 8);
    assert_eq!(r.stats.full.regs, 1);
    rig.now += 1;
    let freed = ToRename { free_regs: [1, 0, 0, 0], ..ToRename::default() };
    assert_eq!(r.tick(&mut rig.io, rig.now, &freed, false), 0, "registers come back at the end of the cycle");
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &ToRename::default(), false), 1);
}

#[test]
fn what_fused_micro_ops_hand_on_takes_no_register_and_flags_have_a_file_of_their_own() {
    let (mut rig, mut r) = unit(&O3Config { numPhysIntRegs: 40, renameWidth: 16, ..O3Config::default() });
    #[allow(clippy::cast_possible_truncation)]
    let (fused, flags) = (Reg::UNCOUNTED as u8, Reg::FLAGS as u8);
    let mut sum = op(1, fused);
    sum.dst[1] = Reg(flags);
    rig.fetch_all([op(fused, 0), sum, op(2, flags)]);
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(3), false), 3);
    assert_eq!(r.registers.free()[..3], [8 - 2, 256 - 32, 256 - 5 - 1]);
    // Their readers wait for them all the same.
    assert_eq!(rig.io.ring.at(Seq(3)).sources[0], Producer::new(Seq(2), 1));
    r.squash(Seq(1), &rig.io.ring);
    rig.io.ring.truncate(Seq(1));
    rig.now += 1;
    r.tick(&mut rig.io, rig.now, &ToRename::default(), false);
    assert_eq!(r.registers.free()[..3], [8, 256 - 32, 256 - 5]);
}

#[test]
fn credits_of_the_rob_limit_rename_until_the_rob_reports() {
    let (mut rig, mut r) = unit(&O3Config { numROBEntries: 2, ..O3Config::default() });
    rig.fetch_all((0..3).map(|_| op(1, 0)));
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(3), false), 2);
    assert_eq!((r.stats.full.rob, r.status()), (1, Status::Blocked));
    // Dispatched, but still in the ROB: no credit.
    rig.now += 1;
    let full = ToRename {
        dispatched: Dispatched { uops: 2, rob: 2, ..Dispatched::default() },
        free_rob: Some((0, false)),
        ..ToRename::default()
    };
    assert_eq!(r.tick(&mut rig.io, rig.now, &full, false), 0);
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &ToRename { free_rob: Some((1, false)), ..ToRename::default() }, false), 1);
}

#[test]
fn a_full_load_queue_stops_a_load_but_not_what_is_before_it() {
    let (mut rig, mut r) = unit(&O3Config { LQEntries: 1, ..O3Config::default() });
    let load = flagged(op(1, 0), UopFlags::LOAD);
    rig.fetch_all([load, op(2, 0), load]);
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(3), false), 2);
    assert_eq!(r.stats.full.lq, 1);
    // The first load enters the queue: its own credit is spent until the queue reports.
    rig.now += 1;
    let entered = ToRename {
        dispatched: Dispatched { loads: 1, ..Dispatched::default() },
        free_queues: Some([63, 0, 32]),
        ..ToRename::default()
    };
    assert_eq!(r.tick(&mut rig.io, rig.now, &entered, false), 0);
    rig.now += 1;
    assert_eq!(
        r.tick(&mut rig.io, rig.now, &ToRename { free_queues: Some([63, 1, 32]), ..ToRename::default() }, false),
        1
    );
}

#[test]
fn a_stage_blocked_by_one_full_queue_unblocks_in_vain_as_gem5s_only() {
    for (gem5, unblocking, full) in [(true, 1, 2), (false, 0, 1)] {
        let mut cfg = O3Config { LQEntries: 1, ..O3Config::default() };
        cfg.quirks.gem5RenameUnblocks = gem5;
        let (mut rig, mut r) = unit(&cfg);
        let load = flagged(op(1, 0), UopFlags::LOAD);
        rig.fetch_all([load, load]);
        assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(2), false), 1);
        rig.now += 1;
        assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(0), false), 0);
        assert_eq!((r.stats.cycles.unblock, r.stats.cycles.block), (unblocking, 1 - unblocking));
        assert_eq!((r.stats.full.lq, r.status()), (full, Status::Blocked));
        // Both go on in the cycle in which the queue reports room.
        rig.now += 1;
        let room = ToRename {
            dispatched: Dispatched { loads: 1, ..Dispatched::default() },
            free_queues: Some([63, 1, 32]),
            ..ToRename::default()
        };
        assert_eq!(r.tick(&mut rig.io, rig.now, &room, false), 1);
    }
}

#[test]
fn full_queues_block_a_stage_with_nothing_to_rename_in_gem5_only() {
    for (gem5, expected) in [(true, (Status::Blocked, Stall::Block)), (false, (Status::Running, Stall::Unchanged))] {
        let mut cfg = O3Config { numROBEntries: 2, ..O3Config::default() };
        cfg.quirks.gem5RenameBlocksIdle = gem5;
        let (mut rig, mut r) = unit(&cfg);
        rig.fetch_all([op(1, 0), op(1, 0), op(1, 0)]);
        assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(2), false), 2);
        rig.now += 1;
        r.tick(&mut rig.io, rig.now, &decoded(0), false);
        assert_eq!((r.status(), rig.sent(1).decode.stall), expected);
        assert_eq!((r.stats.cycles.idle, r.stats.cycles.block), (1, 0));
        // What arrives finds the ROB full, and blocks the stage in either case.
        rig.now += 1;
        assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(1), false), 0);
        assert_eq!((r.status(), r.stats.cycles.block), (Status::Blocked, 1));
    }
}

#[test]
fn a_stage_that_goes_on_takes_the_skid_buffer_alone_in_gem5_only() {
    for (gem5, renamed) in [(true, 1), (false, 2)] {
        let mut cfg = O3Config { renameWidth: 2, ..O3Config::default() };
        cfg.quirks.gem5SkidBufferFirst = gem5;
        let (mut rig, mut r) = unit(&cfg);
        rig.fetch_all((0..4).map(|_| op(1, 1)));
        assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(3), false), 2);
        rig.now += 1;
        assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(1), false), renamed);
    }
}

#[test]
fn a_serializing_instruction_waits_for_an_empty_rob() {
    let (mut rig, mut r) = unit(&O3Config::default());
    rig.fetch_all([op(1, 0), flagged(op(2, 0), UopFlags::SERIALIZE_BEFORE), op(3, 0)]);
    assert_eq!(r.tick(&mut rig.io, rig.now, &ToRename { free_rob: Some((191, false)), ..decoded(3) }, false), 1);
    assert_eq!((r.status(), rig.sent(1).decode.stall), (Status::SerializeStall, Stall::Block));
    rig.now += 1;
    assert_eq!(
        r.tick(
            &mut rig.io,
            rig.now,
            &ToRename { dispatched: Dispatched { uops: 1, rob: 1, ..Dispatched::default() }, ..ToRename::default() },
            false
        ),
        0
    );
    rig.now += 1;
    assert_eq!(
        r.tick(&mut rig.io, rig.now, &ToRename { free_rob: Some((192, true)), ..ToRename::default() }, false),
        2
    );
    assert_eq!(r.stats.cycles.serialize, 1);
}

#[test]
fn a_squash_ends_a_stall_and_unblocks_decode() {
    let (mut rig, mut r) = unit(&O3Config { renameWidth: 2, ..O3Config::default() });
    rig.fetch_all((0..3).map(|_| op(1, 0)));
    r.tick(&mut rig.io, rig.now, &decoded(3), false);
    r.squash(Seq(2), &rig.io.ring);
    rig.now += 1;
    r.tick(&mut rig.io, rig.now, &ToRename::default(), true);
    assert_eq!((r.status(), rig.sent(1).decode.stall), (Status::Squashing, Stall::Unblock));
    assert_eq!((r.next(), r.end()), (Seq(2), Seq(2)));
}
