"""SiFive U74 as on the BeagleV Starlight beta (StarFive JH7100): the board of the 2021 user-copy study.

Dual-issue, in-order, one memory operation a cycle; every misaligned access traps and firmware does it byte by byte.
The pipeline's queues follow gem5's own fit of this core (its prebuilt riscvmatched board). Pipes A and B: dependent
operations issue back to back, a source may come 2 cycles before its due time. Pipe A loads and stores: a load of an L1
hit takes 3 cycles to its use, whether as an operand or an address. Not modelled: that multiplies and floating point
share pipe B (two of them may issue together here), and that a branch resolves early or late by where its operands come
from. No prefetcher: SiFive's for the second level is off at reset (its core manuals), and the board's measured read
rate is that of one line at a time.
"""

from m5 import objects
from m5.objects import L2XBar, RiscvMinorCPU

from machines.constructors import IN_ORDER, L2, MEMORY, RISCV, constructor, machine_of
from machines.families import inorder, riscv
from machines.families.inorder import pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "u74"
DESCRIPTION = "SiFive U74 (JH7100 BeagleV, 1 GHz): dual-issue in-order, 32 KiB L1, 2 MiB L2, misaligned accesses trap"
ISA = "riscv"

row = rows_of("u74")
CLOCK = row(clock_mhz="1000MHz")
LOAD_TO_USE = {"L1": 3, "L2": 25}  # cycles; what `breakeven machines show u74` measures

FIT = "gem5's fit"
INT = unit("U74IntFU", objects.MinorDefaultIntFU, opLat=assumed(3, inorder.FORWARDING))
MUL = unit("U74MulFU", objects.MinorDefaultIntMulFU, opLat=row(lat_mul=3))
DIV = unit("U74DivFU", objects.MinorDefaultIntDivFU, **sourced({"opLat": 36, "issueLat": 36}, "u74/lat_div"))
LOAD = unit(
    *("U74LoadFU", objects.MinorDefaultMemFU, "MemRead", "FloatMemRead"),
    opLat=assumed(2, "gem5's fit; with the cache's cycle, u74/lat_load_l1"),
)
STORE = unit(
    *("U74StoreFU", objects.MinorDefaultMemFU, "MemWrite", "FloatMemWrite"),
    opLat=assumed(2, FIT),
    issueLat=calibrated(2, "u74/tput_store", "half a store a cycle, sustained"),
)


class U74CPU(RiscvMinorCPU):
    fetch1ToFetch2BackwardDelay = assumed(0, FIT)
    fetch2InputBufferSize = assumed(1, FIT)
    decodeInputWidth = executeInputWidth = executeIssueLimit = row(decode_width=2)
    decodeInputBufferSize = assumed(2, FIT)
    executeCommitLimit = row(retire_width=2)
    executeMemoryIssueLimit, executeMemoryCommitLimit = row(port_map=1, tput_load=1)
    executeInputBufferSize = assumed(4, FIT)
    executeMaxAccessesInMemory, executeLSQStoreBufferSize = row(mshr_l1d=1, store_buffer=3)
    executeBranchDelay = assumed(1, "gem5's default; the penalty is then that of u74/branch_mispredict resolved late")
    branchPred = objects.TournamentBP(  # of its tables only the size is published, 3.6 KiB
        btb=objects.SimpleBTB(numEntries=row(btb=32)),
        ras=objects.ReturnAddrStack(numEntries=row(btb=12)),
        indirectBranchPred=objects.SimpleIndirectPredictor(indirectSets=row(btb=16)),
        localHistoryTableSize=assumed(4096, "gem5's fit (3.6 KiB, rounded up to a power of two)"),
        **assumed(dict.fromkeys(("localPredictorSize", "globalPredictorSize", "choicePredictorSize"), 16384), FIT),
        **assumed({"localCtrBits": 4, "globalCtrBits": 4, "choiceCtrBits": 4}, FIT),
    )
    executeFuncUnits = pool(INT, INT, MUL, DIV, inorder.FLOAT, inorder.PREDICATES, LOAD, STORE, inorder.MISC)


class L1ICache(inorder.InstructionCache):
    size, assoc = row(l1i_size_kb="32KiB", l1i_assoc=8)
    mshrs = assumed(1, "one line fetch at a time (fetch1FetchLimit)")


class L1DCache(inorder.DataCache):
    size, assoc = row(l1d_size_kb="32KiB", l1d_assoc=8)
    tag_latency = data_latency = calibrated(1, "u74/l1d_latency", "with the load unit's two cycles, 3 to the use")
    mshrs = row(mshr_l1d=1)
    write_buffers = assumed(4, "within u74/store_queue")


class L2Cache(riscv.SiliconCache):
    size, assoc = row(l2_size_kb="2048KiB", l2_assoc=16)
    replacement_policy = sourced(objects.RandomRP(), "u74/l2_replacement")
    tag_latency = assumed(10, "half of the data's, as banked caches of this size have it")
    data_latency = row(l2_latency=20)
    mshrs = write_buffers = assumed(8, "enough for one core")
    tgts_per_mshr = assumed(4, "enough for one core")


def u7(board):
    """Address translation, and what a real gem5 cannot express; there, the board's empty PMA range makes misaligned
    accesses trap."""
    cpu = board.cpu
    cpu.mmu.itb.size = assumed(32, "as the data side")
    cpu.mmu.dtb.size = row(dtlb_entries=32)
    cpu.mmu.dtb.l2_size = row(stlb_entries=512)
    cpu.mmu.dtb.l2_assoc = row(stlb_entries=4)
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    board.l2.replacement_policy.any_way = row(l2_replacement=True)


def ours(board):
    """`u7`, and what the core of this board lacks."""
    u7(board)
    board.cpu.misaligned.policy = row(unaligned_within_line="trap")
    riscv.without(board.cpu.isa[0], "Zbb", note="the JH7100's U74 lacks it, the JH7110's has it (`zbb`)")
    riscv.without(board.cpu.isa[0], "Zbc", note="neither board's has it")
    riscv.without(board.cpu.isa[0], "Zicond", "Zicboz_fs", note="younger than the core")


@constructor(*IN_ORDER, *L2, *MEMORY, *RISCV)
def U74Board(**options):
    """The JH7100's board. `zbb=True`: a later U74 (JH7110)."""
    cpu = U74CPU(isa=riscv.without_vectors("RV64GC: no vectors"))
    latency = calibrated("190ns", "u74/dram_latency_ns", "the caches and buses on the way add the rest")
    bandwidth = calibrated("1GiB/s", "u74/dram_bw_single_core_gbps", "a line written back takes 60 ns more")
    memory = riscv.memory(latency, bandwidth)
    caches = (L1ICache(), L1DCache(), L2Cache())
    buses = (L2XBar(width=calibrated(8, "u74/l2_copy_bytes_per_cycle", "16 bytes a cycle copy 4 to 7 % too fast")),)
    return riscv.silicon_board(cpu, CLOCK, ours, memory, caches, buses, misaligned=False, **options)


machine = machine_of(U74Board)
