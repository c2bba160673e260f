"""Intel Golden Cove (the large core of Alder Lake, at the clock of its measurements): six-wide, FSRM.

Ports are functional units: 0, 1, 5, 6, 10 compute, 2, 3 and 11 load, 4 and 9 store (address units are not told apart).
Not modelled: memory renaming (a load whose store is known takes no time), the elimination of inc and of additions of
small constants, the micro-op cache (fetch brings 64 bytes a cycle at any time), that two stores a cycle must go to one
line, separate first-level TLBs for loads and stores. The three schedulers are one queue of their joint size. Copies of
up to 128 bytes by REP MOVSB have a mode of their own (FSRM); beyond it is ERMS. How long one of 129 to 511 bytes takes
alone was measured, and kept; one after another they overlap here, on the hardware less. REP STOS is as on Broadwell.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from broadwell import string_modes
from constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, has_extensions, machine_of
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
from x86_board import board_range
from x86_silicon import (
    MEMORY_SIZE,
    LoadPorts,
    SiliconCache,
    StorePorts,
    dividers,
    hardware_core,
    intel_microcode,
    ops,
    silicon_board,
    slow_loops,
    streamer_and_pairs,
    walk_caches,
)

NAME = "goldencove"
DESCRIPTION = "Intel Golden Cove (Alder Lake, 3.19 GHz): 6-wide out-of-order, three loads a cycle, REP MOVSB with FSRM"
ISA = "x86"

CLOCK = "3190MHz"  # uarch: goldencove/clock_mhz
LOAD_TO_USE = {"L1": 5, "L2": 17, "L3": 79}  # cycles; what `breakeven machines show goldencove` measures
STARTUP_UOPS = 130  # uarch: goldencove/rep_movs_startup, calibrated: of rep stos, five a cycle
ANY = 0xFFFF_FFFF  # assumed: bytes, no limit

#: logic and additions on vectors, on ports 0, 1 and 5
VECTOR = {"SimdAlu": 1, "SimdCmp": 1, "SimdMisc": 1, "SimdAdd": 1, "SimdAddAcc": 1}  # uarch: goldencove/lat_simd_add
#: arithmetic on vectors, on ports 0 and 1
ARITHMETIC = {
    **dict.fromkeys(("SimdMult", "SimdMultAcc", "FloatCvt", "SimdCvt", "SimdFloatCvt"), 5),  # assumed: as Skylake
    **dict.fromkeys(
        ("FloatAdd", "FloatCmp", "SimdFloatAdd", "SimdFloatCmp", "SimdFloatAlu"), 3
    ),  # assumed: fast adders
    **dict.fromkeys(("FloatMult", "SimdFloatMult", "FloatMultAcc", "SimdFloatMultAcc"), 4),  # assumed: as Skylake
    "SimdShift": 1,  # assumed: as Skylake
}


class Port0(FUDesc):
    count = 1  # uarch: goldencove/port_map
    opList = [
        *ops({"IntAlu": 1, **VECTOR, **ARITHMETIC, "FloatMisc": 1, "SimdFloatMisc": 1}),
        *dividers(integer=14, divide=11, root=13),  # assumed: a faster divider than Skylake's
    ]


class Port1(FUDesc):
    count = 1  # uarch: goldencove/port_map
    opList = [*ops({"IntAlu": 1, "IntMult": 3, **VECTOR, **ARITHMETIC})]  # uarch: goldencove/lat_imul


class Port5(FUDesc):
    count = 1  # uarch: goldencove/port_map
    opList = [*ops({"IntAlu": 1, **VECTOR, "SimdExt": 1, "SimdFloatExt": 1, "SimdReduceAlu": 3, "SimdReduceAdd": 3})]


class Ports6And10(FUDesc):
    count = 2  # uarch: goldencove/port_map, calibrated: two ports
    opList = [*ops({"IntAlu": 1})]


class PortsLoad(LoadPorts):
    count = 3  # uarch: goldencove/port_map


class PortsStore(StorePorts):
    count = 2  # uarch: goldencove/port_map


class GoldenCoveFUPool(FUPool):
    FUList = [Ports6And10(), Port5(), Port1(), Port0(), PortsLoad(), PortsStore(), PredALU(), IprPort()]


class GoldenCoveBranchPredictor(LTAGE):
    btb = SimpleBTB(
        numEntries=12288,  # uarch: goldencove/btb, calibrated: 12 K
        associativity=6,  # assumed: 2048 sets
    )
    ras = ReturnAddrStack(numEntries=16)  # assumed: as its relatives


class GoldenCoveCPU(X86O3CPU):
    fetchBufferSize = 64  # assumed: eight micro-ops a cycle out of the micro-op cache; past it, 32 bytes
    fetchWidth = 8  # uarch: goldencove/decode_width
    fetchToDecodeDelay = 11  # uarch: goldencove/branch_mispredict, calibrated: the stages that a new path goes through
    fetchQueueSize = 144  # uarch: goldencove/idq_size
    decodeWidth = 6  # uarch: goldencove/decode_width
    renameWidth = 6  # uarch: goldencove/rename_width
    dispatchWidth = 6  # uarch: goldencove/rename_width
    issueWidth = 12  # uarch: goldencove/port_map, calibrated: twelve ports
    wbWidth = 12  # uarch: goldencove/port_map, calibrated: twelve ports
    commitWidth = 8  # uarch: goldencove/retire_width
    squashWidth = 128  # assumed: recovery does not walk
    numROBEntries = 512  # uarch: goldencove/rob_size
    numIQEntries = 186  # uarch: goldencove/scheduler_size, calibrated: the three together
    numPhysIntRegs = 280  # uarch: goldencove/int_prf
    numPhysFloatRegs = 332  # uarch: goldencove/vec_prf
    LQEntries = 192  # uarch: goldencove/load_queue
    SQEntries = 114  # uarch: goldencove/store_queue
    cacheLoadPorts = 3  # uarch: goldencove/tput_load
    cacheStorePorts = 2  # uarch: goldencove/tput_store
    fuPool = GoldenCoveFUPool()
    branchPred = GoldenCoveBranchPredictor()


class L1Cache(SiliconCache):
    size = "48KiB"  # uarch: goldencove/l1d_size_kb
    assoc = 12  # uarch: goldencove/l1d_assoc
    tag_latency = 4  # uarch: goldencove/l1d_latency, calibrated: with the core's own cycle, 5 to the use
    data_latency = 4  # uarch: goldencove/l1d_latency, calibrated: as tag_latency
    mshrs = 16  # uarch: goldencove/mshr_l1d
    write_buffers = 16  # uarch: goldencove/wc_buffers


class L1ICache(L1Cache):
    size = "32KiB"  # assumed: as its relatives
    assoc = 8  # assumed: as its relatives


class L2Cache(SiliconCache):
    size = "1280KiB"  # uarch: goldencove/l2_size_kb
    assoc = 10  # assumed: ten ways of 2048 lines
    tag_latency = 2  # uarch: goldencove/l2_latency, calibrated: the first level and the bus add the rest
    data_latency = 9  # uarch: goldencove/l2_latency, calibrated: as tag_latency
    mshrs = 48  # uarch: goldencove/mshr_l2
    write_buffers = 48  # assumed: as mshrs
    writeback_clean = True  # assumed: the level below holds what this one drops


class L3Cache(SiliconCache):
    size = "30MiB"  # assumed: the i9-12900K's
    assoc = 12  # assumed: twelve ways
    tag_latency = 20  # assumed: half of the data's
    data_latency = 66  # uarch: goldencove/l3_latency, calibrated: the levels before it add the rest
    mshrs = 22  # uarch: goldencove/dram_bw_single_core_gbps, calibrated: what one core has under way to memory
    write_buffers = 48  # assumed: as the second level's
    clusivity = "mostly_excl"  # assumed: as Skylake's server


class L2Bus(L2XBar):
    width = 64  # assumed: a line a cycle, as since Haswell


class L3Bus(L2XBar):
    width = 32  # assumed: as its relatives


def bands(*limits_and_startups, **conditions):
    """ERMS: up to so many bytes, so many cycles before the first access."""
    return [
        objects.X86StringMode(
            max_bytes=limit,
            startup=startup,
            block=64,  # assumed: as on Broadwell
            alignment=64,  # uarch: goldencove/rep_movs_align_sensitivity, calibrated: a line
            bytes_per_cycle=64,  # uarch: goldencove/rep_movs_pace
            bytes_per_cycle_misaligned=64,  # uarch: goldencove/rep_movs_align_sensitivity, calibrated: as aligned
            bytes_per_cycle_crossed=50,  # uarch: goldencove/rep_movs_align_sensitivity, calibrated: between the two
            whole_lines=True,  # assumed: as on Broadwell
            **conditions,
        )
        for limit, startup in limits_and_startups
    ]


def string_copies():
    """Wider elements, at multiples of 8 or else one by one; then bytes: FSRM up to 128, none included."""
    none = objects.X86StringMode(
        min_element=2,  # uarch: goldencove/rep_movs_startup_wide, calibrated: any but bytes
        max_count=0,  # uarch: goldencove/rep_movs_startup_wide, calibrated: none
        startup=60,  # uarch: goldencove/rep_movs_startup_wide, calibrated: with the way through the pipeline, 66
    )
    # uarch: goldencove/rep_movs_startup_wide, calibrated: alone 36 cycles up to 256 bytes, 46 of 384, 54 of 512
    wide = bands(
        *((128, 21), (256, 19), (511, 26), (ANY, 32)),
        min_element=2,  # uarch: goldencove/rep_movs_startup_wide, calibrated: any but bytes
        co_alignment=8,  # uarch: goldencove/rep_movs_align_sensitivity
    )
    by_element = objects.X86StringMode(
        min_element=2,  # uarch: goldencove/rep_movs_startup_wide, calibrated: any but bytes
        block=0,  # uarch: goldencove/rep_movs_align_sensitivity, calibrated: by element
        startup=76,  # uarch: goldencove/rep_movs_align_sensitivity, calibrated: 64 bytes make 99 cycles
    )
    short = objects.X86StringMode(
        max_bytes=128,  # uarch: goldencove/rep_movs_fast_conditions
        startup=8,  # uarch: goldencove/rep_movs_startup, calibrated: up to 128 bytes make 9 cycles
        block=64,  # assumed: as ERMS
        whole_lines=True,  # assumed: as ERMS
    )
    # uarch: goldencove/rep_movs_startup_long, calibrated: alone 32 cycles up to 256 bytes, 44 of 384, 54 of 512
    long = bands((256, 15), (511, 24), (ANY, 32))
    backwards = string_modes(64, STARTUP_UOPS)[-1]  # uarch: goldencove/rep_movs_pace
    return [none, *wide, by_element, short, *long, backwards]


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return intel_microcode(
        split_stores=True,  # uarch: goldencove/port_map
        flag_merge="none",  # uarch: goldencove/partial_flag_stall
        max_access=32,  # uarch: goldencove/l1d_store_bytes_per_cycle, calibrated: two stores a cycle
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=1),  # uarch: goldencove/lat_adc
            objects.X86Instruction(mnemonics=["adcx", "adox"], latency=1),  # assumed: as adc
            objects.X86Instruction(mnemonics=["mul", "mulx"], latency=3),  # assumed: as imul, a micro-op a result
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=3),  # uarch: goldencove/lat_psadbw
            *slow_loops(),
        ],
        rep_movs=string_copies(),
        rep_stos=string_modes(61, STARTUP_UOPS),  # uarch: goldencove/rep_stos_bytes_per_cycle
    )


def ours(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.loopBufferSize = 576  # uarch: goldencove/idq_size, calibrated: four bytes of code a micro-op
    cpu.forwardLatency = 2  # uarch: goldencove/stlf_latency, calibrated: with the store's and the load's own cycles, 5
    cpu.partialForwardPolicy = "penalty"  # uarch: goldencove/stlf_fail_penalty
    cpu.forwardFailPenalty = 8  # uarch: goldencove/stlf_fail_penalty, calibrated: with the store's way to the cache, 15
    cpu.aliasCheckBits = 12  # uarch: goldencove/alias_4k, calibrated: 4 KiB are 12 bits
    cpu.aliasPenalty = 5  # uarch: goldencove/alias_4k
    cpu.misaligned.policy = "hardware"  # uarch: goldencove/unaligned_within_line
    cpu.misaligned.line_cross_load = 6  # uarch: goldencove/split_load_cost
    cpu.misaligned.line_cross_store = 1  # uarch: goldencove/split_store_cost, calibrated: a second access
    cpu.misaligned.page_cross_load = 10  # uarch: goldencove/page_cross_load
    cpu.misaligned.page_cross_store = 25  # uarch: goldencove/page_cross_store
    cpu.mmu.dtb.assoc = 6  # uarch: goldencove/dtlb_entries
    cpu.mmu.dtb.l2_size = 2048  # uarch: goldencove/stlb_entries, calibrated: both halves
    cpu.mmu.dtb.l2_assoc = 8  # uarch: goldencove/stlb_entries
    cpu.mmu.dtb.l2_latency = 7  # assumed: as Broadwell's
    walk_caches(cpu)  # assumed: as its relatives
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=16)  # uarch: goldencove/wc_buffers
    dcache.prefetcher = objects.NextLinePrefetcher()  # uarch: goldencove/prefetchers
    l2.prefetcher = streamer_and_pairs()  # uarch: goldencove/prefetchers


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def GoldenCoveBoard(**options):
    cpu = GoldenCoveCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Golden Cove")])
    cpu.mmu.itb.size = 256  # assumed: as its relatives
    cpu.mmu.dtb.size = 96  # uarch: goldencove/dtlb_entries
    dcache, l2, l3 = L1Cache(), L2Cache(), L3Cache()
    if has_extensions():
        ours(cpu, dcache, l2)
    if has_extensions():
        l3.slices = 10  # assumed: 3 MiB each, of 4096 sets
    else:
        l3 = L3Cache(size="24MiB")  # assumed: the most that a real gem5 takes, whose sets are a power of two
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency="80ns",  # uarch: goldencove/dram_latency_ns, calibrated: the caches and buses on the way add the rest
        bandwidth="30GiB/s",  # uarch: goldencove/dram_bw_single_core_gbps, calibrated: by the copy's
    )
    return silicon_board(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=dcache,
        l2=l2,
        l2bus=L2Bus(),
        l3=l3,
        l3bus=L3Bus(),
        **options,
    )


machine = machine_of(GoldenCoveBoard)
