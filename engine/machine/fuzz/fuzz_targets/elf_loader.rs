//! `elf_loader` for libFuzzer; `tests/fuzz` runs the same for some seconds without it.
#![no_main]

#[path = "../../tests/fuzz/elf_loader.rs"]
mod target;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| target::run(input));
