"""Intel Lion Cove (the large core of Arrow Lake, Core Ultra 7 265K): eight-wide, four levels of data cache, no SMT.

Its schedulers of integers and of vectors are apart, as are their ports: six, four, and for memory three that load and
three that store, two stores' data a cycle. What it calls L0 (48 KiB) is `cpu.dcache` here, its L1 (192 KiB) `l2`, its
L2 `l3`, its L3 `l4`. The file of `goldencove` is used; what is not published of Lion Cove is Golden Cove's, as are the
modes of REP MOVS; the schedulers are one queue of their joint size. Not modelled: what is not modelled there.
"""

from machines import goldencove
from machines.constructors import L4, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import sliced
from machines.families import intel, x86
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "lioncove"
DESCRIPTION = "Intel Lion Cove (Arrow Lake, 3.88 GHz): 8-wide out-of-order, 48 and 192 KiB before 3 MiB of L2, FSRM"
ISA = "x86"

row = rows_of("lioncove")
CLOCK = row(clock_mhz="3878MHz")
LOAD_TO_USE = {"L1": 4, "L2": 9, "L3": 17, "L4": 80}  # cycles; what `breakeven machines show lioncove` measures

LOGIC = sourced({"vector logic": 1}, "lioncove/lat_simd_add")
MULTIPLY = {"IntMult": row(lat_imul=3)}
ODD = calibrated(2, "lioncove/port_map", "three, less the one that divides")
PRODUCTS = {
    "SimdShift": 1,
    "vector products": 5,
    "float rest": 1,
    **sourced({"float products": 4, "conversions": 4}, "lioncove/lat_fp"),
}
SUMS = {**sourced({"reductions": 3}, "lioncove/lat_psadbw"), **sourced({"float adds": 3}, "lioncove/lat_fp")}
INT_DIVIDER = dividers(integer=row(lat_div=19))
DIVIDER = dividers(**assumed({"divide": 11, "root": 13}, "as Golden Cove"))


class LionCoveCPU(goldencove.GoldenCoveCPU):
    fetchWidth = row(rename_width=12)
    fetchToDecodeDelay = calibrated(8, "lioncove/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = row(idq_size=192)
    decodeWidth = renameWidth = dispatchWidth = row(rename_width=8)
    issueWidth = wbWidth = calibrated(16, "lioncove/port_map", "eighteen; the model has at most 16")
    commitWidth, numROBEntries = row(retire_width=12, rob_size=576)
    numIQEntries = calibrated(410, "lioncove/scheduler_size", "all together")
    LQEntries, SQEntries = assumed((192, 114), "as Golden Cove")
    cacheStorePorts = row(tput_store=2)
    fuPool = pool(
        unit("EvenPorts", calibrated(3, "lioncove/port_map", "three"), {"IntAlu": 1}),
        unit("OddPorts", ODD, {"IntAlu": 1, **MULTIPLY}),
        unit("DividingPort", calibrated(1, "lioncove/port_map", "P1"), {"IntAlu": 1, **MULTIPLY}, INT_DIVIDER),
        unit("Vectors2And3", calibrated(2, "lioncove/port_map", "V2 and V3"), {**LOGIC, "shuffles": 1, **SUMS}),
        unit("Vectors0And1", calibrated(2, "lioncove/port_map", "V0 and V1"), {**LOGIC, **PRODUCTS}, DIVIDER),
        unit("PortsLoad", row(port_map=3), {"loads": 1}),
        unit("PortsStore", row(tput_store=2), {"stores": 1}),
    )


class L0DCache(goldencove.L1Cache):
    tag_latency = data_latency = calibrated(3, "lioncove/l1d_latency", "with the core's own cycle, 4 to the use")


class MiddleCache(x86.SiliconCache):
    """192 KiB between the first level and the second: Intel's L1."""

    size, assoc = row(l1_size_kb="192KiB", l1_assoc=12)
    tag_latency = assumed(1, "before the data")
    data_latency = calibrated(2, "lioncove/l1_latency", "the level before it and the bus add the rest")
    mshrs = write_buffers = assumed(16, "as the level before it")
    writeback_clean = assumed(True, "the level below holds what this one drops")


class LionCoveL2Cache(goldencove.L2Cache):
    size, assoc = row(l2_size_kb="3MiB", l2_assoc=12)
    data_latency = calibrated(6, "lioncove/l2_latency", "the levels before it and the buses add the rest")


class LionCoveL3Cache(goldencove.L3Cache):
    size, assoc = row(l3_size_kb="30MiB", l3_assoc=10)
    data_latency = calibrated(64, "lioncove/l3_latency", "the levels before it add the rest")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    cpu = board.cpu
    goldencove.ours(
        board,
        mul=row(lat_mul_wide=5),
        movs=calibrated(57, "lioncove/rep_movs_bytes_per_cycle", "of both"),
        stos=row(rep_stos_bytes_per_cycle=56.5),
        streams=board.l3,
    )
    cpu.loopBufferSize = calibrated(768, "lioncove/idq_size", "four bytes of code a micro-op")
    cpu.mmu.dtb.size, cpu.mmu.dtb.assoc = row(dtlb_entries=(128, 8))
    cpu.mmu.dtb.l2_size = calibrated(2048, "lioncove/stlb_entries", "both halves")


@constructor(*OUT_OF_ORDER, *L4, *MEMORY, *X86, "prefetchers")
def LionCoveBoard(**options):
    icache = goldencove.L1ICache(size=row(l1i_size_kb="64KiB"), assoc=row(l1i_assoc=16))
    l4 = sliced(LionCoveL3Cache(), assumed(12, "2.5 MiB each, of 4096 sets"), gem5s="20MiB")
    latency = calibrated("95ns", "lioncove/dram_latency_ns", "the caches and buses on the way add the rest")
    memory = x86.memory(latency, assumed("40GiB/s", "one core of two channels of DDR5"))
    caches = (icache, L0DCache(), MiddleCache(), LionCoveL2Cache(), l4)
    buses = (intel.LineBus(), intel.LineBus(), intel.Ring())
    return x86.silicon_board(LionCoveCPU(isa=x86.intel("Lion Cove")), CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(LionCoveBoard)
