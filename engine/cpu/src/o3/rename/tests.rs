//! Rename by itself, with the default delays: dispatch hears of micro-ops after 2 cycles, the ROB and decode after 1.

use super::super::unit_rig::{flagged, op, UnitRig};
use super::*;
use crate::o3::inst::producer;

fn unit(cfg: &O3Config) -> (UnitRig, Rename) {
    (UnitRig::new(cfg), Rename::new(cfg))
}

fn decoded(n: u16) -> Wire {
    Wire { decoded: n, ..Wire::default() }
}

#[test]
fn micro_ops_reach_dispatch_after_two_cycles_and_the_rob_after_one() {
    let (mut rig, mut r) = unit(&O3Config::default());
    rig.fetch_all([op(1, 0), op(2, 1), op(3, 2)]);
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(3)), 3);
    assert_eq!([rig.sent(1).to_rob, rig.sent(1).renamed, rig.sent(2).to_rob, rig.sent(2).renamed], [3, 0, 0, 3]);
}

#[test]
fn what_exceeds_the_width_blocks_decode_and_goes_first_when_it_goes_on() {
    let (mut rig, mut r) = unit(&O3Config { renameWidth: 2, ..O3Config::default() });
    rig.fetch_all((0..5).map(|_| op(1, 1)));
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(3)), 2);
    assert_eq!((r.status(), rig.sent(1).stall_decode), (Status::Blocked, BLOCK));
    // One from the skid buffer; what arrives now waits for the next cycle.
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(2)), 1);
    assert_eq!((r.status(), r.next()), (Status::Unblocking, 4));
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(0)), 2);
    assert_eq!((r.status(), rig.sent(1).stall_decode), (Status::Running, UNBLOCK));
}

#[test]
fn a_squash_restores_the_producers_and_frees_registers_when_the_rob_has_been_walked() {
    let (mut rig, mut r) = unit(&O3Config { numPhysIntRegs: 40, ..O3Config::default() });
    rig.fetch_all([op(5, 0), op(6, 5), op(5, 0), op(5, 5)]);
    r.tick(&mut rig.io, rig.now, &decoded(4));
    let source = |rig: &UnitRig, seq| rig.io.ring.at(seq).sources[0];
    assert_eq!([source(&rig, 2), source(&rig, 4)], [producer(1, 0), producer(3, 0)]);
    assert_eq!(r.registers.free()[0], 4);
    r.squash(3, &rig.io.ring);
    rig.io.ring.truncate(3);
    rig.now += 1;
    r.tick(&mut rig.io, rig.now, &Wire { rob_squashing_rename: true, ..Wire::default() });
    assert_eq!((r.registers.free()[0], r.next()), (4, 3));
    // The next reader finds the first producer again.
    rig.fetch(op(7, 5));
    rig.now += 1;
    r.tick(&mut rig.io, rig.now, &decoded(1));
    assert_eq!((source(&rig, 3), r.registers.free()[0]), (producer(1, 0), 5));
}

#[test]
fn rename_stalls_without_a_register_until_the_cycle_after_one_has_been_freed() {
    let (mut rig, mut r) = unit(&O3Config { numPhysIntRegs: 40, renameWidth: 16, ..O3Config::default() });
    rig.fetch_all((0..9).map(|_| op(1, 0)));
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(9)), 8);
    assert_eq!(r.stats.regs_full, 1);
    rig.now += 1;
    let freed = Wire { free_regs: [1, 0], ..Wire::default() };
    assert_eq!(r.tick(&mut rig.io, rig.now, &freed), 0, "registers come back at the end of the cycle");
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &Wire::default()), 1);
}

#[test]
fn credits_of_the_rob_limit_rename_until_the_rob_reports() {
    let (mut rig, mut r) = unit(&O3Config { numROBEntries: 2, ..O3Config::default() });
    rig.fetch_all((0..3).map(|_| op(1, 0)));
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(3)), 2);
    assert_eq!((r.stats.rob_full, r.status()), (1, Status::Blocked));
    // Dispatched, but still in the ROB: no credit.
    rig.now += 1;
    let full = Wire { dispatched: 2, dispatched_rob: 2, free_rob: Some((0, false)), ..Wire::default() };
    assert_eq!(r.tick(&mut rig.io, rig.now, &full), 0);
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &Wire { free_rob: Some((1, false)), ..Wire::default() }), 1);
}

#[test]
fn a_full_load_queue_stops_a_load_but_not_what_is_before_it() {
    let (mut rig, mut r) = unit(&O3Config { LQEntries: 1, ..O3Config::default() });
    let load = flagged(op(1, 0), UopFlags::LOAD);
    rig.fetch_all([load, op(2, 0), load]);
    assert_eq!(r.tick(&mut rig.io, rig.now, &decoded(3)), 2);
    assert_eq!(r.stats.lq_full, 1);
    // The first load enters the queue: its own credit is spent until the queue reports.
    rig.now += 1;
    let entered = Wire { to_load_queue: 1, free_queues: Some([63, 0, 32]), ..Wire::default() };
    assert_eq!(r.tick(&mut rig.io, rig.now, &entered), 0);
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &Wire { free_queues: Some([63, 1, 32]), ..Wire::default() }), 1);
}

#[test]
fn a_serializing_instruction_waits_for_an_empty_rob() {
    let (mut rig, mut r) = unit(&O3Config::default());
    rig.fetch_all([op(1, 0), flagged(op(2, 0), UopFlags::SERIALIZE_BEFORE), op(3, 0)]);
    assert_eq!(r.tick(&mut rig.io, rig.now, &Wire { free_rob: Some((191, false)), ..decoded(3) }), 1);
    assert_eq!((r.status(), rig.sent(1).stall_decode), (Status::SerializeStall, BLOCK));
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &Wire { dispatched: 1, dispatched_rob: 1, ..Wire::default() }), 0);
    rig.now += 1;
    assert_eq!(r.tick(&mut rig.io, rig.now, &Wire { free_rob: Some((192, true)), ..Wire::default() }), 2);
    assert_eq!(r.stats.serialize_cycles, 1);
}

#[test]
fn a_squash_ends_a_stall_and_unblocks_decode() {
    let (mut rig, mut r) = unit(&O3Config { renameWidth: 2, ..O3Config::default() });
    rig.fetch_all((0..3).map(|_| op(1, 0)));
    r.tick(&mut rig.io, rig.now, &decoded(3));
    r.squash(2, &rig.io.ring);
    rig.now += 1;
    let squash = super::super::wires::Squash { after: 1, stamp: 0, cause: super::super::wires::Cause::Flush };
    r.tick(&mut rig.io, rig.now, &Wire { squash: Some(squash), ..Wire::default() });
    assert_eq!((r.status(), rig.sent(1).stall_decode), (Status::Squashing, UNBLOCK));
    assert_eq!((r.next(), r.end()), (2, 2));
}
