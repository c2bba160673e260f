"""Intel Lion Cove (the large core of Arrow Lake, Core Ultra 7 265K): eight-wide, four levels of data cache, no SMT.

Its schedulers of integers and of vectors are apart, as are their ports: six, four, and for memory three that load and
three that store, two stores' data a cycle. What it calls L0 (48 KiB) is `cpu.dcache` here, its L1 (192 KiB) `l2`, its
L2 `l3`, its L3 `l4`. The file of `goldencove` is used; what is not published of Lion Cove is Golden Cove's, as are the
modes of REP MOVS; the schedulers are one queue of their joint size. Not modelled: what is not modelled there.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import FUDesc, FUPool, IprPort, PredALU, SimpleMemory

from machines.constructors import L4, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import extend, sliced
from machines.goldencove import (
    GoldenCoveCPU,
    L1Cache,
    L1ICache,
    L2Bus,
    L2Cache,
    L3Bus,
    L3Cache,
    cove_cpu,
    microcode,
    ours,
)
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import (
    MEMORY_SIZE,
    LoadPorts,
    SiliconCache,
    StorePorts,
    dividers,
    ops,
    silicon_board,
    vector_logic,
)

NAME = "lioncove"
DESCRIPTION = "Intel Lion Cove (Arrow Lake, 3.88 GHz): 8-wide out-of-order, 48 and 192 KiB before 3 MiB of L2, FSRM"
ISA = "x86"

CLOCK = sourced("3878MHz", "lioncove/clock_mhz")
LOAD_TO_USE = {"L1": 4, "L2": 9, "L3": 17, "L4": 80}  # cycles; what `breakeven machines show lioncove` measures

VECTOR = vector_logic("lioncove/lat_simd_add")
FLOATS = ("FloatAdd", "FloatCmp", "SimdFloatAdd", "SimdFloatCmp", "SimdFloatAlu")
CONVERSIONS = ("FloatCvt", "SimdCvt", "SimdFloatCvt")
PRODUCTS = ("FloatMult", "SimdFloatMult", "FloatMultAcc", "SimdFloatMultAcc")


class OddPorts(FUDesc):
    """P1, P3, P5: they multiply; one divides."""

    count = calibrated(2, "lioncove/port_map", "three, less the one that divides")
    opList = [*ops({"IntAlu": 1, "IntMult": sourced(3, "lioncove/lat_imul")})]


class DividingPort(FUDesc):
    count = calibrated(1, "lioncove/port_map", "P1")
    opList = [
        *ops({"IntAlu": 1, "IntMult": sourced(3, "lioncove/lat_imul")}),
        *dividers(integer=sourced(19, "lioncove/lat_div")),
    ]


class EvenPorts(FUDesc):
    """P0, P2, P4."""

    count = calibrated(3, "lioncove/port_map", "three")
    opList = [*ops({"IntAlu": 1})]


class Vectors0And1(FUDesc):
    count = calibrated(2, "lioncove/port_map", "V0 and V1")
    opList = [
        *ops({**VECTOR, "SimdShift": 1, "SimdMult": 5, "SimdMultAcc": 5, "FloatMisc": 1, "SimdFloatMisc": 1}),
        *ops(sourced(dict.fromkeys((*PRODUCTS, *CONVERSIONS), 4), "lioncove/lat_fp")),
        *dividers(**assumed({"divide": 11, "root": 13}, "as Golden Cove")),
    ]


class Vectors2And3(FUDesc):
    count = calibrated(2, "lioncove/port_map", "V2 and V3")
    opList = [
        *ops({**VECTOR, "SimdExt": 1, "SimdFloatExt": 1}),
        *ops(sourced({"SimdReduceAlu": 3, "SimdReduceAdd": 3}, "lioncove/lat_psadbw")),
        *ops(sourced(dict.fromkeys(FLOATS, 3), "lioncove/lat_fp")),
    ]


class PortsLoad(LoadPorts):
    count = sourced(3, "lioncove/port_map")


class PortsStore(StorePorts):
    count = sourced(2, "lioncove/tput_store")


class LionCoveFUPool(FUPool):
    FUList = [
        *(EvenPorts(), OddPorts(), DividingPort(), Vectors2And3(), Vectors0And1()),
        *(PortsLoad(), PortsStore(), PredALU(), IprPort()),
    ]


class LionCoveCPU(GoldenCoveCPU):
    fetchWidth = sourced(12, "lioncove/rename_width")
    fetchToDecodeDelay = calibrated(8, "lioncove/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = sourced(192, "lioncove/idq_size")
    decodeWidth = sourced(8, "lioncove/rename_width")
    renameWidth = sourced(8, "lioncove/rename_width")
    dispatchWidth = sourced(8, "lioncove/rename_width")
    issueWidth = calibrated(16, "lioncove/port_map", "eighteen; the model has at most 16")
    wbWidth = calibrated(16, "lioncove/port_map", "as issueWidth")
    commitWidth = sourced(12, "lioncove/retire_width")
    numROBEntries = sourced(576, "lioncove/rob_size")
    numIQEntries = calibrated(410, "lioncove/scheduler_size", "all together")
    LQEntries = assumed(192, "as Golden Cove")
    SQEntries = assumed(114, "as Golden Cove")
    cacheStorePorts = sourced(2, "lioncove/tput_store")
    fuPool = LionCoveFUPool()


class L0DCache(L1Cache):
    tag_latency = calibrated(3, "lioncove/l1d_latency", "with the core's own cycle, 4 to the use")
    data_latency = calibrated(3, "lioncove/l1d_latency", "as tag_latency")


class MiddleCache(SiliconCache):
    """192 KiB between the first level and the second: Intel's L1."""

    size = sourced("192KiB", "lioncove/l1_size_kb")
    assoc = sourced(12, "lioncove/l1_assoc")
    tag_latency = assumed(1, "before the data")
    data_latency = calibrated(2, "lioncove/l1_latency", "the level before it and the bus add the rest")
    mshrs = assumed(16, "as the level before it")
    write_buffers = assumed(16, "as mshrs")
    writeback_clean = assumed(True, "the level below holds what this one drops")


class LionCoveL2Cache(L2Cache):
    size = sourced("3MiB", "lioncove/l2_size_kb")
    assoc = sourced(12, "lioncove/l2_assoc")
    data_latency = calibrated(6, "lioncove/l2_latency", "the levels before it and the buses add the rest")


class LionCoveL3Cache(L3Cache):
    size = sourced("30MiB", "lioncove/l3_size_kb")
    assoc = sourced(10, "lioncove/l3_assoc")
    data_latency = calibrated(64, "lioncove/l3_latency", "the levels before it add the rest")


def lioncoves(cpu, dcache, l2):
    """What a real gem5 cannot express, beside Golden Cove's."""
    mul = sourced(5, "lioncove/lat_mul_wide")
    movs = calibrated(57, "lioncove/rep_movs_bytes_per_cycle", "of both")
    ours(cpu, dcache, l2, microcode(mul, movs, sourced(56.5, "lioncove/rep_stos_bytes_per_cycle")))
    cpu.loopBufferSize = calibrated(768, "lioncove/idq_size", "four bytes of code a micro-op")
    cpu.mmu.dtb.assoc = sourced(8, "lioncove/dtlb_entries")
    cpu.mmu.dtb.l2_size = calibrated(2048, "lioncove/stlb_entries", "both halves")


@constructor(*OUT_OF_ORDER, *L4, *MEMORY, *X86, "prefetchers")
def LionCoveBoard(**options):
    cpu = cove_cpu(LionCoveCPU, "Lion Cove")
    cpu.mmu.dtb.size = sourced(128, "lioncove/dtlb_entries")
    dcache, l3, l4 = L0DCache(), LionCoveL2Cache(), LionCoveL3Cache()
    extend(lioncoves, cpu, dcache, l3)
    sliced(l4, assumed(12, "2.5 MiB each, of 4096 sets"), gem5s="20MiB")
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("95ns", "lioncove/dram_latency_ns", "the caches and buses on the way add the rest"),
        bandwidth=assumed("40GiB/s", "one core of two channels of DDR5"),
    )
    return silicon_board(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(size=sourced("64KiB", "lioncove/l1i_size_kb"), assoc=sourced(16, "lioncove/l1i_assoc")),
        dcache=dcache,
        l2=MiddleCache(),
        l2bus=L2Bus(),
        l3=l3,
        l3bus=L2Bus(),
        l4=l4,
        l4bus=L3Bus(),
        **options,
    )


machine = machine_of(LionCoveBoard)
