//! The RISC-V front end: RV64 IMAFDC, V, Zicsr, Zifencei, Zicntr, Zba, Zbb, Zbc, Zbs, Zicond, Zicbom, Zicboz, Zicbop; M, S and U modes,
//! PMP, Sv39; gem5's pseudo-ops.
//!
//! Facts come from the RISC-V unprivileged (20191213, with the ratified Zb* and Zicbo* specifications) and privileged
//! (1.12) specifications; micro-op classes and flags from gem5's decoder. Where a specification leaves a choice, the
//! module that makes it says which and why.
//!
//! [`RiscvFrontEnd`] implements [`breakeven_base::FrontEnd`]. Instructions are decoded a page at a time ([`Inst`], with its
//! micro-op), executed when fetched, and described in a `Step`; on a wrong path nothing architectural changes.

// Guest arithmetic wraps, truncates and reinterprets on purpose.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

mod amo;
mod bitmanip;
mod code;
mod config;
mod csr;
mod decode;
mod decode_c;
mod decode_fp;
mod describe;
mod exec;
mod exec_fp;
mod fork;
mod frontend;
mod hart;
mod inst;
mod listing;
mod mem;
mod mmu;
mod mode;
mod pmp;
mod spec;
mod state;
mod system;
mod trap;
mod uops;
mod user;
mod vector;

pub use config::{Chaining, Extensions, MisalignedPolicy, RiscvConfig, VectorConfig, VectorTiming};
pub use csr::num as csr_num;
pub use decode::decode;
pub use describe::describe;
pub use frontend::RiscvFrontEnd;
pub use inst::{Inst, Op};
pub use listing::listing;
pub use mode::Mode;
