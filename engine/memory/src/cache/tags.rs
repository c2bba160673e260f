//! Set-associative tags: one word a line, a set's words side by side.

use super::replacement::Replacement;
use crate::config::Replacement as Kind;
use crate::line::LineAddr;
use breakeven_base::{PhysAddr, Tick};

const VALID: u64 = 1;
const DIRTY: u64 = 2;

/// A victim line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    pub line: LineAddr,
    pub dirty: bool,
}

pub(crate) struct Tags {
    line_mask: u64,
    line_shift: u32,
    sets: u64,
    /// `sets - 1` when that is a mask, so that the usual cache needs no division.
    set_mask: Option<u64>,
    ways: usize,
    /// Line address | flags (a line has at least 4 bytes, so its low bits are free).
    words: Vec<u64>,
    /// When each line's data is there.
    ready: Vec<Tick>,
    replacement: Replacement,
    /// Of the way predictor ([`crate::config::CacheConfig::way_predictor_masks`]).
    masks: Box<[u64]>,
    /// Of each set the line used or filled last: most accesses are to it again, and change no order of replacement.
    recent: Vec<u32>,
    /// Of each set a line used before that: where the next hit is looked for.
    before: Vec<u32>,
    /// The snapshot ([`Tags::freeze`]) that this is, or was copied from; 0: none.
    origin: u64,
    /// A bit a set that may differ from the snapshot.
    touched: Vec<u64>,
}

impl Clone for Tags {
    fn clone(&self) -> Self {
        Tags {
            words: self.words.clone(),
            ready: self.ready.clone(),
            replacement: self.replacement.clone(),
            masks: self.masks.clone(),
            touched: self.touched.clone(),
            recent: self.recent.clone(),
            before: self.before.clone(),
            ..*self
        }
    }

    /// Back to the snapshot that this was copied from only the sets are copied that have changed since: a point touches
    /// few of a large cache's.
    fn clone_from(&mut self, from: &Self) {
        if self.origin == 0 || self.origin != from.origin {
            *self = from.clone();
            return;
        }
        for (at, (touched, &theirs)) in self.touched.iter_mut().zip(&from.touched).enumerate() {
            let mut changed = *touched;
            *touched = theirs;
            while changed != 0 {
                let set = at * 64 + changed.trailing_zeros() as usize;
                changed &= changed - 1;
                let lines = set * self.ways..(set + 1) * self.ways;
                self.words[lines.clone()].copy_from_slice(&from.words[lines.clone()]);
                self.ready[lines.clone()].copy_from_slice(&from.ready[lines]);
                self.replacement.copy_set(&from.replacement, set);
                self.recent[set] = from.recent[set];
            }
        }
        self.replacement.copy_rest(&from.replacement);
    }
}

impl Tags {
    pub fn new(size: u64, ways: u32, line_bytes: u32, kind: Kind, masks: &[u64]) -> Self {
        let ways = ways as usize;
        let sets = size / (ways as u64 * u64::from(line_bytes));
        let lines = sets as usize * ways;
        Tags {
            line_mask: !(u64::from(line_bytes) - 1),
            line_shift: line_bytes.trailing_zeros(),
            sets,
            set_mask: sets.is_power_of_two().then(|| sets - 1),
            ways,
            words: vec![0; lines],
            ready: vec![Tick::ZERO; lines],
            replacement: Replacement::new(kind, sets as usize, ways),
            masks: masks.into(),
            recent: (0..sets as u32).map(|set| set * ways as u32).collect(),
            before: (0..sets as u32).map(|set| set * ways as u32).collect(),
            origin: 0,
            touched: vec![0; (sets as usize).div_ceil(64)],
        }
    }

    /// From here on this is the snapshot `id` (not 0, never given before): it must not change any more, and copies of it
    /// know what they have changed.
    pub fn freeze(&mut self, id: u64) {
        self.origin = id;
        self.touched.fill(0);
    }

    #[inline]
    fn note_set(&mut self, set: usize) {
        self.touched[set / 64] |= 1 << (set % 64);
    }

    /// The line at `index` is about to change.
    #[inline]
    fn note_line(&mut self, index: usize) {
        self.note_set(index / self.ways);
    }

    #[inline]
    pub fn line(&self, addr: PhysAddr) -> LineAddr {
        LineAddr::masked(addr, self.line_mask)
    }

    #[inline]
    fn set(&self, addr: PhysAddr) -> usize {
        let n = addr.0 >> self.line_shift;
        (match self.set_mask {
            Some(mask) => n & mask,
            None => n % self.sets,
        }) as usize
    }

    /// The index of the line that holds `addr`.
    #[inline]
    pub fn find(&self, addr: PhysAddr) -> Option<usize> {
        let want = self.line(addr).addr().0 | VALID;
        let base = self.set(addr) * self.ways;
        let ways = self.words.get(base..base + self.ways)?;
        ways.iter().position(|&w| w & !DIRTY == want).map(|way| base + way)
    }

    /// [`Tags::find`], which looks first where the set's last use was.
    #[inline]
    pub fn find_recent(&self, addr: PhysAddr) -> Option<usize> {
        let (set, want) = (self.set(addr), self.line(addr).addr().0 | VALID);
        let is_there = |i: &usize| self.words[*i] & !DIRTY == want;
        [self.recent[set], self.before[set]].map(|i| i as usize).into_iter().find(is_there).or_else(|| self.find(addr))
    }

    /// [`Tags::find`] and [`Tags::touch`] in one, if the line's data is there at `now`.
    #[inline(always)]
    pub fn use_ready(&mut self, addr: PhysAddr, now: Tick) -> Option<usize> {
        let want = self.line(addr).addr().0 | VALID;
        let i = self.recent[self.set(addr)] as usize;
        if self.words[i] & !DIRTY == want {
            return (self.ready[i] <= now).then_some(i);
        }
        self.use_another(addr, now)
    }

    /// The same of a line that was not the last of its set.
    #[inline(never)]
    fn use_another(&mut self, addr: PhysAddr, now: Tick) -> Option<usize> {
        let before = self.before[self.set(addr)] as usize;
        let is_there = self.words[before] & !DIRTY == self.line(addr).addr().0 | VALID;
        let i = if is_there { before } else { self.find(addr)? };
        if self.ready[i] > now {
            return None;
        }
        self.touch(addr, i);
        Some(i)
    }

    /// Whether the same lines are here as in `earlier`, and lines will make way for others as there.
    pub fn repeats(&self, earlier: &Self) -> bool {
        self.words == earlier.words
            && self.ready == earlier.ready
            && self.recent == earlier.recent
            && self.replacement.repeats(&earlier.replacement)
    }

    /// A use of the line at `index`, for the replacement.
    #[inline]
    pub fn touch(&mut self, addr: PhysAddr, index: usize) {
        let set = self.set(addr);
        self.note_set(set);
        // More lines than 2^32 would be 256 GiB.
        self.before[set] = std::mem::replace(&mut self.recent[set], index as u32);
        self.replacement.touch(set, index - set * self.ways);
    }

    #[inline]
    pub fn ready(&self, index: usize) -> Tick {
        self.ready[index]
    }

    pub fn set_ready(&mut self, index: usize, at: Tick) {
        self.note_line(index);
        self.ready[index] = at;
    }

    #[inline]
    pub fn dirty(&self, index: usize) -> bool {
        self.words[index] & DIRTY != 0
    }

    #[inline]
    pub fn set_dirty(&mut self, index: usize) {
        if self.words[index] & DIRTY == 0 {
            self.note_line(index);
            self.words[index] |= DIRTY;
        }
    }

    /// Makes the line clean; whether it was dirty.
    pub fn clean(&mut self, index: usize) -> bool {
        let was = self.dirty(index);
        self.note_line(index);
        self.words[index] &= !DIRTY;
        was
    }

    /// Drops the line; whether it was dirty.
    pub fn invalidate(&mut self, index: usize) -> bool {
        let was = self.dirty(index);
        self.note_line(index);
        self.words[index] = 0;
        self.ready[index] = Tick::ZERO;
        was
    }

    /// The way of the line of `set` that the way predictor takes for that of `addr`.
    #[cold]
    fn same_hash(&self, set: usize, addr: PhysAddr) -> Option<usize> {
        let agrees = |word: u64| self.masks.iter().all(|mask| ((word ^ addr.0) & mask).count_ones() % 2 == 0);
        let lines = &self.words[set * self.ways..(set + 1) * self.ways];
        lines.iter().position(|&word| word & VALID != 0 && agrees(word & self.line_mask))
    }

    /// Puts the line of `addr` in, where the policy says: in the place of an invalid one or of its victim; with a way
    /// predictor in the place of the line that it could not tell from this one.
    pub fn insert(&mut self, addr: PhysAddr, ready: Tick, dirty: bool) -> (usize, Option<Victim>) {
        let set = self.set(addr);
        let base = set * self.ways;
        let same = if self.masks.is_empty() { None } else { self.same_hash(set, self.line(addr).addr()) };
        let way = same.unwrap_or_else(|| {
            let free = self.words[base..base + self.ways].iter().position(|&w| w & VALID == 0);
            self.replacement.place(set, free)
        });
        let index = base + way;
        let old = self.words[index];
        let victim = (old & VALID != 0).then_some(Victim { line: self.line(PhysAddr(old)), dirty: old & DIRTY != 0 });
        self.words[index] = self.line(addr).addr().0 | VALID | if dirty { DIRTY } else { 0 };
        self.ready[index] = ready;
        self.replacement.fill(set, way);
        self.note_set(set);
        self.recent[set] = index as u32;
        (index, victim)
    }

    pub fn valid_lines(&self) -> usize {
        self.words.iter().filter(|&&w| w & VALID != 0).count()
    }

    /// Every line that is here.
    pub fn lines(&self) -> impl Iterator<Item = LineAddr> + '_ {
        self.words.iter().filter(|&&w| w & VALID != 0).map(|&w| self.line(PhysAddr(w)))
    }

    pub fn dirty_lines(&self) -> impl Iterator<Item = LineAddr> + '_ {
        self.words.iter().filter(|&&w| w & DIRTY != 0).map(|&w| self.line(PhysAddr(w)))
    }

    /// What must always hold: no line twice, every line in its own set, nothing dirty that is not valid.
    pub fn audit(&self) -> Result<(), String> {
        for (i, &w) in self.words.iter().enumerate() {
            let line = PhysAddr(w & !(VALID | DIRTY));
            if w & VALID == 0 {
                if w != 0 {
                    return Err(format!("invalid line {i} has state {w:#x}"));
                }
            } else if self.set(line) != i / self.ways {
                return Err(format!("line {line:#x} is in set {}", i / self.ways));
            } else if self.find(line) != Some(i) {
                return Err(format!("line {line:#x} is there twice"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_invalid_ways_first_then_evicts() {
        let mut t = Tags::new(2 * 2 * 64, 2, 64, Kind::Lru, &[]);
        assert_eq!(t.insert(PhysAddr(0x1000), Tick(5), false).1, None);
        assert_eq!(t.insert(PhysAddr(0x1080), Tick(6), true).1, None);
        let (_, v) = t.insert(PhysAddr(0x1100), Tick(7), false);
        assert_eq!(v, Some(Victim { line: LineAddr::of(PhysAddr(0x1000), 64), dirty: false }));
        let (_, v) = t.insert(PhysAddr(0x1184), Tick(7), false);
        assert_eq!(v, Some(Victim { line: LineAddr::of(PhysAddr(0x1080), 64), dirty: true }));
        assert!(
            t.find(PhysAddr(0x11bf)).is_some()
                && t.find(PhysAddr(0x11c0)).is_none()
                && t.find(PhysAddr(0x1080)).is_none()
        );
        assert_eq!(t.audit(), Ok(()));
    }

    #[test]
    fn sets_need_not_be_a_power_of_two() {
        let mut t = Tags::new(3 * 2 * 64, 2, 64, Kind::Lru, &[]);
        (0..6).for_each(|i| assert_eq!(t.insert(PhysAddr(i * 64), Tick(0), false).1, None));
        assert!((0..6).all(|i| t.find(PhysAddr(i * 64 + 63)).is_some()));
        assert_eq!(t.audit(), Ok(()));
    }

    #[test]
    fn going_back_to_a_snapshot_leaves_no_trace() {
        for kind in [Kind::Lru, Kind::Fifo, Kind::TreePlru, Kind::Random { seed: 3, any_way: false }] {
            let mut snapshot = Tags::new(70 * 2 * 64, 2, 64, kind, &[]);
            for i in 0..90 {
                snapshot.insert(PhysAddr(i * 64), Tick(i), i % 2 == 0);
            }
            let state = |t: &Tags| {
                (t.words.clone(), t.ready.clone(), t.touched.clone(), t.recent.clone(), t.replacement.clone())
            };
            let mut other = snapshot.clone();
            snapshot.freeze(1);
            let mut t = snapshot.clone();
            let recent = t.find(PhysAddr(89 * 64)).expect("the last one is there");
            let changes: [&dyn Fn(&mut Tags); 6] = [
                &|t| t.set_dirty(recent),
                &|t| _ = t.invalidate(t.find(PhysAddr(64)).expect("there")),
                &|t| _ = t.clean(t.find(PhysAddr(128)).expect("there")),
                &|t| t.set_ready(t.find(PhysAddr(256)).expect("there"), Tick(77)),
                &|t| _ = t.use_ready(PhysAddr(320), Tick(1000)),
                &|t| (1000..1300).step_by(7).for_each(|i| _ = t.insert(PhysAddr(i * 64), Tick(9), true)),
            ];
            for change in changes {
                change(&mut t);
                t.clone_from(&snapshot);
                assert!(state(&t) == state(&snapshot), "{kind:?}");
            }
            // What was never copied from it is copied whole.
            other.insert(PhysAddr(0x40_0000), Tick(1), true);
            other.clone_from(&snapshot);
            assert!(state(&other) == state(&snapshot), "{kind:?}");
        }
    }

    #[test]
    fn of_two_lines_that_the_way_predictor_cannot_tell_apart_the_last_stays() {
        let masks = [1 << 12 | 1 << 27, 1 << 13 | 1 << 26];
        let both_stay = |apart: u64| {
            let mut t = Tags::new(2 * 4 * 64, 4, 64, Kind::Lru, &masks);
            t.insert(PhysAddr(0x1000), Tick(5), true);
            let (_, victim) = t.insert(PhysAddr(0x1000 ^ apart), Tick(6), false);
            assert_eq!(t.audit(), Ok(()));
            assert!(t.find(PhysAddr(0x1000 ^ apart)).is_some());
            assert_eq!(t.find(PhysAddr(0x1000)).is_some(), victim.is_none());
            assert!(victim.is_none_or(|v| v.dirty && v.line == LineAddr::of(PhysAddr(0x1000), 64)));
            victim.is_none()
        };
        assert!([1 << 12, 1 << 27, 1 << 12 | 1 << 13, 1 << 12 | 1 << 26].into_iter().all(both_stay));
        assert!(![1 << 12 | 1 << 27, 1 << 13 | 1 << 26, 1 << 14, 1 << 12 | 1 << 27 | 1 << 14]
            .into_iter()
            .any(both_stay));
        // Another set's lines are no matter.
        assert!(both_stay(1 << 6));
    }

    #[test]
    fn the_audit_sees_a_duplicate() {
        let mut t = Tags::new(2 * 2 * 64, 2, 64, Kind::Lru, &[]);
        t.insert(PhysAddr(0x1000), Tick(5), false);
        t.insert(PhysAddr(0x1000), Tick(5), false);
        assert!(t.audit().is_err());
    }
}
