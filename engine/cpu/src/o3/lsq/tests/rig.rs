//! A pipeline of one stage: micro-ops are dispatched at once, execute when the script says (or a cycle after they are
//! ready again), write back and commit. Data memory answers in [`LATENCY`] cycles unless said otherwise.

use breakeven_base::units::Clock;
use breakeven_base::{Cycle, MemKind, MemRef, PhysAddr, Tick, Uop, UopFlags};
use breakeven_memory::config::{CacheConfig, Clusivity, Link, MemorySystemConfig, Replacement, WriteCombiningConfig};
use breakeven_memory::MemorySystem;

use super::super::super::config::O3Config;
use super::super::super::inst::InstRing;
use super::super::super::seq::Seq;
use super::super::{Lsq, LsqOut, MemOutcome};
use crate::o3::unit_rig::predictor;
use crate::outside::Live;
use crate::testing::{self, simple_memory, MockBus, MockFe, BASE, PERIOD};
use crate::when::When;
use crate::CoreCtx;

pub const LATENCY: u64 = 2;
/// A page-aligned address.
pub const DATA: u64 = BASE + 0x1_0000;

/// One micro-op of a script.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub flags: UopFlags,
    pub mem: MemRef,
    pub pc: u64,
    /// Executes in this cycle if memory order lets it; later otherwise.
    pub at: u64,
}

impl Op {
    fn new(flags: UopFlags, kind: MemKind, vaddr: u64, size: u16, at: u64) -> Op {
        let to_page = 4096 - (vaddr & 4095);
        let mem = MemRef {
            vaddr,
            paddr: PhysAddr(vaddr),
            paddr2: PhysAddr(vaddr + to_page),
            size,
            kind,
            valid: true,
            ..MemRef::default()
        };
        Op { flags, mem, pc: 0, at }
    }
    pub fn paged(mut self) -> Op {
        self.mem.page_shift = 12;
        self
    }
    pub fn pc(mut self, pc: u64) -> Op {
        self.pc = pc;
        self
    }
}

pub fn load(vaddr: u64, size: u16, at: u64) -> Op {
    Op::new(UopFlags::LOAD, MemKind::Load, vaddr, size, at)
}
pub fn store(vaddr: u64, size: u16, at: u64) -> Op {
    Op::new(UopFlags::STORE, MemKind::Store, vaddr, size, at)
}
pub fn amo(vaddr: u64, at: u64) -> Op {
    Op::new(UopFlags::LOAD | UopFlags::STORE | UopFlags::ATOMIC, MemKind::Atomic, vaddr, 8, at)
}
pub fn prefetch(vaddr: u64, at: u64) -> Op {
    Op::new(UopFlags::CACHE_OP, MemKind::PrefetchRead, vaddr, 1, at)
}
/// A fence that executes at `at`.
pub fn fence(at: u64) -> Op {
    let whole = UopFlags::FIRST | UopFlags::LAST;
    Op { flags: UopFlags::READ_BARRIER | UopFlags::WRITE_BARRIER | whole, mem: MemRef::default(), pc: 0, at }
}

/// Data memory only, behind a cache with `mshrs` when that is not 0.
fn memory(latency: u64, mshrs: u32) -> MemorySystem {
    testing::memory(memory_config(latency, mshrs))
}

fn memory_config(latency: u64, mshrs: u32) -> MemorySystemConfig {
    let cache = CacheConfig {
        path: "dcache".to_owned(),
        clock: Clock::new(PERIOD),
        size: 4096,
        assoc: 4,
        slices: 1,
        tag_latency: 1,
        data_latency: 1,
        response_latency: 1,
        sequential_access: false,
        mshrs: mshrs.max(1),
        tgts_per_mshr: 8,
        demand_mshr_reserve: 1,
        write_buffers: 4,
        writeback_clean: false,
        replacement: Replacement::Lru,
        clusivity: Clusivity::MostlyIncl,
        is_read_only: false,
        bandwidth: 0,
        write_allocate: true,
        way_predictor_masks: Vec::new(),
        prefetchers: vec![],
        mem_side: Link::Memory(0),
    };
    MemorySystemConfig {
        inst: Link::None,
        data: if mshrs == 0 { Link::Memory(0) } else { Link::Cache(0) },
        inst_walk: Link::None,
        caches: if mshrs == 0 { vec![] } else { vec![cache] },
        memories: vec![simple_memory("data", latency), simple_memory("data", 20)],
        ..testing::memory_config(0, 0, 4)
    }
}

pub struct Rig {
    pub lsq: Lsq,
    pub ring: InstRing,
    mem: MemorySystem,
    fe: MockFe,
    bus: MockBus,
    out: LsqOut,
    ops: Vec<Op>,
    /// Cycle and micro-op: executes, writes back, commits.
    executes: Vec<(u64, Seq)>,
    writes_back: Vec<(u64, Seq)>,
    commits: Vec<(u64, Seq)>,
    /// Cycle of the write-back, by sequence number; 0: not yet.
    pub done: Vec<u64>,
    /// Cycle of the last execution.
    pub executed: Vec<u64>,
    /// When each store was written, in the order of sending.
    pub written: Vec<(u64, u64)>,
    /// Cycle and load.
    pub violations: Vec<(u64, u64)>,
    pub cycle: u64,
}

impl Rig {
    pub fn with_memory(cfg: &O3Config, latency: u64, mshrs: u32) -> Rig {
        assert_eq!(cfg.check(64), Ok(()));
        let mut lsq = Lsq::new(cfg, 64);
        lsq.log_stores(true);
        Rig {
            lsq,
            ring: InstRing::new(1024),
            mem: memory(latency, mshrs),
            fe: MockFe::new(vec![]),
            bus: MockBus::new(),
            out: LsqOut::default(),
            ops: vec![],
            executes: vec![],
            writes_back: vec![],
            commits: vec![],
            done: vec![0],
            executed: vec![0],
            written: vec![],
            violations: vec![],
            cycle: 0,
        }
    }
    /// Non-temporal stores gather in write-combining buffers.
    pub fn write_combining(cfg: &O3Config) -> Rig {
        let mut memory = memory_config(LATENCY, 0);
        memory.write_combining = Some(WriteCombiningConfig::new("wc"));
        Rig { mem: testing::memory(memory), ..Rig::new(cfg) }
    }
    pub fn new(cfg: &O3Config) -> Rig {
        Rig::with_memory(cfg, LATENCY, 0)
    }

    /// Dispatches the next micro-op; its number, from 1 on.
    pub fn dispatch(&mut self, op: Op) -> u64 {
        self.ops.push(op);
        let seq = Seq(self.ops.len() as u64);
        let uop = Uop { flags: op.flags, ..Uop::default() };
        self.ring.place(seq, &uop, &op.mem, op.pc, &Default::default());
        self.done.push(0);
        self.executed.push(0);
        self.ring.set_ready_at(seq, self.lsq.barrier_ready_at(Cycle(self.cycle)));
        if self.lsq.dispatch(seq, &self.ring) {
            self.executes.push((op.at.max(self.cycle + 1), seq));
        }
        seq.0
    }

    /// The LSQ hears in cycle `at` that everything up to `last` has committed.
    pub fn commit(&mut self, last: u64, at: u64) {
        self.commits.push((at, Seq(last)));
    }

    pub fn squash(&mut self, last: u64) {
        let younger = Seq(last + 1);
        self.lsq.squash(Seq(last));
        for list in [&mut self.executes, &mut self.writes_back, &mut self.commits] {
            list.retain(|(_, seq)| *seq < younger);
        }
        self.out.ready.retain(|seq| *seq < younger);
        self.ops.truncate(last as usize);
        self.done.truncate(last as usize + 1);
        self.executed.truncate(last as usize + 1);
    }

    fn due(list: &mut Vec<(u64, Seq)>, now: u64) -> Vec<Seq> {
        let mut due: Vec<Seq> = list.iter().filter(|(at, _)| *at <= now).map(|(_, seq)| *seq).collect();
        due.sort_unstable();
        list.retain(|(at, _)| *at > now);
        due
    }

    /// One cycle, in the order of gem5's IEW.
    pub fn step(&mut self) {
        self.cycle += 1;
        let now = self.cycle;
        let when = When { cycle: Cycle(now), tick: Tick(now * PERIOD), period: PERIOD };
        let cx = &mut CoreCtx { fe: &mut self.fe, bus: &mut self.bus, mem: &mut self.mem };
        let mut cx = Live { cx, predictor: &mut predictor() };
        if self.lsq.next_event() <= Cycle(now) {
            self.lsq.events(&mut cx, &when, &mut self.ring, &mut self.out);
        }
        for seq in Self::due(&mut self.executes, now) {
            self.executed[seq.0 as usize] = now;
            if !self.ring.flags(seq).any(UopFlags::MEM) {
                let at = self.lsq.execute_barrier(seq, &self.ring, &mut cx, &when);
                self.writes_back.push((at.0, seq));
                continue;
            }
            match self.lsq.execute(seq, &mut cx, &when, &mut self.ring, &mut self.out) {
                MemOutcome::Done(at) => self.writes_back.push((at.0, seq)),
                MemOutcome::Pending => {}
            }
            if let Some(v) = self.lsq.take_violation() {
                self.violations.push((now, v.load.0));
            }
        }
        self.writes_back.extend(self.out.done.drain(..).map(|(seq, at)| (at.0, seq)));
        for seq in Self::due(&mut self.writes_back, now) {
            self.done[seq.0 as usize] = now;
            self.lsq.written_back(seq, &mut self.out);
        }
        // What is ready issues now and executes in the next cycle.
        for seq in self.out.ready.drain(..) {
            self.executes.push((self.ops[seq.0 as usize - 1].at.max(now + 1), seq));
        }
        if self.lsq.next_event() <= Cycle(now) {
            self.lsq.tick(&mut cx, &when, &mut self.ring, &mut self.out);
        }
        self.writes_back.extend(self.out.done.drain(..).map(|(seq, at)| (at.0, seq)));
        for seq in Self::due(&mut self.commits, now) {
            self.lsq.commit(seq);
        }
        self.written.extend(self.lsq.take_store_log().into_iter().map(|(seq, at)| (seq.0, at.0)));
    }

    pub fn run_to(&mut self, cycle: u64) {
        while self.cycle < cycle {
            self.step();
        }
    }
}

/// Runs a script to its end; each micro-op's write-back. Commits nothing.
pub fn done(cfg: &O3Config, ops: &[Op]) -> Vec<u64> {
    let mut rig = Rig::new(cfg);
    for op in ops {
        rig.dispatch(*op);
    }
    rig.run_to(200);
    rig.done[1..].to_vec()
}
