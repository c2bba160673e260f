"""Intel Broadwell server (Xeon E5-2650 v4 at its base clock): four-wide, out-of-order, REP MOVSB with ERMS.

Ports are functional units: 0, 1, 5, 6 compute, 2 and 3 load, 4 stores (address units are not told apart). Not modelled:
the micro-op cache (fetch brings its 32 bytes a cycle at any time), three-component lea, the uncore's own clock.

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

NAME = "broadwell"
DESCRIPTION = "Intel Broadwell server (E5-2650 v4, 2.2 GHz): 4-wide out-of-order, AVX2, ADX, REP MOVSB with ERMS"
ISA = "x86"

CLOCK = sourced("2200MHz", "broadwell/clock_mhz")
LOAD_TO_USE = {"L1": 4, "L2": 13, "L3": 62}  # cycles; what `breakeven machines show broadwell` measures


#: on ports 0, 1 and 5: logic and additions on vectors
VECTOR = sourced({"SimdAlu": 1, "SimdCmp": 1, "SimdMisc": 1, "SimdExt": 1}, "broadwell/lat_simd_add")


class Port0(FUDesc):
    count = sourced(1, "broadwell/port_map")
    opList = [
        *ops({"IntAlu": 1, **VECTOR, "SimdShift": 1}),
        *ops(
            {
                "FloatMult": 3,
                "SimdFloatMult": 3,
                "FloatMultAcc": 5,
                "SimdFloatMultAcc": 5,
                "SimdMult": 5,
                "SimdMultAcc": 5,
            }
        ),
        *ops(
            {
                "SimdReduceAdd": 5,
                "FloatCvt": 3,
                "SimdCvt": 3,
                "SimdFloatCvt": 3,
                "FloatMisc": 1,
                "SimdFloatMisc": 1,
            }
        ),
        *dividers(**assumed({"integer": 25, "divide": 13, "root": 16}, "a radix-16 divider")),
    ]


class Port1(FUDesc):
    count = sourced(1, "broadwell/port_map")
    opList = [
        *ops({"IntAlu": 1, "IntMult": sourced(3, "broadwell/lat_imul")}),
        *ops({**VECTOR, "SimdAdd": 1, "SimdAddAcc": 1}),
        *ops({"FloatAdd": 3, "FloatCmp": 3, "SimdFloatAdd": 3, "SimdFloatCmp": 3, "SimdFloatAlu": 3}),
    ]


class Port5(FUDesc):
    count = sourced(1, "broadwell/port_map")
    opList = [
        *ops(
            {
                "IntAlu": 1,
                **VECTOR,
                "SimdAdd": 1,
                "SimdAddAcc": 1,
                "SimdFloatExt": 1,
                "SimdReduceAlu": 3,
            }
        )
    ]


class Port6(FUDesc):
    count = sourced(1, "broadwell/port_map")
    opList = [*ops({"IntAlu": 1})]


class PortsLoad(LoadPorts):
    count = sourced(2, "broadwell/port_map")


class PortStore(StorePorts):
    count = sourced(1, "broadwell/port_map")


class BroadwellFUPool(FUPool):
    FUList = [Port6(), Port5(), Port1(), Port0(), PortsLoad(), PortStore(), PredALU(), IprPort()]


class BroadwellBranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=sourced(4096, "broadwell/btb"))
    ras = ReturnAddrStack(numEntries=sourced(16, "broadwell/btb"))


class BroadwellCPU(X86O3CPU):
    fetchBufferSize = sourced(32, "broadwell/fetch_bytes_per_cycle")
    fetchWidth = assumed(8, "the micro-op cache fills the queue faster than it is emptied")
    fetchToDecodeDelay = calibrated(10, "broadwell/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = sourced(56, "broadwell/idq_size")
    decodeWidth = sourced(4, "broadwell/decode_width")
    renameWidth = sourced(4, "broadwell/rename_width")
    dispatchWidth = sourced(4, "broadwell/rename_width")
    issueWidth = calibrated(8, "broadwell/port_map", "eight ports")
    wbWidth = calibrated(8, "broadwell/port_map", "eight ports")
    commitWidth = sourced(4, "broadwell/retire_width")
    squashWidth = assumed(64, "recovery does not walk")
    numROBEntries = sourced(192, "broadwell/rob_size")
    numIQEntries = sourced(60, "broadwell/scheduler_size")
    numPhysIntRegs = sourced(168, "broadwell/int_prf")
    numPhysFloatRegs = sourced(168, "broadwell/vec_prf")
    LQEntries = sourced(72, "broadwell/load_queue")
    SQEntries = sourced(42, "broadwell/store_queue")
    cacheLoadPorts = sourced(2, "broadwell/tput_load")
    cacheStorePorts = sourced(1, "broadwell/tput_store")
    fuPool = BroadwellFUPool()
    branchPred = BroadwellBranchPredictor()


class L1Cache(SiliconCache):
    size = sourced("32KiB", "broadwell/l1d_size_kb")
    assoc = sourced(8, "broadwell/l1d_assoc")
    tag_latency = calibrated(3, "broadwell/l1d_latency", "with the core's own cycle, 4 to the use")
    data_latency = calibrated(3, "broadwell/l1d_latency", "as tag_latency")
    mshrs = sourced(10, "broadwell/mshr_l1d")
    write_buffers = sourced(10, "broadwell/wc_buffers")


class L2Cache(SiliconCache):
    size = sourced("256KiB", "broadwell/l2_size_kb")
    assoc = sourced(8, "broadwell/l2_assoc")
    tag_latency = calibrated(2, "broadwell/l2_latency", "the first level and the bus add the rest")
    data_latency = calibrated(6, "broadwell/l2_latency", "as tag_latency")
    mshrs = assumed(16, "Intel's superqueue")
    write_buffers = assumed(16, "as mshrs")


class L3Cache(SiliconCache):
    size = sourced("30MiB", "broadwell/l3_size_kb")
    assoc = sourced(20, "broadwell/l3_assoc")
    tag_latency = assumed(20, "half of the data's")
    data_latency = calibrated(50, "broadwell/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(10, "broadwell/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(32, "as mshrs")


class L2Bus(L2XBar):
    width = sourced(64, "broadwell/l2_l1_bytes_per_cycle")


class L3Bus(L2XBar):
    width = sourced(32, "broadwell/l3_l2_bytes_per_cycle")


#: what misaligned ends cost REP MOVS
ALIGN = "broadwell/rep_movs_align_sensitivity"
STARTUP_UOPS = calibrated(140, "broadwell/rep_movs_startup", "35 cycles at four a cycle")


def string_modes(bytes_per_cycle, startup_uops=STARTUP_UOPS):
    """ERMS: one start-up, then blocks of a line, written without being read first."""
    return [
        objects.X86StringMode(
            max_count=assumed(0, "the count is tested early"),
            startup_uops=assumed(20, "five cycles"),
        ),
        objects.X86StringMode(
            startup_uops=startup_uops,
            block=sourced(64, "broadwell/rep_movs_fast_conditions"),
            alignment=sourced(16, "broadwell/rep_movs_fast_conditions"),
            bytes_per_cycle=bytes_per_cycle,
            bytes_per_cycle_misaligned=calibrated(bytes_per_cycle * 73 / 109, ALIGN, "109 ns, aligned 73"),
            bytes_per_cycle_crossed=calibrated(bytes_per_cycle * 73 / 126, ALIGN, "126 ns, aligned 73"),
            whole_lines=assumed(True, "Intel's manual speaks of a protocol without read for ownership"),
        ),
        objects.X86StringMode(
            backwards=assumed(True, "microcode by element"),
            block=assumed(0, "microcode by element"),
            element_cycles=assumed(2, "microcode by element"),
            element_uops=assumed(4, "as element_cycles"),
            startup_uops=startup_uops,
        ),
    ]


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return intel_microcode(
        split_stores=sourced(True, "broadwell/port_map"),
        flag_merge=sourced("none", "broadwell/partial_flag_stall"),
        max_access=sourced(32, "broadwell/tput_load"),
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=sourced(1, "broadwell/lat_adc")),
            objects.X86Instruction(mnemonics=["adcx", "adox"], latency=sourced(1, "broadwell/lat_adcx_adox")),
            objects.X86Instruction(
                mnemonics=["mul", "mulx"],
                latency=sourced(3, "broadwell/lat_mul_wide", "a micro-op a result, one after the other"),
            ),
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=sourced(5, "broadwell/lat_psadbw")),
            *slow_loops(),
        ],
        rep_movs=string_modes(sourced(29.7, "broadwell/rep_movs_bytes_per_cycle")),
        rep_stos=string_modes(sourced(30.9, "broadwell/rep_stos_bytes_per_cycle")),
    )


def ours(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.forwardLatency = calibrated(2, "broadwell/stlf_latency", "with the store's and the load's own cycles, 5")
    cpu.partialForwardPolicy = sourced("penalty", "broadwell/stlf_fail_penalty")
    cpu.forwardFailPenalty = calibrated(5, "broadwell/stlf_fail_penalty", "with the store's way to the cache, 12")
    cpu.aliasCheckBits = calibrated(12, "broadwell/alias_4k", "4 KiB are 12 bits")
    cpu.aliasPenalty = sourced(5, "broadwell/alias_4k")
    cpu.misaligned.policy = sourced("hardware", "broadwell/unaligned_within_line")
    cpu.misaligned.line_cross_load = sourced(5, "broadwell/split_load_cost")
    cpu.misaligned.line_cross_store = calibrated(1, "broadwell/split_store_cost", "a second access")
    cpu.misaligned.page_cross_load = sourced(100, "broadwell/page_cross_load")
    cpu.misaligned.page_cross_store = sourced(25, "broadwell/page_cross_store")
    cpu.mmu.dtb.l2_size = sourced(1536, "broadwell/stlb_entries")
    cpu.mmu.dtb.l2_assoc = sourced(6, "broadwell/stlb_entries")
    cpu.mmu.dtb.l2_latency = sourced(7, "broadwell/stlb_hit_penalty")
    walk_caches(cpu, **WALK_CACHES)
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=sourced(10, "broadwell/wc_buffers"))
    cpu.isa[0].enable_fsrm = sourced(False, "broadwell/rep_movs_fast_conditions")
    cpu.isa[0].enable_clflushopt = assumed(False, "since Skylake")
    cpu.isa[0].enable_clwb = assumed(False, "since Skylake")
    dcache.prefetcher = sourced(objects.NextLinePrefetcher(), "broadwell/prefetchers")
    l2.prefetcher = sourced(streamer_and_pairs(), "broadwell/prefetchers")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def BroadwellBoard(**options):
    cpu = BroadwellCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Broadwell")])
    cpu.mmu.itb.size = assumed(128, "as its relatives")
    cpu.mmu.dtb.size = sourced(64, "broadwell/dtlb_entries")
    dcache, l2, l3 = L1Cache(), L2Cache(), L3Cache()
    extend(ours, cpu, dcache, l2)
    sliced(l3, calibrated(12, "broadwell/l3_size_kb", "twelve of 2560 KiB"), gem5s="20MiB")
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("65ns", "broadwell/dram_latency_ns", "the caches and buses on the way add the rest"),
        bandwidth=calibrated("10.5GiB/s", "broadwell/dram_bw_single_core_gbps", "by the copy's"),
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


machine = machine_of(BroadwellBoard)
