//! Host speed of every core model on gem5's reference guest: `cargo bench -p breakeven-machine [-- CORE...]`.
//!
//! `scripts/bench` measures the same through the command line; this is for profilers (one process, nothing but the
//! engine).

use std::time::Instant;

use breakeven_machine::{Limits, Machine};

const ELF: &[u8] = include_bytes!("../../../tests/data/gem5/micro.rv64.elf");
const CORES: [(&str, &str); 4] = [
    ("atomic", include_str!("../../../tests/data/descriptions/atomic.json")),
    ("timing", include_str!("../../../tests/data/descriptions/timing.json")),
    ("minor", include_str!("../../../tests/data/descriptions/minor.json")),
    ("o3", include_str!("../../../tests/data/descriptions/o3.json")),
];

fn main() {
    // cargo itself passes `--bench`.
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    for (name, description) in CORES.iter().filter(|(name, _)| asked.is_empty() || asked.iter().any(|a| a == name)) {
        let mut machine = match Machine::new(description, ELF) {
            Ok(machine) => machine,
            Err(error) => {
                println!("{name:8} cannot be built: {error}");
                continue;
            }
        };
        let start = Instant::now();
        let end = machine.run(Limits { insts: 50_000_000, cycles: 1_000_000_000, ticks: 0 });
        let seconds = start.elapsed().as_secs_f64();
        let speed = end.insts as f64 / seconds / 1e6;
        println!("{name:8} {speed:7.2} million instructions a second ({})", end.cause.text());
    }
}
