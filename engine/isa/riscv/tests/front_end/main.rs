//! The front end's tests, one binary: the front end is compiled for their bus once.

#![allow(clippy::single_range_in_vec_init)] // a list of ranges with one range in it

#[path = "../common/mod.rs"]
mod common;
mod float;
mod integer;
mod integer_cases;
mod memory;
mod privileged;
mod random_programs;
mod vector;
mod vector_again;
mod zvbb;
