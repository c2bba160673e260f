"""AMD Athlon K7 (Thunderbird, 1.4 GHz, PC133 memory): three macro-ops wide, out-of-order, no prefetcher, exclusive L2.

A load with its operation, or a store, is one macro-op. Flags are renamed apart. REP MOVS goes element by element, at
any alignment alike.

Not modelled: address units apart from the load and store pipes, two stores of 4 bytes in one cycle, integer schedulers
of six entries each (one joint queue with the floating-point one here), banks of the first level. It has SSE here for
the MMX extensions that came with it (movntq, prefetchnta, sfence), which this core has; floating-point SSE it has not.
It runs 32-bit routines in 64-bit mode, which the hardware has not.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

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

from machines.constructors import L2, OUT_OF_ORDER, constructor, machine_of
from machines.extensions import extend
from machines.pc133 import PC133, Northbridge
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import (
    MEMORY_SIZE,
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

NAME = "k7"
DESCRIPTION = "AMD Athlon K7 (Thunderbird, 1.4 GHz): 3-wide out-of-order, 64 KiB L1, 256 KiB exclusive L2"
ISA = "x86"

CLOCK = sourced("1400MHz", "k7/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 21}  # cycles; what `breakeven machines show k7` measures


#: MMX on both of its pipes
VECTOR = sourced({"SimdAdd": 2, "SimdAddAcc": 2, "SimdAlu": 2, "SimdCmp": 2}, "k7/lat_simd_add")
VECTOR_TOO = assumed({"SimdMisc": 2, "SimdExt": 2, "SimdShift": 2, "SimdReduceAlu": 3}, "as the additions")


class Alu(FUDesc):
    count = calibrated(2, "k7/port_map", "three, and one of them multiplies")
    opList = [*ops(sourced({"IntAlu": 1}, "k7/lat_int_add"))]


class AluMul(FUDesc):
    count = calibrated(1, "k7/port_map", "one such pipe")
    opList = [
        *ops({"IntAlu": 1, "IntMult": sourced(4, "k7/lat_imul")}),
        *dividers(**assumed({"integer": 42}, "a bit a cycle")),
    ]


class FloatAdd(FUDesc):
    count = calibrated(1, "k7/port_map", "one such pipe")
    opList = [
        *ops({**VECTOR, **VECTOR_TOO}),
        *ops({"FloatAdd": 4, "FloatCmp": 4, "FloatCvt": 4, "SimdFloatAdd": 4, "SimdFloatCmp": 4, "SimdFloatAlu": 4}),
        *ops({"SimdCvt": 4, "SimdFloatCvt": 4}),
    ]


class FloatMul(FUDesc):
    count = calibrated(1, "k7/port_map", "one such pipe")
    opList = [
        *ops(
            {
                **VECTOR,
                **VECTOR_TOO,
                "SimdMult": 3,
                "SimdMultAcc": 3,
                "SimdReduceAdd": 3,
            }
        ),
        *ops({"FloatMult": 4, "FloatMultAcc": 8, "SimdFloatMult": 4, "SimdFloatMultAcc": 8}),
        *ops({"FloatMisc": 2, "SimdFloatMisc": 2, "SimdFloatExt": 2}),
        *dividers(**assumed({"divide": 16, "root": 19}, "as in its optimization guide's examples")),
    ]


class Loads(LoadPorts):
    count = sourced(2, "k7/tput_load")


class Store(StorePorts):
    count = sourced(1, "k7/tput_store")


class K7FUPool(FUPool):
    FUList = [Alu(), AluMul(), FloatAdd(), FloatMul(), Loads(), Store(), PredALU(), IprPort()]


class K7BranchPredictor(BiModeBP):
    """gem5's nearest to a table of counters chosen by history and address."""

    btb = SimpleBTB(numEntries=sourced(2048, "k7/btb"))
    ras = ReturnAddrStack(numEntries=sourced(12, "k7/btb"))
    globalPredictorSize = sourced(2048, "k7/btb")
    choicePredictorSize = sourced(2048, "k7/btb")


class K7CPU(X86O3CPU):
    fetchBufferSize = sourced(16, "k7/fetch_bytes_per_cycle")
    fetchWidth = assumed(6, "more than the decoders take")
    fetchToDecodeDelay = calibrated(4, "k7/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = assumed(18, "the decoders' queue")
    decodeWidth = sourced(3, "k7/decode_width")
    renameWidth = sourced(3, "k7/rename_width")
    dispatchWidth = sourced(3, "k7/rename_width")
    issueWidth = sourced(9, "k7/order")
    wbWidth = sourced(9, "k7/order")
    commitWidth = sourced(3, "k7/retire_width")
    squashWidth = assumed(72, "recovery does not walk")
    numROBEntries = sourced(72, "k7/rob_size")
    numIQEntries = calibrated(54, "k7/scheduler_size", "both schedulers")
    numPhysIntRegs = calibrated(128, "k7/int_prf", "values live in the ROB, so registers never run out")
    numPhysFloatRegs = calibrated(120, "k7/scheduler_size", "88, and 32 that the model sets aside")
    LQEntries = sourced(44, "k7/load_queue")
    SQEntries = sourced(44, "k7/store_queue")
    cacheLoadPorts = sourced(2, "k7/tput_load")
    cacheStorePorts = sourced(1, "k7/tput_store")
    fuPool = K7FUPool()
    branchPred = K7BranchPredictor()


class L1Cache(SiliconCache):
    size = sourced("64KiB", "k7/l1d_size_kb")
    assoc = sourced(2, "k7/l1d_assoc")
    tag_latency = calibrated(2, "k7/l1d_latency", "with the core's own cycle, 3 to the use")
    data_latency = calibrated(2, "k7/l1d_latency", "as tag_latency")
    mshrs = sourced(8, "k7/mshr_l1d")
    tgts_per_mshr = assumed(88, "no limit, all loads and stores there are")
    write_buffers = assumed(8, "as mshrs")
    writeback_clean = sourced(True, "k7/l2_size_kb")


class L2Cache(SiliconCache):
    size = sourced("256KiB", "k7/l2_size_kb")
    assoc = sourced(16, "k7/l2_assoc")
    tag_latency = calibrated(4, "k7/l2_latency", "the first level and the bus add the rest")
    data_latency = calibrated(8, "k7/l2_latency", "as tag_latency")
    mshrs = assumed(8, "as the first level's")
    write_buffers = assumed(8, "as mshrs")
    clusivity = sourced("mostly_excl", "k7/l2_size_kb")


class L2Bus(L2XBar):
    width = assumed(8, "64 bits between the levels")


class Memory(PC133):
    burst_length = calibrated(8, "k7/line_bytes", "64 bytes by 8")
    tBURST = assumed("60ns", "eight beats of 133 MHz")


class Chipset(Northbridge):
    static_frontend_latency = calibrated("40ns", "k7/dram_latency_ns", "the open page's 175 ns")
    static_backend_latency = calibrated("40ns", "k7/dram_latency_ns", "as static_frontend_latency")


def by_element(min_element, bytes_per_cycle, startup_uops, **conditions):
    """An element a cycle, and its bytes' share of a third of one."""
    return objects.X86StringMode(
        min_element=min_element,
        startup_uops=startup_uops,
        block=calibrated(0, "k7/rep_movs_cycles", "by element"),
        element_cycles=calibrated(1, "k7/rep_movs_cycles", "a third more by bytes"),
        bytes_per_cycle=bytes_per_cycle,
        **conditions,
    )


def move_modes():
    """15 + 4/3 n cycles for any element, 25 and as many going down: the start-ups three micro-ops a cycle, and 3."""
    return [
        by_element(
            4,
            bytes_per_cycle=calibrated(11.5, "k7/rep_movs_bytes_per_cycle", "a third of a cycle for four bytes"),
            startup_uops=calibrated(36, "k7/rep_movs_startup", "12 cycles"),
        ),
        by_element(
            2,
            bytes_per_cycle=calibrated(6, "k7/rep_movs_cycles", "a third of a cycle for two bytes"),
            startup_uops=calibrated(36, "k7/rep_movs_cycles", "12 cycles"),
        ),
        by_element(
            1,
            bytes_per_cycle=calibrated(2.6, "k7/rep_movs_bytes_per_cycle", "over a third of a cycle for a byte"),
            startup_uops=calibrated(36, "k7/rep_movs_startup", "12 cycles"),
        ),
        by_element(
            1,
            bytes_per_cycle=calibrated(2.6, "k7/rep_movs_bytes_per_cycle", "as forward"),
            startup_uops=calibrated(66, "k7/rep_movs_startup", "22 cycles"),
            backwards=True,
        ),
    ]


def fill_modes():
    """14 + n cycles."""
    return [
        by_element(
            1,
            bytes_per_cycle=calibrated(0, "k7/rep_movs_cycles", "a cycle an element"),
            startup_uops=calibrated(33, "k7/rep_movs_startup", "11 cycles"),
            backwards=True,
        )
    ]


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        micro_fusion=sourced(True, "k7/rename_width"),
        split_stores=sourced(False, "k7/rename_width"),
        stack_engine=assumed(False, "later"),
        zero_idioms=assumed(True, "AMD's guides advise them"),
        flag_merge=sourced("none", "k7/partial_flag_stall"),
        max_access=sourced(8, "k7/l1d_store_bytes_per_cycle"),
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=sourced(1, "k7/lat_adc")),
            objects.X86Instruction(mnemonics=["lea"], latency=sourced(2, "k7/lat_lea")),
            objects.X86Instruction(mnemonics=["bswap"], latency=sourced(1, "k7/lat_bswap")),
            objects.X86Instruction(mnemonics=["psadbw"], latency=sourced(3, "k7/lat_psadbw")),
            objects.X86Instruction(
                mnemonics=["mul"],
                latency=calibrated(3, "k7/lat_mul_wide", "two micro-ops, the second a cycle later"),
            ),
            *slow_loops(),
        ],
        rep_movs=move_modes(),
        rep_stos=fill_modes(),
    )


def ours(cpu):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.forwardLatency = calibrated(2, "k7/stlf_latency", "with the store's and the load's own cycles, 5")
    cpu.partialForwardPolicy = sourced("penalty", "k7/stlf_fail_penalty")
    cpu.forwardFailPenalty = calibrated(4, "k7/stlf_fail_penalty", "with the store's way to the cache, 11")
    cpu.aliasCheckBits = calibrated(12, "k7/alias_4k", "bits 11 to 2")
    cpu.aliasPenalty = sourced(4, "k7/alias_4k")
    cpu.misaligned.policy = sourced("hardware", "k7/unaligned_within_line")
    cpu.misaligned.granule = sourced(8, "k7/unaligned_within_line")
    cpu.misaligned.granule_cross_load = sourced(1, "k7/unaligned_within_line")
    cpu.misaligned.granule_cross_store = sourced(1, "k7/unaligned_within_line")
    cpu.misaligned.line_cross_load = sourced(2, "k7/split_load_cost")
    cpu.misaligned.line_cross_store = sourced(2, "k7/split_store_cost")
    cpu.misaligned.page_cross_load = sourced(4, "k7/page_cross_load")
    cpu.misaligned.page_cross_store = sourced(4, "k7/page_cross_store")
    cpu.mmu.dtb.l2_size = sourced(256, "k7/stlb_entries")
    cpu.mmu.dtb.l2_assoc = sourced(4, "k7/stlb_entries")
    cpu.mmu.dtb.l2_latency = sourced(3, "k7/stlb_hit_penalty")
    walk_caches(cpu, **WALK_CACHES)  # the tables of its time had two levels, the upper one known
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=sourced(4, "k7/wc_buffers"))
    isa = cpu.isa[0]
    without(isa, *SINCE_SSE2)
    isa.enable_clflush = assumed(True, "came later too, but the measuring guest makes buffers cold with it")


@constructor(*OUT_OF_ORDER, *L2)
def K7Board(**options):
    cpu = K7CPU(isa=[X86ISA(vendor_string="AuthenticAMD", name_string="Athlon")])
    cpu.mmu.itb.size = assumed(24, "the instruction side's")
    cpu.mmu.dtb.size = sourced(32, "k7/dtlb_entries")
    extend(ours, cpu)
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
