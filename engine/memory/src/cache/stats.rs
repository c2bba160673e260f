//! What a cache counts, under gem5's names.

use breakeven_base::{StatSink, Unit};

use crate::packet::{Cmd, REQUESTORS};

/// Counters of one command from one requestor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    pub hits: u64,
    pub misses: u64,
    pub mshr_hits: u64,
    pub mshr_misses: u64,
    /// Ticks from the request to its response.
    pub hit_latency: u64,
    pub miss_latency: u64,
    /// Ticks a register waited, counted with its first target.
    pub mshr_miss_latency: u64,
    pub uncacheable: u64,
    pub uncacheable_latency: u64,
}

/// What has run out when a cache takes no request (gem5 `BlockedCause`).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Blocked {
    Mshrs,
    WriteBuffers,
    Targets,
}
const BLOCKED_NAMES: [&str; 3] = ["no_mshrs", "no_wb_buffers", "no_targets"];

#[derive(Clone, Debug)]
pub(crate) struct CacheStats {
    counters: [[Counter; REQUESTORS]; Cmd::COUNT],
    pub writebacks: u64,
    pub replacements: u64,
    blocked_cycles: [u64; 3],
    blocked_causes: [u64; 3],
}

impl Default for CacheStats {
    fn default() -> Self {
        CacheStats {
            counters: [[Counter::default(); REQUESTORS]; Cmd::COUNT],
            writebacks: 0,
            replacements: 0,
            blocked_cycles: [0; 3],
            blocked_causes: [0; 3],
        }
    }
}

#[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
fn ratio(a: u64, b: u64) -> f64 {
    a as f64 / b as f64
}

impl CacheStats {
    #[inline]
    pub fn at(&mut self, cmd: Cmd, requestor: u8) -> &mut Counter {
        &mut self.counters[cmd as usize][(requestor as usize).min(REQUESTORS - 1)]
    }

    /// Hits of one command from one requestor, and the ticks that they took.
    pub fn hits(&self, cmd: Cmd, requestor: u8) -> (u64, u64) {
        let c = &self.counters[cmd as usize][(requestor as usize).min(REQUESTORS - 1)];
        (c.hits, c.hit_latency)
    }

    pub fn add_hits(&mut self, cmd: Cmd, requestor: u8, hits: u64, ticks: u64) {
        let c = self.at(cmd, requestor);
        c.hits += hits;
        c.hit_latency += ticks;
    }

    pub fn blocked(&mut self, cause: Blocked, cycles: u64) {
        self.blocked_cycles[cause as usize] += cycles;
        self.blocked_causes[cause as usize] += 1;
    }

    fn sum(&self, take: impl Fn(Cmd) -> bool, who: Option<usize>) -> Counter {
        let mut s = Counter::default();
        for &cmd in Cmd::ALL.iter().filter(|&&c| take(c)) {
            for (i, c) in self.counters[cmd as usize].iter().enumerate() {
                if who.is_none_or(|w| w == i) {
                    s.hits += c.hits;
                    s.misses += c.misses;
                    s.mshr_hits += c.mshr_hits;
                    s.mshr_misses += c.mshr_misses;
                    s.hit_latency += c.hit_latency;
                    s.miss_latency += c.miss_latency;
                    s.mshr_miss_latency += c.mshr_miss_latency;
                    s.uncacheable += c.uncacheable;
                    s.uncacheable_latency += c.uncacheable_latency;
                }
            }
        }
        s
    }

    /// One group of commands (`demand`, `overall`, `ReadReq.`), per requestor and in total, as gem5 lays it out.
    fn group(&self, sink: &mut StatSink, name: &dyn Fn(&str) -> String, take: &dyn Fn(Cmd) -> bool, who: &[String]) {
        let parts: Vec<(&str, Counter)> = who
            .iter()
            .enumerate()
            .map(|(i, n)| (n.as_str(), self.sum(take, Some(i))))
            .filter(|(_, c)| c.hits + c.misses + c.mshr_misses > 0)
            .chain([("total", self.sum(take, None))])
            .collect();
        let mut put = |what: &str, unit, desc, f: &dyn Fn(&Counter) -> f64| {
            for (part, c) in &parts {
                let v = f(c);
                if v.is_finite() {
                    sink.real(&format!("{}::{part}", name(what)), v, unit, desc);
                }
            }
        };
        #[allow(clippy::cast_precision_loss)] // as above
        let f = |v: u64| v as f64;
        put("Hits", Unit::Count, "number of hits", &|c| f(c.hits));
        put("Misses", Unit::Count, "number of misses", &|c| f(c.misses));
        put("Accesses", Unit::Count, "number of accesses (hits + misses)", &|c| f(c.hits + c.misses));
        put("MissLatency", Unit::Tick, "number of ticks spent waiting for misses", &|c| f(c.miss_latency));
        put("HitLatency", Unit::Tick, "number of hit ticks", &|c| f(c.hit_latency));
        put("MissRate", Unit::Ratio, "miss rate", &|c| ratio(c.misses, c.hits + c.misses));
        put("AvgMissLatency", Unit::TickPerCount, "average miss latency", &|c| ratio(c.miss_latency, c.misses));
        put("MshrHits", Unit::Count, "number of misses that joined a line on its way", &|c| f(c.mshr_hits));
        put("MshrMisses", Unit::Count, "number of misses that took an MSHR", &|c| f(c.mshr_misses));
        put("MshrMissLatency", Unit::Tick, "number of ticks MSHRs waited", &|c| f(c.mshr_miss_latency));
        put("MshrMissRate", Unit::Ratio, "MSHR miss rate", &|c| ratio(c.mshr_misses, c.hits + c.misses));
        put("AvgMshrMissLatency", Unit::TickPerCount, "average MSHR miss latency", &|c| {
            ratio(c.mshr_miss_latency, c.mshr_misses)
        });
        if parts.iter().any(|(_, c)| c.uncacheable > 0) {
            put("MshrUncacheable", Unit::Count, "number of uncacheable accesses", &|c| f(c.uncacheable));
            put("MshrUncacheableLatency", Unit::Tick, "number of ticks of uncacheable accesses", &|c| {
                f(c.uncacheable_latency)
            });
        }
    }

    pub fn collect(&self, sink: &mut StatSink, who: &[String]) {
        self.group(sink, &|s| format!("demand{s}"), &|c| c.is_demand(), who);
        self.group(sink, &|s| format!("overall{s}"), &|c| c.is_demand() || c.is_prefetch(), who);
        for &cmd in Cmd::ALL {
            let c = self.sum(|x| x == cmd, None);
            if c.hits + c.misses + c.mshr_misses + c.uncacheable > 0 {
                let name = |s: &str| {
                    let mut lower = s.to_owned();
                    lower[..1].make_ascii_lowercase();
                    format!("{}.{lower}", cmd.name())
                };
                self.group(sink, &name, &|x| x == cmd, who);
            }
        }
        for (i, name) in BLOCKED_NAMES.iter().enumerate() {
            let (cycles, causes) = (self.blocked_cycles[i], self.blocked_causes[i]);
            sink.count(&format!("blockedCycles::{name}"), cycles, Unit::Cycle, "number of cycles access was blocked");
            sink.count(&format!("blockedCauses::{name}"), causes, Unit::Count, "number of times access was blocked");
            if causes > 0 {
                let d = "average number of cycles each access was blocked";
                sink.real(&format!("avgBlocked::{name}"), ratio(cycles, causes), Unit::Cycle, d);
            }
        }
        sink.count("writebacks::writebacks", self.writebacks, Unit::Count, "number of writebacks");
        sink.count("writebacks::total", self.writebacks, Unit::Count, "number of writebacks");
        sink.count("replacements", self.replacements, Unit::Count, "number of replacements");
    }
}
