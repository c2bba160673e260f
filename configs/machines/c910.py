"""T-Head XuanTie C910 as in the TH1520 (LicheePi 4A): three-wide, out-of-order, misaligned accesses in hardware.

Of this core the widths, the ROB and the registers are published; the rows of most latencies are themselves the best
known value without a source. The rates measured by the 2021 study's author (rows calib_*) are checks. Not modelled:
that eight scheduler queues serve the units (here one of their joint size), that the branch unit does branches only (it
is the third of the integer units here), and the loop buffer.
"""

from m5 import objects

from machines.constructors import L2, MEMORY, OUT_OF_ORDER, RISCV, constructor, machine_of
from machines.families import riscv
from machines.families.outoforder import InstructionCache, dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of

NAME = "c910"
DESCRIPTION = "T-Head C910 (TH1520, 1.85 GHz): 3-wide out-of-order, 64 KiB L1, 1 MiB L2, misaligned in hardware"
ISA = "riscv"

row = rows_of("c910")
CLOCK = row(clock_mhz="1850MHz")
LOAD_TO_USE = {"L1": 3, "L2": 60}  # cycles; what `breakeven machines show c910` measures

ONE, TWO = row(port_map=1), row(port_map=2)
ALUS = calibrated(3, "c910/port_map", "two ALUs and the branch unit, which gem5's classes do not tell apart")
INTEGER = (
    unit("C910IntALU", ALUS, base=objects.IntALU),
    unit(
        "C910MulDiv",
        assumed(1, "one multiplier"),
        {"IntMult": assumed(4, "four stages")},
        dividers(integer=assumed(20, "a radix-4 divider"), because="a radix-4 divider"),
    ),
)
FLOATS = (unit("C910FloatAdd", TWO, base=objects.FP_ALU), unit("C910FloatMul", TWO, base=objects.FP_MultDiv))
VECTOR = unit("C910Vector", TWO, base=objects.SIMD_Unit)


class C910CPU(objects.RiscvO3CPU):
    fetchWidth = calibrated(4, "c910/fetch_bytes_per_cycle", "16 bytes are four instructions")
    fetchQueueSize = assumed(16, "an instruction buffer of a few fetches")
    decodeWidth = renameWidth = dispatchWidth = row(decode_width=3)
    issueWidth = wbWidth = row(issue_width=8)
    commitWidth = row(retire_width=4)
    squashWidth = assumed(8, "gem5's default")
    numROBEntries, numIQEntries = row(rob_size=192, scheduler_size=80)
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=96, vec_prf=64)
    LQEntries, SQEntries = row(load_queue=16, store_queue=12)
    cacheLoadPorts = cacheStorePorts = row(port_map=1)
    branchPred = objects.BiModeBP(
        btb=objects.SimpleBTB(numEntries=row(btb=1024)),
        ras=objects.ReturnAddrStack(numEntries=row(btb=12)),
        indirectBranchPred=objects.SimpleIndirectPredictor(indirectSets=assumed(64, "a small table")),
        globalPredictorSize=assumed(16384, "the size of its published core's history table"),
        choicePredictorSize=assumed(16384, "as globalPredictorSize"),
    )
    fuPool = pool(*INTEGER, *FLOATS, unit("C910Load", ONE, {"loads": 1}), unit("C910Store", ONE, {"stores": 1}), VECTOR)


class L1ICache(InstructionCache):
    size = row(l1i_size_kb="64KiB")
    assoc = assumed(2, "two ways")


class L1DCache(riscv.SiliconCache):
    size = row(l1d_size_kb="64KiB")
    assoc = assumed(2, "two ways")
    tag_latency = data_latency = calibrated(2, "c910/l1d_latency", "with the core's own cycle, 3 to the use")
    mshrs = row(mshr_l1d=8)
    write_buffers = assumed(8, "as mshrs")
    prefetcher = objects.StridePrefetcher(degree=row(prefetchers=16))


class L2Cache(riscv.SiliconCache):
    size = row(l2_size_kb="1024KiB")
    assoc = assumed(16, "sixteen ways")
    tag_latency = assumed(25, "half of the data's")
    data_latency = calibrated(54, "c910/l2_latency", "the first level and the bus add the rest")
    mshrs = write_buffers = assumed(16, "twice the first level's")
    tgts_per_mshr = assumed(8, "enough for one core")


def ours(board):
    """What a real gem5 cannot express: there, misaligned accesses are free but for crossing a line."""
    cpu = board.cpu
    line = calibrated(2, "c910/calib_hw_misaligned_copy", "within 1 to 2, c910/split_load_cost")
    cpu.misaligned.policy = row(unaligned_within_line="hardware")
    cpu.misaligned.line_cross_load = line
    cpu.misaligned.line_cross_store = row(split_store_cost=1)
    cpu.misaligned.page_cross_load, cpu.misaligned.page_cross_store = row(page_cross_load=10, page_cross_store=10)
    cpu.mmu.itb.size = assumed(32, "the instruction side's first level")
    cpu.mmu.dtb.size = row(dtlb_entries=17)
    cpu.mmu.dtb.l2_size = row(stlb_entries=1024)
    cpu.mmu.dtb.l2_assoc = assumed(4, "four ways")
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    riscv.without(cpu.isa[0], *riscv.ZB, note="the C910 has T-Head's own extensions instead")
    riscv.without(cpu.isa[0], "Zicond", "Zicboz_fs", note="younger than the core")
    board.l2.prefetcher = objects.StreamPrefetcher()


@constructor(*OUT_OF_ORDER, *L2, *MEMORY, *RISCV, "prefetchers")
def C910Board(**options):
    cpu = C910CPU(isa=riscv.without_vectors("its vectors are of draft 0.7.1, not RVV 1.0"))
    latency = calibrated("116ns", "c910/dram_latency_ns", "the caches and buses on the way add the rest")
    memory = riscv.memory(latency, row(dram_bw_single_core_gbps="4GiB/s"))
    caches = (L1ICache(), L1DCache(), L2Cache())
    buses = (riscv.Bus(),)
    return riscv.silicon_board(cpu, CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(C910Board)
