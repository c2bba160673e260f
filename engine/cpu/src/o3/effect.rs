//! Effects of micro-ops on the outside (statistics, exit, TLB flush), carried out when the micro-op commits or executes.

use breakeven_base::{SysEffect, UopFlags};

use super::io::Io;
use super::seq::Seq;
use super::Stopped;
use crate::outside::Outside;

/// Carries out a micro-op's effect, if it has one.
#[cold]
pub fn act<X: Outside>(io: &mut Io, seq: Seq, cx: &mut X) {
    if io.ring.flags(seq).any(UopFlags::EFFECT) {
        match io.ring.effect(seq) {
            SysEffect::None => {}
            SysEffect::TlbFlush { vaddr } => cx.tlb_flush(vaddr),
            SysEffect::FetchFlush => cx.fetch_flush(),
            SysEffect::CacheFlush { at, line_cycles } => cx.flush_caches(at, line_cycles),
            other => io.stopped = Some(Stopped::Effect(other)),
        }
    }
}

/// `seq` has just executed: carries a pseudo-op's effect out, as gem5 does when the pseudo-op executes, which it does as the
/// oldest (`gem5PseudoOps`): it and what commits with it count behind what it says of the statistics.
#[cold]
pub fn act_at_execution<X: Outside>(io: &mut Io, seq: Seq, cx: &mut X) {
    let flags = io.ring.flags(seq);
    let at_commit = flags.any(UopFlags::TRAP) || flags.any(UopFlags::SERIALIZE_AFTER) && !io.rules.quirks.gem5PseudoOps;
    if flags.any(UopFlags::NON_SPECULATIVE) && !at_commit {
        act(io, seq, cx);
        io.ring.uop_mut(seq).flags &= !UopFlags::EFFECT;
    }
}
