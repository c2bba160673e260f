"""Intel Broadwell server (Xeon E5-2650 v4 at its base clock): four-wide, out-of-order, REP MOVSB with ERMS.

Ports are functional units: 0, 1, 5, 6 compute, 2 and 3 load, 4 stores (address units are not told apart). Not modelled:
the micro-op cache (fetch brings its 32 bytes a cycle at any time), three-component lea, the uncore's own clock.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

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

NAME = "broadwell"
DESCRIPTION = "Intel Broadwell server (E5-2650 v4, 2.2 GHz): 4-wide out-of-order, AVX2, ADX, REP MOVSB with ERMS"
ISA = "x86"

CLOCK = "2200MHz"  # uarch: broadwell/clock_mhz
LOAD_TO_USE = {"L1": 4, "L2": 13, "L3": 62}  # cycles; what `breakeven machines show broadwell` measures


#: on ports 0, 1 and 5: logic and additions on vectors
VECTOR = {"SimdAlu": 1, "SimdCmp": 1, "SimdMisc": 1, "SimdExt": 1}  # uarch: broadwell/lat_simd_add


class Port0(FUDesc):
    count = 1  # uarch: broadwell/port_map
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
        *ops({"SimdReduceAdd": 5, "FloatCvt": 3, "SimdCvt": 3, "SimdFloatCvt": 3, "FloatMisc": 1, "SimdFloatMisc": 1}),
        *dividers(integer=25, divide=13, root=16),  # assumed: a radix-16 divider
    ]


class Port1(FUDesc):
    count = 1  # uarch: broadwell/port_map
    opList = [
        *ops({"IntAlu": 1, "IntMult": 3}),  # uarch: broadwell/lat_imul
        *ops({**VECTOR, "SimdAdd": 1, "SimdAddAcc": 1}),
        *ops({"FloatAdd": 3, "FloatCmp": 3, "SimdFloatAdd": 3, "SimdFloatCmp": 3, "SimdFloatAlu": 3}),
    ]


class Port5(FUDesc):
    count = 1  # uarch: broadwell/port_map
    opList = [*ops({"IntAlu": 1, **VECTOR, "SimdAdd": 1, "SimdAddAcc": 1, "SimdFloatExt": 1, "SimdReduceAlu": 3})]


class Port6(FUDesc):
    count = 1  # uarch: broadwell/port_map
    opList = [*ops({"IntAlu": 1})]


class PortsLoad(LoadPorts):
    count = 2  # uarch: broadwell/port_map


class PortStore(StorePorts):
    count = 1  # uarch: broadwell/port_map


class BroadwellFUPool(FUPool):
    FUList = [Port6(), Port5(), Port1(), Port0(), PortsLoad(), PortStore(), PredALU(), IprPort()]


class BroadwellBranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=4096)  # uarch: broadwell/btb
    ras = ReturnAddrStack(numEntries=16)  # uarch: broadwell/btb


class BroadwellCPU(X86O3CPU):
    fetchBufferSize = 32  # uarch: broadwell/fetch_bytes_per_cycle
    fetchWidth = 8  # assumed: the micro-op cache fills the queue faster than it is emptied
    fetchToDecodeDelay = 10  # uarch: broadwell/branch_mispredict, calibrated: the stages that a new path goes through
    fetchQueueSize = 56  # uarch: broadwell/idq_size
    decodeWidth = 4  # uarch: broadwell/decode_width
    renameWidth = 4  # uarch: broadwell/rename_width
    dispatchWidth = 4  # uarch: broadwell/rename_width
    issueWidth = 8  # uarch: broadwell/port_map, calibrated: eight ports
    wbWidth = 8  # uarch: broadwell/port_map, calibrated: eight ports
    commitWidth = 4  # uarch: broadwell/retire_width
    squashWidth = 64  # assumed: recovery does not walk
    numROBEntries = 192  # uarch: broadwell/rob_size
    numIQEntries = 60  # uarch: broadwell/scheduler_size
    numPhysIntRegs = 168  # uarch: broadwell/int_prf
    numPhysFloatRegs = 168  # uarch: broadwell/vec_prf
    LQEntries = 72  # uarch: broadwell/load_queue
    SQEntries = 42  # uarch: broadwell/store_queue
    cacheLoadPorts = 2  # uarch: broadwell/tput_load
    cacheStorePorts = 1  # uarch: broadwell/tput_store
    fuPool = BroadwellFUPool()
    branchPred = BroadwellBranchPredictor()


class L1Cache(SiliconCache):
    size = "32KiB"  # uarch: broadwell/l1d_size_kb
    assoc = 8  # uarch: broadwell/l1d_assoc
    tag_latency = 3  # uarch: broadwell/l1d_latency, calibrated: with the core's own cycle, 4 to the use
    data_latency = 3  # uarch: broadwell/l1d_latency, calibrated: as tag_latency
    mshrs = 10  # uarch: broadwell/mshr_l1d
    write_buffers = 10  # uarch: broadwell/wc_buffers


class L2Cache(SiliconCache):
    size = "256KiB"  # uarch: broadwell/l2_size_kb
    assoc = 8  # uarch: broadwell/l2_assoc
    tag_latency = 2  # uarch: broadwell/l2_latency, calibrated: the first level and the bus add the rest
    data_latency = 6  # uarch: broadwell/l2_latency, calibrated: as tag_latency
    mshrs = 16  # assumed: Intel's superqueue
    write_buffers = 16  # assumed: as mshrs


class L3Cache(SiliconCache):
    size = "30MiB"  # uarch: broadwell/l3_size_kb
    assoc = 20  # uarch: broadwell/l3_assoc
    tag_latency = 20  # assumed: half of the data's
    data_latency = 50  # uarch: broadwell/l3_latency, calibrated: the levels before it add the rest
    mshrs = 10  # uarch: broadwell/dram_bw_single_core_gbps, calibrated: what one core has under way to memory
    write_buffers = 32  # assumed: as mshrs


class L2Bus(L2XBar):
    width = 64  # uarch: broadwell/l2_l1_bytes_per_cycle


class L3Bus(L2XBar):
    width = 32  # uarch: broadwell/l3_l2_bytes_per_cycle


STARTUP_UOPS = 140  # uarch: broadwell/rep_movs_startup, calibrated: 35 cycles at four a cycle


def string_modes(bytes_per_cycle, startup_uops=STARTUP_UOPS):
    """ERMS: one start-up, then blocks of a line, written without being read first."""
    return [
        objects.X86StringMode(
            max_count=0,  # assumed: the count is tested early
            startup_uops=20,  # assumed: five cycles
        ),
        objects.X86StringMode(
            startup_uops=startup_uops,
            block=64,  # uarch: broadwell/rep_movs_fast_conditions
            alignment=16,  # uarch: broadwell/rep_movs_fast_conditions
            bytes_per_cycle=bytes_per_cycle,
            bytes_per_cycle_misaligned=bytes_per_cycle * 73 / 109,  # uarch: broadwell/rep_movs_align_sensitivity
            bytes_per_cycle_crossed=bytes_per_cycle * 73 / 126,  # uarch: broadwell/rep_movs_align_sensitivity
            whole_lines=True,  # assumed: Intel's manual speaks of a protocol without read for ownership
        ),
        objects.X86StringMode(
            backwards=True,  # assumed: microcode by element
            block=0,  # assumed: microcode by element
            element_cycles=2,  # assumed: microcode by element
            element_uops=4,  # assumed: as element_cycles
            startup_uops=startup_uops,
        ),
    ]


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return intel_microcode(
        split_stores=True,  # uarch: broadwell/port_map
        flag_merge="none",  # uarch: broadwell/partial_flag_stall
        max_access=32,  # uarch: broadwell/tput_load
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=1),  # uarch: broadwell/lat_adc
            objects.X86Instruction(mnemonics=["adcx", "adox"], latency=1),  # uarch: broadwell/lat_adcx_adox
            objects.X86Instruction(
                mnemonics=["mul", "mulx"],
                latency=3,  # uarch: broadwell/lat_mul_wide, a micro-op a result, one after the other
            ),
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=5),  # uarch: broadwell/lat_psadbw
            *slow_loops(),
        ],
        rep_movs=string_modes(29.7),  # uarch: broadwell/rep_movs_bytes_per_cycle
        rep_stos=string_modes(30.9),  # uarch: broadwell/rep_stos_bytes_per_cycle
    )


def ours(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.forwardLatency = 2  # uarch: broadwell/stlf_latency, calibrated: with the store's and the load's own cycles, 5
    cpu.partialForwardPolicy = "penalty"  # uarch: broadwell/stlf_fail_penalty
    cpu.forwardFailPenalty = 5  # uarch: broadwell/stlf_fail_penalty, calibrated: with the store's way to the cache, 12
    cpu.aliasCheckBits = 12  # uarch: broadwell/alias_4k, calibrated: 4 KiB are 12 bits
    cpu.aliasPenalty = 5  # uarch: broadwell/alias_4k
    cpu.misaligned.policy = "hardware"  # uarch: broadwell/unaligned_within_line
    cpu.misaligned.line_cross_load = 5  # uarch: broadwell/split_load_cost
    cpu.misaligned.line_cross_store = 1  # uarch: broadwell/split_store_cost, calibrated: a second access
    cpu.misaligned.page_cross_load = 100  # uarch: broadwell/page_cross_load
    cpu.misaligned.page_cross_store = 25  # uarch: broadwell/page_cross_store
    cpu.mmu.dtb.l2_size = 1536  # uarch: broadwell/stlb_entries
    cpu.mmu.dtb.l2_assoc = 6  # uarch: broadwell/stlb_entries
    cpu.mmu.dtb.l2_latency = 7  # uarch: broadwell/stlb_hit_penalty
    walk_caches(cpu)  # assumed: as its relatives
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=10)  # uarch: broadwell/wc_buffers
    cpu.isa[0].enable_fsrm = False  # uarch: broadwell/rep_movs_fast_conditions
    cpu.isa[0].enable_clflushopt = False  # assumed: since Skylake
    cpu.isa[0].enable_clwb = False  # assumed: since Skylake
    dcache.prefetcher = objects.NextLinePrefetcher()  # uarch: broadwell/prefetchers
    l2.prefetcher = streamer_and_pairs()  # uarch: broadwell/prefetchers


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def BroadwellBoard(**options):
    cpu = BroadwellCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Broadwell")])
    cpu.mmu.itb.size = 128  # assumed: as its relatives
    cpu.mmu.dtb.size = 64  # uarch: broadwell/dtlb_entries
    dcache, l2, l3 = L1Cache(), L2Cache(), L3Cache()
    if has_extensions():
        ours(cpu, dcache, l2)
    if has_extensions():
        l3.slices = 12  # uarch: broadwell/l3_size_kb, calibrated: twelve of 2560 KiB
    else:
        l3 = L3Cache(size="20MiB")  # assumed: the most that a real gem5 takes, whose sets are a power of two
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency="65ns",  # uarch: broadwell/dram_latency_ns, calibrated: the caches and buses on the way add the rest
        bandwidth="15GiB/s",  # uarch: broadwell/dram_bw_single_core_gbps, calibrated: by the copy's
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
