"""Intel Bonnell (Atom N450, Pineview): two-wide, in order, load and operation in one pass of the pipeline.

The pipeline goes from address to cache to arithmetic. So a load and its operation issue together, and an address that
was computed by arithmetic comes late. Here they are two micro-ops: units take their sources so many cycles after issue
(`srcRegsRelativeLats`) that an operation may issue with its load, and four micro-ops make the two instructions.

Not modelled: hyperthreading, which instructions pair beyond the units they need, lea on the address unit, which 16-byte
moves are microcode. It has the string instructions of the Pineviews that were measured (D525).

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from constructors import IN_ORDER, L2, MEMORY, constructor, has_extensions, machine_of
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
from x86_board import board_range
from x86_silicon import MEMORY_SIZE, SINCE_SANDY_BRIDGE, SiliconCache, silicon_board, walk_caches, without

NAME = "bonnell"
DESCRIPTION = "Intel Bonnell (Atom N450, 1.67 GHz): 2-wide in-order, 24 KiB L1, 512 KiB L2"
ISA = "x86"

CLOCK = "1667MHz"  # uarch: bonnell/clock_mhz
LOAD_TO_USE = {"L1": 3, "L2": 17}  # cycles; what `breakeven machines show bonnell` measures


def op_classes(*names):
    """The set of operations that a functional unit does."""
    return MinorOpClassSet(opClasses=[MinorOpClass(opClass=name) for name in names])


def sources(*cycles, result=0):
    """Each source may come so many cycles after issue (all further ones as the last), the result after the end."""
    return [MinorFUTiming(description="sources", srcRegsRelativeLats=cycles, extraAssumedLat=result)]


class IntFU(MinorFU):
    """Arithmetic at the pipeline's end: operations on each other's results follow every cycle."""

    opClasses = op_classes("IntAlu")
    opLat = 5  # uarch: bonnell/lat_int_add, calibrated: one cycle more than its sources may be late
    timings = sources(4)  # uarch: bonnell/alu_mem_fused, calibrated: in the cycle of the load


class IntMulFU(MinorFU):
    opClasses = op_classes("IntMult")
    opLat = 9  # assumed: five cycles
    timings = sources(4)  # assumed: as IntFU


class IntDivFU(MinorDefaultIntDivFU):
    opLat = 40  # assumed: one bit or two a cycle
    issueLat = 40  # assumed: not pipelined


class SimdFU(MinorFU):
    """Vector additions and logic, on both ports."""

    opClasses = op_classes("SimdAdd", "SimdAlu", "SimdCmp", "SimdShift", "SimdMisc", "SimdExt")
    opLat = 5  # uarch: bonnell/lat_simd_add, calibrated: as IntFU
    timings = sources(4)  # uarch: bonnell/lat_simd_add, calibrated: as IntFU


class FloatFU(MinorDefaultFloatSimdFU):
    opLat = 9  # assumed: five cycles
    timings = sources(4)  # assumed: as IntFU


class MemFU(MinorDefaultMemFU):
    """One access a cycle: 3 cycles to an address, none to an operation. The third source is what is stored."""

    opLat = 2  # uarch: bonnell/lat_load_l1, calibrated: with the queue's and the cache's cycles
    timings = sources(1, 1, 4, result=2)  # uarch: bonnell/agu_address_penalty, calibrated: addresses are needed early


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
    fetch1LineSnapWidth = 16  # uarch: bonnell/fetch_bytes_per_cycle
    fetch1LineWidth = 16  # uarch: bonnell/fetch_bytes_per_cycle
    fetch1FetchLimit = 2  # assumed: the next piece is asked for while one comes
    fetch1ToFetch2BackwardDelay = 0  # assumed: a prediction redirects fetch at once
    fetch2InputBufferSize = 4  # assumed: four pieces
    fetch2ToDecodeForwardDelay = 4  # uarch: bonnell/branch_mispredict, calibrated: a new path's stages
    decodeToExecuteForwardDelay = 3  # uarch: bonnell/branch_mispredict, calibrated: as fetch2ToDecodeForwardDelay
    decodeInputWidth = 2  # uarch: bonnell/decode_width
    decodeInputBufferSize = 6  # assumed: enough for the delays
    executeInputWidth = 4  # uarch: bonnell/alu_mem_fused, calibrated: two instructions' loads and operations
    executeIssueLimit = 4  # uarch: bonnell/alu_mem_fused, calibrated: as executeInputWidth
    executeCommitLimit = 4  # uarch: bonnell/retire_width, calibrated: as executeInputWidth
    executeMemoryIssueLimit = 1  # uarch: bonnell/tput_load
    executeMemoryCommitLimit = 1  # uarch: bonnell/tput_load
    executeInputBufferSize = 16  # uarch: bonnell/scheduler_size
    executeMaxAccessesInMemory = 8  # uarch: bonnell/mshr_l1d
    executeLSQTransfersQueueSize = 8  # assumed: as executeMaxAccessesInMemory
    executeLSQRequestsQueueSize = 2  # assumed: one being sent, one behind it
    executeLSQStoreBufferSize = 8  # uarch: bonnell/store_queue
    executeLSQMaxStoreBufferStoresPerCycle = 1  # uarch: bonnell/tput_store
    executeFuncUnits = BonnellFUPool()


class L1ICache(SiliconCache):
    size = "32KiB"  # uarch: bonnell/l1i_size_kb
    assoc = 8  # uarch: bonnell/l1i_assoc
    mshrs = 2  # assumed: a line and the next one


class L1DCache(SiliconCache):
    size = "24KiB"  # uarch: bonnell/l1d_size_kb
    assoc = 6  # uarch: bonnell/l1d_assoc
    tag_latency = 1  # uarch: bonnell/l1d_latency, calibrated: with the core's own cycles, 3 to the use
    data_latency = 1  # uarch: bonnell/l1d_latency, calibrated: as tag_latency
    mshrs = 8  # uarch: bonnell/mshr_l1d
    write_buffers = 8  # assumed: as mshrs


class L2Cache(SiliconCache):
    size = "512KiB"  # uarch: bonnell/l2_size_kb
    assoc = 8  # uarch: bonnell/l2_assoc
    tag_latency = 4  # uarch: bonnell/l2_latency, calibrated: the first level and the bus add the rest
    data_latency = 12  # uarch: bonnell/l2_latency, calibrated: as tag_latency
    mshrs = 8  # assumed: as the first level's
    write_buffers = 8  # assumed: as mshrs


class L2Bus(L2XBar):
    width = 32  # assumed: half a line a cycle


def string_modes(bytes_per_cycle):
    """Microcode, as fast for single bytes as for words. What a line's accesses take comes on top of the pace."""
    return [
        objects.X86StringMode(
            startup_uops=120,  # uarch: bonnell/rep_movs_startup, calibrated: 60 cycles at two a cycle
            block=64,  # uarch: bonnell/line_bytes
            bytes_per_cycle=bytes_per_cycle,
        ),
        objects.X86StringMode(
            backwards=True,  # assumed: microcode by element
            startup_uops=120,  # assumed: as going up
            block=0,  # assumed: microcode by element
            element_cycles=4,  # assumed: microcode by element
        ),
    ]


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return objects.X86Microcode(
        gem5=False,  # assumed: hardware has its own
        split_stores=False,  # uarch: bonnell/alu_mem_fused
        stack_engine=True,  # assumed: push and pop are one pass
        zero_idioms=True,  # assumed: as later cores
        flag_merge="none",  # uarch: bonnell/partial_flag_stall
        max_access=16,  # uarch: bonnell/l1d_load_bytes_per_cycle
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=2),  # uarch: bonnell/lat_adc
            objects.X86Instruction(mnemonics=["paddq"], latency=5),  # uarch: bonnell/lat_simd_add
            objects.X86Instruction(
                mnemonics=["movdqu", "movups", "lddqu"],
                uops=8,  # uarch: bonnell/tput_movdqu_load, calibrated: as many as an instruction has here
            ),
        ],
        rep_movs=string_modes(bytes_per_cycle=10.7),  # uarch: bonnell/rep_movs_bytes_per_cycle, calibrated: 5.6 in all
        rep_stos=string_modes(bytes_per_cycle=32),  # uarch: bonnell/rep_stos_bytes_per_cycle, calibrated: 10.6 in all
    )


def ours(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    cpu.branchPred = objects.GshareBP(
        btb=SimpleBTB(numEntries=128),  # uarch: bonnell/btb
        ras=ReturnAddrStack(numEntries=8),  # uarch: bonnell/btb
        globalPredictorSize=4096,  # uarch: bonnell/btb
        historyBits=12,  # assumed: a bit for each of the table's index
    )
    cpu.misaligned.policy = "hardware"  # uarch: bonnell/unaligned_within_line
    cpu.misaligned.line_cross_load = 16  # uarch: bonnell/split_load_cost
    cpu.misaligned.line_cross_store = 16  # uarch: bonnell/split_store_cost
    cpu.misaligned.split_slots = 14  # uarch: bonnell/split_store_cost, calibrated: nothing else meanwhile
    cpu.misaligned.page_cross_load = 20  # uarch: bonnell/page_cross_load
    cpu.misaligned.page_cross_store = 20  # uarch: bonnell/page_cross_store
    cpu.mmu.dtb.l2_size = 64  # uarch: bonnell/stlb_entries
    cpu.mmu.dtb.l2_assoc = 4  # assumed: four ways
    cpu.mmu.dtb.l2_latency = 7  # uarch: bonnell/dtlb_miss_cycles, calibrated: one is hidden
    walk_caches(cpu)  # assumed: as the large cores
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=4)  # uarch: bonnell/wc_buffers
    isa = cpu.isa[0]
    isa.microcode = microcode()
    without(isa, "sse4_1", "sse4_2", "popcnt", "rdtscp", *SINCE_SANDY_BRIDGE)  # assumed: not in this core
    isa.enable_movbe = True  # assumed: the first to have it
    dcache.prefetcher = objects.NextLinePrefetcher()  # uarch: bonnell/prefetchers
    l2.prefetcher = objects.StreamPrefetcher()  # uarch: bonnell/prefetchers


@constructor(*IN_ORDER, *L2, *MEMORY, "prefetchers")
def BonnellBoard(**options):
    cpu = BonnellCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Bonnell")])
    cpu.mmu.itb.size = 32  # assumed: the instruction side's
    cpu.mmu.dtb.size = 16  # uarch: bonnell/dtlb_entries
    dcache, l2 = L1DCache(), L2Cache()
    if has_extensions():
        ours(cpu, dcache, l2)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency="107ns",  # uarch: bonnell/dram_latency_ns, calibrated: the caches and buses on the way add the rest
        bandwidth="3GiB/s",  # uarch: bonnell/dram_bw_single_core_gbps
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
