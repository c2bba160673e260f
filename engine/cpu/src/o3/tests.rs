//! Exact cycle differences between two tiny programs that differ in one thing.
//!
//! Instruction memory answers in 2 cycles, data memory in `data_cycles`. With the default delays (1 everywhere, rename to
//! dispatch 2) a micro-op is fetched at F, decoded at F+1, renamed at F+2, dispatched at F+4; issued at I it executes at
//! I + latency, and what depends on it can issue then; commit takes it from two cycles after that on.

use breakeven_base::{BranchKind, OpClass, SysEffect, Tick, UopFlags};

mod draining;
mod fetch;
mod fusion;
mod random;
mod squash;

use super::*;
use crate::testing::{memory_config, Inst, MockFe, Run, BASE, PERIOD};

const ALL: Budget = Budget::new(10_000_000, 3_000_000);
const DATA: u64 = BASE + 0x1_0000;
const DUMP: SysEffect = SysEffect::DumpStats;

/// `core` on data memory of so many cycles.
fn machine(cfg: O3Config, data_cycles: u64, fe: MockFe) -> Run<O3> {
    let core = O3::new(cfg, Some(&BranchPredictorParams::default()), 64).unwrap_or_else(|e| panic!("{e:?}"));
    Run::on(memory_config(2, data_cycles, 4), core, fe)
}

/// An effect that commits like any instruction: the end of what is measured.
fn mark() -> Inst {
    let mut inst = Inst::effect(DUMP);
    inst.timed = false;
    inst.flags(UopFlags::empty())
}

fn cycles_with(cfg: O3Config, program: Vec<Inst>) -> u64 {
    cycles_with_data(2, cfg, program)
}

fn cycles_with_data(data_cycles: u64, cfg: O3Config, mut program: Vec<Inst>) -> u64 {
    program.push(mark());
    let n = program.len() as u64;
    let mut r = machine(cfg, data_cycles, MockFe::new(program));
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    assert!(r.core.insts() <= n);
    r.core.cycles()
}

fn cycles(program: Vec<Inst>) -> u64 {
    cycles_with(O3Config::default(), program)
}

fn add(dst: u8, src: u8) -> Inst {
    Inst::op(OpClass::IntAlu, dst, &[src])
}

/// A chain of `n` operations through register 1: long enough that what is fetched behind it waits.
fn chain(class: OpClass, n: usize) -> Vec<Inst> {
    (0..n).map(|_| Inst::op(class, 1, &[1])).collect()
}

fn with(mut program: Vec<Inst>, more: Vec<Inst>) -> Vec<Inst> {
    program.extend(more);
    program
}

fn units(cfg: &mut O3Config, class: OpClass, count: u32) {
    for d in &mut cfg.fuPool {
        if d.opList.iter().any(|o| o.opClass == class) {
            d.count = count;
        }
    }
}

#[test]
fn one_more_dependent_add_costs_a_cycle() {
    // Each executes a cycle after the one before it.
    let base = cycles(chain(OpClass::IntAlu, 20));
    assert_eq!(cycles(chain(OpClass::IntAlu, 21)) - base, 1);
    assert_eq!(cycles(with(chain(OpClass::IntAlu, 20), chain(OpClass::IntMult, 1))) - base, 3);
    // In the shadow of the chain an independent one costs nothing.
    assert_eq!(cycles(with(vec![add(2, 3)], chain(OpClass::IntAlu, 20))), base);
}

#[test]
fn the_slower_bypass_costs_its_cycles_on_every_step_of_a_chain() {
    // Execution starts two cycles after issue instead of one: one more cycle an operation, 20 of them, and one for the mark.
    let slow = O3Config { issueToExecuteDelay: 2, ..O3Config::default() };
    let delta = cycles_with(slow, chain(OpClass::IntAlu, 20)) - cycles(chain(OpClass::IntAlu, 20));
    assert_eq!(delta, 20);
}

#[test]
fn what_commits_with_a_pseudo_op_counts_behind_it() {
    // As gem5's x86 pseudo-op: it executes as the oldest, nothing waits for it. All around it has been done by then.
    let mut passing = Inst::op(OpClass::IntAlu, 0, &[]).flags(UopFlags::EFFECT | UopFlags::NON_SPECULATIVE);
    passing.effect = DUMP;
    let counted = |behind: usize| {
        let program =
            [chain(OpClass::IntAlu, 20), vec![passing.clone()], vec![add(2, 3); behind], vec![mark()]].concat();
        let mut r = machine(O3Config::default(), 2, MockFe::new(program));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        let (cycles, insts) = (r.core.cycles(), r.core.insts());
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        (insts, r.core.insts() - insts, r.core.cycles() - cycles)
    };
    // Write-back in the same cycle, commit two cycles later: eight of them, then the mark.
    assert_eq!((counted(6), counted(7)), ((20, 8, 2), (20, 9, 3)));
}

#[test]
fn a_class_with_one_unit_takes_one_micro_op_a_cycle() {
    // 24 independent adds behind a chain of 3 divisions (60 cycles): all are ready when the first of them depends on the
    // chain's end. Six units: 4 cycles; one unit: 24 cycles.
    let adds = |_: usize| (0..24).map(|i| add(2 + (i % 8) as u8, 1)).collect::<Vec<_>>();
    let program = with(chain(OpClass::IntDiv, 3), adds(24));
    let mut one = O3Config::default();
    units(&mut one, OpClass::IntAlu, 1);
    assert_eq!(cycles_with(one, program.clone()) - cycles(program), 20);
}

#[test]
fn a_divider_is_not_pipelined_and_a_multiplier_is() {
    let two = |class| vec![Inst::op(class, 1, &[3]), Inst::op(class, 2, &[4])];
    let mut one = O3Config::default();
    units(&mut one, OpClass::IntDiv, 1);
    let go = |class| cycles_with(one.clone(), two(class)) - cycles(two(class));
    // The second waits for the 20 cycles of the first; or for its first cycle.
    assert_eq!((go(OpClass::IntDiv), go(OpClass::IntMult)), (20, 1));
}

#[test]
fn a_mispredicted_branch_refills_the_pipeline() {
    // The branch executes at E, behind the chain. Predicted rightly, an instruction that depends on the chain too issues in
    // the cycle before E. Mispredicted: commit squashes at E+1, fetch hears of it at E+2 and fetches the target at E+3, which
    // is issued at E+7: 8 cycles later.
    let program = |taken: bool| {
        let mut branch = Inst::branch(BranchKind::Cond, 21, &[taken]);
        branch.uops[0].0.src[0] = breakeven_base::Reg(1);
        with(chain(OpClass::IntMult, 20), with(vec![branch], vec![Inst::op(OpClass::IntDiv, 2, &[1])]))
    };
    assert_eq!(cycles(program(false)), cycles(program(false)));
    let (right, wrong) = (cycles(program(false)), {
        // The same path: the target is the next instruction, so that only the misprediction differs.
        let mut p = program(true);
        p[20].target = 21;
        p[20].len = 4;
        p.insert(21, Inst::nop());
        p[20].target = 22;
        cycles(p)
    });
    assert_eq!(wrong - right, 8);
}

#[test]
fn a_full_rob_stops_what_is_behind_it() {
    // A division of 20 cycles, then adds: with 16 entries the ROB is full of the adds behind the division, and the
    // divisions behind them start only when it has committed; with 192 both divisions run at once.
    let mut program = vec![Inst::op(OpClass::IntDiv, 1, &[3])];
    program.extend((0..30).map(|_| add(2, 2)));
    program.push(Inst::op(OpClass::IntDiv, 4, &[5]));
    let small = O3Config { numROBEntries: 16, ..O3Config::default() };
    let delta = cycles_with(small, program.clone()) - cycles(program);
    // The second division starts when the first has committed: 18 of its 20 cycles are not hidden.
    assert_eq!(delta, 18);
}

#[test]
fn a_serializing_instruction_waits_and_makes_wait() {
    let after = |flags| {
        let mut p = chain(OpClass::IntMult, 10);
        p.push(Inst::nop().flags(flags));
        p.push(Inst::op(OpClass::IntDiv, 2, &[3]));
        cycles(p)
    };
    let plain = after(UopFlags::empty());
    // The independent division runs beside the multiplications (30 cycles); serialised it runs after them.
    let deltas =
        [UopFlags::SERIALIZE_AFTER, UopFlags::SERIALIZE_BEFORE, UopFlags::SQUASH_AFTER].map(|f| after(f) - plain);
    // The division's 20 cycles, 5 from the last commit to its issue; after a squash it is fetched anew: 4 more.
    assert_eq!(deltas, [25, 25, 29]);
}

#[test]
fn a_flag_stall_ends_with_the_retirement_of_what_is_older_than_its_instruction() {
    let reader = |flags| Inst::op(OpClass::IntAlu, 2, &[3]).flags(flags);
    let behind = |older: Inst, flags| cycles_with_data(60, O3Config::default(), vec![older, reader(flags)]);
    // Not until a store is written ...
    let store = || Inst::store(1, 1, DATA, 8);
    assert!(behind(store(), UopFlags::FLAG_STALL) + 40 < behind(store(), UopFlags::SERIALIZE_BEFORE));
    // ... but until a division has retired ...
    let division = || Inst::op(OpClass::IntDiv, 1, &[1]);
    assert!(behind(division(), UopFlags::FLAG_STALL) > behind(division(), UopFlags::empty()));
    // ... unless that is an earlier micro-op of the same instruction.
    let whole = |flags| {
        let mut inst = division();
        inst.uops.extend(reader(flags).uops);
        cycles(vec![inst])
    };
    assert_eq!(whole(UopFlags::FLAG_STALL), whole(UopFlags::empty()));
    // The delay counts from the retirement.
    let program = vec![division(), reader(UopFlags::FLAG_STALL)];
    let later = O3Config { flagStallDelay: 5, ..O3Config::default() };
    assert_eq!(cycles_with(later, program.clone()) - cycles(program), 5);
}

#[test]
fn a_queue_behind_the_decoders_is_filled_while_rename_waits() {
    // Again and again rename waits for a division, then has more to do than gem5's skid buffers hold.
    let waits = || vec![Inst::op(OpClass::IntDiv, 1, &[1]), Inst::nop().flags(UopFlags::FLAG_STALL)];
    let program: Vec<Inst> =
        (0..8).flat_map(|_| with(waits(), (0..60).map(|i| add(2 + i % 8, 20)).collect())).collect();
    let late = |loop_buffer| {
        let cfg = |delay| O3Config { fetchToDecodeDelay: delay, loopBufferSize: loop_buffer, ..O3Config::default() };
        cycles_with(cfg(10), program.clone()) - cycles_with(cfg(1), program.clone())
    };
    // Then a longer front end delays the first micro-op only, not each one behind such a wait.
    assert_eq!(late(64), 9);
    assert!(late(0) > 9 + 8 * 3, "{}", late(0));
}

#[test]
fn write_back_slots_limit_results() {
    // 24 adds become ready together; eight a cycle may issue but only two a cycle write back: 12 cycles instead of 4.
    let program = with(chain(OpClass::IntDiv, 2), (0..24).map(|i| add(2 + (i % 8) as u8, 1)).collect());
    let narrow = O3Config { wbWidth: 2, ..O3Config::default() };
    assert_eq!(cycles_with(narrow, program.clone()) - cycles(program), 8);
}

/// gem5's `loads` with one port and a first level of three cycles: 17,086 cycles for 12,800 loads. Its load queue is not known.
/// `LSQ::tick` releases the loads that found no port; they issue in that cycle and execute in the next, so that the loads of
/// even and of odd cycles take turns. With 32 entries there are always some of both, and the port is never idle; with 12 the
/// rule gives 17,089. No other queue or width that was tried gives it.
#[test]
fn gem5s_retries_leave_the_port_idle_where_the_load_queue_is_short() {
    let more = |retries: bool, entries: u32| {
        let cycles = |n: usize| {
            let quirks = Gem5Quirks { gem5PortRetries: retries, ..Gem5Quirks::NONE };
            let cfg = O3Config { cacheLoadPorts: 1, LQEntries: entries, quirks, ..O3Config::default() };
            cycles_with_data(3, cfg, (0..n).map(|_| Inst::load(1, 2, DATA, 8)).collect())
        };
        cycles(1000) - cycles(400)
    };
    assert_eq!([more(false, 12), more(true, 32), more(true, 12)], [600, 600, 800]);
}

/// gem5's skid buffer: what rename leaves over goes alone in the next cycle, what decode has sent meanwhile takes two more,
/// and decode starts again a cycle after rename has said so. Of five cycles two move a full width and two what is left over
/// of `decodeWidth` (a full width again where it is twice the other), one nothing.
#[test]
fn a_decoder_wider_than_rename_slows_both_down() {
    let more = |decode, rename| {
        let cfg = O3Config { decodeWidth: decode, renameWidth: rename, ..O3Config::default() };
        let adds = |n| (0..n).map(|_| add(2, 3)).collect();
        cycles_with(cfg.clone(), adds(1280)) - cycles_with(cfg, adds(320))
    };
    assert_eq!(more(4, 4), 960 / 4);
    // A bundle that fetch could not fill costs a little more.
    for (decode, of_five) in [(5, 10), (6, 12), (8, 16)] {
        let rule = 960 * 5 / of_five;
        assert!((rule..=rule + rule / 10).contains(&more(decode, 4)), "{decode}: {} for {rule}", more(decode, 4));
    }
}

#[test]
fn a_loop_in_the_loop_buffer_is_not_fetched_again() {
    // The body lies across two blocks: without the buffer each turn fetches both.
    let body: Vec<Inst> = (0..20).map(|i| add(2 + (i % 8), 20)).collect();
    let mut program = with(body, vec![Inst::branch(BranchKind::Cond, 0, &[&[true; 60][..], &[false]].concat())]);
    program.push(mark());
    let lines = |loop_buffer| {
        let cfg = O3Config { loopBufferSize: loop_buffer, ..O3Config::default() };
        let mut r = machine(cfg, 2, MockFe::new(program.clone()));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        (r.stat("system.cpu.fetch.cacheLines"), r.core.cycles())
    };
    let (off, on) = (lines(0), lines(128));
    assert!(on.0 * 2.0 < off.0 && on.1 < off.1, "{on:?} {off:?}");
}

/// A branch at instruction 14 that is mispredicted (it goes to `target`) and waits for `k` adds; the wrong path goes straight
/// on. Fetched from cycle F on, block 3 (from instruction 48) arrives at F+9, and fetch hears of the squash at F+7+`k` (`k` > 1).
fn mispredicted_behind(k: usize, target: usize) -> Vec<Inst> {
    let mut program: Vec<Inst> = (0..14).map(|i| if i < k { add(1, 1) } else { add(2, 3) }).collect();
    let mut branch = Inst::branch(BranchKind::Cond, target, &[true]);
    branch.uops[0].0.src[0] = breakeven_base::Reg(1);
    program.push(branch);
    program.resize(80, Inst::nop());
    program[target] = mark();
    program
}

#[test]
fn a_block_that_arrives_with_the_squash_is_not_asked_for_again() {
    // The target lies in block 3: it is in the buffer in the cycle in which it arrives and in the next.
    let end = |k| {
        let mut r = machine(O3Config::default(), 2, MockFe::new(mispredicted_behind(k, 48)));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        r.core.cycles() as i64 - k as i64
    };
    let [arrives, next, later] = [2, 3, 4].map(end);
    assert_eq!(arrives, next);
    // By then the buffer waits for block 4.
    assert!(later >= next + 2, "{next}, {later}");
}

#[test]
fn a_wrong_path_goes_on_behind_what_it_cannot_execute() {
    // Instruction 20 depends on the time: the right path would wait for it, a wrong one never executes it.
    let lines = |timed| {
        let mut program = mispredicted_behind(12, 70);
        program[20].timed = timed;
        let mut r = machine(O3Config::default(), 2, MockFe::new(program));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        (r.stat("system.cpu.fetch.cacheLines"), r.core.cycles())
    };
    assert_eq!(lines(true), lines(false));
}

#[test]
fn what_decode_finds_as_commit_squashes_is_not_learnt() {
    // Decode sees the jump at F+10 and fetch would hear of it at F+11.
    let counts = |k| {
        let mut program = mispredicted_behind(k, 70);
        program[49] = Inst::branch(BranchKind::Jump, 60, &[true]);
        let mut r = machine(O3Config::default(), 2, MockFe::new(program));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        (r.stat("system.cpu.decode.branchMispred"), r.stat("system.cpu.branchPred.condIncorrect"))
    };
    let all: Vec<_> = (2..7).map(counts).collect();
    assert_eq!(all, [(0.0, 1.0), (0.0, 1.0), (1.0, 1.0), (1.0, 2.0), (1.0, 2.0)]);
}

#[test]
fn a_compressed_branch_over_a_compressed_instruction_counts_as_not_taken_to_gem5() {
    // The branch is predicted not taken and goes to `target`, over as many two-byte instructions.
    let counts = |target: usize, as_gem5: bool| {
        let mut program = vec![Inst::branch(BranchKind::Cond, target, &[true]).short()];
        program.resize(4, Inst::nop().short());
        program.push(mark());
        let quirks = Gem5Quirks { gem5CompressedBranches: as_gem5, ..Gem5Quirks::NONE };
        let mut r = machine(O3Config { quirks, ..O3Config::default() }, 2, MockFe::new(program));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        let stat = |name: &str| r.stat(&format!("system.cpu.branchPred.{name}"));
        (stat("NotTakenMispredicted"), stat("TakenMispredicted"), stat("BTBUpdates"))
    };
    assert_eq!([2, 3].map(|target| counts(target, false)), [(1.0, 0.0, 1.0); 2]);
    assert_eq!([2, 3].map(|target| counts(target, true)), [(0.0, 1.0, 0.0), (1.0, 0.0, 1.0)]);
}

#[test]
fn a_pause_leaves_the_pipeline_empty_and_can_be_resumed() {
    let mut program = chain(OpClass::IntMult, 5);
    program.push(Inst::store(1, 2, DATA, 8));
    let mut pause = Inst::nop();
    pause.pause = true;
    program.extend([pause, add(3, 1), mark()]);
    let mut r = machine(O3Config::default(), 40, MockFe::new(program));
    assert_eq!(r.go(ALL), Stop::Paused);
    assert!(r.core.drained());
    assert_eq!((r.core.insts(), r.fe.executed), (6, 6));
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    assert_eq!(r.core.insts(), 9);
}

#[test]
fn timed_instructions_in_a_row_find_those_on_their_way_to_decode() {
    // Each is executed when it is the oldest, while a dozen behind it are between fetch and decode.
    let timed = || {
        let mut inst = Inst::op(OpClass::IntAlu, 2, &[]);
        inst.timed = true;
        inst.flags(UopFlags::SERIALIZE_AFTER | UopFlags::NON_SPECULATIVE)
    };
    let mut program: Vec<Inst> = (0..20).map(|_| timed()).collect();
    program.push(Inst::branch(BranchKind::Cond, 0, &[&[true; 30][..], &[false]].concat()));
    program.push(mark());
    let cfg = O3Config { fetchToDecodeDelay: 11, fetchQueueSize: 144, decodeToRenameDelay: 4, ..O3Config::default() };
    let mut r = machine(cfg, 2, MockFe::new(program));
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    assert_eq!(r.fe.times.len(), 20 * 31);
}

#[test]
fn an_interrupt_is_taken_once_and_counts_as_no_instruction() {
    let mut program = chain(OpClass::IntAlu, 200);
    program.push(mark());
    let mut fe = MockFe::new(program);
    fe.interruptible = true;
    let mut r = machine(O3Config::default(), 2, fe);
    r.bus.irq_at = Tick(40 * PERIOD);
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    assert_eq!((r.core.insts(), r.fe.times.len()), (201, 1));
    assert_eq!(r.stat("system.cpu.commit.traps"), 1.0);
}

#[test]
fn what_no_unit_can_ever_do_is_reported() {
    // Behind the only instruction the front end has nothing that can be fetched.
    let mut r = machine(O3Config::default(), 2, MockFe::new(vec![Inst::nop()]));
    match r.go(ALL) {
        Stop::Deadlock(text) => {
            for part in ["front end stands", "fetch:", "rename:", "issue queue:", "commit:", "lsq:"] {
                assert!(text.contains(part), "{part} is missing in:\n{text}");
            }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_predictor_is_an_error() {
    let errors = O3::new(O3Config::default(), None, 64).err().unwrap_or_default();
    assert!(errors.iter().any(|e| e.to_string().contains("branchPred")));
}

#[test]
fn cycles_in_which_a_full_queue_is_tried_in_vain_are_counted_without_being_gone_through() {
    let program: Vec<Inst> =
        (0..200).flat_map(|i| vec![add(2, 3), Inst::store(4, 5, DATA + 64 * i, 8)]).chain([mark()]).collect();
    let names =
        ["rename.SQFullEvents", "rename.unblockCycles", "rename.blockCycles", "decode.blockedCycles", "account::total"];
    let end = |step: u64| {
        let cfg = O3Config { SQEntries: 4, ..O3Config::default() };
        let mut r = machine(cfg, 120, MockFe::new(program.clone()));
        let mut at = step;
        // A limit ends every stretch of skipped cycles.
        while r.go(Budget { max_cycles: at, ..ALL }) == Stop::MaxCycles {
            at += step;
        }
        (r.core.cycles(), names.map(|n| r.stat(&format!("system.cpu.{n}"))))
    };
    let at_once = end(ALL.max_cycles);
    assert!(at_once.1[0] > 1000.0, "{at_once:?}");
    assert_eq!(end(1), at_once);
    assert_eq!(end(7), at_once);
}

#[test]
fn stages_that_a_full_rob_stops_count_each_cycle_while_fetch_runs() {
    // A load of 120 cycles; then the ROB and the queues before it are full, and fetch could go on but for them.
    let program: Vec<Inst> =
        [Inst::load(1, 2, DATA, 8)].into_iter().chain(chain(OpClass::IntAlu, 400)).chain([mark()]).collect();
    let names = ["fetch.cycles", "decode.blockedCycles", "rename.blockCycles", "account::total"];
    let end = |step: u64| {
        let cfg = O3Config { numROBEntries: 16, ..O3Config::default() };
        let mut r = machine(cfg, 120, MockFe::new(program.clone()));
        let mut at = step;
        while r.go(Budget { max_cycles: at, ..ALL }) == Stop::MaxCycles {
            at += step;
        }
        (r.core.cycles(), names.map(|n| r.stat(&format!("system.cpu.{n}"))))
    };
    let by_one = end(1);
    assert!(by_one.1[..3].iter().all(|cycles| *cycles > 80.0), "{by_one:?}");
    assert_eq!(end(ALL.max_cycles), by_one);
    assert_eq!(end(7), by_one);
}

#[test]
fn a_loop_within_an_instruction_is_fetched_on_in_the_same_cycle() {
    let taken: Vec<bool> = (0..200).map(|n| n < 199).collect();
    let run = |mut program: Vec<Inst>| {
        program.push(mark());
        let mut r = machine(O3Config::default(), 2, MockFe::new(program));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        (r.core.cycles(), r.core.insts(), r.stat("system.cpu.branchPred.condPredicted"))
    };
    let (within, insts, branches) = run(vec![Inst::micro_loop(3, 0, &taken)]);
    assert_eq!((insts, branches >= 200.0), (2, true));
    let mut instructions = vec![Inst::nop(); 3];
    instructions.push(Inst::branch(BranchKind::Cond, 0, &taken));
    // Four micro-ops a turn: two turns fit a cycle, but a branch to another instruction ends it.
    let (between, insts, _) = run(instructions);
    assert_eq!(insts, 801);
    assert_eq!(between - within, 57);
}

#[test]
fn an_instruction_across_two_blocks_is_fetched_once_whatever_steps_it_takes() {
    let lines = |steps: usize| {
        let mut program = vec![Inst::nop().short(); 31];
        program.push(Inst { steps, ..Inst::nop() });
        program.push(mark());
        let mut r = machine(O3Config::default(), 2, MockFe::new(program));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        (r.core.insts(), r.stat("system.cpu.fetch.cacheLines"))
    };
    assert_eq!((lines(1), lines(100)), ((33, 2.0), (33, 2.0)));
}
