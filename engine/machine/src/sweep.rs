//! Sweeps: a guest is booted once, up to its first `readfile`; every point then starts from that snapshot, on any
//! number of threads, and none sees what another did.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use breakeven_base::{Bus, MemImage};

use crate::machine::{Cause, Limits, Machine, RunEnd, State};
use crate::platform::Devices;
use crate::{EngineError, MachineConfig};

/// Bytes of a point's record and of its result (`docs/guests.md`).
pub const RECORD_BYTES: usize = 128;
pub const RESULT_BYTES: usize = 64;
const HEADER_BYTES: usize = 32;
const RESULTS_FILE: &str = "results.bin";
/// The status of a point that did not finish; the detail says why ([`Unfinished`]).
const STATUS_UNFINISHED: u32 = 7;

/// Limit of a boot: hundreds of times that of our guests, and seconds for one that never reads its points.
const BOOT: Limits = Limits { insts: 20_000_000, cycles: 1_000_000_000, ticks: 0 };
/// Least time between two reports of progress, each of which may stop the sweep.
const PROGRESS: Duration = Duration::from_millis(5);
/// How long a thread batches results: waking the collecting thread costs as much as a tenth of a short point.
const KEEP: Duration = Duration::from_millis(5);

/// Why a point has no result of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Unfinished {
    Insts = 1,
    Cycles = 2,
    Deadlock = 3,
    /// The guest ended without writing a result.
    NoResult = 4,
    /// A bug of memoized execution.
    NotRepeated = 5,
}

impl Unfinished {
    fn of(cause: Cause, has_result: bool) -> Option<Unfinished> {
        match cause {
            Cause::MaxInsts => Some(Unfinished::Insts),
            Cause::MaxCycles => Some(Unfinished::Cycles),
            Cause::Deadlock => Some(Unfinished::Deadlock),
            Cause::NotRepeated => Some(Unfinished::NotRepeated),
            _ => (!has_result).then_some(Unfinished::NoResult),
        }
    }
}

/// A progress report of [`Sweep::run`]: how many points are done, and the results since the last report.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    pub done: usize,
    pub total: usize,
    /// Of the points whose results are in `results`, [`RESULT_BYTES`] each.
    pub indices: &'a [u32],
    pub results: &'a [u8],
}

/// Results with the indices of their points.
type Results = Vec<(usize, [u8; RESULT_BYTES])>;

/// What of a guest's execution a sweep simulates in detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What lies between a work-begin and the next work-end pseudo-op, and all that comes before the first work-end. The rest
    /// is executed functionally, with caches and TLBs kept warm.
    Work,
    Everything,
}

/// A booted guest.
pub struct Sweep {
    pub(crate) config: Arc<MachineConfig>,
    pub(crate) state: State,
    pub(crate) devices: Devices,
    pub(crate) image: MemImage,
    /// What a guest does between its work items is executed functionally.
    pub(crate) only_work_in_detail: bool,
    /// Machines of earlier runs, back at the snapshot: making one costs as much as a short point.
    idle: Mutex<Vec<Machine>>,
}

impl Sweep {
    /// Boots the guest.
    ///
    /// # Errors
    /// What [`Machine::new`] refuses, and guests that end or hang before they read their points.
    pub fn new(description: &str, elf: &[u8]) -> Result<Sweep, EngineError> {
        Sweep::new_observed(description, elf, Detail::Work, &mut || ControlFlow::Continue(()))
    }

    /// As [`Sweep::new`], with so much in detail; `observer` is asked now and then while the guest boots, and may stop it.
    ///
    /// # Errors
    /// As there, and a boot that was stopped.
    pub fn new_observed(
        description: &str,
        elf: &[u8],
        detail: Detail,
        observer: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Sweep, EngineError> {
        let mut m = Machine::new(description, elf)?;
        let only_work_in_detail = detail == Detail::Work && m.state.core.times_instructions();
        m.only_work_in_detail = only_work_in_detail;
        if m.bus.process.is_some() {
            return Err(EngineError::Sweep("points are run by a bare-metal guest; set Root.full_system".to_owned()));
        }
        m.bus.pauses.at_readfile = true;
        let end = m.run_observed(BOOT, &mut |_| observer());
        if end.cause != Cause::Paused {
            let is_reported = matches!(end.cause, Cause::Deadlock | Cause::NotRepeated);
            let question = if is_reported { ":" } else { "; is it a breakeven guest?" };
            return Err(EngineError::Sweep(format!(
                "the guest did not ask for its points (readfile) but stopped after {} instructions with \"{}\", code {}{question}{}",
                end.insts,
                end.cause.text(),
                end.code,
                // A deadlock's report names every queue; its first line says what happened.
                end.detail.lines().next().map(|line| format!(" {line}")).unwrap_or_default()
            )));
        }
        let image = m.bus.ram_mut().freeze()?;
        m.state.mem.freeze();
        let Machine { config, mut state, bus, .. } = m;
        state.core.release_memory();
        let devices = bus.devices().clone();
        Ok(Sweep { config, state, devices, image, only_work_in_detail, idle: Mutex::default() })
    }

    /// As [`Machine::memoize`], for the points to come.
    pub fn memoize(&mut self, on: bool) {
        self.state.core.memoize(on);
    }

    /// As [`Machine::memo_statistics`], of each thread's machine.
    #[must_use]
    pub fn memo_statistics(&self) -> Vec<breakeven_cpu::MemoStatistics> {
        self.idle().iter().filter_map(Machine::memo_statistics).collect()
    }

    /// Runs every point; results are in the order of the records and do not depend on `threads` (0: all of the host's).
    /// `observer` is called from this thread, at most 200 times a second and once at the end, and may stop the sweep.
    ///
    /// # Errors
    /// Records that are not whole, a host without memory, and a sweep that was stopped.
    pub fn run(
        &self,
        records: &[u8],
        threads: usize,
        observer: &mut dyn FnMut(Report<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<u8>, EngineError> {
        self.run_with_lists(records, &[], threads, observer)
    }

    /// As [`Sweep::run`]; `lists` stand behind each point's record in the file that the guest reads.
    ///
    /// # Errors
    /// As there.
    pub fn run_with_lists(
        &self,
        records: &[u8],
        lists: &[u8],
        threads: usize,
        observer: &mut dyn FnMut(Report<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<u8>, EngineError> {
        if records.len() % RECORD_BYTES != 0 {
            return Err(EngineError::Sweep(format!(
                "{} bytes of records are not a multiple of {RECORD_BYTES}",
                records.len()
            )));
        }
        let total = records.len() / RECORD_BYTES;
        let threads = match threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            n => n.min(1024),
        };
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let mut results = vec![0u8; total * RESULT_BYTES];
        let (send, receive) = mpsc::channel();
        let outcome = thread::scope(|scope| {
            for _ in 0..threads.min(total) {
                let (send, next, stop) = (send.clone(), &next, &stop);
                scope.spawn(move || {
                    if let Err(e) = self.work(records, lists, next, stop, &send) {
                        // The receiver lives until all workers are gone.
                        let _ = send.send(Err(e));
                    }
                });
            }
            drop(send);
            let outcome = collect(&receive, &mut results, total, observer);
            stop.store(true, Ordering::Relaxed);
            outcome
        });
        outcome.map(|()| results)
    }

    /// A worker thread: takes the next point until there is none.
    fn work(
        &self,
        records: &[u8],
        lists: &[u8],
        next: &AtomicUsize,
        stop: &AtomicBool,
        send: &mpsc::Sender<Result<Results, EngineError>>,
    ) -> Result<(), EngineError> {
        let mut machine = match self.idle().pop() {
            Some(machine) => machine,
            None => self.machine()?,
        };
        let mut restored = true;
        let (mut kept, mut sent) = (Results::new(), Instant::now());
        while !stop.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(record) = records.get(i * RECORD_BYTES..(i + 1) * RECORD_BYTES) else { break };
            if !restored {
                machine.restore(&self.state, &self.devices)?;
            }
            restored = false;
            let end = run_point(&mut machine, record, lists, &mut || match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            });
            if end.cause == Cause::Interrupted {
                break;
            }
            kept.push((i, result(&machine, &end, i)));
            if sent.elapsed() >= KEEP {
                // Without a receiver the sweep has been stopped, and `stop` is set.
                let _ = send.send(Ok(std::mem::take(&mut kept)));
                sent = Instant::now();
            }
        }
        let _ = send.send(Ok(kept));
        if !restored {
            machine.restore(&self.state, &self.devices)?;
        }
        machine.state.core.release_memory();
        self.idle().push(machine);
        Ok(())
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Machine>> {
        // A machine is in the list only while it stands at the snapshot, whatever happened to a thread.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The caller wanted no more of it.
pub(crate) fn stopped() -> EngineError {
    EngineError::Sweep("stopped before its end".to_owned())
}

/// Takes results as they come and tells the caller.
fn collect(
    receive: &mpsc::Receiver<Result<Results, EngineError>>,
    results: &mut [u8],
    total: usize,
    observer: &mut dyn FnMut(Report<'_>) -> ControlFlow<()>,
) -> Result<(), EngineError> {
    let (mut done, mut told) = (0, Instant::now());
    let (mut fresh, mut fresh_results) = (Vec::new(), Vec::new());
    loop {
        if done == total || told.elapsed() >= PROGRESS {
            told = Instant::now();
            let report = Report { done, total, indices: &fresh, results: &fresh_results };
            if observer(report).is_break() {
                return Err(stopped());
            }
            fresh.clear();
            fresh_results.clear();
        }
        if done == total {
            return Ok(());
        }
        match receive.recv_timeout(PROGRESS) {
            Ok(some) => {
                for (i, bytes) in some? {
                    results[i * RESULT_BYTES..(i + 1) * RESULT_BYTES].copy_from_slice(&bytes);
                    fresh.push(i as u32);
                    fresh_results.extend_from_slice(&bytes);
                    done += 1;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(stopped()),
        }
    }
}

/// A points file that holds one record, and the lists of calls that it may name.
fn points_file(record: &[u8], lists: &[u8]) -> Arc<[u8]> {
    let mut file = Vec::with_capacity(HEADER_BYTES + RECORD_BYTES + lists.len());
    file.extend_from_slice(b"BEPOINTS");
    file.extend_from_slice(&2u32.to_le_bytes());
    file.extend_from_slice(&(RECORD_BYTES as u32).to_le_bytes());
    file.extend_from_slice(&1u64.to_le_bytes());
    file.extend_from_slice(&0u64.to_le_bytes());
    file.extend_from_slice(record);
    file.extend_from_slice(lists);
    file.into()
}

/// Gives the guest its next point.
pub(crate) fn give_point(machine: &mut Machine, record: &[u8], lists: &[u8]) {
    machine.bus.pauses.at_readfile = false;
    machine.bus.readfile = points_file(record, lists);
}

pub(crate) fn run_point(
    machine: &mut Machine,
    record: &[u8],
    lists: &[u8],
    observer: &mut dyn FnMut() -> ControlFlow<()>,
) -> RunEnd {
    give_point(machine, record, lists);
    let limits = limits(record, machine);
    machine.run_observed(limits, &mut |_| observer())
}

/// Limits of a point from the snapshot on: far more than any routine that ends needs.
fn limits(record: &[u8], machine: &Machine) -> Limits {
    let u32_at =
        |at: usize| u64::from(u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]));
    let u64_at = |at: usize| u32_at(at) | u32_at(at + 4) << 32;
    const LARGEST: u64 = 1 << 24;
    let bytes = u64_at(40).min(LARGEST) + u64_at(72).min(LARGEST) + 4096;
    let calls = (u32_at(64).max(1)).saturating_mul(u32_at(68).max(1)).saturating_add(u32_at(88)).saturating_add(8);
    // A byte of a trapping copy costs tens of instructions, a cold one some hundred cycles.
    let insts = bytes.saturating_mul(calls).saturating_mul(128).saturating_add(50_000_000).min(1_000_000_000_000);
    let (booted, cycles) = (machine.state.core.insts(), machine.state.core.cycles());
    Limits { insts: booted.saturating_add(insts), cycles: cycles.saturating_add(insts.saturating_mul(20)), ticks: 0 }
}

/// The guest's result under the point's own index, or why there is none.
pub(crate) fn result(machine: &Machine, end: &RunEnd, index: usize) -> [u8; RESULT_BYTES] {
    let mut out = [0u8; RESULT_BYTES];
    let written = machine.bus.outputs.files.get(RESULTS_FILE).and_then(|f| f.get(..RESULT_BYTES));
    if let Some(bytes) = written {
        out.copy_from_slice(bytes);
    }
    if let Some(why) = Unfinished::of(end.cause, written.is_some()) {
        out = [0; RESULT_BYTES];
        out[4..8].copy_from_slice(&STATUS_UNFINISHED.to_le_bytes());
        out[48..56].copy_from_slice(&(why as u64).to_le_bytes());
    }
    // 2^32 points would be 512 GiB of records.
    out[..4].copy_from_slice(&(index as u32).to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_says_why_its_point_did_not_finish() {
        let why = |cause, has_result| Unfinished::of(cause, has_result).map(|why| why as u64);
        assert_eq!((why(Cause::Paused, true), why(Cause::Paused, false)), (None, Some(4)));
        assert_eq!([Cause::Deadlock, Cause::NotRepeated].map(|cause| why(cause, true)), [Some(3), Some(5)]);
    }
}
