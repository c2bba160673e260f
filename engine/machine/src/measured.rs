//! What happened inside a point's measurement: all statistics from its first reading of the cycle counter to its last.
//!
//! A run is the same every time, so nothing has to be added to the guest: one run of the point tells at which cycles the
//! guest read its counter, a second one stops at the two readings of interest. The measurement taken is the one that the
//! result's median comes from.

use std::io::Write;
use std::ops::ControlFlow;

use breakeven_base::Stat;

use crate::machine::{Cause, Limits, Machine};
use crate::platform::{Platform, READINGS};
use crate::sweep::{result, run_point, stopped, Sweep, RECORD_BYTES, RESULT_BYTES};
use crate::{EngineError, TraceOptions};

/// Cycles before a measurement from which on its micro-ops are followed: what is in flight as it begins was fetched before
/// it, by as many cycles as the counter's reading waited for what is older. A lead that is too short is lengthened.
const LEAD: u64 = 1 << 9;
const LONGER: u64 = 32;

/// Measures whose later measurements alone are of all their calls (workloads/harness/contract.h).
const SLOPES: [u32; 2] = [1, 2];

/// At most so many measurements of empty calls come before all others (workloads/harness/arch.h, `OVERHEADS`).
const EMPTY: usize = 10;

/// Asked every few milliseconds; may stop what is run.
type Observer<'a> = &'a mut dyn FnMut() -> ControlFlow<()>;

/// One measurement of a point, from the inside.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The point's result, as a sweep gives it.
    pub result: [u8; RESULT_BYTES],
    /// Core cycles since reset of the measurement's two readings of the counter; 0 when the point has no measurement.
    pub begin: u64,
    pub end: u64,
    /// All statistics of the cycles in between; empty when there are none.
    pub stats: Vec<Stat>,
    /// Those of the measurement that the guest subtracts from this one: of empty calls, or of half as many calls.
    pub subtracted: Vec<Stat>,
    /// Whether the trace, if one was wanted, holds all of them (false: it reached its limit).
    pub traced: bool,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// The measurement that the median comes from: of the last pairs of readings, which are the measurements, the one whose rank
/// is the median's. Of throughput and interleaved they are the last two thirds of `repetitions`. The guest may count in
/// another unit than core cycles (x86's time stamps), and the median may be a difference, so cycles are not compared with it.
/// Of several with the same cycles it is the last: predictors have learned by then.
fn median_of(readings: &[u64], record: &[u8]) -> Option<(u64, u64)> {
    let (measure, repetitions) = (u32_at(record, 60), u32_at(record, 64).max(1));
    let taken = if SLOPES.contains(&measure) { repetitions - repetitions / 3 } else { repetitions } as usize;
    let measured = || readings.rchunks_exact(2).take(taken).map(|pair| (pair[0], pair[1]));
    let cost = |(begin, end): (u64, u64)| end.saturating_sub(begin);
    let mut costs: Vec<u64> = measured().map(cost).collect();
    costs.sort_unstable();
    let median = *costs.get(costs.len().saturating_sub(1) / 2)?;
    measured().find(|&pair| cost(pair) == median)
}

/// The measurement that is subtracted from the median's, likewise: of a slope the median of the first third of all
/// measurements, else the cheapest of the empty ones, which come before the warm-up and of which the first warms the code up.
fn subtracted(readings: &[u64], record: &[u8]) -> Option<(u64, u64)> {
    let (measure, repetitions, warmup) = (u32_at(record, 60), u32_at(record, 64).max(1), u32_at(record, 88));
    let cost = |&(begin, end): &(u64, u64)| end.saturating_sub(begin);
    let pairs: Vec<_> = readings.rchunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    if SLOPES.contains(&measure) {
        let first = (repetitions / 3).max(1) as usize;
        let mut later: Vec<_> = pairs.into_iter().skip((repetitions - repetitions / 3) as usize).take(first).collect();
        later.truncate(first.div_ceil(2));
        later.sort_by_key(cost);
        return later.get(later.len().saturating_sub(1) / 2).copied();
    }
    let before = pairs.get((repetitions + warmup) as usize..)?;
    let empty = before.get(before.len().saturating_sub(EMPTY)..)?;
    empty.split_last()?.1.iter().min_by_key(|pair| cost(pair)).copied()
}

/// Runs to a core cycle at which the measurement has a boundary.
fn run_to(machine: &mut Machine, cycle: u64, observer: Observer<'_>) -> Result<(), EngineError> {
    let end = machine.run_observed(Limits { cycles: cycle, ..Limits::default() }, &mut |_| observer());
    match end.cause {
        Cause::HostFailed => Err(EngineError::Trace(end.detail)),
        Cause::Interrupted => Err(stopped()),
        Cause::MaxCycles if end.cycles == cycle => Ok(()),
        other => Err(EngineError::Sweep(format!(
            "the core stopped at cycle {} ({}) and not at {cycle}, where the measurement has a boundary",
            end.cycles,
            other.text()
        ))),
    }
}

/// All statistics of the cycles between two of the core's.
fn between(machine: &mut Machine, (begin, end): (u64, u64), observer: Observer<'_>) -> Result<Vec<Stat>, EngineError> {
    run_to(machine, begin, observer)?;
    machine.reset_stats();
    run_to(machine, end, observer)?;
    Ok(machine.stats())
}

/// Where the micro-ops of a measurement go.
pub struct TraceTo {
    pub to: Box<dyn Write + Send + Sync>,
    /// Up to so many bytes.
    pub limit: u64,
    /// With the functional unit of each.
    pub units: bool,
}

impl Sweep {
    /// Runs one point and looks into its measurement; its micro-ops go to `trace`.
    ///
    /// # Errors
    /// A record that is not whole, a host without memory, a core that cannot stop at a cycle (the atomic one) or, when a
    /// trace is wanted, has none.
    pub fn measured(&self, record: &[u8], trace: Option<TraceTo>) -> Result<Measured, EngineError> {
        self.measured_observed(record, &[], trace, &mut || ControlFlow::Continue(()))
    }

    /// As [`Sweep::measured`], with `lists` as of [`Sweep::run_with_lists`]; `observer` is asked every few milliseconds, and
    /// may stop it.
    ///
    /// # Errors
    /// As there, and a run that was stopped.
    pub fn measured_observed(
        &self,
        record: &[u8],
        lists: &[u8],
        trace: Option<TraceTo>,
        observer: Observer<'_>,
    ) -> Result<Measured, EngineError> {
        if record.len() != RECORD_BYTES {
            return Err(EngineError::Sweep(format!("{} bytes are not a record of {RECORD_BYTES}", record.len())));
        }
        let mut machine = self.machine()?;
        machine.bus.cycle_reads = Some(Vec::new());
        let end = run_point(&mut machine, record, lists, observer);
        if end.cause == Cause::Interrupted {
            return Err(stopped());
        }
        let result = result(&machine, &end, 0);
        let readings = machine.bus.cycle_reads.take().unwrap_or_default();
        let right = u32_at(&result, 4) == 0;
        let Some((begin, end)) = median_of(&readings, record).filter(|_| right) else {
            return Ok(Measured { result, begin: 0, end: 0, stats: Vec::new(), subtracted: Vec::new(), traced: true });
        };
        if readings.len() >= READINGS {
            let message = format!("more than {READINGS} readings of the cycle counter: take fewer repetitions");
            return Err(EngineError::Sweep(message));
        }
        // Again from the snapshot: RAM that belongs to one point cannot be taken back by another machine.
        drop(machine);
        let less = subtracted(&readings, record).filter(|before| before.1 <= begin);
        let (mut machine, less) = match (trace, less) {
            (Some(trace), less) => {
                let less =
                    less.map(|less| between(&mut self.with_point((record, lists))?, less, observer)).transpose()?;
                (self.traced_at((record, lists), begin, trace, observer)?, less)
            }
            (None, less) => {
                let mut machine = self.with_point((record, lists))?;
                let less = less.map(|less| between(&mut machine, less, observer)).transpose()?;
                (machine, less)
            }
        };
        let stats = between(&mut machine, (begin, end), observer)?;
        Ok(Measured { result, begin, end, stats, subtracted: less.unwrap_or_default(), traced: machine.end_trace()? })
    }

    /// A machine that has run to `begin` and whose trace, of what is in flight there and of all that follows, goes where `trace` says.
    fn traced_at(
        &self,
        point: (&[u8], &[u8]),
        begin: u64,
        TraceTo { to, limit, units }: TraceTo,
        observer: Observer<'_>,
    ) -> Result<Machine, EngineError> {
        let all = TraceOptions { start: 0, end: 0, limit: u64::MAX, pipeline: true, units, instructions: false };
        let mut lead = LEAD;
        loop {
            let mut machine = self.with_point(point)?;
            let (snapshot, start) = (machine.state.core.cycles(), begin.saturating_sub(lead));
            if start > snapshot {
                // Thereabouts: a core that stops later, or at another boundary, is told below.
                let limits = Limits { cycles: start, ..Limits::default() };
                if machine.run_observed(limits, &mut |_| observer()).cause == Cause::Interrupted {
                    return Err(stopped());
                }
            }
            machine.trace(Box::new(std::io::sink()), all)?;
            run_to(&mut machine, begin, observer)?;
            if machine.forget_ended() || start <= snapshot {
                machine.trace_into(to, limit);
                return Ok(machine);
            }
            lead = lead.saturating_mul(LONGER);
        }
    }

    /// A machine at the snapshot that keeps an account and is given the point: its record, and lists.
    fn with_point(&self, (record, lists): (&[u8], &[u8])) -> Result<Machine, EngineError> {
        let mut machine = self.machine()?;
        crate::sweep::give_point(&mut machine, record, lists);
        machine.keep_account();
        Ok(machine)
    }

    /// A machine at the snapshot.
    pub(crate) fn machine(&self) -> Result<Machine, EngineError> {
        let bus = Platform::from_image(&self.image, &self.devices, &self.config.platform)?;
        let mut machine = Machine::from_parts(self.config.clone(), self.state.clone(), bus);
        machine.only_work_in_detail = self.only_work_in_detail;
        Ok(machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_medians_measurement_is_found_among_the_last_ones() {
        let mut record = [0; RECORD_BYTES];
        record[64] = 3;
        // An empty measurement that costs as much as the median is none of the three; the last of two equal ones counts.
        let readings = [0, 70, 100, 170, 200, 290, 300, 370, 400, 470];
        assert_eq!(median_of(&readings, &record), Some((400, 470)));
        assert_eq!(median_of(&[0, 70, 200, 290, 300, 375, 400, 470], &record), Some((300, 375)));
        // A reading before the first pair does not shift them.
        let more: Vec<u64> = std::iter::once(7).chain(readings).collect();
        assert_eq!(median_of(&more, &record), Some((400, 470)));
        assert_eq!(median_of(&[7], &record), None);
        // Of a throughput the last two of three measurements: 90 and 75, of which the lower is the median.
        record[60] = 1;
        assert_eq!(median_of(&[0, 70, 200, 290, 300, 375], &record), Some((300, 375)));
    }

    #[test]
    fn what_the_median_is_without_is_found_before_it() {
        let pairs = |costs: &[u64]| -> Vec<u64> {
            costs.iter().enumerate().flat_map(|(i, cost)| [1000 * i as u64, 1000 * i as u64 + cost]).collect()
        };
        let mut record = [0; RECORD_BYTES];
        (record[64], record[88]) = (3, 2);
        // The first empty measurement warms the code up, however cheap it is; then a warm-up of two and three measurements.
        let empty = [5, 19, 21, 20, 20, 22, 22, 22, 22, 22];
        let all = [&empty[..], &[9, 9, 50, 51, 52]].concat();
        assert_eq!(subtracted(&pairs(&all), &record), Some((1000, 1019)));
        assert_eq!(subtracted(&pairs(&[20, 50, 51]), &record), None);
        // A throughput: the later ones of the first third are what the others are without.
        (record[60], record[64]) = (1, 15);
        let all = [&[99, 99, 70, 60, 40, 45, 50][..], &[90; 10]].concat();
        assert_eq!(subtracted(&pairs(&all), &record), Some((5000, 5045)));
        record[64] = 2;
        assert_eq!(subtracted(&pairs(&[7, 7, 40, 90, 91]), &record), Some((2000, 2040)));
    }
}
