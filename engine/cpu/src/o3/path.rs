//! The path being followed: what the front end has executed, where it was forked, and how far fetch has got along it.
//!
//! ```text
//!   head .. tail      in flight (fetched)
//!   tail .. placed    executed by the front end and not fetched yet: the rest of an instruction of several micro-ops, or
//!                     right-path instructions that a squash has thrown away and that are fetched again
//! ```
//!
//! What is fetched again is not executed again: the slots still hold what the front end said. Where fetch then mispredicts
//! while executed instructions are left, those are saved until the misprediction is undone.

use breakeven_base::{MemRef, SysEffect, Uop, UopFlags};
use educe::Educe;

use super::inst::{Flow, InstRing, Note};
use super::seq::Seq;
use crate::memo::archive::Archive;
use crate::outside::Outside;

/// Forks that may be open at once; beyond, fetch waits for one to resolve.
pub const MAX_FORKS: usize = 64;

/// A right-path micro-op, executed and not fetched yet, while a fork is followed.
#[derive(Clone, Copy, Debug)]
struct SavedUops {
    uop: Uop,
    mem: MemRef,
    pc: u64,
    flow: Flow,
    effect: SysEffect,
    note: Note,
}

/// The front end follows a predicted path from behind `at` on.
#[derive(Clone, Copy, Debug, Default)]
struct Fork {
    at: Seq,
    depth: u32,
    /// `placed` once it is undone.
    placed: Seq,
    /// First micro-op saved for it.
    saved: usize,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Path {
    pub placed: Seq,
    forks: Vec<Fork>,
    saved: Vec<SavedUops>,
    /// Memory references that were saved and restored so far: none of them is executed again then.
    pub references_back: u64,
}

impl Path {
    pub fn new() -> Self {
        Path {
            placed: Seq::FIRST,
            forks: Vec::with_capacity(MAX_FORKS),
            saved: Vec::with_capacity(512),
            references_back: 0,
        }
    }

    #[inline]
    pub fn can_fork(&self) -> bool {
        self.forks.len() < MAX_FORKS
    }

    /// Forks the front end onto `pc` behind the instruction that ends just before `tail`; if `executed` is false that
    /// instruction has not been executed and will be after the rollback.
    pub fn fork<X: Outside>(&mut self, cx: &mut X, pc: u64, ring: &InstRing, executed: bool) {
        let at = ring.tail() - 1;
        let saved = self.saved.len();
        for seq in ring.tail().until(self.placed) {
            self.saved.push(SavedUops {
                uop: *ring.uop(seq),
                mem: *ring.mem(seq),
                pc: ring.pc(seq),
                flow: *ring.flow(seq),
                effect: ring.effect(seq),
                note: ring.note(seq),
            });
        }
        let placed = if executed { self.placed } else { at };
        self.forks.push(Fork { at, depth: cx.fork(pc), placed, saved });
        self.placed = ring.tail();
    }

    /// Undoes every fork at `from` or behind it.
    pub fn restore_fork<X: Outside>(&mut self, cx: &mut X, from: Seq, ring: &mut InstRing) {
        let Some(first) = self.forks.iter().position(|f| f.at >= from) else { return };
        let fork = self.forks[first];
        cx.rollback(fork.depth);
        for (i, a) in (1..).zip(&self.saved[fork.saved..]) {
            let seq = fork.at + i;
            if seq >= fork.placed {
                break;
            }
            self.references_back += u64::from(a.uop.flags.any(UopFlags::MEM));
            ring.place(seq, &a.uop, &a.mem, a.pc, &a.flow);
            ring.set_effect(seq, a.effect);
            ring.set_note(seq, a.note);
        }
        self.placed = fork.placed;
        self.saved.truncate(fork.saved);
        self.forks.truncate(first);
    }

    /// The state in relative form. Saved micro-ops have none.
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { placed, forks, saved, references_back: _ } = self;
        a.seq(placed);
        a.list(forks, Fork::default(), |a, Fork { at, depth, placed, saved }| {
            a.seq(at);
            a.u32(depth);
            a.seq(placed);
            a.empty(saved, 0);
        });
        a.refuse(!saved.is_empty());
        if a.loads() {
            saved.clear();
        }
    }

    /// What has committed needs no fork any more (a placeholder's is undone before).
    #[inline]
    pub fn open(&self) -> usize {
        self.forks.len()
    }
}
