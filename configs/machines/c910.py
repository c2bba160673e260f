"""T-Head XuanTie C910 as in the TH1520 (LicheePi 4A): three-wide, out-of-order, misaligned accesses in hardware.

Of this core the widths, the ROB and the registers are published; the rows of most latencies are themselves the best
known value without a source. The rates measured by the 2021 study's author (rows calib_*) are checks. Not modelled:
that eight scheduler queues serve the units (here one of their joint size), that the branch unit does branches only (it
is the third of the integer units here), and the loop buffer.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from constructors import L2, MEMORY, OUT_OF_ORDER, RISCV, constructor, has_extensions, machine_of
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
from riscv_board import RiscvBoard, board_range

NAME = "c910"
DESCRIPTION = "T-Head C910 (TH1520, 1.85 GHz): 3-wide out-of-order, 64 KiB L1, 1 MiB L2, misaligned in hardware"
ISA = "riscv"

CLOCK = "1850MHz"  # uarch: c910/clock_mhz
LOAD_TO_USE = {"L1": 3, "L2": 60}  # cycles; what `breakeven machines show c910` measures
MEMORY_SIZE = "512MiB"  # assumed: what the guests need; the board has 8 GiB


class C910IntALU(IntALU):
    count = 3  # uarch: c910/port_map, calibrated: two ALUs and the branch unit, which gem5's classes do not tell apart


class C910MulDiv(FUDesc):
    count = 1  # assumed: one multiplier
    opList = [
        OpDesc(opClass="IntMult", opLat=4),  # assumed: four stages
        OpDesc(opClass="IntDiv", opLat=20, pipelined=False),  # assumed: a radix-4 divider
    ]


class C910Load(FUDesc):
    count = 1  # uarch: c910/port_map
    opList = [OpDesc(opClass="MemRead"), OpDesc(opClass="FloatMemRead")]


class C910Store(FUDesc):
    count = 1  # uarch: c910/port_map
    opList = [OpDesc(opClass="MemWrite"), OpDesc(opClass="FloatMemWrite")]


class C910FloatAdd(FP_ALU):
    count = 2  # uarch: c910/port_map


class C910FloatMul(FP_MultDiv):
    count = 2  # uarch: c910/port_map


class C910Vector(SIMD_Unit):
    count = 2  # uarch: c910/port_map


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
    btb = SimpleBTB(numEntries=1024)  # uarch: c910/btb
    ras = ReturnAddrStack(numEntries=12)  # uarch: c910/btb
    indirectBranchPred = SimpleIndirectPredictor(indirectSets=64)  # assumed: a small table
    globalPredictorSize = 16384  # assumed: the size of its published core's history table
    choicePredictorSize = 16384  # assumed: as globalPredictorSize


class C910CPU(RiscvO3CPU):
    fetchWidth = 4  # uarch: c910/fetch_bytes_per_cycle, calibrated: 16 bytes are four instructions
    fetchQueueSize = 16  # assumed: an instruction buffer of a few fetches
    decodeWidth = 3  # uarch: c910/decode_width
    renameWidth = 3  # uarch: c910/decode_width
    dispatchWidth = 3  # uarch: c910/decode_width
    issueWidth = 8  # uarch: c910/issue_width
    wbWidth = 8  # uarch: c910/issue_width
    commitWidth = 4  # uarch: c910/retire_width
    squashWidth = 8  # assumed: gem5's default
    numROBEntries = 192  # uarch: c910/rob_size
    numIQEntries = 80  # uarch: c910/scheduler_size
    numPhysIntRegs = 96  # uarch: c910/int_prf
    numPhysFloatRegs = 64  # uarch: c910/vec_prf
    LQEntries = 16  # uarch: c910/load_queue
    SQEntries = 12  # uarch: c910/store_queue
    cacheLoadPorts = 1  # uarch: c910/port_map
    cacheStorePorts = 1  # uarch: c910/port_map
    fuPool = C910FUPool()
    branchPred = C910BranchPredictor()


class L1Cache(Cache):
    assoc = 2  # assumed: two ways
    response_latency = 1  # assumed: fills pass through
    tgts_per_mshr = 16  # assumed: enough for one core


class L1ICache(L1Cache):
    size = "64KiB"  # uarch: c910/l1i_size_kb
    tag_latency = 1  # assumed: fetch is pipelined on the hardware
    data_latency = 1  # assumed: as tag_latency
    mshrs = 2  # assumed: a line and the next one
    is_read_only = True  # assumed: instruction side


class L1DCache(L1Cache):
    size = "64KiB"  # uarch: c910/l1d_size_kb
    tag_latency = 2  # uarch: c910/l1d_latency, calibrated: with the core's own cycle, 3 to the use
    data_latency = 2  # uarch: c910/l1d_latency, calibrated: as tag_latency
    mshrs = 8  # uarch: c910/mshr_l1d
    write_buffers = 8  # assumed: as mshrs
    prefetcher = StridePrefetcher(degree=16)  # uarch: c910/prefetchers


class L2Cache(Cache):
    size = "1024KiB"  # uarch: c910/l2_size_kb
    assoc = 16  # assumed: sixteen ways
    tag_latency = 25  # assumed: half of the data's
    data_latency = 54  # uarch: c910/l2_latency, calibrated: the first level and the bus add the rest
    response_latency = 1  # assumed: fills pass through
    mshrs = 16  # assumed: twice the first level's
    tgts_per_mshr = 8  # assumed: enough for one core
    write_buffers = 16  # assumed: as mshrs


class L2Bus(L2XBar):
    width = 16  # assumed: 16 bytes a cycle between the levels


def ours(cpu, l2):
    """What a real gem5 cannot express: there, misaligned accesses are free but for crossing a line."""
    cpu.serialResponses = False  # assumed: a bus a port; one answer an instant is gem5's
    cpu.misaligned.policy = "hardware"  # uarch: c910/unaligned_within_line
    cpu.misaligned.line_cross_load = 1  # uarch: c910/split_load_cost
    cpu.misaligned.line_cross_store = 1  # uarch: c910/split_store_cost
    cpu.misaligned.page_cross_load = 10  # uarch: c910/page_cross_load
    cpu.misaligned.page_cross_store = 10  # uarch: c910/page_cross_store
    cpu.mmu.dtb.l2_size = 1024  # uarch: c910/stlb_entries
    cpu.mmu.dtb.l2_assoc = 4  # assumed: four ways
    cpu.mmu.dtb.l2_latency = 4  # assumed: a look-up of a small array
    cpu.isa[0].enable_Zba = False  # assumed: the C910 has T-Head's own extensions instead
    cpu.isa[0].enable_Zbb = False  # assumed: as enable_Zba
    cpu.isa[0].enable_Zbs = False  # assumed: as enable_Zba
    l2.prefetcher = objects.StreamPrefetcher()


@constructor(*OUT_OF_ORDER, *L2, *MEMORY, *RISCV, "prefetchers")
def C910Board(**options):
    cpu = C910CPU(isa=[RiscvISA()])
    cpu.mmu.itb.size = 32  # assumed: the instruction side's first level
    cpu.mmu.dtb.size = 17  # uarch: c910/dtlb_entries
    l2 = L2Cache()
    if has_extensions():
        ours(cpu, l2)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency="116ns",  # uarch: c910/dram_latency_ns, calibrated: the caches and buses on the way add the rest
        bandwidth="4GiB/s",  # uarch: c910/dram_bw_single_core_gbps
    )
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=L1DCache(),
        l2=l2,
        l2bus=L2Bus(),
        misaligned=True,  # uarch: c910/unaligned_within_line
        **options,
    )


machine = machine_of(C910Board)
