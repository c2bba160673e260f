"""A generic large out-of-order core: eight-wide, a window of 512, three loads and two stores a cycle, TAGE, prefetchers
at every level. Of no maker: every value is assumed, from the middle of what such cores have (server and phone cores
of the early 2020s). It answers whether a conclusion holds where nearly everything is hidden; for a definite core, write
its own file (docs/machines.md).
"""

from m5 import objects
from m5.objects import (
    FP_ALU,
    LTAGE,
    Cache,
    DDR4_2400_8x8,
    FP_MultDiv,
    FUDesc,
    FUPool,
    IntALU,
    IntMultDiv,
    IprPort,
    L2XBar,
    MemCtrl,
    OpDesc,
    PredALU,
    ReturnAddrStack,
    RiscvO3CPU,
    SIMD_Unit,
    SimpleBTB,
    StridePrefetcher,
)

from machines.constructors import L2, OUT_OF_ORDER, RISCV, constructor, machine_of, without_gem5_traits
from machines.extensions import extend, several
from machines.provenance import assumed
from machines.riscv_board import RiscvBoard, board_range

NAME = "o3_large"
DESCRIPTION = "Generic large out-of-order core (values assumed): 3.5 GHz, 8-wide, 512-entry ROB, L-TAGE"
ISA = "riscv"

CLOCK = assumed("3500MHz", "a server core")
LOAD_TO_USE = {"L1": 4, "L2": 19}  # cycles; what `breakeven machines show o3_large` measures
MEMORY = assumed("512MB", "what the guests need")


class LargeIntALU(IntALU):
    count = assumed(5, "five")


class LargeMulDiv(IntMultDiv):
    count = assumed(2, "two")


class LargeLoad(FUDesc):
    count = assumed(3, "three loads a cycle")
    opList = [OpDesc(opClass=name) for name in ("MemRead", "FloatMemRead")]


class LargeStore(FUDesc):
    count = assumed(2, "two stores a cycle")
    opList = [OpDesc(opClass=name) for name in ("MemWrite", "FloatMemWrite")]


class LargeFUPool(FUPool):
    FUList = [
        LargeIntALU(),
        LargeMulDiv(),
        LargeLoad(),
        LargeStore(),
        FP_ALU(),
        FP_MultDiv(),
        SIMD_Unit(),
        PredALU(),
        IprPort(),
    ]


class LargeBranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=assumed(8192, "as large cores have"))
    ras = ReturnAddrStack(numEntries=assumed(32, "as large cores have"))


class LargeCPU(RiscvO3CPU):
    fetchQueueSize = assumed(64, "eight fetches")
    issueWidth = assumed(12, "one a unit that matters")
    wbWidth = assumed(12, "as issueWidth")
    squashWidth = assumed(16, "twice the commit's")
    numROBEntries = assumed(512, "a large window")
    numIQEntries = assumed(192, "over a third of the window")
    numPhysIntRegs = assumed(320, "for the window")
    numPhysFloatRegs = assumed(320, "for the window")
    LQEntries = assumed(192, "over a third of the window")
    SQEntries = assumed(96, "under a fifth of the window")
    cacheLoadPorts = assumed(3, "as the load units")
    cacheStorePorts = assumed(2, "as the store units")
    fuPool = LargeFUPool()
    branchPred = LargeBranchPredictor()


class L1Cache(Cache):
    size = assumed("64KiB", "a large core")
    assoc = assumed(8, "eight ways")
    tag_latency = assumed(3, "4 cycles load to use")
    data_latency = assumed(3, "as tag_latency")
    response_latency = assumed(1, "fills pass through")
    mshrs = assumed(16, "as large cores have")
    tgts_per_mshr = assumed(16, "enough for one core")
    write_buffers = assumed(16, "as mshrs")


class L1DCache(L1Cache):
    prefetcher = StridePrefetcher(degree=assumed(4, "gem5's"))


class L2Cache(Cache):
    size = assumed("2MiB", "a large core")
    assoc = assumed(16, "sixteen ways")
    tag_latency = assumed(5, "under half of the data's")
    data_latency = assumed(12, "with the way to it, 20 cycles load to use")
    response_latency = assumed(1, "fills pass through")
    mshrs = assumed(48, "as large cores have")
    tgts_per_mshr = assumed(16, "enough for one core")
    write_buffers = assumed(32, "as large cores have")


class L2Bus(L2XBar):
    width = assumed(64, "a line a cycle between the levels")


def ours(cpu, l2):
    """What a real gem5 cannot express."""
    without_gem5_traits(cpu)
    l2.prefetcher = several(objects.StreamPrefetcher(), objects.AdjacentLinePrefetcher())
    cpu.misaligned.policy = assumed("hardware", "as such cores do")
    cpu.misaligned.line_cross_load = assumed(1, "a second access")
    cpu.misaligned.line_cross_store = assumed(1, "a second access")
    cpu.misaligned.page_cross_load = assumed(4, "two translations")
    cpu.misaligned.page_cross_store = assumed(4, "two translations")
    cpu.mmu.dtb.l2_size = assumed(2048, "as large cores have")
    cpu.mmu.dtb.l2_assoc = assumed(8, "eight ways")
    cpu.mmu.dtb.l2_latency = assumed(6, "a look-up of a large array")


@constructor(*OUT_OF_ORDER, *L2, *RISCV, "prefetchers")
def O3LargeBoard(**options):
    cpu, l2 = LargeCPU(), L2Cache()
    extend(ours, cpu, l2)
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=MemCtrl(dram=DDR4_2400_8x8(range=board_range(MEMORY))),
        icache=L1Cache(),
        dcache=L1DCache(),
        l2=l2,
        l2bus=L2Bus(),
        **options,
    )


machine = machine_of(O3LargeBoard)
