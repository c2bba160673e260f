"""T-Head C908 as in the Kendryte K230 (CanMV-K230, its core with vectors): dual-issue, in-order, RVV 1.0 of 128 bits.

LLVM's scheduler for the SpacemiT X60 was written from this core's manual; its units are here. A vector access takes
the time of its whole register group whatever vl is, as instructions timed on both boards do. Caches beyond their sizes,
predictor and memory are assumed. Not modelled: segment accesses (hardware: of 2 to 4 fields three cycles a beat of
load, of more a cycle an element), slower products of 64 bits, prefetchers, fusion.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import (
    Cache,
    L2XBar,
    LocalBP,
    MinorDefaultFloatSimdFU,
    MinorDefaultIntDivFU,
    MinorDefaultIntFU,
    MinorDefaultIntMulFU,
    MinorDefaultMemFU,
    MinorDefaultMiscFU,
    MinorDefaultPredFU,
    MinorFUPool,
    MinorOpClass,
    MinorOpClassSet,
    ReturnAddrStack,
    RiscvISA,
    RiscvMinorCPU,
    SimpleBTB,
    SimpleMemory,
)

from machines.constructors import (
    IN_ORDER,
    L2,
    MEMORY,
    RISCV,
    constructor,
    machine_of,
    without_gem5_traits,
)
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.riscv_board import RiscvBoard, board_range

NAME = "c908"
DESCRIPTION = "T-Head C908 (Kendryte K230, 1.6 GHz): dual-issue in-order, RVV 1.0 of 128 bits, 32 KiB L1, 256 KiB L2"
ISA = "riscv"

CLOCK = sourced("1600MHz", "c908/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 17}  # cycles; what `breakeven machines show c908` measures
MEMORY_SIZE = assumed("512MiB", "what the guests need")


def op_classes(*names):
    """The set of operations that a functional unit does."""
    return MinorOpClassSet(opClasses=[MinorOpClass(opClass=name) for name in names])


class C908IntFU(MinorDefaultIntFU):
    """Dependent operations issue back to back: a source may come 2 cycles before its due time."""

    opLat = assumed(3, "gem5's three-cycle unit with forwarding, a latency of one cycle")


class C908ConfigFU(MinorDefaultMiscFU):
    """vsetvli and its kin, on one of the integer units."""

    opClasses = op_classes("SimdConfig")
    opLat = sourced(1, "c908/lat_vsetvl")


class C908MulFU(MinorDefaultIntMulFU):
    opLat = sourced(6, "c908/lat_mul")


class C908DivFU(MinorDefaultIntDivFU):
    opLat = sourced(20, "c908/lat_div")
    issueLat = sourced(20, "c908/lat_div")


class C908MemFU(MinorDefaultMemFU):
    """One of two scalar units: each takes a load or a store a cycle."""

    opClasses = op_classes("MemRead", "MemWrite", "FloatMemRead", "FloatMemWrite")
    opLat = calibrated(2, "c908/lat_load_l1", "with the cache's cycle, 3 to the use")


class C908VectorMemFU(MinorDefaultMemFU):
    """Vector loads and stores share one unit, which moves a datapath's width a cycle."""

    opClasses = op_classes(
        "SimdUnitStrideLoad",
        "SimdUnitStrideStore",
        "SimdUnitStrideMaskLoad",
        "SimdUnitStrideMaskStore",
        "SimdStridedLoad",
        "SimdStridedStore",
        "SimdIndexedLoad",
        "SimdIndexedStore",
        "SimdUnitStrideFaultOnlyFirstLoad",
        "SimdWholeRegisterLoad",
        "SimdWholeRegisterStore",
    )
    opLat = assumed(2, "as the scalar unit's")


class C908VectorFU(MinorDefaultFloatSimdFU):
    """The unit that does every operation."""

    opLat = calibrated(6, "c908/lat_vector", "a source may come 2 cycles before its due time")


class C908SecondVectorFU(C908VectorFU):
    """The unit that sums and multiplies, too: with the first one, twice the datapath's width a cycle."""

    opClasses = op_classes(
        "SimdAdd", "SimdAddAcc", "SimdMult", "SimdMultAcc", "SimdFloatAdd", "SimdFloatMult", "SimdFloatMultAcc"
    )


class C908FUPool(MinorFUPool):
    funcUnits = [
        C908IntFU(),
        C908IntFU(),
        C908ConfigFU(),
        C908MulFU(),
        C908DivFU(),
        C908SecondVectorFU(),  # before the unit that others need as well
        C908VectorFU(),
        MinorDefaultPredFU(),
        C908MemFU(),
        C908MemFU(),
        C908VectorMemFU(),
        MinorDefaultMiscFU(),
    ]


class C908BranchPredictor(LocalBP):
    btb = SimpleBTB(numEntries=assumed(64, "a small core"))
    ras = ReturnAddrStack(numEntries=assumed(12, "a small core"))
    localPredictorSize = assumed(8192, "as the C906's")


class C908CPU(RiscvMinorCPU):
    fetch2InputBufferSize = assumed(1, "gem5's fit of another dual-issue core (u74)")
    decodeInputWidth = sourced(2, "c908/decode_width")
    decodeInputBufferSize = assumed(2, "as fetch2InputBufferSize")
    executeInputWidth = sourced(2, "c908/decode_width")
    executeIssueLimit = sourced(2, "c908/decode_width")
    executeCommitLimit = assumed(2, "as many as issue")
    executeMemoryIssueLimit = sourced(2, "c908/port_map")
    executeMemoryCommitLimit = assumed(2, "as many as issue")
    executeInputBufferSize = assumed(4, "as fetch2InputBufferSize")
    executeMaxAccessesInMemory = assumed(4, "a few misses at a time")
    executeLSQStoreBufferSize = assumed(8, "a small core")
    executeBranchDelay = calibrated(5, "c908/branch_mispredict", "the stages before it add the rest")
    executeFuncUnits = C908FUPool()
    branchPred = C908BranchPredictor()


class L1ICache(Cache):
    size = sourced("32KiB", "c908/l1i_size_kb")
    assoc = assumed(4, "four ways")
    tag_latency = assumed(1, "a line every cycle keeps two instructions a cycle coming")
    data_latency = assumed(1, "as tag_latency")
    response_latency = assumed(1, "as tag_latency")
    mshrs = assumed(1, "one line fetch at a time")
    tgts_per_mshr = assumed(4, "enough for one core")
    is_read_only = assumed(True, "instruction side")


class L1DCache(Cache):
    size = sourced("32KiB", "c908/l1d_size_kb")
    assoc = assumed(4, "four ways")
    tag_latency = calibrated(1, "c908/lat_load_l1", "with the unit's two cycles, 3 to the use")
    data_latency = calibrated(1, "c908/lat_load_l1", "as tag_latency")
    response_latency = assumed(1, "as tag_latency")
    mshrs = assumed(4, "as executeMaxAccessesInMemory")
    tgts_per_mshr = assumed(8, "pieces of a vector that miss together")
    write_buffers = assumed(4, "a small core")


class L2Cache(Cache):
    size = sourced("256KiB", "c908/l2_size_kb")
    assoc = assumed(16, "sixteen ways")
    tag_latency = assumed(6, "half of the data's")
    data_latency = assumed(12, "no source; the u74's is 20")
    response_latency = assumed(1, "fills pass through")
    mshrs = assumed(8, "twice the first level's")
    tgts_per_mshr = assumed(8, "as the first level's")
    write_buffers = assumed(8, "as mshrs")


class L2Bus(L2XBar):
    width = assumed(16, "16 bytes a cycle between the levels")


def ours(cpu, datapath):
    """What a real gem5 cannot express: there, misaligned accesses are free but for crossing a line."""
    without_gem5_traits(cpu)
    cpu.misaligned.policy = sourced("hardware", "c908/unaligned")
    cpu.misaligned.line_cross_load = assumed(1, "a second access of the cache")
    cpu.misaligned.line_cross_store = assumed(1, "as line_cross_load")
    cpu.misaligned.split_slots = assumed(1, "a split access takes the memory pipeline twice")
    cpu.mmu.dtb.l2_size = assumed(512, "as cores of its class")
    cpu.mmu.dtb.l2_assoc = assumed(4, "four ways")
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    cpu.isa[0].dlen = datapath
    cpu.isa[0].clmul_latency = sourced(2, "c908/lat_clmul")
    cpu.isa[0].whole_vector_groups = sourced(True, "c908/vl_dispatch")
    cpu.isa[0].vector_chaining = sourced("beat", "c908/chaining")
    cpu.isa[0].vector_startup_cycles = calibrated(0, "c908/vector_units", "beats alone make up what it takes")
    cpu.isa[0].vector_memory_startup_cycles = calibrated(0, "x60/vec_load_cycles", "as vector_startup_cycles")
    cpu.isa[0].strided_element_cycles = sourced(1, "x60/vec_strided_cycles")
    cpu.isa[0].indexed_element_cycles = assumed(1, "as strided_element_cycles")


def in_order_board(cpu, clock, datapath, l2, latency, **options):
    """The board of this core and of those built from it."""
    cpu.mmu.itb.size = assumed(32, "as the data side's first level")
    cpu.mmu.dtb.size = assumed(32, "as cores of its class")
    extend(ours, cpu, datapath)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE), latency=latency, bandwidth=assumed("4GiB/s", "one core of a 32-bit LPDDR4")
    )
    return RiscvBoard(
        cpu=cpu,
        clock=clock,
        memory=memory,
        icache=L1ICache(),
        dcache=L1DCache(),
        l2=l2,
        l2bus=L2Bus(),
        misaligned=sourced(True, "c908/unaligned"),
        **options,
    )


@constructor(*IN_ORDER, *L2, *MEMORY, *RISCV)
def C908Board(**options):
    cpu = C908CPU(isa=[RiscvISA(enable_rvv=sourced(True, "c908/vlen"), vlen=sourced(128, "c908/vlen"))])
    datapath = sourced(64, "c908/dlen")
    return in_order_board(cpu, CLOCK, datapath, L2Cache(), assumed("120ns", "LPDDR of its time"), **options)


machine = machine_of(C908Board)
