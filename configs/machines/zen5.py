"""AMD Zen 5 (Ryzen 9 9950X at its base clock): eight-wide, four loads or two stores a cycle, 48 KiB of first level.

The files of `zen3` and `zen4` are used; what differs is here, and what is neither published nor measured of Zen 5 is
theirs. Fences, string instructions, forwarding and crossings are fitted to probes of an EPYC 9005 (Turin). Each of
the four memory pipes loads general registers; two load vectors, two store, and one of these does both, so equal numbers
of vector loads and stores take 0.75 cycles a pair. Not modelled, beside what is not there either: AVX-512's floating
point, the two decoders' clusters, that the first level's 64 bytes a store are one access, that a load of what a store
has just written takes no time (memory renaming), that non-temporal stores to lines in the first level are cheap.
"""

from machines import zen3, zen4
from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.families import x86, zen
from machines.families.outoforder import dividers, pool, queues, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "zen5"
DESCRIPTION = "AMD Zen 5 (Ryzen 9 9950X, 4.3 GHz): 8-wide out-of-order, four loads a cycle, REP MOVSB 40 bytes a cycle"
ISA = "x86"

row = rows_of("zen5")
CLOCK = row(clock_mhz="4300MHz")
LOAD_TO_USE = {"L1": 4, "L2": 14, "L3": 49}  # cycles; what `breakeven machines show zen5` measures

LOADS = calibrated({"MemRead": 1, "FloatMemRead": 4}, "zen5/lat_load_l1", "4 and 7")
MULTIPLY = {"IntMult": row(lat_imul=3)}
DIVIDER = dividers(integer=row(lat_div=18))

LOGIC = calibrated(dict.fromkeys(zen3.LOGIC, 2), "zen5/lat_simd_here", "a chain of 64 additions: 2.04 each")
SHUFFLES = calibrated({"SimdShift": 2, "shuffles": 2}, "zen5/lat_simd_here", "a chain of 64 shuffles: 1.96 each")
MULTIPLIER, SHIFTER = {**zen3.MULTIPLIER, **LOGIC}, {**zen3.SHIFTER, **LOGIC, **SHUFFLES}
#: REP MOVS and STOS: bytes at a time; an element that is no byte; bytes a cycle of up to 1 KiB, of more
LINE = calibrated(64, "zen5/rep_movs_bytes_per_cycle", "a line")
WIDE = calibrated(2, "zen5/rep_movs_startup_wide", "any but bytes")
RATE = calibrated(64, "zen5/rep_movs_startup_long", "hardly more cycles from 128 to 1024 bytes")
LONG_RATE = calibrated(40, "zen5/rep_movs_pace", "a line every 1.6 cycles")
#: micro-ops before the first access, by the most bytes (the keys)
WIDE_MOVS = calibrated({0: 258, 255: 90}, "zen5/rep_movs_startup_wide", "alone 39 cycles of nothing, 18 of 8 bytes")
BYTES_MOVS = calibrated({0: 51, 127: 46, 1024: 203}, "zen5/rep_movs_startup_long", "alone 7, 8 and 43 cycles")
LONG_MOVS = calibrated({zen.ANY: 178}, "zen5/rep_movs_pace", "alone 63 cycles of 2 KiB, 136 of 4 KiB")
NEAR_MOVS = calibrated({127: 273, 1024: 400}, "zen5/rep_movs_align_sensitivity", "alone 56 cycles of 64 B, 83 of 128")
NEAR_LONG = calibrated({zen.ANY: 460}, "zen5/rep_movs_align_sensitivity", "alone 116 cycles of 2 KiB, 551 of 16 KiB")
WIDE_STOS = calibrated({0: 245, 255: 100}, "zen5/rep_stos_startup", "alone 36 cycles of nothing, 15 of 8 bytes")
BYTES_STOS = calibrated({127: 58, 1024: 203}, "zen5/rep_stos_startup", "alone 7 cycles up to 112 bytes, 39 of 128")
LONG_STOS = calibrated({zen.ANY: 211}, "zen5/rep_stos_startup", "alone 137 cycles of 4 KiB")
#: cycles before the first byte of one that goes down
DOWN = calibrated(194, "zen5/rep_movs_by_element", "64 bytes make 275")
#: the units of each scheduler
ALUS = (
    unit("OtherAlus", calibrated(1, "zen5/additions_here", "5.2 additions a cycle, not six"), {"IntAlu": 1}),
    unit("MultiplyingAlus", calibrated(3, "zen5/port_map", "ALU 0 to 2"), {"IntAlu": 1, **MULTIPLY}),
    unit("DividingAlu", calibrated(1, "zen5/port_map", "ALU 3"), {"IntAlu": 1}, DIVIDER),
)
ONE = calibrated(1, "zen5/vector_pairs_here", "three of the four take vectors")
MEMORY_PIPES = (
    unit("GeneralLoadPipe", ONE, {"MemRead": 1}),
    unit("LoadPipe", ONE, LOADS),
    unit("StorePipe", ONE, {"MemRead": 1, "stores": 1}),
    unit("LoadStorePipe", ONE, {**LOADS, "stores": 1}),
)
VECTOR_PIPES = (
    unit("Vector0And3", calibrated(2, "zen5/port_map", "the multipliers"), MULTIPLIER),
    unit("Vector1And2", calibrated(2, "zen5/port_map", "the shifters"), SHIFTER, zen3.DIVIDER),
)


class Zen5CPU(zen4.Zen4CPU):
    fetchWidth = row(fetch_width=12)
    decodeWidth = renameWidth = dispatchWidth = row(rename_width=8)
    fetchToDecodeDelay = calibrated(13, "zen5/branch_mispredict_here", "half of the branches: 10.4 cycles each")
    issueWidth = wbWidth = calibrated(16, "zen5/port_map", "six, four and six pipes")
    commitWidth, numROBEntries = row(retire_width=8, rob_size=448)
    numIQEntries = calibrated(250, "zen5/scheduler_size", "all together: of a gem5 without instQueues")
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=240, vec_prf=384)
    LQEntries, SQEntries = row(load_queue=128, store_queue=104)
    cacheLoadPorts, cacheStorePorts = row(tput_load=4, tput_store=2)
    fuPool = pool(*ALUS, *MEMORY_PIPES, *VECTOR_PIPES)


class L1Cache(zen3.L1Cache):
    size, assoc = row(l1d_size_kb="48KiB", l1d_assoc=12)


class L2Cache(zen3.L2Cache):
    size, assoc = row(l2_size_kb="1MiB", l2_assoc=16)
    data_latency = calibrated(7, "zen5/l2_latency", "the first level and the bus add the rest")


class L3Cache(zen4.L3Cache):
    data_latency = calibrated(37, "zen5/l3_latency", "the levels before it add the rest")


def schedulers(cpu):
    """One each for the ALUs, the memory pipes and the vector pipes; the last is three of 38 entries in silicon."""
    alus, memory = calibrated((88, 56), "zen5/schedulers_here", "chains of additions overlap as in 88 entries")
    vectors = calibrated(114, "zen5/scheduler_size", "3 x 38")
    cpu.instQueues = queues((alus, (ALUS,)), (memory, (MEMORY_PIPES,)), (vectors, (VECTOR_PIPES,)))
    cpu.loadsLeaveAtIssue = assumed(True, "as zen3")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    cpu = board.cpu
    zen.zen_core(
        board,
        movs=RATE,
        stos=RATE,
    )
    schedulers(cpu)
    cpu.maxTakenPredPerCycle = sourced(2, "zen5/fetch_targets")
    cpu.branchIssueWidth = sourced(3, "zen5/port_map")
    cpu.isa[0].enable_avx512 = row(avx512=True)
    cpu.isa[0].microcode.max_access = row(avx512=64)
    cpu.isa[0].microcode.max_store = calibrated(32, "zen5/tput_store", "two halves a cycle")
    cpu.mmu.dtb.size = row(dtlb_entries=96)
    cpu.mmu.dtb.l2_size = row(stlb_entries=4096)
    cpu.isa[0].microcode.rep_movs, cpu.isa[0].microcode.rep_stos = copies(), fills()
    x86.fences(cpu, **calibrated({"latency": 18, "after_stores": 6}, "zen5/mfence", "14 cycles are hidden"))
    cpu.serializingStopsFetch = calibrated(True, "zen5/serializing_fetch", "nearer than fetch that goes on")
    cpu.forwardFailPenalty = calibrated(4, "zen5/stlf_part", "with the store's way to the cache, 14")
    cpu.aliasPenalty = calibrated(4, "zen5/alias_4k", "3.7")
    cpu.misaligned.line_cross_load = calibrated(2, "zen5/split_load_latency", "what a chain of loads takes more")
    cpu.misaligned.page_cross_load = calibrated(2, "zen5/split_load_latency", "as line_cross_load")
    cpu.write_combining.posted = calibrated(True, "zen5/wc_buffers", "16 KiB take 1467 cycles, a latency and its bytes")
    cpu.write_combining.latency = calibrated(10, "zen5/wc_buffers", "8 bytes take 609 cycles")
    cpu.dcache.way_predictor_masks = assumed([], "no source has Zen 5's hash")
    cpu.misaligned.line_cross_store = calibrated(1, "zen5/split_store_cost", "a second access")


def copies():
    """REP MOVS: slower where the destination lies 1 to 63 bytes behind the source modulo 4 KiB."""
    apart = {
        "min_page_offset": calibrated(64, "zen5/rep_movs_align_sensitivity", "1 to 33 are slow, 64 is not"),
        "equal_page_offset": sourced(True, "zen5/rep_movs_align_sensitivity"),
    }
    return [
        *zen.fast(WIDE_MOVS, RATE, LINE, min_element=WIDE, **apart),
        *zen.fast(BYTES_MOVS, RATE, LINE, **apart),
        *zen.fast(LONG_MOVS, LONG_RATE, LINE, **apart),
        *zen.fast(NEAR_MOVS, RATE, LINE),
        *zen.fast(NEAR_LONG, LONG_RATE, LINE),
        zen.by_element(backwards=sourced(True, "zen3/rep_movs_fast_conditions"), startup=DOWN),
    ]


def fills():
    """REP STOS."""
    return [
        *zen.fast(WIDE_STOS, RATE, LINE, min_element=WIDE),
        *zen.fast(BYTES_STOS, RATE, LINE),
        *zen.fast(LONG_STOS, LONG_RATE, LINE),
        zen.backwards(),
    ]


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def Zen5Board(**options):
    latency = calibrated("70ns", "zen5/dram_latency_ns", "the caches and buses on the way add the rest")
    memory = x86.memory(latency, zen3.BANDWIDTH)
    caches = (zen3.L1Cache(), L1Cache(), L2Cache(), L3Cache())
    return zen.zen_board(Zen5CPU(isa=x86.amd("Zen 5")), CLOCK, ours, memory, caches, **options)


machine = machine_of(Zen5Board)
