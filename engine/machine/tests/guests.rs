//! Small guests on every core: pseudo-ops, HTIF, CLINT, UART, statistics and limits.

mod common;

use std::ops::ControlFlow;

use breakeven_machine::{Cause, Event, Limits, Machine, RunEnd};
use common::asm::*;
use common::{reference, Tree};
use serde_json::json;

const CORES: [&str; 3] = ["atomic", "timing", "minor"];
const LIMITS: Limits = Limits { insts: 2_000_000, cycles: 10_000_000, ticks: 0 };

fn machine(core: &str, asm: &Asm) -> Machine {
    Machine::new(&reference(core).json(), &asm.elf()).expect("builds")
}

/// Runs the guest on every core; each must end alike.
fn run_all(asm: &Asm, check: impl Fn(&str, &Machine, &RunEnd)) {
    for core in CORES {
        let mut m = machine(core, asm);
        let end = m.run(LIMITS);
        check(core, &m, &end);
    }
}

fn expect_code(asm: &Asm, code: i64) {
    run_all(asm, |core, _, end| {
        assert_eq!((end.cause.text(), end.code), ("m5_fail instruction encountered", code), "{core}: {end:?}")
    });
}

#[test]
fn sum_and_initparam_return_values() {
    expect_code(Asm::new().m5(0x23, &[1, 2, 3, 4, 5, 6]).fail_with(A0), 21);
    let mut a = Asm::new();
    a.m5(0x30, &[0, 0]).fail_with(A0);
    for core in CORES {
        let mut m = machine(core, &a);
        m.bus.init_param = 4711;
        assert_eq!(m.run(LIMITS).code, 4711, "{core}");
    }
}

#[test]
fn files_go_through_memory() {
    let mut a = Asm::new();
    a.data(DATA, b"out.bin\0");
    let buffer = DATA + 0xff0; // crosses a page
    a.m5(0x50, &[buffer, 100, 0]).mv(S0, A0);
    a.m5(0x50, &[buffer + 100, 100, 100]).add(S0, S0, A0);
    a.m5(0x50, &[buffer, 100, 5000]).add(S0, S0, A0);
    a.m5(0x4f, &[buffer, 150, 0, DATA]).add(S0, S0, A0);
    a.m5(0x4f, &[buffer, 10, 200, DATA]).add(S0, S0, A0).fail_with(S0);
    let input: Vec<u8> = (0..150u8).collect();
    for core in CORES {
        let mut m = machine(core, &a);
        m.bus.readfile = input.clone().into();
        assert_eq!(m.run(LIMITS).code, 100 + 50 + 150 + 10, "{core}");
        let out = &m.bus.outputs.files["out.bin"];
        assert_eq!(out[..150], input[..]);
        assert_eq!((out.len(), &out[150..200], &out[200..]), (210, &[0u8; 50][..], &input[..10]));
    }
}

#[test]
fn hostile_files_are_refused_to_the_guest() {
    let mut a = Asm::new();
    a.data(DATA, b"../etc/passwd\0").data(DATA + 64, b"ok\0").data(DATA + 128, &[b'x'; 400]);
    let mut bad = |args: &[u64]| {
        // Each refusal is -1 and counts one.
        a.m5(0x4f, args).addi(A0, A0, 1);
        let over = a.words.len() + 2;
        a.bne(A0, ZERO, over).addi(S0, S0, 1);
    };
    bad(&[DATA, 4, 0, DATA]); // a path
    bad(&[DATA, 4, 0, 0x1000]); // a name nowhere
    bad(&[DATA, 4, 0, DATA + 128]); // a name without end
    bad(&[DATA, 4, 0, DATA + 70]); // an empty name
    bad(&[DATA, 0xffff_ffff, 0, DATA + 64]); // 4 GiB
    bad(&[DATA, 4, 0xffff_ffff, DATA + 64]); // beyond the limit
    bad(&[0x1000, 4, 0, DATA + 64]); // a buffer nowhere
    a.m5(0x50, &[0x1000, 8, 0]).add(S0, S0, A0).fail_with(S0);
    expect_code(&a, 7);
}

#[test]
fn unknown_functions_of_gem5_end_the_run_with_their_name() {
    run_all(Asm::new().m5(0x43, &[0, 0]).spin(), |core, _, end| {
        assert_eq!(end.cause, Cause::Unsupported, "{core}");
        assert!(end.detail.contains("checkpoint"), "{core}: {}", end.detail);
    });
}

#[test]
fn exit_honours_its_delay() {
    run_all(Asm::new().m5(0x21, &[1000]).spin(), |core, _, end| {
        assert_eq!(end.cause.text(), "m5_exit instruction encountered", "{core}");
        assert!((1_000_000..2_000_000).contains(&end.ticks), "{core}: {} ticks", end.ticks);
    });
}

#[test]
fn panic_and_rpns() {
    run_all(Asm::new().op(0x54).spin(), |core, _, end| {
        assert_eq!(end.cause.text(), "m5_panic instruction encountered", "{core}")
    });
    let mut a = Asm::new();
    a.addi(T0, ZERO, 1000);
    let top = a.words.len();
    a.addi(T0, T0, -1).bne(T0, ZERO, top).op(0x07).fail_with(A0);
    run_all(&a, |core, _, end| {
        assert!(end.code > 100 && end.code as u64 <= end.ticks / 1000, "{core}: {} ns of {}", end.code, end.ticks);
    });
}

fn stat(stats: &[breakeven_base::Stat], name: &str) -> f64 {
    stats.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("no {name}")).value
}

#[test]
fn statistics_are_dumped_and_reset() {
    let mut a = Asm::new();
    a.m5(0x40, &[0, 0]);
    for _ in 0..50 {
        a.addi(T0, T0, 1);
    }
    a.m5(0x42, &[0, 0]).m5(0x41, &[0, 0]).exit();
    run_all(&a, |core, m, _| {
        assert_eq!(m.dumps().len(), 2, "{core}");
        let insts = stat(&m.dumps()[0], "simInsts");
        assert!((52.0..=53.0).contains(&insts), "{core}: {insts} instructions");
        assert!(stat(&m.dumps()[1], "simInsts") < 10.0, "{core}");
        assert!(stat(&m.dumps()[0], "simTicks") >= 500.0 * 25.0, "{core}");
        let text = m.stats_txt();
        assert_eq!(text.matches("Begin Simulation Statistics").count(), 2);
        assert!(text.contains("system.cpu.numCycles"), "{core}: {text}");
    });
}

#[test]
fn dumps_repeat_with_their_period_and_the_observer_sees_them() {
    let mut a = Asm::new();
    a.m5(0x41, &[1000, 500]).spin();
    for core in CORES {
        let mut m = machine(core, &a);
        let mut seen = 0;
        let end = m.run_observed(Limits { ticks: 3_200_000, ..LIMITS }, &mut |e| {
            seen += u32::from(matches!(e, Event::Dump(_)));
            ControlFlow::Continue(())
        });
        assert_eq!(end.cause.text(), "simulate() limit reached", "{core}");
        assert!((4..=5).contains(&seen), "{core}: {seen} dumps");
        assert_eq!(m.dumps().len(), seen as usize);
    }
}

#[test]
fn a_guest_that_dumps_or_schedules_without_end_is_stopped() {
    let mut a = Asm::new();
    a.addi(A0, ZERO, 0).addi(A1, ZERO, 0);
    let top = a.words.len();
    a.op(0x41).beq(ZERO, ZERO, top);
    let end = machine("atomic", &a).run(LIMITS);
    assert_eq!(end.cause, Cause::Unsupported);
    assert!(end.detail.contains("4000 times"), "{}", end.detail);
    let mut a = Asm::new();
    a.li(A0, 1_000_000_000).addi(A1, ZERO, 0);
    let top = a.words.len();
    a.op(0x40).beq(ZERO, ZERO, top);
    run_all(&a, |core, _, end| assert!(end.detail.contains("put off"), "{core}: {end:?}"));
    // Few that come again in every cycle are as much work.
    let mut a = Asm::new();
    a.li(A0, 1).li(A1, 1);
    for _ in 0..900 {
        a.op(0x40);
    }
    let top = a.words.len();
    a.beq(ZERO, ZERO, top);
    run_all(&a, |core, _, end| assert!(end.detail.contains("carried out"), "{core}: {end:?}"));
}

#[test]
fn work_items_stop_the_run_only_when_asked_to() {
    let mut a = Asm::new();
    a.m5(0x5a, &[7, 0]).m5(0x5b, &[7, 0]).exit();
    run_all(&a, |core, _, end| assert_eq!(end.cause.text(), "m5_exit instruction encountered", "{core}"));
    for core in CORES {
        let mut t = reference(core);
        t.set("system", "exit_on_work_items", json!(true));
        let mut m = Machine::new(&t.json(), &a.elf()).expect("builds");
        let causes: Vec<_> = (0..3).map(|_| m.run(LIMITS).cause.text()).collect();
        assert_eq!(causes, ["workbegin", "workend", "m5_exit instruction encountered"], "{core}");
    }
}

#[test]
fn htif_prints_and_exits() {
    let mut a = Asm::new();
    a.li(T0, TOHOST);
    // putchar: device 1, command 1
    a.li(T1, 0x0101).slli(T1, T1, 48).addi(T2, T1, i32::from(b'h')).sd(T2, T0, 0);
    a.addi(T2, T1, i32::from(b'i')).sd(T2, T0, 0);
    // write(1, DATA, 7) through memory
    a.data(DATA, b", there").li(S0, DATA + 64);
    a.li(T2, 64).sd(T2, S0, 0).li(T2, 1).sd(T2, S0, 8).li(T2, DATA).sd(T2, S0, 16).li(T2, 7).sd(T2, S0, 24);
    a.sd(S0, T0, 0).ld(S1, S0, 0);
    // exit with the number of bytes written
    a.slli(S1, S1, 1).addi(S1, S1, 1).sd(S1, T0, 0).spin();
    run_all(&a, |core, m, end| {
        assert_eq!((end.cause.text(), end.code), ("htif exit", 7), "{core}");
        assert_eq!(m.bus.devices().console.bytes, b"hi, there", "{core}");
    });
}

#[test]
fn the_uart_prints() {
    let mut a = Asm::new();
    a.li(T0, 0x1000_0000).li(T1, u64::from(b'!')).sb(T1, T0, 0).exit();
    run_all(&a, |core, m, _| assert_eq!(m.bus.devices().console.bytes, b"!", "{core}"));
}

#[test]
fn the_timer_interrupts_a_waiting_hart() {
    let mut a = Asm::new();
    // The handler's address is filled in below: it follows the spin.
    let build = |a: &mut Asm, handler: u64| {
        a.li(T0, handler).csrw(0x305, T0);
        a.li(T0, 0x0200_4000).li(T1, 50).sd(T1, T0, 0); // 50 counts of 100 ns
        a.li(T0, 0x80).csrw(0x304, T0).addi(T0, ZERO, 8).csrs(0x300, T0);
        a.wfi().spin();
    };
    build(&mut a, 0);
    let handler = a.here();
    a.words.clear();
    // `li` of an address has four words whatever its value beyond 2047.
    build(&mut a, handler + 12);
    while a.here() < handler + 12 {
        a.addi(ZERO, ZERO, 0);
    }
    a.csrr(S0, 0x342).slli(S0, S0, 1).fail_with(S0); // mcause without its top bit
    run_all(&a, |core, _, end| {
        assert_eq!((end.cause.text(), end.code), ("m5_fail instruction encountered", 14), "{core}: {end:?}");
        assert!((5_000_000..6_000_000).contains(&end.ticks), "{core}: {} ticks", end.ticks);
    });
}

#[test]
fn a_hart_that_waits_for_nothing_ends() {
    run_all(Asm::new().wfi().spin(), |core, _, end| assert!(matches!(end.cause, Cause::Exit(_)), "{core}: {end:?}"));
}

#[test]
fn every_run_has_its_limits_and_can_go_on() {
    for core in CORES {
        let mut m = machine(core, Asm::new().spin());
        let end = m.run(Limits { insts: 1000, ..LIMITS });
        assert_eq!(end.cause, Cause::MaxInsts, "{core}");
        assert!((1000..1010).contains(&end.insts), "{core}: {}", end.insts);
        let end = m.run(Limits { cycles: 50_000, ..LIMITS });
        assert_eq!(end.cause, Cause::MaxCycles, "{core}");
        assert!((50_000..51_000).contains(&end.cycles), "{core}: {}", end.cycles);
        let end = m.run(Limits { ticks: 30_000_000, ..LIMITS });
        assert_eq!((end.cause, end.ticks >= 30_000_000), (Cause::MaxTicks, true), "{core}");
        let end = m.run_observed(Limits::default(), &mut |_| ControlFlow::Break(()));
        assert_eq!(end.cause, Cause::Interrupted, "{core}");
    }
    let mut t: Tree = reference("timing");
    t.set("system.cpu", "max_insts_any_thread", json!(500));
    let mut m = Machine::new(&t.json(), &Asm::new().spin().elf()).expect("builds");
    assert_eq!(m.run(LIMITS).cause.text(), "a thread reached the max instruction count");
    assert_eq!(m.run(LIMITS).cause, Cause::MaxInsts);
}

#[test]
fn the_observer_is_asked_though_each_pseudo_op_has_an_effect() {
    for core in CORES {
        let mut a = Asm::new();
        let again = a.words.len();
        // m5_work_begin; m5_reset_stats
        a.op(0x5a).op(0x40).beq(ZERO, ZERO, again);
        let mut m = machine(core, &a);
        let end = m.run_observed(Limits { insts: 30_000_000, ..Limits::default() }, &mut |e| match e {
            Event::Slice => ControlFlow::Break(()),
            Event::Dump(_) => ControlFlow::Continue(()),
        });
        assert_eq!(end.cause, Cause::Interrupted, "{core}");
    }
}

#[test]
fn slices_do_not_change_what_is_simulated() {
    let mut a = Asm::new();
    a.li(T0, 20_000).li(T1, DATA);
    let top = a.words.len();
    a.ld(T2, T1, 0).add(T2, T2, T0).sd(T2, T1, 0).addi(T0, T0, -1).bne(T0, ZERO, top).exit();
    for core in CORES {
        let whole = machine(core, &a).run(LIMITS);
        let mut m = machine(core, &a);
        let mut step = 0;
        let pieces = loop {
            step += 777;
            let end = m.run(Limits { insts: step, ..LIMITS });
            if end.cause != Cause::MaxInsts {
                break end;
            }
        };
        assert_eq!((whole.cause, whole.insts, whole.cycles), (pieces.cause, pieces.insts, pieces.cycles), "{core}");
    }
}
