"""T-Head C906 as in the Allwinner D1: single-issue, in-order, no second-level cache; misaligned accesses in hardware.

Little about this core is published with a source: most values are assumed and marked so; the copy rates measured on the
D1 (rows calib_*) are checks. Not modelled: its stride prefetcher and its write-allocate-off detection of streams.
"""

from m5 import objects

from machines.constructors import IN_ORDER, L1, MEMORY, RISCV, constructor, machine_of
from machines.families import inorder, riscv
from machines.families.inorder import pool, unit
from machines.provenance import assumed, calibrated, rows_of

NAME = "c906"
DESCRIPTION = "T-Head C906 (Allwinner D1, 1 GHz): single-issue in-order, 32 KiB L1, no L2, misaligned in hardware"
ISA = "riscv"

row = rows_of("c906")
CLOCK = row(clock_mhz="1000MHz")
LOAD_TO_USE = {"L1": 3}  # cycles; what `breakeven machines show c906` measures

DIVISION = {"opLat": assumed(20, "a radix-4 divider"), "issueLat": assumed(20, "not pipelined")}


class C906CPU(objects.RiscvMinorCPU):
    fetch2InputBufferSize = assumed(1, "short pipeline")
    decodeInputWidth = calibrated(2, "c906/fetch_bytes_per_cycle", "the front end runs ahead, as its buffer lets it")
    decodeInputBufferSize = assumed(2, "short pipeline")
    executeInputWidth = executeIssueLimit = executeMemoryIssueLimit = row(decode_width=1)
    executeCommitLimit = calibrated(2, "c906/retire_width", "a store counts at commit, the core issues one a cycle")
    executeMemoryCommitLimit = row(retire_width=1)
    executeInputBufferSize = assumed(4, "short pipeline")
    executeMaxAccessesInMemory, executeLSQStoreBufferSize = row(mshr_l1d=2, store_queue=4)
    branchPred = objects.LocalBP(
        btb=objects.SimpleBTB(numEntries=row(btb=16)),
        ras=objects.ReturnAddrStack(numEntries=row(btb=4)),
        localPredictorSize=assumed(8192, "c906/btb says 8K of history"),
    )
    executeFuncUnits = pool(
        objects.MinorDefaultIntFU,
        unit("C906MulFU", objects.MinorDefaultIntMulFU, opLat=row(lat_mul=3)),
        unit("C906DivFU", objects.MinorDefaultIntDivFU, **DIVISION),
        *(inorder.FLOAT, inorder.PREDICATES),
        unit("C906MemFU", objects.MinorDefaultMemFU, opLat=assumed(2, "with the cache's cycle, c906/lat_load_l1")),
        inorder.MISC,
    )


class L1ICache(inorder.InstructionCache):
    size = row(l1i_size_kb="32KiB")
    assoc = assumed(2, "two ways, as its manual's block diagram has it")
    tag_latency = assumed(1, "a line every cycle keeps an instruction a cycle coming")


class L1DCache(inorder.DataCache):
    size = row(l1d_size_kb="32KiB")
    assoc = assumed(4, "four ways")
    tag_latency = data_latency = calibrated(1, "c906/l1d_latency", "with the unit's two cycles, 3 to the use")
    mshrs = row(mshr_l1d=2)
    write_buffers = assumed(4, "a small core")


def ours(board):
    """What a real gem5 cannot express: there, misaligned accesses are free but for crossing a line."""
    cpu = board.cpu
    cpu.misaligned.policy = row(unaligned_within_line="hardware")
    cpu.misaligned.granule = assumed(8, "the data path is 8 bytes wide")
    crossing = {"granule_cross_load": 1, "granule_cross_store": 1}
    riscv.put(cpu.misaligned, row(unaligned_within_line=crossing))
    cpu.misaligned.line_cross_load, cpu.misaligned.line_cross_store = row(split_load_cost=2, split_store_cost=2)
    cpu.misaligned.page_cross_load, cpu.misaligned.page_cross_store = row(page_cross_load=10, page_cross_store=10)
    cpu.misaligned.split_slots = assumed(1, "a split access takes two turns of the memory pipeline")
    cpu.mmu.itb.size = assumed(10, "as the data side's first level")
    cpu.mmu.dtb.size = row(dtlb_entries=10)
    cpu.mmu.dtb.l2_size = row(stlb_entries=256)
    cpu.mmu.dtb.l2_assoc = assumed(2, "two ways")
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    riscv.without(cpu.isa[0], *riscv.ZB, note="the C906 has T-Head's own extensions instead")
    riscv.without(cpu.isa[0], "Zicond", "Zicboz_fs", note="younger than the core")


@constructor(*IN_ORDER, *L1, *MEMORY, *RISCV)
def C906Board(**options):
    cpu = C906CPU(isa=riscv.without_vectors("its vectors are of draft 0.7.1, not RVV 1.0"))
    latency = calibrated("110ns", "c906/dram_latency_ns", "the cache and bus on the way add the rest")
    memory = riscv.memory(latency, row(dram_bw_single_core_gbps="1GiB/s"))
    caches = (L1ICache(), L1DCache())
    return riscv.silicon_board(cpu, CLOCK, ours, memory, caches, **options)


machine = machine_of(C906Board)
