"""SiFive U74 as on the BeagleV Starlight beta (StarFive JH7100): the board of the 2021 user-copy study.

Dual-issue, in-order, one memory operation a cycle; every misaligned access traps and firmware does it byte by byte.
The pipeline's queues follow gem5's own fit of this core (its prebuilt riscvmatched board). Not modelled: that
multiplies and floating point share pipe B (two of them may issue together here), and that a branch resolves early or
late by where its operands come from. No prefetcher: SiFive's for the second level is off at
reset (its core manuals), and the board's measured read rate is that of one line at a time.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

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

from machines.constructors import (
    IN_ORDER,
    L2,
    MEMORY,
    RISCV,
    constructor,
    machine_of,
    without_gem5_traits,
)
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.riscv_board import RiscvBoard, board_range

NAME = "u74"
DESCRIPTION = "SiFive U74 (JH7100 BeagleV, 1 GHz): dual-issue in-order, 32 KiB L1, 2 MiB L2, misaligned accesses trap"
ISA = "riscv"

CLOCK = sourced("1000MHz", "u74/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 25}  # cycles; what `breakeven machines show u74` measures
MEMORY_SIZE = assumed("512MiB", "what the guests need; the board has 8 GiB")


def op_classes(*names):
    """The set of operations that a functional unit does."""
    return MinorOpClassSet(opClasses=[MinorOpClass(opClass=name) for name in names])


class U74IntFU(MinorDefaultIntFU):
    """Pipes A and B. Dependent operations issue back to back: a source may come 2 cycles before its due time."""

    opLat = assumed(3, "gem5's three-cycle unit with forwarding, a latency of one cycle")


class U74MulFU(MinorDefaultIntMulFU):
    opLat = sourced(3, "u74/lat_mul")


class U74DivFU(MinorDefaultIntDivFU):
    opLat = sourced(36, "u74/lat_div")
    issueLat = sourced(36, "u74/lat_div")


class U74LoadFU(MinorDefaultMemFU):
    """Pipe A's loads: a load of an L1 hit takes 3 cycles to its use, whether as an operand or an address."""

    opClasses = op_classes("MemRead", "FloatMemRead")
    opLat = assumed(2, "gem5's fit; with the cache's cycle, u74/lat_load_l1")


class U74StoreFU(MinorDefaultMemFU):
    """Pipe A's stores."""

    opClasses = op_classes("MemWrite", "FloatMemWrite")
    opLat = assumed(2, "gem5's fit")
    issueLat = calibrated(2, "u74/tput_store", "half a store a cycle, sustained")


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

    btb = SimpleBTB(numEntries=sourced(32, "u74/btb"))
    ras = ReturnAddrStack(numEntries=sourced(12, "u74/btb"))
    indirectBranchPred = SimpleIndirectPredictor(indirectSets=sourced(16, "u74/btb"))
    localHistoryTableSize = assumed(4096, "gem5's fit (3.6 KiB, rounded up to a power of two)")
    localPredictorSize = assumed(16384, "gem5's fit")
    globalPredictorSize = assumed(16384, "gem5's fit")
    choicePredictorSize = assumed(16384, "gem5's fit")
    localCtrBits = assumed(4, "gem5's fit")
    globalCtrBits = assumed(4, "gem5's fit")
    choiceCtrBits = assumed(4, "gem5's fit")


class U74CPU(RiscvMinorCPU):
    fetch1ToFetch2BackwardDelay = assumed(0, "gem5's fit")
    fetch2InputBufferSize = assumed(1, "gem5's fit")
    decodeInputWidth = sourced(2, "u74/decode_width")
    decodeInputBufferSize = assumed(2, "gem5's fit")
    executeInputWidth = sourced(2, "u74/decode_width")
    executeIssueLimit = sourced(2, "u74/decode_width")
    executeCommitLimit = sourced(2, "u74/retire_width")
    executeMemoryIssueLimit = sourced(1, "u74/port_map")
    executeMemoryCommitLimit = sourced(1, "u74/tput_load")
    executeInputBufferSize = assumed(4, "gem5's fit")
    executeMaxAccessesInMemory = sourced(1, "u74/mshr_l1d")
    executeLSQStoreBufferSize = sourced(3, "u74/store_buffer")
    executeBranchDelay = assumed(1, "gem5's default; the penalty is then that of u74/branch_mispredict resolved late")
    executeFuncUnits = U74FUPool()
    branchPred = U74BranchPredictor()


class L1ICache(Cache):
    size = sourced("32KiB", "u74/l1i_size_kb")
    assoc = sourced(8, "u74/l1i_assoc")
    tag_latency = assumed(1, "a line every cycle keeps two instructions a cycle coming")
    data_latency = assumed(1, "as tag_latency")
    response_latency = assumed(1, "as tag_latency")
    mshrs = assumed(1, "one line fetch at a time (fetch1FetchLimit)")
    tgts_per_mshr = assumed(4, "enough for one core")
    is_read_only = assumed(True, "instruction side")


class L1DCache(Cache):
    size = sourced("32KiB", "u74/l1d_size_kb")
    assoc = sourced(8, "u74/l1d_assoc")
    tag_latency = calibrated(1, "u74/l1d_latency", "with the load unit's two cycles, 3 to the use")
    data_latency = calibrated(1, "u74/l1d_latency", "as tag_latency")
    response_latency = assumed(1, "as tag_latency")
    mshrs = sourced(1, "u74/mshr_l1d")
    tgts_per_mshr = assumed(4, "enough for one core")
    write_buffers = assumed(4, "within u74/store_queue")


class L2Cache(Cache):
    size = sourced("2048KiB", "u74/l2_size_kb")
    assoc = sourced(16, "u74/l2_assoc")
    replacement_policy = sourced(RandomRP(), "u74/l2_replacement")
    tag_latency = assumed(10, "half of the data's, as banked caches of this size have it")
    data_latency = sourced(20, "u74/l2_latency")
    response_latency = assumed(1, "fills pass through")
    mshrs = assumed(8, "enough for one core")
    tgts_per_mshr = assumed(4, "enough for one core")
    write_buffers = assumed(8, "enough for one core")


class L2Bus(L2XBar):
    width = calibrated(8, "u74/l2_copy_bytes_per_cycle", "16 bytes a cycle copy 4 to 7 % too fast")


def ours(cpu, l2):
    """What a real gem5 cannot express; there, the board's empty PMA range makes misaligned accesses trap."""
    without_gem5_traits(cpu)
    cpu.misaligned.policy = sourced("trap", "u74/unaligned_within_line")
    cpu.mmu.dtb.l2_size = sourced(512, "u74/stlb_entries")
    cpu.mmu.dtb.l2_assoc = sourced(4, "u74/stlb_entries")
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    cpu.isa[0].enable_Zbb = assumed(False, "the JH7100's U74 lacks it, the JH7110's has it (`zbb`)")
    cpu.isa[0].enable_Zbc = assumed(False, "neither board's has it")
    cpu.isa[0].enable_Zicond = assumed(False, "younger than the core")
    l2.replacement_policy.any_way = sourced(True, "u74/l2_replacement")


@constructor(*IN_ORDER, *L2, *MEMORY, *RISCV)
def U74Board(**options):
    """The JH7100's board. `zbb=True`: a later U74 (JH7110)."""
    cpu = U74CPU(isa=[RiscvISA(enable_rvv=assumed(False, "RV64GC: no vectors"))])
    l2 = L2Cache()
    cpu.mmu.itb.size = assumed(32, "as the data side")
    cpu.mmu.dtb.size = sourced(32, "u74/dtlb_entries")
    extend(ours, cpu, l2)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("190ns", "u74/dram_latency_ns", "the caches and buses on the way add the rest"),
        bandwidth=calibrated("1GiB/s", "u74/dram_bw_single_core_gbps", "a line written back takes 60 ns more"),
    )
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=L1DCache(),
        l2=l2,
        l2bus=L2Bus(),
        misaligned=sourced(False, "u74/unaligned_within_line"),
        **options,
    )


machine = machine_of(U74Board)
