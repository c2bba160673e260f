//! Random bytes that are the same in every run: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
//! generators", 2014) from a fixed seed.

#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Default for Random {
    fn default() -> Random {
        Random(0x0062_7265_616b_6576)
    }
}

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn fill(&mut self, to: &mut [u8]) {
        for part in to.chunks_mut(8) {
            let bytes = self.next().to_le_bytes();
            part.copy_from_slice(&bytes[..part.len()]);
        }
    }
}
