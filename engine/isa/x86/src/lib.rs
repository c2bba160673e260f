//! The x86-64 front end: 64-bit mode with 4-level paging, rings 0 and 3, exceptions through an IDT; the integer set with
//! string instructions, BMI1/2, ADX, POPCNT, MOVBE, MMX, SSE to SSE4.2, AVX, AVX2; fences, cache control, non-temporal
//! loads and stores; gem5's pseudo-ops.
//!
//! Facts come from the Intel and AMD architecture manuals. iced-x86 decodes and tells which registers and flags an
//! instruction touches; execution and cracking into micro-ops are here. What is not implemented stops the machine with
//! its address, bytes and mnemonic ([`X86FrontEnd::halt_reason`]).
//!
//! [`X86FrontEnd`] implements [`breakeven_base::FrontEnd`]. Instructions are decoded once per physical address into a
//! record ([`inst::Inst`]) with static micro-ops, executed when fetched, and described in a `Step`; on a wrong path
//! nothing architectural changes.

// Guest arithmetic wraps, truncates and reinterprets on purpose.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

mod code;
mod config;
mod cpu;
mod cpuid;
mod crack;
mod decode;
mod deferred;
mod describe;
mod exec;
mod flags;
mod fork;
mod frontend;
mod inst;
mod listing;
mod mem;
mod microcode;
mod mmu;
pub mod regs;
mod rep;
mod simd;
mod spec;
mod state;
mod string_config;
mod trap;
mod user;

pub use config::{CrackConfig, Features, FlagMerge, Pace, RepConfig, StringMode, X86Config};
pub use cpu::{BOOT_GDT, BOOT_TABLES};
pub use frontend::X86FrontEnd;
pub use listing::listing;
pub use mem::IO_BASE;
