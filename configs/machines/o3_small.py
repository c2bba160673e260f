"""A generic small out-of-order core: two-wide, a window of 48, one load or store a cycle. Of no maker: every value is
assumed, from the middle of what such cores have (Cortex-A9 and SiFive P270 class). To see what out-of-order execution
alone does to a copy, set it beside `u74` or `minor`; for a definite core, write its own file (docs/machines.md).
"""

from m5 import objects

from machines.constructors import L2, OUT_OF_ORDER, RISCV, constructor, machine_of
from machines.families import riscv
from machines.families.outoforder import pool, unit
from machines.provenance import assumed

NAME = "o3_small"
DESCRIPTION = "Generic small out-of-order core (values assumed): 1.5 GHz, 2-wide, 48-entry ROB, 32 KiB L1"
ISA = "riscv"

CLOCK = assumed("1500MHz", "an embedded core")
LOAD_TO_USE = {"L1": 3, "L2": 20}  # cycles; what `breakeven machines show o3_small` measures

MEMORY = {"MemRead": 1, "MemWrite": 1, "FloatMemRead": 1, "FloatMemWrite": 1}


class SmallCPU(objects.RiscvO3CPU):
    fetchWidth = assumed(4, "twice the rest, so that a taken branch costs little")
    fetchQueueSize = assumed(8, "two fetches")
    decodeWidth = renameWidth = dispatchWidth = commitWidth = assumed(2, "two-wide")
    issueWidth = wbWidth = assumed(4, "one a unit that matters")
    squashWidth = assumed(4, "twice the commit's")
    numROBEntries = assumed(48, "a small window")
    numIQEntries = assumed(20, "under half of the window")
    numPhysIntRegs = numPhysFloatRegs = assumed(64, "32 in flight")
    LQEntries = assumed(12, "a quarter of the window")
    SQEntries = assumed(10, "a fifth of the window")
    cacheLoadPorts = cacheStorePorts = assumed(1, "one port")
    fuPool = pool(
        unit("SmallIntALU", assumed(2, "one a way"), base=objects.IntALU),
        unit("SmallMulDiv", assumed(1, "one multiplier"), base=objects.IntMultDiv),
        unit("SmallMemory", assumed(1, "one load or store a cycle"), MEMORY),
        unit("SmallFloatAdd", assumed(1, "one"), base=objects.FP_ALU),
        unit("SmallFloatMul", assumed(1, "one"), base=objects.FP_MultDiv),
        unit("SmallVector", assumed(1, "one"), base=objects.SIMD_Unit),
    )


class L1Cache(riscv.SiliconCache):
    size = assumed("32KiB", "a small core")
    assoc = assumed(4, "four ways")
    tag_latency = data_latency = assumed(2, "3 cycles load to use")
    mshrs = assumed(4, "a few misses")
    tgts_per_mshr = assumed(8, "enough for one core")


class L2Cache(riscv.SiliconCache):
    size = assumed("512KiB", "a small core")
    assoc = assumed(8, "eight ways")
    tag_latency = assumed(8, "half of the data's")
    data_latency = assumed(14, "a small second level")
    mshrs = assumed(8, "twice the first level's")
    tgts_per_mshr = assumed(8, "enough for one core")
    prefetcher = objects.TaggedPrefetcher(degree=assumed(2, "the next two lines"))


def ours(board):
    """What a real gem5 cannot express."""
    cpu = board.cpu
    cpu.branchPred = objects.GshareBP(
        globalPredictorSize=assumed(4096, "1 KiB of counters"),
        historyBits=assumed(12, "a bit for each of the table's index"),
    )
    cpu.misaligned.policy = assumed("hardware", "as such cores do")
    riscv.put(cpu.misaligned, assumed({"line_cross_load": 2, "line_cross_store": 2}, "a second access"))
    riscv.put(cpu.misaligned, assumed({"page_cross_load": 10, "page_cross_store": 10}, "two translations"))


@constructor(*OUT_OF_ORDER, *L2, *RISCV, "prefetchers")
def O3SmallBoard(**options):
    memory = riscv.dram(objects.DDR3_1600_8x8)
    memory = memory
    caches = (L1Cache(), L1Cache(), L2Cache())
    return riscv.silicon_board(SmallCPU(), CLOCK, ours, memory, caches, **options)


machine = machine_of(O3SmallBoard)
