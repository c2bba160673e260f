//! Decoding, micro-ops, wrong paths, known paths and system instructions.

mod crack;
mod extensions;
mod fuzz_target;
mod gem5_microcode;
mod paths;
mod random_bytes;
mod rewritten;
mod string_engine;
mod system;
mod wrong_paths;
