//! `Machine`: one guest on one machine.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use breakeven_base::Stat;
use breakeven_machine as engine;
use pyo3::exceptions::PyBrokenPipeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::{guarded, refuse, EngineError};

/// A statistic: name, value, unit, description.
pub(crate) type Row = (String, f64, &'static str, &'static str);

pub(crate) fn rows(stats: &[Stat]) -> Vec<Row> {
    stats.iter().map(|s| (s.name.clone(), s.value, s.unit.gem5_name(), s.desc)).collect()
}

/// A trace's file, made when the first byte comes: a machine that has no trace must not cost the user an old file.
pub(crate) struct TraceFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl TraceFile {
    #[allow(clippy::unnecessary_box_returns)] // kept behind a pointer
    pub(crate) fn new(path: PathBuf) -> Box<Self> {
        Box::new(TraceFile { path, file: None })
    }

    fn open(&mut self) -> std::io::Result<&mut BufWriter<File>> {
        let file = match self.file.take() {
            Some(file) => file,
            None => BufWriter::with_capacity(1 << 16, File::create(&self.path)?),
        };
        Ok(self.file.insert(file))
    }

    /// An error with the file's name and what to do.
    fn named(&self, e: &std::io::Error) -> std::io::Error {
        let advice = match e.kind() {
            std::io::ErrorKind::StorageFull => "; make room, trace less, or write elsewhere",
            _ => "",
        };
        let reason = engine::reason(e).to_lowercase();
        std::io::Error::new(e.kind(), format!("{:?}: {reason}{advice}", self.path.display().to_string()))
    }
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.open().and_then(|file| file.write(bytes)).map_err(|e| self.named(&e))
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.open().and_then(Write::flush).map_err(|e| self.named(&e))
    }
}

/// The first exception of the objects that take output.
type Raised = Arc<Mutex<Option<PyErr>>>;

fn take(raised: &Raised) -> Option<PyErr> {
    raised.lock().map_or(None, |mut slot| slot.take())
}

/// Output that goes to a Python object's `write`.
struct PySink {
    file: Py<PyAny>,
    raised: Raised,
}

impl engine::Sink for PySink {
    fn put(&mut self, bytes: &[u8]) -> Result<(), i32> {
        const EIO: i32 = 5;
        const EPIPE: i32 = 32;
        Python::try_attach(|py| match self.file.call_method1(py, "write", (PyBytes::new(py, bytes),)) {
            Ok(_) => Ok(()),
            // A guest whose reader has gone is told so, as on a real machine.
            Err(e) if e.is_instance_of::<PyBrokenPipeError>(py) => Err(EPIPE),
            Err(e) => {
                if let Ok(mut slot) = self.raised.lock() {
                    slot.get_or_insert(e);
                }
                Err(EIO)
            }
        })
        .unwrap_or(Err(EIO))
    }
}

/// A machine built from a description, with a bare-metal ELF loaded.
#[pyclass(module = "breakeven._engine")]
pub struct Machine {
    inner: engine::Machine,
    raised: Raised,
}

/// What watches a run for Python: the caller's hook, and Ctrl-C.
struct Observer {
    hook: Option<Py<PyAny>>,
    error: Option<PyErr>,
    raised: Raised,
    deadline: Option<Instant>,
    late: bool,
}

impl Observer {
    /// Called with the lock released: takes it for signals and for the hook.
    fn see(&mut self, event: &engine::Event) -> ControlFlow<()> {
        if let Some(e) = take(&self.raised) {
            self.error = Some(e);
            return ControlFlow::Break(());
        }
        let dump = match (event, &self.hook) {
            (engine::Event::Dump(stats), Some(hook)) => Some((rows(stats), hook)),
            // Signals are looked at between slices.
            (engine::Event::Dump(_), None) => return ControlFlow::Continue(()),
            (engine::Event::Slice, _) => None,
        };
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.late = true;
            return ControlFlow::Break(());
        }
        let outcome = Python::try_attach(|py| {
            py.check_signals()?;
            dump.map_or(Ok(()), |(rows, hook)| hook.call1(py, (rows,)).map(drop))
        });
        match outcome {
            Some(Ok(())) => ControlFlow::Continue(()),
            Some(Err(e)) => {
                self.error = Some(e);
                ControlFlow::Break(())
            }
            None => ControlFlow::Break(()),
        }
    }
}

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (description, elf, *, readfile=None, init_param=0, stdin=None, directory=None, writable=false,
        max_files=engine::se::MAX_FILES, start_time=engine::se::START_TIME, stdout=None, stderr=None))]
    #[allow(clippy::too_many_arguments)] // Python's keywords
    fn new(
        py: Python<'_>,
        description: &str,
        elf: &[u8],
        readfile: Option<&[u8]>,
        init_param: u64,
        stdin: Option<&[u8]>,
        directory: Option<PathBuf>,
        writable: bool,
        max_files: u64,
        start_time: u64,
        stdout: Option<Py<PyAny>>,
        stderr: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let stdin = stdin.unwrap_or_default().to_vec();
        let host = engine::Host { stdin, directory, writable, max_files, start_time };
        let mut inner = guarded(|| py.detach(|| engine::Machine::new_with(description, elf, &host)).map_err(refuse))?;
        inner.bus.readfile = readfile.unwrap_or_default().into();
        inner.bus.init_param = init_param;
        let raised = Raised::default();
        let sink = |file| Box::new(PySink { file, raised: Arc::clone(&raised) });
        if let Some(file) = stdout {
            inner.bus.set_stdout(sink(file));
        }
        if let Some(file) = stderr {
            inner.bus.set_stderr(sink(file));
        }
        Ok(Machine { inner, raised })
    }

    /// Runs on until something happens; limits are totals since reset, 0: the default. `max_seconds`: of this host's clock, for
    /// this call (0: none).
    #[pyo3(signature = (max_insts=0, max_cycles=0, max_ticks=0, stats_hook=None, max_seconds=0.0))]
    fn run<'py>(
        &mut self,
        py: Python<'py>,
        max_insts: u64,
        max_cycles: u64,
        max_ticks: u64,
        stats_hook: Option<Py<PyAny>>,
        max_seconds: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let limits = engine::Limits { insts: max_insts, cycles: max_cycles, ticks: max_ticks };
        let deadline = Duration::try_from_secs_f64(max_seconds).ok().filter(|d| !d.is_zero());
        let mut observer = Observer {
            hook: stats_hook,
            error: None,
            raised: Arc::clone(&self.raised),
            deadline: deadline.and_then(|d| Instant::now().checked_add(d)),
            late: false,
        };
        let end = guarded(|| Ok(py.detach(|| self.inner.run_observed(limits, &mut |event| observer.see(&event)))))?;
        if let Some(error) = observer.error.or_else(|| take(&self.raised)) {
            return Err(error);
        }
        if end.cause == engine::Cause::HostFailed {
            return Err(EngineError::new_err(end.detail));
        }
        let d = PyDict::new(py);
        let late = observer.late && end.cause == engine::Cause::Interrupted;
        d.set_item("cause", if late { "host time limit reached" } else { end.cause.text() })?;
        d.set_item("code", end.code)?;
        d.set_item("insts", end.insts)?;
        d.set_item("cycles", end.cycles)?;
        d.set_item("ticks", end.ticks)?;
        d.set_item("host_seconds", end.host_seconds)?;
        d.set_item("detail", end.detail)?;
        Ok(d)
    }

    /// From now on the core's micro-ops go to the file `path` (O3PipeView): those fetched in the ticks `start..end` (0: to the
    /// end), up to `limit` bytes.
    ///
    /// `instructions`: gem5's Exec trace, of any core; `pipeline`: O3PipeView.
    #[pyo3(signature = (path, start=0, end=0, limit=1 << 30, *, pipeline=true, instructions=false))]
    fn trace(
        &mut self,
        path: PathBuf,
        start: u64,
        end: u64,
        limit: u64,
        pipeline: bool,
        instructions: bool,
    ) -> PyResult<()> {
        let options = engine::TraceOptions { start, end, limit, pipeline, units: false, instructions };
        guarded(|| self.inner.trace(TraceFile::new(path), options).map_err(refuse))
    }
    /// Ends the trace; whether it is whole (not: its limit was reached).
    fn end_trace(&mut self) -> PyResult<bool> {
        guarded(|| self.inner.end_trace().map_err(refuse))
    }

    /// Instructions, cycles and ticks since reset.
    fn progress(&self) -> (u64, u64, u64) {
        self.inner.progress()
    }
    /// From now on which code from `start` up to `end` runs is kept, instead of a trace; on the simple cores this is slow.
    fn cover(&mut self, start: u64, end: u64) {
        self.inner.cover(start, end);
    }
    /// Since `cover`: where instructions began that have run, how often the code was left by a return, and how often with
    /// something in the upper halves of ymm registers.
    fn coverage(&self) -> (Vec<u64>, u64, u64) {
        self.inner.coverage().map(|c| (c.executed(), c.returns, c.returns_with_upper)).unwrap_or_default()
    }

    /// The statistics now: (name, value, unit, description).
    fn stats(&self) -> PyResult<Vec<Row>> {
        guarded(|| Ok(rows(&self.inner.stats())))
    }
    /// From now on they hold the account of the core's cycles, if it has one.
    fn keep_account(&mut self) -> PyResult<()> {
        guarded(|| {
            self.inner.keep_account();
            Ok(())
        })
    }
    /// Every dump so far.
    fn dumps(&self) -> PyResult<Vec<Vec<Row>>> {
        guarded(|| Ok(self.inner.dumps().iter().map(|d| rows(d)).collect()))
    }
    fn reset_stats(&mut self) -> PyResult<()> {
        guarded(|| {
            self.inner.reset_stats();
            Ok(())
        })
    }
    fn dump_stats(&mut self) -> PyResult<()> {
        guarded(|| match self.inner.dump_stats() {
            true => Ok(()),
            false => Err(EngineError::new_err("there are too many dumps of statistics already")),
        })
    }
    /// Every dump as gem5's stats.txt.
    fn stats_txt(&self) -> PyResult<String> {
        guarded(|| Ok(self.inner.stats_txt()))
    }
    /// The dumps since the last call as gem5's stats.txt; they are forgotten.
    fn take_stats_txt(&mut self) -> PyResult<String> {
        guarded(|| Ok(self.inner.take_stats_txt()))
    }
    /// What the guest printed; a process: to standard output and standard error, as it came.
    fn console<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bus = &self.inner.bus;
        PyBytes::new(py, bus.process.as_ref().map_or(bus.devices().console.bytes.as_slice(), |p| p.output()))
    }
    /// What a process wrote to its standard output.
    fn stdout<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.bus.process.as_ref().map_or(&[][..], |p| p.stdout()))
    }
    /// What a process wrote to its standard error.
    fn stderr<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.bus.process.as_ref().map_or(&[][..], |p| p.stderr()))
    }
    /// What a process asked for in vain, each thing once.
    fn warnings(&self) -> Vec<String> {
        self.inner.bus.process.as_ref().map(|p| p.warnings().to_vec()).unwrap_or_default()
    }
    /// The files that the guest wrote.
    fn outputs<'py>(&self, py: Python<'py>) -> BTreeMap<String, Bound<'py, PyBytes>> {
        self.inner.bus.outputs.files.iter().map(|(name, bytes)| (name.clone(), PyBytes::new(py, bytes))).collect()
    }
}
