//! Instructions of a path that is known ([`FrontEnd::run_path`](breakeven_base::FrontEnd::run_path)): executed one after the
//! other, not described.

use breakeven_base::{decoded_at, Bus, Cycle, MemRef, Now, PathEnd, PathInst, Step, Tick};

use super::RiscvFrontEnd;
use crate::exec::exec;
use crate::mmu::PAGE;

impl RiscvFrontEnd {
    #[inline(always)]
    pub(super) fn run_known_path<B: Bus>(
        &mut self,
        bus: &mut B,
        out: &mut Step,
        mut path: impl FnMut(usize) -> Option<PathInst>,
        mut visit: impl FnMut(usize, &[MemRef]) -> bool,
    ) -> PathEnd {
        let mut pc = self.hart.pc;
        let first = path(0).filter(|first| first.pc == pc);
        if first.is_none() || pc / PAGE != self.page || self.hart.irq.mask != 0 || self.hart.speculative() {
            return PathEnd::default();
        }
        // What needs the time is left to `step`.
        let now = Now { tick: Tick::ZERO, cycle: Cycle::ZERO, drained: false };
        let page = self.code.page(self.slot);
        let (mut done, mut next_known) = (0, first);
        let mut other = None;
        while let Some(known) = next_known {
            let inst = page.at(pc);
            let is_known = pc / PAGE == self.page && decoded_at(page.number, pc) == known.decoded;
            if !is_known || inst.op.leaves_inner_loop() {
                break;
            }
            let Ok(next) = exec::<false, B>(&mut self.hart, bus, &now, inst, pc, &mut out.mem[0]) else { break };
            if next != known.next_pc || known.has_references && !visit(done, &out.mem[..1]) {
                other = Some((*inst, known.decoded, next));
                break;
            }
            pc = next;
            done += 1;
            next_known = path(done);
        }
        self.hart.pc = pc;
        self.hart.counters.retired += done as u64;
        if let Some((inst, decoded, next)) = other {
            self.finish(out, &inst, decoded, pc, next);
        }
        PathEnd { done, other: other.is_some() }
    }
}
