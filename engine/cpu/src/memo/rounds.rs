//! Rounds of hits: what is left of a steady state's calls ([`super::steady`]) where all that a round accesses is in the
//! first-level cache.
//!
//! In such a loop each reference moves by a stride of its own from one round to the next. Once enough rounds have shown that,
//! the places of the next one are known before it is executed. If its lines and pages are all there, the front end executes the
//! round, its references are compared with those places, and the hits are made together
//! ([`use_all`](crate::outside::Outside::use_all)). At the first reference elsewhere the accesses before it are made one by one.
//!
//! References of one stride overlap each other as they did in the round before; those of different strides must be apart.

use std::ops::Range;

use breakeven_base::{MemKind, MemRef, PathInst, PhysAddr, PAGE};
use breakeven_memory::{DataUses, LineUse, PageUse};

use super::archive::{AddressRules, Base};
use super::calls::{Answered, Call, References, UopSet, WINDOW};
use super::moving::{are_apart, lines, pages, DataCall, MovingLine, MovingPage, Slot, Stream, What};
use super::parts::{is_near, Part};
use super::table::Table;
use crate::seq::Seq;

/// Micro-ops of a round, at most: the references of as many are at hand.
const LONGEST: u64 = WINDOW / 2;
/// Rounds with every access behind one that did not hit, at most.
const MOST_PATIENT: u32 = 63;
/// Rounds of an inner loop that are worth it.
const FEWEST_ROUNDS: usize = 6;
/// A call of the front end or the predictor.
#[derive(Clone, Debug)]
pub(super) struct FrontCall {
    pub number: u32,
    pub call: Call,
    /// Its first reference.
    pub slot: u32,
    /// Of a step, the number of its first micro-op, and those with references.
    pub seq: i32,
    pub uops: UopSet,
    /// How many from this one on are steps of a path that is known.
    pub run: u32,
}

/// The calls of a part that are made in every round, and what of each the front end must know where it is of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    pub calls: Vec<FrontCall>,
    pub path: Vec<PathInst>,
}

impl Front {
    fn push(&mut self, number: u32, call: Call, slot: u32, (uops, inst): (UopSet, Option<PathInst>)) {
        let seq = if let Call::Step { at, .. } = call { at } else { 0 };
        self.calls.push(FrontCall { number, call, slot, seq, uops, run: u32::from(inst.is_some()) });
        self.path.push(inst.unwrap_or_default());
    }

    /// All calls are there.
    fn join_runs(&mut self) {
        let mut run = 0;
        for call in self.calls.iter_mut().rev() {
            run = if call.run == 0 { 0 } else { run + 1 };
            call.run = run;
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// It cannot be done with this loop.
    #[default]
    Never,
    Watched,
}

/// Which parts of a steady state's period are rounds: of `len` parts each, one after the other in each span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    len: usize,
    spans: Vec<Range<usize>>,
}

impl Place {
    /// The span that has a round from part `n` on.
    fn span_from(&self, n: usize) -> Option<&Range<usize>> {
        self.spans.iter().find(|span| span.contains(&n) && (n - span.start) % self.len == 0)
    }
    /// The first span: all of the period, or an inner loop's.
    fn first(&self) -> usize {
        self.spans.first().map_or(0, |span| span.start)
    }
}

/// What is known of the rounds.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    stage: Stage,
    place: Place,
    slots: Vec<Slot>,
    /// Of each part, the calls that are made in every round.
    pub fronts: Vec<Front>,
    data: Vec<DataCall>,
    /// Micro-ops in flight are of so many rounds before, at most.
    back: u64,
    /// Rounds seen, and over how many of them each reference has moved by its stride, up to the last.
    seen: u32,
    even: u64,
    /// The last round's number.
    round: u64,
    streams: Vec<Stream>,
    /// The lines of each phase: behind as many rounds, all strides are whole lines.
    phases: Vec<Vec<MovingLine>>,
    pages: Vec<MovingPage>,
    pub uses: DataUses,
    /// Rounds to wait for, and how many next time.
    waits: u32,
    patience: u32,
}

/// Where a period has most of the rounds of a loop within it, and where else it has some of these.
fn inner_loop(parts: &[Part]) -> Option<Place> {
    let same = |a: &Part, b: &Part| (a.segment, a.entry, a.configuration) == (b.segment, b.entry, b.configuration);
    let mut best = 0..0;
    let mut best_len = 0;
    for len in 1..=parts.len() / FEWEST_ROUNDS {
        let mut first = 0;
        while first + len < parts.len() {
            let alike = parts[first..].iter().zip(&parts[first + len..]).take_while(|(a, b)| same(a, b)).count();
            let end = first + (alike / len + 1) * len;
            if end - first > best.len() && end >= first + FEWEST_ROUNDS * len {
                (best, best_len) = (first..end, len);
            }
            first += alike + 1;
        }
    }
    let (round, len) = (parts.get(best.start..best.start + best_len)?, best_len);
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut n = 0;
    while len > 0 && n + len <= parts.len() {
        if !parts[n..n + len].iter().zip(round).all(|(a, b)| same(a, b)) {
            n += 1;
            continue;
        }
        match spans.last_mut() {
            Some(span) if span.end == n => span.end += len,
            _ => spans.push(n..n + len),
        }
        n += len;
    }
    spans.retain(|span| span.len() >= FEWEST_ROUNDS * len);
    (len > 0).then_some(Place { len, spans })
}

impl Rounds {
    /// A steady state begins of which nothing is known.
    pub fn restart(&mut self) {
        self.stage = Stage::Never;
        (self.waits, self.patience) = (0, 0);
    }

    /// What is known is of other parts than the next.
    pub fn forget(&mut self) {
        self.place = Place::default();
    }

    /// A steady state of `parts` begins at `end`; `is_known`: the last one was of the same. So many `periods` of `seqs` micro-ops
    /// each have been made with all their calls.
    pub fn begin(
        &mut self,
        (parts, is_known): (&[Part], bool),
        (table, references, rules): (&Table, &References, &AddressRules),
        (periods, seqs, end): (u64, u64, Seq),
    ) {
        let len = parts.len();
        let whole = Place { len, spans: std::iter::once(0..len).collect() };
        if !is_known && self.plan(whole, parts, table).is_none() {
            if let Some(place) = inner_loop(parts) {
                self.plan(place, parts, table);
            }
        }
        (self.seen, self.even) = (0, 0);
        if self.place.len > 0 {
            self.stage = Stage::Watched;
        }
        if self.place.len == parts.len() {
            let at_hand = periods.min(LONGEST / seqs.max(1)).min(end.0 / seqs.max(1));
            for n in (1..=at_hand).rev() {
                self.watch(references, rules, end - n * seqs);
            }
        }
    }

    /// The next part is `n`. Whether a round may begin there that is made of hits; how many parts it has.
    pub fn begins_at(&mut self, n: usize, parts: usize) -> Option<usize> {
        if self.stage == Stage::Never {
            return None;
        }
        let (len, span) = (self.place.len, self.place.span_from(n)?);
        if n == span.start && len < parts {
            // Another time through the inner loop: by the same strides from elsewhere.
            self.even = 0;
        }
        (self.seen > 1 && self.even > self.back && self.waits == 0).then_some(len)
    }

    /// Part `n - 1` has been made with all its calls; `bases`: where the parts of the period began.
    pub fn made_with_calls(&mut self, n: usize, references: &References, rules: &AddressRules, bases: &[Base]) {
        let len = self.place.len;
        if self.stage == Stage::Never || n < len || self.place.span_from(n - len).is_none() {
            return;
        }
        if self.waits > 0 {
            (self.waits, self.seen) = (self.waits - 1, 0);
            return;
        }
        if let Some(base) = bases.get(n - len) {
            self.watch(references, rules, base.seq);
        }
    }

    /// Sorts the calls of a round. `None`: there are others than hits.
    fn plan(&mut self, place: Place, parts: &[Part], table: &Table) -> Option<()> {
        let parts = &parts[place.first()..place.first() + place.len];
        self.slots.clear();
        self.data.clear();
        self.fronts.clear();
        (self.place, self.back) = (Place::default(), 0);
        let seqs = parts.iter().map(|part| table.segments[part.segment as usize].seqs).sum();
        if seqs == 0 || seqs > LONGEST {
            return None;
        }
        let mut asked = Vec::new();
        let mut base = 0i64;
        for part in parts {
            let mut front = Front::default();
            for (number, call) in part.made.iter().flatten() {
                let slot = self.slots.len() as u32;
                match *call {
                    Call::Step { at, what, drained, .. } => {
                        let instruction = table.instructions.get(what);
                        for uop in instruction.references() {
                            let offset = u64::try_from(base + i64::from(at)).ok()? + uop as u64;
                            self.slots.push(Slot { offset, mem: MemRef::default(), stride: 0, class: None });
                        }
                        let inst = instruction.on_path().filter(|_| !drained);
                        front.push(*number, *call, slot, (instruction.references(), inst));
                    }
                    Call::Pc { .. } | Call::FetchTranslate { .. } | Call::Predict { .. } | Call::Train { .. }
                    // Of wrong paths: what is only predecoded has no references.
                    | Call::Fork { .. } | Call::Predecode { .. } | Call::Rollback { .. } | Call::Redirect { .. }
                    | Call::Correct { .. } | Call::SquashPredictions { .. } => {
                        front.push(*number, *call, slot, (UopSet::NONE, None));
                    }
                    Call::Access {
                        seq, sent, non_temporal: false, answer: Answered::Done { after, level: 0 }, ..
                    } => {
                        asked.push((base + i64::from(seq), Some(What::Access { sent, ticks: after })));
                    }
                    Call::DataTlb { seq, last: false, is_store, answer: Answered::Hit { after: 0 }, .. } => {
                        asked.push((base + i64::from(seq), Some(What::Page { is_store })));
                    }
                    _ => return None,
                }
            }
            front.join_runs();
            self.fronts.push(front);
            let in_flight = &table.configurations[part.configuration as usize].references;
            asked.extend(in_flight.iter().filter(|r| r.mem.valid).map(|r| (base + i64::from(r.seq), None)));
            base += table.segments[part.segment as usize].seqs as i64;
        }
        self.find(&asked, seqs)?;
        self.place = place;
        Some(())
    }

    /// Finds the references that calls (and micro-ops in flight) are of.
    fn find(&mut self, asked: &[(i64, Option<What>)], seqs: u64) -> Option<()> {
        let mut slots = vec![u32::MAX; seqs as usize];
        for (i, slot) in self.slots.iter().enumerate() {
            let place = &mut slots[(slot.offset % seqs) as usize];
            if *place != u32::MAX {
                return None;
            }
            *place = i as u32;
        }
        for &(seq, what) in asked {
            let slot = slots[seq.rem_euclid(seqs as i64) as usize];
            let offset = self.slots.get(slot as usize)?.offset as i64;
            let back = u64::try_from(offset - seq).ok()? / seqs;
            self.back = self.back.max(back);
            if let Some(what) = what {
                self.data.push(DataCall { slot, back, what });
            }
        }
        Some(())
    }

    /// Looks where the references of a round went.
    fn watch(&mut self, references: &References, rules: &AddressRules, began: Seq) {
        let is_first = self.seen == 0 || self.even == 0;
        self.seen = self.seen.saturating_add(1);
        self.round += 1;
        let round = self.round;
        let goes_on = !is_first
            && self.seen > 2
            && self.slots.iter().all(|slot| slot.is(references.of(began + slot.offset), round, rules));
        if goes_on {
            self.even += 1;
            return;
        }
        for slot in &mut self.slots {
            let mem = *references.of(began + slot.offset);
            if !is_first {
                slot.stride = mem.vaddr.wrapping_sub(slot.vaddr(round - 1));
            }
            (slot.mem, slot.class) = (mem, None);
        }
        self.round = 0;
        self.even = if is_first { 1 } else { 2 };
        if self.seen > 1 && !self.settle(rules) {
            self.stage = Stage::Never;
        }
    }

    /// The strides are known. Whether rounds of them can be made of hits.
    fn settle(&mut self, rules: &AddressRules) -> bool {
        self.streams.clear();
        self.pages.clear();
        self.phases.clear();
        let moved = |m: &MemRef| m.paddr.0.wrapping_sub(m.vaddr);
        let first = self.slots.first().map(|slot| moved(&slot.mem));
        let mut phases = 1;
        for slot in &mut self.slots {
            let (m, stride) = (&slot.mem, slot.stride);
            let is_plain = matches!(m.kind, MemKind::Load | MemKind::Store) && m.valid && !m.uncacheable;
            let unit = u64::from(m.size.max(1)).next_power_of_two();
            let is_aligned = m.vaddr & (unit - 1) == 0;
            if !is_plain || !is_aligned && (m.vaddr & (PAGE - 1)) + u64::from(m.size) > PAGE {
                return false;
            }
            if rules.physical && Some(moved(m)) != first {
                return false;
            }
            if !is_aligned || stride & (unit.max(rules.granule) - 1) != 0 {
                slot.class = Some(rules.class_of(m));
            }
            phases = phases.max(rules.line >> stride.trailing_zeros().min(rules.line.trailing_zeros()));
            let (lo, hi) = (m.vaddr, m.vaddr.wrapping_add(u64::from(m.size.max(1)) - 1));
            match self.streams.iter_mut().find(|s| s.stride == stride) {
                Some(s) => (s.lo, s.hi) = (s.lo.min(lo), s.hi.max(hi)),
                None => self.streams.push(Stream { stride, lo, hi }),
            }
        }
        self.phases.resize(phases as usize, Vec::new());
        true
    }

    /// Puts the next round's [`Rounds::uses`] together. False: its references might overlap otherwise, or its code.
    pub fn foresee(&mut self, (rules, has_aliases): (&AddressRules, bool), asid: u16, code: &[PhysAddr]) -> bool {
        let next = self.round + 1;
        if self.streams.len() > 1
            && (has_aliases
                || !are_apart(&self.streams, self.round, self.back, rules)
                || !are_apart(&self.streams, next, self.back, rules))
        {
            return false;
        }
        let phase = (next % self.phases.len() as u64) as usize;
        if self.phases[phase].is_empty() {
            (self.phases[phase], self.uses.counts) = lines(&self.data, &self.slots, next, rules.line);
        }
        let looks_up = self.uses.counts.pages != [0; 2];
        if looks_up && (self.pages.is_empty() || !self.pages.iter().all(|page| page.is_one(next))) {
            self.pages = pages(&self.data, &self.slots, next);
        }
        let Rounds { uses, pages, phases, .. } = self;
        uses.pages.clear();
        let looked_up = |p: &MovingPage| PageUse { vaddr: p.at(p.lo, next), shift: p.shift, asid };
        uses.pages.extend(pages.iter().map(looked_up));
        uses.lines.clear();
        let used = |l: &MovingLine| {
            let addr = PhysAddr(l.addr.wrapping_add(next.wrapping_mul(l.stride)));
            LineUse { addr, is_written: l.is_written }
        };
        uses.lines.extend(phases[phase].iter().map(used));
        !uses.lines.iter().any(|l| is_near(code, l.addr, rules.line, rules.line))
    }

    /// Whether the step's references, from `slot` on, go where they should in the next round.
    #[inline]
    pub fn are_as_foreseen<'a>(&self, slot: u32, mems: impl Iterator<Item = &'a MemRef>, rules: &AddressRules) -> bool {
        let next = self.round + 1;
        mems.zip(&self.slots[slot as usize..]).all(|(m, slot)| slot.is(m, next, rules))
    }
    #[inline]
    pub fn is_as_foreseen(&self, slot: u32, mem: &MemRef, rules: &AddressRules) -> bool {
        self.slots[slot as usize].is(mem, self.round + 1, rules)
    }

    /// The round has been made of hits.
    pub fn made(&mut self) {
        self.round += 1;
        self.patience = 0;
    }

    /// It could not.
    pub fn refused(&mut self) {
        self.patience = (2 * self.patience + 1).min(MOST_PATIENT);
        self.waits = self.patience;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_loop_of_most_parts_is_found() {
        let found = |segments: &[u32]| {
            let parts: Vec<Part> = segments.iter().map(|n| Part { segment: *n, ..Part::default() }).collect();
            inner_loop(&parts).map(|place| (place.len, place.spans))
        };
        assert_eq!(found(&[7, 1, 1, 1, 1, 1, 1, 1, 2]), Some((1, vec![1..8])));
        assert_eq!(
            found(&[7, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 3]),
            Some((2, vec![1..13])),
            "the last round is not whole"
        );
        assert_eq!(found(&[1, 1, 1, 1, 1, 1, 5, 2, 2, 2, 2, 2, 2, 2]), Some((1, vec![7..14])), "the longer one");
        let thrice = [7, 1, 1, 1, 1, 1, 1, 2, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(found(&thrice), Some((1, vec![1..7, 11..18])), "two rounds are too few");
        assert_eq!(found(&[7, 1, 1, 1, 1, 1, 2]), None, "five rounds are too few");
        assert_eq!(found(&[]), None);
    }
}
