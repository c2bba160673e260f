"""SiFive P550 as in the ESWIN EIC7700X (HiFive Premier P550, Milk-V Megrez): three-wide, out-of-order, no vectors.

Every misaligned access traps and firmware does it. Units and widths are those of LLVM's scheduler, levels those
measured on the board. Not modelled: that the three integer units differ, prefetchers,
and the queues of each unit (here one).
"""

from m5 import objects

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, RISCV, constructor, machine_of
from machines.families import riscv
from machines.families.outoforder import InstructionCache, dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of

NAME = "p550"
DESCRIPTION = "SiFive P550 (EIC7700X, 1.4 GHz): 3-wide out-of-order, 32 KiB L1, 256 KiB L2, 4 MiB L3, misaligned traps"
ISA = "riscv"

row = rows_of("p550")
CLOCK = row(clock_mhz="1400MHz")
LOAD_TO_USE = {"L1": 3, "L2": 13, "L3": 36}  # cycles; what `breakeven machines show p550` measures

ONE, TWO = row(port_map=1), row(port_map=2)
ONE_OF_THEM = calibrated(1, "p550/port_map", "one of the integer units")
MULTIPLY = {"IntMult": row(lat_mul=3)}
DIVIDER = dividers(integer=row(lat_div=35), because="one divider")


class P550CPU(objects.RiscvO3CPU):
    fetchWidth = assumed(4, "16 bytes")
    fetchQueueSize = assumed(16, "an instruction buffer of a few fetches")
    decodeWidth = renameWidth = dispatchWidth = row(decode_width=3)
    issueWidth = wbWidth = calibrated(7, "p550/port_map", "one a unit")
    commitWidth = assumed(3, "as many as rename")
    squashWidth = assumed(8, "gem5's default")
    numROBEntries = row(rob_size=96)
    numIQEntries = assumed(64, "its queues together")
    numPhysIntRegs, numPhysFloatRegs = assumed((128, 96), "no limit before the ROB")
    LQEntries = assumed(24, "a quarter of the ROB")
    SQEntries = assumed(16, "a sixth of the ROB")
    cacheLoadPorts = cacheStorePorts = row(port_map=1)
    branchPred = objects.BiModeBP(
        btb=objects.SimpleBTB(numEntries=row(btb=32)),
        ras=objects.ReturnAddrStack(numEntries=assumed(16, "a core of its size")),
        indirectBranchPred=objects.SimpleIndirectPredictor(indirectSets=assumed(64, "a small table")),
        globalPredictorSize=calibrated(32768, "p550/branch_history", "8 of its 9.1 KiB in two tables of 2 bits"),
        choicePredictorSize=assumed(4096, "what is left of its 9.1 KiB"),
    )
    fuPool = pool(
        unit("P550IntALU", row(port_map=3), base=objects.IntALU),
        unit("P550MulDiv", ONE_OF_THEM, MULTIPLY, DIVIDER),
        unit("P550FloatAdd", TWO, base=objects.FP_ALU),
        unit("P550FloatMul", TWO, base=objects.FP_MultDiv),
        unit("P550Load", ONE, {"loads": 1}),
        unit("P550Store", ONE, {"stores": 1}),
    )


class L1ICache(InstructionCache):
    size = row(l1i_size_kb="32KiB")
    assoc = assumed(4, "four ways")


class L1DCache(riscv.SiliconCache):
    size = row(l1d_size_kb="32KiB")
    assoc = assumed(4, "four ways")
    tag_latency = data_latency = calibrated(2, "p550/l1d_latency", "with the core's own cycle, 3 to the use")
    mshrs = write_buffers = assumed(8, "a core of its size")


class L2Cache(riscv.SiliconCache):
    size = row(l2_size_kb="256KiB")
    assoc = assumed(8, "eight ways")
    tag_latency = assumed(3, "half of the data's")
    data_latency = calibrated(7, "p550/l2_latency", "the first level and the bus add the rest")
    mshrs = write_buffers = assumed(16, "twice the first level's")
    tgts_per_mshr = assumed(8, "enough for one core")


class L3Cache(L2Cache):
    size = row(l3_size_kb="4MiB")
    assoc = assumed(16, "sixteen ways")
    tag_latency = assumed(10, "half of the data's")
    data_latency = calibrated(24, "p550/l3_latency", "the levels before it add the rest")
    mshrs = write_buffers = assumed(32, "twice the second level's")


def ours(board):
    """What a real gem5 cannot express; there, the board's empty PMA range makes misaligned accesses trap."""
    cpu = board.cpu
    cpu.misaligned.policy = row(unaligned="trap")
    riscv.without(cpu.isa[0], "Zbc", note="not among what its profile demands")
    riscv.without(cpu.isa[0], "Zicond", "Zicboz_fs", note="younger than the core")
    cpu.mmu.itb.size = cpu.mmu.dtb.size = row(dtlb_entries=32)
    riscv.put(cpu.mmu.dtb, assumed({"l2_size": 512, "l2_assoc": 4}, "as the U74"))
    cpu.mmu.dtb.l2_latency = assumed(9, "a look-up of a larger array")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *RISCV)
def P550Board(**options):
    cpu = P550CPU(isa=[objects.RiscvISA(enable_rvv=row(vlen=False))])
    latency = calibrated("166ns", "p550/dram_latency_ns", "the caches and buses on the way add the rest")
    memory = riscv.memory(latency, assumed("8GiB/s", "one core of an LPDDR5"))
    caches = (L1ICache(), L1DCache(), L2Cache(), L3Cache())
    buses = (riscv.Bus(), riscv.Bus())
    return riscv.silicon_board(cpu, CLOCK, ours, memory, caches, buses, misaligned=False, **options)


machine = machine_of(P550Board)
