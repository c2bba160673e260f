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
    s.count("hostMemory", host_memory(), Unit::Byte, "Number of bytes of host memory used");
    s.count("simInsts", insts, Unit::Count, "Number of instructions simulated");
    s.real("simOps", ops, Unit::Count, "Number of ops (including micro ops) simulated");
    s.real("hostInstRate", rate(insts as f64), Unit::CountPerSecond, "Simulator instruction rate");
    s.real("hostOpRate", rate(ops), Unit::CountPerSecond, "Simulator op (including micro ops) rate");
}

/// The process's address space, as gem5 counts it; 0 where the host does not say.
fn host_memory() -> u64 {
    // The first number of statm: pages of 4 KiB on every host that we build for.
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    pages.and_then(|text| text.split(' ').next()?.parse::<u64>().ok()).map_or(0, |n| n << 12)
}

/// A statistic without its value.
type Name = (String, Unit, &'static str);

/// Dumps in little space: a guest may dump thousands of times, and only the values change.
#[derive(Debug, Default)]
pub struct Dumps {
    names: Vec<Name>,
    /// Which names a dump has, and its values.
    dumps: Vec<(std::ops::Range<usize>, Vec<f64>)>,
}

impl Dumps {
    /// Dumps that are kept: a guest that dumps every nanosecond must not fill the host's memory.
    pub const LIMIT: usize = 4000;

    /// Keeps a dump; `false` when there are [`Dumps::LIMIT`] already.
    #[must_use]
    pub fn push(&mut self, stats: Vec<Stat>) -> bool {
        if self.dumps.len() == Self::LIMIT {
            return false;
        }
        let last = self.dumps.last().map_or(0..0, |(range, _)| range.clone());
        let same = last.len() == stats.len() && self.names[last.clone()].iter().zip(&stats).all(|(n, s)| n.0 == s.name);
        let values = stats.iter().map(|s| s.value).collect();
        let range = if same {
            last
        } else {
            let start = self.names.len();
            self.names.extend(stats.into_iter().map(|s| (s.name, s.unit, s.desc)));
            start..self.names.len()
        };
        self.dumps.push((range, values));
        true
    }

    pub fn iter(&self) -> impl Iterator<Item = Vec<Stat>> + '_ {
        self.dumps.iter().map(|(range, values)| {
            let names = self.names[range.clone()].iter().zip(values);
            names.map(|((name, unit, desc), &value)| Stat { name: name.clone(), value, unit: *unit, desc }).collect()
        })
    }
}

/// Dumps as gem5 writes them: one block each.
#[must_use]
pub fn text(dumps: impl Iterator<Item = Vec<Stat>>) -> String {
    let mut out = String::new();
    for dump in dumps {
        out.push_str("\n---------- Begin Simulation Statistics ----------\n");
        for s in &dump {
            // Writing to a string cannot fail. The blanks are gem5's columns for distributions.
            let _ = writeln!(
                out,
                "{:<40} {:>12} {:>10} {:>10} # {} ({})",
                s.name,
                number(s.value),
                "",
                "",
                s.desc,
                s.unit.gem5_name()
            );
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
        let stat = |name: &str, value| Stat {
            name: name.to_owned(),
            value,
            unit: Unit::Tick,
            desc: "Number of ticks simulated",
        };
        let dump = vec![stat("simTicks", 57_467_000.0), stat("half", 0.5), stat("none", f64::NAN)];
        let t = text([dump].into_iter());
        assert!(t.contains("simTicks                                     57467000                       # Number of ticks simulated (Tick)\n"), "{t}");
        assert!(t.contains(" 0.500000 ") && t.contains(" nan "));
    }

    #[test]
    fn dumps_come_back_as_they_were_and_have_an_end() {
        let stat = |name: &str, value| Stat { name: name.to_owned(), value, unit: Unit::Count, desc: "d" };
        let (a, b, c) =
            (vec![stat("x", 1.0), stat("y", 2.0)], vec![stat("x", 3.0), stat("y", 4.0)], vec![stat("z", 5.0)]);
        let mut dumps = Dumps::default();
        for d in [&a, &b, &c, &a] {
            assert!(dumps.push(d.clone()));
        }
        assert_eq!(dumps.iter().collect::<Vec<_>>(), [a.clone(), b, c, a]);
        while dumps.push(vec![stat("x", 0.0)]) {}
        assert_eq!(dumps.iter().count(), Dumps::LIMIT);
    }
}
