//! What the units share: the micro-ops in flight, the wires between the units, the configuration.
//!
//! A unit gets this and what arrives in the cycle; it never gets another unit's state, but for the one whose queue it fills.

use std::ops::Range;

use educe::Educe;

use super::config::O3Config;
use super::inst::{InstRing, Note, Progress};
use super::rules::Rules;
use super::seq::Seq;
use super::wheel::Event;
use super::wires::Wires;
use super::{in_flight_bound, Stopped};
use crate::memo::archive::Archive;
use crate::memo::Boundary;
use crate::pipeview::PipeView;

/// Whether anything happens in a cycle: idle cycles are skipped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Activity {
    /// Something has changed.
    pub moved: bool,
    /// Where memoized execution may begin and end segments.
    pub boundary: Option<Boundary>,
    /// A stalled unit has tried to go on, without success: it counts that, and will do so again each cycle.
    pub stalled_retry: bool,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Io {
    pub rules: Rules,
    pub ring: InstRing,
    pub wires: Wires,
    pub activity: Activity,
    pub trace: Option<Box<PipeView>>,
    /// Why [`super::O3::run`] returns after this cycle.
    pub stopped: Option<Stopped>,
}

impl Io {
    pub fn new(cfg: &O3Config) -> Self {
        Io {
            rules: Rules::new(cfg),
            ring: InstRing::new(in_flight_bound(cfg)),
            wires: Wires::new(),
            activity: Activity::default(),
            trace: None,
            stopped: None,
        }
    }

    /// The state in relative form, between two cycles.
    pub fn archive(&mut self, progress: Progress, a: &mut Archive) {
        let Self { rules: _, ring, wires, activity: _, trace, stopped } = self;
        ring.archive(progress, a);
        wires.archive(a, ring);
        a.refuse(trace.is_some() || stopped.is_some());
    }

    /// Hands each of the micro-ops to the trace, if there is one: once a cycle and unit, not once a micro-op.
    #[inline(always)]
    pub fn traced(&mut self, seqs: Range<Seq>, record: impl FnMut(&mut PipeView, &InstRing, Seq)) {
        if self.trace.is_some() {
            self.record(seqs, record);
        }
    }

    #[cold]
    fn record(&mut self, seqs: Range<Seq>, mut record: impl FnMut(&mut PipeView, &InstRing, Seq)) {
        let Some(trace) = &mut self.trace else { return };
        for seq in seqs.start.until(seqs.end) {
            record(trace, &self.ring, seq);
        }
    }

    /// Slots of each stage's width that a micro-op takes from fetch to commit: 0 when fused with the one before it.
    #[inline]
    pub fn cost(&self, seq: Seq) -> u32 {
        u32::from(!self.rules.fuses || !self.ring.note(seq).intersects(Note::FUSED_NO_SLOT))
    }

    #[inline]
    pub fn event_of(&self, seq: Seq) -> Event {
        Event { seq, stamp: self.ring.stamp(seq) }
    }

    /// Whether the event's micro-op is still in flight (it has not been squashed).
    #[inline]
    pub fn is_current(&self, event: Event) -> bool {
        event.seq < self.ring.tail() && self.ring.stamp(event.seq) == event.stamp
    }
}
