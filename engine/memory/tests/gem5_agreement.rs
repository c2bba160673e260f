//! The memory-bound micro-kernels of gem5's reference run, replayed as their memory accesses against the same
//! configuration. Expected cycles: measured on gem5 24.0, TimingSimple, 2 GHz, DDR3_1600_8x8.

mod common;

use breakeven_base::MemKind::{self, Load, Store};
use common::{build, reference, stat, Blocking, CYCLE};

const PERM: u64 = 0x8000_2000;
const BUF_B: u64 = 0x8004_2000;
const BUF_A: u64 = 0x8044_2000;
const BSS_END: u64 = 0x8084_2000;

struct Guest {
    core: Blocking,
    lfsr: u64,
    next: Vec<u64>,
    stride: u64,
}

impl Guest {
    /// As far as the first kernel: zeroed memory, random words in the first 64 KiB of the buffer.
    fn boot() -> Guest {
        let core = Blocking { mem: build(reference()), now: 0, fetches: 1 };
        let mut g = Guest { core, lfsr: 0x0123_4567_89ab_cdef, next: Vec::new(), stride: 64 };
        for a in (PERM..BSS_END).step_by(8) {
            g.core.access(a, Store);
            g.core.instructions(3);
        }
        for a in (BUF_A..BUF_A + 65536).step_by(8) {
            g.random();
            g.core.instructions(8);
            g.core.access(a, Store);
        }
        g
    }

    fn random(&mut self) -> u64 {
        self.lfsr ^= self.lfsr << 13;
        self.lfsr ^= self.lfsr >> 7;
        self.lfsr ^= self.lfsr << 17;
        self.lfsr
    }

    /// Sattolo's permutation, linked into the buffer.
    fn chase_init(&mut self, n: u64, stride: u64) {
        let mut perm: Vec<u64> = (0..n).collect();
        (0..n).for_each(|i| self.core.access(PERM + 4 * i, Store));
        for i in (1..n).rev() {
            let j = self.random() % i;
            perm.swap(i as usize, j as usize);
            self.core.instructions(8);
            for (k, kind) in [(i, Load), (j, Load), (i, Store), (j, Store)] {
                self.core.access(PERM + 4 * k, kind);
            }
        }
        for i in 0..n {
            self.core.access(PERM + 4 * i, Load);
            self.core.instructions(3);
            self.core.access(BUF_A + i * stride, Store);
        }
        self.next = perm.iter().map(|p| p * stride).collect();
        self.stride = stride;
    }
}

impl Guest {
    fn chase(&mut self) {
        let mut at = 0;
        for _ in 0..4000 {
            self.core.access(BUF_A + at, Load);
            self.core.instructions(2);
            at = self.next[(at / self.stride) as usize];
        }
    }

    fn stream(&mut self, bytes: u64, kind: MemKind) {
        for a in (BUF_A..BUF_A + bytes).step_by(8) {
            if a % 64 == 0 && a != BUF_A {
                self.core.instructions(3);
            }
            self.core.access(a, kind);
        }
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        for line in (0..bytes).step_by(64) {
            (0..8).for_each(|w| self.core.access(from + line + 8 * w, Load));
            (0..8).for_each(|w| self.core.access(to + line + 8 * w, Store));
            self.core.instructions(3);
        }
    }

    /// Runs `kernel`, and compares its cycles with gem5's.
    fn measure(&mut self, name: &str, gem5: f64, tolerance: f64, kernel: impl Fn(&mut Guest)) {
        self.core.mem.reset_stats();
        let start = self.core.now;
        kernel(self);
        let cycles = ((self.core.now - start) / CYCLE) as f64;
        let off = cycles / gem5 - 1.0;
        let s = |n: &str| stat(&self.core.mem, n);
        println!(
            "{name:12} gem5 {gem5:9} here {cycles:9} {:+.2} %  misses {} wb {} l2 misses {} row hits {:.0}",
            off * 100.0,
            s("system.cpu.dcache.overallMisses::total"),
            s("system.cpu.dcache.writebacks::total"),
            s("system.l2.overallMisses::total"),
            s("system.mem_ctrl.dram.readRowHits"),
        );
        assert_eq!(self.core.mem.audit(), Ok(()));
        assert!(off.abs() <= tolerance, "{name}: {cycles} cycles, gem5 {gem5}: {:+.2} %", off * 100.0);
    }
}

#[test]
fn replayed_kernels_take_the_cycles_that_gem5_measured() {
    let mut g = Guest::boot();
    g.chase_init(256, 64);
    g.chase();
    g.measure("chaseL1", 32_024.0, 0.005, Guest::chase);
    g.chase_init(2048, 64);
    g.chase();
    g.measure("chaseL2", 88_028.0, 0.005, Guest::chase);
    g.chase_init(32_768, 128);
    g.chase();
    g.measure("chaseMem", 685_634.0, 0.005, Guest::chase);
    // The loops below are compiled to 4-byte instructions at odd halfwords.
    g.core.fetches = 2;
    for (name, bytes, kind, gem5, tolerance) in [
        ("streamldL1", 16_384, Load, 15_378.0, 0.005),
        ("streamldL2", 131_072, Load, 151_570.0, 0.005),
        ("streamldMem", 1 << 21, Load, 5_863_726.0, 0.005),
        ("streamstL1", 16_384, Store, 15_378.0, 0.005),
        ("streamstL2", 131_072, Store, 151_570.0, 0.005),
        ("streamstMem", 1 << 21, Store, 6_305_849.0, 0.005),
    ] {
        g.stream(bytes, kind);
        g.measure(name, gem5, tolerance, |g| g.stream(bytes, kind));
    }
    g.copy(BUF_B, BUF_A, 65_536);
    g.measure("copy64k", 139_439.0, 0.005, |g| g.copy(BUF_B, BUF_A, 65_536));
    g.measure("copy64kcold", 480_960.0, 0.005, |g| g.copy(BUF_B + (1 << 20), BUF_A + (3 << 20), 65_536));
}
