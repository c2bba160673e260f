//! CPUID: leaves made once from the configuration.

use crate::config::{Features, X86Config};
use crate::simd::XCR0;

#[derive(Clone, Debug, Default)]
pub(crate) struct Cpuid {
    /// Leaf, subleaf, EAX..EDX.
    leaves: Vec<(u32, u32, [u32; 4])>,
}

fn word(b: &[u8]) -> u32 {
    b.iter().take(4).rev().fold(0, |v, &b| v << 8 | u32::from(b))
}

fn bits(list: &[(bool, u32)]) -> u32 {
    list.iter().fold(0, |v, &(on, bit)| v | u32::from(on) << bit)
}

fn leaf1(f: &Features, line: u16) -> (u32, u32, u32) {
    let ecx = bits(&[
        (f.sse3, 0),
        (f.ssse3, 9),
        (f.cx16, 13),
        (f.sse4_1, 19),
        (f.sse4_2, 20),
        (f.movbe, 22),
        (f.popcnt, 23),
        (f.avx, 28),
    ]);
    let edx = bits(&[
        (true, 0),
        (true, 2),
        (true, 3),
        (true, 4),
        (true, 5),
        (true, 6),
        (true, 8),
        (true, 13),
        (f.cmov, 15),
        (true, 16),
        (true, 17),
        (f.clflush, 19),
        (f.mmx, 23),
        (true, 24),
        (f.sse, 25),
        (f.sse2, 26),
    ]);
    (u32::from(line / 8) << 8 | 1 << 16, ecx, edx)
}

fn leaf7(f: &Features) -> (u32, u32) {
    let ebx = bits(&[
        (f.fsgsbase, 0),
        (f.bmi1, 3),
        (f.avx2, 5),
        (f.smep, 7),
        (f.bmi2, 8),
        (f.erms, 9),
        (f.avx512, 16),
        (f.avx512, 17),
        (f.adx, 19),
        (f.smap, 20),
        (f.clflushopt, 23),
        (f.clwb, 24),
        (f.avx512, 28),
        (f.avx512, 30),
        (f.avx512, 31),
    ]);
    (ebx, bits(&[(f.fsrm, 4)]))
}

impl Cpuid {
    pub fn new(c: &X86Config) -> Cpuid {
        let f = &c.features;
        let vendor = [word(&c.vendor[0..4]), word(&c.vendor[4..8]), word(&c.vendor[8..12])];
        let (ebx1, ecx1, edx1) = leaf1(f, c.line);
        let (ebx7, edx7) = leaf7(f);
        let xsave = u32::from(f.avx) * (1 << 26);
        // What XCR0 may have; with AVX-512 opmasks, upper halves and high registers lie behind AVX's part.
        let state = 3 | if f.avx { 4 } else { 0 } | if f.avx512 { XCR0 } else { 0 };
        let size = if f.avx512 { 2688 } else { 832 };
        let ext_ecx = bits(&[(true, 0), (f.lzcnt, 5), (f.prefetchw, 8)]);
        let ext_edx = bits(&[(true, 11), (true, 20), (f.pdpe1gb, 26), (f.rdtscp, 27), (true, 29)]);
        let mut leaves = vec![
            (0, 0, [0xd, vendor[0], vendor[2], vendor[1]]),
            (1, 0, [c.signature, ebx1, ecx1 | xsave, edx1]),
            (7, 0, [0, ebx7, 0, edx7]),
            // Two fixed counters of 48 bits: instructions, core cycles. They count from reset without being enabled.
            (0xa, 0, [0x2, 0, 0, 48 << 5 | 2]),
            // x87, SSE and AVX state: the area's size and where AVX's part lies.
            (0xd, 0, [state as u32, size, size, 0]),
            (0xd, 2, [256, 576, 0, 0]),
            (0x8000_0000, 0, [0x8000_0008, vendor[0], vendor[2], vendor[1]]),
            (0x8000_0001, 0, [c.signature, 0, ext_ecx, ext_edx]),
            // Invariant TSC; 48 bits of virtual and physical address.
            (0x8000_0007, 0, [0, 0, 0, 1 << 8]),
            (0x8000_0008, 0, [0x3030, 0, 0, 0]),
        ];
        if f.avx512 {
            leaves.extend([(0xd, 5, [64, 1088, 0, 0]), (0xd, 6, [512, 1152, 0, 0]), (0xd, 7, [1024, 1664, 0, 0])]);
        }
        let mut brand = [0u8; 48];
        for (to, from) in brand.iter_mut().zip(c.brand.bytes()) {
            *to = from;
        }
        for (k, part) in brand.chunks_exact(16).enumerate() {
            let w = |n: usize| word(&part[4 * n..]);
            leaves.push((0x8000_0002 + k as u32, 0, [w(0), w(1), w(2), w(3)]));
        }
        Cpuid { leaves }
    }

    /// Takes AVX-512 back: F, DQ, CD, BW, VL and their state.
    pub fn hide_avx512(&mut self) {
        for (leaf, subleaf, r) in &mut self.leaves {
            match (*leaf, *subleaf) {
                (7, 0) => r[1] &= !(1 << 16 | 1 << 17 | 1 << 28 | 1 << 30 | 1 << 31),
                (0xd, 0) => *r = [r[0] & 7, 832, 832, 0],
                (0xd, 5..=7) => *r = [0; 4],
                _ => {}
            }
        }
    }

    /// EAX, EBX, ECX, EDX; zeros for a leaf that does not exist.
    pub fn get(&self, leaf: u32, subleaf: u32) -> [u32; 4] {
        let sub = if matches!(leaf, 7 | 0xd) { subleaf } else { 0 };
        self.leaves.iter().find(|l| l.0 == leaf && l.1 == sub).map_or([0; 4], |l| l.2)
    }
}
