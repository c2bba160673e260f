"""A generic small out-of-order core: two-wide, a window of 48, one load or store a cycle. Of no maker: every value is
assumed, from the middle of what such cores have (Cortex-A9 and SiFive P270 class). To see what out-of-order execution
alone does to a copy, set it beside `u74` or `minor`; for a definite core, write its own file (docs/machines.md).
"""

from constructors import L2, OUT_OF_ORDER, RISCV, constructor, has_extensions, machine_of
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
from riscv_board import RiscvBoard, board_range

NAME = "o3_small"
DESCRIPTION = "Generic small out-of-order core (values assumed): 1.5 GHz, 2-wide, 48-entry ROB, 32 KiB L1"
ISA = "riscv"

CLOCK = "1500MHz"  # assumed: an embedded core
LOAD_TO_USE = {"L1": 3, "L2": 20}  # cycles; what `breakeven machines show o3_small` measures
MEMORY = "512MB"  # assumed: what the guests need


class SmallIntALU(IntALU):
    count = 2  # assumed: one a way


class SmallMulDiv(IntMultDiv):
    count = 1  # assumed: one multiplier


class SmallMemory(FUDesc):
    count = 1  # assumed: one load or store a cycle
    opList = [OpDesc(opClass=name) for name in ("MemRead", "MemWrite", "FloatMemRead", "FloatMemWrite")]


class SmallFloatAdd(FP_ALU):
    count = 1  # assumed: one


class SmallFloatMul(FP_MultDiv):
    count = 1  # assumed: one


class SmallVector(SIMD_Unit):
    count = 1  # assumed: one


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
    fetchWidth = 4  # assumed: twice the rest, so that a taken branch costs little
    fetchQueueSize = 8  # assumed: two fetches
    decodeWidth = 2  # assumed: two-wide
    renameWidth = 2  # assumed: two-wide
    dispatchWidth = 2  # assumed: two-wide
    issueWidth = 4  # assumed: one a unit that matters
    wbWidth = 4  # assumed: as issueWidth
    commitWidth = 2  # assumed: two-wide
    squashWidth = 4  # assumed: twice the commit's
    numROBEntries = 48  # assumed: a small window
    numIQEntries = 20  # assumed: under half of the window
    numPhysIntRegs = 64  # assumed: 32 in flight
    numPhysFloatRegs = 64  # assumed: 32 in flight
    LQEntries = 12  # assumed: a quarter of the window
    SQEntries = 10  # assumed: a fifth of the window
    cacheLoadPorts = 1  # assumed: one port
    cacheStorePorts = 1  # assumed: one port
    fuPool = SmallFUPool()


class L1Cache(Cache):
    size = "32KiB"  # assumed: a small core
    assoc = 4  # assumed: four ways
    tag_latency = 2  # assumed: 3 cycles load to use
    data_latency = 2  # assumed: as tag_latency
    response_latency = 1  # assumed: fills pass through
    mshrs = 4  # assumed: a few misses
    tgts_per_mshr = 8  # assumed: enough for one core


class L2Cache(Cache):
    size = "512KiB"  # assumed: a small core
    assoc = 8  # assumed: eight ways
    tag_latency = 8  # assumed: half of the data's
    data_latency = 14  # assumed: a small second level
    response_latency = 1  # assumed: fills pass through
    mshrs = 8  # assumed: twice the first level's
    tgts_per_mshr = 8  # assumed: enough for one core
    prefetcher = TaggedPrefetcher(degree=2)  # assumed: the next two lines


def ours(cpu):
    """What a real gem5 cannot express."""
    cpu.serialResponses = False  # assumed: a bus a port; one answer an instant is gem5's
    cpu.branchPred = objects.GshareBP(
        globalPredictorSize=4096,  # assumed: 1 KiB of counters
        historyBits=12,  # assumed: a bit for each of the table's index
    )
    cpu.misaligned.policy = "hardware"  # assumed: as such cores do
    cpu.misaligned.line_cross_load = 2  # assumed: a second access
    cpu.misaligned.line_cross_store = 2  # assumed: a second access
    cpu.misaligned.page_cross_load = 10  # assumed: two translations
    cpu.misaligned.page_cross_store = 10  # assumed: two translations


@constructor(*OUT_OF_ORDER, *L2, *RISCV, "prefetchers")
def O3SmallBoard(**options):
    cpu = SmallCPU()
    if has_extensions():
        ours(cpu)
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
