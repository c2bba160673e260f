//! Statistics: every component declares its numbers once, by visiting a sink with gem5's name, a unit and a sentence.

/// The unit printed beside a statistic, as gem5 spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Count,
    Cycle,
    Tick,
    Byte,
    Ratio,
    Second,
    /// Instructions per cycle.
    IPC,
    /// Cycles per instruction.
    CPI,
    BytePerSecond,
    TickPerCount,
    TickPerSecond,
    CountPerSecond,
}

impl Unit {
    #[must_use]
    pub fn gem5_name(self) -> &'static str {
        match self {
            Unit::Count => "Count",
            Unit::Cycle => "Cycle",
            Unit::Tick => "Tick",
            Unit::Byte => "Byte",
            Unit::Ratio => "Ratio",
            Unit::Second => "Second",
            Unit::IPC => "(Count/Cycle)",
            Unit::CPI => "(Cycle/Count)",
            Unit::BytePerSecond => "(Byte/Second)",
            Unit::TickPerCount => "(Tick/Count)",
            Unit::TickPerSecond => "(Tick/Second)",
            Unit::CountPerSecond => "(Count/Second)",
        }
    }
}

/// One statistic as it goes out.
#[derive(Clone, Debug, PartialEq)]
pub struct Stat {
    pub name: String,
    pub value: f64,
    pub unit: Unit,
    pub desc: &'static str,
}

/// Collects statistics under a dotted prefix.
#[derive(Default, Debug, Clone)]
pub struct StatSink {
    prefix: String,
    pub stats: Vec<Stat>,
}

impl StatSink {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Visits a child component: its names go below `prefix.name`.
    pub fn scope(&mut self, name: &str, f: impl FnOnce(&mut StatSink)) {
        let old = self.prefix.len();
        if old > 0 {
            self.prefix.push('.');
        }
        self.prefix.push_str(name);
        f(self);
        self.prefix.truncate(old);
    }
    #[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
    pub fn count(&mut self, name: &str, value: u64, unit: Unit, desc: &'static str) {
        self.real(name, value as f64, unit, desc);
    }
    pub fn real(&mut self, name: &str, value: f64, unit: Unit, desc: &'static str) {
        let name = if self.prefix.is_empty() { name.to_owned() } else { format!("{}.{name}", self.prefix) };
        self.stats.push(Stat { name, value, unit, desc });
    }
}
