//! gem5's `TAGE` and `LTAGE`: a bimodal table and tagged tables indexed by ever longer (geometric) global histories; the
//! longest one whose tag matches predicts. L-TAGE asks a loop predictor besides.
//! Fact source: gem5 24.0 `src/cpu/pred/tage_base.cc`, `tage.cc`, `ltage.cc`; after Seznec and Michaud, "A case for
//! (partially) TAgged GEometric history length branch prediction" (2006).
//!
//! Unlike gem5: allocation draws from a fixed sequence, and a wrong path that is thrown away without a misprediction
//! leaves no trace in the history. Where gem5 shifts by a negative number (L-TAGE's tables 11 and 12, whose number is
//! above their index's width) the result is x86's: the path does not enter those indices.

mod bimodal;
mod params;
mod table;
mod tagged;

use std::fmt;

use super::direction::DirectionRecord;
use super::history::History;
use super::lfsr::Lfsr;
use super::loop_predictor::{LoopPredictor, LoopRecord};
use super::{LoopPredictorParams, TageParams};
use bimodal::Bimodal;
use breakeven_base::{ConfigError, StatSink, Unit};
use educe::Educe;
use params::{check, history_lengths};
use table::Table;
use tagged::{saturate, Place, Tagged};

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
    /// By branch and tagged table.
    places: Vec<Place>,
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
    tagged: Tagged,
    bimodal: Bimodal,
    history: History,
    in_flight: InFlight,
    shift: u32,
    /// Negative: a newly allocated entry is believed.
    use_alt: i32,
    use_alt_bits: u32,
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
        let mut tage = Tage {
            bimodal: Bimodal::new(p.log_tag_table_sizes[0], p.log_ratio_bi_modal_hyst_entries),
            history: History::new(&folds, p.path_hist_bits),
            in_flight: InFlight::default(),
            shift: p.inst_shift_amt,
            use_alt: 0,
            use_alt_bits: p.use_alt_on_na_bits,
            random: Lfsr::new(0x9e37_79b9),
            loops: loops.map(|(l, shift, path)| LoopPredictor::new(l, shift, path)).transpose()?,
            counts: Counts { longest: vec![0; tables.len() + 1], alt: vec![0; tables.len() + 1], ..Counts::default() },
            tagged: Tagged::new(p, tables, base),
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
            let n = self.tagged.len();
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

    /// Where each tagged table would have the branch of this slot.
    #[inline]
    fn places(&self, slot: usize) -> &[Place] {
        let n = self.tagged.len();
        &self.in_flight.places[slot * n..(slot + 1) * n]
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
        let n = self.tagged.len();
        let (h, path) = (&self.history, self.history.path());
        let places = &mut self.in_flight.places[slot * n..(slot + 1) * n];
        let folded = h.folded(0).iter().zip(h.folded(1)).zip(h.folded(2));
        for ((place, t), ((index, tag), tag_shifted)) in places.iter_mut().zip(&self.tagged.tables).zip(folded) {
            let tag = (pc ^ tag ^ (tag_shifted << 1)) & t.tag_mask;
            *place = (t.base + t.index(pc, *index, path), tag as u16);
        }
    }

    fn read(&self, slot: usize, pc: u32) -> Info {
        let places = self.places(slot);
        let bimodal = self.bimodal.index(pc);
        let base_taken = self.bimodal.predict(bimodal);
        let mut matching = self.tagged.matching(places);
        let hit = matching.next();
        let alt = matching.next();
        let counter = |bank: u8| self.tagged.counter(places, bank);
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
        let mut alloc = info.predicted != taken && usize::from(info.hit) < self.tagged.len();
        if info.hit > 0 && info.newly_allocated {
            // It was right by itself: no need of a longer history, even if it was not believed.
            alloc &= info.longest_taken != taken;
            if info.longest_taken != info.alt_taken {
                self.use_alt = saturate(self.use_alt, info.alt_taken == taken, self.use_alt_bits);
            }
        }
        let chance = self.random.next();
        let n = self.tagged.len();
        let places = &self.in_flight.places[slot * n..(slot + 1) * n];
        if alloc {
            self.tagged.allocate(places, taken, info.hit, chance);
        }
        self.tagged.age();
        if info.hit == 0 {
            self.bimodal.train(info.bimodal, taken);
            return;
        }
        self.tagged.train_counter(places, info.hit, taken);
        if self.tagged.is_useless(places, info.hit) {
            // Not yet known to be of use: what stood in for it goes on learning.
            if info.alt > 0 {
                self.tagged.train_counter(places, info.alt, taken);
            } else {
                self.bimodal.train(info.bimodal, taken);
            }
        }
        if info.predicted != info.alt_taken {
            self.tagged.train_usefulness(places, info.hit, info.predicted == taken);
        }
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
        let n = self.tagged.len() + 1;
        self.counts = Counts { longest: vec![0; n], alt: vec![0; n], ..Counts::default() };
        if let Some(l) = &mut self.loops {
            l.reset_stats();
        }
    }
}
