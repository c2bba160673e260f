//! What travels between the components: requests towards the memory, replies back. Names are gem5's commands.

use breakeven_base::{PhysAddr, Tick};

/// A request as it arrives at a component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pkt {
    pub cmd: Cmd,
    pub addr: PhysAddr,
    /// Bytes asked for or carried.
    pub size: u32,
    /// Who started it: an index into `MemorySystemConfig::requestors`, or [`WRITEBACKS`].
    pub requestor: u8,
    /// Sent by a cache: the reply may hand over dirty data, and is kept.
    pub from_cache: bool,
    pub uncached: bool,
    /// Ticks after arrival until the address is there (gem5 `headerDelay`).
    pub header: u64,
    /// Ticks after that until all the data is there (gem5 `payloadDelay`).
    pub payload: u64,
    /// Not kept by the caches that it is fetched through (a non-temporal prefetch).
    pub bypass: bool,
    /// Entries of the write buffer that it comes from, 0: from none. Misses go first while fewer packets wait there (gem5
    /// `BaseCache::getNextQueueEntry`).
    pub write_buffers: u16,
}

impl Pkt {
    /// Not from a cache, to be cached, all there at once.
    #[inline]
    pub fn new(cmd: Cmd, addr: PhysAddr, size: u32, requestor: u8) -> Pkt {
        Pkt {
            cmd,
            addr,
            size,
            requestor,
            from_cache: false,
            uncached: false,
            header: 0,
            payload: 0,
            bypass: false,
            write_buffers: 0,
        }
    }
    /// Of an instruction (the first of the ports).
    pub fn is_fetch(&self) -> bool {
        self.requestor == 0
    }
}

/// The requestors of write-backs and of prefetches.
pub(crate) const WRITEBACKS: u8 = 4;
pub(crate) const PREFETCHES: u8 = 5;
pub(crate) const REQUESTORS: usize = 6;

/// What came back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reply {
    /// The first of the response reaches the requester.
    pub at: Tick,
    /// The rest arrives this many ticks later.
    pub payload: u64,
    /// The request left the requester for good (its buffer is free).
    pub accepted: Tick,
    /// Caches missed on the way below the requester.
    pub level: u8,
    /// The data is dirty and now the requester's to write back.
    pub dirty: bool,
}

macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Cmd { $($(#[$doc])* $name),* }
        impl Cmd {
            pub const ALL: &'static [Cmd] = &[$(Cmd::$name),*];
            pub const COUNT: usize = Self::ALL.len();
            pub fn name(self) -> &'static str {
                match self { $(Cmd::$name => stringify!($name)),* }
            }
        }
    };
}
commands!(
    ReadReq,
    WriteReq,
    /// Atomic read-modify-write.
    SwapReq,
    SoftPFReq,
    SoftPFExReq,
    /// Of a cache's own prefetcher; asks the level below as a read does.
    HardPFReq,
    ReadSharedReq,
    ReadExReq,
    ReadCleanReq,
    /// A write of a whole line: nothing need be read (cbo.zero).
    WriteLineReq,
    WritebackDirty,
    WritebackClean,
    CleanEvict,
    /// Dirty data on its way to the memory, the line stays (cbo.clean).
    WriteClean,
    CleanSharedReq,
    CleanInvalidReq,
    InvalidateReq,
    /// What a write-combining buffer gathered, on its way past the caches (ours).
    NonTemporalReq,
);

impl Cmd {
    /// Carries data towards the memory.
    pub fn has_data(self) -> bool {
        use Cmd::{NonTemporalReq, SwapReq, WriteClean, WriteLineReq, WriteReq, WritebackClean, WritebackDirty};
        matches!(
            self,
            NonTemporalReq | WriteReq | SwapReq | WriteLineReq | WritebackDirty | WritebackClean | WriteClean
        )
    }
    /// The response carries data.
    pub fn is_read(self) -> bool {
        use Cmd::{HardPFReq, ReadCleanReq, ReadExReq, ReadReq, ReadSharedReq, SoftPFExReq, SoftPFReq, SwapReq};
        let prefetch = matches!(self, SoftPFReq | SoftPFExReq | HardPFReq);
        prefetch || matches!(self, ReadReq | SwapReq | ReadSharedReq | ReadExReq | ReadCleanReq)
    }
    /// Leaves the line dirty in the first cache that holds it.
    pub fn dirties(self) -> bool {
        matches!(self, Cmd::WriteReq | Cmd::SwapReq | Cmd::WriteLineReq)
    }
    pub fn needs_writable(self) -> bool {
        self.dirties() || matches!(self, Cmd::SoftPFExReq | Cmd::ReadExReq | Cmd::InvalidateReq | Cmd::NonTemporalReq)
    }
    pub fn is_prefetch(self) -> bool {
        matches!(self, Cmd::SoftPFReq | Cmd::SoftPFExReq | Cmd::HardPFReq)
    }
    /// gem5's `demand*` statistics count these.
    pub fn is_demand(self) -> bool {
        use Cmd::{ReadCleanReq, ReadExReq, ReadReq, ReadSharedReq, SwapReq, WriteLineReq, WriteReq};
        matches!(self, ReadReq | WriteReq | SwapReq | ReadSharedReq | ReadExReq | ReadCleanReq | WriteLineReq)
    }
    pub fn is_maintenance(self) -> bool {
        matches!(self, Cmd::CleanSharedReq | Cmd::CleanInvalidReq | Cmd::InvalidateReq)
    }
}
