//! Instructions of a path that is known ([`FrontEnd::run_path`](breakeven_base::FrontEnd::run_path)): executed one after the
//! other, described only where their references or flags need it.

use breakeven_base::{
    decoded_at, Bus, Cycle, MemRef, Now, PathEnd, PathInst, Step, SysEffect, Tick, UopFlags, MAX_UOPS,
};

use super::X86FrontEnd;
use crate::config::FlagMerge;
use crate::crack::FlagRenamer;
use crate::describe::{finish, flag_holder_bits};
use crate::exec::exec;
use crate::inst::{InstFlags, Steps};
use crate::mmu::PAGE;
use crate::rep;

impl X86FrontEnd {
    #[inline(always)]
    pub(super) fn run_known_path<B: Bus>(
        &mut self,
        bus: &mut B,
        out: &mut Step,
        mut path: impl FnMut(usize) -> Option<PathInst>,
        mut visit: impl FnMut(usize, &[MemRef]) -> bool,
    ) -> PathEnd {
        let first = path(0).filter(|first| first.pc == self.cpu.rip());
        let is_plain = !self.cpu.speculative() && self.deferred.is_empty() && self.cpu.slice_end == Tick::MAX;
        if first.is_none() || self.cpu.rip() / PAGE != self.page || !is_plain || self.cpu.in_progress() {
            return PathEnd::default();
        }
        self.cpu.outcome.fast = false;
        self.cpu.outcome.string = rep::StringStep::default();
        // What needs the time is left to `step`.
        let now = Now { tick: Tick::ZERO, cycle: Cycle::ZERO, drained: false };
        let page = self.code.page(self.slot);
        let cpu = &mut self.cpu;
        let (mut done, mut next_known) = (0, first);
        let mut other = false;
        while let Some(known) = next_known {
            let pc = cpu.rip();
            let inst = page.at(pc);
            if pc / PAGE != self.page || inst.has(InstFlags::SPECIAL) || inst.uops.steps != Steps::One {
                break;
            }
            let decoded = decoded_at(page.number, pc);
            let flags = if inst.uops.reads_flags { flag_holder_bits(cpu.c.flag_holders) } else { 0 };
            if decoded | flags != known.decoded {
                break;
            }
            (cpu.outcome.nrefs, cpu.outcome.taken) = (0, false);
            let Ok(next) = exec(cpu, bus, &now, inst) else { break };
            other = next != known.next_pc
                || cpu.outcome.effect != SysEffect::None
                || cpu.xlat.code_stale
                || cpu.xlat.fetch_stale;
            let is_one = cpu.outcome.nrefs == 1 && inst.uops.loads + inst.uops.stores == 1;
            let merges_flags = inst.uops.reads_flags && cpu.options.flag_merge != FlagMerge::None;
            if other || merges_flags || known.has_references && !is_one {
                finish(cpu, out, inst, page.uops(inst), (pc, next), decoded);
                other = other || known.has_references && !visit_described(out, done, &mut visit);
            } else if known.has_references && !visit(done, &cpu.outcome.refs[..1]) {
                finish(cpu, out, inst, page.uops(inst), (pc, next), decoded);
                other = true;
            } else {
                let mut renamer = FlagRenamer { holders: &mut cpu.c.flag_holders, policy: cpu.options.flag_merge };
                renamer.write(inst.uops.flags_written);
                cpu.set_rip(next);
                cpu.c.retired += 1;
            }
            if other {
                break;
            }
            done += 1;
            next_known = path(done);
        }
        if self.cpu.xlat.code_stale || self.cpu.xlat.fetch_stale {
            self.after_cold();
        }
        PathEnd { done, other }
    }
}

/// Hands the references of a described step to `visit`.
fn visit_described(out: &Step, n: usize, visit: &mut impl FnMut(usize, &[MemRef]) -> bool) -> bool {
    let mut mems = [MemRef::default(); MAX_UOPS];
    let mut count = 0;
    for (uop, mem) in out.uops[..usize::from(out.n)].iter().zip(&out.mem) {
        if uop.flags.any(UopFlags::MEM) {
            mems[count] = mem.read_by_field();
            count += 1;
        }
    }
    visit(n, &mems[..count])
}
