"""Intel Ivy Bridge server (Xeon E5-2660 v2 at its base clock): four-wide, out-of-order, the first with ERMS.

Ports are functional units: 0, 1, 5 compute, 2 and 3 load and take stores' addresses. An adc takes two, and two cycles.
Not modelled: that branches have port 5 only, the micro-op cache (fetch brings its 32 bytes a cycle at any time),
three-component lea, the uncore's own clock. The string engine is Broadwell's (the rows of both say the same of start-up
and conditions; what misalignment costs was measured there only) at this one's pace. The buses between the caches are
half-duplex on the hardware; here each level hands out lines at the rate that makes a copy as fast, to loads alone too.

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

CLOCK = "2200MHz"  # uarch: ivybridge/clock_mhz
LOAD_TO_USE = {"L1": 4, "L2": 13, "L3": 57}  # cycles; what `breakeven machines show ivybridge` measures
STARTUP_UOPS = 96  # uarch: ivybridge/rep_movs_startup, calibrated: three a cycle, and 64 bytes make 35 cycles

#: additions on vectors, on ports 1 and 5
VECTOR_ADD = {"SimdAdd": 1, "SimdAddAcc": 1, "SimdReduceAlu": 3}  # uarch: ivybridge/lat_simd_add
#: logic, on every computing port
VECTOR = {"SimdAlu": 1, "SimdCmp": 1}  # assumed: as the additions


class Port0(FUDesc):
    count = 1  # uarch: ivybridge/port_map
    opList = [
        *ops({"IntAlu": 1, **VECTOR, "SimdShift": 1, "SimdMult": 5, "SimdMultAcc": 5, "SimdReduceAdd": 5}),
        *ops({"FloatMult": 5, "SimdFloatMult": 5, "FloatMultAcc": 5, "SimdFloatMultAcc": 5}),
        *ops({"FloatMisc": 1, "SimdFloatMisc": 1}),
        *dividers(integer=25, divide=14, root=18),  # assumed: a radix-16 divider
    ]


class Port1(FUDesc):
    count = 1  # uarch: ivybridge/port_map
    opList = [
        *ops({"IntAlu": 1, "IntMult": 3}),  # uarch: ivybridge/lat_imul
        *ops({**VECTOR, **VECTOR_ADD, "SimdExt": 1, "SimdMisc": 1, "FloatCvt": 3, "SimdCvt": 3, "SimdFloatCvt": 3}),
        *ops({"FloatAdd": 3, "FloatCmp": 3, "SimdFloatAdd": 3, "SimdFloatCmp": 3, "SimdFloatAlu": 3}),
    ]


class Port5(FUDesc):
    count = 1  # uarch: ivybridge/port_map
    opList = [*ops({"IntAlu": 1, **VECTOR, **VECTOR_ADD, "SimdExt": 1, "SimdMisc": 1, "SimdFloatExt": 1})]


class Ports23(FUDesc):
    """Loads and the addresses of stores; the one port for stores' data is the cache's, `cacheStorePorts`."""

    count = 2  # uarch: ivybridge/port_map
    opList = [*ops({"MemRead": 1, "FloatMemRead": 1, "MemWrite": 1, "FloatMemWrite": 1})]


class IvyBridgeFUPool(FUPool):
    FUList = [Port5(), Port0(), Port1(), Ports23(), PredALU(), IprPort()]


class IvyBridgeBranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=4096)  # uarch: ivybridge/btb
    ras = ReturnAddrStack(numEntries=16)  # uarch: ivybridge/btb


class IvyBridgeCPU(X86O3CPU):
    fetchBufferSize = 32  # uarch: ivybridge/fetch_bytes_per_cycle
    fetchWidth = 8  # assumed: the micro-op cache fills the queue faster than it is emptied
    fetchToDecodeDelay = 10  # uarch: ivybridge/branch_mispredict, calibrated: the stages that a new path goes through
    fetchQueueSize = 56  # uarch: ivybridge/idq_size
    decodeWidth = 4  # uarch: ivybridge/decode_width
    renameWidth = 4  # uarch: ivybridge/rename_width
    dispatchWidth = 4  # uarch: ivybridge/rename_width
    issueWidth = 6  # uarch: ivybridge/port_map, calibrated: six ports
    wbWidth = 6  # uarch: ivybridge/port_map, calibrated: six ports
    commitWidth = 4  # uarch: ivybridge/retire_width
    squashWidth = 64  # assumed: recovery does not walk
    numROBEntries = 168  # uarch: ivybridge/rob_size
    numIQEntries = 54  # uarch: ivybridge/scheduler_size
    numPhysIntRegs = 160  # uarch: ivybridge/int_prf
    numPhysFloatRegs = 144  # uarch: ivybridge/vec_prf
    LQEntries = 64  # uarch: ivybridge/load_queue
    SQEntries = 36  # uarch: ivybridge/store_queue
    cacheLoadPorts = 2  # uarch: ivybridge/tput_load
    cacheStorePorts = 1  # uarch: ivybridge/tput_store
    fuPool = IvyBridgeFUPool()
    branchPred = IvyBridgeBranchPredictor()


class L1Cache(SiliconCache):
    size = "32KiB"  # uarch: ivybridge/l1d_size_kb
    assoc = 8  # uarch: ivybridge/l1d_assoc
    tag_latency = 3  # uarch: ivybridge/l1d_latency, calibrated: with the core's own cycle, 4 to the use
    data_latency = 3  # uarch: ivybridge/l1d_latency, calibrated: as tag_latency
    mshrs = 10  # uarch: ivybridge/mshr_l1d
    write_buffers = 10  # uarch: ivybridge/wc_buffers


class L2Cache(SiliconCache):
    size = "256KiB"  # uarch: ivybridge/l2_size_kb
    assoc = 8  # uarch: ivybridge/l2_assoc
    tag_latency = 2  # uarch: ivybridge/l2_latency, calibrated: the first level and the bus add the rest
    data_latency = 6  # uarch: ivybridge/l2_latency, calibrated: as tag_latency
    mshrs = 24  # assumed: Intel's superqueue of 16, and room for the streamer's
    write_buffers = 16  # assumed: the superqueue


class L3Cache(SiliconCache):
    size = "25600KiB"  # uarch: ivybridge/l3_size_kb
    assoc = 20  # uarch: ivybridge/l3_assoc
    tag_latency = 20  # assumed: half of the data's
    data_latency = 45  # uarch: ivybridge/l3_latency, calibrated: the levels before it add the rest
    mshrs = 20  # uarch: ivybridge/dram_bw_single_core_gbps, calibrated: what one core has under way to memory
    write_buffers = 32  # assumed: twice the requests


class L2Bus(L2XBar):
    width = 32  # uarch: ivybridge/l2_l1_bytes_per_cycle


class L3Bus(L2XBar):
    width = 32  # uarch: ivybridge/l3_l2_bytes_per_cycle


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return intel_microcode(
        split_stores=True,  # uarch: ivybridge/port_map
        flag_merge="none",  # uarch: ivybridge/partial_flag_stall, an adc after dec reads one writer's flags
        max_access=16,  # uarch: ivybridge/tput_load
        instructions=[
            objects.X86Instruction(
                mnemonics=["adc", "sbb"],
                latency=2,  # uarch: ivybridge/lat_adc
                uops=2,  # assumed: a cycle each
                carry_latency=1,  # uarch: ivybridge/tput_adc
                simple_zero=True,  # uarch: ivybridge/lat_adc_zero
            ),
            objects.X86Instruction(mnemonics=["mul"], latency=3),  # uarch: ivybridge/lat_mul_wide
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=5),  # uarch: ivybridge/lat_psadbw
            *slow_loops(),
        ],
        rep_movs=string_modes(14.4, STARTUP_UOPS),  # uarch: ivybridge/rep_movs_bytes_per_cycle
        rep_stos=string_modes(15.8, STARTUP_UOPS),  # uarch: ivybridge/rep_stos_bytes_per_cycle
    )


def ours(cpu, dcache, l2, l3):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.forwardLatency = 2  # uarch: ivybridge/stlf_latency, calibrated: with the store's and the load's own cycles, 5
    cpu.partialForwardPolicy = "penalty"  # uarch: ivybridge/stlf_fail_penalty
    cpu.forwardFailPenalty = 5  # uarch: ivybridge/stlf_fail_penalty, calibrated: with the store's way to the cache, 12
    cpu.aliasCheckBits = 12  # uarch: ivybridge/alias_4k, calibrated: 4 KiB are 12 bits
    cpu.aliasPenalty = 5  # uarch: ivybridge/alias_4k
    cpu.misaligned.policy = "hardware"  # uarch: ivybridge/unaligned_within_line
    cpu.misaligned.line_cross_load = 5  # uarch: ivybridge/split_load_cost
    cpu.misaligned.line_cross_store = 1  # uarch: ivybridge/split_store_cost, calibrated: a second access
    cpu.misaligned.page_cross_load = 27  # uarch: ivybridge/page_cross_load
    cpu.misaligned.page_cross_store = 25  # uarch: ivybridge/page_cross_store
    cpu.mmu.dtb.assoc = 4  # uarch: ivybridge/dtlb_entries
    cpu.mmu.dtb.l2_size = 512  # uarch: ivybridge/stlb_entries
    cpu.mmu.dtb.l2_assoc = 4  # uarch: ivybridge/stlb_entries
    cpu.mmu.dtb.l2_latency = 7  # uarch: ivybridge/stlb_hit_penalty
    walk_caches(cpu)  # assumed: as its relatives
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=10)  # uarch: ivybridge/wc_buffers
    isa = cpu.isa[0]
    isa.enable_fsrm = False  # uarch: ivybridge/rep_movs_fast_conditions
    isa.enable_avx2 = False  # assumed: since Haswell
    isa.enable_bmi1 = False  # assumed: since Haswell
    isa.enable_bmi2 = False  # assumed: since Haswell
    isa.enable_lzcnt = False  # assumed: since Haswell
    isa.enable_movbe = False  # assumed: since Haswell
    isa.enable_adx = False  # assumed: since Broadwell
    isa.enable_smap = False  # assumed: since Broadwell
    isa.enable_clflushopt = False  # assumed: since Skylake
    isa.enable_clwb = False  # assumed: since Skylake
    l2.bandwidth = 13  # uarch: ivybridge/l2_copy_gbps, calibrated: by the copy's
    l3.bandwidth = 8  # uarch: ivybridge/l3_copy_gbps, calibrated: by the copy's
    dcache.prefetcher = objects.NextLinePrefetcher()  # uarch: ivybridge/prefetchers
    l2.prefetcher = streamer_and_pairs()  # uarch: ivybridge/prefetchers


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def IvyBridgeBoard(**options):
    cpu = IvyBridgeCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Ivy Bridge")])
    cpu.mmu.itb.size = 128  # assumed: as its relatives
    cpu.mmu.dtb.size = 64  # uarch: ivybridge/dtlb_entries
    dcache, l2, l3 = L1Cache(), L2Cache(), L3Cache()
    if has_extensions():
        ours(cpu, dcache, l2, l3)
    if has_extensions():
        l3.slices = 10  # assumed: one a core, of 2048 sets
    else:
        l3 = L3Cache(size="20MiB")  # assumed: the most that a real gem5 takes, whose sets are a power of two
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency="65ns",  # uarch: ivybridge/dram_latency_ns, calibrated: the caches and buses on the way add the rest
        bandwidth="30GiB/s",  # uarch: ivybridge/dram_bw_single_core_gbps, calibrated: by the copy's
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
