//! Minor's account of its cycles: what became of each commit slot (`executeCommitLimit` a cycle).
//!
//! The account costs time in every cycle, so it is kept only on request ([`Minor::keep_account`](crate::minor::Minor::keep_account)). The slots
//! of a cycle in which micro-ops committed and others could have are charged to what the oldest that is left waits for at
//! its end, those of a cycle without any commit to what the oldest waited for at its beginning. A wrong path and the refill
//! after it, up to the first micro-op of the right one in flight, are the branch's.

use super::Pipeline;
use crate::account::{Account, Reason};
use breakeven_base::{Cycle, StatSink};

/// The account and what the charges are made from.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub account: Account,
    /// At the last reset of the statistics.
    base: Account,
    /// Charged up to here: cycle and micro-ops.
    cycle: Cycle,
    ops: u64,
    /// What the oldest micro-op waited for then.
    reason: Reason,
    stream: u32,
    refilling: bool,
}

impl Pipeline {
    /// From now on the statistics hold the account of the cycles.
    pub fn keep_account(&mut self) {
        self.ledger = Some(Box::new(Ledger {
            account: Account::new(),
            base: Account::new(),
            cycle: self.time.cycle,
            ops: self.execute.stats.ops,
            reason: Reason::FrontEnd,
            stream: self.execute.stream(),
            refilling: false,
        }));
    }

    /// Charges the cycles since the last charge; `levels`: caches in front of the memory.
    #[cold]
    pub fn charge(&mut self, levels: u8) {
        let Some(mut ledger) = self.ledger.take() else { return };
        let stream = self.execute.stream();
        if stream != ledger.stream {
            ledger.stream = stream;
            ledger.refilling = true;
        }
        ledger.refilling &= !self.execute.holds_present(&self.ring);
        let waits = self.execute.waits_for(self.time.cycle, &self.ring, levels);
        let reason = match waits {
            _ if ledger.refilling => self.execute.refill(),
            Some(reason) => reason,
            None => self.fetch1.waits_for(),
        };
        let cycles = self.time.cycle - ledger.cycle;
        if cycles > 0 {
            let width = self.execute.commit_limit();
            let done = self.execute.stats.ops - ledger.ops;
            // Micro-ops that cost nothing need no slot.
            let used = u32::try_from(done).unwrap_or(width).min(width);
            let charged = if used > 0 { reason } else { ledger.reason };
            ledger.account.cycle(used, width, charged);
            ledger.account.idle(cycles - 1, width, charged);
        }
        (ledger.cycle, ledger.ops, ledger.reason) = (self.time.cycle, self.execute.stats.ops, reason);
        self.ledger = Some(ledger);
    }

    pub fn reset_account(&mut self) {
        if let Some(ledger) = &mut self.ledger {
            ledger.base = ledger.account;
        }
    }

    pub fn collect_account(&self, s: &mut StatSink) {
        if let Some(ledger) = &self.ledger {
            ledger.account.collect(s, &ledger.base);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpred::BranchPredictorParams;
    use crate::minor::{Minor, MinorConfig};
    use crate::testing::{memory_config, Inst, MockFe, Run, BASE};
    use crate::{Budget, Stop};
    use breakeven_base::{BranchKind, OpClass, SysEffect};

    const ALL: Budget = Budget::new(1_000_000, 1_000_000);
    const DUMP: SysEffect = SysEffect::DumpStats;

    /// The charges of a program on data memory of so many cycles, by reason, in cycles; and its cycles without an account.
    fn charges(data_cycles: u64, program: &[Inst]) -> (impl Fn(Reason) -> u64, u64) {
        let mut program = program.to_vec();
        let mut end = Inst::effect(DUMP);
        end.timed = false;
        program.push(end);
        let run = |keep: bool| {
            let core = Minor::new(MinorConfig::default(), Some(&BranchPredictorParams::default()), 64);
            let core = core.unwrap_or_else(|e| panic!("{e:?}"));
            let mut r = Run::on(memory_config(2, data_cycles, 4), core, MockFe::new(program.clone()));
            if keep {
                r.core.keep_account();
            }
            assert_eq!(r.go(ALL), Stop::Effect(DUMP));
            r
        };
        let (plain, kept) = (run(false), run(true));
        assert_eq!(plain.core.cycles(), kept.core.cycles(), "an account changes nothing");
        let mut s = StatSink::new();
        plain.core.collect(&mut s);
        assert!(!s.stats.iter().any(|x| x.name.contains("account")), "none is kept unless asked for");
        let account = kept.core.pipe.ledger.as_ref().expect("asked for").account;
        assert_eq!(account.total(), kept.core.cycles() * 2, "every slot is charged");
        (move |reason| account.slots(reason) / 2, kept.core.cycles())
    }

    fn add() -> Inst {
        Inst::op(OpClass::IntAlu, 5, &[5]).short()
    }

    #[test]
    fn a_chain_is_charged_to_execution_and_a_straight_run_retires() {
        let (of, cycles) = charges(2, &vec![add(); 400]);
        assert!(of(Reason::Retiring) >= 200 && of(Reason::Execution) >= 180, "{cycles} cycles");
        let independent: Vec<Inst> =
            (0..400u32).map(|i| Inst::op(OpClass::IntAlu, 5 + (i % 8) as u8, &[1]).short()).collect();
        let (of, cycles) = charges(2, &independent);
        assert!(of(Reason::Retiring) == 200 && cycles < 260, "{cycles} cycles");
    }

    #[test]
    fn loads_in_a_chain_are_charged_to_the_cache() {
        let load = || Inst::load(5, 5, BASE + 0x1_0000, 8).short();
        let program: Vec<Inst> = (0..50).map(|_| load()).collect();
        let (of, cycles) = charges(40, &program);
        assert!(cycles > 40 * 50 && of(Reason::Level1) > cycles * 9 / 10, "{} of {cycles}", of(Reason::Level1));
    }

    #[test]
    fn a_wrong_path_and_its_refill_are_the_branch_s() {
        // Taken and not in turn, in no pattern that two bits could learn.
        let taken: Vec<bool> = (0..64u32).map(|i| (i * i / 3 + i) % 5 < 2).chain([false]).collect();
        let program = vec![add(), Inst::branch(BranchKind::Cond, 0, &taken).short(), add()];
        let (of, cycles) = charges(2, &program);
        assert!(of(Reason::BadSpeculation) > cycles / 4, "{} of {cycles}", of(Reason::BadSpeculation));
    }

    #[test]
    fn a_reset_starts_anew_and_slices_change_nothing() {
        let core = Minor::new(MinorConfig::default(), Some(&BranchPredictorParams::default()), 64);
        let mut program = vec![add(); 300];
        program.push(Inst::effect(DUMP));
        let mut r = Run::on(memory_config(2, 9, 4), core.unwrap_or_else(|e| panic!("{e:?}")), MockFe::new(program));
        r.core.keep_account();
        assert_eq!(r.go(Budget { max_cycles: 100, ..ALL }), Stop::MaxCycles);
        r.core.reset_stats();
        for max_cycles in 101..160 {
            assert_eq!(r.go(Budget { max_cycles, ..ALL }), Stop::MaxCycles);
        }
        let mut s = StatSink::new();
        r.core.collect(&mut s);
        let get = |n: &str| s.stats.iter().find(|x| x.name == format!("system.cpu.{n}")).map(|x| x.value);
        assert_eq!(get("account::total"), get("numCycles").map(|cycles| 2.0 * cycles));
        assert!(get("account::execution") > Some(40.0));
    }
}
