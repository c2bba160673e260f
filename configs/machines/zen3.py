"""AMD Zen 3 (EPYC 7J13 at the clock of its measurements): six-wide, a victim third level, REP MOVS minds page offsets.

Ports are functional units: four compute, three generate addresses (three loads or two stores a cycle; of vectors two
and one), four vector pipes. Each scheduler has its own: an ALU and mostly an address unit, or two vector pipes. An
operation takes one entry with its load or store; vector stores wait for their data on the vector side. REP MOVS is fast
unless the destination lies 1 to 15 bytes behind the source modulo 4 KiB: then it goes by element. Not modelled: loads
that take their store's data at renaming (memfile), stores that cross 32 bytes, that stores of different lines take
turns, the op cache (fetch brings 64 bytes a cycle at any time), three-component lea, that only two of the schedulers
take branches.
"""

from itertools import chain

from m5.objects import X86O3CPU

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.families import x86, zen
from machines.families.outoforder import dividers, pool, queues, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "zen3"
DESCRIPTION = (
    "AMD Zen 3 (EPYC 7J13, 3.24 GHz): 6-wide out-of-order, three loads a cycle, REP MOVS slow at near page offsets"
)
ISA = "x86"

row = rows_of("zen3")
CLOCK = row(clock_mhz="3241MHz")
LOAD_TO_USE = {"L1": 4, "L2": 13, "L3": 44}  # cycles; what `breakeven machines show zen3` measures

ONE = row(port_map=1)
BOTH = calibrated({"MemRead": 1, "FloatMemRead": 4, "MemWrite": 1}, "zen3/lat_load_l1", "4 and 7")
LOGIC = sourced({"SimdAlu": 1, "SimdCmp": 1, "SimdAdd": 1, "SimdAddAcc": 1, "SimdMisc": 1}, "zen3/lat_simd_add")
PRODUCTS = {"SimdMult": 3, "SimdMultAcc": 4, "SimdReduceAdd": 3, "SimdReduceAlu": 3}
FLOAT_PRODUCTS = {"single float products": 3, "fused float products": 4, "float rest": 1}
DIVIDER = dividers(**assumed({"divide": 13, "root": 20}, "as its relatives"))
#: multiplications and sums of differences; shifts, shuffles and conversions, beside the divider
MULTIPLIER = {**LOGIC, **PRODUCTS, **FLOAT_PRODUCTS}
SHIFTER = {**LOGIC, "SimdShift": 1, "shuffles": 1, "float adds": 3, "conversions": 3}
VECTOR_PIPES = (
    unit("Vector0And3", assumed(2, "as the guide has them"), MULTIPLIER),
    unit("Vector1And2", assumed(2, "as the guide has them"), SHIFTER, DIVIDER),
)
#: the units of each scheduler
INTEGER = (
    (
        unit("Alu0", ONE, {"IntAlu": 1}, dividers(integer=assumed(17, "one bit pair a cycle"))),
        unit("Address0", ONE, {"MemRead": 1}),
    ),
    (unit("Alu1", ONE, {"IntAlu": 1, "IntMult": row(lat_imul=3)}), unit("Address1", ONE, BOTH)),
    (unit("Alu2", ONE, {"IntAlu": 1}), unit("Address2", ONE, BOTH)),
    (unit("Alu3", ONE, {"IntAlu": 1}),),
)
VECTOR = (
    (unit("Vector0", ONE, MULTIPLIER), unit("Vector2", ONE, SHIFTER, DIVIDER)),
    (
        unit("Vector3", ONE, MULTIPLIER),
        unit("Vector1", ONE, SHIFTER, DIVIDER),
        unit("VectorStore", ONE, {"FloatMemWrite": 1}),
    ),
)


class Zen3CPU(X86O3CPU):
    fetchBufferSize = assumed(64, "eight operations a cycle out of the cache of them; past it, 32 bytes")
    fetchWidth = row(decode_width=8)
    fetchToDecodeDelay = calibrated(6, "zen3/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = assumed(64, "as its relatives")
    decodeWidth = renameWidth = dispatchWidth = row(rename_width=6)
    issueWidth = wbWidth = calibrated(11, "zen3/port_map", "eleven pipes")
    commitWidth, numROBEntries = row(retire_width=8, rob_size=256)
    squashWidth = assumed(64, "recovery does not walk")
    numIQEntries = calibrated(160, "zen3/scheduler_size", "all together: of a gem5 without instQueues")
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=192, vec_prf=160)
    numPhysCCRegs = calibrated(127, "zen3/flags_prf", "with five that always stay")
    LQEntries = calibrated(116, "zen3/load_queue", "waiting and executing ones")
    SQEntries = row(store_queue=64)
    cacheLoadPorts, cacheStorePorts = row(tput_load=3, tput_store=2)
    branchPred = zen.predictor(
        entries=calibrated(6656, "zen3/btb", "6.5 K, the second level's"),
        ways=assumed(13, "512 sets"),
        returns=row(btb=32),
    )
    fuPool = pool(*chain(*INTEGER, *VECTOR))


class L1Cache(x86.SiliconCache):
    size, assoc = row(l1d_size_kb="32KiB", l1d_assoc=8)
    tag_latency = data_latency = calibrated(3, "zen3/l1d_latency", "with the core's own cycle, 4 to the use")
    mshrs = row(mshr_l1d=24)
    write_buffers = assumed(24, "as mshrs")


class L2Cache(x86.SiliconCache):
    size = row(l2_size_kb="512KiB")
    assoc = assumed(8, "as its guide has it")
    tag_latency, data_latency = calibrated((2, 6), "zen3/l2_latency", "the first level and the bus add the rest")
    mshrs = write_buffers = assumed(48, "twice the first level's")
    writeback_clean = assumed(True, "the level below holds what this one drops")


class L3Cache(x86.SiliconCache):
    size = row(l3_size_kb="32768KiB")
    assoc = assumed(16, "as its guide has it")
    tag_latency = assumed(15, "half of the data's")
    data_latency = calibrated(32, "zen3/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(40, "zen3/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(48, "as the second level's")
    clusivity = assumed("mostly_excl", "it holds the second level's victims")


BANDWIDTH = assumed("40GiB/s", "two channels of DDR4-3200 are more than one core asks for")


def schedulers(cpu):
    """An operation goes to the one with the fewest entries taken."""
    integer = sourced(24, "zen3/scheduler_size")
    vector = calibrated(64, "zen3/scheduler_size", "32 and half of the queue before the two")
    cpu.instQueues = queues((integer, INTEGER), (vector, VECTOR))
    cpu.iqInsertionPolicy = assumed("LeastLoaded", "no source; a rule that keeps them even")
    cpu.loadsLeaveAtIssue = assumed(True, "the load queue keeps what is executing")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    movs, stos = row(rep_movs_bytes_per_cycle=29.5), row(rep_stos_bytes_per_cycle=29.2)
    zen.zen_core(board, movs, stos)
    cpu = board.cpu
    schedulers(cpu)
    x86.fences(cpu, calibrated(18, "zen3/mfence", "13 cycles are hidden"))
    cpu.serializingStopsFetch = sourced(True, "zen3/serializing_fetch")
    cpu.mmu.dtb.size = row(dtlb_entries=64)
    cpu.mmu.dtb.l2_size = row(stlb_entries=2048)


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def Zen3Board(**options):
    latency = calibrated("85ns", "zen3/dram_latency_ns", "the caches and buses on the way add the rest")
    memory = x86.memory(latency, BANDWIDTH)
    caches = (L1Cache(), L1Cache(), L2Cache(), L3Cache())
    return zen.zen_board(Zen3CPU(isa=x86.amd("Zen 3")), CLOCK, ours, memory, caches, **options)


machine = machine_of(Zen3Board)
