//! Programs under syscall emulation on every core: their ends, their faults, pseudo-ops, and what a description changes.
//! Whole C programs run in `tests/test_process.py`.

mod common;
#[path = "common/process.rs"]
mod process;

use breakeven_machine::{Cause, Host, Limits, Machine, RunEnd};
use common::asm::*;
use serde_json::json;

const LIMITS: Limits = Limits { insts: 2_000_000, cycles: 10_000_000, ticks: 0 };

/// A system call: number and arguments are constants.
fn call(a: &mut Asm, number: u64, args: &[u64]) {
    for (n, v) in args.iter().enumerate() {
        a.li(A0 + n as u32, *v);
    }
    a.li(17, number);
    a.word(0x73);
}

fn exit_with(a: &mut Asm, reg: u32) {
    a.mv(A0, reg).li(17, 93).word(0x73);
}

fn machine(core: &str, a: &Asm, params: serde_json::Value) -> Machine {
    let description = process::emulated(core, &["program"], params);
    Machine::new_with(&description, &a.elf(), &Host::default()).unwrap_or_else(|e| panic!("{core}: {e}"))
}

fn run_all(a: &Asm, check: impl Fn(&str, &mut Machine, &RunEnd)) {
    for core in process::RISCV {
        let mut m = machine(core, a, json!({}));
        let end = m.run(LIMITS);
        check(core, &mut m, &end);
    }
}

#[test]
fn output_and_exit_status_come_out_of_every_core() {
    let mut a = Asm::new();
    a.data(DATA, b"hello\n");
    call(&mut a, 64, &[1, DATA, 6]);
    a.mv(S0, A0).addi(S0, S0, 300);
    exit_with(&mut a, S0);
    a.spin();
    run_all(&a, |core, m, end| {
        assert_eq!(
            (end.cause.text(), end.code),
            ("exiting with last active thread context", 306 - 256),
            "{core}: {end:?}"
        );
        assert_eq!(m.bus.process.as_ref().map(|p| p.stdout()), Some(&b"hello\n"[..]), "{core}");
        // Nothing comes after the end.
        let again = m.run(LIMITS);
        assert_eq!((again.cause, again.code, again.insts), (end.cause, end.code, end.insts), "{core}");
    });
}

#[test]
fn a_fault_ends_the_process_with_its_address() {
    let mut a = Asm::new();
    a.li(T0, 0x7654_3210).sd(ZERO, T0, 0);
    a.spin();
    run_all(&a, |core, _, end| {
        assert_eq!((end.cause.text(), end.code), ("the process was ended by a signal", 128 + 11), "{core}: {end:?}");
        assert!(end.detail.contains("0x76543210") && end.detail.contains("written"), "{core}: {}", end.detail);
    });
    let mut a = Asm::new();
    a.word(0xffff_ffff);
    run_all(&a, |core, _, end| assert_eq!(end.code, 128 + 4, "{core}: {end:?}"));
    let mut a = Asm::new();
    a.word(0x0010_0073); // ebreak
    run_all(&a, |core, _, end| assert_eq!(end.code, 128 + 5, "{core}: {end:?}"));
}

#[test]
fn pseudo_ops_work_in_a_process_and_reach_pages_that_it_has_not_touched() {
    let mut a = Asm::new();
    a.data(DATA, b"out.bin\0");
    call(&mut a, 222, &[0, 0x3000, 3, 0x22, 0, 0]); // mmap
    a.mv(S1, A0);
    a.m5(0x50, &[0, 4, 0]); // readfile to nowhere
    a.mv(S0, A0);
    a.mv(A0, S1).addi(A1, ZERO, 4).addi(A2, ZERO, 0).word(0x50 << 25 | 0x7b);
    a.add(S0, S0, A0);
    a.mv(A0, S1).addi(A1, ZERO, 4).addi(A2, ZERO, 0).li(A3, DATA).word(0x4f << 25 | 0x7b);
    a.add(S0, S0, A0).fail_with(S0);
    for core in process::RISCV {
        let mut m = machine(core, &a, json!({}));
        m.bus.readfile = b"data".to_vec().into();
        let end = m.run(LIMITS);
        assert_eq!((end.cause.text(), end.code), ("m5_fail instruction encountered", 8), "{core}: {end:?}");
        assert_eq!(m.bus.outputs.files.get("out.bin").map(Vec::as_slice), Some(&b"data"[..]), "{core}");
    }
}

#[test]
fn time_is_simulated_and_the_same_in_every_run() {
    let mut a = Asm::new();
    call(&mut a, 113, &[1, DATA]);
    call(&mut a, 64, &[1, DATA, 16]);
    call(&mut a, 278, &[DATA, 16, 0]); // getrandom
    call(&mut a, 64, &[1, DATA, 16]);
    exit_with(&mut a, ZERO);
    a.spin();
    for core in process::RISCV {
        let run = || {
            let mut m = machine(core, &a, json!({}));
            let end = m.run(LIMITS);
            (end.cycles, m.bus.process.as_ref().expect("is there").stdout().to_vec())
        };
        let (first, second) = (run(), run());
        assert_eq!(first, second, "{core}");
        let ns = u64::from_le_bytes(first.1[8..16].try_into().expect("8 bytes"));
        assert!(ns > 0 && ns < 1_000_000, "{core}: {ns} ns after a few instructions");
    }
}

#[test]
fn translations_cost_nothing_unless_they_are_timed() {
    let mut a = Asm::new();
    call(&mut a, 222, &[0, 0x40000, 3, 0x22, 0, 0]);
    a.mv(T0, A0);
    for _ in 0..64 {
        // Every page twice: the second time it is there.
        a.sd(ZERO, T0, 0).ld(T1, T0, 8);
        a.li(T2, 0x1000).add(T0, T0, T2);
    }
    exit_with(&mut a, ZERO);
    a.spin();
    for core in ["timing", "minor", "o3"] {
        let cycles = |timed: bool| {
            let mut d: serde_json::Value =
                serde_json::from_str(&process::emulated(core, &["program"], json!({}))).expect("JSON");
            for o in d["objects"].as_array_mut().expect("objects") {
                if o["path"] == "system.workload" {
                    o["params"]["timed_translation"] = json!(timed);
                }
            }
            let mut m = Machine::new(&d.to_string(), &a.elf()).expect("builds");
            let end = m.run(LIMITS);
            assert_eq!(end.code, 0, "{core}: {end:?}");
            let misses: f64 = m
                .stats()
                .iter()
                .filter(|s| s.name.contains("dtb.") && s.name.ends_with("isses"))
                .map(|s| s.value)
                .sum();
            (end.cycles, misses)
        };
        let (free, walked) = (cycles(false), cycles(true));
        assert!(free.1 == 0.0 && walked.1 >= 64.0 && walked.0 > free.0, "{core}: {free:?} {walked:?}");
    }
}

#[test]
fn a_program_needs_its_own_instruction_set_and_points_need_bare_metal() {
    let mut a = Asm::new();
    exit_with(&mut a, ZERO);
    let wrong = Machine::new(&process::emulated("x86_timing", &["program"], json!({})), &a.elf());
    assert!(wrong.err().is_some_and(|e| e.to_string().contains("RISC-V")));
    let sweep = breakeven_machine::Sweep::new(&process::emulated("atomic", &["program"], json!({})), &a.elf());
    assert!(sweep.err().is_some_and(|e| e.to_string().contains("bare-metal")));
    let m = machine("atomic", &a, json!({"maxStackSize": 1 << 16})).run(LIMITS);
    assert_eq!(m.cause, Cause::Exit(breakeven_base::bus::ExitCause::ProcessExit));
}

/// `clone` with SIGCHLD: a fork.
fn fork(a: &mut Asm) {
    call(a, 220, &[17, 0, 0, 0, 0]);
}

#[test]
fn processes_take_turns_on_every_core() {
    let mut a = Asm::new();
    a.data(DATA, b"PC");
    fork(&mut a);
    a.mv(S0, A0);
    let to_parent = a.words.len();
    a.word(0); // beqz s0 to the child's part
    call(&mut a, 260, &[0xffff_ffff, DATA + 16, 0, 0]); // wait4
    call(&mut a, 64, &[1, DATA, 1]);
    a.li(T0, DATA).ld(S0, T0, 16).word(0x0084_5413); // srli s0, s0, 8
    exit_with(&mut a, S0);
    let child = a.words.len();
    call(&mut a, 64, &[1, DATA + 1, 1]);
    a.addi(S0, ZERO, 77);
    exit_with(&mut a, S0);
    a.spin();
    let mut jump = Asm::new();
    jump.words.resize(to_parent, 0);
    jump.beq(S0, ZERO, child);
    a.words[to_parent] = jump.words[to_parent];
    run_all(&a, |core, m, end| {
        assert_eq!(
            (end.cause.text(), end.code),
            ("exiting with last active thread context", 77),
            "{core}: {end:?} {:?}",
            m.bus.process.as_ref().map(|p| p.warnings().to_vec())
        );
        assert_eq!(m.bus.process.as_ref().map(|p| p.stdout()), Some(&b"CP"[..]), "{core}");
    });
}

#[test]
fn a_fork_bomb_and_ignored_alarms_end() {
    let mut a = Asm::new();
    let start = a.words.len();
    fork(&mut a);
    a.beq(ZERO, ZERO, start);
    let mut m = machine("atomic", &a, json!({}));
    let end = m.run(Limits { insts: 200_000, ..LIMITS });
    assert_eq!(end.cause, Cause::MaxInsts, "{end:?}");
    let told = m.bus.process.as_ref().expect("is there").warnings().to_vec();
    assert_eq!(told, ["64 processes are there, as many as there may be: a further one is EAGAIN"]);

    // SIGALRM ignored, a timer of a microsecond, pause: nothing ever happens.
    let mut a = Asm::new();
    a.data(DATA, &1u64.to_le_bytes());
    a.data(DATA + 64, &[0u64, 1, 0, 1].map(u64::to_le_bytes).concat());
    call(&mut a, 134, &[14, DATA, 0, 8]);
    call(&mut a, 103, &[0, DATA + 64, 0]);
    call(&mut a, 73, &[0, 0, 0, 0, 0]); // ppoll
    exit_with(&mut a, ZERO);
    a.spin();
    let end = machine("atomic", &a, json!({})).run(LIMITS);
    assert_eq!(end.code, 137, "{end:?}");
}

#[test]
fn a_handler_that_never_returns_runs_out_of_stack() {
    let mut a = Asm::new();
    // The handler sends the signal again: s0 counts.
    let handler = a.here();
    a.addi(S0, S0, 1);
    call(&mut a, 130, &[100, 10]); // tkill
    a.spin();
    let start = a.words.len();
    call(&mut a, 134, &[10, DATA, 0, 8]);
    call(&mut a, 130, &[100, 10]);
    a.spin();
    // SA_NODEFER.
    a.data(DATA, &[handler, 0x4000_0000, 0].map(u64::to_le_bytes).concat());
    let mut whole = Asm::new();
    whole.beq(ZERO, ZERO, start + 1);
    whole.words.extend(&a.words);
    whole.data(DATA, &[handler + 4, 0x4000_0000, 0].map(u64::to_le_bytes).concat());
    for core in ["atomic", "o3"] {
        let mut m = machine(core, &whole, json!({"maxStackSize": 1 << 16}));
        let end = m.run(LIMITS);
        assert_eq!(end.code, 139, "{core}: {end:?}");
        assert!(end.detail.contains("stack"), "{core}: {}", end.detail);
    }
}
