//! Runs a static Linux program under syscall emulation on one of gem5's machines.
//!
//! `cargo run --release -p breakeven-machine --example process -- MACHINE DIRECTORY|- PROGRAM [ARGUMENT...]`, where MACHINE is
//! a stored description (`tests/data/descriptions`); standard input goes to the program.

#[path = "../tests/common/process.rs"]
mod process;

use std::io::{IsTerminal, Read, Write};
use std::sync::Arc;

use breakeven_machine::{Host, Limits, Machine, MachineConfig};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [machine, directory, cmd @ ..] = args.as_slice() else {
        return Err("MACHINE DIRECTORY PROGRAM [ARGUMENT...]".into());
    };
    let program = cmd.first().ok_or("give a program")?;
    let mut stdin = Vec::new();
    if !std::io::stdin().is_terminal() {
        std::io::stdin().read_to_end(&mut stdin)?;
    }
    let words: Vec<&str> = cmd.iter().map(String::as_str).collect();
    let config = MachineConfig::parse(&process::emulated(machine, &words, json!({}))).map_err(|e| format!("{e:?}"))?;
    let directory = (directory != "-").then(|| directory.into());
    let host = Host { stdin, directory, writable: true, ..Host::default() };
    let mut m = Machine::build_with(Arc::new(config), &std::fs::read(program)?, &host)?;
    let end = m.run(Limits::default());
    if let Some(p) = &m.bus.process {
        std::io::stdout().write_all(p.output())?;
        for w in p.warnings() {
            eprintln!("warning: {w}");
        }
    }
    eprintln!(
        "{} {} {} insts {} cycles {:.2} s {}",
        end.cause.text(),
        end.code,
        end.insts,
        end.cycles,
        end.host_seconds,
        end.detail
    );
    Ok(())
}
