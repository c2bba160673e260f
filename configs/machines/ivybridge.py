"""Intel Ivy Bridge server (Xeon E5-2660 v2 at its base clock): four-wide, out-of-order, the first with ERMS.

Ports are functional units: 0, 1, 5 compute, 2 and 3 load and take stores' addresses. An adc takes two, and two cycles.
Not modelled: that branches have port 5 only, the micro-op cache (fetch brings its 32 bytes a cycle at any time),
three-component lea, the uncore's own clock. The string engine is Broadwell's (the rows of both say the same of start-up
and conditions; what misalignment costs was measured there only) at this one's pace. The buses between the caches are
half-duplex on the hardware; here each level hands out lines at the rate that makes a copy as fast, to loads alone too.

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
    SiliconCache,
    dividers,
    hardware_core,
    intel_microcode,
    ops,
    silicon_board,
    slow_loops,
    streamer_and_pairs,
    walk_caches,
)

NAME = "ivybridge"
DESCRIPTION = (
    "Intel Ivy Bridge server (E5-2660 v2, 2.2 GHz): 4-wide out-of-order, adc of two cycles, REP MOVSB with ERMS"
)
ISA = "x86"

CLOCK = sourced("2200MHz", "ivybridge/clock_mhz")
LOAD_TO_USE = {"L1": 4, "L2": 13, "L3": 57}  # cycles; what `breakeven machines show ivybridge` measures
STARTUP_UOPS = calibrated(96, "ivybridge/rep_movs_startup", "three a cycle, and 64 bytes make 35 cycles")

#: additions on vectors, on ports 1 and 5
VECTOR_ADD = {**sourced({"SimdAdd": 1, "SimdAddAcc": 1}, "ivybridge/lat_simd_add"), "SimdReduceAlu": 3}
#: logic, on every computing port
VECTOR = assumed({"SimdAlu": 1, "SimdCmp": 1}, "as the additions")


class Port0(FUDesc):
    count = sourced(1, "ivybridge/port_map")
    opList = [
        *ops(
            {
                "IntAlu": 1,
                **VECTOR,
                "SimdShift": 1,
                "SimdMult": 5,
                "SimdMultAcc": 5,
                "SimdReduceAdd": 5,
            }
        ),
        *ops({"FloatMult": 5, "SimdFloatMult": 5, "FloatMultAcc": 5, "SimdFloatMultAcc": 5}),
        *ops({"FloatMisc": 1, "SimdFloatMisc": 1}),
        *dividers(**assumed({"integer": 25, "divide": 14, "root": 18}, "a radix-16 divider")),
    ]


class Port1(FUDesc):
    count = sourced(1, "ivybridge/port_map")
    opList = [
        *ops({"IntAlu": 1, "IntMult": sourced(3, "ivybridge/lat_imul")}),
        *ops(
            {
                **VECTOR,
                **VECTOR_ADD,
                "SimdExt": 1,
                "SimdMisc": 1,
                "FloatCvt": 3,
                "SimdCvt": 3,
                "SimdFloatCvt": 3,
            }
        ),
        *ops({"FloatAdd": 3, "FloatCmp": 3, "SimdFloatAdd": 3, "SimdFloatCmp": 3, "SimdFloatAlu": 3}),
    ]


class Port5(FUDesc):
    count = sourced(1, "ivybridge/port_map")
    opList = [*ops({"IntAlu": 1, **VECTOR, **VECTOR_ADD, "SimdExt": 1, "SimdMisc": 1, "SimdFloatExt": 1})]


class Ports23(FUDesc):
    """Loads and the addresses of stores; the one port for stores' data is the cache's, `cacheStorePorts`."""

    count = sourced(2, "ivybridge/port_map")
    opList = [*ops({"MemRead": 1, "FloatMemRead": 1, "MemWrite": 1, "FloatMemWrite": 1})]


class IvyBridgeFUPool(FUPool):
    FUList = [Port5(), Port0(), Port1(), Ports23(), PredALU(), IprPort()]


class IvyBridgeBranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=sourced(4096, "ivybridge/btb"))
    ras = ReturnAddrStack(numEntries=sourced(16, "ivybridge/btb"))


class IvyBridgeCPU(X86O3CPU):
    fetchBufferSize = sourced(32, "ivybridge/fetch_bytes_per_cycle")
    fetchWidth = assumed(8, "the micro-op cache fills the queue faster than it is emptied")
    fetchToDecodeDelay = calibrated(10, "ivybridge/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = sourced(56, "ivybridge/idq_size")
    decodeWidth = sourced(4, "ivybridge/decode_width")
    renameWidth = sourced(4, "ivybridge/rename_width")
    dispatchWidth = sourced(4, "ivybridge/rename_width")
    issueWidth = calibrated(6, "ivybridge/port_map", "six ports")
    wbWidth = calibrated(6, "ivybridge/port_map", "six ports")
    commitWidth = sourced(4, "ivybridge/retire_width")
    squashWidth = assumed(64, "recovery does not walk")
    numROBEntries = sourced(168, "ivybridge/rob_size")
    numIQEntries = sourced(54, "ivybridge/scheduler_size")
    numPhysIntRegs = sourced(160, "ivybridge/int_prf")
    numPhysFloatRegs = sourced(144, "ivybridge/vec_prf")
    LQEntries = sourced(64, "ivybridge/load_queue")
    SQEntries = sourced(36, "ivybridge/store_queue")
    cacheLoadPorts = sourced(2, "ivybridge/tput_load")
    cacheStorePorts = sourced(1, "ivybridge/tput_store")
    fuPool = IvyBridgeFUPool()
    branchPred = IvyBridgeBranchPredictor()


class L1Cache(SiliconCache):
    size = sourced("32KiB", "ivybridge/l1d_size_kb")
    assoc = sourced(8, "ivybridge/l1d_assoc")
    tag_latency = calibrated(3, "ivybridge/l1d_latency", "with the core's own cycle, 4 to the use")
    data_latency = calibrated(3, "ivybridge/l1d_latency", "as tag_latency")
    mshrs = sourced(10, "ivybridge/mshr_l1d")
    write_buffers = sourced(10, "ivybridge/wc_buffers")


class L2Cache(SiliconCache):
    size = sourced("256KiB", "ivybridge/l2_size_kb")
    assoc = sourced(8, "ivybridge/l2_assoc")
    tag_latency = calibrated(2, "ivybridge/l2_latency", "the first level and the bus add the rest")
    data_latency = calibrated(6, "ivybridge/l2_latency", "as tag_latency")
    mshrs = assumed(24, "Intel's superqueue of 16, and room for the streamer's")
    write_buffers = assumed(16, "the superqueue")


class L3Cache(SiliconCache):
    size = sourced("25600KiB", "ivybridge/l3_size_kb")
    assoc = sourced(20, "ivybridge/l3_assoc")
    tag_latency = assumed(20, "half of the data's")
    data_latency = calibrated(45, "ivybridge/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(20, "ivybridge/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(32, "twice the requests")


class L2Bus(L2XBar):
    width = sourced(32, "ivybridge/l2_l1_bytes_per_cycle")


class L3Bus(L2XBar):
    width = sourced(32, "ivybridge/l3_l2_bytes_per_cycle")


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return intel_microcode(
        split_stores=sourced(True, "ivybridge/port_map"),
        flag_merge=sourced("none", "ivybridge/partial_flag_stall", "an adc after dec reads one writer's flags"),
        max_access=sourced(16, "ivybridge/tput_load"),
        instructions=[
            objects.X86Instruction(
                mnemonics=["adc", "sbb"],
                latency=sourced(2, "ivybridge/lat_adc"),
                uops=assumed(2, "a cycle each"),
                carry_latency=sourced(1, "ivybridge/tput_adc"),
                simple_zero=sourced(True, "ivybridge/lat_adc_zero"),
            ),
            objects.X86Instruction(mnemonics=["mul"], latency=sourced(3, "ivybridge/lat_mul_wide")),
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=sourced(5, "ivybridge/lat_psadbw")),
            *slow_loops(),
        ],
        rep_movs=string_modes(sourced(14.4, "ivybridge/rep_movs_bytes_per_cycle"), STARTUP_UOPS),
        rep_stos=string_modes(sourced(15.8, "ivybridge/rep_stos_bytes_per_cycle"), STARTUP_UOPS),
    )


def ours(cpu, dcache, l2, l3):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.forwardLatency = calibrated(2, "ivybridge/stlf_latency", "with the store's and the load's own cycles, 5")
    cpu.partialForwardPolicy = sourced("penalty", "ivybridge/stlf_fail_penalty")
    cpu.forwardFailPenalty = calibrated(5, "ivybridge/stlf_fail_penalty", "with the store's way to the cache, 12")
    cpu.aliasCheckBits = calibrated(12, "ivybridge/alias_4k", "4 KiB are 12 bits")
    cpu.aliasPenalty = sourced(5, "ivybridge/alias_4k")
    cpu.misaligned.policy = sourced("hardware", "ivybridge/unaligned_within_line")
    cpu.misaligned.line_cross_load = sourced(5, "ivybridge/split_load_cost")
    cpu.misaligned.line_cross_store = calibrated(1, "ivybridge/split_store_cost", "a second access")
    cpu.misaligned.page_cross_load = sourced(27, "ivybridge/page_cross_load")
    cpu.misaligned.page_cross_store = sourced(25, "ivybridge/page_cross_store")
    cpu.mmu.dtb.assoc = sourced(4, "ivybridge/dtlb_entries")
    cpu.mmu.dtb.l2_size = sourced(512, "ivybridge/stlb_entries")
    cpu.mmu.dtb.l2_assoc = sourced(4, "ivybridge/stlb_entries")
    cpu.mmu.dtb.l2_latency = sourced(7, "ivybridge/stlb_hit_penalty")
    walk_caches(cpu, **WALK_CACHES)
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=sourced(10, "ivybridge/wc_buffers"))
    isa = cpu.isa[0]
    isa.enable_fsrm = sourced(False, "ivybridge/rep_movs_fast_conditions")
    isa.enable_avx2 = assumed(False, "since Haswell")
    isa.enable_bmi1 = assumed(False, "since Haswell")
    isa.enable_bmi2 = assumed(False, "since Haswell")
    isa.enable_lzcnt = assumed(False, "since Haswell")
    isa.enable_movbe = assumed(False, "since Haswell")
    isa.enable_adx = assumed(False, "since Broadwell")
    isa.enable_smap = assumed(False, "since Broadwell")
    isa.enable_clflushopt = assumed(False, "since Skylake")
    isa.enable_clwb = assumed(False, "since Skylake")
    l2.bandwidth = calibrated(13, "ivybridge/l2_copy_gbps", "by the copy's")
    l3.bandwidth = calibrated(8, "ivybridge/l3_copy_gbps", "by the copy's")
    dcache.prefetcher = sourced(objects.NextLinePrefetcher(), "ivybridge/prefetchers")
    l2.prefetcher = sourced(streamer_and_pairs(), "ivybridge/prefetchers")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def IvyBridgeBoard(**options):
    cpu = IvyBridgeCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Ivy Bridge")])
    cpu.mmu.itb.size = assumed(128, "as its relatives")
    cpu.mmu.dtb.size = sourced(64, "ivybridge/dtlb_entries")
    dcache, l2, l3 = L1Cache(), L2Cache(), L3Cache()
    extend(ours, cpu, dcache, l2, l3)
    sliced(l3, assumed(10, "one a core, of 2048 sets"), gem5s="20MiB")
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("65ns", "ivybridge/dram_latency_ns", "the caches and buses on the way add the rest"),
        bandwidth=calibrated("16GiB/s", "ivybridge/dram_bw_single_core_gbps", "by the copy's"),
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


machine = machine_of(IvyBridgeBoard)
