//! The Python face of the engine, `breakeven._engine` (`docs/development.md`). Thin: arguments in, calls, results out.
//! The interpreter's lock is released while anything is simulated, and taken now and then so that Ctrl-C works.

mod contents;
mod machine;
mod sweep;

use std::panic::{catch_unwind, AssertUnwindSafe};

use breakeven_machine as engine;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(_engine, EngineError, PyException, "One sentence that names what is wrong and the fix.");

const TICKS_PER_SECOND: u64 = 1_000_000_000_000;

fn refuse(e: engine::EngineError) -> PyErr {
    EngineError::new_err(e.to_string())
}

/// The last resort: a panic is a bug of ours, and becomes an exception that says so.
fn guarded<T>(f: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "no message".to_owned());
        Err(EngineError::new_err(format!("the engine failed, sorry: this is a bug of breakeven's; please report it with the input that led here ({text})")))
    })
}

/// All errors of a machine description, one sentence each; empty when it can be built.
#[pyfunction]
fn check_description(description: &str) -> PyResult<Vec<String>> {
    guarded(|| {
        Ok(engine::MachineConfig::parse(description)
            .err()
            .unwrap_or_default()
            .iter()
            .map(ToString::to_string)
            .collect())
    })
}

/// What building the machine of a description looks at: the object's path, its class, the parameter (empty: the class
/// itself), whether any value is taken or only the one that is modelled, and in words which values (empty: all of its type).
#[pyfunction]
#[allow(clippy::type_complexity)] // as Python sees it
fn parameters_used(description: &str) -> PyResult<Vec<(String, String, String, bool, String)>> {
    let uses = guarded(|| {
        engine::MachineConfig::uses(description).map_err(|errors| refuse(engine::EngineError::Description(errors)))
    })?;
    let row = |((path, name), used): ((String, String), engine::Used)| {
        (path, used.class, name, used.what == engine::Use::Read, used.takes)
    };
    Ok(uses.into_iter().map(row).collect())
}

/// The routines that a guest offers: name, kind ("copy", "checksum", "user-copy", "copy-checksum", "set", "move", "clear", or
/// what the reference of another checksum is called) and flags.
#[pyfunction]
fn routines<'py>(py: Python<'py>, elf: &[u8]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let found = guarded(|| engine::Elf::parse(elf).and_then(|e| e.routines()).map_err(refuse))?;
    let row = |r: engine::Routine| {
        let d = PyDict::new(py);
        d.set_item("name", r.name)?;
        d.set_item("kind", r.kind.name())?;
        d.set_item("flags", r.flags)?;
        Ok(d)
    };
    found.into_iter().map(row).collect()
}

#[pymodule]
fn _engine(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("version", env!("CARGO_PKG_VERSION"))?;
    // Of the engine's sources: what a stored result is valid for.
    m.add("fingerprint", env!("BREAKEVEN_ENGINE"))?;
    m.add("ticks_per_second", TICKS_PER_SECOND)?;
    m.add("EngineError", m.py().get_type::<EngineError>())?;
    m.add_class::<machine::Machine>()?;
    m.add_class::<sweep::Sweep>()?;
    m.add_function(wrap_pyfunction!(check_description, m)?)?;
    m.add_function(wrap_pyfunction!(parameters_used, m)?)?;
    m.add_function(wrap_pyfunction!(routines, m)?)?;
    m.add_function(wrap_pyfunction!(contents::elf_contents, m)?)?;
    m.add_function(wrap_pyfunction!(contents::archive_members, m)?)?;
    m.add_function(wrap_pyfunction!(contents::instructions, m)?)
}
