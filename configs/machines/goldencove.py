"""Intel Golden Cove (the large core of Alder Lake, at the clock of its measurements): six-wide, FSRM.

Ports are functional units: 0, 1, 5, 6, 10 compute, 2, 3 and 11 load, 4 and 9 store (address units are not told apart).
Not modelled: memory renaming (a load whose store is known takes no time), the elimination of inc and of additions of
small constants, the micro-op cache (fetch brings 64 bytes a cycle at any time), that two stores a cycle must go to one
line, separate first-level TLBs for loads and stores. The three schedulers are one queue of their joint size. Copies of
up to 128 bytes by REP MOVSB have a mode of their own (FSRM); beyond it is ERMS. How long one of 129 to 511 bytes takes
alone was measured, and kept; one after another they overlap here, on the hardware less. REP STOS is as on Broadwell.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5 import objects
from m5.objects import (
    LTAGE,
    X86ISA,
    X86O3CPU,
    FUDesc,
    FUPool,
    IprPort,
    L2XBar,
    PredALU,
    ReturnAddrStack,
    SimpleBTB,
    SimpleMemory,
)

from machines.broadwell import string_modes
from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import extend, sliced
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import (
    MEMORY_SIZE,
    WALK_CACHES,
    LoadPorts,
    SiliconCache,
    StorePorts,
    dividers,
    fences,
    hardware_core,
    intel_microcode,
    ops,
    silicon_board,
    slow_loops,
    streamer_and_pairs,
    vector_logic,
    walk_caches,
)

NAME = "goldencove"
DESCRIPTION = "Intel Golden Cove (Alder Lake, 3.19 GHz): 6-wide out-of-order, three loads a cycle, REP MOVSB with FSRM"
ISA = "x86"

CLOCK = sourced("3190MHz", "goldencove/clock_mhz")
LOAD_TO_USE = {"L1": 5, "L2": 17, "L3": 79}  # cycles; what `breakeven machines show goldencove` measures
STARTUP_UOPS = calibrated(130, "goldencove/rep_movs_startup", "of rep stos, five a cycle")
ANY = 0xFFFF_FFFF  # bytes, no limit

#: logic and additions on vectors, on ports 0, 1 and 5
VECTOR = vector_logic("goldencove/lat_simd_add")
#: arithmetic on vectors, on ports 0 and 1
ARITHMETIC = {
    **dict.fromkeys(("SimdMult", "SimdMultAcc", "FloatCvt", "SimdCvt", "SimdFloatCvt"), assumed(5, "as Skylake")),
    **dict.fromkeys(
        ("FloatAdd", "FloatCmp", "SimdFloatAdd", "SimdFloatCmp", "SimdFloatAlu"), assumed(3, "fast adders")
    ),
    **dict.fromkeys(("FloatMult", "SimdFloatMult", "FloatMultAcc", "SimdFloatMultAcc"), assumed(4, "as Skylake")),
    "SimdShift": assumed(1, "as Skylake"),
}


class Port0(FUDesc):
    count = sourced(1, "goldencove/port_map")
    opList = [
        *ops({"IntAlu": 1, **VECTOR, **ARITHMETIC, "FloatMisc": 1, "SimdFloatMisc": 1}),
        *dividers(**assumed({"integer": 14, "divide": 11, "root": 13}, "a faster divider than Skylake's")),
    ]


class Port1(FUDesc):
    count = sourced(1, "goldencove/port_map")
    opList = [*ops({"IntAlu": 1, "IntMult": sourced(3, "goldencove/lat_imul"), **VECTOR, **ARITHMETIC})]


class Port5(FUDesc):
    count = sourced(1, "goldencove/port_map")
    opList = [
        *ops(
            {
                "IntAlu": 1,
                **VECTOR,
                "SimdExt": 1,
                "SimdFloatExt": 1,
                "SimdReduceAlu": 3,
                "SimdReduceAdd": 3,
            }
        )
    ]


class Ports6And10(FUDesc):
    count = calibrated(2, "goldencove/port_map", "two ports")
    opList = [*ops({"IntAlu": 1})]


class PortsLoad(LoadPorts):
    count = sourced(3, "goldencove/port_map")


class PortsStore(StorePorts):
    count = sourced(2, "goldencove/port_map")


class GoldenCoveFUPool(FUPool):
    FUList = [Ports6And10(), Port5(), Port1(), Port0(), PortsLoad(), PortsStore(), PredALU(), IprPort()]


class GoldenCoveBranchPredictor(LTAGE):
    btb = SimpleBTB(
        numEntries=calibrated(12288, "goldencove/btb", "12 K"),
        associativity=assumed(6, "2048 sets"),
    )
    ras = ReturnAddrStack(numEntries=assumed(16, "as its relatives"))


class GoldenCoveCPU(X86O3CPU):
    fetchBufferSize = assumed(64, "eight micro-ops a cycle out of the micro-op cache; past it, 32 bytes")
    fetchWidth = sourced(8, "goldencove/decode_width")
    fetchToDecodeDelay = calibrated(11, "goldencove/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = sourced(144, "goldencove/idq_size")
    decodeWidth = sourced(6, "goldencove/decode_width")
    renameWidth = sourced(6, "goldencove/rename_width")
    dispatchWidth = sourced(6, "goldencove/rename_width")
    issueWidth = calibrated(12, "goldencove/port_map", "twelve ports")
    wbWidth = calibrated(12, "goldencove/port_map", "twelve ports")
    commitWidth = sourced(8, "goldencove/retire_width")
    squashWidth = assumed(128, "recovery does not walk")
    numROBEntries = sourced(512, "goldencove/rob_size")
    numIQEntries = calibrated(186, "goldencove/scheduler_size", "the three together")
    numPhysIntRegs = sourced(280, "goldencove/int_prf")
    numPhysFloatRegs = sourced(332, "goldencove/vec_prf")
    LQEntries = sourced(192, "goldencove/load_queue")
    SQEntries = sourced(114, "goldencove/store_queue")
    cacheLoadPorts = sourced(3, "goldencove/tput_load")
    cacheStorePorts = sourced(2, "goldencove/tput_store")
    fuPool = GoldenCoveFUPool()
    branchPred = GoldenCoveBranchPredictor()


class L1Cache(SiliconCache):
    size = sourced("48KiB", "goldencove/l1d_size_kb")
    assoc = sourced(12, "goldencove/l1d_assoc")
    tag_latency = calibrated(4, "goldencove/l1d_latency", "with the core's own cycle, 5 to the use")
    data_latency = calibrated(4, "goldencove/l1d_latency", "as tag_latency")
    mshrs = sourced(16, "goldencove/mshr_l1d")
    write_buffers = sourced(16, "goldencove/wc_buffers")


class L1ICache(L1Cache):
    size = assumed("32KiB", "as its relatives")
    assoc = assumed(8, "as its relatives")


class L2Cache(SiliconCache):
    size = sourced("1280KiB", "goldencove/l2_size_kb")
    assoc = assumed(10, "ten ways of 2048 lines")
    tag_latency = calibrated(2, "goldencove/l2_latency", "the first level and the bus add the rest")
    data_latency = calibrated(9, "goldencove/l2_latency", "as tag_latency")
    mshrs = sourced(48, "goldencove/mshr_l2")
    write_buffers = assumed(48, "as mshrs")
    writeback_clean = assumed(True, "the level below holds what this one drops")


class L3Cache(SiliconCache):
    size = assumed("30MiB", "the i9-12900K's")
    assoc = assumed(12, "twelve ways")
    tag_latency = assumed(20, "half of the data's")
    data_latency = calibrated(66, "goldencove/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(22, "goldencove/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(48, "as the second level's")
    clusivity = assumed("mostly_excl", "as Skylake's server")


class L2Bus(L2XBar):
    width = assumed(64, "a line a cycle, as since Haswell")


class L3Bus(L2XBar):
    width = assumed(32, "as its relatives")


PACE = sourced(64, "goldencove/rep_movs_pace")


def bands(startups, pace, **conditions):
    """ERMS: up to so many bytes (the keys), so many cycles before the first access; then `pace` bytes a cycle."""
    return [
        objects.X86StringMode(
            max_bytes=limit,
            startup=startup,
            block=assumed(64, "as on Broadwell"),
            alignment=calibrated(64, "goldencove/rep_movs_align_sensitivity", "a line"),
            bytes_per_cycle=pace,
            bytes_per_cycle_misaligned=calibrated(64, "goldencove/rep_movs_align_sensitivity", "as aligned"),
            bytes_per_cycle_crossed=calibrated(50, "goldencove/rep_movs_align_sensitivity", "between the two"),
            whole_lines=assumed(True, "as on Broadwell"),
            **conditions,
        )
        for limit, startup in startups.items()
    ]


def string_copies(pace):
    """Wider elements, at multiples of 8 or else one by one; then bytes: FSRM up to 128, none included."""
    none = objects.X86StringMode(
        min_element=calibrated(2, "goldencove/rep_movs_startup_wide", "any but bytes"),
        max_count=calibrated(0, "goldencove/rep_movs_startup_wide", "none"),
        startup=calibrated(60, "goldencove/rep_movs_startup_wide", "with the way through the pipeline, 66"),
    )
    wide = bands(
        calibrated(
            {128: 21, 256: 19, 511: 26, ANY: 32},
            "goldencove/rep_movs_startup_wide",
            "alone 36 cycles up to 256 bytes, 46 of 384, 54 of 512",
        ),
        pace,
        min_element=calibrated(2, "goldencove/rep_movs_startup_wide", "any but bytes"),
        co_alignment=sourced(8, "goldencove/rep_movs_align_sensitivity"),
    )
    by_element = objects.X86StringMode(
        min_element=calibrated(2, "goldencove/rep_movs_startup_wide", "any but bytes"),
        block=calibrated(0, "goldencove/rep_movs_align_sensitivity", "by element"),
        startup=calibrated(76, "goldencove/rep_movs_align_sensitivity", "64 bytes make 99 cycles"),
    )
    short = objects.X86StringMode(
        max_bytes=sourced(128, "goldencove/rep_movs_fast_conditions"),
        startup=calibrated(8, "goldencove/rep_movs_startup", "up to 128 bytes make 9 cycles"),
        block=assumed(64, "as ERMS"),
        whole_lines=assumed(True, "as ERMS"),
    )
    long = bands(
        calibrated(
            {256: 15, 511: 24, ANY: 32},
            "goldencove/rep_movs_startup_long",
            "alone 32 cycles up to 256 bytes, 44 of 384, 54 of 512",
        ),
        pace,
    )
    backwards = string_modes(64, STARTUP_UOPS)[-1]
    return [none, *wide, by_element, short, *long, backwards]


MUL = assumed(3, "as imul, a micro-op a result")
STOS = sourced(61, "goldencove/rep_stos_bytes_per_cycle")


def microcode(mul=MUL, movs=PACE, stos=STOS):
    """Micro-ops of the hardware in place of gem5's: cycles of mul, bytes a cycle of REP MOVS and REP STOS."""
    return intel_microcode(
        split_stores=sourced(True, "goldencove/port_map"),
        flag_merge=sourced("none", "goldencove/partial_flag_stall"),
        max_access=calibrated(32, "goldencove/l1d_store_bytes_per_cycle", "two stores a cycle"),
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=sourced(1, "goldencove/lat_adc")),
            objects.X86Instruction(mnemonics=["adcx", "adox"], latency=assumed(1, "as adc")),
            objects.X86Instruction(mnemonics=["mul", "mulx"], latency=mul),
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=sourced(3, "goldencove/lat_psadbw")),
            *slow_loops(),
        ],
        rep_movs=string_copies(movs),
        rep_stos=string_modes(stos, STARTUP_UOPS),
    )


def ours(cpu, dcache, l2, code):
    """What a real gem5 cannot express; `code`: its microcode."""
    hardware_core(cpu, code)
    cpu.loopBufferSize = calibrated(576, "goldencove/idq_size", "four bytes of code a micro-op")
    fences(
        cpu,
        **calibrated({"latency": 8, "after_stores": 7}, "goldencove/mfence", "2 cycles are hidden, none behind stores"),
    )
    cpu.forwardLatency = calibrated(2, "goldencove/stlf_latency", "with the store's and the load's own cycles, 5")
    cpu.partialForwardPolicy = sourced("penalty", "goldencove/stlf_fail_penalty")
    cpu.forwardFailPenalty = calibrated(8, "goldencove/stlf_fail_penalty", "with the store's way to the cache, 15")
    cpu.aliasCheckBits = calibrated(12, "goldencove/alias_4k", "4 KiB are 12 bits")
    cpu.aliasPenalty = sourced(5, "goldencove/alias_4k")
    cpu.misaligned.policy = sourced("hardware", "goldencove/unaligned_within_line")
    cpu.misaligned.line_cross_load = sourced(6, "goldencove/split_load_cost")
    cpu.misaligned.line_cross_store = calibrated(1, "goldencove/split_store_cost", "a second access")
    cpu.misaligned.page_cross_load = sourced(10, "goldencove/page_cross_load")
    cpu.misaligned.page_cross_store = sourced(25, "goldencove/page_cross_store")
    cpu.mmu.dtb.assoc = sourced(6, "goldencove/dtlb_entries")
    cpu.mmu.dtb.l2_size = calibrated(2048, "goldencove/stlb_entries", "both halves")
    cpu.mmu.dtb.l2_assoc = sourced(8, "goldencove/stlb_entries")
    cpu.mmu.dtb.l2_latency = assumed(7, "as Broadwell's")
    walk_caches(cpu, **WALK_CACHES)
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=sourced(16, "goldencove/wc_buffers"))
    dcache.prefetcher = sourced(objects.NextLinePrefetcher(), "goldencove/prefetchers")
    l2.prefetcher = sourced(streamer_and_pairs(), "goldencove/prefetchers")


def cove_cpu(kind, name):
    """A core with its instruction set's vendor, and address translation."""
    cpu = kind(isa=[X86ISA(vendor_string="GenuineIntel", name_string=name)])
    cpu.mmu.itb.size = assumed(256, "as its relatives")
    cpu.mmu.dtb.size = sourced(96, "goldencove/dtlb_entries")
    return cpu


def cove_board(cpu, clock, memory, dcache, l2, l3, **options):
    """A machine of this core and these caches."""
    return silicon_board(
        cpu=cpu,
        clock=clock,
        memory=memory,
        icache=L1ICache(),
        dcache=dcache,
        l2=l2,
        l2bus=L2Bus(),
        l3=l3,
        l3bus=L3Bus(),
        **options,
    )


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def GoldenCoveBoard(**options):
    cpu, dcache, l2, l3 = cove_cpu(GoldenCoveCPU, "Golden Cove"), L1Cache(), L2Cache(), L3Cache()
    extend(lambda *parts: ours(*parts, microcode()), cpu, dcache, l2)
    sliced(l3, assumed(10, "3 MiB each, of 4096 sets"), gem5s="24MiB")
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("80ns", "goldencove/dram_latency_ns", "the caches and buses on the way add the rest"),
        bandwidth=calibrated("30GiB/s", "goldencove/dram_bw_single_core_gbps", "by the copy's"),
    )
    return cove_board(cpu, CLOCK, memory, dcache, l2, l3, **options)


machine = machine_of(GoldenCoveBoard)
