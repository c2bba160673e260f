"""Intel Skylake server (Xeon Gold 6148 at its base clock): four-wide, out-of-order, a third level that holds victims.

Ports are functional units: 0, 1, 5, 6 compute, 2 and 3 load, 4 stores (address units are not told apart). Not modelled:
the micro-op cache (fetch brings its 32 bytes a cycle at any time), AVX-512, three-component lea, the mesh's own clock.
The string engine is Broadwell's (the rows of both say the same of start-up and conditions; what misalignment costs was
measured there only) at this one's pace.

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
    hardware_core,
    intel_microcode,
    ops,
    silicon_board,
    slow_loops,
    streamer_and_pairs,
    walk_caches,
)

NAME = "skylake"
DESCRIPTION = "Intel Skylake server (Gold 6148, 2.4 GHz): 4-wide out-of-order, AVX2, victim L3, REP MOVSB with ERMS"
ISA = "x86"

CLOCK = sourced("2400MHz", "skylake/clock_mhz")
LOAD_TO_USE = {"L1": 4, "L2": 15, "L3": 84}  # cycles; what `breakeven machines show skylake` measures

#: logic and additions on vectors, on ports 0, 1 and 5
VECTOR = sourced({"SimdAlu": 1, "SimdCmp": 1, "SimdMisc": 1, "SimdAdd": 1, "SimdAddAcc": 1}, "skylake/lat_simd_add")
#: arithmetic on vectors, on ports 0 and 1
ARITHMETIC = {
    **dict.fromkeys(("SimdMult", "SimdMultAcc", "FloatCvt", "SimdCvt", "SimdFloatCvt"), assumed(5, "its manual")),
    **dict.fromkeys(("FloatAdd", "FloatCmp", "SimdFloatAdd", "SimdFloatCmp", "SimdFloatAlu"), assumed(4, "its manual")),
    **dict.fromkeys(("FloatMult", "SimdFloatMult", "FloatMultAcc", "SimdFloatMultAcc"), assumed(4, "its manual")),
    "SimdShift": assumed(1, "its manual"),
}


class Port0(FUDesc):
    count = sourced(1, "skylake/port_map")
    opList = [
        *ops({"IntAlu": 1, **VECTOR, **ARITHMETIC, "FloatMisc": 1, "SimdFloatMisc": 1}),
        *dividers(**assumed({"integer": 25, "divide": 13, "root": 16}, "a radix-16 divider")),
    ]


class Port1(FUDesc):
    count = sourced(1, "skylake/port_map")
    opList = [*ops({"IntAlu": 1, "IntMult": sourced(3, "skylake/lat_imul"), **VECTOR, **ARITHMETIC})]


class Port5(FUDesc):
    count = sourced(1, "skylake/port_map")
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


class Port6(FUDesc):
    count = sourced(1, "skylake/port_map")
    opList = [*ops({"IntAlu": 1})]


class PortsLoad(LoadPorts):
    count = sourced(2, "skylake/port_map")


class PortStore(StorePorts):
    count = sourced(1, "skylake/port_map")


class SkylakeFUPool(FUPool):
    FUList = [Port6(), Port5(), Port1(), Port0(), PortsLoad(), PortStore(), PredALU(), IprPort()]


class SkylakeBranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=sourced(4096, "skylake/btb"))
    ras = ReturnAddrStack(numEntries=sourced(16, "skylake/btb"))


class SkylakeCPU(X86O3CPU):
    fetchBufferSize = assumed(32, "the micro-op cache's window; past it, 16")
    fetchWidth = assumed(8, "the micro-op cache fills the queue faster than it is emptied")
    fetchToDecodeDelay = calibrated(10, "skylake/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = sourced(64, "skylake/idq_size")
    decodeWidth = sourced(4, "skylake/decode_width")
    renameWidth = sourced(4, "skylake/rename_width")
    dispatchWidth = sourced(4, "skylake/rename_width")
    issueWidth = calibrated(8, "skylake/port_map", "eight ports")
    wbWidth = calibrated(8, "skylake/port_map", "eight ports")
    commitWidth = sourced(4, "skylake/retire_width")
    squashWidth = assumed(64, "recovery does not walk")
    numROBEntries = sourced(224, "skylake/rob_size")
    numIQEntries = sourced(97, "skylake/scheduler_size")
    numPhysIntRegs = sourced(180, "skylake/int_prf")
    numPhysFloatRegs = sourced(168, "skylake/vec_prf")
    LQEntries = sourced(72, "skylake/load_queue")
    SQEntries = sourced(56, "skylake/store_queue")
    cacheLoadPorts = sourced(2, "skylake/tput_load")
    cacheStorePorts = sourced(1, "skylake/tput_store")
    fuPool = SkylakeFUPool()
    branchPred = SkylakeBranchPredictor()


class L1Cache(SiliconCache):
    size = sourced("32KiB", "skylake/l1d_size_kb")
    assoc = sourced(8, "skylake/l1d_assoc")
    tag_latency = calibrated(3, "skylake/l1d_latency", "with the core's own cycle, 4 to the use")
    data_latency = calibrated(3, "skylake/l1d_latency", "as tag_latency")
    mshrs = sourced(12, "skylake/mshr_l1d")
    write_buffers = sourced(12, "skylake/wc_buffers")


class L2Cache(SiliconCache):
    size = sourced("1024KiB", "skylake/l2_size_kb")
    assoc = calibrated(16, "skylake/l2_size_kb", "the server part of the row")
    tag_latency = calibrated(2, "skylake/l2_latency", "the first level and the bus add the rest")
    data_latency = calibrated(8, "skylake/l2_latency", "as tag_latency")
    mshrs = assumed(32, "the superqueue, and room for the streamer's")
    write_buffers = assumed(32, "as mshrs")
    writeback_clean = sourced(True, "skylake/l3_size_kb", "the level below holds what this one drops")


class L3Cache(SiliconCache):
    size = calibrated("28160KiB", "skylake/l3_size_kb", "20 cores' parts")
    assoc = assumed(11, "1408 KiB are eleven ways of 2048 lines")
    tag_latency = assumed(20, "half of the data's")
    data_latency = calibrated(72, "skylake/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(20, "skylake/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(32, "as the second level's")
    clusivity = sourced("mostly_excl", "skylake/l3_size_kb")


class L2Bus(L2XBar):
    width = assumed(64, "a line a cycle, as since Haswell")


class L3Bus(L2XBar):
    width = assumed(32, "as its relatives")


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return intel_microcode(
        split_stores=sourced(True, "skylake/port_map"),
        flag_merge=sourced("none", "skylake/partial_flag_stall"),
        max_access=sourced(32, "skylake/l1d_store_bytes_per_cycle"),
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=sourced(1, "skylake/lat_adc")),
            objects.X86Instruction(mnemonics=["adcx", "adox"], latency=assumed(1, "as adc")),
            objects.X86Instruction(mnemonics=["mul", "mulx"], latency=assumed(3, "as imul, a micro-op a result")),
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=sourced(3, "skylake/lat_psadbw")),
            *slow_loops(),
        ],
        rep_movs=string_modes(sourced(28.9, "skylake/rep_movs_bytes_per_cycle")),
        rep_stos=string_modes(sourced(43, "skylake/rep_stos_bytes_per_cycle")),
    )


def ours(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.forwardLatency = calibrated(2, "skylake/stlf_latency", "with the store's and the load's own cycles, 5")
    cpu.partialForwardPolicy = sourced("penalty", "skylake/stlf_fail_penalty")
    cpu.forwardFailPenalty = calibrated(5, "skylake/stlf_fail_penalty", "with the store's way to the cache, 12")
    cpu.aliasCheckBits = calibrated(12, "skylake/alias_4k", "4 KiB are 12 bits")
    cpu.aliasPenalty = sourced(5, "skylake/alias_4k")
    cpu.misaligned.policy = sourced("hardware", "skylake/unaligned_within_line")
    cpu.misaligned.line_cross_load = sourced(5, "skylake/split_load_cost")
    cpu.misaligned.line_cross_store = calibrated(1, "skylake/split_store_cost", "a second access")
    cpu.misaligned.page_cross_load = sourced(5, "skylake/page_cross_load")
    cpu.misaligned.page_cross_store = sourced(25, "skylake/page_cross_store")
    cpu.mmu.dtb.assoc = sourced(4, "skylake/dtlb_entries")
    cpu.mmu.dtb.l2_size = sourced(1536, "skylake/stlb_entries")
    cpu.mmu.dtb.l2_assoc = sourced(12, "skylake/stlb_entries")
    cpu.mmu.dtb.l2_latency = assumed(7, "as Broadwell's")
    walk_caches(cpu, **WALK_CACHES)
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=sourced(12, "skylake/wc_buffers"))
    isa = cpu.isa[0]
    isa.enable_fsrm = sourced(False, "skylake/rep_movs_fast_conditions")
    dcache.prefetcher = sourced(objects.NextLinePrefetcher(), "skylake/prefetchers")
    l2.prefetcher = sourced(streamer_and_pairs(), "skylake/prefetchers")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def SkylakeBoard(**options):
    cpu = SkylakeCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Skylake")])
    cpu.mmu.itb.size = assumed(128, "as its relatives")
    cpu.mmu.dtb.size = sourced(64, "skylake/dtlb_entries")
    dcache, l2, l3 = L1Cache(), L2Cache(), L3Cache()
    extend(ours, cpu, dcache, l2)
    sliced(l3, assumed(20, "one a core, of 2048 sets"), gem5s="22MiB")
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("67ns", "skylake/dram_latency_ns", "the caches and buses on the way add the rest"),
        bandwidth=calibrated("30GiB/s", "skylake/dram_bw_single_core_gbps", "by the copy's"),
    )
    return silicon_board(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1Cache(),
        dcache=dcache,
        l2=l2,
        l2bus=L2Bus(),
        l3=l3,
        l3bus=L3Bus(),
        **options,
    )


machine = machine_of(SkylakeBoard)
