"""Intel Skylake server (Xeon Gold 6148 at its base clock): four-wide, out-of-order, a third level that holds victims.

Ports are functional units: 0, 1, 5, 6 compute, 2 and 3 load, 4 stores (address units are not told apart). Not modelled:
the micro-op cache (fetch brings its 32 bytes a cycle at any time), AVX-512, three-component lea, the mesh's own clock.
The string engine is Broadwell's (the rows of both say the same of start-up and conditions; what misalignment costs was
measured there only) at this one's pace.

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

NAME = "skylake"
DESCRIPTION = "Intel Skylake server (Gold 6148, 2.4 GHz): 4-wide out-of-order, AVX2, victim L3, REP MOVSB with ERMS"
ISA = "x86"

CLOCK = "2400MHz"  # uarch: skylake/clock_mhz
LOAD_TO_USE = {"L1": 4, "L2": 15, "L3": 84}  # cycles; what `breakeven machines show skylake` measures

#: logic and additions on vectors, on ports 0, 1 and 5
VECTOR = {"SimdAlu": 1, "SimdCmp": 1, "SimdMisc": 1, "SimdAdd": 1, "SimdAddAcc": 1}  # uarch: skylake/lat_simd_add
#: arithmetic on vectors, on ports 0 and 1
ARITHMETIC = {
    **dict.fromkeys(("SimdMult", "SimdMultAcc", "FloatCvt", "SimdCvt", "SimdFloatCvt"), 5),  # assumed: its manual
    **dict.fromkeys(("FloatAdd", "FloatCmp", "SimdFloatAdd", "SimdFloatCmp", "SimdFloatAlu"), 4),  # assumed: its manual
    **dict.fromkeys(("FloatMult", "SimdFloatMult", "FloatMultAcc", "SimdFloatMultAcc"), 4),  # assumed: its manual
    "SimdShift": 1,  # assumed: its manual
}


class Port0(FUDesc):
    count = 1  # uarch: skylake/port_map
    opList = [
        *ops({"IntAlu": 1, **VECTOR, **ARITHMETIC, "FloatMisc": 1, "SimdFloatMisc": 1}),
        *dividers(integer=25, divide=13, root=16),  # assumed: a radix-16 divider
    ]


class Port1(FUDesc):
    count = 1  # uarch: skylake/port_map
    opList = [*ops({"IntAlu": 1, "IntMult": 3, **VECTOR, **ARITHMETIC})]  # uarch: skylake/lat_imul


class Port5(FUDesc):
    count = 1  # uarch: skylake/port_map
    opList = [*ops({"IntAlu": 1, **VECTOR, "SimdExt": 1, "SimdFloatExt": 1, "SimdReduceAlu": 3, "SimdReduceAdd": 3})]


class Port6(FUDesc):
    count = 1  # uarch: skylake/port_map
    opList = [*ops({"IntAlu": 1})]


class PortsLoad(LoadPorts):
    count = 2  # uarch: skylake/port_map


class PortStore(StorePorts):
    count = 1  # uarch: skylake/port_map


class SkylakeFUPool(FUPool):
    FUList = [Port6(), Port5(), Port1(), Port0(), PortsLoad(), PortStore(), PredALU(), IprPort()]


class SkylakeBranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=4096)  # uarch: skylake/btb
    ras = ReturnAddrStack(numEntries=16)  # uarch: skylake/btb


class SkylakeCPU(X86O3CPU):
    fetchBufferSize = 32  # assumed: the micro-op cache's window; past it, 16
    fetchWidth = 8  # assumed: the micro-op cache fills the queue faster than it is emptied
    fetchToDecodeDelay = 10  # uarch: skylake/branch_mispredict, calibrated: the stages that a new path goes through
    fetchQueueSize = 64  # uarch: skylake/idq_size
    decodeWidth = 4  # uarch: skylake/decode_width
    renameWidth = 4  # uarch: skylake/rename_width
    dispatchWidth = 4  # uarch: skylake/rename_width
    issueWidth = 8  # uarch: skylake/port_map, calibrated: eight ports
    wbWidth = 8  # uarch: skylake/port_map, calibrated: eight ports
    commitWidth = 4  # uarch: skylake/retire_width
    squashWidth = 64  # assumed: recovery does not walk
    numROBEntries = 224  # uarch: skylake/rob_size
    numIQEntries = 97  # uarch: skylake/scheduler_size
    numPhysIntRegs = 180  # uarch: skylake/int_prf
    numPhysFloatRegs = 168  # uarch: skylake/vec_prf
    LQEntries = 72  # uarch: skylake/load_queue
    SQEntries = 56  # uarch: skylake/store_queue
    cacheLoadPorts = 2  # uarch: skylake/tput_load
    cacheStorePorts = 1  # uarch: skylake/tput_store
    fuPool = SkylakeFUPool()
    branchPred = SkylakeBranchPredictor()


class L1Cache(SiliconCache):
    size = "32KiB"  # uarch: skylake/l1d_size_kb
    assoc = 8  # uarch: skylake/l1d_assoc
    tag_latency = 3  # uarch: skylake/l1d_latency, calibrated: with the core's own cycle, 4 to the use
    data_latency = 3  # uarch: skylake/l1d_latency, calibrated: as tag_latency
    mshrs = 12  # uarch: skylake/mshr_l1d
    write_buffers = 12  # uarch: skylake/wc_buffers


class L2Cache(SiliconCache):
    size = "1024KiB"  # uarch: skylake/l2_size_kb
    assoc = 16  # uarch: skylake/l2_size_kb, calibrated: the server part of the row
    tag_latency = 2  # uarch: skylake/l2_latency, calibrated: the first level and the bus add the rest
    data_latency = 8  # uarch: skylake/l2_latency, calibrated: as tag_latency
    mshrs = 32  # assumed: the superqueue, and room for the streamer's
    write_buffers = 32  # assumed: as mshrs
    writeback_clean = True  # uarch: skylake/l3_size_kb, the level below holds what this one drops


class L3Cache(SiliconCache):
    size = "28160KiB"  # uarch: skylake/l3_size_kb, calibrated: 20 cores' parts
    assoc = 11  # assumed: 1408 KiB are eleven ways of 2048 lines
    tag_latency = 20  # assumed: half of the data's
    data_latency = 72  # uarch: skylake/l3_latency, calibrated: the levels before it add the rest
    mshrs = 20  # uarch: skylake/dram_bw_single_core_gbps, calibrated: what one core has under way to memory
    write_buffers = 32  # assumed: as the second level's
    clusivity = "mostly_excl"  # uarch: skylake/l3_size_kb


class L2Bus(L2XBar):
    width = 64  # assumed: a line a cycle, as since Haswell


class L3Bus(L2XBar):
    width = 32  # assumed: as its relatives


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return intel_microcode(
        split_stores=True,  # uarch: skylake/port_map
        flag_merge="none",  # uarch: skylake/partial_flag_stall
        max_access=32,  # uarch: skylake/l1d_store_bytes_per_cycle
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=1),  # uarch: skylake/lat_adc
            objects.X86Instruction(mnemonics=["adcx", "adox"], latency=1),  # assumed: as adc
            objects.X86Instruction(mnemonics=["mul", "mulx"], latency=3),  # assumed: as imul, a micro-op a result
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=3),  # uarch: skylake/lat_psadbw
            *slow_loops(),
        ],
        rep_movs=string_modes(28.9),  # uarch: skylake/rep_movs_bytes_per_cycle
        rep_stos=string_modes(43),  # uarch: skylake/rep_stos_bytes_per_cycle
    )


def ours(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.forwardLatency = 2  # uarch: skylake/stlf_latency, calibrated: with the store's and the load's own cycles, 5
    cpu.partialForwardPolicy = "penalty"  # uarch: skylake/stlf_fail_penalty
    cpu.forwardFailPenalty = 5  # uarch: skylake/stlf_fail_penalty, calibrated: with the store's way to the cache, 12
    cpu.aliasCheckBits = 12  # uarch: skylake/alias_4k, calibrated: 4 KiB are 12 bits
    cpu.aliasPenalty = 5  # uarch: skylake/alias_4k
    cpu.misaligned.policy = "hardware"  # uarch: skylake/unaligned_within_line
    cpu.misaligned.line_cross_load = 5  # uarch: skylake/split_load_cost
    cpu.misaligned.line_cross_store = 1  # uarch: skylake/split_store_cost, calibrated: a second access
    cpu.misaligned.page_cross_load = 5  # uarch: skylake/page_cross_load
    cpu.misaligned.page_cross_store = 25  # uarch: skylake/page_cross_store
    cpu.mmu.dtb.assoc = 4  # uarch: skylake/dtlb_entries
    cpu.mmu.dtb.l2_size = 1536  # uarch: skylake/stlb_entries
    cpu.mmu.dtb.l2_assoc = 12  # uarch: skylake/stlb_entries
    cpu.mmu.dtb.l2_latency = 7  # assumed: as Broadwell's
    walk_caches(cpu)  # assumed: as its relatives
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=12)  # uarch: skylake/wc_buffers
    isa = cpu.isa[0]
    isa.enable_fsrm = False  # uarch: skylake/rep_movs_fast_conditions
    dcache.prefetcher = objects.NextLinePrefetcher()  # uarch: skylake/prefetchers
    l2.prefetcher = streamer_and_pairs()  # uarch: skylake/prefetchers


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def SkylakeBoard(**options):
    cpu = SkylakeCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string="Skylake")])
    cpu.mmu.itb.size = 128  # assumed: as its relatives
    cpu.mmu.dtb.size = 64  # uarch: skylake/dtlb_entries
    dcache, l2, l3 = L1Cache(), L2Cache(), L3Cache()
    if has_extensions():
        ours(cpu, dcache, l2)
    if has_extensions():
        l3.slices = 20  # assumed: one a core, of 2048 sets
    else:
        l3 = L3Cache(size="22MiB")  # assumed: the most that a real gem5 takes, whose sets are a power of two
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency="67ns",  # uarch: skylake/dram_latency_ns, calibrated: the caches and buses on the way add the rest
        bandwidth="30GiB/s",  # uarch: skylake/dram_bw_single_core_gbps, calibrated: by the copy's
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
