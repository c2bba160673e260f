"""Intel Pentium III of 2001 (Coppermine, 996 MHz, 133 MHz bus): three-wide, out-of-order, no prefetcher.

Ports are functional units: 0 and 1 compute, 2 loads, 3 and 4 store (one unit). A reader of flags that inc or dec left
waits until they have retired. The bus moves 8 bytes every 7.5 ns in either direction and is the memory's data bus here,
so a line read, fetched for ownership or written back takes 30 ns of it. REP MOVS is fast with 64 elements or more
between addresses that are both multiples of 8: lines are then written without being read. A store that misses leaves
the store queue for one of the four fill buffers, which take whatever else goes to their lines.

It runs 32-bit routines in 64-bit mode, which the hardware has not. Not modelled: the decoders' 4-1-1 pattern, two reads
of permanent registers a cycle, partial registers, fill buffers shared between misses and write combining, unaligned
16-byte moves as microcode. `katmai` uses this file.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5 import objects
from m5.objects import (
    X86ISA,
    X86O3CPU,
    FUDesc,
    FUPool,
    IprPort,
    L2XBar,
    PredALU,
    ReturnAddrStack,
    SimpleBTB,
    TournamentBP,
)

from machines.constructors import L2, OUT_OF_ORDER, constructor, machine_of
from machines.extensions import extend
from machines.pc133 import PC133, Northbridge
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import (
    MEMORY_SIZE,
    SHIFT,
    SINCE_SSE2,
    WALK_CACHES,
    LoadPorts,
    SiliconCache,
    StorePorts,
    dividers,
    hardware_core,
    ops,
    silicon_board,
    slow_loops,
    walk_caches,
    without,
)

NAME = "pentium3"
DESCRIPTION = "Intel Pentium III (Coppermine, 996 MHz, 133 MHz bus): 3-wide out-of-order, REP MOVS by alignment"
ISA = "x86"

CLOCK = sourced("996MHz", "pentium3/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 12}  # cycles; what `breakeven machines show pentium3` measures

#: additions, logic and comparisons of MMX, on ports 0 and 1
VECTOR = sourced({"SimdAdd": 1, "SimdAddAcc": 1, "SimdAlu": 1, "SimdCmp": 1}, "pentium3/lat_simd_add")


class Port0(FUDesc):
    count = sourced(1, "pentium3/port_map")
    opList = [
        *ops({"IntAlu": 1, SHIFT: 1, "IntMult": sourced(4, "pentium3/lat_imul")}),
        *ops({**VECTOR, "SimdMult": 3, "SimdMultAcc": 3, "SimdReduceAdd": 3}),
        *ops(
            {
                "FloatAdd": 3,
                "FloatCmp": 3,
                "FloatCvt": 3,
                "FloatMult": 5,
                "FloatMultAcc": 8,
                "FloatMisc": 1,
            }
        ),
        *ops({"SimdFloatMult": 5, "SimdFloatMultAcc": 8}),
        *dividers(**assumed({"integer": 39, "divide": 18, "root": 30}, "a radix-2 divider")),
    ]


class Port1(FUDesc):
    count = sourced(1, "pentium3/port_map")
    opList = [
        *ops(
            {
                "IntAlu": 1,
                **VECTOR,
                "SimdShift": 1,
                "SimdMisc": 1,
                "SimdExt": 1,
                "SimdReduceAlu": 3,
            }
        ),
        *ops(
            {
                "SimdFloatAdd": 3,
                "SimdFloatCmp": 3,
                "SimdFloatAlu": 3,
                "SimdFloatExt": 1,
                "SimdFloatMisc": 1,
            }
        ),
        *ops({"SimdCvt": 3, "SimdFloatCvt": 3}),
    ]


class PortLoad(LoadPorts):
    count = sourced(1, "pentium3/port_map")


class PortStore(StorePorts):
    count = sourced(1, "pentium3/port_map")


class Pentium3FUPool(FUPool):
    FUList = [Port1(), Port0(), PortLoad(), PortStore(), PredALU(), IprPort()]


class Pentium3BranchPredictor(TournamentBP):
    """gem5's nearest to a two-level predictor with local histories."""

    btb = SimpleBTB(numEntries=sourced(512, "pentium3/btb"))
    ras = ReturnAddrStack(numEntries=sourced(16, "pentium3/btb"))
    localHistoryTableSize = sourced(512, "pentium3/btb")
    localPredictorSize = assumed(2048, "the patterns of the local histories")
    globalPredictorSize = assumed(512, "as small as the history table")
    choicePredictorSize = assumed(512, "as globalPredictorSize")


class Pentium3CPU(X86O3CPU):
    fetchBufferSize = sourced(16, "pentium3/fetch_bytes_per_cycle")
    fetchWidth = assumed(6, "more than the decoders take")
    fetchToDecodeDelay = calibrated(6, "pentium3/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = assumed(12, "the decoders' queue")
    decodeWidth = sourced(3, "pentium3/decode_width")
    renameWidth = sourced(3, "pentium3/rename_width")
    dispatchWidth = sourced(3, "pentium3/rename_width")
    issueWidth = calibrated(5, "pentium3/port_map", "five ports")
    wbWidth = calibrated(5, "pentium3/port_map", "five ports")
    commitWidth = sourced(3, "pentium3/retire_width")
    squashWidth = assumed(40, "recovery does not walk")
    numROBEntries = sourced(40, "pentium3/rob_size")
    numIQEntries = sourced(20, "pentium3/scheduler_size")
    numPhysIntRegs = calibrated(128, "pentium3/int_prf", "values live in the ROB, so registers never run out")
    numPhysFloatRegs = calibrated(128, "pentium3/int_prf", "as numPhysIntRegs")
    LQEntries = sourced(16, "pentium3/load_queue")
    SQEntries = sourced(12, "pentium3/store_queue")
    cacheLoadPorts = sourced(1, "pentium3/tput_load")
    cacheStorePorts = sourced(1, "pentium3/port_map")
    fuPool = Pentium3FUPool()
    branchPred = Pentium3BranchPredictor()


class L1Cache(SiliconCache):
    size = sourced("16KiB", "pentium3/l1d_size_kb")
    assoc = sourced(4, "pentium3/l1d_assoc")
    tag_latency = calibrated(2, "pentium3/l1d_latency", "with the core's own cycle, 3 to the use")
    data_latency = calibrated(2, "pentium3/l1d_latency", "as tag_latency")
    mshrs = sourced(4, "pentium3/mshr_l1d")
    tgts_per_mshr = assumed(64, "no limit; a fill buffer takes whatever goes to its line")
    write_buffers = assumed(4, "as mshrs")


class L2Cache(SiliconCache):
    size = sourced("256KiB", "pentium3/l2_size_kb")
    assoc = sourced(8, "pentium3/l2_assoc")
    tag_latency = calibrated(3, "pentium3/l2_latency", "the first level and the bus add the rest")
    data_latency = calibrated(6, "pentium3/l2_latency", "as tag_latency")
    mshrs = assumed(4, "as the first level's")
    tgts_per_mshr = assumed(8, "enough for one core")
    write_buffers = assumed(4, "as mshrs")


class L2Bus(L2XBar):
    width = calibrated(16, "pentium3/l2_l1_bytes_per_cycle", "32 bytes every two cycles")


class Memory(PC133):
    burst_length = calibrated(4, "pentium3/line_bytes", "32 bytes by 8")
    tBURST = calibrated("30ns", "pentium3/dram_burst_cycles_996", "the unit is cycles; 30 of them are 30 ns")


class Chipset(Northbridge):
    static_frontend_latency = calibrated("20ns", "pentium3/dram_latency_ns", "the open page's 108 ns")
    static_backend_latency = calibrated("20ns", "pentium3/dram_latency_ns", "as static_frontend_latency")


def string_modes(startup_uops, bytes_per_cycle):
    """Fast: lines, the destination's written without being read. Otherwise an element at a time.

    A start-up's micro-ops all need a computing port here and go two a cycle; on the hardware some load or store.
    """
    return [
        objects.X86StringMode(
            min_count=sourced(64, "pentium3/rep_movs_fast_conditions"),
            co_alignment=sourced(8, "pentium3/rep_movs_fast_conditions"),
            min_distance=sourced(32, "pentium3/rep_movs_fast_conditions"),
            startup_uops=startup_uops,
            block=sourced(32, "pentium3/line_bytes"),
            bytes_per_cycle=bytes_per_cycle,
            whole_lines=sourced(True, "pentium3/rep_movs_fast_bus_action"),
        ),
        objects.X86StringMode(
            backwards=sourced(True, "pentium3/rep_movs_fast_conditions"),
            startup_uops=assumed(20, "ten cycles"),
            block=calibrated(0, "pentium3/rep_movs_slow_uops", "by element"),
            element_cycles=calibrated(2, "pentium3/rep_movs_slow_bytes_per_cycle", "2.4 for four bytes"),
            bytes_per_cycle=calibrated(10, "pentium3/rep_movs_slow_bytes_per_cycle", "as element_cycles"),
            element_uops=calibrated(3, "pentium3/rep_movs_slow_uops", "with sequencer, load and store, six"),
        ),
    ]


def microcode(bytes_per_cycle):
    """Micro-ops of the hardware in place of gem5's."""
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        micro_fusion=assumed(False, "since the Pentium M"),
        split_stores=sourced(True, "pentium3/uops_mov_store"),
        stack_engine=assumed(False, "since the Pentium M"),
        zero_idioms=assumed(False, "later"),
        flag_merge=sourced("stall", "pentium3/partial_flag_stall"),
        max_access=calibrated(8, "pentium3/tput_movaps_load", "two accesses for 16 bytes"),
        instructions=[
            objects.X86Instruction(
                mnemonics=["adc", "sbb"],
                latency=sourced(2, "pentium3/lat_adc"),
                uops=sourced(2, "pentium3/uops_adc_rr"),
            ),
            objects.X86Instruction(
                mnemonics=["mul"],
                latency=calibrated(4, "pentium3/lat_mul_wide", "two micro-ops, the second a cycle later"),
            ),
            objects.X86Instruction(
                mnemonics=["bswap"],
                latency=sourced(2, "pentium3/lat_bswap"),
                uops=assumed(2, "one a cycle"),
            ),
            objects.X86Instruction(mnemonics=["psadbw"], latency=sourced(5, "pentium3/lat_psadbw")),
            objects.X86Instruction(
                mnemonics=["shl", "shr", "sar", "rol", "ror"],
                opClass=SHIFT,
                latency=sourced(1, "pentium3/lat_shift"),
            ),
            objects.X86Instruction(mnemonics=["cmove", "cmovne", "cmovb", "cmovae"], uops=assumed(2, "as adc")),
            *slow_loops(),
        ],
        rep_movs=string_modes(
            startup_uops=calibrated(172, "pentium3/rep_movs_startup", "86 cycles"),
            bytes_per_cycle=bytes_per_cycle,
        ),
        rep_stos=string_modes(
            startup_uops=calibrated(148, "pentium3/rep_movs_fast_uops", "185, as 172 are for 215"),
            bytes_per_cycle=sourced(5.7, "pentium3/rep_stos_bytes_per_cycle"),
        ),
    )


def ours(cpu, bytes_per_cycle):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode(bytes_per_cycle))
    cpu.storesLeaveOnMiss = assumed(True, "US patent 5,671,444, fill buffers take stores to lines on their way")
    cpu.forwardLatency = calibrated(2, "pentium3/stlf_latency", "with the store's and the load's own cycles, 5")
    cpu.partialForwardPolicy = sourced("penalty", "pentium3/stlf_fail_penalty")
    cpu.forwardFailPenalty = calibrated(6, "pentium3/stlf_fail_penalty", "with the store's way to the cache, 11")
    cpu.aliasCheckBits = calibrated(12, "pentium3/alias_4k", "4 KiB are 12 bits")
    cpu.aliasPenalty = sourced(5, "pentium3/alias_4k")
    cpu.misaligned.policy = sourced("hardware", "pentium3/unaligned_within_line")
    cpu.misaligned.line_cross_load = sourced(9, "pentium3/split_load_cost")
    cpu.misaligned.line_cross_store = sourced(9, "pentium3/split_store_cost")
    cpu.misaligned.split_slots = calibrated(7, "pentium3/split_load_cost", "the unit is kept meanwhile")
    cpu.misaligned.page_cross_load = sourced(18, "pentium3/page_cross_load")
    cpu.misaligned.page_cross_store = sourced(18, "pentium3/page_cross_store")
    cpu.mmu.dtb.assoc = sourced(4, "pentium3/dtlb_entries")
    walk_caches(cpu, **WALK_CACHES)  # the tables of its time had two levels, the upper one known
    cpu.write_combining = objects.WriteCombiningBuffers(
        buffers=sourced(4, "pentium3/wc_buffers"),
        buffer_bytes=sourced(32, "pentium3/wc_buffers"),
    )
    isa = cpu.isa[0]
    without(isa, "prefetchw", *SINCE_SSE2)
    isa.enable_clflush = assumed(True, "came later too, but the measuring guest makes buffers cold with it")


def board(name, clock, l2, l2bus, memory, bytes_per_cycle, **options):
    """The machine with these parts; `bytes_per_cycle`: the pace of the fast REP MOVS."""
    cpu = Pentium3CPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string=name)])
    cpu.mmu.itb.size = assumed(32, "the instruction side's")
    cpu.mmu.dtb.size = sourced(64, "pentium3/dtlb_entries")
    extend(ours, cpu, bytes_per_cycle)
    system = silicon_board(
        cpu=cpu, clock=clock, memory=memory, icache=L1Cache(), dcache=L1Cache(), l2=l2, l2bus=l2bus, **options
    )
    system.cache_line_size = sourced(32, "pentium3/line_bytes")
    return system


@constructor(*OUT_OF_ORDER, *L2)
def Pentium3Board(**options):
    memory = Chipset(dram=Memory(range=board_range(MEMORY_SIZE)))
    return board(
        "Pentium III",
        CLOCK,
        L2Cache(),
        L2Bus(),
        memory,
        bytes_per_cycle=sourced(4.75, "pentium3/rep_movs_bytes_per_cycle"),
        **options,
    )


machine = machine_of(Pentium3Board)
