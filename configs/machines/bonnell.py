"""Intel Bonnell (Atom N450, Pineview): two-wide, in order, load and operation in one pass of the pipeline.

The pipeline goes from address to cache to arithmetic. So a load and its operation issue together, and an address that
was computed by arithmetic comes late. Here they are two micro-ops: units take their sources so many cycles after issue
(`srcRegsRelativeLats`) that an operation may issue with its load, and four micro-ops make the two instructions. The
memory unit takes one access a cycle: 3 cycles to an address, none to an operation; its third source is what is stored.

Not modelled: hyperthreading, which instructions pair beyond the units they need, lea on the address unit, which 16-byte
moves are microcode. It has the string instructions of the Pineviews that were measured (D525).
"""

from m5 import objects
from m5.objects import L2XBar, MinorFU, ReturnAddrStack, SimpleBTB, X86MinorCPU

from machines.constructors import IN_ORDER, L2, MEMORY, constructor, machine_of
from machines.families import atom, inorder, x86
from machines.families.inorder import pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "bonnell"
DESCRIPTION = "Intel Bonnell (Atom N450, 1.67 GHz): 2-wide in-order, 24 KiB L1, 512 KiB L2"
ISA = "x86"

row = rows_of("bonnell")
CLOCK = row(clock_mhz="1667MHz")
LOAD_TO_USE = {"L1": 3, "L2": 17}  # cycles; what `breakeven machines show bonnell` measures


def sources(cycles, result=0):
    """Each source may come so many cycles after issue (all further ones as the last), the result after the end."""
    return [objects.MinorFUTiming(description="sources", srcRegsRelativeLats=cycles, extraAssumedLat=result)]


LATE = assumed([4], "as IntFU")
SIMD = ("SimdAdd", "SimdAlu", "SimdCmp", "SimdShift", "SimdMisc", "SimdExt")
#: arithmetic at the pipeline's end: operations on each other's results follow every cycle
INT = unit(
    *("IntFU", MinorFU, "IntAlu"),
    opLat=calibrated(5, "bonnell/lat_int_add", "one cycle more than its sources may be late"),
    timings=sources(calibrated([4], "bonnell/alu_mem_fused", "in the cycle of the load")),
)
INT_DIV = unit(
    *("IntDivFU", objects.MinorDefaultIntDivFU),
    opLat=assumed(40, "one bit or two a cycle"),
    issueLat=assumed(40, "not pipelined"),
)
VECTOR = unit(
    *("SimdFU", MinorFU, *SIMD),
    opLat=calibrated(5, "bonnell/lat_simd_add", "as IntFU"),
    timings=sources(calibrated([4], "bonnell/lat_simd_add", "as IntFU")),
)
MEM = unit(
    *("MemFU", objects.MinorDefaultMemFU),
    opLat=calibrated(2, "bonnell/lat_load_l1", "with the queue's and the cache's cycles"),
    timings=sources(
        calibrated([1, 1, 4], "bonnell/agu_address_penalty", "stored data comes last"),
        result=calibrated(2, "bonnell/agu_address_penalty", "addresses are needed early"),
    ),
)


class BonnellCPU(X86MinorCPU):
    fetch1LineSnapWidth = fetch1LineWidth = row(fetch_bytes_per_cycle=16)
    fetch1FetchLimit = assumed(2, "the next piece is asked for while one comes")
    fetch1ToFetch2BackwardDelay = assumed(0, "a prediction redirects fetch at once")
    fetch2InputBufferSize = assumed(4, "four pieces")
    fetch2ToDecodeForwardDelay = calibrated(4, "bonnell/branch_mispredict", "a new path's stages")
    decodeToExecuteForwardDelay = calibrated(3, "bonnell/branch_mispredict", "as fetch2ToDecodeForwardDelay")
    decodeInputWidth = row(decode_width=2)
    decodeInputBufferSize = assumed(6, "enough for the delays")
    executeInputWidth = calibrated(4, "bonnell/alu_mem_fused", "two instructions' loads and operations")
    executeIssueLimit = calibrated(4, "bonnell/alu_mem_fused", "as executeInputWidth")
    executeCommitLimit = calibrated(4, "bonnell/retire_width", "as executeInputWidth")
    executeMemoryIssueLimit = executeMemoryCommitLimit = row(tput_load=1)
    executeInputBufferSize = row(scheduler_size=16)
    executeMaxAccessesInMemory, executeLSQStoreBufferSize = row(mshr_l1d=8, store_queue=8)
    executeLSQTransfersQueueSize = assumed(8, "as executeMaxAccessesInMemory")
    executeLSQRequestsQueueSize = assumed(2, "one being sent, one behind it")
    executeLSQMaxStoreBufferStoresPerCycle = row(tput_store=1)
    executeFuncUnits = pool(
        *(INT, INT),
        unit("IntMulFU", MinorFU, "IntMult", opLat=assumed(9, "five cycles"), timings=sources(LATE)),
        *(INT_DIV, VECTOR, VECTOR),
        unit("FloatFU", inorder.FLOAT, opLat=assumed(9, "five cycles"), timings=sources(LATE)),
        *(inorder.PREDICATES, MEM, inorder.MISC),
    )


class L1ICache(x86.SiliconCache):
    size, assoc = row(l1i_size_kb="32KiB", l1i_assoc=8)
    mshrs = assumed(2, "a line and the next one")


class L1DCache(x86.SiliconCache):
    size, assoc = row(l1d_size_kb="24KiB", l1d_assoc=6)
    tag_latency = data_latency = calibrated(1, "bonnell/l1d_latency", "with the core's own cycles, 3 to the use")
    mshrs = row(mshr_l1d=8)
    write_buffers = assumed(8, "as mshrs")


class L2Cache(x86.SiliconCache):
    size, assoc = row(l2_size_kb="512KiB", l2_assoc=8)
    tag_latency, data_latency = calibrated((4, 12), "bonnell/l2_latency", "the first level and the bus add the rest")
    mshrs = write_buffers = assumed(8, "as the first level's")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    cpu, isa = board.cpu, board.cpu.isa[0]
    cpu.branchPred = objects.GshareBP(
        btb=SimpleBTB(numEntries=row(btb=128)),
        ras=ReturnAddrStack(numEntries=row(btb=8)),
        globalPredictorSize=row(btb=4096),
        historyBits=assumed(12, "a bit for each of the table's index"),
    )
    cpu.misaligned.policy = row(unaligned_within_line="hardware")
    cpu.misaligned.line_cross_load, cpu.misaligned.line_cross_store = row(split_load_cost=16, split_store_cost=16)
    cpu.misaligned.split_slots = calibrated(14, "bonnell/split_store_cost", "nothing else meanwhile")
    cpu.misaligned.page_cross_load, cpu.misaligned.page_cross_store = row(page_cross_load=20, page_cross_store=20)
    cpu.mmu.itb.size = assumed(32, "the instruction side's")
    cpu.mmu.dtb.size = row(dtlb_entries=16)
    cpu.mmu.dtb.l2_size = row(stlb_entries=64)
    cpu.mmu.dtb.l2_assoc = assumed(4, "four ways")
    cpu.mmu.dtb.l2_latency = calibrated(7, "bonnell/dtlb_miss_cycles", "one is hidden")
    x86.walk_caches(cpu, **x86.WALK_CACHES)
    cpu.write_combining = x86.write_combining(buffers=row(wc_buffers=4))
    x86.without(isa, "sse4_1", "sse4_2", "popcnt", "rdtscp", *x86.SINCE_SANDY_BRIDGE, note="not in this core")
    isa.enable_movbe = assumed(True, "the first to have it")
    isa.microcode = atom.in_order_microcode()
    cpu.dcache.prefetcher = sourced(objects.NextLinePrefetcher(), "bonnell/prefetchers")
    board.l2.prefetcher = sourced(objects.StreamPrefetcher(), "bonnell/prefetchers")


@constructor(*IN_ORDER, *L2, *MEMORY, "prefetchers")
def BonnellBoard(**options):
    latency = calibrated("107ns", "bonnell/dram_latency_ns", "the caches and buses on the way add the rest")
    memory = x86.memory(latency, bandwidth=row(dram_bw_single_core_gbps="3GiB/s"))
    caches = (L1ICache(), L1DCache(), L2Cache())
    buses = (L2XBar(width=assumed(32, "half a line a cycle")),)
    return x86.silicon_board(BonnellCPU(isa=x86.intel("Bonnell")), CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(BonnellBoard)
