//! Sweeps: every point from the same snapshot, in order, whatever the threads.

mod common;

use std::ops::ControlFlow;

use breakeven_machine::sweep::{RECORD_BYTES, RESULT_BYTES};
use breakeven_machine::{Detail, EngineError, Measured, Sweep, TraceTo};
use common::asm::*;
use common::reference;

const SIZE_AT: usize = 40;
const ENDLESS: u64 = 0xdead;
const SILENT: u64 = 0xdeaf;

/// A guest after the contract, in short: the "routine" counts `size` down while it bumps a word in memory; the result
/// holds that word (which must start from zero for every point) and the cycles.
fn guest() -> Vec<u8> {
    let (points, result, word, name) = (DATA, DATA + 0x400, DATA + 0x800, DATA + 0xc00);
    let mut a = Asm::new();
    a.data(name, b"results.bin\0");
    a.m5(0x50, &[points, 4096, 0]);
    a.li(S0, points + 32 + SIZE_AT as u64).ld(S1, S0, 0);
    a.li(T0, ENDLESS);
    let over = a.words.len() + 2;
    a.bne(S1, T0, over).spin();
    a.li(T0, SILENT);
    let over = a.words.len() + 4;
    a.bne(S1, T0, over).addi(A0, ZERO, 0).op(0x21).spin();
    a.li(T0, word).csrr(A4, 0xb00);
    let top = a.words.len();
    a.ld(T1, T0, 0).addi(T1, T1, 1).sd(T1, T0, 0).addi(S1, S1, -1).bne(S1, ZERO, top);
    a.csrr(A5, 0xb00).li(T0, result).sd(T1, T0, 40).sd(A4, T0, 8).sd(A5, T0, 16);
    a.m5(0x4f, &[result, 64, 0, name]).exit();
    a.elf()
}

fn records(sizes: &[u64]) -> Vec<u8> {
    let mut out = vec![0; sizes.len() * RECORD_BYTES];
    for (r, size) in out.chunks_exact_mut(RECORD_BYTES).zip(sizes) {
        r[..7].copy_from_slice(b"routine");
        r[SIZE_AT..SIZE_AT + 8].copy_from_slice(&size.to_le_bytes());
    }
    out
}

fn u64_at(result: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(result[at..at + 8].try_into().expect("8 bytes"))
}

fn run(sweep: &Sweep, sizes: &[u64], threads: usize) -> Vec<u8> {
    sweep.run(&records(sizes), threads, &mut |_| ControlFlow::Continue(())).expect("runs")
}

#[test]
fn results_are_the_same_for_any_number_of_threads_and_order() {
    let sizes: Vec<u64> = (0..60).map(|i| 1 + (i * 37) % 500).collect();
    for core in ["atomic", "timing", "minor"] {
        let sweep = Sweep::new(&reference(core).json(), &guest()).expect("boots");
        let one = run(&sweep, &sizes, 1);
        for threads in [2, 3, 0] {
            assert_eq!(one, run(&sweep, &sizes, threads), "{core}, {threads} threads");
        }
        for (i, result) in one.chunks_exact(RESULT_BYTES).enumerate() {
            assert_eq!(result[..4], (i as u32).to_le_bytes());
            assert_eq!(u64_at(result, 40), sizes[i], "{core}: each point starts from zeros");
        }
        // A point's cycles do not depend on what ran before it.
        let alone = run(&sweep, &sizes[17..18], 1);
        assert_eq!(alone[8..24], one[17 * RESULT_BYTES + 8..17 * RESULT_BYTES + 24], "{core}");
    }
}

#[test]
fn points_that_do_not_finish_have_results_that_say_so() {
    let sweep = Sweep::new(&reference("atomic").json(), &guest()).expect("boots");
    let results = run(&sweep, &[5, ENDLESS, SILENT, 6], 2);
    let status = |i: usize| (u64_at(&results, i * RESULT_BYTES) >> 32, u64_at(&results, i * RESULT_BYTES + 48));
    assert_eq!([status(0), status(1), status(2), status(3)], [(0, 0), (7, 1), (7, 4), (0, 0)]);
    assert_eq!(u64_at(&results, 3 * RESULT_BYTES + 40), 6);
}

#[test]
fn every_result_is_reported_once_as_it_comes() {
    let sweep = Sweep::new(&reference("atomic").json(), &guest()).expect("boots");
    let sizes: Vec<u64> = (1..200).collect();
    let (mut seen, mut last) = (vec![0u8; sizes.len() * RESULT_BYTES], 0);
    let results = sweep.run(&records(&sizes), 2, &mut |report| {
        assert_eq!(report.results.len(), report.indices.len() * RESULT_BYTES);
        assert_eq!((report.done, report.total), (last + report.indices.len(), sizes.len()));
        last = report.done;
        for (&i, result) in report.indices.iter().zip(report.results.chunks_exact(RESULT_BYTES)) {
            let at = i as usize * RESULT_BYTES..(i as usize + 1) * RESULT_BYTES;
            assert!(seen[at.clone()].iter().all(|&b| b == 0), "point {i} reported twice");
            seen[at].copy_from_slice(result);
        }
        ControlFlow::Continue(())
    });
    assert_eq!((last, results.expect("runs")), (sizes.len(), seen));
}

#[test]
fn a_sweep_can_be_stopped() {
    let sweep = Sweep::new(&reference("atomic").json(), &guest()).expect("boots");
    let stopped = sweep.run(&records(&[ENDLESS; 64]), 2, &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(EngineError::Sweep(_))), "{stopped:?}");
    // The machines that were stopped inside a point begin the next one at the snapshot.
    let fresh = Sweep::new(&reference("atomic").json(), &guest()).expect("boots");
    assert_eq!(run(&sweep, &[5, 6, 7], 2), run(&fresh, &[5, 6, 7], 1));
}

#[test]
fn guests_that_read_no_points_and_broken_records_are_refused() {
    let error = |asm: &Asm| Sweep::new(&reference("atomic").json(), &asm.elf()).err().expect("refused").to_string();
    assert!(error(Asm::new().exit()).contains("did not ask for its points"));
    let endless = error(Asm::new().word(0x6f));
    assert!(endless.contains("max instruction count") && !endless.contains('\n'), "{endless}");
    let stopped =
        Sweep::new_observed(&reference("atomic").json(), &Asm::new().word(0x6f).elf(), Detail::Work, &mut || {
            ControlFlow::Break(())
        });
    assert!(stopped.err().expect("refused").to_string().contains("interrupted"));
    let sweep = Sweep::new(&reference("atomic").json(), &guest()).expect("boots");
    let broken = sweep.run(&[0; 100], 1, &mut |_| ControlFlow::Continue(()));
    assert!(broken.expect_err("refused").to_string().contains("multiple of 128"));
    assert_eq!(sweep.run(&[], 1, &mut |_| ControlFlow::Continue(())).expect("nothing to do"), Vec::<u8>::new());
}

#[test]
fn a_measurement_is_looked_into_without_disturbing_it() {
    for core in ["timing", "minor"] {
        let sweep = Sweep::new(&reference(core).json(), &guest()).expect("boots");
        let stat = |m: &Measured, name: &str| m.stats.iter().find(|s| s.name == name).map(|s| s.value);
        let records = records(&[50, 51, 0xdeaf]);
        let at = |i: usize| &records[i * RECORD_BYTES..(i + 1) * RECORD_BYTES];
        let (a, b) = (sweep.measured(at(0), None).expect("runs"), sweep.measured(at(1), None).expect("runs"));
        assert_eq!(a.result.to_vec(), run(&sweep, &[50], 1), "{core}: as in a sweep");
        assert_eq!((a.begin, a.end), (u64_at(&a.result, 8), u64_at(&a.result, 16)), "{core}: the guest's own readings");
        for m in [&a, &b] {
            assert_eq!(stat(m, "system.cpu.numCycles"), Some((m.end - m.begin) as f64), "{core}");
        }
        // One turn more: five instructions, and nothing else.
        let insts = |m| stat(m, "simInsts").expect("counted");
        assert_eq!(insts(&b) - insts(&a), 5.0, "{core}");
        let silent = sweep.measured(at(2), None).expect("runs");
        assert!(silent.stats.is_empty(), "{core}: no result, no measurement");
    }
    let sweep = Sweep::new(&reference("minor").json(), &guest()).expect("boots");
    assert!(sweep.measured(&[0; 100], None).is_err());
    let sweep = Sweep::new(&reference("timing").json(), &guest()).expect("boots");
    let untraced =
        sweep.measured(&records(&[5]), Some(TraceTo { to: Box::new(Vec::new()), limit: 1 << 20, units: false }));
    assert!(matches!(untraced, Err(EngineError::Trace(_))), "a core without a pipeline has no such trace");
}
