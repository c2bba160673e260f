"""A generic small out-of-order core: two-wide, a window of 48, one load or store a cycle. Of no maker: every value is
assumed, from the middle of what such cores have (Cortex-A9 and SiFive P270 class). To see what out-of-order execution
alone does to a copy, set it beside `u74` or `minor`; for a definite core, write its own file (docs/machines.md).
"""

from m5 import objects
from m5.objects import (
    FP_ALU,
    Cache,
    DDR3_1600_8x8,
    FP_MultDiv,
    FUDesc,
    FUPool,
    IntALU,
    IntMultDiv,
    IprPort,
    MemCtrl,
    OpDesc,
    PredALU,
    RiscvO3CPU,
    SIMD_Unit,
    TaggedPrefetcher,
)

from machines.constructors import L2, OUT_OF_ORDER, RISCV, constructor, machine_of, without_gem5_traits
from machines.extensions import extend
from machines.provenance import assumed
from machines.riscv_board import RiscvBoard, board_range

NAME = "o3_small"
DESCRIPTION = "Generic small out-of-order core (values assumed): 1.5 GHz, 2-wide, 48-entry ROB, 32 KiB L1"
ISA = "riscv"

CLOCK = assumed("1500MHz", "an embedded core")
LOAD_TO_USE = {"L1": 3, "L2": 20}  # cycles; what `breakeven machines show o3_small` measures
MEMORY = assumed("512MB", "what the guests need")


class SmallIntALU(IntALU):
    count = assumed(2, "one a way")


class SmallMulDiv(IntMultDiv):
    count = assumed(1, "one multiplier")


class SmallMemory(FUDesc):
    count = assumed(1, "one load or store a cycle")
    opList = [OpDesc(opClass=name) for name in ("MemRead", "MemWrite", "FloatMemRead", "FloatMemWrite")]


class SmallFloatAdd(FP_ALU):
    count = assumed(1, "one")


class SmallFloatMul(FP_MultDiv):
    count = assumed(1, "one")


class SmallVector(SIMD_Unit):
    count = assumed(1, "one")


class SmallFUPool(FUPool):
    FUList = [
        SmallIntALU(),
        SmallMulDiv(),
        SmallMemory(),
        SmallFloatAdd(),
        SmallFloatMul(),
        SmallVector(),
        PredALU(),
        IprPort(),
    ]


class SmallCPU(RiscvO3CPU):
    fetchWidth = assumed(4, "twice the rest, so that a taken branch costs little")
    fetchQueueSize = assumed(8, "two fetches")
    decodeWidth = assumed(2, "two-wide")
    renameWidth = assumed(2, "two-wide")
    dispatchWidth = assumed(2, "two-wide")
    issueWidth = assumed(4, "one a unit that matters")
    wbWidth = assumed(4, "as issueWidth")
    commitWidth = assumed(2, "two-wide")
    squashWidth = assumed(4, "twice the commit's")
    numROBEntries = assumed(48, "a small window")
    numIQEntries = assumed(20, "under half of the window")
    numPhysIntRegs = assumed(64, "32 in flight")
    numPhysFloatRegs = assumed(64, "32 in flight")
    LQEntries = assumed(12, "a quarter of the window")
    SQEntries = assumed(10, "a fifth of the window")
    cacheLoadPorts = assumed(1, "one port")
    cacheStorePorts = assumed(1, "one port")
    fuPool = SmallFUPool()


class L1Cache(Cache):
    size = assumed("32KiB", "a small core")
    assoc = assumed(4, "four ways")
    tag_latency = assumed(2, "3 cycles load to use")
    data_latency = assumed(2, "as tag_latency")
    response_latency = assumed(1, "fills pass through")
    mshrs = assumed(4, "a few misses")
    tgts_per_mshr = assumed(8, "enough for one core")


class L2Cache(Cache):
    size = assumed("512KiB", "a small core")
    assoc = assumed(8, "eight ways")
    tag_latency = assumed(8, "half of the data's")
    data_latency = assumed(14, "a small second level")
    response_latency = assumed(1, "fills pass through")
    mshrs = assumed(8, "twice the first level's")
    tgts_per_mshr = assumed(8, "enough for one core")
    prefetcher = TaggedPrefetcher(degree=assumed(2, "the next two lines"))


def ours(cpu):
    """What a real gem5 cannot express."""
    without_gem5_traits(cpu)
    cpu.branchPred = objects.GshareBP(
        globalPredictorSize=assumed(4096, "1 KiB of counters"),
        historyBits=assumed(12, "a bit for each of the table's index"),
    )
    cpu.misaligned.policy = assumed("hardware", "as such cores do")
    cpu.misaligned.line_cross_load = assumed(2, "a second access")
    cpu.misaligned.line_cross_store = assumed(2, "a second access")
    cpu.misaligned.page_cross_load = assumed(10, "two translations")
    cpu.misaligned.page_cross_store = assumed(10, "two translations")


@constructor(*OUT_OF_ORDER, *L2, *RISCV, "prefetchers")
def O3SmallBoard(**options):
    cpu = SmallCPU()
    extend(ours, cpu)
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=MemCtrl(dram=DDR3_1600_8x8(range=board_range(MEMORY))),
        icache=L1Cache(),
        dcache=L1Cache(),
        l2=L2Cache(),
        **options,
    )


machine = machine_of(O3SmallBoard)
