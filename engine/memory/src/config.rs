//! The typed description of a memory system: what [`crate::MemorySystem::new`] is built from.
//!
//! Components lie in flat lists and point at each other with [`Link`]s, always towards the memory. The parameters have
//! gem5's names and units: latencies in cycles of the component's own clock where gem5 has `Cycles`, in ticks where gem5
//! has `Latency`. The four ports of the core point anywhere: at a cache, at a bus, or at a memory.

use breakeven_base::{Clock, PhysAddr, Tick};

/// Where a component's requests go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Link {
    /// Nowhere: answered at once. A core without timing memory, a walker that costs nothing.
    #[default]
    None,
    /// `MemorySystemConfig::caches[i]`.
    Cache(u16),
    /// `MemorySystemConfig::xbars[i]`.
    XBar(u16),
    /// `MemorySystemConfig::memories[i]`.
    Memory(u16),
}

/// Physical addresses `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddrRange {
    pub start: u64,
    pub end: u64,
}

impl AddrRange {
    #[inline]
    #[must_use]
    pub fn contains(&self, paddr: PhysAddr) -> bool {
        paddr.0 >= self.start && paddr.0 < self.end
    }
}

/// Which line of a full set is the victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// gem5 `LRURP`.
    Lru,
    /// gem5 `TreePLRURP`; the associativity must be a power of two.
    TreePlru,
    /// gem5 `RandomRP`; a fixed seed, so that a run repeats. `any_way` (ours): also when another way is free.
    Random { seed: u64, any_way: bool },
    /// gem5 `FIFORP`.
    Fifo,
}

/// gem5 `Clusivity`: neither evicts the copies above when a line leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Clusivity {
    #[default]
    MostlyIncl,
    /// Lines fetched for a cache above are not kept here; they come back when that evicts them.
    MostlyExcl,
}

/// gem5 `Cache` (and the parameters that are ours: `bandwidth`, `slices`, `way_predictor_masks`, `write_allocate`).
#[derive(Clone, Debug, PartialEq)]
pub struct CacheConfig {
    /// The object's path: where its statistics go.
    pub path: String,
    pub clock: Clock,
    pub size: u64,
    pub assoc: u32,
    /// Equal parts, each with a power of two of sets, for sizes that are none. Lines are indexed over all sets; slices have no
    /// timing of their own.
    pub slices: u32,
    pub tag_latency: u32,
    pub data_latency: u32,
    pub response_latency: u32,
    pub sequential_access: bool,
    pub mshrs: u32,
    pub tgts_per_mshr: u32,
    pub demand_mshr_reserve: u32,
    pub write_buffers: u32,
    pub writeback_clean: bool,
    pub replacement: Replacement,
    pub clusivity: Clusivity,
    /// Instruction caches: asks for lines with `ReadCleanReq`, so dirty data stays below.
    pub is_read_only: bool,
    /// Bytes a cycle that hits can deliver; 0: unlimited.
    pub bandwidth: u32,
    /// Write misses fetch the line (else they go below).
    pub write_allocate: bool,
    /// A way predictor that knows a line by a hash of its address, a bit of it the parity of the address bits in each of these
    /// masks: of two lines of a set with the same hash, the one filled last pushes the other out. None: it compares addresses.
    /// AMD's first levels since Zen (Lipp et al., "Take A Way", 2020) hash linear addresses; here they are physical.
    pub way_predictor_masks: Vec<u64>,
    /// Hardware prefetchers of this cache, in the order of gem5's `MultiPrefetcher`; none: nothing is prefetched.
    pub prefetchers: Vec<PrefetcherConfig>,
    pub mem_side: Link,
}

/// What all prefetchers have (gem5 `BasePrefetcher`, `QueuedPrefetcher`), and which one it is. docs/memory.md has the
/// parameters' meaning; [`PrefetcherConfig::new`] gives gem5's defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct PrefetcherConfig {
    /// The object's path: where its statistics go.
    pub path: String,
    pub kind: PrefetcherKind,
    /// Learns from misses only.
    pub on_miss: bool,
    pub on_read: bool,
    pub on_write: bool,
    pub on_data: bool,
    pub on_inst: bool,
    /// Learns from hits too; without effect while `prefetch_on_pf_hit`.
    pub prefetch_on_access: bool,
    /// Of the hits, learns from the first on each prefetched line.
    pub prefetch_on_pf_hit: bool,
    /// Nothing is prefetched across a border of such pages; a power of two.
    pub page_bytes: u64,
    pub queue_size: u32,
    /// A demand access takes its line out of the queue.
    pub queue_squash: bool,
    /// A line is queued once.
    pub queue_filter: bool,
    /// Candidates that are in the cache or on their way are not queued (else dropped when their turn comes).
    pub cache_snoop: bool,
    /// Cycles from the access to the earliest prefetch.
    pub latency: u32,
    /// Prefetches carry the PC of the access on to the level below.
    pub tag_prefetch: bool,
    /// Percent of the candidates of an access that depend on the prefetcher's accuracy; 0: all are queued.
    pub throttle_control_percentage: u32,
}

impl PrefetcherConfig {
    /// gem5's defaults; for our own kinds the ones in docs/memory.md.
    #[must_use]
    pub fn new(path: &str, kind: PrefetcherKind) -> Self {
        // Every hit may start a next line, and every read at the level the streamer's.
        let all_hits = matches!(kind, PrefetcherKind::NextLine { .. } | PrefetcherKind::Stream { .. });
        let gem5 = matches!(kind, PrefetcherKind::Stride { .. } | PrefetcherKind::Tagged { .. });
        PrefetcherConfig {
            path: path.to_owned(),
            on_miss: false,
            on_read: true,
            on_write: true,
            on_data: true,
            on_inst: !matches!(kind, PrefetcherKind::Stride { .. }),
            prefetch_on_access: all_hits,
            prefetch_on_pf_hit: gem5,
            page_bytes: 4096,
            queue_size: 32,
            queue_squash: true,
            queue_filter: true,
            cache_snoop: !gem5,
            latency: 1,
            tag_prefetch: true,
            throttle_control_percentage: 0,
            kind,
        }
    }
}

/// Which lines a prefetcher wants.
#[derive(Clone, Debug, PartialEq)]
pub enum PrefetcherKind {
    /// gem5 `StridePrefetcher`: strides by PC.
    Stride {
        confidence_counter_bits: u32,
        initial_confidence: u32,
        /// Percent of the counter's maximum.
        confidence_threshold: u32,
        use_requestor_id: bool,
        degree: u32,
        /// Strides skipped before the first prefetch.
        distance: u32,
        table_assoc: u32,
        table_entries: u32,
        /// gem5: `RandomRP`.
        table_replacement: Replacement,
    },
    /// gem5 `TaggedPrefetcher`: the next lines.
    Tagged { degree: u32 },
    /// Ours: the next lines, once for each line the accesses come to (Intel's DCU prefetcher).
    NextLine { degree: u32 },
    /// Ours: the rest of the aligned block of `pair_bytes` (Intel's spatial prefetcher: 128).
    AdjacentLine { pair_bytes: u32 },
    /// Ours: follows ascending and descending accesses within a page (Intel's L2 streamer).
    Stream {
        /// Pages that are followed, one stream each; the least recently used is replaced.
        trackers: u32,
        /// Accesses in one direction, besides the first in the page, after which prefetching starts.
        train: u32,
        /// Most lines prefetched by one access.
        degree: u32,
        /// Most lines ahead of the access.
        distance: u32,
    },
}

impl PrefetcherKind {
    /// gem5's `StridePrefetcher` defaults.
    #[must_use]
    pub fn stride() -> Self {
        PrefetcherKind::Stride {
            confidence_counter_bits: 3,
            initial_confidence: 4,
            confidence_threshold: 50,
            use_requestor_id: true,
            degree: 4,
            distance: 0,
            table_assoc: 4,
            table_entries: 64,
            table_replacement: Replacement::Random { seed: 1, any_way: false },
        }
    }

    /// The streamer that Intel's optimization manual describes; `train` is assumed.
    #[must_use]
    pub fn stream() -> Self {
        PrefetcherKind::Stream { trackers: 32, train: 2, degree: 2, distance: 20 }
    }
}

/// Write-combining buffers of the core (ours): where non-temporal stores and stores to write-combining memory gather.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteCombiningConfig {
    /// The object's path: where its statistics go.
    pub path: String,
    /// Buffers; at least one.
    pub buffers: u32,
    /// Bytes a buffer, a power of two, at most a line. A full buffer leaves in one write.
    pub buffer_bytes: u32,
    /// Largest aligned piece in which a buffer that is not full leaves; a power of two, at most `buffer_bytes`.
    pub partial_bytes: u32,
    /// Cycles of the core from a store to its being in a buffer.
    pub latency: u32,
    /// Non-temporal prefetches fill the first level only (Pentium III, and Intel's later ones but for their last level).
    pub prefetch_nta_first_level: bool,
    /// Write-combining memory (an MTRR's or PAT's WC): never cached, stores gather, loads go to the memory.
    pub ranges: Vec<AddrRange>,
    /// A buffer is free when the memory has accepted its last write, not only when it has answered.
    pub posted: bool,
}

impl WriteCombiningConfig {
    /// The defaults of docs/memory.md.
    #[must_use]
    pub fn new(path: &str) -> Self {
        WriteCombiningConfig {
            path: path.to_owned(),
            buffers: 10,
            buffer_bytes: 64,
            partial_bytes: 8,
            latency: 1,
            prefetch_nta_first_level: true,
            ranges: Vec::new(),
            posted: false,
        }
    }
}

/// One way out of a crossbar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Which addresses go there; `None`: all that no earlier route took (a cache below, the bus's `default` port).
    pub range: Option<AddrRange>,
    pub to: Link,
}

/// gem5 `CoherentXBar`/`NoncoherentXBar`.
#[derive(Clone, Debug, PartialEq)]
pub struct XBarConfig {
    pub path: String,
    pub clock: Clock,
    pub frontend_latency: u32,
    pub forward_latency: u32,
    pub response_latency: u32,
    pub header_latency: u32,
    /// `SnoopFilter.lookup_latency`, 0 without a snoop filter.
    pub snoop_filter_latency: u32,
    /// Bytes a cycle.
    pub width: u32,
    /// Whether packets occupy the layers (gem5: always).
    pub bandwidth_limit: bool,
    pub routes: Vec<Route>,
}

/// gem5 `SimpleMemory`. Devices and `BadAddr` are one too: a latency, no bandwidth limit.
#[derive(Clone, Debug, PartialEq)]
pub struct SimpleMemoryConfig {
    pub path: String,
    pub latency: Tick,
    /// Bytes a second; 0: unlimited.
    pub bandwidth: f64,
    /// Writes that can be under way; further ones are not accepted before one is done. 0: unlimited.
    pub write_buffer_size: u32,
}

/// gem5 `page_policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagePolicy {
    Open,
    OpenAdaptive,
    Close,
    CloseAdaptive,
}

/// gem5 `addr_mapping`: from the most to the least significant address bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddrMapping {
    RoRaBaChCo,
    RoRaBaCoCh,
    RoCoRaBaCh,
}

/// gem5 `mem_sched_policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedPolicy {
    Fcfs,
    FrFcfs,
}

/// gem5 `MemCtrl` with one `DRAMInterface`.
#[derive(Clone, Debug, PartialEq)]
pub struct MemCtrlConfig {
    pub path: String,
    pub static_frontend_latency: Tick,
    pub static_backend_latency: Tick,
    pub command_window: Tick,
    pub write_high_thresh_perc: u32,
    pub write_low_thresh_perc: u32,
    pub min_writes_per_switch: u32,
    pub min_reads_per_switch: u32,
    pub mem_sched_policy: SchedPolicy,
    pub dram: DramConfig,
}

/// gem5 `DRAMInterface`; every latency is a duration in ticks.
#[derive(Clone, Debug, PartialEq)]
#[allow(non_snake_case)] // the data sheets' and gem5's names
pub struct DramConfig {
    pub path: String,
    pub range: AddrRange,
    pub device_size: u64,
    pub device_bus_width: u32,
    pub device_rowbuffer_size: u64,
    pub devices_per_rank: u32,
    pub ranks_per_channel: u32,
    pub banks_per_rank: u32,
    pub bank_groups_per_rank: u32,
    pub burst_length: u32,
    pub beats_per_clock: u32,
    pub read_buffer_size: u32,
    pub write_buffer_size: u32,
    pub page_policy: PagePolicy,
    pub addr_mapping: AddrMapping,
    pub max_accesses_per_row: u32,
    pub activation_limit: u32,
    pub two_cycle_activate: bool,
    pub tCK: u64,
    pub tBURST: u64,
    pub tBURST_MIN: u64,
    pub tRCD: u64,
    pub tRCD_WR: u64,
    pub tCL: u64,
    pub tCWL: u64,
    pub tRP: u64,
    pub tRAS: u64,
    pub tWR: u64,
    pub tRTP: u64,
    pub tRTW: u64,
    pub tWTR: u64,
    pub tWTR_L: u64,
    pub tCCD_L: u64,
    pub tCCD_L_WR: u64,
    pub tRRD: u64,
    pub tRRD_L: u64,
    pub tXAW: u64,
    pub tAAD: u64,
    pub tPPD: u64,
    pub tCS: u64,
    pub tREFI: u64,
    pub tRFC: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MemoryConfig {
    Simple(SimpleMemoryConfig),
    Dram(Box<MemCtrlConfig>),
}

impl MemoryConfig {
    /// The path of the object that answers on the bus.
    #[must_use]
    pub fn path(&self) -> &String {
        match self {
            MemoryConfig::Simple(m) => &m.path,
            MemoryConfig::Dram(m) => &m.path,
        }
    }
}

/// A first-level TLB. A hit in it costs nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct TlbConfig {
    pub path: String,
    /// Entries; 0: always misses.
    pub size: u32,
    /// 0: fully associative.
    pub assoc: u32,
}

/// The second-level TLB that both sides share.
#[derive(Clone, Debug, PartialEq)]
pub struct L2TlbConfig {
    pub size: u32,
    pub assoc: u32,
    /// Cycles that a look-up takes.
    pub latency: u32,
}

/// A page-table walker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WalkerConfig {
    /// Entries kept of each page-table level above the last, root first.
    pub upper_entries: Vec<u32>,
}

/// The whole memory side of one core.
#[derive(Clone, Debug, PartialEq)]
pub struct MemorySystemConfig {
    pub line_bytes: u32,
    /// The core's clock: TLBs and walkers run on it.
    pub core_clock: Clock,
    pub inst: Link,
    pub data: Link,
    pub inst_walk: Link,
    pub data_walk: Link,
    pub caches: Vec<CacheConfig>,
    pub xbars: Vec<XBarConfig>,
    pub memories: Vec<MemoryConfig>,
    pub itb: TlbConfig,
    pub dtb: TlbConfig,
    pub l2_tlb: Option<L2TlbConfig>,
    /// The instruction and the data side's.
    pub walkers: [WalkerConfig; 2],
    /// Ranges that go past the caches (besides requests that say so themselves).
    pub uncacheable: Vec<AddrRange>,
    /// `None`: non-temporal hints mean nothing, as in gem5.
    pub write_combining: Option<WriteCombiningConfig>,
    /// What the statistics call the ports, in the order inst, data, inst walk, data walk (gem5: `cpu.inst`, ...).
    pub requestors: [String; 4],
}
