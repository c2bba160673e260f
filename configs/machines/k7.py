"""AMD Athlon K7 (Thunderbird, 1.4 GHz, PC133 memory): three macro-ops wide, out-of-order, no prefetcher, exclusive L2.

A load with its operation, or a store, is one macro-op. Flags are renamed apart. REP MOVS goes element by element, at
any alignment alike.

Not modelled: address units apart from the load and store pipes, two stores of 4 bytes in one cycle, integer schedulers
of six entries each (one joint queue with the floating-point one here), banks of the first level. It has SSE here for
the MMX extensions that came with it (movntq, prefetchnta, sfence), which this core has; floating-point SSE it has not.
It runs 32-bit routines in 64-bit mode, which the hardware has not.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from constructors import L2, OUT_OF_ORDER, constructor, has_extensions, machine_of
from m5 import objects
from m5.objects import (
    X86ISA,
    X86O3CPU,
    BiModeBP,
    FUDesc,
    FUPool,
    IprPort,
    L2XBar,
    PredALU,
    ReturnAddrStack,
    SimpleBTB,
)
from pc133 import PC133, Northbridge
from x86_board import board_range
from x86_silicon import (
    MEMORY_SIZE,
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

NAME = "k7"
DESCRIPTION = "AMD Athlon K7 (Thunderbird, 1.4 GHz): 3-wide out-of-order, 64 KiB L1, 256 KiB exclusive L2"
ISA = "x86"

CLOCK = "1400MHz"  # uarch: k7/clock_mhz
LOAD_TO_USE = {"L1": 3, "L2": 21}  # cycles; what `breakeven machines show k7` measures


#: MMX on both of its pipes
VECTOR = {"SimdAdd": 2, "SimdAddAcc": 2, "SimdAlu": 2, "SimdCmp": 2}  # uarch: k7/lat_simd_add
VECTOR_TOO = {"SimdMisc": 2, "SimdExt": 2, "SimdShift": 2, "SimdReduceAlu": 3}  # assumed: as the additions


class Alu(FUDesc):
    count = 2  # uarch: k7/port_map, calibrated: three, and one of them multiplies
    opList = [*ops({"IntAlu": 1})]  # uarch: k7/lat_int_add


class AluMul(FUDesc):
    count = 1  # uarch: k7/port_map, calibrated: one such pipe
    opList = [
        *ops({"IntAlu": 1, "IntMult": 4}),  # uarch: k7/lat_imul
        *dividers(integer=42),  # assumed: a bit a cycle
    ]


class FloatAdd(FUDesc):
    count = 1  # uarch: k7/port_map, calibrated: one such pipe
    opList = [
        *ops({**VECTOR, **VECTOR_TOO}),
        *ops({"FloatAdd": 4, "FloatCmp": 4, "FloatCvt": 4, "SimdFloatAdd": 4, "SimdFloatCmp": 4, "SimdFloatAlu": 4}),
        *ops({"SimdCvt": 4, "SimdFloatCvt": 4}),
    ]


class FloatMul(FUDesc):
    count = 1  # uarch: k7/port_map, calibrated: one such pipe
    opList = [
        *ops({**VECTOR, **VECTOR_TOO, "SimdMult": 3, "SimdMultAcc": 3, "SimdReduceAdd": 3}),
        *ops({"FloatMult": 4, "FloatMultAcc": 8, "SimdFloatMult": 4, "SimdFloatMultAcc": 8}),
        *ops({"FloatMisc": 2, "SimdFloatMisc": 2, "SimdFloatExt": 2}),
        *dividers(divide=16, root=19),  # assumed: as in its optimization guide's examples
    ]


class Loads(LoadPorts):
    count = 2  # uarch: k7/tput_load


class Store(StorePorts):
    count = 1  # uarch: k7/tput_store


class K7FUPool(FUPool):
    FUList = [Alu(), AluMul(), FloatAdd(), FloatMul(), Loads(), Store(), PredALU(), IprPort()]


class K7BranchPredictor(BiModeBP):
    """gem5's nearest to a table of counters chosen by history and address."""

    btb = SimpleBTB(numEntries=2048)  # uarch: k7/btb
    ras = ReturnAddrStack(numEntries=12)  # uarch: k7/btb
    globalPredictorSize = 2048  # uarch: k7/btb
    choicePredictorSize = 2048  # uarch: k7/btb


class K7CPU(X86O3CPU):
    fetchBufferSize = 16  # uarch: k7/fetch_bytes_per_cycle
    fetchWidth = 6  # assumed: more than the decoders take
    fetchToDecodeDelay = 4  # uarch: k7/branch_mispredict, calibrated: the stages that a new path goes through
    fetchQueueSize = 18  # assumed: the decoders' queue
    decodeWidth = 3  # uarch: k7/decode_width
    renameWidth = 3  # uarch: k7/rename_width
    dispatchWidth = 3  # uarch: k7/rename_width
    issueWidth = 9  # uarch: k7/order
    wbWidth = 9  # uarch: k7/order
    commitWidth = 3  # uarch: k7/retire_width
    squashWidth = 72  # assumed: recovery does not walk
    numROBEntries = 72  # uarch: k7/rob_size
    numIQEntries = 54  # uarch: k7/scheduler_size, calibrated: both schedulers
    numPhysIntRegs = 128  # uarch: k7/int_prf, calibrated: values live in the ROB, so registers never run out
    numPhysFloatRegs = 120  # uarch: k7/scheduler_size, calibrated: 88, and 32 that the model sets aside
    LQEntries = 44  # uarch: k7/load_queue
    SQEntries = 44  # uarch: k7/store_queue
    cacheLoadPorts = 2  # uarch: k7/tput_load
    cacheStorePorts = 1  # uarch: k7/tput_store
    fuPool = K7FUPool()
    branchPred = K7BranchPredictor()


class L1Cache(SiliconCache):
    size = "64KiB"  # uarch: k7/l1d_size_kb
    assoc = 2  # uarch: k7/l1d_assoc
    tag_latency = 2  # uarch: k7/l1d_latency, calibrated: with the core's own cycle, 3 to the use
    data_latency = 2  # uarch: k7/l1d_latency, calibrated: as tag_latency
    mshrs = 8  # uarch: k7/mshr_l1d
    tgts_per_mshr = 88  # assumed: no limit, all loads and stores there are
    write_buffers = 8  # assumed: as mshrs
    writeback_clean = True  # uarch: k7/l2_size_kb


class L2Cache(SiliconCache):
    size = "256KiB"  # uarch: k7/l2_size_kb
    assoc = 16  # uarch: k7/l2_assoc
    tag_latency = 4  # uarch: k7/l2_latency, calibrated: the first level and the bus add the rest
    data_latency = 8  # uarch: k7/l2_latency, calibrated: as tag_latency
    mshrs = 8  # assumed: as the first level's
    write_buffers = 8  # assumed: as mshrs
    clusivity = "mostly_excl"  # uarch: k7/l2_size_kb


class L2Bus(L2XBar):
    width = 8  # assumed: 64 bits between the levels


class Memory(PC133):
    burst_length = 8  # uarch: k7/line_bytes, calibrated: 64 bytes by 8
    tBURST = "60ns"  # assumed: eight beats of 133 MHz


class Chipset(Northbridge):
    static_frontend_latency = "40ns"  # uarch: k7/dram_latency_ns, calibrated: the open page's 175 ns
    static_backend_latency = "40ns"  # uarch: k7/dram_latency_ns, calibrated: as static_frontend_latency


def by_element(min_element, bytes_per_cycle, startup_uops, **conditions):
    """An element a cycle, and its bytes' share of a third of one."""
    return objects.X86StringMode(
        min_element=min_element,
        startup_uops=startup_uops,
        block=0,  # uarch: k7/rep_movs_cycles, calibrated: by element
        element_cycles=1,  # uarch: k7/rep_movs_cycles, calibrated: a third more by bytes
        bytes_per_cycle=bytes_per_cycle,
        **conditions,
    )


def move_modes():
    """15 + 4/3 n cycles for any element, 25 and as many going down: the start-ups three micro-ops a cycle, and 3."""
    return [
        by_element(4, bytes_per_cycle=11.5, startup_uops=36),  # uarch: k7/rep_movs_bytes_per_cycle, calibrated
        by_element(2, bytes_per_cycle=6, startup_uops=36),  # uarch: k7/rep_movs_cycles, calibrated: two bytes
        by_element(1, bytes_per_cycle=2.6, startup_uops=36),  # uarch: k7/rep_movs_bytes_per_cycle, calibrated
        by_element(1, bytes_per_cycle=2.6, startup_uops=66, backwards=True),  # uarch: k7/rep_movs_startup, calibrated
    ]


def fill_modes():
    """14 + n cycles."""
    return [by_element(1, bytes_per_cycle=0, startup_uops=33, backwards=True)]  # uarch: k7/rep_movs_startup, calibrated


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return objects.X86Microcode(
        gem5=False,  # assumed: hardware has its own
        micro_fusion=True,  # uarch: k7/rename_width
        split_stores=False,  # uarch: k7/rename_width
        stack_engine=False,  # assumed: later
        zero_idioms=True,  # assumed: AMD's guides advise them
        flag_merge="none",  # uarch: k7/partial_flag_stall
        max_access=8,  # uarch: k7/l1d_store_bytes_per_cycle
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=1),  # uarch: k7/lat_adc
            objects.X86Instruction(mnemonics=["lea"], latency=2),  # uarch: k7/lat_lea
            objects.X86Instruction(mnemonics=["bswap"], latency=1),  # uarch: k7/lat_bswap
            objects.X86Instruction(mnemonics=["psadbw"], latency=3),  # uarch: k7/lat_psadbw
            objects.X86Instruction(
                mnemonics=["mul"],
                latency=3,  # uarch: k7/lat_mul_wide, calibrated: two micro-ops, the second a cycle later
            ),
            *slow_loops(),
        ],
        rep_movs=move_modes(),
        rep_stos=fill_modes(),
    )


def ours(cpu):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.forwardLatency = 2  # uarch: k7/stlf_latency, calibrated: with the store's and the load's own cycles, 5
    cpu.partialForwardPolicy = "penalty"  # uarch: k7/stlf_fail_penalty
    cpu.forwardFailPenalty = 4  # uarch: k7/stlf_fail_penalty, calibrated: with the store's way to the cache, 11
    cpu.aliasCheckBits = 12  # uarch: k7/alias_4k, calibrated: bits 11 to 2
    cpu.aliasPenalty = 4  # uarch: k7/alias_4k
    cpu.misaligned.policy = "hardware"  # uarch: k7/unaligned_within_line
    cpu.misaligned.granule = 8  # uarch: k7/unaligned_within_line
    cpu.misaligned.granule_cross_load = 1  # uarch: k7/unaligned_within_line
    cpu.misaligned.granule_cross_store = 1  # uarch: k7/unaligned_within_line
    cpu.misaligned.line_cross_load = 2  # uarch: k7/split_load_cost
    cpu.misaligned.line_cross_store = 2  # uarch: k7/split_store_cost
    cpu.misaligned.page_cross_load = 4  # uarch: k7/page_cross_load
    cpu.misaligned.page_cross_store = 4  # uarch: k7/page_cross_store
    cpu.mmu.dtb.l2_size = 256  # uarch: k7/stlb_entries
    cpu.mmu.dtb.l2_assoc = 4  # uarch: k7/stlb_entries
    cpu.mmu.dtb.l2_latency = 3  # uarch: k7/stlb_hit_penalty
    walk_caches(cpu)  # assumed: the tables of its time had two levels, the upper one known
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=4)  # uarch: k7/wc_buffers
    isa = cpu.isa[0]
    without(isa, *SINCE_SSE2)  # assumed: came later
    isa.enable_clflush = True  # assumed: came later too, but the measuring guest makes buffers cold with it


@constructor(*OUT_OF_ORDER, *L2)
def K7Board(**options):
    cpu = K7CPU(isa=[X86ISA(vendor_string="AuthenticAMD", name_string="Athlon")])
    cpu.mmu.itb.size = 24  # assumed: the instruction side's
    cpu.mmu.dtb.size = 32  # uarch: k7/dtlb_entries
    if has_extensions():
        ours(cpu)
    return silicon_board(
        cpu=cpu,
        clock=CLOCK,
        memory=Chipset(dram=Memory(range=board_range(MEMORY_SIZE))),
        icache=L1Cache(),
        dcache=L1Cache(),
        l2=L2Cache(),
        l2bus=L2Bus(),
        **options,
    )


machine = machine_of(K7Board)
