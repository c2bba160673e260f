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

from constructors import L2, OUT_OF_ORDER, constructor, has_extensions, machine_of
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
from pc133 import PC133, Northbridge
from x86_board import board_range
from x86_silicon import (
    MEMORY_SIZE,
    SHIFT,
    SINCE_SSE2,
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

CLOCK = "996MHz"  # uarch: pentium3/clock_mhz
LOAD_TO_USE = {"L1": 3, "L2": 12}  # cycles; what `breakeven machines show pentium3` measures

#: additions, logic and comparisons of MMX, on ports 0 and 1
VECTOR = {"SimdAdd": 1, "SimdAddAcc": 1, "SimdAlu": 1, "SimdCmp": 1}  # uarch: pentium3/lat_simd_add


class Port0(FUDesc):
    count = 1  # uarch: pentium3/port_map
    opList = [
        *ops({"IntAlu": 1, SHIFT: 1, "IntMult": 4}),  # uarch: pentium3/lat_imul
        *ops({**VECTOR, "SimdMult": 3, "SimdMultAcc": 3, "SimdReduceAdd": 3}),
        *ops({"FloatAdd": 3, "FloatCmp": 3, "FloatCvt": 3, "FloatMult": 5, "FloatMultAcc": 8, "FloatMisc": 1}),
        *ops({"SimdFloatMult": 5, "SimdFloatMultAcc": 8}),
        *dividers(integer=39, divide=18, root=30),  # assumed: a radix-2 divider
    ]


class Port1(FUDesc):
    count = 1  # uarch: pentium3/port_map
    opList = [
        *ops({"IntAlu": 1, **VECTOR, "SimdShift": 1, "SimdMisc": 1, "SimdExt": 1, "SimdReduceAlu": 3}),
        *ops({"SimdFloatAdd": 3, "SimdFloatCmp": 3, "SimdFloatAlu": 3, "SimdFloatExt": 1, "SimdFloatMisc": 1}),
        *ops({"SimdCvt": 3, "SimdFloatCvt": 3}),
    ]


class PortLoad(LoadPorts):
    count = 1  # uarch: pentium3/port_map


class PortStore(StorePorts):
    count = 1  # uarch: pentium3/port_map


class Pentium3FUPool(FUPool):
    FUList = [Port1(), Port0(), PortLoad(), PortStore(), PredALU(), IprPort()]


class Pentium3BranchPredictor(TournamentBP):
    """gem5's nearest to a two-level predictor with local histories."""

    btb = SimpleBTB(numEntries=512)  # uarch: pentium3/btb
    ras = ReturnAddrStack(numEntries=16)  # uarch: pentium3/btb
    localHistoryTableSize = 512  # uarch: pentium3/btb
    localPredictorSize = 2048  # assumed: the patterns of the local histories
    globalPredictorSize = 512  # assumed: as small as the history table
    choicePredictorSize = 512  # assumed: as globalPredictorSize


class Pentium3CPU(X86O3CPU):
    fetchBufferSize = 16  # uarch: pentium3/fetch_bytes_per_cycle
    fetchWidth = 6  # assumed: more than the decoders take
    fetchToDecodeDelay = 6  # uarch: pentium3/branch_mispredict, calibrated: the stages that a new path goes through
    fetchQueueSize = 12  # assumed: the decoders' queue
    decodeWidth = 3  # uarch: pentium3/decode_width
    renameWidth = 3  # uarch: pentium3/rename_width
    dispatchWidth = 3  # uarch: pentium3/rename_width
    issueWidth = 5  # uarch: pentium3/port_map, calibrated: five ports
    wbWidth = 5  # uarch: pentium3/port_map, calibrated: five ports
    commitWidth = 3  # uarch: pentium3/retire_width
    squashWidth = 40  # assumed: recovery does not walk
    numROBEntries = 40  # uarch: pentium3/rob_size
    numIQEntries = 20  # uarch: pentium3/scheduler_size
    numPhysIntRegs = 128  # uarch: pentium3/int_prf, calibrated: values live in the ROB, so registers never run out
    numPhysFloatRegs = 128  # uarch: pentium3/int_prf, calibrated: as numPhysIntRegs
    LQEntries = 16  # uarch: pentium3/load_queue
    SQEntries = 12  # uarch: pentium3/store_queue
    cacheLoadPorts = 1  # uarch: pentium3/tput_load
    cacheStorePorts = 1  # uarch: pentium3/port_map
    fuPool = Pentium3FUPool()
    branchPred = Pentium3BranchPredictor()


class L1Cache(SiliconCache):
    size = "16KiB"  # uarch: pentium3/l1d_size_kb
    assoc = 4  # uarch: pentium3/l1d_assoc
    tag_latency = 2  # uarch: pentium3/l1d_latency, calibrated: with the core's own cycle, 3 to the use
    data_latency = 2  # uarch: pentium3/l1d_latency, calibrated: as tag_latency
    mshrs = 4  # uarch: pentium3/mshr_l1d
    tgts_per_mshr = 64  # assumed: no limit; a fill buffer takes whatever goes to its line
    write_buffers = 4  # assumed: as mshrs


class L2Cache(SiliconCache):
    size = "256KiB"  # uarch: pentium3/l2_size_kb
    assoc = 8  # uarch: pentium3/l2_assoc
    tag_latency = 3  # uarch: pentium3/l2_latency, calibrated: the first level and the bus add the rest
    data_latency = 6  # uarch: pentium3/l2_latency, calibrated: as tag_latency
    mshrs = 4  # assumed: as the first level's
    tgts_per_mshr = 8  # assumed: enough for one core
    write_buffers = 4  # assumed: as mshrs


class L2Bus(L2XBar):
    width = 16  # uarch: pentium3/l2_l1_bytes_per_cycle, calibrated: 32 bytes every two cycles


class Memory(PC133):
    burst_length = 4  # uarch: pentium3/line_bytes, calibrated: 32 bytes by 8
    tBURST = "30ns"  # uarch: pentium3/dram_burst_cycles_996, calibrated: the unit is cycles; 30 of them are 30 ns


class Chipset(Northbridge):
    static_frontend_latency = "20ns"  # uarch: pentium3/dram_latency_ns, calibrated: the open page's 108 ns
    static_backend_latency = "20ns"  # uarch: pentium3/dram_latency_ns, calibrated: as static_frontend_latency


def string_modes(startup_uops, bytes_per_cycle):
    """Fast: lines, the destination's written without being read. Otherwise an element at a time.

    A start-up's micro-ops all need a computing port here and go two a cycle; on the hardware some load or store.
    """
    return [
        objects.X86StringMode(
            min_count=64,  # uarch: pentium3/rep_movs_fast_conditions
            co_alignment=8,  # uarch: pentium3/rep_movs_fast_conditions
            min_distance=32,  # uarch: pentium3/rep_movs_fast_conditions
            startup_uops=startup_uops,
            block=32,  # uarch: pentium3/line_bytes
            bytes_per_cycle=bytes_per_cycle,
            whole_lines=True,  # uarch: pentium3/rep_movs_fast_bus_action
        ),
        objects.X86StringMode(
            backwards=True,  # uarch: pentium3/rep_movs_fast_conditions
            startup_uops=20,  # assumed: ten cycles
            block=0,  # uarch: pentium3/rep_movs_slow_uops, calibrated: by element
            element_cycles=2,  # uarch: pentium3/rep_movs_slow_bytes_per_cycle, calibrated: 2.4 for four bytes
            bytes_per_cycle=10,  # uarch: pentium3/rep_movs_slow_bytes_per_cycle, calibrated: as element_cycles
            element_uops=3,  # uarch: pentium3/rep_movs_slow_uops, calibrated: with sequencer, load and store, six
        ),
    ]


def microcode(bytes_per_cycle):
    """Micro-ops of the hardware in place of gem5's."""
    return objects.X86Microcode(
        gem5=False,  # assumed: hardware has its own
        micro_fusion=False,  # assumed: since the Pentium M
        split_stores=True,  # uarch: pentium3/uops_mov_store
        stack_engine=False,  # assumed: since the Pentium M
        zero_idioms=False,  # assumed: later
        flag_merge="stall",  # uarch: pentium3/partial_flag_stall
        max_access=8,  # uarch: pentium3/tput_movaps_load, calibrated: two accesses for 16 bytes
        instructions=[
            objects.X86Instruction(
                mnemonics=["adc", "sbb"],
                latency=2,  # uarch: pentium3/lat_adc
                uops=2,  # uarch: pentium3/uops_adc_rr
            ),
            objects.X86Instruction(
                mnemonics=["mul"],
                latency=4,  # uarch: pentium3/lat_mul_wide, calibrated: two micro-ops, the second a cycle later
            ),
            objects.X86Instruction(
                mnemonics=["bswap"],
                latency=2,  # uarch: pentium3/lat_bswap
                uops=2,  # assumed: one a cycle
            ),
            objects.X86Instruction(mnemonics=["psadbw"], latency=5),  # uarch: pentium3/lat_psadbw
            objects.X86Instruction(
                mnemonics=["shl", "shr", "sar", "rol", "ror"],
                opClass=SHIFT,
                latency=1,  # uarch: pentium3/lat_shift
            ),
            objects.X86Instruction(mnemonics=["cmove", "cmovne", "cmovb", "cmovae"], uops=2),  # assumed: as adc
            *slow_loops(),
        ],
        rep_movs=string_modes(
            startup_uops=172,  # uarch: pentium3/rep_movs_startup, calibrated: 86 cycles
            bytes_per_cycle=bytes_per_cycle,
        ),
        rep_stos=string_modes(  # uarch: pentium3/rep_stos_bytes_per_cycle
            startup_uops=148,  # uarch: pentium3/rep_movs_fast_uops, calibrated: 185, as 172 are for 215
            bytes_per_cycle=5.7,  # uarch: pentium3/rep_stos_bytes_per_cycle
        ),
    )


def ours(cpu, bytes_per_cycle):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode(bytes_per_cycle))
    cpu.storesLeaveOnMiss = True  # assumed: US patent 5,671,444, fill buffers take stores to lines on their way
    cpu.forwardLatency = 2  # uarch: pentium3/stlf_latency, calibrated: with the store's and the load's own cycles, 5
    cpu.partialForwardPolicy = "penalty"  # uarch: pentium3/stlf_fail_penalty
    cpu.forwardFailPenalty = 6  # uarch: pentium3/stlf_fail_penalty, calibrated: with the store's way to the cache, 11
    cpu.aliasCheckBits = 12  # uarch: pentium3/alias_4k, calibrated: 4 KiB are 12 bits
    cpu.aliasPenalty = 5  # uarch: pentium3/alias_4k
    cpu.misaligned.policy = "hardware"  # uarch: pentium3/unaligned_within_line
    cpu.misaligned.line_cross_load = 9  # uarch: pentium3/split_load_cost
    cpu.misaligned.line_cross_store = 9  # uarch: pentium3/split_store_cost
    cpu.misaligned.split_slots = 7  # uarch: pentium3/split_load_cost, calibrated: the unit is kept meanwhile
    cpu.misaligned.page_cross_load = 18  # uarch: pentium3/page_cross_load
    cpu.misaligned.page_cross_store = 18  # uarch: pentium3/page_cross_store
    cpu.mmu.dtb.assoc = 4  # uarch: pentium3/dtlb_entries
    walk_caches(cpu)  # assumed: the tables of its time had two levels, the upper one known
    cpu.write_combining = objects.WriteCombiningBuffers(
        buffers=4,  # uarch: pentium3/wc_buffers
        buffer_bytes=32,  # uarch: pentium3/wc_buffers
    )
    isa = cpu.isa[0]
    without(isa, "prefetchw", *SINCE_SSE2)  # assumed: came later
    isa.enable_clflush = True  # assumed: came later too, but the measuring guest makes buffers cold with it


def board(name, clock, l2, l2bus, memory, bytes_per_cycle, **options):
    """The machine with these parts; `bytes_per_cycle`: the pace of the fast REP MOVS."""
    cpu = Pentium3CPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string=name)])
    cpu.mmu.itb.size = 32  # assumed: the instruction side's
    cpu.mmu.dtb.size = 64  # uarch: pentium3/dtlb_entries
    if has_extensions():
        ours(cpu, bytes_per_cycle)
    system = silicon_board(
        cpu=cpu, clock=clock, memory=memory, icache=L1Cache(), dcache=L1Cache(), l2=l2, l2bus=l2bus, **options
    )
    system.cache_line_size = 32  # uarch: pentium3/line_bytes
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
        bytes_per_cycle=4.75,  # uarch: pentium3/rep_movs_bytes_per_cycle
        **options,
    )


machine = machine_of(Pentium3Board)
