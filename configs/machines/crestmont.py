"""Intel Crestmont (the small core of Meteor Lake, Core Ultra 7 155H): six-wide, out of order, vectors of 16 bytes.

32 bytes of a vector go as two halves. Ports are functional units: four compute, two load, two store, three vector
pipes. The schedulers are one queue of their joint size. Four cores share the second level; here it is this core's. Not
modelled: decoding by two clusters of three (fetch brings 32 bytes a cycle), the second level's other cores, first-level
TLBs beside the one of 48 entries.
"""

from m5.objects import X86O3CPU

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.families import atom, intel, x86
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "crestmont"
DESCRIPTION = "Intel Crestmont (Meteor Lake, 3 GHz): 6-wide out-of-order, 16-byte vectors, adc of two cycles, FSRM"
ISA = "x86"

row = rows_of("crestmont")
CLOCK = row(clock_mhz="2995MHz")
LOAD_TO_USE = {"L1": 3, "L2": 20, "L3": 64}  # cycles; what `breakeven machines show crestmont` measures

LOGIC = sourced({"vector logic": 1}, "crestmont/lat_simd_add")
MULTIPLY = {"IntAlu": 1, "IntMult": row(lat_imul=5)}
SUM_PIPE = (  # a vector pipe that does everything
    LOGIC,
    assumed({"float adds": 3, "float products": 4, "vector products": 4}, "no source: usual latencies"),
    assumed({"conversions": 4, "SimdShift": 1}, "no source: usual latencies"),
    {**sourced({"reductions": 3}, "crestmont/lat_psadbw"), "shuffles": 1, "float rest": 1},
    dividers(**assumed({"divide": 13, "root": 15}, "no source: usual latencies")),
)


class CrestmontCPU(X86O3CPU):
    fetchBufferSize = calibrated(32, "crestmont/fetch_bytes_per_cycle", "of one cluster")
    fetchWidth = decodeWidth = renameWidth = dispatchWidth = row(rename_width=6)
    fetchToDecodeDelay = calibrated(7, "crestmont/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = assumed(64, "two queues of 32")
    issueWidth = wbWidth = calibrated(11, "crestmont/port_map", "four, two, two, and three of vectors")
    commitWidth = row(retire_width=8)
    squashWidth = assumed(64, "recovery does not walk")
    numROBEntries, numIQEntries = row(rob_size=256, scheduler_size=200)
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=214, vec_prf=207)
    LQEntries, SQEntries = row(load_queue=80, store_queue=50)
    cacheLoadPorts, cacheStorePorts = row(tput_load=2, tput_store=2)
    branchPred = intel.predictor(
        btb=assumed(4096, "no source; its predecessor has 5 K"), returns=assumed(32, "no source")
    )
    fuPool = pool(
        unit("OtherPorts", calibrated(2, "crestmont/tput_int_add", "four, less the two that multiply"), {"IntAlu": 1}),
        unit(
            "MultiplyingPort", calibrated(1, "crestmont/lat_imul", "two of them, less the one that divides"), MULTIPLY
        ),
        unit("DividingPort", assumed(1, "one divides"), MULTIPLY, dividers(integer=row(lat_div=32))),
        unit("PortsLoad", row(tput_load=2), {"loads": 1}),
        unit("PortsStore", row(tput_store=2), {"stores": 1}),
        unit("LogicPipe", calibrated(1, "crestmont/lat_simd_add", "three a cycle"), LOGIC),
        unit("SumPipes", calibrated(2, "crestmont/lat_psadbw", "two a cycle"), *SUM_PIPE),
    )


class L1Cache(x86.SiliconCache):
    size, assoc = row(l1d_size_kb="32KiB", l1d_assoc=8)
    tag_latency = data_latency = calibrated(2, "crestmont/l1d_latency", "with the core's own cycle, 3 to the use")
    mshrs = write_buffers = assumed(16, "no source")


class L2Cache(x86.SiliconCache):
    size = row(l2_size_kb="2MiB")
    assoc = assumed(16, "sixteen ways")
    tag_latency = assumed(4, "before the data")
    data_latency = calibrated(14, "crestmont/l2_latency", "the first level and the bus add the rest")
    mshrs = write_buffers = assumed(48, "no source")
    writeback_clean = assumed(True, "the level below holds what this one drops")


class L3Cache(x86.SiliconCache):
    size, assoc = row(l3_size_kb="24MiB", l3_assoc=12)
    tag_latency = assumed(20, "half of the data's")
    data_latency = calibrated(51, "crestmont/l3_latency", "the levels before it add the rest")
    mshrs = assumed(32, "what one core has under way to memory")
    write_buffers = assumed(48, "as the second level's")
    clusivity = assumed("mostly_excl", "as the large cores'")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    atom.small_core(
        board,
        adc=row(lat_adc=2),
        movs=row(rep_movs_bytes_per_cycle=15.1),
        stos=row(rep_stos_bytes_per_cycle=15.6),
        split=calibrated(1, "crestmont/tput_movdqu_load_off4", "three slots in all"),
    )
    mmu = board.cpu.mmu
    mmu.itb.size = row(dtlb_entries=64)
    mmu.dtb.size = row(dtlb_entries=48)
    mmu.dtb.l2_size, mmu.dtb.l2_assoc = row(stlb_entries=(3072, 6))


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def CrestmontBoard(**options):
    latency = assumed("93ns", "DDR5 of a laptop: about 110 to the use")
    caches = (L1Cache(size=row(l1i_size_kb="64KiB")), L1Cache(), L2Cache(), L3Cache())
    return atom.small_board(CrestmontCPU(isa=x86.intel("Crestmont")), CLOCK, ours, latency, caches, **options)


machine = machine_of(CrestmontBoard)
