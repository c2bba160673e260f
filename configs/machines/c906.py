"""T-Head C906 as in the Allwinner D1: single-issue, in-order, no second-level cache; misaligned accesses in hardware.

Little about this core is published with a source: most values are assumed and marked so; the copy rates measured on the
D1 (rows calib_*) are checks. Not modelled: its stride prefetcher and its write-allocate-off detection of streams.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

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

from machines.constructors import (
    IN_ORDER,
    L1,
    MEMORY,
    RISCV,
    constructor,
    machine_of,
    without_gem5_traits,
)
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.riscv_board import RiscvBoard, board_range

NAME = "c906"
DESCRIPTION = "T-Head C906 (Allwinner D1, 1 GHz): single-issue in-order, 32 KiB L1, no L2, misaligned in hardware"
ISA = "riscv"

CLOCK = sourced("1000MHz", "c906/clock_mhz")
LOAD_TO_USE = {"L1": 3}  # cycles; what `breakeven machines show c906` measures
MEMORY_SIZE = assumed("512MiB", "what the guests need")


class C906MulFU(MinorDefaultIntMulFU):
    opLat = sourced(3, "c906/lat_mul")


class C906DivFU(MinorDefaultIntDivFU):
    opLat = assumed(20, "a radix-4 divider")
    issueLat = assumed(20, "not pipelined")


class C906MemFU(MinorDefaultMemFU):
    opLat = assumed(2, "with the cache's cycle, c906/lat_load_l1")


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
    btb = SimpleBTB(numEntries=sourced(16, "c906/btb"))
    ras = ReturnAddrStack(numEntries=sourced(4, "c906/btb"))
    localPredictorSize = assumed(8192, "c906/btb says 8K of history")


class C906CPU(RiscvMinorCPU):
    fetch2InputBufferSize = assumed(1, "short pipeline")
    decodeInputWidth = calibrated(2, "c906/fetch_bytes_per_cycle", "the front end runs ahead, as its buffer lets it")
    decodeInputBufferSize = assumed(2, "short pipeline")
    executeInputWidth = sourced(1, "c906/decode_width")
    executeIssueLimit = sourced(1, "c906/decode_width")
    executeCommitLimit = calibrated(2, "c906/retire_width", "a store counts at commit, the core issues one a cycle")
    executeMemoryIssueLimit = sourced(1, "c906/decode_width")
    executeMemoryCommitLimit = sourced(1, "c906/retire_width")
    executeInputBufferSize = assumed(4, "short pipeline")
    executeMaxAccessesInMemory = sourced(2, "c906/mshr_l1d")
    executeLSQStoreBufferSize = sourced(4, "c906/store_queue")
    executeFuncUnits = C906FUPool()
    branchPred = C906BranchPredictor()


class L1ICache(Cache):
    size = sourced("32KiB", "c906/l1i_size_kb")
    assoc = assumed(2, "two ways, as its manual's block diagram has it")
    tag_latency = assumed(1, "a line every cycle keeps an instruction a cycle coming")
    data_latency = assumed(1, "as tag_latency")
    response_latency = assumed(1, "as tag_latency")
    mshrs = assumed(1, "one line fetch at a time")
    tgts_per_mshr = assumed(4, "enough for one core")
    is_read_only = assumed(True, "instruction side")


class L1DCache(Cache):
    size = sourced("32KiB", "c906/l1d_size_kb")
    assoc = assumed(4, "four ways")
    tag_latency = calibrated(1, "c906/l1d_latency", "with the unit's two cycles, 3 to the use")
    data_latency = calibrated(1, "c906/l1d_latency", "as tag_latency")
    response_latency = assumed(1, "as tag_latency")
    mshrs = sourced(2, "c906/mshr_l1d")
    tgts_per_mshr = assumed(4, "enough for one core")
    write_buffers = assumed(4, "a small core")


def ours(cpu):
    """What a real gem5 cannot express: there, misaligned accesses are free but for crossing a line."""
    without_gem5_traits(cpu)
    cpu.misaligned.policy = sourced("hardware", "c906/unaligned_within_line")
    cpu.misaligned.granule = assumed(8, "the data path is 8 bytes wide")
    cpu.misaligned.granule_cross_load = sourced(1, "c906/unaligned_within_line")
    cpu.misaligned.granule_cross_store = sourced(1, "c906/unaligned_within_line")
    cpu.misaligned.line_cross_load = sourced(2, "c906/split_load_cost")
    cpu.misaligned.line_cross_store = sourced(2, "c906/split_store_cost")
    cpu.misaligned.page_cross_load = sourced(10, "c906/page_cross_load")
    cpu.misaligned.page_cross_store = sourced(10, "c906/page_cross_store")
    cpu.misaligned.split_slots = assumed(1, "a split access takes two turns of the memory pipeline")
    cpu.mmu.dtb.l2_size = sourced(256, "c906/stlb_entries")
    cpu.mmu.dtb.l2_assoc = assumed(2, "two ways")
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    cpu.isa[0].enable_Zba = assumed(False, "the C906 has T-Head's own extensions instead")
    cpu.isa[0].enable_Zbb = assumed(False, "as enable_Zba")
    cpu.isa[0].enable_Zbc = assumed(False, "as enable_Zba")
    cpu.isa[0].enable_Zbs = assumed(False, "as enable_Zba")
    cpu.isa[0].enable_Zicond = assumed(False, "younger than the core")


@constructor(*IN_ORDER, *L1, *MEMORY, *RISCV)
def C906Board(**options):
    cpu = C906CPU(isa=[RiscvISA(enable_rvv=assumed(False, "its vectors are of draft 0.7.1, not RVV 1.0"))])
    cpu.mmu.itb.size = assumed(10, "as the data side's first level")
    cpu.mmu.dtb.size = sourced(10, "c906/dtlb_entries")
    extend(ours, cpu)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("110ns", "c906/dram_latency_ns", "the cache and bus on the way add the rest"),
        bandwidth=sourced("1GiB/s", "c906/dram_bw_single_core_gbps"),
    )
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=L1DCache(),
        misaligned=sourced(True, "c906/unaligned_within_line"),
        **options,
    )


machine = machine_of(C906Board)
