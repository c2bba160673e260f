//! Instructions that are executed and not described: the paths of functional execution.

use breakeven_base::{Bus, MemRef, Now, References};

use super::{RiscvFrontEnd, NO_PAGE};
use crate::exec::exec;
use crate::mmu::PAGE;

impl RiscvFrontEnd {
    /// [`FrontEnd::run_fast`](breakeven_base::FrontEnd::run_fast), or with `used`
    /// [`FrontEnd::run_noting`](breakeven_base::FrontEnd::run_noting).
    #[inline(always)]
    pub(super) fn run_undescribed<B: Bus>(
        &mut self,
        bus: &mut B,
        now: Now,
        max: u64,
        mut used: Option<&mut References>,
    ) -> u64 {
        // `now` is fixed in here: instructions that need the time are left to `step`.
        let now = Now { drained: false, ..now };
        let waiting = self.hart.irq.mask != 0
            && if self.hart.options.emulated {
                now.tick >= self.hart.irq.next_sample
            } else {
                self.hart.interrupt(bus, &now).is_some()
            };
        // The rest of a long vector instruction has not been described yet.
        if waiting || self.hart.speculative() || self.hart.vector.cracked.pending() {
            return 0;
        }
        let mut done = 0;
        while done < max {
            let page = self.hart.pc / PAGE;
            if page != self.page {
                let entered = self.enter_page(bus, self.hart.pc);
                // A page with protection inside is left to `step` too.
                if entered.is_err() || self.page == NO_PAGE {
                    break;
                }
            }
            let (more, stopped) = match &mut used {
                None => self.run_page(bus, &now, max - done),
                Some(used) => self.run_page_noting(bus, &now, max - done, used),
            };
            done += more;
            if stopped {
                break;
            }
        }
        self.hart.counters.retired += done;
        done
    }

    /// Up to `max` instructions of the page that has been entered; how many, and whether `step` must execute the next.
    #[inline(always)]
    fn run_page<B: Bus>(&mut self, bus: &mut B, now: &Now, max: u64) -> (u64, bool) {
        let code = self.code.page(self.slot);
        let (mut pc, mut done) = (self.hart.pc, 0);
        let page = pc / PAGE;
        let mut unused = MemRef::default();
        let mut stopped = false;
        while done < max && pc / PAGE == page {
            match exec::<true, B>(&mut self.hart, bus, now, code.at(pc), pc, &mut unused) {
                Ok(next) => pc = next,
                Err(_) => {
                    let inst = *code.at(pc);
                    if !inst.op.is_vector() || self.hart.exec_vector(bus, now, &inst, false).is_err() {
                        stopped = true;
                        break;
                    }
                    pc = pc.wrapping_add(4);
                }
            }
            done += 1;
        }
        self.hart.pc = pc;
        (done, stopped)
    }

    /// As [`RiscvFrontEnd::run_page`]. A vector instruction's references come with its micro-ops: `step` executes it.
    fn run_page_noting<B: Bus>(&mut self, bus: &mut B, now: &Now, max: u64, used: &mut References) -> (u64, bool) {
        let code = self.code.page(self.slot);
        let (mut pc, mut done) = (self.hart.pc, 0);
        let page = pc / PAGE;
        let mut m = MemRef::default();
        let mut stopped = false;
        while done < max && pc / PAGE == page {
            let inst = code.at(pc);
            let Some(next) = (!inst.op.leaves_inner_loop())
                .then(|| exec::<false, B>(&mut self.hart, bus, now, inst, pc, &mut m).ok())
                .flatten()
            else {
                stopped = true;
                break;
            };
            used.fetch(pc);
            if m.valid {
                used.note(&m);
                m.valid = false;
            }
            pc = next;
            done += 1;
        }
        self.hart.pc = pc;
        (done, stopped)
    }
}
