//! The stored descriptions of gem5's machines, turned to syscall emulation.

#![allow(dead_code)] // each user takes a part

use std::path::Path;

use serde_json::{json, Value};

/// The machines of both instruction sets, by the name of their stored description.
pub const RISCV: [&str; 4] = ["atomic", "timing", "minor", "o3"];
pub const X86: [&str; 4] = ["x86_atomic", "x86_timing", "x86_minor", "x86_o3"];

/// The stored description of a bare-metal `machine`.
pub fn stored(machine: &str) -> String {
    // The fuzz targets lie one folder deeper.
    let name = format!("tests/data/descriptions/{machine}.json");
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join(&name)).find(|p| p.exists());
    std::fs::read_to_string(found.unwrap_or_else(|| panic!("no {name}"))).expect("a readable file")
}

/// `machine` with a process; `params` are further parameters of the `Process`.
pub fn emulated(machine: &str, cmd: &[&str], params: Value) -> String {
    let mut d: Value = serde_json::from_str(&stored(machine)).expect("JSON");
    let workload = if machine.starts_with("x86") { "X86EmuLinux" } else { "RiscvEmuLinux" };
    let objects = d["objects"].as_array_mut().expect("objects");
    for o in objects.iter_mut() {
        match o["path"].as_str() {
            Some("root") => o["params"]["full_system"] = json!(false),
            Some("system.workload") => o["type"] = json!(workload),
            Some("system.cpu") => o["params"]["workload"] = json!([{"ref": "system.cpu.workload"}]),
            _ => {}
        }
    }
    let mut process = json!({"cmd": cmd, "env": ["HOME=/", "LANG=C"]});
    for (name, value) in params.as_object().into_iter().flatten() {
        process[name] = value.clone();
    }
    objects.push(json!({"path": "system.cpu.workload", "type": "Process", "bases": ["SimObject"], "params": process, "ports": {}}));
    d.to_string()
}
