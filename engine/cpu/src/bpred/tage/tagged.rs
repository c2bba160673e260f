//! TAGE's tagged tables: entries, their usefulness, and how a longer history gets one.

use super::table::Table;
use crate::bpred::counters::low_bits;
use crate::bpred::TageParams;
use educe::Educe;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u16,
    /// Negative: not taken.
    ctr: i8,
    useful: u8,
}

/// Where a tagged table would have a branch: index into the common vector, and tag.
pub type Place = (u32, u16);

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Tagged {
    pub tables: Vec<Table>,
    entries: Vec<Entry>,
    ctr_bits: u32,
    useful_max: u8,
    max_alloc: u32,
    /// Branches trained, and those at which usefulness is halved.
    ticks: i64,
    reset_mask: i64,
}

impl Tagged {
    pub fn new(p: &TageParams, tables: Vec<Table>, entries: u32) -> Self {
        Tagged {
            tables,
            entries: vec![Entry::default(); entries as usize],
            ctr_bits: p.tag_table_counter_bits,
            useful_max: low_bits(p.tag_table_u_bits) as u8,
            max_alloc: p.max_num_alloc,
            ticks: p.initial_t_counter_value,
            reset_mask: low_bits(p.log_u_reset_period) as i64,
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// The tables that know a branch, from the longest history down; `places`: where each would have it.
    #[inline]
    pub fn matching<'a>(&'a self, places: &'a [Place]) -> impl Iterator<Item = u8> + 'a {
        self.tables.iter().zip(places).rev().filter_map(|(t, &(index, tag))| {
            (t.enabled && self.entries[index as usize].tag == tag).then_some(t.bank as u8)
        })
    }

    /// The counter of table `bank`; negative: not taken.
    #[inline]
    pub fn counter(&self, places: &[Place], bank: u8) -> i8 {
        self.entries[at(places, bank)].ctr
    }

    pub fn train_counter(&mut self, places: &[Place], bank: u8, taken: bool) {
        let ctr = &mut self.entries[at(places, bank)].ctr;
        *ctr = saturate((*ctr).into(), taken, self.ctr_bits) as i8;
    }

    pub fn is_useless(&self, places: &[Place], bank: u8) -> bool {
        self.entries[at(places, bank)].useful == 0
    }

    pub fn train_usefulness(&mut self, places: &[Place], bank: u8, right: bool) {
        let u = &mut self.entries[at(places, bank)].useful;
        *u = if right { (*u + 1).min(self.useful_max) } else { u.saturating_sub(1) };
    }

    /// A longer history than that of table `hit` gets an entry: of the next table (1 in 2), the one after (1 in 4) or the third.
    pub fn allocate(&mut self, places: &[Place], taken: bool, hit: u8, chance: u32) {
        let n = self.len() as u8;
        let chance = chance & 3 & low_bits(u32::from(n - hit - 1)) as u32;
        let first = hit + 1 + [0, 1, 0, 2][chance as usize];
        if !(hit + 1..=n).any(|bank| self.is_useless(places, bank)) {
            self.entries[at(places, first)].useful = 0;
        }
        let mut left = self.max_alloc;
        for bank in first..=n {
            if left > 0 && self.is_useless(places, bank) {
                let (_, tag) = places[usize::from(bank) - 1];
                let e = &mut self.entries[at(places, bank)];
                (e.tag, e.ctr) = (tag, if taken { 0 } else { -1 });
                left -= 1;
            }
        }
    }

    /// One more branch has trained; from time to time everything becomes less useful.
    pub fn age(&mut self) {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks & self.reset_mask == 0 {
            for e in &mut self.entries {
                e.useful >>= 1;
            }
        }
    }
}

/// The entry of table `bank`, from 1.
#[inline]
fn at(places: &[Place], bank: u8) -> usize {
    places[usize::from(bank) - 1].0 as usize
}

/// One step of a signed counter of `bits` bits.
#[inline]
pub fn saturate(counter: i32, up: bool, bits: u32) -> i32 {
    let top = 1 << (bits - 1);
    if up {
        (counter + 1).min(top - 1)
    } else {
        (counter - 1).max(-top)
    }
}
