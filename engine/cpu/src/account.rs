//! Top-down account: every commit slot of every cycle is charged to what kept it empty, or to the micro-op that used it.
//! The charges add up to cycles times the width of commit, exactly.
//!
//! An empty slot is charged to what the oldest micro-op waits for. In O3 a latency of execution or of the first-level cache
//! counts as the front end's, though, while that delivers less than rename could take: the window hides such latencies, and
//! more micro-ops would have filled the slot. Without a micro-op in the ROB it is the front end's, or a squash's. Minor's
//! rules stand in `minor/account.rs`.

use breakeven_base::{StatSink, Unit};

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $stat:literal, $desc:literal;)*) => {
        /// What a commit slot is charged to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Reason { $($(#[$doc])* $name),* }
        impl Reason {
            pub const ALL: &'static [Reason] = &[$(Reason::$name),*];
            /// The statistic's name below `account`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Reason::$name => $stat),* }
            }
            #[must_use]
            pub fn describe(self) -> &'static str {
                match self { $(Reason::$name => $desc),* }
            }
        }
    };
}

reasons! {
    Retiring = "retiring", "Slots in which a micro-op retired";
    FrontEnd = "frontEnd", "Slots empty because fetch and decode delivered less than could be taken";
    FetchCache = "fetchCache", "Slots empty because fetch waited for the instruction cache";
    FetchTlb = "fetchTlb", "Slots empty because fetch waited for an address translation";
    BadSpeculation = "badSpeculation", "Slots empty after a mispredicted branch, until the right path retires";
    Replay = "replay", "Slots empty after a memory-order violation";
    Serialize = "serialize", "Slots empty because an instruction must execute alone, or a trap was taken";
    Execution = "execution", "Slots empty because the oldest micro-op's operation, or its way to commit, takes its time";
    Unit = "unit", "Slots empty because the oldest micro-op's functional units were taken";
    Level1 = "level1", "Slots empty because the oldest load waits for the first-level cache";
    Level2 = "level2", "Slots empty because the oldest load waits for the second-level cache";
    Level3 = "level3", "Slots empty because the oldest load waits for the third-level cache";
    Memory = "memory", "Slots empty because the oldest load waits for memory";
    TlbWalk = "tlbWalk", "Slots empty because the oldest reference waits for a page walk";
    Split = "split", "Slots empty because the oldest reference crosses a boundary";
    ForwardFail = "forwardFail", "Slots empty because a store has only part of what the oldest load needs";
    StoreQueue = "storeQueue", "Slots empty because stores have to be written first";
}

#[derive(Clone, Copy, Debug)]
pub struct Account {
    slots: [u64; Reason::ALL.len()],
}

impl Default for Account {
    fn default() -> Self {
        Account::new()
    }
}

impl Account {
    pub fn new() -> Self {
        Account { slots: [0; Reason::ALL.len()] }
    }

    /// One cycle: `used` of `width` slots retired something, the others are charged to `reason`.
    #[inline]
    pub fn cycle(&mut self, used: u32, width: u32, reason: Reason) {
        self.slots[Reason::Retiring as usize] += u64::from(used);
        self.slots[reason as usize] += u64::from(width - used);
    }

    /// `cycles` in which nothing moved.
    pub fn idle(&mut self, cycles: u64, width: u32, reason: Reason) {
        self.slots[reason as usize] += cycles * u64::from(width);
    }

    /// Every count, in one order.
    pub(crate) fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        self.slots.iter_mut().for_each(each);
    }

    /// Slots charged to `reason`.
    #[must_use]
    pub fn slots(&self, reason: Reason) -> u64 {
        self.slots[reason as usize]
    }

    #[must_use]
    pub fn total(&self) -> u64 {
        self.slots.iter().sum()
    }

    pub(crate) fn collect(&self, s: &mut StatSink, since: &Account) {
        for r in Reason::ALL {
            let n = self.slots(*r) - since.slots(*r);
            s.count(&format!("account::{}", r.name()), n, Unit::Count, r.describe());
        }
        let desc = "Commit slots: cycles times commitWidth";
        s.count("account::total", self.total() - since.total(), Unit::Count, desc);
    }
}
