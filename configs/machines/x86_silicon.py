"""What the x86 presets of real processors share: units, caches, and the traits of gem5's that no hardware has.

A preset subclasses these and adds what its own rows of uarch.csv say. A real gem5 has none of the parameters that
`hardware_core`, the microcode and the prefetchers set: a preset's `ours()` uses them, and runs in our engine only.
"""

from m5 import objects
from m5.objects import Cache, FUDesc, OpDesc

from machines.constructors import without_gem5_traits
from machines.extensions import several
from machines.provenance import assumed, assumed_unless_marked, sourced
from machines.x86_board import X86Board

MEMORY_SIZE = assumed("512MiB", "what the guests need")

#: general registers' shifts where only some ports have them: a class that nothing else uses
SHIFT = "SimdShiftAcc"

#: extensions of the instruction set since Sandy Bridge, as their `enable_` switches are named
SINCE_SANDY_BRIDGE = (
    *("avx", "avx2", "bmi1", "bmi2", "adx", "lzcnt", "movbe", "erms", "fsrm"),
    *("clflushopt", "clwb", "smep", "smap", "fsgsbase", "pdpe1gb"),
)
#: and since the Pentium III and the Athlon
SINCE_SSE2 = ("sse2", "sse3", "ssse3", "sse4_1", "sse4_2", "popcnt", "cx16", "rdtscp", *SINCE_SANDY_BRIDGE)


#: of a unit's latency that no row of uarch.csv gives
NO_ROW = "no source: a usual latency of such operations on such cores"


def ops(latencies):
    """Classes of operations with their latencies in cycles. One without a mark is gem5's 1, or assumed: no
    row of uarch.csv has it."""
    return [
        OpDesc(opClass=name, opLat=latency if latency == 1 else assumed_unless_marked(latency, NO_ROW))
        for name, latency in latencies.items()
    ]


def vector_logic(row):
    """Logic and additions on vectors, of one cycle by this row of uarch.csv."""
    return sourced(dict.fromkeys(("SimdAlu", "SimdCmp", "SimdMisc", "SimdAdd", "SimdAddAcc"), 1), row)


def dividers(integer=None, divide=None, root=None):
    """Units that begin nothing before they are done; cycles of a division, of one of floats, and of a square root."""
    classes = {"IntDiv": integer, "FloatDiv": divide, "SimdFloatDiv": divide, "FloatSqrt": root, "SimdFloatSqrt": root}
    taken = {name: cycles for name, cycles in classes.items() if cycles is not None}
    one_at_a_time = assumed(False, "dividers are not pipelined")
    return [OpDesc(opClass=name, opLat=cycles, pipelined=one_at_a_time) for name, cycles in taken.items()]


class LoadPorts(FUDesc):
    opList = [*ops({"MemRead": 1, "FloatMemRead": 1})]


class StorePorts(FUDesc):
    opList = [*ops({"MemWrite": 1, "FloatMemWrite": 1})]


class SiliconCache(Cache):
    response_latency = assumed(1, "fills pass through")
    tgts_per_mshr = assumed(16, "enough for one core")


def slow_loops():
    """jrcxz and loop, which no compiler uses."""
    return [
        objects.X86Instruction(mnemonics=["jrcxz"], uops=assumed(2, "two")),
        objects.X86Instruction(mnemonics=["loop"], uops=assumed(4, "slow by design on Intel, microcode on AMD")),
    ]


def intel_microcode(**rows):
    """Micro-ops of Intel's large cores since Sandy Bridge; `rows`: the parameters that have a source."""
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        micro_fusion=assumed(True, "as every Intel core since the Pentium M"),
        fuse_cmp_test=assumed(True, "as every Intel core since Sandy Bridge"),
        fuse_add_sub_and=assumed(True, "as fuse_cmp_test"),
        fuse_inc_dec=assumed(True, "as fuse_cmp_test"),
        stack_engine=assumed(True, "as micro_fusion"),
        zero_idioms=assumed(True, "as micro_fusion"),
        eliminate_zero_idioms=assumed(True, "since Sandy Bridge"),
        eliminate_moves=assumed(True, "since Ivy Bridge"),
        **rows,
    )


def hardware_core(cpu, microcode):
    """Out of order as hardware is: stores leave in order but overlap; what decoding fuses stays one micro-op."""
    without_gem5_traits(cpu)
    cpu.needsTSO = assumed(True, "x86's memory order")
    cpu.tsoStoresInFlight = assumed(0, "hardware pipelines its stores; one at a time is a trait of gem5's")
    cpu.microFusion = assumed(microcode.micro_fusion, "as the microcode's")
    cpu.macroFusion = assumed(microcode.fuse_cmp_test, "as the microcode's")
    cpu.moveElimination = assumed(microcode.eliminate_moves, "as the microcode's")
    cpu.isa[0].microcode = microcode


#: what an instruction set's extension that a core has not is marked as
LATER = "came later, or never"
#: entries of the upper page-table levels that a walker keeps: Intel says that such caches exist, not how large
WALK_CACHES = assumed({"pml4e": 4, "pdpte": 8, "pde": 32}, "as ChampSim, a simulator of Intel's cores, has it")


def fences(cpu, latency, after_loads=0, after_stores=0):
    """What the own work of a fence of loads and stores takes: cycles from its dispatch, from the last older load's
    commit, and from the cycle in which the last older store is in the cache."""
    cpu.fenceLatency = latency
    cpu.fenceAfterLoads = after_loads
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


def streamer_and_pairs():
    """Intel's two prefetchers of the second level: streams, and the other line of a pair."""
    return several(objects.StreamPrefetcher(), objects.AdjacentLinePrefetcher())


def silicon_board(cpu, clock, memory, icache, **parts):
    """The board of these parts (see `X86Board`), with an instruction cache as pipelined fetch meets it."""
    system = X86Board(cpu=cpu, clock=clock, memory=memory, icache=icache, **parts)
    system.cpu.icache.tag_latency = assumed(1, "fetch is pipelined on the hardware")
    system.cpu.icache.data_latency = assumed(1, "as tag_latency")
    system.cpu.icache.is_read_only = assumed(True, "instruction side")
    return system
