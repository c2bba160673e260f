"""AMD Zen 5 (Ryzen 9 9950X at its base clock): eight-wide, four loads or two stores a cycle, 48 KiB of first level.

The files of `zen3` and `zen4` are used; what differs is here, and what is not published of Zen 5 is theirs: so REP MOVS
minds page offsets here, which nobody has measured on this core. Memory pipes are four: two load, vectors included, two
load general registers or store. Not modelled, beside what is not there either: AVX-512's floating point, the two
decoders' clusters, that the first level's 64 bytes a store are one access.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import FUDesc, FUPool, IprPort, PredALU

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import MEMORY_SIZE, dividers, fences, ops, vector_logic
from machines.zen3 import L1Cache, L2Cache, Memory, Vector0And3, Vector1And2, microcode, ours, zen_board, zen_cpu
from machines.zen4 import Zen4BranchPredictor, Zen4CPU, Zen4L3Cache

NAME = "zen5"
DESCRIPTION = "AMD Zen 5 (Ryzen 9 9950X, 4.3 GHz): 8-wide out-of-order, four loads a cycle, REP MOVSB 56 bytes a cycle"
ISA = "x86"

CLOCK = sourced("4300MHz", "zen5/clock_mhz")
LOAD_TO_USE = {"L1": 4, "L2": 14, "L3": 49}  # cycles; what `breakeven machines show zen5` measures
MOVS = sourced(55.9, "zen5/rep_movs_bytes_per_cycle")
STOS = sourced(61.8, "zen5/rep_stos_bytes_per_cycle")

VECTOR = vector_logic("zen5/lat_simd_add")


class MultiplyingAlus(FUDesc):
    count = calibrated(3, "zen5/port_map", "ALU 0 to 2")
    opList = [*ops({"IntAlu": 1, "IntMult": sourced(3, "zen5/lat_imul")})]


class DividingAlu(FUDesc):
    count = calibrated(1, "zen5/port_map", "ALU 3")
    opList = [*ops({"IntAlu": 1}), *dividers(integer=sourced(18, "zen5/lat_div"))]


class OtherAlus(FUDesc):
    count = calibrated(2, "zen5/port_map", "ALU 4 and 5")
    opList = [*ops({"IntAlu": 1})]


class LoadPipes(FUDesc):
    """Loads of any kind."""

    count = calibrated(2, "zen5/tput_load", "two of vectors")
    opList = [*ops(calibrated({"MemRead": 1, "FloatMemRead": 4}, "zen5/lat_load_l1", "4 and 7"))]


class StorePipes(FUDesc):
    """Stores of any kind, and loads of general registers."""

    count = calibrated(2, "zen5/tput_store", "two a cycle")
    opList = [*ops({"MemRead": 1, "MemWrite": 1, "FloatMemWrite": 1})]


class Zen5FUPool(FUPool):
    FUList = [
        *(OtherAlus(), MultiplyingAlus(), DividingAlu()),
        *(LoadPipes(), StorePipes()),
        *(Vector0And3(), Vector1And2(), PredALU(), IprPort()),
    ]


class Zen5CPU(Zen4CPU):
    fetchWidth = sourced(8, "zen5/rename_width")
    fetchToDecodeDelay = calibrated(9, "zen5/branch_mispredict", "the stages that a new path goes through")
    decodeWidth = sourced(8, "zen5/rename_width")
    renameWidth = sourced(8, "zen5/rename_width")
    dispatchWidth = sourced(8, "zen5/rename_width")
    issueWidth = calibrated(16, "zen5/port_map", "six, four and six pipes")
    wbWidth = calibrated(16, "zen5/port_map", "as issueWidth")
    commitWidth = sourced(8, "zen5/retire_width")
    numROBEntries = sourced(448, "zen5/rob_size")
    numIQEntries = calibrated(250, "zen5/scheduler_size", "all together")
    numPhysIntRegs = sourced(240, "zen5/int_prf")
    numPhysFloatRegs = sourced(384, "zen5/vec_prf")
    LQEntries = sourced(128, "zen5/load_queue")
    SQEntries = sourced(104, "zen5/store_queue")
    cacheLoadPorts = sourced(4, "zen5/tput_load")
    cacheStorePorts = sourced(2, "zen5/tput_store")
    fuPool = Zen5FUPool()
    branchPred = Zen4BranchPredictor()


class Zen5L1Cache(L1Cache):
    size = sourced("48KiB", "zen5/l1d_size_kb")
    assoc = sourced(12, "zen5/l1d_assoc")


class Zen5L2Cache(L2Cache):
    size = sourced("1MiB", "zen5/l2_size_kb")
    assoc = sourced(16, "zen5/l2_assoc")
    data_latency = calibrated(7, "zen5/l2_latency", "the first level and the bus add the rest")


class Zen5L3Cache(Zen4L3Cache):
    data_latency = calibrated(37, "zen5/l3_latency", "the levels before it add the rest")


class Zen5Memory(Memory):
    latency = calibrated("70ns", "zen5/dram_latency_ns", "the caches and buses on the way add the rest")


def zen5s(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    ours(cpu, dcache, l2, microcode(MOVS, STOS, block=calibrated(64, "zen5/rep_movs_bytes_per_cycle", "a line")))
    cpu.isa[0].enable_avx512 = sourced(True, "zen5/avx512")
    cpu.isa[0].microcode.max_access = sourced(64, "zen5/avx512")
    cpu.isa[0].microcode.max_store = calibrated(32, "zen5/tput_store", "two halves a cycle")
    cpu.mmu.dtb.l2_size = sourced(4096, "zen5/stlb_entries")
    fences(cpu, assumed(12, "as Zen 4's"))
    dcache.way_predictor_masks = assumed([], "no source has Zen 5's hash")
    cpu.misaligned.line_cross_store = calibrated(1, "zen5/split_store_cost", "a second access")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def Zen5Board(**options):
    cpu = zen_cpu(Zen5CPU, "Zen 5")
    cpu.mmu.dtb.size = sourced(96, "zen5/dtlb_entries")
    dcache, l2 = Zen5L1Cache(), Zen5L2Cache()
    extend(zen5s, cpu, dcache, l2)
    return zen_board(cpu, CLOCK, dcache, l2, Zen5L3Cache(), Zen5Memory(range=board_range(MEMORY_SIZE)), **options)


machine = machine_of(Zen5Board)
