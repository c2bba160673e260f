//! The fuzz targets for some seconds without libFuzzer: on parts of something whole and on what comes of changing them.
//! `scripts/fuzz` runs them for as long as one likes, guided by coverage.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/process.rs"]
mod process;

mod description;
mod elf_loader;
mod mutated;
mod riscv_decode_execute;
mod system_calls;

use mutated::try_all;

const GUEST: &[u8] = include_bytes!("../../../../tests/data/gem5/micro.rv64.elf");
/// Where the guest's code lies in its file.
const CODE: std::ops::Range<usize> = 4096..7810;

/// Code on each core, and every 64th piece of it.
fn programs() -> Vec<Vec<u8>> {
    let code = &GUEST[CODE];
    let pieces = (0..code.len()).step_by(64).map(|at| &code[at..(at + 512).min(code.len())]);
    let whole = (0..4).map(|core| [&[core, 0xff], code].concat());
    whole.chain(pieces.enumerate().map(|(n, piece)| [&[n as u8 & 3, 0x20], piece].concat())).collect()
}

/// Three lines for each parameter of the machine: the object, the parameter, its value.
fn settings() -> Vec<Vec<u8>> {
    let tree: serde_json::Value = serde_json::from_str(&common::reference("minor").json()).expect("JSON");
    let objects = tree["objects"].as_array().expect("objects").iter();
    let of = |object: &serde_json::Value| -> Vec<u8> {
        let params = object["params"].as_object().into_iter().flatten();
        let lines =
            params.map(|(name, value)| format!("{}\n{name}\n{value}\n", object["path"].as_str().expect("a path")));
        lines.collect::<String>().into_bytes()
    };
    objects.map(of).collect()
}

/// Calls by their numbers: each with small arguments and with places in memory.
fn calls() -> Vec<Vec<u8>> {
    let call = |number: u64, arguments: [u8; 6]| {
        let high = u8::from(number > 255);
        [&[number as u8][..], &arguments, &[high]].concat()
    };
    let by_ten = (0..460).collect::<Vec<u64>>();
    let list = |arguments: [u8; 6]| {
        by_ten
            .chunks(10)
            .map(|ten| [vec![0], ten.iter().flat_map(|n| call(*n, arguments)).collect()].concat())
            .collect::<Vec<Vec<u8>>>()
    };
    [list([0, 0x60, 0x61, 0x62, 1, 0]), list([0xe0, 0x60, 2, 3, 0x61, 4]), list([0x60, 0x61, 0xa1, 0xc0, 0, 0])]
        .concat()
}

#[test]
fn elf_loader() {
    try_all(vec![GUEST.to_vec()], 20_000, elf_loader::run);
}

#[test]
fn description() {
    try_all(settings(), 1500, description::run);
}

#[test]
fn riscv_decode_execute() {
    try_all(programs(), 1500, riscv_decode_execute::run);
}

#[test]
fn system_calls() {
    try_all(calls(), 1500, system_calls::run);
}
