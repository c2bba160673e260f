"""SiFive P550 as in the ESWIN EIC7700X (HiFive Premier P550, Milk-V Megrez): three-wide, out-of-order, no vectors.

Every misaligned access traps and firmware does it. Units and widths are those of LLVM's scheduler, levels those
measured on the board. Not modelled: that the three integer units differ, prefetchers,
and the queues of each unit (here one).

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import (
    FP_ALU,
    BiModeBP,
    Cache,
    FP_MultDiv,
    FUDesc,
    FUPool,
    IntALU,
    IprPort,
    L2XBar,
    OpDesc,
    PredALU,
    ReturnAddrStack,
    RiscvISA,
    RiscvO3CPU,
    SimpleBTB,
    SimpleIndirectPredictor,
    SimpleMemory,
)

from machines.constructors import (
    L3,
    MEMORY,
    OUT_OF_ORDER,
    RISCV,
    constructor,
    machine_of,
    without_gem5_traits,
)
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.riscv_board import RiscvBoard, board_range

NAME = "p550"
DESCRIPTION = "SiFive P550 (EIC7700X, 1.4 GHz): 3-wide out-of-order, 32 KiB L1, 256 KiB L2, 4 MiB L3, misaligned traps"
ISA = "riscv"

CLOCK = sourced("1400MHz", "p550/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 13, "L3": 36}  # cycles; what `breakeven machines show p550` measures
MEMORY_SIZE = assumed("512MiB", "what the guests need; the board has 16 GiB")


class P550IntALU(IntALU):
    count = sourced(3, "p550/port_map")


class P550MulDiv(FUDesc):
    count = calibrated(1, "p550/port_map", "one of the integer units")
    opList = [
        OpDesc(opClass="IntMult", opLat=sourced(3, "p550/lat_mul")),
        OpDesc(opClass="IntDiv", opLat=sourced(35, "p550/lat_div"), pipelined=assumed(False, "one divider")),
    ]


class P550Load(FUDesc):
    count = sourced(1, "p550/port_map")
    opList = [OpDesc(opClass="MemRead"), OpDesc(opClass="FloatMemRead")]


class P550Store(FUDesc):
    count = sourced(1, "p550/port_map")
    opList = [OpDesc(opClass="MemWrite"), OpDesc(opClass="FloatMemWrite")]


class P550FloatAdd(FP_ALU):
    count = sourced(2, "p550/port_map")


class P550FloatMul(FP_MultDiv):
    count = sourced(2, "p550/port_map")


class P550FUPool(FUPool):
    FUList = [
        P550IntALU(),
        P550MulDiv(),
        P550FloatAdd(),
        P550FloatMul(),
        P550Load(),
        P550Store(),
        PredALU(),
        IprPort(),
    ]


class P550BranchPredictor(BiModeBP):
    btb = SimpleBTB(numEntries=sourced(32, "p550/btb"))
    ras = ReturnAddrStack(numEntries=assumed(16, "a core of its size"))
    indirectBranchPred = SimpleIndirectPredictor(indirectSets=assumed(64, "a small table"))
    globalPredictorSize = calibrated(32768, "p550/branch_history", "8 of its 9.1 KiB in two tables of 2 bits")
    choicePredictorSize = assumed(4096, "what is left of its 9.1 KiB")


class P550CPU(RiscvO3CPU):
    fetchWidth = assumed(4, "16 bytes")
    fetchQueueSize = assumed(16, "an instruction buffer of a few fetches")
    decodeWidth = sourced(3, "p550/decode_width")
    renameWidth = sourced(3, "p550/decode_width")
    dispatchWidth = sourced(3, "p550/decode_width")
    issueWidth = calibrated(7, "p550/port_map", "one a unit")
    wbWidth = calibrated(7, "p550/port_map", "one a unit")
    commitWidth = assumed(3, "as many as rename")
    squashWidth = assumed(8, "gem5's default")
    numROBEntries = sourced(96, "p550/rob_size")
    numIQEntries = assumed(64, "its queues together")
    numPhysIntRegs = assumed(128, "no limit before the ROB")
    numPhysFloatRegs = assumed(96, "as numPhysIntRegs")
    LQEntries = assumed(24, "a quarter of the ROB")
    SQEntries = assumed(16, "a sixth of the ROB")
    cacheLoadPorts = sourced(1, "p550/port_map")
    cacheStorePorts = sourced(1, "p550/port_map")
    fuPool = P550FUPool()
    branchPred = P550BranchPredictor()


class L1Cache(Cache):
    assoc = assumed(4, "four ways")
    response_latency = assumed(1, "fills pass through")
    tgts_per_mshr = assumed(16, "enough for one core")


class L1ICache(L1Cache):
    size = sourced("32KiB", "p550/l1i_size_kb")
    tag_latency = assumed(1, "fetch is pipelined on the hardware")
    data_latency = assumed(1, "as tag_latency")
    mshrs = assumed(2, "a line and the next one")
    is_read_only = assumed(True, "instruction side")


class L1DCache(L1Cache):
    size = sourced("32KiB", "p550/l1d_size_kb")
    tag_latency = calibrated(2, "p550/l1d_latency", "with the core's own cycle, 3 to the use")
    data_latency = calibrated(2, "p550/l1d_latency", "as tag_latency")
    mshrs = assumed(8, "a core of its size")
    write_buffers = assumed(8, "as mshrs")


class L2Cache(Cache):
    size = sourced("256KiB", "p550/l2_size_kb")
    assoc = assumed(8, "eight ways")
    tag_latency = assumed(3, "half of the data's")
    data_latency = calibrated(7, "p550/l2_latency", "the first level and the bus add the rest")
    response_latency = assumed(1, "fills pass through")
    mshrs = assumed(16, "twice the first level's")
    tgts_per_mshr = assumed(8, "enough for one core")
    write_buffers = assumed(16, "as mshrs")


class L3Cache(Cache):
    size = sourced("4MiB", "p550/l3_size_kb")
    assoc = assumed(16, "sixteen ways")
    tag_latency = assumed(10, "half of the data's")
    data_latency = calibrated(24, "p550/l3_latency", "the levels before it add the rest")
    response_latency = assumed(1, "fills pass through")
    mshrs = assumed(32, "twice the second level's")
    tgts_per_mshr = assumed(8, "enough for one core")
    write_buffers = assumed(32, "as mshrs")


class Bus(L2XBar):
    width = assumed(16, "16 bytes a cycle between the levels")


def ours(cpu):
    """What a real gem5 cannot express; there, the board's empty PMA range makes misaligned accesses trap."""
    without_gem5_traits(cpu)
    cpu.misaligned.policy = sourced("trap", "p550/unaligned")
    cpu.isa[0].enable_Zbc = assumed(False, "not among what its profile demands")
    cpu.isa[0].enable_Zicond = assumed(False, "younger than the core")
    cpu.mmu.dtb.l2_size = assumed(512, "as the U74")
    cpu.mmu.dtb.l2_assoc = assumed(4, "as the U74")
    cpu.mmu.dtb.l2_latency = assumed(9, "a look-up of a larger array")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *RISCV)
def P550Board(**options):
    cpu = P550CPU(isa=[RiscvISA(enable_rvv=sourced(False, "p550/vlen"))])
    cpu.mmu.itb.size = sourced(32, "p550/dtlb_entries")
    cpu.mmu.dtb.size = sourced(32, "p550/dtlb_entries")
    extend(ours, cpu)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("166ns", "p550/dram_latency_ns", "the caches and buses on the way add the rest"),
        bandwidth=assumed("8GiB/s", "one core of an LPDDR5"),
    )
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=L1DCache(),
        l2=L2Cache(),
        l2bus=Bus(),
        l3=L3Cache(),
        l3bus=Bus(),
        misaligned=sourced(False, "p550/unaligned"),
        **options,
    )


machine = machine_of(P550Board)
