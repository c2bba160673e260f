"""SiFive U74 as on the BeagleV Starlight beta (StarFive JH7100): the board of the 2021 user-copy study.

Dual-issue, in-order, one memory operation a cycle; every misaligned access traps and firmware does it byte by byte.
The pipeline's queues follow gem5's own fit of this core (its prebuilt riscvmatched board). Not modelled: that
multiplies and floating point share pipe B (two of them may issue together here), and that a branch resolves early or
late by where its operands come from. No prefetcher: SiFive's for the second level is off at
reset (its core manuals), and the board's measured read rate is that of one line at a time.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from constructors import IN_ORDER, L2, MEMORY, RISCV, constructor, has_extensions, machine_of
from m5.objects import (
    Cache,
    L2XBar,
    MinorDefaultFloatSimdFU,
    MinorDefaultIntDivFU,
    MinorDefaultIntFU,
    MinorDefaultIntMulFU,
    MinorDefaultMemFU,
    MinorDefaultMiscFU,
    MinorDefaultPredFU,
    MinorFUPool,
    MinorOpClass,
    MinorOpClassSet,
    RandomRP,
    ReturnAddrStack,
    RiscvISA,
    RiscvMinorCPU,
    SimpleBTB,
    SimpleIndirectPredictor,
    SimpleMemory,
    TournamentBP,
)
from riscv_board import RiscvBoard, board_range

NAME = "u74"
DESCRIPTION = "SiFive U74 (JH7100 BeagleV, 1 GHz): dual-issue in-order, 32 KiB L1, 2 MiB L2, misaligned accesses trap"
ISA = "riscv"

CLOCK = "1000MHz"  # uarch: u74/clock_mhz
LOAD_TO_USE = {"L1": 3, "L2": 25}  # cycles; what `breakeven machines show u74` measures
MEMORY_SIZE = "512MiB"  # assumed: what the guests need; the board has 8 GiB


def op_classes(*names):
    """The set of operations that a functional unit does."""
    return MinorOpClassSet(opClasses=[MinorOpClass(opClass=name) for name in names])


class U74IntFU(MinorDefaultIntFU):
    """Pipes A and B. Dependent operations issue back to back: a source may come 2 cycles before its due time."""

    opLat = 3  # assumed: gem5's three-cycle unit with forwarding, a latency of one cycle


class U74MulFU(MinorDefaultIntMulFU):
    opLat = 3  # uarch: u74/lat_mul


class U74DivFU(MinorDefaultIntDivFU):
    opLat = 36  # uarch: u74/lat_div
    issueLat = 36  # uarch: u74/lat_div


class U74LoadFU(MinorDefaultMemFU):
    """Pipe A's loads: a load of an L1 hit takes 3 cycles to its use, whether as an operand or an address."""

    opClasses = op_classes("MemRead", "FloatMemRead")
    opLat = 2  # assumed: gem5's fit; with the cache's cycle, u74/lat_load_l1


class U74StoreFU(MinorDefaultMemFU):
    """Pipe A's stores."""

    opClasses = op_classes("MemWrite", "FloatMemWrite")
    opLat = 2  # assumed: gem5's fit
    issueLat = 2  # uarch: u74/tput_store, calibrated: half a store a cycle, sustained


class U74FUPool(MinorFUPool):
    funcUnits = [
        U74IntFU(),
        U74IntFU(),
        U74MulFU(),
        U74DivFU(),
        MinorDefaultFloatSimdFU(),
        MinorDefaultPredFU(),
        U74LoadFU(),
        U74StoreFU(),
        MinorDefaultMiscFU(),
    ]


class U74BranchPredictor(TournamentBP):
    """The direction tables are those of gem5's fit: what is published is only their size, 3.6 KiB."""

    btb = SimpleBTB(numEntries=32)  # uarch: u74/btb
    ras = ReturnAddrStack(numEntries=12)  # uarch: u74/btb
    indirectBranchPred = SimpleIndirectPredictor(indirectSets=16)  # uarch: u74/btb
    localHistoryTableSize = 4096  # assumed: gem5's fit (3.6 KiB, rounded up to a power of two)
    localPredictorSize = 16384  # assumed: gem5's fit
    globalPredictorSize = 16384  # assumed: gem5's fit
    choicePredictorSize = 16384  # assumed: gem5's fit
    localCtrBits = 4  # assumed: gem5's fit
    globalCtrBits = 4  # assumed: gem5's fit
    choiceCtrBits = 4  # assumed: gem5's fit


class U74CPU(RiscvMinorCPU):
    fetch1ToFetch2BackwardDelay = 0  # assumed: gem5's fit
    fetch2InputBufferSize = 1  # assumed: gem5's fit
    decodeInputWidth = 2  # uarch: u74/decode_width
    decodeInputBufferSize = 2  # assumed: gem5's fit
    executeInputWidth = 2  # uarch: u74/decode_width
    executeIssueLimit = 2  # uarch: u74/decode_width
    executeCommitLimit = 2  # uarch: u74/retire_width
    executeMemoryIssueLimit = 1  # uarch: u74/port_map
    executeMemoryCommitLimit = 1  # uarch: u74/tput_load
    executeInputBufferSize = 4  # assumed: gem5's fit
    executeMaxAccessesInMemory = 1  # uarch: u74/mshr_l1d
    executeLSQStoreBufferSize = 3  # uarch: u74/store_buffer
    executeBranchDelay = 1  # assumed: gem5's default; the penalty is then that of u74/branch_mispredict resolved late
    executeFuncUnits = U74FUPool()
    branchPred = U74BranchPredictor()


class L1ICache(Cache):
    size = "32KiB"  # uarch: u74/l1i_size_kb
    assoc = 8  # uarch: u74/l1i_assoc
    tag_latency = 1  # assumed: a line every cycle keeps two instructions a cycle coming
    data_latency = 1  # assumed: as tag_latency
    response_latency = 1  # assumed: as tag_latency
    mshrs = 1  # assumed: one line fetch at a time (fetch1FetchLimit)
    tgts_per_mshr = 4  # assumed: enough for one core
    is_read_only = True  # assumed: instruction side


class L1DCache(Cache):
    size = "32KiB"  # uarch: u74/l1d_size_kb
    assoc = 8  # uarch: u74/l1d_assoc
    tag_latency = 1  # uarch: u74/l1d_latency, calibrated: with the load unit's two cycles, 3 to the use
    data_latency = 1  # uarch: u74/l1d_latency, calibrated: as tag_latency
    response_latency = 1  # assumed: as tag_latency
    mshrs = 1  # uarch: u74/mshr_l1d
    tgts_per_mshr = 4  # assumed: enough for one core
    write_buffers = 4  # assumed: within u74/store_queue


class L2Cache(Cache):
    size = "2048KiB"  # uarch: u74/l2_size_kb
    assoc = 16  # uarch: u74/l2_assoc
    replacement_policy = RandomRP()  # uarch: u74/l2_replacement
    tag_latency = 10  # assumed: half of the data's, as banked caches of this size have it
    data_latency = 20  # uarch: u74/l2_latency
    response_latency = 1  # assumed: fills pass through
    mshrs = 8  # assumed: enough for one core
    tgts_per_mshr = 4  # assumed: enough for one core
    write_buffers = 8  # assumed: enough for one core


class L2Bus(L2XBar):
    width = 16  # assumed: 16 bytes a cycle between the levels


def ours(cpu, l2):
    """What a real gem5 cannot express; there, the board's empty PMA range makes misaligned accesses trap."""
    cpu.misaligned.policy = "trap"  # uarch: u74/unaligned_within_line
    cpu.mmu.dtb.l2_size = 512  # uarch: u74/stlb_entries
    cpu.mmu.dtb.l2_assoc = 4  # uarch: u74/stlb_entries
    cpu.mmu.dtb.l2_latency = 4  # assumed: a look-up of a small array
    cpu.isa[0].enable_Zbb = False  # assumed: the JH7100's U74 lacks it, the JH7110's has it (`zbb`)
    l2.replacement_policy.any_way = True  # uarch: u74/l2_replacement


@constructor(*IN_ORDER, *L2, *MEMORY, *RISCV)
def U74Board(**options):
    """The JH7100's board. `zbb=True`: a later U74 (JH7110)."""
    cpu = U74CPU(isa=[RiscvISA()])
    l2 = L2Cache()
    cpu.mmu.itb.size = 32  # assumed: as the data side
    cpu.mmu.dtb.size = 32  # uarch: u74/dtlb_entries
    if has_extensions():
        ours(cpu, l2)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency="190ns",  # uarch: u74/dram_latency_ns, calibrated: the caches and buses on the way add the rest
        bandwidth="1GiB/s",  # uarch: u74/dram_bw_single_core_gbps, calibrated: a line written back takes 60 ns more
    )
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=L1DCache(),
        l2=l2,
        l2bus=L2Bus(),
        misaligned=False,  # uarch: u74/unaligned_within_line
        **options,
    )


machine = machine_of(U74Board)
