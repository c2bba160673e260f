//! Traces and coverage of a machine's run.

use std::io::Write;

use breakeven_base::Tick;
use breakeven_cpu::pipeview::Window;

use super::Machine;
use crate::error::reason;
use crate::exec::{Coverage, Log};
use crate::trace::{Trace, TraceOptions};
use crate::EngineError;

impl Machine {
    /// From now on the core's micro-ops go to `to`, whose errors name the file. [`Machine::end_trace`] writes what is left.
    ///
    /// # Errors
    /// A core that has no such trace.
    pub fn trace(&mut self, to: Box<dyn Write + Send + Sync>, options: TraceOptions) -> Result<(), EngineError> {
        let clock = &self.config.clock;
        let last = if options.end == 0 { u64::MAX } else { clock.edge_at_or_after(Tick(options.end)).0 };
        let window = Window { first: clock.edge_at_or_after(Tick(options.start)).0, last, units: options.units };
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

    /// Restarts the pipeline's trace here: drops the records of micro-ops that have left. False where a micro-op in flight was fetched
    /// before the trace began.
    pub(crate) fn forget_ended(&mut self) -> bool {
        self.state.core.forget_ended()
    }

    /// The trace goes to `to` from now on, up to `limit` bytes.
    pub(crate) fn trace_into(&mut self, to: Box<dyn Write + Send + Sync>, limit: u64) {
        self.trace = Some(Trace { to, left: limit, truncated: false });
    }

    /// From now on records coverage of the code from `start` to `end`, in place of a trace of instructions. Much slower on the
    /// simple cores.
    pub fn cover(&mut self, start: u64, end: u64) {
        self.state.fe.set_coverage(Coverage::new(start, end));
    }

    /// Which code has run since [`Machine::cover`].
    #[must_use]
    pub fn coverage(&self) -> Option<&Coverage> {
        self.state.fe.coverage()
    }

    /// Writes what the core has recorded (and, with `finish`, what it still waits to complete). False when the host refuses
    /// it, which becomes the reason why the run ends.
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
                self.bus.refusal = Some(format!("cannot write the trace {}", reason(&e)));
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
            return Err(EngineError::Trace(self.bus.refusal.take().unwrap_or_default()));
        }
        trace.to.flush().map_err(|e| EngineError::Trace(format!("cannot write the trace {}", reason(&e))))?;
        Ok(!trace.truncated)
    }
}
