"""Intel Skymont (the small core of Arrow Lake, Core Ultra 7 265K): eight-wide, out of order, vectors of 16 bytes.

The file of `crestmont` is used; what differs is here, and what is not published of Skymont is Crestmont's. Eight ports
compute, three load, two store; four vector pipes do everything. Not modelled, beside what is not there: three clusters
of decoders (fetch brings 64 bytes a cycle of one path, not 96 of three).

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import X86ISA, FUDesc, FUPool, IprPort, PredALU

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.crestmont import (
    CrestmontCPU,
    L1Cache,
    L2Cache,
    L3Cache,
    PortsLoad,
    PortsStore,
    SumPipes,
    microcode,
    mont_board,
    ours,
)
from machines.extensions import extend, sliced
from machines.provenance import assumed, calibrated, sourced
from machines.x86_silicon import dividers, ops

NAME = "skymont"
DESCRIPTION = "Intel Skymont (Arrow Lake, 3.88 GHz): 8-wide out-of-order, three 16-byte loads a cycle, FSRM"
ISA = "x86"

CLOCK = sourced("3878MHz", "skymont/clock_mhz")
LOAD_TO_USE = {"L1": 4, "L2": 20, "L3": 70}  # cycles; what `breakeven machines show skymont` measures


class DividingPort(FUDesc):
    count = assumed(1, "one divides")
    opList = [
        *ops({"IntAlu": 1, "IntMult": sourced(4, "skymont/lat_imul")}),
        *dividers(integer=sourced(32, "skymont/lat_div")),
    ]


class MultiplyingPort(FUDesc):
    count = assumed(1, "two multiply")
    opList = [*ops({"IntAlu": 1, "IntMult": sourced(4, "skymont/lat_imul")})]


class OtherPorts(FUDesc):
    count = calibrated(6, "skymont/port_map", "eight, less the two that multiply")
    opList = [*ops({"IntAlu": 1})]


class ThreeLoads(PortsLoad):
    count = sourced(3, "skymont/tput_load")


class FourPipes(SumPipes):
    count = calibrated(4, "skymont/lat_psadbw", "four a cycle")


class SkymontFUPool(FUPool):
    FUList = [
        *(OtherPorts(), MultiplyingPort(), DividingPort(), ThreeLoads(), PortsStore()),
        *(FourPipes(), PredALU(), IprPort()),
    ]


class SkymontCPU(CrestmontCPU):
    fetchBufferSize = calibrated(64, "skymont/fetch_bytes_per_cycle", "two of three clusters: a line")
    fetchWidth = sourced(9, "skymont/rename_width")
    fetchToDecodeDelay = calibrated(8, "skymont/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = calibrated(96, "skymont/idq_size", "three together")
    decodeWidth = calibrated(8, "skymont/rename_width", "as renaming takes: with more it blocks every other cycle")
    renameWidth = sourced(8, "skymont/rename_width")
    dispatchWidth = sourced(8, "skymont/rename_width")
    issueWidth = calibrated(16, "skymont/port_map", "eight, three, two and four: the model has at most 16")
    wbWidth = calibrated(16, "skymont/port_map", "as issueWidth")
    commitWidth = sourced(16, "skymont/retire_width")
    numROBEntries = sourced(416, "skymont/rob_size")
    numIQEntries = sourced(300, "skymont/scheduler_size")
    numPhysIntRegs = sourced(272, "skymont/int_prf")
    numPhysFloatRegs = sourced(283, "skymont/vec_prf")
    LQEntries = sourced(114, "skymont/load_queue")
    SQEntries = sourced(56, "skymont/store_queue")
    cacheLoadPorts = sourced(3, "skymont/tput_load")
    cacheStorePorts = sourced(2, "skymont/tput_store")
    fuPool = SkymontFUPool()


class SkymontL1Cache(L1Cache):
    tag_latency = calibrated(3, "skymont/l1d_latency", "with the core's own cycle, 4 to the use")
    data_latency = calibrated(3, "skymont/l1d_latency", "as tag_latency")


class SkymontL2Cache(L2Cache):
    size = sourced("4MiB", "skymont/l2_size_kb")
    assoc = sourced(16, "skymont/l2_assoc")
    data_latency = calibrated(13, "skymont/l2_latency", "the first level and the bus add the rest")


class SkymontL3Cache(L3Cache):
    size = sourced("30MiB", "lioncove/l3_size_kb")
    assoc = sourced(10, "lioncove/l3_assoc")
    data_latency = calibrated(56, "skymont/l3_latency", "the levels before it add the rest")


def skymonts(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    movs = sourced(15.2, "skymont/rep_movs_bytes_per_cycle")
    stos = sourced(15.5, "skymont/rep_stos_bytes_per_cycle")
    split = calibrated(0, "skymont/tput_movdqu_load_off4", "two slots in all")
    ours(cpu, dcache, l2, microcode(sourced(2, "skymont/lat_adc"), movs, stos), split)
    cpu.mmu.dtb.l2_size = sourced(4096, "skymont/stlb_entries")
    cpu.mmu.dtb.l2_assoc = sourced(4, "skymont/stlb_entries")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def SkymontBoard(**options):
    cpu = SkymontCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Skymont")])
    cpu.mmu.itb.size = sourced(128, "skymont/dtlb_entries")
    cpu.mmu.dtb.size = sourced(48, "skymont/dtlb_entries")
    dcache, l2, l3 = SkymontL1Cache(), SkymontL2Cache(), SkymontL3Cache()
    extend(skymonts, cpu, dcache, l2)
    sliced(l3, assumed(12, "2.5 MiB each, of 4096 sets"), gem5s="20MiB")
    latency = calibrated("95ns", "skymont/dram_latency_ns", "the caches and buses on the way add the rest")
    return mont_board(cpu, CLOCK, latency, dcache, l2, l3, **options)


machine = machine_of(SkymontBoard)
