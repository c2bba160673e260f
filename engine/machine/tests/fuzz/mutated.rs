//! Inputs for the fuzz targets without libFuzzer: pieces of something whole with bytes changed, put in, copied or lost, and
//! noise. The same in each run.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, Index};
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// The longest input.
const LONGEST: usize = 16384;
/// `BREAKEVEN_HOSTILE=100000 cargo test fuzz` for a long run.
const CASES: &str = "BREAKEVEN_HOSTILE";

#[derive(Clone, Debug)]
enum Edit {
    Set(Index, u8),
    Flip(Index, u8),
    /// A number where a field may lie.
    Number(Index, u64, usize),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    /// A piece once more, elsewhere.
    Copy(Index, Index, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    let number = prop_oneof![select(vec![0, 1, 0x7f, 0xff, 0x7fff_ffff, 1 << 31, 1 << 63, u64::MAX]), any::<u64>()];
    prop_oneof![
        3 => (at(), any::<u8>()).prop_map(|(at, byte)| Edit::Set(at, byte)),
        3 => (at(), 0..8_u8).prop_map(|(at, bit)| Edit::Flip(at, bit)),
        2 => (at(), number, select(vec![2_usize, 4, 8])).prop_map(|(at, n, len)| Edit::Number(at, n, len)),
        1 => (at(), vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        1 => (at(), 1..65_usize).prop_map(|(at, len)| Edit::Remove(at, len)),
        1 => (at(), at(), 1..65_usize).prop_map(|(from, to, len)| Edit::Copy(from, to, len)),
    ]
}

fn applied(mut bytes: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for edit in edits {
        let len = bytes.len();
        if len == 0 {
            break;
        }
        match edit {
            Edit::Set(at, byte) => bytes[at.index(len)] = *byte,
            Edit::Flip(at, bit) => bytes[at.index(len)] ^= 1 << bit,
            Edit::Number(at, n, size) => {
                let at = at.index(len);
                let size = (*size).min(len - at);
                bytes[at..at + size].copy_from_slice(&n.to_le_bytes()[..size]);
            }
            Edit::Insert(at, more) => {
                let at = at.index(len);
                bytes.splice(at..at, more.iter().copied());
            }
            Edit::Remove(at, n) => {
                let at = at.index(len);
                bytes.drain(at..(at + n).min(len));
            }
            Edit::Copy(from, to, n) => {
                let from = from.index(len);
                let piece = bytes[from..(from + n).min(len)].to_vec();
                let to = to.index(len);
                bytes.splice(to..to, piece);
            }
        }
    }
    bytes.truncate(LONGEST);
    bytes
}

fn input(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let mutated = (select(seeds), vec(edit(), 0..12)).prop_map(|(seed, edits)| applied(seed, &edits));
    prop_oneof![4 => mutated, 1 => vec(any::<u8>(), 0..512)]
}

/// Runs `target` on the seeds, then on so many inputs made from them.
pub fn try_all(seeds: Vec<Vec<u8>>, cases: u32, target: fn(&[u8])) {
    seeds.iter().for_each(|seed| target(seed));
    let cases = std::env::var(CASES).ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    let config = Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() };
    let run = |bytes: Vec<u8>| {
        target(&bytes);
        Ok(())
    };
    TestRunner::new(config).run(&input(seeds), run).unwrap_or_else(|e| panic!("{e}"));
}
