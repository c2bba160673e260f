//! The traces of a machine (O3PipeView, Exec) on their way into a file.

use std::io::Write;

use breakeven_base::Tick;
use breakeven_cpu::pipeview::Window;

use crate::error::reason;
use crate::exec::{Coverage, Log};
use crate::machine::Machine;
use crate::EngineError;

/// What to trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceOptions {
    /// Micro-ops fetched from this tick on and before that one (0: to the end).
    pub start: u64,
    pub end: u64,
    /// Bytes after which the trace ends; a micro-op takes some 250.
    pub limit: u64,
    /// O3PipeView: the stages of each micro-op, of an out-of-order core or Minor.
    pub pipeline: bool,
    /// Exec: each instruction, of any core.
    pub instructions: bool,
}

/// Where a trace goes.
pub(crate) struct Trace {
    to: Box<dyn Write + Send + Sync>,
    left: u64,
    truncated: bool,
}

/// Instructions run between two looks at the trace, which is also how late a store's record may come: gem5's viewer sorts
/// within a thousand.
pub(crate) const TRACE_SLICE: u64 = 1 << 8;

impl Trace {
    /// Takes what the core has recorded; the error is what the host says, `Ok(false)` that the trace is full.
    /// `last_line`: how the last line of a record begins, empty: a record is a line.
    pub fn drain(&mut self, records: &str, last_line: &str) -> std::io::Result<bool> {
        let room = usize::try_from(self.left).unwrap_or(usize::MAX);
        let fits = if records.len() <= room {
            records.len()
        } else {
            self.truncated = true;
            let end_of = |at: usize| records[at..].find('\n').map_or(records.len(), |n| at + n + 1);
            records
                .match_indices(last_line)
                .map(|(at, _)| end_of(at))
                .take_while(|&end| end <= room)
                .last()
                .unwrap_or(0)
        };
        self.to.write_all(&records.as_bytes()[..fits])?;
        self.left -= fits as u64;
        if self.truncated {
            self.left = 0;
        }
        Ok(!self.truncated)
    }
}

impl Machine {
    /// From now on the core's micro-ops go to `to`, whose errors name the file. [`Machine::end_trace`] writes what is left.
    ///
    /// # Errors
    /// A core that has no such trace.
    pub fn trace(&mut self, to: Box<dyn Write + Send + Sync>, options: TraceOptions) -> Result<(), EngineError> {
        let clock = &self.config.clock;
        let last = if options.end == 0 { u64::MAX } else { clock.edge_at_or_after(Tick(options.end)).0 };
        let window = Window { first: clock.edge_at_or_after(Tick(options.start)).0, last };
        if options.pipeline && !self.state.core.set_trace(Some(window)) {
            return Err(EngineError::Trace(
                "O3PipeView is the trace of a pipeline: take a machine with an O3CPU or a MinorCPU".to_owned(),
            ));
        }
        if options.instructions {
            let last = if options.end == 0 { u64::MAX } else { options.end };
            let log = Log { cpu: self.config.cpu.clone(), first: options.start, last, text: String::new() };
            self.state.fe.set_log(Some(log));
        }
        self.trace = Some(Trace { to, left: options.limit, truncated: false });
        Ok(())
    }

    /// From now on which code between the addresses `start` and `end` runs is kept: instead of a trace of instructions, and
    /// on the simple cores much slower than without.
    pub fn cover(&mut self, start: u64, end: u64) {
        self.state.fe.set_coverage(Coverage::new(start, end));
    }

    /// Which code has run since [`Machine::cover`].
    #[must_use]
    pub fn coverage(&self) -> Option<&Coverage> {
        self.state.fe.coverage()
    }

    /// Writes what the core has recorded (and, with `finish`, what it still waits to complete). False when the host refuses
    /// it, which becomes the run's complaint.
    pub(crate) fn drain_trace(&mut self, finish: bool) -> bool {
        let Some(trace) = &mut self.trace else { return true };
        // Whole records only: a micro-op's seven lines stay together.
        let stages = trace.drain(&self.state.core.take_trace(finish), "O3PipeView:retire:");
        match stages.and_then(|room| Ok(room && trace.drain(&self.state.fe.take_log(), "")?)) {
            Ok(true) => true,
            Ok(false) => {
                self.state.core.set_trace(None);
                self.state.fe.set_log(None);
                true
            }
            Err(e) => {
                self.bus.complaint = Some(format!("cannot write the trace {}", reason(&e)));
                false
            }
        }
    }

    /// Ends the trace; whether it is whole (false: it reached its limit).
    ///
    /// # Errors
    /// What the host says when the file cannot be written.
    pub fn end_trace(&mut self) -> Result<bool, EngineError> {
        let written = self.drain_trace(true);
        self.state.core.set_trace(None);
        self.state.fe.set_log(None);
        let Some(mut trace) = self.trace.take() else { return Ok(true) };
        if !written {
            return Err(EngineError::Trace(self.bus.complaint.take().unwrap_or_default()));
        }
        trace.to.flush().map_err(|e| EngineError::Trace(format!("cannot write the trace {}", reason(&e))))?;
        Ok(!trace.truncated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_trace_ends_at_its_limit_with_a_whole_record() {
        const LAST: &str = "O3PipeView:retire:";
        let record = "O3PipeView:fetch:1:0x0:0:1:  nop\nO3PipeView:retire:2:store:0\n";
        let file = Shared::default();
        let mut t = Trace { to: Box::new(file.clone()), left: 3 * record.len() as u64 - 1, truncated: false };
        assert!(t.drain(record, LAST).expect("written"));
        assert!(!t.drain(&record.repeat(5), LAST).expect("written"), "full");
        assert!(!t.drain(record, LAST).expect("written"), "stays full");
        assert_eq!(*file.0.lock().expect("not poisoned"), record.repeat(2).into_bytes());
    }
}
