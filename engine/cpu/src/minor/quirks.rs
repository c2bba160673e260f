//! What gem5's MinorCPU does because of how its code is written, and no processor does: one flag a rule, each a parameter of
//! the same name in the description. gem5's own parameter `enableIdling` is one more; a rule of gem5's that a processor could
//! have too has no flag.

/// gem5's own artefacts (*ours*: gem5 has no such parameters). All are on unless switched off, as presets of silicon
/// do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct MinorQuirks {
    /// The unit that is last in the pool ends its cycle's issue: the loop over the units counts to their number, and the loop
    /// around it takes that for "no unit left" (`Execute::issue`, `fu_index != numFuncUnits`).
    pub gem5LastUnitEndsIssue: bool,
    /// A bundle narrower than the stage behind it is filled with bubbles (`ForwardInstData`): where the last micro-op uses up a
    /// cycle's width, the bundle is popped only when the bubble is passed, in the next cycle. Off: with its last micro-op.
    pub gem5BundleBubbles: bool,
    /// The second piece of a reference is translated in an event behind the cycle (`SplitDataRequest::finish`): a store in two
    /// pieces enters the transfers queue a cycle later, and the event keeps the core awake for two cycles. Without effect
    /// where `misaligned` describes what such references cost.
    pub gem5SplitTranslation: bool,
    /// While the oldest instruction waits in the LSQ, no younger reference enters it (`Execute::getCommittingThread`).
    pub gem5HeadHoldsEarlyIssue: bool,
}

impl MinorQuirks {
    /// gem5's own core.
    pub const ALL: MinorQuirks = MinorQuirks {
        gem5LastUnitEndsIssue: true,
        gem5BundleBubbles: true,
        gem5SplitTranslation: true,
        gem5HeadHoldsEarlyIssue: true,
    };
}

impl Default for MinorQuirks {
    /// What a description has that mentions none of them.
    fn default() -> Self {
        MinorQuirks::ALL
    }
}
