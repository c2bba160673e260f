//! `Sweep`: thousands of points from one booted guest.

use std::ops::ControlFlow;
use std::path::PathBuf;

use breakeven_machine as engine;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::machine::{rows, Row, TraceFile};
use crate::{guarded, refuse};

/// A result, two cycles, statistics, those of what is subtracted, whether the trace is whole.
type Measured<'py> = (Bound<'py, PyBytes>, u64, u64, Vec<Row>, Vec<Row>, bool);

/// A guest booted up to its first readfile.
#[pyclass(module = "breakeven._engine", frozen)]
pub struct Sweep {
    inner: engine::Sweep,
}

#[pymethods]
impl Sweep {
    /// `on_progress()` is called every few milliseconds while the guest boots; what it raises ends the boot.
    /// `detailed_everything`: what the guest does between its work items is simulated in detail, too.
    #[new]
    #[pyo3(signature = (description, elf, on_progress=None, detailed_everything=false))]
    fn new(
        py: Python<'_>,
        description: &str,
        elf: &[u8],
        on_progress: Option<Py<PyAny>>,
        detailed_everything: bool,
    ) -> PyResult<Self> {
        let detail = if detailed_everything { engine::Detail::Everything } else { engine::Detail::Work };
        watched(on_progress, |observer| py.detach(|| engine::Sweep::new_observed(description, elf, detail, observer)))
            .map(|inner| Sweep { inner })
    }

    /// Runs records of 128 bytes; results of 64 bytes in the same order, whatever the number of threads (0: all).
    /// `on_progress(done, total)` and `on_results(indices, results)` (32-bit little-endian numbers of the points that are
    /// done since the last call, and their results) are called now and then. `lists`: what stands behind each record in the
    /// file that the guest reads.
    #[pyo3(signature = (records, threads=0, on_progress=None, on_results=None, lists=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        records: &[u8],
        threads: usize,
        on_progress: Option<Py<PyAny>>,
        on_results: Option<Py<PyAny>>,
        lists: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut raised = None;
        let mut observer = |report: engine::SweepReport<'_>| {
            // A thread that is still here when the interpreter ends (Ctrl-C twice) ends, too.
            let outcome = Python::try_attach(|py| {
                // Results first: what is done is the caller's even when it is about to stop.
                if let (Some(f), false) = (&on_results, report.indices.is_empty()) {
                    let indices: Vec<u8> = report.indices.iter().flat_map(|i| i.to_le_bytes()).collect();
                    f.call1(py, (PyBytes::new(py, &indices), PyBytes::new(py, report.results)))?;
                }
                py.check_signals()?;
                on_progress.as_ref().map_or(Ok(()), |f| f.call1(py, (report.done, report.total)).map(drop))
            });
            go_on(outcome, &mut raised)
        };
        let results = guarded(|| {
            Ok(py.detach(|| self.inner.run_with_lists(records, lists.unwrap_or_default(), threads, &mut observer)))
        })?;
        if let Some(error) = raised {
            return Err(error);
        }
        Ok(PyBytes::new(py, &results.map_err(refuse)?))
    }

    /// One point with a look into the measurement of its median: the result (64 bytes), the core's cycles at the two
    /// readings of the counter, and all statistics in between (none for a point without a right result); those of the
    /// measurement that the guest subtracts: empty calls, of a slope half as many calls. Its micro-ops go to the file
    /// `trace` (O3PipeView, with `units` the functional unit of each), up to `trace_limit` bytes; last comes whether that
    /// was enough.
    /// `on_progress()`: as for the boot; `lists`: as of `run`.
    #[pyo3(signature = (record, trace=None, trace_limit=1 << 30, on_progress=None, lists=None, units=false))]
    #[allow(clippy::too_many_arguments)] // named ones in Python
    fn measured<'py>(
        &self,
        py: Python<'py>,
        record: &[u8],
        trace: Option<PathBuf>,
        trace_limit: u64,
        on_progress: Option<Py<PyAny>>,
        lists: Option<&[u8]>,
        units: bool,
    ) -> PyResult<Measured<'py>> {
        let trace = trace.map(|path| engine::TraceTo { to: TraceFile::new(path), limit: trace_limit, units });
        let m = watched(on_progress, |observer| {
            py.detach(|| self.inner.measured_observed(record, lists.unwrap_or_default(), trace, observer))
        })?;
        Ok((PyBytes::new(py, &m.result), m.begin, m.end, rows(&m.stats), rows(&m.subtracted), m.traced))
    }
}

/// Whether a run goes on after what Python said; None: there is no interpreter any more.
fn go_on(outcome: Option<PyResult<()>>, raised: &mut Option<PyErr>) -> ControlFlow<()> {
    match outcome {
        Some(Ok(())) => ControlFlow::Continue(()),
        Some(Err(e)) => {
            *raised = Some(e);
            ControlFlow::Break(())
        }
        None => ControlFlow::Break(()),
    }
}

/// What `run` does while signals are looked at and `on_progress` is called now and then: whatever either raises ends it.
fn watched<T>(
    on_progress: Option<Py<PyAny>>,
    run: impl FnOnce(&mut (dyn FnMut() -> ControlFlow<()> + Send)) -> Result<T, engine::EngineError>,
) -> PyResult<T> {
    let mut raised = None;
    let mut observer = || {
        let outcome = Python::try_attach(|py| {
            py.check_signals()?;
            on_progress.as_ref().map_or(Ok(()), |f| f.call0(py).map(drop))
        });
        go_on(outcome, &mut raised)
    };
    let outcome = guarded(|| Ok(run(&mut observer)))?;
    match raised {
        Some(error) => Err(error),
        None => outcome.map_err(refuse),
    }
}
