//! What gem5's O3CPU does because of how its code is written, and no processor does: one flag a rule, each a parameter of the
//! same name in the description. A rule of gem5's that a processor could have too is no quirk and has no flag. Of commit,
//! squash and rename those are:
//!
//! - The ROB is walked `squashWidth` micro-ops a cycle, and nothing commits or is dispatched meanwhile: recovery without
//!   checkpoints (`renameRecovery` has both). Registers of squashed micro-ops are free when the walk ends.
//! - Fences, atomics and accesses of devices execute as the oldest, behind all stores: their order is architecture.
//! - Rename counts free entries by credits, which arrive late: it never takes an entry that is not there. It stops for any class
//!   of registers of which none is left, before it looks at what the next micro-op writes.
//! - A memory reference keeps its entry in the issue queue until it writes back: it may have to be issued again.

/// gem5's own artefacts (*ours*: gem5 has no such parameters). A part of the configuration: each flag is a parameter, none is
/// a unit's state. Presets of silicon have them off (`machines.constructors`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct Gem5Quirks {
    /// Of several answers that the data cache gives at one instant the core takes the first in that cycle and the others in
    /// the next: gem5's ports send one packet a tick (`src/mem/packet_queue.cc`). On unless switched off.
    pub serialResponses: bool,
    /// A store miss leaves the cache after its tag latency, when bus and second level take it; stores to the line join it
    /// until then, and a line written whole by then is not read (`breakeven_memory::Response::Pending`). Without effect
    /// under TSO, where gem5 has one store under way, and with `storesLeaveOnMiss`.
    pub gem5StoresJoinMisses: bool,
    /// What a mispredicted conditional RISC-V branch teaches is "taken" where it went anywhere but four bytes on, and "not taken" there:
    /// gem5's copy of a program counter forgets that the instruction is compressed (`PCState::branching`). So a two-byte
    /// branch that falls through counts as taken, and one over a two-byte instruction as not taken.
    pub gem5CompressedBranches: bool,
    /// Dispatch returns its queues' credits to rename once where commits and something else give reason to at once: gem5's
    /// `updateLSQNextCycle` is cleared by each return (`IEW::tick`). Off: the commits' return comes in the next cycle, too.
    pub gem5CreditReturns: bool,
    /// A pseudo-op acts when it executes, which it does as the oldest, not when it commits: it and what commits with it count
    /// behind what it says of the statistics.
    pub gem5PseudoOps: bool,
    /// A load without a port is ready again in the next cycle, when the load-store queue frees the ports, and so executes two
    /// cycles later at the earliest (`LSQ::tick`, `InstructionQueue::blockMemInst`); with the cache blocked by then, when that
    /// takes accesses again. Off: it is ready again at once.
    pub gem5PortRetries: bool,
    /// All loads that wait for a store with part of their bytes are issued again together, when the store of the oldest of
    /// them has been sent (`LSQUnit::stallingStoreIsn`). Off: each when its own store has been sent. On unless switched off.
    pub gem5ReplaysTogether: bool,
    /// A load that is issued again for such a store is translated again (`LSQRequest::discard`). Off: it keeps its
    /// translation. On unless switched off.
    pub gem5Retranslation: bool,
    /// A rename stage that a full load or store queue has blocked unblocks while the other one has room, and blocks again at
    /// once where its first micro-op needs the full one (`Rename::checkStall`): each such cycle counts as an unblocking one,
    /// and the full queue once more. Off: it stays blocked. The same cycles, other statistics. On unless switched off.
    pub gem5RenameUnblocks: bool,
    /// When a blocked cache takes accesses again, the store that it has refused goes first, before the loads of that cycle
    /// (`LSQUnit::recvRetry`). Off: after them, as every store. On unless switched off.
    pub gem5RefusedStoreFirst: bool,
    /// Store sets are indexed by instruction addresses from bit 2 on (`StoreSet::offsetBits`): shorter instructions within
    /// four bytes share an entry, and so do all micro-ops of an instruction. Off: from the bit on that tells the shortest
    /// instructions apart; on x86 a store behind an instruction's first micro-op has an entry of its own. On unless switched off.
    pub gem5StoreSetIndex: bool,
    /// Full queues block rename even where it has nothing to rename (`Rename::tick` asks `checkStall` first); it unblocks by
    /// way of its skid buffer. Off: it is blocked when something arrives. On unless switched off.
    pub gem5RenameBlocksIdle: bool,
    /// Decode, rename and dispatch, going on after a stall, take in a cycle what waited in the skid buffer or what arrives,
    /// not both (`Unblocking`: `skidBuffer` in place of `insts`). Off: both, up to the width. On unless switched off.
    pub gem5SkidBufferFirst: bool,
    /// Squashed micro-ops keep their ROB entries until everything older has retired: gem5's ROB gives entries back at its head
    /// only (`ROB::retireHead`). Off: entries are free as the walk comes by them, `squashWidth` a cycle. On unless switched off.
    pub gem5SquashedRobEntries: bool,
    /// Rename hears of renamed micro-ops that a squash drops when they would have been dispatched: dispatch counts them as they
    /// arrive (`IEW::emptyRenameInsts`). Off: rename counts them itself, at the squash. On unless switched off.
    pub gem5SquashedCredits: bool,
    /// A non-speculative micro-op without a memory access, as a read of a control register, is told to execute only when all
    /// committed stores have been written, and not in a cycle in which another one retires (`Commit::commitHead`). Off: as soon as
    /// it is the oldest. Accesses of devices, atomics and fences wait either way: their order is architecture. On unless
    /// switched off.
    pub gem5NonSpeculativeDrains: bool,
    /// A trap is taken only when all committed stores have been written, and not in a cycle in which another micro-op retires
    /// (`Commit::commitHead`). Off: as soon as its micro-op is the oldest. On unless switched off.
    pub gem5TrapsDrain: bool,
    /// A serializing instruction goes on when the ROB is empty and all committed stores have been written: commit reports an
    /// empty ROB no earlier (`Commit::tick`). Off: when the ROB is empty. On unless switched off.
    pub gem5RobEmptyDrains: bool,
}

impl Gem5Quirks {
    /// gem5's own core.
    pub const ALL: Gem5Quirks = Gem5Quirks {
        serialResponses: true,
        gem5StoresJoinMisses: true,
        gem5CompressedBranches: true,
        gem5CreditReturns: true,
        gem5PseudoOps: true,
        gem5PortRetries: true,
        gem5ReplaysTogether: true,
        gem5Retranslation: true,
        gem5RenameUnblocks: true,
        gem5RefusedStoreFirst: true,
        gem5StoreSetIndex: true,
        gem5RenameBlocksIdle: true,
        gem5SkidBufferFirst: true,
        gem5SquashedRobEntries: true,
        gem5SquashedCredits: true,
        gem5NonSpeculativeDrains: true,
        gem5TrapsDrain: true,
        gem5RobEmptyDrains: true,
    };
    /// Silicon.
    pub const NONE: Gem5Quirks = Gem5Quirks {
        serialResponses: false,
        gem5StoresJoinMisses: false,
        gem5CompressedBranches: false,
        gem5CreditReturns: false,
        gem5PseudoOps: false,
        gem5PortRetries: false,
        gem5ReplaysTogether: false,
        gem5Retranslation: false,
        gem5RenameUnblocks: false,
        gem5RefusedStoreFirst: false,
        gem5StoreSetIndex: false,
        gem5RenameBlocksIdle: false,
        gem5SkidBufferFirst: false,
        gem5SquashedRobEntries: false,
        gem5SquashedCredits: false,
        gem5NonSpeculativeDrains: false,
        gem5TrapsDrain: false,
        gem5RobEmptyDrains: false,
    };
}

impl Default for Gem5Quirks {
    /// What a description has that mentions none of them.
    fn default() -> Self {
        Gem5Quirks {
            gem5StoresJoinMisses: false,
            gem5CompressedBranches: false,
            gem5CreditReturns: false,
            gem5PseudoOps: false,
            gem5PortRetries: false,
            ..Gem5Quirks::ALL
        }
    }
}
