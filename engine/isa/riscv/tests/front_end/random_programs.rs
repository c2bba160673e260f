//! Random programs: nothing panics, described and fast execution agree, and a wrong path can be taken anywhere and
//! leaves the state as it was.

use crate::common::{now, Machine, DEVICE, RAM};
use breakeven_base::{FrontEnd, StepResult, UopFlags};
use breakeven_riscv::{decode, describe, Extensions, MisalignedPolicy, Mode, Op, RiscvConfig};

const WORDS: u64 = 1500;
const EXTENSIONS: Extensions = Extensions { zba: true, zbb: true, zbs: true, zicbom: true, zicboz: true, v: true };

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 32) % n
    }
    /// A word that decodes to something, with near branch targets more often than not.
    fn word(&mut self) -> u32 {
        const MAJOR: [u32; 20] = [
            0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x07, 0x27, 0x13, 0x1b, 0x33, 0x3b, 0x0f, 0x2f, 0x43, 0x53, 0x73,
            0x57, 0x57,
        ];
        loop {
            let raw = self.next() as u32;
            let word = match self.below(8) {
                0 => return raw,
                1 | 2 => raw & !3 | self.below(3) as u32,
                _ => raw & !0x7f | MAJOR[self.below(20) as usize],
            };
            if decode(word, &EXTENSIONS).op != Op::Illegal {
                return word;
            }
        }
    }
}

/// A machine full of random code whose registers point at RAM, a device, and nowhere; traps go on at a random place.
fn machine(r: &mut Random, mode: Mode) -> Machine {
    let policy = match r.below(4) {
        0 => MisalignedPolicy::Trap,
        1 => MisalignedPolicy::Pma(vec![RAM..RAM + 0x8_0000]),
        _ => MisalignedPolicy::Hardware,
    };
    let program: Vec<u32> = (0..WORDS).map(|_| r.word()).collect();
    let mut m =
        Machine::with(&RiscvConfig { misaligned: policy, extensions: EXTENSIONS, ..RiscvConfig::default() }, &program);
    m.set_csr(0x3b0, u64::MAX >> 10);
    m.set_csr(0x3a0, 0x1f);
    m.set_csr(0x305, RAM + r.below(WORDS / 2) * 4);
    m.set_csr(0x105, RAM + r.below(WORDS / 2) * 4);
    m.set_csr(0x302, r.next());
    for n in 1..32 {
        let v = match r.below(6) {
            0 => r.next(),
            1 => DEVICE,
            2 => RAM + r.below(WORDS * 4),
            _ => RAM + 0x4_0000 + r.below(0x8000) * 8,
        };
        m.set_x(n, v);
        m.set_f(n, r.next() | if r.below(2) == 0 { 0xffff_ffff << 32 } else { 0 });
    }
    m.set_csr(0x300, (mode as u64) << 11 | 1 << 13 | 1 << 9 | r.next() & 0xe_0000);
    m.set_csr(0x341, RAM);
    m.code(RAM + 0x8_0000, &[crate::common::asm::MRET]);
    m.fe.set_pc(RAM + 0x8_0000);
    m
}

/// Everything that a program can have changed, RAM as a checksum.
fn state(m: &mut Machine) -> (Vec<u64>, u64) {
    let mut v: Vec<u64> = (0..32).map(|n| m.x(n)).chain((0..32).map(|n| m.f(n))).collect();
    v.extend([m.fe.pc(), m.fe.mode() as u64, m.fe.retired(), m.csr(0x300), m.csr(0x341), m.csr(0x342), m.csr(0x180)]);
    let ram = m.bus.ram.slice(RAM, 1 << 20).expect("in RAM");
    let sum = ram.chunks(8).fold(0u64, |s, c| s.rotate_left(5) ^ c.iter().fold(0, |v, &b| v << 8 | u64::from(b)));
    (v, sum)
}

fn modes() -> impl Iterator<Item = Mode> {
    [Mode::M, Mode::S, Mode::U].into_iter().cycle()
}

#[test]
fn every_word_decodes_and_describes_itself() {
    let mut r = Random(0x1234_5678_9abc_def1);
    for n in 0..400_000u32 {
        let raw = if n < 0x1_0000 { n } else { r.next() as u32 };
        let i = decode(raw, &EXTENSIONS);
        assert_eq!(i.len, if raw & 3 == 3 { 4 } else { 2 });
        assert!(i.uop.flags.any(UopFlags::FIRST) && i.uop.flags.any(UopFlags::LAST));
        if n % 16 == 0 {
            assert!(i.op.is_vector() || describe(raw).contains(i.op.mnemonic()));
        }
    }
}

/// Whole instructions (a vector instruction may take several steps), or traps.
fn instructions(m: &mut Machine, n: usize) {
    for _ in 0..n {
        loop {
            m.steps(1);
            if m.step.uops[usize::from(m.step.n) - 1].flags.any(UopFlags::LAST) {
                break;
            }
        }
    }
}

#[test]
fn fast_and_described_execution_agree_on_random_programs() {
    let mut r = Random(0xfeed_beef_1234_5679);
    for mode in modes().take(120) {
        let mut a = machine(&mut r, mode);
        let mut b = Machine { fe: a.fe.clone(), bus: crate::common::TestBus::new(1 << 20), step: a.step };
        let image = a.bus.ram.slice(RAM, 1 << 20).expect("in RAM").to_vec();
        b.bus.ram.slice_mut(RAM, 1 << 20).expect("in RAM").copy_from_slice(&image);
        let mut done = 0;
        while done < 3000 {
            // The fast path, then one described step over whatever it left; the other machine steps all the way.
            let n = a.fe.run_fast(&mut a.bus, now(true), 100) as usize;
            instructions(&mut b, n);
            instructions(&mut a, 1);
            instructions(&mut b, 1);
            done += n + 1;
        }
        assert_eq!(state(&mut a), state(&mut b));
    }
}

#[test]
fn wrong_paths_anywhere_change_nothing() {
    let mut r = Random(0x0dd0_cafe_1357_2469);
    for mode in modes().take(60) {
        let mut m = machine(&mut r, mode);
        for _ in 0..60 {
            let n = r.below(20) as usize;
            m.steps(n);
            let before = state(&mut m);
            let log = m.bus.device_log.len();
            let depth = m.fe.fork(RAM + r.below(WORDS * 2) * 2);
            for _ in 0..r.below(60) {
                if r.below(8) == 0 {
                    m.fe.fork(RAM + r.below(WORDS * 2) * 2);
                }
                match m.go() {
                    StepResult::Done => assert!(!m.step.uops[0].flags.any(UopFlags::TRAP)),
                    other => assert_eq!(other, StepResult::Blocked),
                }
            }
            m.fe.rollback(depth);
            assert_eq!(m.fe.depth(), 0);
            assert_eq!(before, state(&mut m));
            assert_eq!(log, m.bus.device_log.len());
        }
    }
}
