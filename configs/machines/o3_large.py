"""A generic large out-of-order core: eight-wide, a window of 512, three loads and two stores a cycle, TAGE, prefetchers
at every level. Of no maker: every value is assumed, from the middle of what such cores have (server and phone cores
of the early 2020s). It answers whether a conclusion holds where nearly everything is hidden; for a definite core, write
its own file (docs/machines.md).
"""

from constructors import L2, OUT_OF_ORDER, RISCV, constructor, has_extensions, machine_of
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
from riscv_board import RiscvBoard, board_range

NAME = "o3_large"
DESCRIPTION = "Generic large out-of-order core (values assumed): 3.5 GHz, 8-wide, 512-entry ROB, L-TAGE"
ISA = "riscv"

CLOCK = "3500MHz"  # assumed: a server core
LOAD_TO_USE = {"L1": 4, "L2": 19}  # cycles; what `breakeven machines show o3_large` measures
MEMORY = "512MB"  # assumed: what the guests need


class LargeIntALU(IntALU):
    count = 5  # assumed: five


class LargeMulDiv(IntMultDiv):
    count = 2  # assumed: two


class LargeLoad(FUDesc):
    count = 3  # assumed: three loads a cycle
    opList = [OpDesc(opClass=name) for name in ("MemRead", "FloatMemRead")]


class LargeStore(FUDesc):
    count = 2  # assumed: two stores a cycle
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
    btb = SimpleBTB(numEntries=8192)  # assumed: as large cores have
    ras = ReturnAddrStack(numEntries=32)  # assumed: as large cores have


class LargeCPU(RiscvO3CPU):
    fetchQueueSize = 64  # assumed: eight fetches
    issueWidth = 12  # assumed: one a unit that matters
    wbWidth = 12  # assumed: as issueWidth
    squashWidth = 16  # assumed: twice the commit's
    numROBEntries = 512  # assumed: a large window
    numIQEntries = 192  # assumed: over a third of the window
    numPhysIntRegs = 320  # assumed: for the window
    numPhysFloatRegs = 320  # assumed: for the window
    LQEntries = 192  # assumed: over a third of the window
    SQEntries = 96  # assumed: under a fifth of the window
    cacheLoadPorts = 3  # assumed: as the load units
    cacheStorePorts = 2  # assumed: as the store units
    fuPool = LargeFUPool()
    branchPred = LargeBranchPredictor()


class L1Cache(Cache):
    size = "64KiB"  # assumed: a large core
    assoc = 8  # assumed: eight ways
    tag_latency = 3  # assumed: 4 cycles load to use
    data_latency = 3  # assumed: as tag_latency
    response_latency = 1  # assumed: fills pass through
    mshrs = 16  # assumed: as large cores have
    tgts_per_mshr = 16  # assumed: enough for one core
    write_buffers = 16  # assumed: as mshrs


class L1DCache(L1Cache):
    prefetcher = StridePrefetcher(degree=4)  # assumed: gem5's


class L2Cache(Cache):
    size = "2MiB"  # assumed: a large core
    assoc = 16  # assumed: sixteen ways
    tag_latency = 5  # assumed: under half of the data's
    data_latency = 12  # assumed: with the way to it, 20 cycles load to use
    response_latency = 1  # assumed: fills pass through
    mshrs = 48  # assumed: as large cores have
    tgts_per_mshr = 16  # assumed: enough for one core
    write_buffers = 32  # assumed: as large cores have


class L2Bus(L2XBar):
    width = 64  # assumed: a line a cycle between the levels


def ours(cpu, l2):
    """What a real gem5 cannot express."""
    cpu.serialResponses = False  # assumed: a bus a port; one answer an instant is gem5's
    l2.prefetcher = objects.MultiPrefetcher(prefetchers=[objects.StreamPrefetcher(), objects.AdjacentLinePrefetcher()])
    cpu.misaligned.policy = "hardware"  # assumed: as such cores do
    cpu.misaligned.line_cross_load = 1  # assumed: a second access
    cpu.misaligned.line_cross_store = 1  # assumed: a second access
    cpu.misaligned.page_cross_load = 4  # assumed: two translations
    cpu.misaligned.page_cross_store = 4  # assumed: two translations
    cpu.mmu.dtb.l2_size = 2048  # assumed: as large cores have
    cpu.mmu.dtb.l2_assoc = 8  # assumed: eight ways
    cpu.mmu.dtb.l2_latency = 6  # assumed: a look-up of a large array


@constructor(*OUT_OF_ORDER, *L2, *RISCV, "prefetchers")
def O3LargeBoard(**options):
    cpu, l2 = LargeCPU(), L2Cache()
    if has_extensions():
        ours(cpu, l2)
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
