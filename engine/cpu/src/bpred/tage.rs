//! gem5's `TAGE` and `LTAGE`: a bimodal table and tagged tables indexed by ever longer (geometric) global histories; the
//! longest one whose tag matches predicts. L-TAGE asks a loop predictor besides.
//! Fact source: gem5 24.0 `src/cpu/pred/tage_base.cc`, `tage.cc`, `ltage.cc`; after Seznec and Michaud, "A case for
//! (partially) TAgged GEometric history length branch prediction" (2006).
//!
//! Unlike gem5: allocation draws from a fixed sequence, and a wrong path that is thrown away without a misprediction
//! leaves no trace in the history. Where gem5 shifts by a negative number (L-TAGE's tables 11 and 12, whose number is
//! above their index's width) the result is x86's: the path does not enter those indices.

mod params;
mod table;

use std::fmt;

use super::counters::low_bits;
use super::direction::DirectionRecord;
use super::history::History;
use super::lfsr::Lfsr;
use super::loop_predictor::{LoopPredictor, LoopRecord};
use super::{LoopPredictorParams, TageParams};
use breakeven_base::{ConfigError, StatSink, Unit};
use educe::Educe;
use params::{check, history_lengths};
use table::Table;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u16,
    /// Negative: not taken.
    ctr: i8,
    useful: u8,
}

/// Who predicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Provider {
    #[default]
    Bimodal,
    LongestMatch,
    BimodalAlt,
    AltMatch,
}

/// A prediction of a conditional branch, kept until it commits.
#[derive(Clone, Copy, Debug, Default)]
struct Info {
    bimodal: u32,
    /// The table that matched with the longest history and the next one; 0: the bimodal one.
    hit: u8,
    alt: u8,
    provider: Provider,
    predicted: bool,
    alt_taken: bool,
    longest_taken: bool,
    newly_allocated: bool,
    looped: LoopRecord,
}

/// What was read for the branches in flight, by the number of the branch.
#[derive(Default, Educe)]
#[educe(Clone)]
struct InFlight {
    infos: Vec<Info>,
    /// Index (into the common vector) and tag per tagged table.
    places: Vec<(u32, u16)>,
}

/// Leftovers of branches that are gone: nothing that predictions depend on.
impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("InFlight")
    }
}

#[derive(Debug, Default, Educe)]
#[educe(Clone)]
struct Counts {
    right: [u64; 4],
    wrong: [u64; 4],
    alt_would_have_hit: u64,
    longest_would_have_hit: u64,
    longest: Vec<u64>,
    alt: Vec<u64>,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Tage {
    tables: Vec<Table>,
    entries: Vec<Entry>,
    bimodal: Vec<bool>,
    hysteresis: Vec<bool>,
    hysteresis_shift: u32,
    history: History,
    in_flight: InFlight,
    shift: u32,
    ctr_bits: u32,
    useful_max: u8,
    /// Negative: a newly allocated entry is believed.
    use_alt: i32,
    use_alt_bits: u32,
    max_alloc: u32,
    ticks: i64,
    reset_mask: i64,
    random: Lfsr,
    loops: Option<LoopPredictor>,
    counts: Counts,
}

impl Tage {
    /// `path` is TAGE's own (`branchPred.tage`); `loops` are the loop predictor's parameters, the shift of the addresses
    /// that it sees and its path.
    ///
    /// # Errors
    /// Vectors of the wrong length, widths that the fields cannot hold, tables above 2^24 entries together.
    pub fn new(
        p: &TageParams,
        path: &str,
        loops: Option<(&LoopPredictorParams, u32, &str)>,
    ) -> Result<Self, ConfigError> {
        check(p, path)?;
        let lengths = history_lengths(p);
        let mut folds = Vec::new();
        let mut tables = Vec::new();
        let mut base = 0;
        let per_table = p.log_tag_table_sizes.iter().zip(&p.tag_table_tag_widths).skip(1);
        for ((bank, (&log, &tag)), &length) in (1..).zip(per_table).zip(&lengths) {
            folds.push((length, [log, tag, tag - 1]));
            let enabled = p.no_skip.get(bank as usize).copied().unwrap_or(true);
            tables.push(Table::new(base, bank, log, tag, length.min(p.path_hist_bits), enabled));
            base += 1 << log;
        }
        let bimodal = 1_usize << p.log_tag_table_sizes[0];
        let mut tage = Tage {
            entries: vec![Entry::default(); base as usize],
            bimodal: vec![false; bimodal],
            hysteresis: vec![true; bimodal >> p.log_ratio_bi_modal_hyst_entries],
            hysteresis_shift: p.log_ratio_bi_modal_hyst_entries,
            history: History::new(&folds, p.path_hist_bits),
            in_flight: InFlight::default(),
            shift: p.inst_shift_amt,
            ctr_bits: p.tag_table_counter_bits,
            useful_max: low_bits(p.tag_table_u_bits) as u8,
            use_alt: 0,
            use_alt_bits: p.use_alt_on_na_bits,
            max_alloc: p.max_num_alloc,
            ticks: p.initial_t_counter_value,
            reset_mask: low_bits(p.log_u_reset_period) as i64,
            random: Lfsr::new(0x9e37_79b9),
            loops: loops.map(|(l, shift, path)| LoopPredictor::new(l, shift, path)).transpose()?,
            counts: Counts { longest: vec![0; tables.len() + 1], alt: vec![0; tables.len() + 1], ..Counts::default() },
            tables,
        };
        tage.make_room();
        Ok(tage)
    }

    /// The number of the next branch, by which its record will be found.
    pub(super) fn history(&self) -> u64 {
        self.history.next()
    }

    fn make_room(&mut self) {
        let room = self.history.make_room() as usize;
        let had = self.in_flight.infos.len();
        if had != room {
            // All `had` places are taken when it grows: each goes to where its number selects, one half or the other.
            let n = self.tables.len();
            let old = std::mem::take(&mut self.in_flight);
            let mut new = InFlight { infos: vec![Info::default(); room], places: vec![(0, 0); room * n] };
            let next = self.history.next() as usize;
            for number in next - had.min(next)..next {
                let (from, to) = (number & (had - 1), number & (room - 1));
                new.infos[to] = old.infos[from];
                new.places[to * n..(to + 1) * n].copy_from_slice(&old.places[from * n..(from + 1) * n]);
            }
            self.in_flight = new;
        }
    }

    #[inline]
    fn slot(&self, number: u64) -> usize {
        number as usize & (self.in_flight.infos.len() - 1)
    }

    #[inline]
    fn place(&self, slot: usize, bank: u8) -> (usize, u16) {
        let (index, tag) = self.in_flight.places[slot * self.tables.len() + usize::from(bank) - 1];
        (index as usize, tag)
    }

    pub(super) fn lookup(&mut self, pc: u64) -> DirectionRecord {
        self.make_room();
        let number = self.history.next();
        let slot = self.slot(number);
        let shifted = (pc >> self.shift) as u32;
        self.find_places(slot, shifted);
        let mut info = self.read(slot, shifted);
        let mut predicted = info.predicted;
        if let Some(l) = &self.loops {
            (info.looped, predicted) = l.predict(pc, predicted);
        }
        self.in_flight.infos[slot] = info;
        DirectionRecord { global: number, predicted, ..DirectionRecord::default() }
    }

    /// Where each tagged table would have the branch.
    #[inline]
    fn find_places(&mut self, slot: usize, pc: u32) {
        let n = self.tables.len();
        let (h, path) = (&self.history, self.history.path());
        let places = &mut self.in_flight.places[slot * n..(slot + 1) * n];
        let folded = h.folded(0).iter().zip(h.folded(1)).zip(h.folded(2));
        for ((place, t), ((index, tag), tag_shifted)) in places.iter_mut().zip(&self.tables).zip(folded) {
            let tag = (pc ^ tag ^ (tag_shifted << 1)) & t.tag_mask;
            *place = (t.base + t.index(pc, *index, path), tag as u16);
        }
    }

    fn read(&self, slot: usize, pc: u32) -> Info {
        let n = self.tables.len();
        let places = &self.in_flight.places[slot * n..(slot + 1) * n];
        let bimodal = pc & (self.bimodal.len() - 1) as u32;
        let base_taken = self.bimodal[bimodal as usize];
        // From the longest history down: the first two tables that know the branch.
        let mut matching = self.tables.iter().zip(places).rev().filter_map(|(t, &(index, tag))| {
            (t.enabled && self.entries[index as usize].tag == tag).then_some(t.bank as u8)
        });
        let hit = matching.next();
        let alt = matching.next();
        let counter = |bank: u8| self.entries[places[usize::from(bank) - 1].0 as usize].ctr;
        let alt_taken = alt.map_or(base_taken, |b| counter(b) >= 0);
        let mut info = Info { bimodal, hit: hit.unwrap_or(0), alt: alt.unwrap_or(0), alt_taken, ..Info::default() };
        match hit {
            Some(bank) => {
                let ctr = counter(bank);
                info.longest_taken = ctr >= 0;
                info.newly_allocated = ctr == 0 || ctr == -1;
                let believed = self.use_alt < 0 || !info.newly_allocated;
                info.predicted = if believed { info.longest_taken } else { alt_taken };
                info.provider = match (believed, alt) {
                    (true, _) => Provider::LongestMatch,
                    (false, Some(_)) => Provider::AltMatch,
                    (false, None) => Provider::BimodalAlt,
                };
            }
            None => (info.predicted, info.longest_taken) = (base_taken, base_taken),
        }
        info
    }

    pub(super) fn push_history(&mut self, pc: u64, taken: bool, r: &DirectionRecord) {
        debug_assert_eq!(r.global, self.history.next(), "branches enter the history in order");
        self.make_room();
        let slot = self.slot(r.global);
        if let (Some(l), false) = (&mut self.loops, r.uncond) {
            l.push(taken, &self.in_flight.infos[slot].looped);
        }
        self.history.push(taken, (pc >> self.shift) as u32);
    }

    pub(super) fn restore(&mut self, _pc: u64, r: &DirectionRecord) {
        self.history.restore(r.global);
        let slot = self.slot(r.global);
        if let (Some(l), false) = (&mut self.loops, r.uncond) {
            l.restore(&self.in_flight.infos[slot].looped);
        }
    }

    pub(super) fn train(&mut self, pc: u64, taken: bool, r: &DirectionRecord) {
        if !r.uncond {
            let slot = self.slot(r.global);
            let info = self.in_flight.infos[slot];
            self.count(taken, &info);
            if let Some(l) = &mut self.loops {
                l.train(pc, taken, (info.predicted, r.predicted), &info.looped, &mut self.random);
            }
            self.learn(slot, taken, &info);
        }
        self.history.commit(r.global);
    }

    fn learn(&mut self, slot: usize, taken: bool, info: &Info) {
        let mut alloc = info.predicted != taken && usize::from(info.hit) < self.tables.len();
        if info.hit > 0 && info.newly_allocated {
            // It was right by itself: no need of a longer history, even if it was not believed.
            alloc &= info.longest_taken != taken;
            if info.longest_taken != info.alt_taken {
                self.use_alt = saturate(self.use_alt, info.alt_taken == taken, self.use_alt_bits);
            }
        }
        let chance = self.random.next();
        if alloc {
            self.allocate(slot, taken, info.hit, chance);
        }
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks & self.reset_mask == 0 {
            for e in &mut self.entries {
                e.useful >>= 1;
            }
        }
        if info.hit == 0 {
            self.train_bimodal(info.bimodal, taken);
            return;
        }
        let (at, _) = self.place(slot, info.hit);
        self.entries[at].ctr = saturate(self.entries[at].ctr.into(), taken, self.ctr_bits) as i8;
        if self.entries[at].useful == 0 {
            // Not yet known to be of use: what stood in for it goes on learning.
            if info.alt > 0 {
                let (alt, _) = self.place(slot, info.alt);
                self.entries[alt].ctr = saturate(self.entries[alt].ctr.into(), taken, self.ctr_bits) as i8;
            } else {
                self.train_bimodal(info.bimodal, taken);
            }
        }
        if info.predicted != info.alt_taken {
            let u = &mut self.entries[at].useful;
            *u = if info.predicted == taken { (*u + 1).min(self.useful_max) } else { u.saturating_sub(1) };
        }
    }

    /// A longer history gets an entry: of the next table (1 in 2), the one after (1 in 4) or the third.
    fn allocate(&mut self, slot: usize, taken: bool, hit: u8, chance: u32) {
        let n = self.tables.len() as u8;
        let chance = chance & 3 & low_bits(u32::from(n - hit - 1)) as u32;
        let first = hit + 1 + [0, 1, 0, 2][chance as usize];
        let useless = |t: &Tage, bank: u8| t.entries[t.place(slot, bank).0].useful == 0;
        if !(hit + 1..=n).any(|bank| useless(self, bank)) {
            let (at, _) = self.place(slot, first);
            self.entries[at].useful = 0;
        }
        let mut left = self.max_alloc;
        for bank in first..=n {
            if left > 0 && useless(self, bank) {
                let (at, tag) = self.place(slot, bank);
                let e = &mut self.entries[at];
                (e.tag, e.ctr) = (tag, if taken { 0 } else { -1 });
                left -= 1;
            }
        }
    }

    /// A two-bit counter whose low bit is shared with its neighbours.
    fn train_bimodal(&mut self, index: u32, taken: bool) {
        let index = index as usize;
        let shared = index >> self.hysteresis_shift;
        let counter = u8::from(self.bimodal[index]) << 1 | u8::from(self.hysteresis[shared]);
        let counter = if taken { (counter + 1).min(3) } else { counter.saturating_sub(1) };
        self.bimodal[index] = counter >> 1 == 1;
        self.hysteresis[shared] = counter & 1 == 1;
    }

    fn count(&mut self, taken: bool, info: &Info) {
        let c = &mut self.counts;
        let provider = info.provider as usize;
        let tagged = matches!(info.provider, Provider::LongestMatch | Provider::AltMatch);
        if tagged {
            c.longest[usize::from(info.hit)] += 1;
            c.alt[usize::from(info.alt)] += 1;
        }
        if info.predicted == taken {
            c.right[provider] += 1;
            return;
        }
        c.wrong[provider] += 1;
        match info.provider {
            Provider::LongestMatch => c.alt_would_have_hit += u64::from(info.alt_taken == taken),
            Provider::BimodalAlt | Provider::AltMatch => {
                c.longest_would_have_hit += u64::from(info.longest_taken == taken);
            }
            Provider::Bimodal => {}
        }
    }

    pub(super) fn stats(&self, s: &mut StatSink) {
        s.scope("tage", |s| self.table_stats(s));
        if let Some(l) = &self.loops {
            s.scope("loop_predictor", |s| l.stats(s));
        }
    }

    fn table_stats(&self, s: &mut StatSink) {
        let c = &self.counts;
        let mut count = |name: &str, v, desc| s.count(name, v, Unit::Count, desc);
        let right = "Number of times this is the provider and the prediction is correct";
        let wrong = "Number of times this is the provider and the prediction is wrong";
        // In the order of `Provider`.
        let names = ["bimodalProvider", "longestMatchProvider", "bimodalAltMatchProvider", "altMatchProvider"];
        for (i, name) in names.iter().enumerate() {
            count(&format!("{name}Correct"), c.right[i], right);
            count(&format!("{name}Wrong"), c.wrong[i], wrong);
        }
        let would = "Number of times the provider was wrong and this would have been right";
        count("altMatchProviderWouldHaveHit", c.alt_would_have_hit, would);
        count("longestMatchProviderWouldHaveHit", c.longest_would_have_hit, would);
        for (name, counts, desc) in [
            ("longestMatchProvider", &c.longest, "Number of predictions by the table of the longest match"),
            ("altMatchProvider", &c.alt, "Number of predictions by the table of the alternate match"),
        ] {
            for (i, v) in counts.iter().enumerate() {
                count(&format!("{name}::{i}"), *v, desc);
            }
            count(&format!("{name}::total"), counts.iter().sum(), desc);
        }
    }

    pub(super) fn reset_stats(&mut self) {
        let n = self.tables.len() + 1;
        self.counts = Counts { longest: vec![0; n], alt: vec![0; n], ..Counts::default() };
        if let Some(l) = &mut self.loops {
            l.reset_stats();
        }
    }
}

/// One step of a signed counter of `bits` bits.
#[inline]
fn saturate(counter: i32, up: bool, bits: u32) -> i32 {
    let top = 1 << (bits - 1);
    if up {
        (counter + 1).min(top - 1)
    } else {
        (counter - 1).max(-top)
    }
}
