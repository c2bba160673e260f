"""Intel Crestmont (the small core of Meteor Lake, Core Ultra 7 155H): six-wide, out of order, vectors of 16 bytes.

32 bytes of a vector go as two halves. Ports are functional units: four compute, two load, two store, three vector
pipes. The schedulers are one queue of their joint size. Not modelled: decoding by two clusters of three (fetch brings
32 bytes a cycle), the second level's other cores, first-level TLBs beside the one of 48 entries.

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
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import (
    MEMORY_SIZE,
    WALK_CACHES,
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
    vector_logic,
    walk_caches,
)

NAME = "crestmont"
DESCRIPTION = "Intel Crestmont (Meteor Lake, 3 GHz): 6-wide out-of-order, 16-byte vectors, adc of two cycles, FSRM"
ISA = "x86"

CLOCK = sourced("2995MHz", "crestmont/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 20, "L3": 64}  # cycles; what `breakeven machines show crestmont` measures
STARTUP_UOPS = assumed(100, "no source: some twenty cycles, as other cores with FSRM")

#: arithmetic on vectors that no row has
ARITHMETIC = assumed(
    {
        **dict.fromkeys(("FloatAdd", "FloatCmp", "SimdFloatAdd", "SimdFloatCmp", "SimdFloatAlu"), 3),
        **dict.fromkeys(("FloatMult", "SimdFloatMult", "FloatMultAcc", "SimdFloatMultAcc", "SimdMult"), 4),
        **dict.fromkeys(("SimdMultAcc", "FloatCvt", "SimdCvt", "SimdFloatCvt"), 4),
        "SimdShift": 1,
    },
    "no source: usual latencies",
)


class DividingPort(FUDesc):
    count = assumed(1, "one divides")
    opList = [
        *ops({"IntAlu": 1, "IntMult": sourced(5, "crestmont/lat_imul")}),
        *dividers(integer=sourced(32, "crestmont/lat_div")),
    ]


class MultiplyingPort(FUDesc):
    count = calibrated(1, "crestmont/lat_imul", "two of them, less the one that divides")
    opList = [*ops({"IntAlu": 1, "IntMult": sourced(5, "crestmont/lat_imul")})]


class OtherPorts(FUDesc):
    count = calibrated(2, "crestmont/tput_int_add", "four, less the two that multiply")
    opList = [*ops({"IntAlu": 1})]


class PortsLoad(LoadPorts):
    count = sourced(2, "crestmont/tput_load")


class PortsStore(StorePorts):
    count = sourced(2, "crestmont/tput_store")


class SumPipes(FUDesc):
    """Vector pipes that do everything."""

    count = calibrated(2, "crestmont/lat_psadbw", "two a cycle")
    opList = [
        *ops({**vector_logic("crestmont/lat_simd_add"), **ARITHMETIC}),
        *ops(sourced({"SimdReduceAlu": 3, "SimdReduceAdd": 3}, "crestmont/lat_psadbw")),
        *ops({"SimdExt": 1, "SimdFloatExt": 1, "FloatMisc": 1, "SimdFloatMisc": 1}),
        *dividers(**assumed({"divide": 13, "root": 15}, "no source: usual latencies")),
    ]


class LogicPipe(FUDesc):
    count = calibrated(1, "crestmont/lat_simd_add", "three a cycle")
    opList = [*ops(vector_logic("crestmont/lat_simd_add"))]


class CrestmontFUPool(FUPool):
    FUList = [
        *(OtherPorts(), MultiplyingPort(), DividingPort(), PortsLoad(), PortsStore()),
        *(LogicPipe(), SumPipes(), PredALU(), IprPort()),
    ]


class CrestmontBranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=assumed(4096, "no source; its predecessor has 5 K"))
    ras = ReturnAddrStack(numEntries=assumed(32, "no source"))


class CrestmontCPU(X86O3CPU):
    fetchBufferSize = calibrated(32, "crestmont/fetch_bytes_per_cycle", "of one cluster")
    fetchWidth = sourced(6, "crestmont/rename_width")
    fetchToDecodeDelay = calibrated(7, "crestmont/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = assumed(64, "two queues of 32")
    decodeWidth = sourced(6, "crestmont/rename_width")
    renameWidth = sourced(6, "crestmont/rename_width")
    dispatchWidth = sourced(6, "crestmont/rename_width")
    issueWidth = calibrated(11, "crestmont/port_map", "four, two, two, and three of vectors")
    wbWidth = calibrated(11, "crestmont/port_map", "as issueWidth")
    commitWidth = sourced(8, "crestmont/retire_width")
    squashWidth = assumed(64, "recovery does not walk")
    numROBEntries = sourced(256, "crestmont/rob_size")
    numIQEntries = sourced(200, "crestmont/scheduler_size")
    numPhysIntRegs = sourced(214, "crestmont/int_prf")
    numPhysFloatRegs = sourced(207, "crestmont/vec_prf")
    LQEntries = sourced(80, "crestmont/load_queue")
    SQEntries = sourced(50, "crestmont/store_queue")
    cacheLoadPorts = sourced(2, "crestmont/tput_load")
    cacheStorePorts = sourced(2, "crestmont/tput_store")
    fuPool = CrestmontFUPool()
    branchPred = CrestmontBranchPredictor()


class L1Cache(SiliconCache):
    size = sourced("32KiB", "crestmont/l1d_size_kb")
    assoc = sourced(8, "crestmont/l1d_assoc")
    tag_latency = calibrated(2, "crestmont/l1d_latency", "with the core's own cycle, 3 to the use")
    data_latency = calibrated(2, "crestmont/l1d_latency", "as tag_latency")
    mshrs = assumed(16, "no source")
    write_buffers = assumed(16, "as mshrs")


class L1ICache(L1Cache):
    size = sourced("64KiB", "crestmont/l1i_size_kb")


class L2Cache(SiliconCache):
    """Four cores share it; here it is this core's."""

    size = sourced("2MiB", "crestmont/l2_size_kb")
    assoc = assumed(16, "sixteen ways")
    tag_latency = assumed(4, "before the data")
    data_latency = calibrated(14, "crestmont/l2_latency", "the first level and the bus add the rest")
    mshrs = assumed(48, "no source")
    write_buffers = assumed(48, "as mshrs")
    writeback_clean = assumed(True, "the level below holds what this one drops")


class L3Cache(SiliconCache):
    size = sourced("24MiB", "crestmont/l3_size_kb")
    assoc = sourced(12, "crestmont/l3_assoc")
    tag_latency = assumed(20, "half of the data's")
    data_latency = calibrated(51, "crestmont/l3_latency", "the levels before it add the rest")
    mshrs = assumed(32, "what one core has under way to memory")
    write_buffers = assumed(48, "as the second level's")
    clusivity = assumed("mostly_excl", "as the large cores'")


class Bus(L2XBar):
    width = assumed(64, "a line a cycle to the second level")


class L3Bus(L2XBar):
    width = assumed(32, "the ring")


def microcode(carry, movs, stos):
    """Micro-ops of the hardware in place of gem5's: cycles of adc, bytes a cycle of REP MOVS and REP STOS."""
    return intel_microcode(
        split_stores=assumed(True, "as the large cores"),
        flag_merge=assumed("none", "as the large cores"),
        max_access=calibrated(16, "crestmont/tput_load_ymm", "32 bytes are two"),
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb", "adcx", "adox"], latency=carry),
            objects.X86Instruction(mnemonics=["mul", "mulx"], latency=assumed(5, "as imul and a second result")),
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=sourced(3, "crestmont/lat_psadbw")),
            *slow_loops(),
        ],
        rep_movs=string_modes(movs, STARTUP_UOPS),
        rep_stos=string_modes(stos, STARTUP_UOPS),
    )


def ours(cpu, dcache, l2, code, split):
    """What a real gem5 cannot express; `split`: cycles that an access across two lines keeps its port beyond two."""
    hardware_core(cpu, code)
    cpu.forwardLatency = assumed(3, "no source: with the store's and the load's own cycles, 5")
    cpu.partialForwardPolicy = assumed("penalty", "as the large cores")
    cpu.forwardFailPenalty = assumed(8, "as Golden Cove")
    cpu.aliasCheckBits = assumed(12, "as the large cores")
    cpu.aliasPenalty = assumed(5, "as Golden Cove")
    cpu.misaligned.policy = assumed("hardware", "as every x86")
    cpu.misaligned.split_slots = split
    cpu.misaligned.line_cross_load = assumed(6, "as Golden Cove")
    cpu.misaligned.line_cross_store = assumed(1, "a second access")
    cpu.misaligned.page_cross_load = assumed(10, "as Golden Cove")
    cpu.misaligned.page_cross_store = assumed(25, "as Golden Cove")
    cpu.mmu.dtb.l2_latency = assumed(7, "as Golden Cove")
    walk_caches(cpu, **WALK_CACHES)
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=assumed(16, "as Golden Cove"))
    dcache.prefetcher = assumed(objects.NextLinePrefetcher(), "as the large cores")
    l2.prefetcher = assumed(streamer_and_pairs(), "as the large cores")


def mont_board(cpu, clock, latency, dcache, l2, l3, **options):
    """A machine of this core and these caches; `latency` of its memory."""
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE), latency=latency, bandwidth=assumed("25GiB/s", "one small core of DDR5")
    )
    return silicon_board(
        cpu=cpu,
        clock=clock,
        memory=memory,
        icache=L1ICache(),
        dcache=dcache,
        l2=l2,
        l2bus=Bus(),
        l3=l3,
        l3bus=L3Bus(),
        **options,
    )


def crestmonts(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    movs = sourced(15.1, "crestmont/rep_movs_bytes_per_cycle")
    stos = sourced(15.6, "crestmont/rep_stos_bytes_per_cycle")
    split = calibrated(1, "crestmont/tput_movdqu_load_off4", "three slots in all")
    ours(cpu, dcache, l2, microcode(sourced(2, "crestmont/lat_adc"), movs, stos), split)
    cpu.mmu.dtb.l2_size = sourced(3072, "crestmont/stlb_entries")
    cpu.mmu.dtb.l2_assoc = sourced(6, "crestmont/stlb_entries")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def CrestmontBoard(**options):
    cpu = CrestmontCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Crestmont")])
    cpu.mmu.itb.size = sourced(64, "crestmont/dtlb_entries")
    cpu.mmu.dtb.size = sourced(48, "crestmont/dtlb_entries")
    dcache, l2 = L1Cache(), L2Cache()
    extend(crestmonts, cpu, dcache, l2)
    latency = assumed("93ns", "DDR5 of a laptop: about 110 to the use")
    return mont_board(cpu, CLOCK, latency, dcache, l2, L3Cache(), **options)


machine = machine_of(CrestmontBoard)
