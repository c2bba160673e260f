//! Replacement policies: LRU, FIFO, tree-PLRU, random (gem5 `LRURP`, `FIFORP`, `TreePLRURP`, `RandomRP`).

use crate::config::Replacement as Kind;
use crate::util::same_order;
use educe::Educe;

/// The state of one policy for all sets of a cache.
#[cfg_attr(test, derive(PartialEq))]
#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Replacement {
    kind: Kind,
    ways: usize,
    /// LRU and FIFO: when each way was last used or filled, in accesses.
    stamps: Vec<u64>,
    /// Tree-PLRU: one word a set; bit n is node n of the heap-ordered tree (root: 1). Set: the victim is on the right.
    trees: Vec<u64>,
    now: u64,
    random: u64,
}
impl Replacement {
    pub fn new(kind: Kind, sets: usize, ways: usize) -> Self {
        let (stamps, trees) = match kind {
            Kind::Lru | Kind::Fifo => (sets * ways, 0),
            Kind::TreePlru => (0, sets),
            Kind::Random { .. } => (0, 0),
        };
        // Any seed but 0 works for xorshift.
        let random = if let Kind::Random { seed, .. } = kind { seed | 1 << 63 } else { 1 };
        Replacement { kind, ways, stamps: vec![0; stamps], trees: vec![0; trees], now: 0, random }
    }

    /// What is kept for one set, from another of the same shape.
    pub fn copy_set(&mut self, from: &Self, set: usize) {
        if self.stamps.is_empty() {
            if let (Some(tree), Some(&theirs)) = (self.trees.get_mut(set), from.trees.get(set)) {
                *tree = theirs;
            }
        } else {
            let ways = set * self.ways..(set + 1) * self.ways;
            self.stamps[ways.clone()].copy_from_slice(&from.stamps[ways]);
        }
    }

    /// What is not kept by set.
    pub fn copy_rest(&mut self, from: &Self) {
        (self.kind, self.now, self.random) = (from.kind, from.now, from.random);
    }

    /// Whether ways are chosen from now on as from `earlier` on: in each set they were used in the same order.
    pub fn repeats(&self, earlier: &Self) -> bool {
        self.trees == earlier.trees
            && self.random == earlier.random
            && same_order(&self.stamps, &earlier.stamps, self.ways)
    }

    /// A hit in `way` of `set`.
    #[inline]
    pub fn touch(&mut self, set: usize, way: usize) {
        match self.kind {
            Kind::Lru => {
                self.now += 1;
                self.stamps[set * self.ways + way] = self.now;
            }
            Kind::TreePlru => self.point_away(set, way),
            Kind::Fifo | Kind::Random { .. } => {}
        }
    }

    /// A new line in `way` of `set`.
    pub fn fill(&mut self, set: usize, way: usize) {
        if self.kind == Kind::Fifo {
            self.now += 1;
            self.stamps[set * self.ways + way] = self.now;
        } else {
            self.touch(set, way);
        }
    }

    /// The way that a new line takes; `free`: one that holds none.
    pub fn place(&mut self, set: usize, free: Option<usize>) -> usize {
        match (self.kind, free) {
            (Kind::Random { any_way: true, .. }, _) | (_, None) => self.victim(set),
            (_, Some(way)) => way,
        }
    }

    /// The victim's way in a full set.
    fn victim(&mut self, set: usize) -> usize {
        match self.kind {
            Kind::Lru | Kind::Fifo => {
                let stamps = &self.stamps[set * self.ways..][..self.ways];
                stamps.iter().enumerate().min_by_key(|&(_, s)| s).map_or(0, |(way, _)| way)
            }
            Kind::TreePlru => {
                let mut node = 1;
                while node < self.ways {
                    node = 2 * node + (self.trees[set] >> node & 1) as usize;
                }
                node - self.ways
            }
            Kind::Random { .. } => {
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                (self.random % self.ways as u64) as usize
            }
        }
    }

    /// Every node on the way to `way` points to the other side.
    #[inline]
    fn point_away(&mut self, set: usize, way: usize) {
        let mut node = self.ways + way;
        let mut tree = self.trees[set];
        while node > 1 {
            let parent = node / 2;
            if node & 1 == 0 {
                tree |= 1 << parent;
            } else {
                tree &= !(1 << parent);
            }
            node = parent;
        }
        self.trees[set] = tree;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(kind: Kind) -> Replacement {
        let mut r = Replacement::new(kind, 2, 4);
        (0..4).for_each(|w| r.fill(1, w));
        r
    }

    #[test]
    fn lru_gives_up_the_least_recently_used() {
        let mut r = filled(Kind::Lru);
        r.touch(1, 0);
        assert_eq!(r.victim(1), 1);
        r.touch(1, 1);
        assert_eq!(r.victim(1), 2);
    }

    #[test]
    fn fifo_ignores_hits() {
        let mut r = filled(Kind::Fifo);
        r.touch(1, 0);
        assert_eq!(r.victim(1), 0);
        r.fill(1, 0);
        assert_eq!(r.victim(1), 1);
    }

    #[test]
    fn tree_plru_follows_the_tree() {
        let mut r = filled(Kind::TreePlru);
        // Filled 0, 1, 2, 3: the root points left, the left node at 0.
        assert_eq!(r.victim(1), 0);
        r.touch(1, 0); // root right, left node at 1
        assert_eq!(r.victim(1), 2);
        r.touch(1, 2); // root left
        assert_eq!(r.victim(1), 1);
    }

    #[test]
    fn random_repeats_with_its_seed_and_reaches_every_way() {
        let seq = |seed| {
            let mut r = filled(Kind::Random { seed, any_way: false });
            (0..64).map(|_| r.victim(0)).collect::<Vec<_>>()
        };
        assert_eq!(seq(7), seq(7));
        assert_ne!(seq(7), seq(8));
        assert!((0..4).all(|w| seq(7).contains(&w)));
    }

    #[test]
    fn a_free_way_is_taken_first_unless_the_policy_takes_any() {
        for kind in [Kind::Lru, Kind::Fifo, Kind::TreePlru, Kind::Random { seed: 7, any_way: false }] {
            let mut r = filled(kind);
            assert!((0..64).all(|_| r.place(1, Some(2)) == 2), "{kind:?}");
        }
        let mut any = filled(Kind::Random { seed: 7, any_way: true });
        let mut full = filled(Kind::Random { seed: 7, any_way: false });
        let (taken, drawn): (Vec<_>, Vec<_>) = (0..64).map(|_| (any.place(1, Some(2)), full.place(1, None))).unzip();
        assert_eq!(taken, drawn);
        assert!((0..4).all(|w| taken.contains(&w)));
    }
}
