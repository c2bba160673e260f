"""x86-64 machines: their board, and what the cores made in silicon share.

A real gem5 has none of the parameters that `hardware`, the microcode and the prefetchers set: a preset's `ours` uses
them, and runs in our engine only.
"""

from m5 import objects
from m5.objects import X86ISA, AddrRange, X86FsWorkload

from machines.extensions import several
from machines.families.board import MEMORY_SIZE, Board, SiliconCache, parts, put, root, silicon
from machines.provenance import assumed, calibrated, sourced

__all__ = ["MEMORY_SIZE", "SiliconCache", "X86Board", "board_range", "memory", "put", "root", "silicon_board"]

#: general registers' shifts where only some ports have them: a class that nothing else uses
SHIFT = "SimdShiftAcc"
SHIFTS = "shl shr sar rol ror"

#: extensions of the instruction set since Sandy Bridge, as their `enable_` switches are named
SINCE_SANDY_BRIDGE = (
    *("avx", "avx2", "bmi1", "bmi2", "adx", "lzcnt", "movbe", "erms", "fsrm"),
    *("clflushopt", "clwb", "smep", "smap", "fsgsbase", "pdpe1gb"),
)
#: and since the Pentium III and the Athlon
SINCE_SSE2 = ("sse2", "sse3", "ssse3", "sse4_1", "sse4_2", "popcnt", "cx16", "rdtscp", *SINCE_SANDY_BRIDGE)
#: what an instruction set's extension that a core has not is marked as
LATER = "came later, or never"

#: taken branches that say where a branch goes, by table: the three longest are those that Half&Half (Yavarzadeh et al.,
#: 2023) read out of Alder Lake, 93 the longest of Skylake there (both quoted from memory). The shorter ones: no source.
PATHS = assumed([4, 12, 34, 66, 194], "as Alder Lake's")
SHORTER_PATHS = assumed([4, 12, 34, 93], "as Skylake's")

#: entries of the upper page-table levels that a walker keeps: Intel says that such caches exist, not how large
WALK_CACHES = assumed({"pml4e": 4, "pdpte": 8, "pde": 32}, "as ChampSim, a simulator of Intel's cores, has it")


class X86Board(Board):
    """A `Board` with local interrupts and a kernel's start."""

    def __init__(self, cpu, clock, memory, object_file="", **parts):
        super().__init__(cpu, clock, memory, **parts)
        cpu.createThreads()
        self.workload = X86FsWorkload(object_file=object_file)

    def join_interrupts(self):
        interrupts = self.cpu.interrupts[0]
        interrupts.pio = self.membus.mem_side_ports
        interrupts.int_requestor = self.membus.cpu_side_ports
        interrupts.int_responder = self.membus.mem_side_ports


def board_range(size):
    """The board's memory, `size` bytes from 0."""
    return AddrRange(0, size=size)


def memory(latency, bandwidth):
    """A plain memory: `latency` of a read, bytes a second."""
    return objects.SimpleMemory(range=board_range(MEMORY_SIZE), latency=latency, bandwidth=bandwidth)


def dram(kind, size=MEMORY_SIZE):
    """DRAM of this kind behind its controller."""
    return objects.MemCtrl(dram=kind(range=board_range(size)))


def silicon_board(cpu, clock, ours, memory, caches, buses, **options):
    """The board of a real core (see `parts`), with an instruction cache as pipelined fetch meets it; `ours(board)`:
    what a real gem5 may lack."""
    caches[0].tag_latency = caches[0].data_latency = assumed(1, "fetch is pipelined on the hardware")
    caches[0].is_read_only = assumed(True, "instruction side")
    return silicon(X86Board(cpu=cpu, clock=clock, memory=memory, **parts(caches, buses), **options), ours)


def intel(name):
    """The instruction set of an Intel core as CPUID calls it."""
    return [X86ISA(vendor_string="GenuineIntel", name_string=name)]


def amd(name):
    """The instruction set of an AMD core as CPUID calls it."""
    return [X86ISA(vendor_string="AuthenticAMD", name_string=name)]


def hardware(board, microcode):
    """Out of order as hardware is: stores leave in order but overlap; what decoding fuses stays one micro-op."""
    cpu = board.cpu
    cpu.needsTSO = assumed(True, "x86's memory order")
    cpu.tsoStoresInFlight = assumed(0, "hardware pipelines its stores; one at a time is a trait of gem5's")
    cpu.microFusion, cpu.macroFusion = assumed((microcode.micro_fusion, microcode.fuse_cmp_test), "as the microcode's")
    cpu.moveElimination = assumed(microcode.eliminate_moves, "as the microcode's")
    cpu.isa[0].microcode = microcode
    walk_caches(cpu, **WALK_CACHES)


def memory_order(board, rows):
    """What `hardware` leaves open and the rows of most cores agree on; `rows`: whose rows of uarch.csv."""
    cpu = board.cpu
    cpu.forwardLatency = calibrated(2, f"{rows}/stlf_latency", "with the store's and the load's own cycles, 5")
    cpu.partialForwardPolicy = sourced("penalty", f"{rows}/stlf_fail_penalty")
    cpu.aliasCheckBits = calibrated(12, f"{rows}/alias_4k", "4 KiB are 12 bits")
    cpu.aliasPenalty = sourced(5, f"{rows}/alias_4k")
    cpu.misaligned.policy = sourced("hardware", f"{rows}/unaligned_within_line")


def fences(cpu, latency, after_stores=0):
    """What the own work of a fence of loads and stores takes: cycles from its dispatch, and from the cycle in which the
    last older store is in the cache."""
    cpu.fenceLatency = latency
    cpu.fenceAfterStores = after_stores


def walk_caches(cpu, pml4e, pdpte, pde):
    """Entries of the upper page-table levels that each walker keeps."""
    for tlb in (cpu.mmu.itb, cpu.mmu.dtb):
        tlb.walker.pml4e_cache_size = pml4e
        tlb.walker.pdpte_cache_size = pdpte
        tlb.walker.pde_cache_size = pde


def without(isa, *features, note=LATER):
    """Takes extensions of the instruction set away."""
    for feature in features:
        setattr(isa, f"enable_{feature}", assumed(False, note))


def write_combining(**values):
    """The buffers of stores that go past the caches."""
    return objects.WriteCombiningBuffers(**values)


def streamer_and_pairs():
    """Intel's two prefetchers of the second level: streams, and the other line of a pair."""
    return several(objects.StreamPrefetcher(), objects.AdjacentLinePrefetcher())


def instruction(mnemonics, **values):
    """What is not as gem5's of these instructions."""
    return objects.X86Instruction(mnemonics=mnemonics.split(), **values)


def slow_loops():
    """jrcxz and loop, which no compiler uses."""
    return [
        instruction("jrcxz", uops=assumed(2, "two")),
        instruction("loop", uops=assumed(4, "slow by design on Intel, microcode on AMD")),
    ]
