//! The front end's tests, one binary: the front end is compiled for their bus once.

#[path = "../common/mod.rs"]
mod common;
mod crack;
mod extensions;
mod fuzz_target;
mod gem5_microcode;
mod paths;
mod random_bytes;
mod string_engine;
mod system;
mod wrong_paths;
