"""Intel Bonnell (Atom N450, Pineview): two-wide, in order, load and operation in one pass of the pipeline.

The pipeline goes from address to cache to arithmetic. So a load and its operation issue together, and an address that
was computed by arithmetic comes late. Here they are two micro-ops: units take their sources so many cycles after issue
(`srcRegsRelativeLats`) that an operation may issue with its load, and four micro-ops make the two instructions.

Not modelled: hyperthreading, which instructions pair beyond the units they need, lea on the address unit, which 16-byte
moves are microcode. It has the string instructions of the Pineviews that were measured (D525).

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5 import objects
from m5.objects import (
    X86ISA,
    L2XBar,
    MinorDefaultFloatSimdFU,
    MinorDefaultIntDivFU,
    MinorDefaultMemFU,
    MinorDefaultMiscFU,
    MinorDefaultPredFU,
    MinorFU,
    MinorFUPool,
    MinorFUTiming,
    MinorOpClass,
    MinorOpClassSet,
    ReturnAddrStack,
    SimpleBTB,
    SimpleMemory,
    X86MinorCPU,
)

from machines.constructors import IN_ORDER, L2, MEMORY, constructor, machine_of, without_gem5_traits
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import (
    MEMORY_SIZE,
    SINCE_SANDY_BRIDGE,
    WALK_CACHES,
    SiliconCache,
    silicon_board,
    walk_caches,
    without,
)

NAME = "bonnell"
DESCRIPTION = "Intel Bonnell (Atom N450, 1.67 GHz): 2-wide in-order, 24 KiB L1, 512 KiB L2"
ISA = "x86"

CLOCK = sourced("1667MHz", "bonnell/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 17}  # cycles; what `breakeven machines show bonnell` measures


def op_classes(*names):
    """The set of operations that a functional unit does."""
    return MinorOpClassSet(opClasses=[MinorOpClass(opClass=name) for name in names])


def sources(cycles, result=0):
    """Each source may come so many cycles after issue (all further ones as the last), the result after the end."""
    return [MinorFUTiming(description="sources", srcRegsRelativeLats=cycles, extraAssumedLat=result)]


class IntFU(MinorFU):
    """Arithmetic at the pipeline's end: operations on each other's results follow every cycle."""

    opClasses = op_classes("IntAlu")
    opLat = calibrated(5, "bonnell/lat_int_add", "one cycle more than its sources may be late")
    timings = sources(calibrated([4], "bonnell/alu_mem_fused", "in the cycle of the load"))


class IntMulFU(MinorFU):
    opClasses = op_classes("IntMult")
    opLat = assumed(9, "five cycles")
    timings = sources(assumed([4], "as IntFU"))


class IntDivFU(MinorDefaultIntDivFU):
    opLat = assumed(40, "one bit or two a cycle")
    issueLat = assumed(40, "not pipelined")


class SimdFU(MinorFU):
    """Vector additions and logic, on both ports."""

    opClasses = op_classes("SimdAdd", "SimdAlu", "SimdCmp", "SimdShift", "SimdMisc", "SimdExt")
    opLat = calibrated(5, "bonnell/lat_simd_add", "as IntFU")
    timings = sources(calibrated([4], "bonnell/lat_simd_add", "as IntFU"))


class FloatFU(MinorDefaultFloatSimdFU):
    opLat = assumed(9, "five cycles")
    timings = sources(assumed([4], "as IntFU"))


class MemFU(MinorDefaultMemFU):
    """One access a cycle: 3 cycles to an address, none to an operation. The third source is what is stored."""

    opLat = calibrated(2, "bonnell/lat_load_l1", "with the queue's and the cache's cycles")
    timings = sources(
        calibrated([1, 1, 4], "bonnell/agu_address_penalty", "stored data comes last"),
        result=calibrated(2, "bonnell/agu_address_penalty", "addresses are needed early"),
    )


class BonnellFUPool(MinorFUPool):
    funcUnits = [
        IntFU(),
        IntFU(),
        IntMulFU(),
        IntDivFU(),
        SimdFU(),
        SimdFU(),
        FloatFU(),
        MinorDefaultPredFU(),
        MemFU(),
        MinorDefaultMiscFU(),
    ]


class BonnellCPU(X86MinorCPU):
    fetch1LineSnapWidth = sourced(16, "bonnell/fetch_bytes_per_cycle")
    fetch1LineWidth = sourced(16, "bonnell/fetch_bytes_per_cycle")
    fetch1FetchLimit = assumed(2, "the next piece is asked for while one comes")
    fetch1ToFetch2BackwardDelay = assumed(0, "a prediction redirects fetch at once")
    fetch2InputBufferSize = assumed(4, "four pieces")
    fetch2ToDecodeForwardDelay = calibrated(4, "bonnell/branch_mispredict", "a new path's stages")
    decodeToExecuteForwardDelay = calibrated(3, "bonnell/branch_mispredict", "as fetch2ToDecodeForwardDelay")
    decodeInputWidth = sourced(2, "bonnell/decode_width")
    decodeInputBufferSize = assumed(6, "enough for the delays")
    executeInputWidth = calibrated(4, "bonnell/alu_mem_fused", "two instructions' loads and operations")
    executeIssueLimit = calibrated(4, "bonnell/alu_mem_fused", "as executeInputWidth")
    executeCommitLimit = calibrated(4, "bonnell/retire_width", "as executeInputWidth")
    executeMemoryIssueLimit = sourced(1, "bonnell/tput_load")
    executeMemoryCommitLimit = sourced(1, "bonnell/tput_load")
    executeInputBufferSize = sourced(16, "bonnell/scheduler_size")
    executeMaxAccessesInMemory = sourced(8, "bonnell/mshr_l1d")
    executeLSQTransfersQueueSize = assumed(8, "as executeMaxAccessesInMemory")
    executeLSQRequestsQueueSize = assumed(2, "one being sent, one behind it")
    executeLSQStoreBufferSize = sourced(8, "bonnell/store_queue")
    executeLSQMaxStoreBufferStoresPerCycle = sourced(1, "bonnell/tput_store")
    executeFuncUnits = BonnellFUPool()


class L1ICache(SiliconCache):
    size = sourced("32KiB", "bonnell/l1i_size_kb")
    assoc = sourced(8, "bonnell/l1i_assoc")
    mshrs = assumed(2, "a line and the next one")


class L1DCache(SiliconCache):
    size = sourced("24KiB", "bonnell/l1d_size_kb")
    assoc = sourced(6, "bonnell/l1d_assoc")
    tag_latency = calibrated(1, "bonnell/l1d_latency", "with the core's own cycles, 3 to the use")
    data_latency = calibrated(1, "bonnell/l1d_latency", "as tag_latency")
    mshrs = sourced(8, "bonnell/mshr_l1d")
    write_buffers = assumed(8, "as mshrs")


class L2Cache(SiliconCache):
    size = sourced("512KiB", "bonnell/l2_size_kb")
    assoc = sourced(8, "bonnell/l2_assoc")
    tag_latency = calibrated(4, "bonnell/l2_latency", "the first level and the bus add the rest")
    data_latency = calibrated(12, "bonnell/l2_latency", "as tag_latency")
    mshrs = assumed(8, "as the first level's")
    write_buffers = assumed(8, "as mshrs")


class L2Bus(L2XBar):
    width = assumed(32, "half a line a cycle")


def string_modes(bytes_per_cycle):
    """Microcode, as fast for single bytes as for words. What a line's accesses take comes on top of the pace."""
    return [
        objects.X86StringMode(
            startup_uops=calibrated(120, "bonnell/rep_movs_startup", "60 cycles at two a cycle"),
            block=sourced(64, "bonnell/line_bytes"),
            bytes_per_cycle=bytes_per_cycle,
        ),
        objects.X86StringMode(
            backwards=assumed(True, "microcode by element"),
            startup_uops=assumed(120, "as going up"),
            block=assumed(0, "microcode by element"),
            element_cycles=assumed(4, "microcode by element"),
        ),
    ]


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        split_stores=sourced(False, "bonnell/alu_mem_fused"),
        stack_engine=assumed(True, "push and pop are one pass"),
        zero_idioms=assumed(True, "as later cores"),
        flag_merge=sourced("none", "bonnell/partial_flag_stall"),
        max_access=sourced(16, "bonnell/l1d_load_bytes_per_cycle"),
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=sourced(2, "bonnell/lat_adc")),
            objects.X86Instruction(mnemonics=["paddq"], latency=sourced(5, "bonnell/lat_simd_add")),
            objects.X86Instruction(
                mnemonics=["movdqu", "movups", "lddqu"],
                uops=calibrated(8, "bonnell/tput_movdqu_load", "as many as an instruction has here"),
            ),
        ],
        rep_movs=string_modes(bytes_per_cycle=calibrated(10.7, "bonnell/rep_movs_bytes_per_cycle", "5.6 in all")),
        rep_stos=string_modes(bytes_per_cycle=calibrated(32, "bonnell/rep_stos_bytes_per_cycle", "10.6 in all")),
    )


def ours(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    without_gem5_traits(cpu)
    cpu.branchPred = objects.GshareBP(
        btb=SimpleBTB(numEntries=sourced(128, "bonnell/btb")),
        ras=ReturnAddrStack(numEntries=sourced(8, "bonnell/btb")),
        globalPredictorSize=sourced(4096, "bonnell/btb"),
        historyBits=assumed(12, "a bit for each of the table's index"),
    )
    cpu.misaligned.policy = sourced("hardware", "bonnell/unaligned_within_line")
    cpu.misaligned.line_cross_load = sourced(16, "bonnell/split_load_cost")
    cpu.misaligned.line_cross_store = sourced(16, "bonnell/split_store_cost")
    cpu.misaligned.split_slots = calibrated(14, "bonnell/split_store_cost", "nothing else meanwhile")
    cpu.misaligned.page_cross_load = sourced(20, "bonnell/page_cross_load")
    cpu.misaligned.page_cross_store = sourced(20, "bonnell/page_cross_store")
    cpu.mmu.dtb.l2_size = sourced(64, "bonnell/stlb_entries")
    cpu.mmu.dtb.l2_assoc = assumed(4, "four ways")
    cpu.mmu.dtb.l2_latency = calibrated(7, "bonnell/dtlb_miss_cycles", "one is hidden")
    walk_caches(cpu, **WALK_CACHES)
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=sourced(4, "bonnell/wc_buffers"))
    isa = cpu.isa[0]
    isa.microcode = microcode()
    without(isa, "sse4_1", "sse4_2", "popcnt", "rdtscp", *SINCE_SANDY_BRIDGE, note="not in this core")
    isa.enable_movbe = assumed(True, "the first to have it")
    dcache.prefetcher = sourced(objects.NextLinePrefetcher(), "bonnell/prefetchers")
    l2.prefetcher = sourced(objects.StreamPrefetcher(), "bonnell/prefetchers")


@constructor(*IN_ORDER, *L2, *MEMORY, "prefetchers")
def BonnellBoard(**options):
    cpu = BonnellCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Bonnell")])
    cpu.mmu.itb.size = assumed(32, "the instruction side's")
    cpu.mmu.dtb.size = sourced(16, "bonnell/dtlb_entries")
    dcache, l2 = L1DCache(), L2Cache()
    extend(ours, cpu, dcache, l2)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("107ns", "bonnell/dram_latency_ns", "the caches and buses on the way add the rest"),
        bandwidth=sourced("3GiB/s", "bonnell/dram_bw_single_core_gbps"),
    )
    return silicon_board(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=dcache,
        l2=l2,
        l2bus=L2Bus(),
        **options,
    )


machine = machine_of(BonnellBoard)
