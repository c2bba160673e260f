//! The rename map and the physical registers, which are counted, not named.

use breakeven_base::Reg;

use crate::o3::config::O3Config;
use crate::o3::inst::{InstRing, Note};
use crate::o3::seq::{Producer, Seq};

/// Integer; floating point and SIMD; condition codes; what takes no physical register, of which there are always enough.
pub const REG_CLASSES: usize = 4;
/// Of each class, an architectural register has one physical register for good.
const ARCHITECTURAL: [u32; REG_CLASSES] = [32, 32, 5, 0];
/// The class of each register.
const CLASSES: [u8; 1 << u8::BITS] = {
    let mut classes = [0; 1 << u8::BITS];
    let mut i = 0;
    while i < classes.len() {
        classes[i] = match i {
            Reg::UNCOUNTED.. => 3,
            Reg::FLAGS.. => 2,
            Reg::FLOAT.. => 1,
            _ => 0,
        };
        i += 1;
    }
    classes
};

#[inline]
fn class_of(reg: Reg) -> usize {
    usize::from(CLASSES[reg.index()]) % REG_CLASSES
}

/// Counts the registers that a micro-op, when it commits, frees of each class.
#[inline]
pub fn count_registers(ring: &InstRing, seq: Seq, counts: &mut [u16; REG_CLASSES]) {
    if ring.note(seq).intersects(Note::ELIMINATED) {
        return;
    }
    for dst in ring.uop(seq).dst {
        if dst.is_some() {
            counts[class_of(dst)] += 1;
        }
    }
}

#[derive(Clone, Debug)]
pub struct Registers {
    /// Rename map: the producer of each register's value; as long as a register's number can be.
    pub map: [Producer; 1 << u8::BITS],
    pub free: [u32; REG_CLASSES],
    /// Registers of squashed micro-ops, free once the ROB has been walked.
    pub freeing: [u32; REG_CLASSES],
}

impl Registers {
    pub fn new(cfg: &O3Config) -> Self {
        let sizes = [cfg.numPhysIntRegs, cfg.numPhysFloatRegs, cfg.numPhysCCRegs, u32::MAX / 2];
        Registers {
            map: [Producer::NONE; 1 << u8::BITS],
            free: std::array::from_fn(|class| sizes[class] - ARCHITECTURAL[class]),
            freeing: [0; REG_CLASSES],
        }
    }

    /// Free registers of each class.
    pub fn free(&self) -> [u32; REG_CLASSES] {
        self.free
    }

    /// A class has none left.
    #[inline]
    pub fn exhausted(&self) -> bool {
        self.free.contains(&0)
    }

    /// Whether `uops` micro-ops, whichever they are, find registers: each takes two at most.
    #[inline(always)]
    pub fn suffice_for(&self, uops: u64) -> bool {
        self.free.iter().all(|free| u64::from(*free) >= 2 * uops)
    }

    /// Whether there are registers for this micro-op.
    #[inline]
    pub fn has_room_for(&self, ring: &InstRing, seq: Seq) -> bool {
        let mut need = [0; REG_CLASSES];
        count_registers(ring, seq, &mut need);
        need.iter().zip(self.free).all(|(n, free)| u32::from(*n) <= free)
    }

    /// Finds the producers of a micro-op's operands and makes it the producer of its results. How many it has.
    #[inline(always)]
    pub fn rename(&mut self, ring: &mut InstRing, seq: Seq) -> u64 {
        let s = ring.at_mut(seq);
        let uop = s.uop;
        // Written out: `map` of an array is not always compiled in line.
        let [first, second, third] = uop.src;
        s.sources = [self.map[first.index()], self.map[second.index()], self.map[third.index()]];
        let eliminated = s.note.intersects(Note::ELIMINATED);
        let mut results = 0;
        for i in 0..2 {
            let dst = uop.dst[i];
            if dst.is_some() {
                s.replaced[i] = self.map[dst.index()];
                self.map[dst.index()] = if eliminated { s.sources[0] } else { Producer::new(seq, i) };
                self.free[class_of(dst)] -= u32::from(!eliminated);
                results += 1;
            }
        }
        results
    }

    /// Restores what the micro-op, the youngest renamed one, has replaced in the map. How many results that were.
    pub fn undo(&mut self, ring: &InstRing, seq: Seq) -> u64 {
        let s = ring.at(seq);
        let eliminated = s.note.intersects(Note::ELIMINATED);
        let mut results = 0;
        for i in [1, 0] {
            let dst = s.uop.dst[i];
            if dst.is_some() {
                self.map[dst.index()] = s.replaced[i];
                self.freeing[class_of(dst)] += u32::from(!eliminated);
                results += 1;
            }
        }
        results
    }

    /// Commits have freed these.
    #[inline]
    pub fn give_back(&mut self, freed: [u16; REG_CLASSES]) {
        for (free, n) in self.free.iter_mut().zip(freed) {
            *free += u32::from(n);
        }
    }

    /// The ROB has been walked: the registers of squashed micro-ops are free.
    #[inline]
    pub fn free_squashed(&mut self) {
        if self.freeing != [0; REG_CLASSES] {
            for (free, n) in self.free.iter_mut().zip(&mut self.freeing) {
                *free += std::mem::take(n);
            }
        }
    }
}
