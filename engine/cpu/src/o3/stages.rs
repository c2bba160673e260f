//! When each micro-op in flight passed each stage; kept only while a trace is written.

/// Cycles; 0: not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageCycles {
    pub fetch: u64,
    pub decode: u64,
    pub rename: u64,
    pub dispatch: u64,
    pub issue: u64,
    pub complete: u64,
    pub retire: u64,
}

#[derive(Clone, Debug)]
pub struct Stages {
    of: Box<[StageCycles]>,
}

impl Stages {
    pub fn new(capacity: usize) -> Self {
        Stages { of: vec![StageCycles::default(); capacity].into_boxed_slice() }
    }
    pub fn of(&self, slot: usize) -> &StageCycles {
        &self.of[slot]
    }
    pub fn fetched(&mut self, slot: usize, cycle: u64) {
        self.of[slot] = StageCycles { fetch: cycle, ..StageCycles::default() };
    }
    pub fn decoded(&mut self, slot: usize, cycle: u64) {
        self.of[slot].decode = cycle;
    }
    pub fn renamed(&mut self, slot: usize, cycle: u64) {
        self.of[slot].rename = cycle;
    }
    pub fn dispatched(&mut self, slot: usize, cycle: u64) {
        self.of[slot].dispatch = cycle;
    }
    pub fn issued(&mut self, slot: usize, cycle: u64) {
        self.of[slot].issue = cycle;
    }
    pub fn completed(&mut self, slot: usize, cycle: u64) {
        self.of[slot].complete = cycle;
    }
    pub fn retired(&mut self, slot: usize, cycle: u64) {
        self.of[slot].retire = cycle;
    }
}
