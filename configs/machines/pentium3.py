"""Intel Pentium III of 2001 (Coppermine, 996 MHz, 133 MHz bus): three-wide, out-of-order, no prefetcher.

Ports are functional units: 0 and 1 compute, 2 loads, 3 and 4 store (one unit). A reader of flags that inc or dec left
waits until they have retired. The bus moves 8 bytes every 7.5 ns in either direction and is the memory's data bus here,
so a line read, fetched for ownership or written back takes 30 ns of it. REP MOVS is fast with 64 elements or more
between addresses that are both multiples of 8: lines are then written without being read. A store that misses leaves
the store queue for one of the four fill buffers, which take whatever else goes to their lines.

It runs 32-bit routines in 64-bit mode, which the hardware has not. Not modelled: the decoders' 4-1-1 pattern, two reads
of permanent registers a cycle, partial registers, fill buffers shared between misses and write combining, unaligned
16-byte moves as microcode. `katmai` uses this file.
"""

from m5.objects import X86O3CPU, L2XBar, ReturnAddrStack, SimpleBTB, TournamentBP

from machines.constructors import L2, OUT_OF_ORDER, constructor, machine_of
from machines.families import early, x86
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "pentium3"
DESCRIPTION = "Intel Pentium III (Coppermine, 996 MHz, 133 MHz bus): 3-wide out-of-order, REP MOVS by alignment"
ISA = "x86"

row = rows_of("pentium3")
CLOCK = row(clock_mhz="996MHz")
LOAD_TO_USE = {"L1": 3, "L2": 12}  # cycles; what `breakeven machines show pentium3` measures

ONE = row(port_map=1)
MMX = sourced({"SimdAdd": 1, "SimdAddAcc": 1, "SimdAlu": 1, "SimdCmp": 1}, "pentium3/lat_simd_add")
MULTIPLY = {"IntMult": row(lat_imul=4)}
PRODUCTS = {"vector products": 3, "SimdReduceAdd": 3}
X87 = {"FloatAdd": 3, "FloatCmp": 3, "FloatCvt": 3, "FloatMult": 5, "FloatMultAcc": 8, "FloatMisc": 1}
SSE_PRODUCTS = {"SimdFloatMult": 5, "SimdFloatMultAcc": 8}
SHUFFLES = {"SimdShift": 1, "SimdMisc": 1, "SimdExt": 1, "SimdReduceAlu": 3}
SSE = {"SimdFloatAdd": 3, "SimdFloatCmp": 3, "SimdFloatAlu": 3, "SimdFloatExt": 1, "SimdFloatMisc": 1}
DIVIDER = dividers(**assumed({"integer": 39, "divide": 18, "root": 30}, "a radix-2 divider"))


class Pentium3CPU(X86O3CPU):
    fetchBufferSize = row(fetch_bytes_per_cycle=16)
    fetchWidth = assumed(6, "more than the decoders take")
    fetchToDecodeDelay = calibrated(6, "pentium3/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = assumed(12, "the decoders' queue")
    decodeWidth, renameWidth, dispatchWidth, commitWidth = row(decode_width=3, rename_width=(3, 3), retire_width=3)
    issueWidth = wbWidth = calibrated(5, "pentium3/port_map", "five ports")
    squashWidth = assumed(40, "recovery does not walk")
    numROBEntries, numIQEntries = row(rob_size=40, scheduler_size=20)
    numPhysIntRegs = calibrated(128, "pentium3/int_prf", "values live in the ROB, so registers never run out")
    numPhysFloatRegs = calibrated(128, "pentium3/int_prf", "as numPhysIntRegs")
    LQEntries, SQEntries = row(load_queue=16, store_queue=12)
    cacheLoadPorts, cacheStorePorts = row(tput_load=1, port_map=1)
    branchPred = TournamentBP(  # gem5's nearest to a two-level predictor with local histories
        btb=SimpleBTB(numEntries=row(btb=512)),
        ras=ReturnAddrStack(numEntries=row(btb=16)),
        localHistoryTableSize=row(btb=512),
        localPredictorSize=assumed(2048, "the patterns of the local histories"),
        globalPredictorSize=assumed(512, "as small as the history table"),
        choicePredictorSize=assumed(512, "as globalPredictorSize"),
    )
    fuPool = pool(
        unit("Port1", ONE, {"IntAlu": 1, **MMX, **SHUFFLES, **SSE, "SimdCvt": 3, "SimdFloatCvt": 3}),
        unit("Port0", ONE, {"IntAlu": 1, x86.SHIFT: 1, **MULTIPLY, **MMX, **PRODUCTS, **X87, **SSE_PRODUCTS}, DIVIDER),
        unit("PortLoad", ONE, {"loads": 1}),
        unit("PortStore", ONE, {"stores": 1}),
    )


class L1Cache(x86.SiliconCache):
    size, assoc = row(l1d_size_kb="16KiB", l1d_assoc=4)
    tag_latency = data_latency = calibrated(2, "pentium3/l1d_latency", "with the core's own cycle, 3 to the use")
    mshrs = row(mshr_l1d=4)
    tgts_per_mshr = assumed(64, "no limit; a fill buffer takes whatever goes to its line")
    write_buffers = assumed(4, "as mshrs")


class L2Cache(x86.SiliconCache):
    size, assoc = row(l2_size_kb="256KiB", l2_assoc=8)
    tag_latency, data_latency = calibrated((3, 6), "pentium3/l2_latency", "the first level and the bus add the rest")
    mshrs = write_buffers = assumed(4, "as the first level's")
    tgts_per_mshr = assumed(8, "enough for one core")


def ours(board, bytes_per_cycle):
    """Address translation, and what a real gem5 cannot express; `bytes_per_cycle` of a fast REP MOVS."""
    cpu = board.cpu
    # The page tables of its time had two levels; the walker's caches know the upper one.
    x86.hardware(board, early.p6_microcode(bytes_per_cycle))
    x86.memory_order(board, "pentium3")
    cpu.storesLeaveOnMiss = assumed(True, "US patent 5,671,444, fill buffers take stores to lines on their way")
    cpu.forwardFailPenalty = calibrated(6, "pentium3/stlf_fail_penalty", "with the store's way to the cache, 11")
    cpu.misaligned.line_cross_load, cpu.misaligned.line_cross_store = row(split_load_cost=9, split_store_cost=9)
    cpu.misaligned.split_slots = calibrated(7, "pentium3/split_load_cost", "the unit is kept meanwhile")
    cpu.misaligned.page_cross_load, cpu.misaligned.page_cross_store = row(page_cross_load=18, page_cross_store=18)
    cpu.mmu.itb.size = assumed(32, "the instruction side's")
    cpu.mmu.dtb.size, cpu.mmu.dtb.assoc = row(dtlb_entries=(64, 4))
    buffers = sourced({"buffers": 4, "buffer_bytes": 32}, "pentium3/wc_buffers")
    cpu.write_combining = x86.write_combining(**buffers)
    early.without_sse2(cpu.isa[0])
    x86.without(cpu.isa[0], "prefetchw")


def p6_board(clock, bytes_per_cycle, l2, l2bus, memory, **options):
    """A machine of this core; `bytes_per_cycle` of a fast REP MOVS."""
    cpu = Pentium3CPU(isa=x86.intel("Pentium III"))
    caches = (L1Cache(), L1Cache(), l2)

    def at_this_pace(board):
        ours(board, bytes_per_cycle)

    board = x86.silicon_board(cpu, clock, at_this_pace, memory, caches, buses=(l2bus,), **options)
    board.cache_line_size = row(line_bytes=32)
    return board


@constructor(*OUT_OF_ORDER, *L2)
def Pentium3Board(**options):
    l2bus = L2XBar(width=calibrated(16, "pentium3/l2_l1_bytes_per_cycle", "32 bytes every two cycles"))
    memory = early.memory(
        delay=calibrated("20ns", "pentium3/dram_latency_ns", "the open page's 108 ns"),
        burst_length=calibrated(4, "pentium3/line_bytes", "32 bytes by 8"),
        tBURST=calibrated("30ns", "pentium3/dram_burst_cycles_996", "the unit is cycles; 30 of them are 30 ns"),
    )
    return p6_board(CLOCK, row(rep_movs_bytes_per_cycle=4.75), L2Cache(), l2bus, memory, **options)


machine = machine_of(Pentium3Board)
