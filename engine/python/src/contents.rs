//! Object files and the instructions in them, as plain tuples.

use breakeven_machine::contents::{self, Contents, FileKind};
use breakeven_machine::IsaName;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{guarded, refuse, EngineError};

/// As machine descriptions and guests name it.
fn isa_text(isa: IsaName) -> &'static str {
    match isa {
        IsaName::Riscv => "riscv",
        IsaName::X86 => "x86",
    }
}

/// Name, value, size, type, binding, section (0: undefined).
type SymbolRow = (String, u64, u64, u8, u8, u16);

fn symbol_rows(symbols: Vec<contents::Symbol>) -> Vec<SymbolRow> {
    symbols.into_iter().map(|s| (s.name, s.value, s.size, s.kind, s.binding, s.section)).collect()
}

/// The tables of an ELF file. `isa`, `kind` ("object", "executable", "shared"); `sections`: (name, type, flags, address,
/// offset, size); `segments`: (address, offset, bytes in the file, bytes in memory); `symbols`, `local_symbols`: (name, value,
/// size, type, binding, section); `relocations`: (section, offset, type, symbol, addend).
#[pyfunction]
pub fn elf_contents<'py>(py: Python<'py>, file: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let found = guarded(|| Contents::parse(file).map_err(refuse))?;
    let d = PyDict::new(py);
    d.set_item("isa", isa_text(found.isa))?;
    let kind = match found.kind {
        FileKind::Object => "object",
        FileKind::Executable => "executable",
        FileKind::Shared => "shared",
    };
    d.set_item("kind", kind)?;
    let sections: Vec<_> =
        found.sections.into_iter().map(|s| (s.name, s.kind, s.flags, s.address, s.offset, s.size)).collect();
    d.set_item("sections", sections)?;
    let segments: Vec<_> = found.segments.iter().map(|s| (s.address, s.offset, s.file_size, s.memory_size)).collect();
    d.set_item("segments", segments)?;
    d.set_item("symbols", symbol_rows(found.symbols))?;
    d.set_item("local_symbols", symbol_rows(found.local_symbols))?;
    let relocations: Vec<_> =
        found.relocations.iter().map(|r| (r.section, r.offset, r.kind, r.symbol, r.addend)).collect();
    d.set_item("relocations", relocations)?;
    Ok(d)
}

/// The members of an archive: (name, offset, size, global symbols that it defines).
#[pyfunction]
#[allow(clippy::type_complexity)] // as Python sees it
pub fn archive_members(file: &[u8]) -> PyResult<Vec<(String, u64, u64, Vec<String>)>> {
    let found = guarded(|| contents::members(file).map_err(refuse))?;
    Ok(found.into_iter().map(|m| (m.name, m.offset, m.size, m.defines)).collect())
}

/// Address, bytes, text, extensions needed, target of a direct jump, whether it jumps through a register, whether what lies
/// behind it is reached only otherwise.
type LineRow = (u64, u8, String, Vec<String>, Option<u64>, bool, bool);

/// The instructions of `code`, which lies at `address`: at most `most`.
#[pyfunction]
#[pyo3(signature = (code, isa, address=0, most=usize::MAX))]
pub fn instructions(code: &[u8], isa: &str, address: u64, most: usize) -> PyResult<Vec<LineRow>> {
    let isa = match isa {
        "riscv" => IsaName::Riscv,
        "x86" => IsaName::X86,
        _ => return Err(EngineError::new_err(format!("unknown instruction set '{isa}': riscv or x86"))),
    };
    guarded(|| {
        let lines = contents::listing(isa, code, address, most);
        Ok(lines.into_iter().map(|l| (l.address, l.len, l.text, l.needs, l.target, l.indirect, l.ends)).collect())
    })
}
