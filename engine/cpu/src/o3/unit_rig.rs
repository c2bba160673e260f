//! For tests of one unit by itself: micro-ops are put into the ring by hand, and the test reads and writes the wires.

use breakeven_base::{Cycle, MemRef, OpClass, PhysAddr, Reg, Uop, UopFlags};

use super::config::O3Config;
use super::fu_pool::{FuDesc, IqUnit, OpDesc};
use super::inst::{Flow, Note};
use super::io::Io;
use super::seq::Seq;
use super::wires::Wire;
use crate::bpred::{BranchPredictor, BranchPredictorParams};

/// A predictor for a unit that never asks it.
pub fn predictor() -> BranchPredictor {
    BranchPredictor::new(&BranchPredictorParams::default(), "branchPred").unwrap_or_else(|e| panic!("{e:?}"))
}

/// The parts that units share, and the cycle.
pub struct UnitRig {
    pub io: Io,
    pub now: Cycle,
}

/// An operation of one cycle: `dst` and `src` are register numbers, 0: none.
pub fn op(dst: u8, src: u8) -> Uop {
    Uop {
        class: OpClass::IntAlu,
        dst: [Reg(dst), Reg::NONE],
        src: [Reg(src), Reg::NONE, Reg::NONE],
        flags: UopFlags::FIRST | UopFlags::LAST,
        ..Uop::default()
    }
}

/// An issue queue with a unit of one cycle that executes `classes`.
pub fn queue(entries: u32, classes: &[OpClass]) -> IqUnit {
    let op = |class: &OpClass| OpDesc { opClass: *class, opLat: 1, pipelined: true };
    IqUnit { numEntries: entries, fuPool: vec![FuDesc { opList: classes.iter().map(op).collect(), count: 1 }] }
}

pub fn flagged(uop: Uop, flags: UopFlags) -> Uop {
    Uop { flags: uop.flags | flags, ..uop }
}

impl UnitRig {
    pub fn new(cfg: &O3Config) -> UnitRig {
        assert_eq!(cfg.check(64), Ok(()));
        UnitRig { io: Io::new(cfg), now: Cycle(10) }
    }

    /// Puts a micro-op into the ring, as fetched; its number.
    pub fn fetch(&mut self, uop: Uop) -> Seq {
        let seq = self.io.ring.push();
        let mem = MemRef {
            valid: uop.flags.any(UopFlags::MEM),
            size: 8,
            vaddr: 0x1000,
            paddr: PhysAddr(0x1000),
            ..MemRef::default()
        };
        self.io.ring.place(seq, &uop, &mem, 0x8000_0000 + 4 * seq.0, &Flow::default());
        self.io.ring.set_note(seq, Note::empty());
        seq
    }

    pub fn fetch_all(&mut self, uops: impl IntoIterator<Item = Uop>) {
        for uop in uops {
            self.fetch(uop);
        }
    }

    /// What the units have sent for the cycle `ahead` of the present one.
    pub fn sent(&mut self, ahead: u64) -> Wire {
        *self.io.wires.at(self.now + ahead)
    }

    /// The next cycle; what arrives in it.
    pub fn next(&mut self) -> Wire {
        self.now += 1;
        self.io.wires.take(self.now)
    }
}
