//! The fuzz target for some seconds without libFuzzer, on parts of a guest and on what comes of changing them.

#[path = "../../../../../machine/tests/fuzz/mutated.rs"]
mod mutated;
#[path = "../../fuzz/x86_decode_execute.rs"]
mod x86_decode_execute;

const GUEST: &[u8] = include_bytes!("../../../../../../tests/data/gem5/micro.x86.elf");
/// Where the guest's code lies in its file.
const CODE: std::ops::Range<usize> = 0x1000..0x214b;

#[test]
fn x86_decode_execute() {
    // The first two bytes choose how the rest is run.
    let seed = |at: usize| [&[(at / 64) as u8, (at / 64) as u8][..], &GUEST[at..(at + 512).min(CODE.end)]].concat();
    let pieces = CODE.step_by(64);
    mutated::try_all(pieces.map(seed).collect(), 3000, x86_decode_execute::run);
}
