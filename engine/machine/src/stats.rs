//! The statistics of the simulation itself, and gem5's `stats.txt`.

use std::fmt::Write;

use breakeven_base::{Stat, StatSink, Unit};

/// Totals since reset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub insts: u64,
    pub ticks: u64,
}

const TICKS_PER_SECOND: u64 = 1_000_000_000_000;

/// gem5's root statistics, from `reset` to `now`; without `ops`, each instruction counts as one.
#[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
pub(crate) fn simulation(s: &mut StatSink, reset: Totals, now: Totals, ops: Option<f64>, host_seconds: f64) {
    let (ticks, insts) = (now.ticks - reset.ticks, now.insts - reset.insts);
    let ops = ops.unwrap_or(insts as f64);
    let rate = |n: f64| if host_seconds > 0.0 { (n / host_seconds).round() } else { 0.0 };
    s.real("simSeconds", ticks as f64 / TICKS_PER_SECOND as f64, Unit::Second, "Number of seconds simulated");
    s.count("simTicks", ticks, Unit::Tick, "Number of ticks simulated");
    s.count("finalTick", now.ticks, Unit::Tick, "Number of ticks from beginning of simulation (never reset)");
    s.count("simFreq", TICKS_PER_SECOND, Unit::TickPerSecond, "The number of ticks per simulated second");
    s.real("hostSeconds", host_seconds, Unit::Second, "Real time elapsed on the host");
    s.real("hostTickRate", rate(ticks as f64), Unit::TickPerSecond, "The number of ticks simulated per host second");
    s.count("simInsts", insts, Unit::Count, "Number of instructions simulated");
    s.real("simOps", ops, Unit::Count, "Number of ops (including micro ops) simulated");
    s.real("hostInstRate", rate(insts as f64), Unit::CountPerSecond, "Simulator instruction rate");
    s.real("hostOpRate", rate(ops), Unit::CountPerSecond, "Simulator op (including micro ops) rate");
}

/// Dumps as gem5 writes them: one block each.
#[must_use]
pub fn text(dumps: &[Vec<Stat>]) -> String {
    let mut out = String::new();
    for dump in dumps {
        out.push_str("\n---------- Begin Simulation Statistics ----------\n");
        for s in dump {
            // Writing to a string cannot fail. The blanks are gem5's columns for distributions.
            let _ = writeln!(out, "{:<40} {:>12} {:>10} {:>10} # {} ({})", s.name, number(s.value), "", "", s.desc, s.unit.gem5_name());
        }
        out.push_str("\n---------- End Simulation Statistics   ----------\n");
    }
    out
}

/// gem5's rule: whole numbers without decimals, others with six.
fn number(v: f64) -> String {
    if v.is_nan() {
        "nan".to_owned()
    } else if v == v.round() {
        format!("{v:.0}")
    } else {
        format!("{v:.6}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_in_gem5s_columns() {
        let stat = |name: &str, value| Stat { name: name.to_owned(), value, unit: Unit::Tick, desc: "Number of ticks simulated" };
        let t = text(&[vec![stat("simTicks", 57_467_000.0), stat("half", 0.5), stat("none", f64::NAN)]]);
        assert!(t.contains("simTicks                                     57467000                       # Number of ticks simulated (Tick)\n"), "{t}");
        assert!(t.contains(" 0.500000 ") && t.contains(" nan "));
    }
}
