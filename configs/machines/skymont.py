"""Intel Skymont (the small core of Arrow Lake, Core Ultra 7 265K): eight-wide, out of order, vectors of 16 bytes.

The file of `crestmont` is used; what differs is here, and what is not published of Skymont is Crestmont's. Eight ports
compute, three load, two store; four vector pipes do everything. Not modelled, beside what is not there: three clusters
of decoders (fetch brings 64 bytes a cycle of one path, not 96 of three).
"""

from machines import crestmont
from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import sliced
from machines.families import atom, x86
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "skymont"
DESCRIPTION = "Intel Skymont (Arrow Lake, 3.88 GHz): 8-wide out-of-order, three 16-byte loads a cycle, FSRM"
ISA = "x86"

row = rows_of("skymont")
CLOCK = row(clock_mhz="3878MHz")
LOAD_TO_USE = {"L1": 4, "L2": 20, "L3": 70}  # cycles; what `breakeven machines show skymont` measures

MULTIPLY = {"IntAlu": 1, "IntMult": row(lat_imul=4)}


class SkymontCPU(crestmont.CrestmontCPU):
    fetchBufferSize = calibrated(64, "skymont/fetch_bytes_per_cycle", "two of three clusters: a line")
    fetchWidth = row(rename_width=9)
    fetchToDecodeDelay = calibrated(8, "skymont/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = calibrated(96, "skymont/idq_size", "three together")
    decodeWidth = calibrated(8, "skymont/rename_width", "as renaming takes: with more it blocks every other cycle")
    renameWidth = dispatchWidth = row(rename_width=8)
    issueWidth = wbWidth = calibrated(16, "skymont/port_map", "eight, three, two and four: the model has at most 16")
    commitWidth = row(retire_width=16)
    numROBEntries, numIQEntries = row(rob_size=416, scheduler_size=300)
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=272, vec_prf=283)
    LQEntries, SQEntries = row(load_queue=114, store_queue=56)
    cacheLoadPorts, cacheStorePorts = row(tput_load=3, tput_store=2)
    fuPool = pool(
        unit("OtherPorts", calibrated(6, "skymont/port_map", "eight, less the two that multiply"), {"IntAlu": 1}),
        unit("MultiplyingPort", assumed(1, "two multiply"), MULTIPLY),
        unit("DividingPort", assumed(1, "one divides"), MULTIPLY, dividers(integer=row(lat_div=32))),
        unit("ThreeLoads", row(tput_load=3), {"loads": 1}),
        unit("PortsStore", sourced(2, "crestmont/tput_store"), {"stores": 1}),
        unit("FourPipes", calibrated(4, "skymont/lat_psadbw", "four a cycle"), *crestmont.SUM_PIPE),
    )


class SkymontL1Cache(crestmont.L1Cache):
    tag_latency = data_latency = calibrated(3, "skymont/l1d_latency", "with the core's own cycle, 4 to the use")


class SkymontL2Cache(crestmont.L2Cache):
    size, assoc = row(l2_size_kb="4MiB", l2_assoc=16)
    data_latency = calibrated(13, "skymont/l2_latency", "the first level and the bus add the rest")


class SkymontL3Cache(crestmont.L3Cache):
    size = sourced("30MiB", "lioncove/l3_size_kb")
    assoc = sourced(10, "lioncove/l3_assoc")
    data_latency = calibrated(56, "skymont/l3_latency", "the levels before it add the rest")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    atom.small_core(
        board,
        adc=row(lat_adc=2),
        movs=row(rep_movs_bytes_per_cycle=15.2),
        stos=row(rep_stos_bytes_per_cycle=15.5),
        split=calibrated(0, "skymont/tput_movdqu_load_off4", "two slots in all"),
    )
    mmu = board.cpu.mmu
    mmu.itb.size = row(dtlb_entries=128)
    mmu.dtb.size = row(dtlb_entries=48)
    mmu.dtb.l2_size, mmu.dtb.l2_assoc = row(stlb_entries=(4096, 4))


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def SkymontBoard(**options):
    cpu = SkymontCPU(isa=x86.intel("Skymont"))
    latency = calibrated("95ns", "skymont/dram_latency_ns", "the caches and buses on the way add the rest")
    icache = crestmont.L1Cache(size=sourced("64KiB", "crestmont/l1i_size_kb"))
    l3 = sliced(SkymontL3Cache(), assumed(12, "2.5 MiB each, of 4096 sets"), gem5s="20MiB")
    return atom.small_board(cpu, CLOCK, ours, latency, (icache, SkymontL1Cache(), SkymontL2Cache(), l3), **options)


machine = machine_of(SkymontBoard)
