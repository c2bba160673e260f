//! Any bytes as code and data, on every core. The first two bytes choose the core and how many instructions may run;
//! the rest lies at the entry point. Traps lead back into it, so that handlers are garbage too.

use std::sync::{Arc, OnceLock};

use crate::common::{elf, reference, RAM};
use crate::process;
use breakeven_machine::{Limits, Machine, MachineConfig};

fn configs() -> &'static [Arc<MachineConfig>] {
    static CONFIGS: OnceLock<Vec<Arc<MachineConfig>>> = OnceLock::new();
    CONFIGS.get_or_init(|| {
        let parse = |json: String| MachineConfig::parse(&json).map(Arc::new).expect("a whole description");
        let simple = ["atomic", "timing", "minor"].map(|core| parse(reference(core).json()));
        simple.into_iter().chain([parse(process::stored("o3"))]).collect()
    })
}

/// Traps into the input, floats on, then falls into it: `la t0, input; csrw mtvec, t0; li t1, 0x6000; csrs mstatus, t1`.
const PROLOGUE: [u32; 5] = [0x0000_0297, 0x0142_8293, 0x3052_9073, 0x0000_6337, 0x3003_2073];

pub fn run(input: &[u8]) {
    let [core, length, code @ ..] = input else { return };
    let configs = configs();
    let mut image: Vec<u8> = PROLOGUE.iter().flat_map(|w| w.to_le_bytes()).collect();
    image.extend_from_slice(&code[..code.len().min(8192)]);
    let symbols = [("tohost", RAM + 0x3000), ("fromhost", RAM + 0x3040)];
    let file = elf::build(RAM, &image, 0x10000, &symbols);
    let mut machine = Machine::build(configs[usize::from(*core) % configs.len()].clone(), &file).expect("a whole ELF");
    machine.bus.readfile = code.into();
    let insts = 64 + 16 * u64::from(*length);
    let end = machine.run(Limits { insts, cycles: 40 * insts, ticks: 0 });
    assert!(end.cause.text() != "deadlock", "{}", end.detail);
    let _ = machine.stats_txt();
}
