"""T-Head XuanTie C910 as in the TH1520 (LicheePi 4A): three-wide, out-of-order, misaligned accesses in hardware.

Of this core the widths, the ROB and the registers are published; the rows of most latencies are themselves the best
known value without a source. The rates measured by the 2021 study's author (rows calib_*) are checks. Not modelled:
that eight scheduler queues serve the units (here one of their joint size), that the branch unit does branches only (it
is the third of the integer units here), and the loop buffer.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5 import objects
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
    SIMD_Unit,
    SimpleBTB,
    SimpleIndirectPredictor,
    SimpleMemory,
    StridePrefetcher,
)

from machines.constructors import (
    L2,
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

NAME = "c910"
DESCRIPTION = "T-Head C910 (TH1520, 1.85 GHz): 3-wide out-of-order, 64 KiB L1, 1 MiB L2, misaligned in hardware"
ISA = "riscv"

CLOCK = sourced("1850MHz", "c910/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 60}  # cycles; what `breakeven machines show c910` measures
MEMORY_SIZE = assumed("512MiB", "what the guests need; the board has 8 GiB")


class C910IntALU(IntALU):
    count = calibrated(3, "c910/port_map", "two ALUs and the branch unit, which gem5's classes do not tell apart")


class C910MulDiv(FUDesc):
    count = assumed(1, "one multiplier")
    opList = [
        OpDesc(opClass="IntMult", opLat=assumed(4, "four stages")),
        OpDesc(opClass="IntDiv", opLat=assumed(20, "a radix-4 divider"), pipelined=assumed(False, "a radix-4 divider")),
    ]


class C910Load(FUDesc):
    count = sourced(1, "c910/port_map")
    opList = [OpDesc(opClass="MemRead"), OpDesc(opClass="FloatMemRead")]


class C910Store(FUDesc):
    count = sourced(1, "c910/port_map")
    opList = [OpDesc(opClass="MemWrite"), OpDesc(opClass="FloatMemWrite")]


class C910FloatAdd(FP_ALU):
    count = sourced(2, "c910/port_map")


class C910FloatMul(FP_MultDiv):
    count = sourced(2, "c910/port_map")


class C910Vector(SIMD_Unit):
    count = sourced(2, "c910/port_map")


class C910FUPool(FUPool):
    FUList = [
        C910IntALU(),
        C910MulDiv(),
        C910FloatAdd(),
        C910FloatMul(),
        C910Load(),
        C910Store(),
        C910Vector(),
        PredALU(),
        IprPort(),
    ]


class C910BranchPredictor(BiModeBP):
    btb = SimpleBTB(numEntries=sourced(1024, "c910/btb"))
    ras = ReturnAddrStack(numEntries=sourced(12, "c910/btb"))
    indirectBranchPred = SimpleIndirectPredictor(indirectSets=assumed(64, "a small table"))
    globalPredictorSize = assumed(16384, "the size of its published core's history table")
    choicePredictorSize = assumed(16384, "as globalPredictorSize")


class C910CPU(RiscvO3CPU):
    fetchWidth = calibrated(4, "c910/fetch_bytes_per_cycle", "16 bytes are four instructions")
    fetchQueueSize = assumed(16, "an instruction buffer of a few fetches")
    decodeWidth = sourced(3, "c910/decode_width")
    renameWidth = sourced(3, "c910/decode_width")
    dispatchWidth = sourced(3, "c910/decode_width")
    issueWidth = sourced(8, "c910/issue_width")
    wbWidth = sourced(8, "c910/issue_width")
    commitWidth = sourced(4, "c910/retire_width")
    squashWidth = assumed(8, "gem5's default")
    numROBEntries = sourced(192, "c910/rob_size")
    numIQEntries = sourced(80, "c910/scheduler_size")
    numPhysIntRegs = sourced(96, "c910/int_prf")
    numPhysFloatRegs = sourced(64, "c910/vec_prf")
    LQEntries = sourced(16, "c910/load_queue")
    SQEntries = sourced(12, "c910/store_queue")
    cacheLoadPorts = sourced(1, "c910/port_map")
    cacheStorePorts = sourced(1, "c910/port_map")
    fuPool = C910FUPool()
    branchPred = C910BranchPredictor()


class L1Cache(Cache):
    assoc = assumed(2, "two ways")
    response_latency = assumed(1, "fills pass through")
    tgts_per_mshr = assumed(16, "enough for one core")


class L1ICache(L1Cache):
    size = sourced("64KiB", "c910/l1i_size_kb")
    tag_latency = assumed(1, "fetch is pipelined on the hardware")
    data_latency = assumed(1, "as tag_latency")
    mshrs = assumed(2, "a line and the next one")
    is_read_only = assumed(True, "instruction side")


class L1DCache(L1Cache):
    size = sourced("64KiB", "c910/l1d_size_kb")
    tag_latency = calibrated(2, "c910/l1d_latency", "with the core's own cycle, 3 to the use")
    data_latency = calibrated(2, "c910/l1d_latency", "as tag_latency")
    mshrs = sourced(8, "c910/mshr_l1d")
    write_buffers = assumed(8, "as mshrs")
    prefetcher = StridePrefetcher(degree=sourced(16, "c910/prefetchers"))


class L2Cache(Cache):
    size = sourced("1024KiB", "c910/l2_size_kb")
    assoc = assumed(16, "sixteen ways")
    tag_latency = assumed(25, "half of the data's")
    data_latency = calibrated(54, "c910/l2_latency", "the first level and the bus add the rest")
    response_latency = assumed(1, "fills pass through")
    mshrs = assumed(16, "twice the first level's")
    tgts_per_mshr = assumed(8, "enough for one core")
    write_buffers = assumed(16, "as mshrs")


class L2Bus(L2XBar):
    width = assumed(16, "16 bytes a cycle between the levels")


def ours(cpu, l2):
    """What a real gem5 cannot express: there, misaligned accesses are free but for crossing a line."""
    without_gem5_traits(cpu)
    cpu.misaligned.policy = sourced("hardware", "c910/unaligned_within_line")
    cpu.misaligned.line_cross_load = calibrated(
        2, "c910/calib_hw_misaligned_copy", "within 1 to 2, c910/split_load_cost"
    )
    cpu.misaligned.line_cross_store = sourced(1, "c910/split_store_cost")
    cpu.misaligned.page_cross_load = sourced(10, "c910/page_cross_load")
    cpu.misaligned.page_cross_store = sourced(10, "c910/page_cross_store")
    cpu.mmu.dtb.l2_size = sourced(1024, "c910/stlb_entries")
    cpu.mmu.dtb.l2_assoc = assumed(4, "four ways")
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    cpu.isa[0].enable_Zba = assumed(False, "the C910 has T-Head's own extensions instead")
    cpu.isa[0].enable_Zbb = assumed(False, "as enable_Zba")
    cpu.isa[0].enable_Zbc = assumed(False, "as enable_Zba")
    cpu.isa[0].enable_Zbs = assumed(False, "as enable_Zba")
    cpu.isa[0].enable_Zicond = assumed(False, "younger than the core")
    l2.prefetcher = objects.StreamPrefetcher()


@constructor(*OUT_OF_ORDER, *L2, *MEMORY, *RISCV, "prefetchers")
def C910Board(**options):
    cpu = C910CPU(isa=[RiscvISA(enable_rvv=assumed(False, "its vectors are of draft 0.7.1, not RVV 1.0"))])
    cpu.mmu.itb.size = assumed(32, "the instruction side's first level")
    cpu.mmu.dtb.size = sourced(17, "c910/dtlb_entries")
    l2 = L2Cache()
    extend(ours, cpu, l2)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("116ns", "c910/dram_latency_ns", "the caches and buses on the way add the rest"),
        bandwidth=sourced("4GiB/s", "c910/dram_bw_single_core_gbps"),
    )
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=L1DCache(),
        l2=l2,
        l2bus=L2Bus(),
        misaligned=sourced(True, "c910/unaligned_within_line"),
        **options,
    )


machine = machine_of(C910Board)
