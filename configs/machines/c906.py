"""T-Head C906 as in the Allwinner D1: single-issue, in-order, no second-level cache; misaligned accesses in hardware.

Little about this core is published with a source: most values are assumed and marked so; the copy rates measured on the
D1 (rows calib_*) are checks. Not modelled: its stride prefetcher and its write-allocate-off detection of streams.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from constructors import IN_ORDER, L1, MEMORY, RISCV, constructor, has_extensions, machine_of
from m5.objects import (
    Cache,
    LocalBP,
    MinorDefaultFloatSimdFU,
    MinorDefaultIntDivFU,
    MinorDefaultIntFU,
    MinorDefaultIntMulFU,
    MinorDefaultMemFU,
    MinorDefaultMiscFU,
    MinorDefaultPredFU,
    MinorFUPool,
    ReturnAddrStack,
    RiscvISA,
    RiscvMinorCPU,
    SimpleBTB,
    SimpleMemory,
)
from riscv_board import RiscvBoard, board_range

NAME = "c906"
DESCRIPTION = "T-Head C906 (Allwinner D1, 1 GHz): single-issue in-order, 32 KiB L1, no L2, misaligned in hardware"
ISA = "riscv"

CLOCK = "1000MHz"  # uarch: c906/clock_mhz
LOAD_TO_USE = {"L1": 3}  # cycles; what `breakeven machines show c906` measures
MEMORY_SIZE = "512MiB"  # assumed: what the guests need


class C906MulFU(MinorDefaultIntMulFU):
    opLat = 3  # uarch: c906/lat_mul


class C906DivFU(MinorDefaultIntDivFU):
    opLat = 20  # assumed: a radix-4 divider
    issueLat = 20  # assumed: not pipelined


class C906MemFU(MinorDefaultMemFU):
    opLat = 2  # assumed: with the cache's cycle, c906/lat_load_l1


class C906FUPool(MinorFUPool):
    funcUnits = [
        MinorDefaultIntFU(),
        C906MulFU(),
        C906DivFU(),
        MinorDefaultFloatSimdFU(),
        MinorDefaultPredFU(),
        C906MemFU(),
        MinorDefaultMiscFU(),
    ]


class C906BranchPredictor(LocalBP):
    btb = SimpleBTB(numEntries=16)  # uarch: c906/btb
    ras = ReturnAddrStack(numEntries=4)  # uarch: c906/btb
    localPredictorSize = 8192  # assumed: c906/btb says 8K of history


class C906CPU(RiscvMinorCPU):
    fetch2InputBufferSize = 1  # assumed: short pipeline
    decodeInputWidth = (
        2  # uarch: c906/fetch_bytes_per_cycle, calibrated: the front end runs ahead, as its buffer lets it
    )
    decodeInputBufferSize = 2  # assumed: short pipeline
    executeInputWidth = 1  # uarch: c906/decode_width
    executeIssueLimit = 1  # uarch: c906/decode_width
    executeCommitLimit = (
        2  # uarch: c906/retire_width, calibrated: a store counts at commit, the core issues one a cycle
    )
    executeMemoryIssueLimit = 1  # uarch: c906/decode_width
    executeMemoryCommitLimit = 1  # uarch: c906/retire_width
    executeInputBufferSize = 4  # assumed: short pipeline
    executeMaxAccessesInMemory = 2  # uarch: c906/mshr_l1d
    executeLSQStoreBufferSize = 4  # uarch: c906/store_queue
    executeFuncUnits = C906FUPool()
    branchPred = C906BranchPredictor()


class L1ICache(Cache):
    size = "32KiB"  # uarch: c906/l1i_size_kb
    assoc = 2  # assumed: two ways, as its manual's block diagram has it
    tag_latency = 1  # assumed: a line every cycle keeps an instruction a cycle coming
    data_latency = 1  # assumed: as tag_latency
    response_latency = 1  # assumed: as tag_latency
    mshrs = 1  # assumed: one line fetch at a time
    tgts_per_mshr = 4  # assumed: enough for one core
    is_read_only = True  # assumed: instruction side


class L1DCache(Cache):
    size = "32KiB"  # uarch: c906/l1d_size_kb
    assoc = 4  # assumed: four ways
    tag_latency = 1  # uarch: c906/l1d_latency, calibrated: with the unit's two cycles, 3 to the use
    data_latency = 1  # uarch: c906/l1d_latency, calibrated: as tag_latency
    response_latency = 1  # assumed: as tag_latency
    mshrs = 2  # uarch: c906/mshr_l1d
    tgts_per_mshr = 4  # assumed: enough for one core
    write_buffers = 4  # assumed: a small core


def ours(cpu):
    """What a real gem5 cannot express: there, misaligned accesses are free but for crossing a line."""
    cpu.misaligned.policy = "hardware"  # uarch: c906/unaligned_within_line
    cpu.misaligned.granule = 8  # assumed: the data path is 8 bytes wide
    cpu.misaligned.granule_cross_load = 1  # uarch: c906/unaligned_within_line
    cpu.misaligned.granule_cross_store = 1  # uarch: c906/unaligned_within_line
    cpu.misaligned.line_cross_load = 2  # uarch: c906/split_load_cost
    cpu.misaligned.line_cross_store = 2  # uarch: c906/split_store_cost
    cpu.misaligned.page_cross_load = 10  # uarch: c906/page_cross_load
    cpu.misaligned.page_cross_store = 10  # uarch: c906/page_cross_store
    cpu.misaligned.split_slots = 1  # assumed: a split access takes two turns of the memory pipeline
    cpu.mmu.dtb.l2_size = 256  # uarch: c906/stlb_entries
    cpu.mmu.dtb.l2_assoc = 2  # assumed: two ways
    cpu.mmu.dtb.l2_latency = 4  # assumed: a look-up of a small array
    cpu.isa[0].enable_Zba = False  # assumed: the C906 has T-Head's own extensions instead
    cpu.isa[0].enable_Zbb = False  # assumed: as enable_Zba
    cpu.isa[0].enable_Zbs = False  # assumed: as enable_Zba


@constructor(*IN_ORDER, *L1, *MEMORY, *RISCV)
def C906Board(**options):
    cpu = C906CPU(isa=[RiscvISA()])
    cpu.mmu.itb.size = 10  # assumed: as the data side's first level
    cpu.mmu.dtb.size = 10  # uarch: c906/dtlb_entries
    if has_extensions():
        ours(cpu)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency="110ns",  # uarch: c906/dram_latency_ns, calibrated: the cache and bus on the way add the rest
        bandwidth="1GiB/s",  # uarch: c906/dram_bw_single_core_gbps
    )
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=L1DCache(),
        misaligned=True,  # uarch: c906/unaligned_within_line
        **options,
    )


machine = machine_of(C906Board)
