//! `Sweep`: thousands of points from one booted guest.

use std::ops::ControlFlow;

use breakeven_machine as engine;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{guarded, refuse};

/// A guest booted up to its first readfile.
#[pyclass(module = "breakeven._engine", frozen)]
pub struct Sweep {
    inner: engine::Sweep,
}

#[pymethods]
impl Sweep {
    #[new]
    fn new(py: Python<'_>, description: &str, elf: &[u8]) -> PyResult<Self> {
        let mut raised = None;
        let mut signals = || match Python::attach(|py| py.check_signals()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                raised = Some(e);
                ControlFlow::Break(())
            }
        };
        let inner = guarded(|| Ok(py.detach(|| engine::Sweep::new_observed(description, elf, &mut signals))))?;
        match (raised, inner) {
            (Some(error), _) => Err(error),
            (None, inner) => Ok(Sweep { inner: inner.map_err(refuse)? }),
        }
    }

    /// Runs records of 128 bytes; results of 64 bytes in the same order, whatever the number of threads (0: all).
    #[pyo3(signature = (records, threads=0, on_progress=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        records: &[u8],
        threads: usize,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut raised = None;
        let mut progress = |done: usize, total: usize| {
            let outcome = Python::attach(|py| {
                py.check_signals()?;
                on_progress.as_ref().map_or(Ok(()), |f| f.call1(py, (done, total)).map(drop))
            });
            match outcome {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => {
                    raised = Some(e);
                    ControlFlow::Break(())
                }
            }
        };
        let results = guarded(|| Ok(py.detach(|| self.inner.run(records, threads, &mut progress))))?;
        if let Some(error) = raised {
            return Err(error);
        }
        Ok(PyBytes::new(py, &results.map_err(refuse)?))
    }
}
