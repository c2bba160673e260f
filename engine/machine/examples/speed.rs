//! Host speed: million simulated instructions a second on the gem5 reference guest, per core, and one JSON object.
//!
//! `cargo run --release -p breakeven-machine --example speed -- tests/data/gem5/micro.rv64.elf [repeats]`

#[path = "../tests/common/mod.rs"]
mod common;

use breakeven_machine::{Limits, Machine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("give the path of the reference guest (tests/data/gem5/micro.rv64.elf)")?;
    let repeats: usize = args.next().map_or(Ok(3), |n| n.parse())?;
    let elf = std::fs::read(path)?;
    let mut fields = Vec::new();
    for core in ["atomic", "timing", "minor"] {
        let description = common::reference(core).json();
        let mut speeds = Vec::new();
        for _ in 0..repeats.max(1) {
            let mut m = Machine::new(&description, &elf)?;
            let end = m.run(Limits::default());
            speeds.push(end.insts as f64 / end.host_seconds / 1e6);
        }
        speeds.sort_by(f64::total_cmp);
        fields.push(format!("\"riscv.{core}.mips\": {:.2}", speeds[speeds.len() / 2]));
    }
    println!("{{{}}}", fields.join(", "));
    Ok(())
}
