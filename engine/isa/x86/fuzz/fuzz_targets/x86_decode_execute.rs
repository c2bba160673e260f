//! `x86_decode_execute` for libFuzzer; `tests/x86/front_end` runs the same for some seconds without it.
#![no_main]

#[path = "../../tests/x86/common/mod.rs"]
mod common;
#[path = "../../tests/fuzz/x86_decode_execute.rs"]
mod target;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| target::run(input));
