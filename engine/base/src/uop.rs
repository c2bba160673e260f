//! Micro-ops: what a pipeline knows of an instruction, and all that it knows.
//!
//! The static half ([`Uop`]) is made once, when an instruction is decoded. What changes per execution (addresses,
//! outcomes) is in the [`Step`] that the front end fills in when it executes the instruction.

use std::sync::atomic::{AtomicU64, Ordering};

use bitflags::bitflags;

use crate::addr::PhysAddr;
use crate::effect::SysEffect;
use crate::op_class::OpClass;
use crate::units::PAGE;

/// An architectural register in one flat space that each front end lays out; [`Reg::NONE`] is no register
/// (and a hard-wired zero). At most [`Reg::COUNT`] registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Reg(pub u8);

impl Reg {
    pub const NONE: Reg = Reg(0);
    pub const COUNT: usize = 128;
    /// From here on they are floating-point or SIMD registers; those before are integer registers.
    pub const FLOAT: usize = 32;
    /// From here on they are condition codes.
    pub const FLAGS: usize = 112;
    /// From here on a result takes no physical register: what one of two fused micro-ops hands to the other.
    pub const UNCOUNTED: usize = 120;
    #[inline]
    #[must_use]
    pub fn is_some(self) -> bool {
        self.0 != 0
    }
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

bitflags! {
    /// Properties of a micro-op that a pipeline acts on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct UopFlags: u32 {
        const LOAD = 1 << 0;
        const STORE = 1 << 1;
        /// Read-modify-write, load-reserved or store-conditional; goes with LOAD and/or STORE.
        const ATOMIC = 1 << 2;
        /// Cache-block management or prefetch: a memory reference with neither data nor destination.
        const CACHE_OP = 1 << 3;
        const BRANCH = 1 << 4;
        /// Waits until everything older has committed (gem5 IsSerializeBefore).
        const SERIALIZE_BEFORE = 1 << 5;
        /// Nothing younger issues until it has committed (gem5 IsSerializeAfter).
        const SERIALIZE_AFTER = 1 << 6;
        /// Everything younger is squashed and fetched again after it commits (gem5 IsSquashAfter): fence.i, mret, satp.
        const SQUASH_AFTER = 1 << 7;
        /// Executes only when oldest (gem5 IsNonSpeculative).
        const NON_SPECULATIVE = 1 << 8;
        /// Orders older loads before younger memory accesses (gem5 IsReadBarrier).
        const READ_BARRIER = 1 << 9;
        /// Orders older stores before younger memory accesses (gem5 IsWriteBarrier).
        const WRITE_BARRIER = 1 << 10;
        /// First / last micro-op of its instruction.
        const FIRST = 1 << 11;
        const LAST = 1 << 12;
        /// A system micro-op whose [`SysEffect`] happens at commit.
        const EFFECT = 1 << 13;
        /// The instruction faulted: no result; the pipeline flushes at commit and goes on at `Step::next_pc`.
        const TRAP = 1 << 14;
        /// Non-temporal hint or store.
        const NON_TEMPORAL = 1 << 15;
        const FLOAT = 1 << 16;
        /// Travels with the micro-op before it as one (micro-fusion): no slot of its own in decode, rename and commit and no ROB
        /// entry; it issues and executes by itself. Never on a FIRST micro-op.
        const MICRO_FUSED = 1 << 17;
        /// May merge with a [`UopFlags::FUSE_TAIL`] instruction directly behind it (macro-fusion: compare and branch). Only on the
        /// one micro-op of its instruction.
        const FUSE_HEAD = 1 << 18;
        /// A branch that may merge with a [`UopFlags::FUSE_HEAD`] directly before it.
        const FUSE_TAIL = 1 << 19;
        /// Needs no execution: done when renamed. Without a source a zero idiom; with one a move, whose destination becomes
        /// another name of the source's physical register.
        const ELIMINATED = 1 << 20;
        /// A branch within its instruction: taken it leads back to the instruction's address, not taken on within it or behind
        /// it. Goes with BRANCH, on the last micro-op of a step; the instruction goes on in further steps unless it is LAST, too.
        /// A fork to where it did not go may stay within the instruction: [`crate::FrontEnd::pc`] is then its address.
        const MICRO_BRANCH = 1 << 21;
        /// On a FIRST micro-op: only the first decoder of a cycle takes this instruction.
        const FIRST_DECODER = 1 << 22;
        /// Reads flags that several instructions wrote, on a core that cannot merge them: waits until everything older than its
        /// instruction has retired. Not for earlier micro-ops of its own instruction, nor until stores are written.
        const FLAG_STALL = 1 << 23;
        const MEM = Self::LOAD.bits() | Self::STORE.bits() | Self::CACHE_OP.bits();
    }
}

impl UopFlags {
    /// Whether it has one of `mask` at least.
    #[inline]
    #[must_use]
    pub const fn any(self, mask: UopFlags) -> bool {
        self.intersects(mask)
    }
}

/// The static half of a micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Uop {
    pub class: OpClass,
    /// Latency override in cycles; 0: the functional unit's.
    pub latency: u8,
    pub src: [Reg; 3],
    pub dst: [Reg; 2],
    pub flags: UopFlags,
}

/// What a memory reference asks of the memory system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MemKind {
    #[default]
    Load,
    Store,
    /// A store that covers the whole line of `paddr` (string instructions): nothing need be read first.
    StoreLine,
    /// Read-modify-write in one go (AMO, LR, SC).
    Atomic,
    Fetch,
    /// A page-table entry read by the walker.
    Walk,
    PrefetchRead,
    PrefetchWrite,
    PrefetchFetch,
    /// cbo.clean / cbo.flush / cbo.inval / cbo.zero: act on the line that holds `paddr`.
    CboClean,
    CboFlush,
    CboInval,
    CboZero,
}

impl MemKind {
    /// Brings a line closer, and waits for nothing.
    #[inline]
    #[must_use]
    pub fn is_prefetch(self) -> bool {
        matches!(self, MemKind::PrefetchRead | MemKind::PrefetchWrite | MemKind::PrefetchFetch)
    }

    /// Acts on the whole line, whichever of its bytes are named.
    #[inline]
    #[must_use]
    pub fn acts_on_line(self) -> bool {
        use MemKind::{CboClean, CboFlush, CboInval, CboZero, StoreLine};
        matches!(self, StoreLine | CboZero | CboClean | CboFlush | CboInval)
    }
}

/// Where a memory micro-op went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MemRef {
    pub vaddr: u64,
    pub paddr: PhysAddr,
    /// Physical address of the first byte on the second page when the access crosses a page; otherwise unused.
    pub paddr2: PhysAddr,
    /// Bytes.
    pub size: u16,
    /// log2 of the page that maps it; 0 when translation is off (no TLB is looked up).
    pub page_shift: u8,
    pub kind: MemKind,
    /// Device or uncacheable memory: goes past the caches.
    pub uncacheable: bool,
    /// On the wrong path the address may be garbage: then the reference has no mapping and goes nowhere.
    pub valid: bool,
    /// Bytes of an element of a vector load or store, whose alignment is judged by it; 0: a scalar's.
    pub element: u8,
}

impl MemRef {
    /// An access to `size` bytes, all in one page of 2^`page_shift` bytes.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // no access is as long as 64 KiB
    pub fn in_one_page(vaddr: u64, size: u64, kind: MemKind, page_shift: u8, paddr: u64, uncacheable: bool) -> MemRef {
        let (paddr, paddr2) = (PhysAddr(paddr), PhysAddr::ZERO);
        MemRef { vaddr, paddr, paddr2, size: size as u16, page_shift, kind, uncacheable, valid: true, element: 0 }
    }

    /// Physical address of its byte number `offset`; a wrong path's wraps.
    #[inline(always)]
    #[must_use]
    pub fn paddr_of(&self, offset: u16) -> PhysAddr {
        let (offset, to_page_end) = (u64::from(offset), PAGE - (self.vaddr & (PAGE - 1)));
        if offset >= to_page_end {
            self.paddr2.wrapping_add(offset - to_page_end)
        } else {
            self.paddr.wrapping_add(offset)
        }
    }

    /// A copy, read field by field. A reference that has just been written so must not be read in wider pieces: a
    /// processor cannot forward several stores to one load, and waits for the cache instead.
    #[inline]
    #[must_use]
    pub fn read_by_field(&self) -> MemRef {
        fn read<T: Copy>(field: &T) -> T {
            // SAFETY: a reference is valid to read from; volatile keeps neighbouring reads apart.
            unsafe { std::ptr::read_volatile(field) }
        }
        MemRef {
            vaddr: read(&self.vaddr),
            paddr: read(&self.paddr),
            paddr2: read(&self.paddr2),
            size: read(&self.size),
            page_shift: read(&self.page_shift),
            kind: read(&self.kind),
            uncacheable: read(&self.uncacheable),
            valid: read(&self.valid),
            element: read(&self.element),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BranchKind {
    #[default]
    None,
    /// Conditional, direct.
    Cond,
    /// Unconditional, direct.
    Jump,
    /// Unconditional, through a register.
    Indirect,
    /// A direct call: pushes the return address.
    Call,
    /// A call through a register.
    IndirectCall,
    Return,
}

/// What an instruction did to control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BranchInfo {
    pub kind: BranchKind,
    pub taken: bool,
    /// The target when taken (for a conditional branch also when it was not).
    pub target: u64,
}

/// Most micro-ops one step can carry; an instruction that needs more takes several steps.
pub const MAX_UOPS: usize = 8;

/// One executed instruction (or a chunk of a long one): everything the pipeline needs to time it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub pc: u64,
    /// Instruction length in bytes; 0 for an interrupt or a fetch fault, which have no instruction.
    pub len: u8,
    /// Micro-ops in `uops[..n]` (at least one).
    pub n: u8,
    /// Where execution goes on: fall-through, branch target or trap vector.
    pub next_pc: u64,
    pub branch: BranchInfo,
    /// Which decoded instruction it was, if its micro-ops are those that it was decoded to; 0: not known. Steps of one number at
    /// one address have the same length, micro-ops and kind of branch, on every clone of a front end.
    pub decoded: u64,
    /// Happens when the micro-op with `UopFlags::EFFECT` commits.
    pub effect: SysEffect,
    pub uops: [Uop; MAX_UOPS],
    /// `mem[i]` belongs to `uops[i]` where that has one of `UopFlags::MEM`.
    pub mem: [MemRef; MAX_UOPS],
}

impl Step {
    /// The predecoded instruction at `pc`, as if a branch fell through; its references are not known.
    pub fn describe(&mut self, pc: u64, predecoded: &Predecoded) {
        let uops = self.uops.iter_mut().zip(predecoded.uops);
        self.n = uops.len() as u8;
        uops.for_each(|(to, from)| *to = *from);
        self.pc = pc;
        self.len = predecoded.len;
        self.next_pc = pc.wrapping_add(predecoded.len.into());
        self.branch = BranchInfo { kind: predecoded.branch, taken: false, target: self.next_pc };
        self.decoded = 0;
        self.effect = SysEffect::None;
    }
}

impl Default for Step {
    fn default() -> Self {
        Step {
            pc: 0,
            len: 0,
            n: 0,
            next_pc: 0,
            branch: BranchInfo::default(),
            decoded: 0,
            effect: SysEffect::None,
            uops: [Uop::default(); MAX_UOPS],
            mem: [MemRef::default(); MAX_UOPS],
        }
    }
}

/// A number that no decoded page of code has had, for [`Step::decoded`].
#[must_use]
pub fn number_of_page() -> u64 {
    static PAGES: AtomicU64 = AtomicU64::new(1);
    PAGES.fetch_add(1, Ordering::Relaxed)
}

/// [`Step::decoded`] of the instruction at `addr` of a page with this number. The six highest bits are free for what else the
/// micro-ops depend on: no process decodes 2^46 pages.
#[inline(always)]
#[must_use]
pub fn decoded_at(page: u64, addr: u64) -> u64 {
    (page * PAGE) | (addr & (PAGE - 1))
}

/// A predecoded instruction of a wrong path, not executed yet.
#[derive(Clone, Copy, Debug)]
pub struct Predecoded<'a> {
    /// At least one, at most [`MAX_UOPS`].
    pub uops: &'a [Uop],
    /// The flags of all of them.
    pub flags: UopFlags,
    pub len: u8,
    pub branch: BranchKind,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_behind_the_page_lie_on_the_second_one() {
        let m =
            MemRef { vaddr: 0x7ffc, paddr: PhysAddr(0x1ffc), paddr2: PhysAddr(0x9000), size: 8, ..MemRef::default() };
        assert_eq!([0, 3, 4, 7].map(|n| m.paddr_of(n).0), [0x1ffc, 0x1fff, 0x9000, 0x9003]);
        // A wrong path's address may be anything.
        let m = MemRef { vaddr: 0, paddr: PhysAddr(u64::MAX), ..MemRef::default() };
        assert_eq!(m.paddr_of(2), PhysAddr(1));
    }
}
