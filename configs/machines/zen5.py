"""AMD Zen 5 (Ryzen 9 9950X at its base clock): eight-wide, four loads or two stores a cycle, 48 KiB of first level.

The files of `zen3` and `zen4` are used; what differs is here, and what is not published of Zen 5 is theirs: so REP MOVS
minds page offsets here, which nobody has measured on this core. Memory pipes are four: two load, vectors included, two
load general registers or store. Not modelled, beside what is not there either: AVX-512's floating point, the two
decoders' clusters, that the first level's 64 bytes a store are one access.
"""

from machines import zen3, zen4
from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.families import x86, zen
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of

NAME = "zen5"
DESCRIPTION = "AMD Zen 5 (Ryzen 9 9950X, 4.3 GHz): 8-wide out-of-order, four loads a cycle, REP MOVSB 56 bytes a cycle"
ISA = "x86"

row = rows_of("zen5")
CLOCK = row(clock_mhz="4300MHz")
LOAD_TO_USE = {"L1": 4, "L2": 14, "L3": 49}  # cycles; what `breakeven machines show zen5` measures

LOADS = calibrated({"MemRead": 1, "FloatMemRead": 4}, "zen5/lat_load_l1", "4 and 7")
MULTIPLY = {"IntMult": row(lat_imul=3)}
DIVIDER = dividers(integer=row(lat_div=18))


class Zen5CPU(zen4.Zen4CPU):
    fetchWidth = decodeWidth = renameWidth = dispatchWidth = row(rename_width=8)
    fetchToDecodeDelay = calibrated(8, "zen5/branch_mispredict", "the stages that a new path goes through")
    issueWidth = wbWidth = calibrated(16, "zen5/port_map", "six, four and six pipes")
    commitWidth, numROBEntries = row(retire_width=8, rob_size=448)
    numIQEntries = calibrated(250, "zen5/scheduler_size", "all together")
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=240, vec_prf=384)
    LQEntries, SQEntries = row(load_queue=128, store_queue=104)
    cacheLoadPorts, cacheStorePorts = row(tput_load=4, tput_store=2)
    fuPool = pool(
        unit("OtherAlus", calibrated(2, "zen5/port_map", "ALU 4 and 5"), {"IntAlu": 1}),
        unit("MultiplyingAlus", calibrated(3, "zen5/port_map", "ALU 0 to 2"), {"IntAlu": 1, **MULTIPLY}),
        unit("DividingAlu", calibrated(1, "zen5/port_map", "ALU 3"), {"IntAlu": 1}, DIVIDER),
        unit("LoadPipes", calibrated(2, "zen5/tput_load", "two of vectors"), LOADS),
        unit("StorePipes", calibrated(2, "zen5/tput_store", "two a cycle"), {"MemRead": 1, "stores": 1}),
        *zen3.VECTOR_PIPES,
    )


class L1Cache(zen3.L1Cache):
    size, assoc = row(l1d_size_kb="48KiB", l1d_assoc=12)


class L2Cache(zen3.L2Cache):
    size, assoc = row(l2_size_kb="1MiB", l2_assoc=16)
    data_latency = calibrated(7, "zen5/l2_latency", "the first level and the bus add the rest")


class L3Cache(zen4.L3Cache):
    data_latency = calibrated(37, "zen5/l3_latency", "the levels before it add the rest")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    cpu = board.cpu
    zen.zen_core(
        board,
        movs=row(rep_movs_bytes_per_cycle=55.9),
        stos=row(rep_stos_bytes_per_cycle=61.8),
        block=calibrated(64, "zen5/rep_movs_bytes_per_cycle", "a line"),
    )
    cpu.isa[0].enable_avx512 = row(avx512=True)
    cpu.isa[0].microcode.max_access = row(avx512=64)
    cpu.isa[0].microcode.max_store = calibrated(32, "zen5/tput_store", "two halves a cycle")
    cpu.mmu.dtb.size = row(dtlb_entries=96)
    cpu.mmu.dtb.l2_size = row(stlb_entries=4096)
    x86.fences(cpu, assumed(12, "as Zen 4's"))
    cpu.dcache.way_predictor_masks = assumed([], "no source has Zen 5's hash")
    cpu.misaligned.line_cross_store = calibrated(1, "zen5/split_store_cost", "a second access")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def Zen5Board(**options):
    latency = calibrated("70ns", "zen5/dram_latency_ns", "the caches and buses on the way add the rest")
    memory = x86.memory(latency, zen3.BANDWIDTH)
    caches = (zen3.L1Cache(), L1Cache(), L2Cache(), L3Cache())
    return zen.zen_board(Zen5CPU(isa=x86.amd("Zen 5")), CLOCK, ours, memory, caches, **options)


machine = machine_of(Zen5Board)
