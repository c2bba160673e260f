//! What the parts of the engine agree on: units, micro-ops, the instruction-set front end's contract,
//! guest memory and statistics. Nothing here knows an instruction set, a pipeline or a cache.

pub mod addr;
pub mod bus;
pub mod data_tlb;
pub mod effect;
pub mod error;
pub mod float;
pub mod frontend;
pub mod listing;
pub mod op_class;
pub mod phys;
pub mod process;
pub mod references;
pub mod stats;
pub mod units;
pub mod uop;

pub use addr::PhysAddr;
pub use bus::{Bus, BusError, PseudoOutcome};
pub use effect::SysEffect;
pub use error::ConfigError;
pub use frontend::{FetchXlat, FrontEnd, PathEnd, PathInst, Predecode, StepResult, WalkPath};
pub use op_class::OpClass;
pub use phys::{MemImage, PhysMem};
pub use process::{FaultAnswer, ProcessStart, Syscall, SyscallDone, UserAccess, UserContext, UserFault, UserState};
pub use references::References;
pub use stats::{Stat, StatSink, Unit};
pub use units::{Clock, Cycle, Now, Tick, PAGE};
pub use uop::{
    decoded_at, number_of_page, BranchInfo, BranchKind, MemKind, MemRef, Predecoded, Reg, Step, Uop, UopFlags, MAX_UOPS,
};
