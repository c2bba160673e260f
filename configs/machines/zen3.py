"""AMD Zen 3 (EPYC 7J13 at the clock of its measurements): six-wide, a victim third level, REP MOVS minds page offsets.

Ports are functional units: four compute, three generate addresses (three loads or two stores a cycle; of vectors two
and one), four vector pipes. The schedulers are one queue of their joint size. REP MOVS is fast unless the destination
lies 1 to 15 bytes behind the source modulo 4 KiB: then it goes by element. Not modelled: loads that take their store's
data at renaming (memfile), stores that cross 32 bytes, that stores of different lines take turns, the micro-op cache
(fetch brings 64 bytes a cycle at any time), three-component lea.

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
    SiliconCache,
    dividers,
    hardware_core,
    ops,
    silicon_board,
    streamer_and_pairs,
    walk_caches,
)

NAME = "zen3"
DESCRIPTION = (
    "AMD Zen 3 (EPYC 7J13, 3.24 GHz): 6-wide out-of-order, three loads a cycle, REP MOVS slow at near page offsets"
)
ISA = "x86"

CLOCK = "3241MHz"  # uarch: zen3/clock_mhz
LOAD_TO_USE = {"L1": 4, "L2": 13, "L3": 44}  # cycles; what `breakeven machines show zen3` measures


class Alu1(FUDesc):
    count = 1  # uarch: zen3/port_map
    opList = [*ops({"IntAlu": 1, "IntMult": 3})]  # uarch: zen3/lat_imul


class Alu0(FUDesc):
    count = 1  # uarch: zen3/port_map
    opList = [
        *ops({"IntAlu": 1}),
        *dividers(integer=17),  # assumed: one bit pair a cycle
    ]


class Alus2And3(FUDesc):
    count = 2  # uarch: zen3/port_map, calibrated: the other two of four
    opList = [*ops({"IntAlu": 1})]


class AddressesBoth(FUDesc):
    """Loads of any kind and stores of general registers."""

    count = 1  # uarch: zen3/port_map, calibrated: one of three
    opList = [*ops({"MemRead": 1, "FloatMemRead": 4, "MemWrite": 1})]  # uarch: zen3/lat_load_l1, calibrated: 4 and 7


class AddressesVectorStore(FUDesc):
    """Loads and stores of any kind."""

    count = 1  # uarch: zen3/port_map, calibrated: one of three
    opList = [*ops({"MemRead": 1, "FloatMemRead": 4, "MemWrite": 1, "FloatMemWrite": 1})]  # uarch: zen3/port_map


class AddressesLoad(FUDesc):
    """Loads of general registers."""

    count = 1  # uarch: zen3/port_map, calibrated: one of three
    opList = [*ops({"MemRead": 1})]


#: logic and additions, on every vector pipe
VECTOR = {"SimdAlu": 1, "SimdCmp": 1, "SimdAdd": 1, "SimdAddAcc": 1, "SimdMisc": 1}  # uarch: zen3/lat_simd_add


class Vector0And3(FUDesc):
    """Multiplications and sums of differences."""

    count = 2  # assumed: as the guide has them
    opList = [
        *ops({**VECTOR, "SimdMult": 3, "SimdMultAcc": 4, "SimdReduceAdd": 3, "SimdReduceAlu": 3}),
        *ops({"FloatMult": 3, "SimdFloatMult": 3, "FloatMultAcc": 4, "SimdFloatMultAcc": 4}),
        *ops({"FloatMisc": 1, "SimdFloatMisc": 1}),
    ]


class Vector1And2(FUDesc):
    """Shifts, shuffles and conversions; the divider."""

    count = 2  # assumed: as the guide has them
    opList = [
        *ops({**VECTOR, "SimdShift": 1, "SimdExt": 1, "SimdFloatExt": 1}),
        *ops({"FloatAdd": 3, "FloatCmp": 3, "SimdFloatAdd": 3, "SimdFloatCmp": 3, "SimdFloatAlu": 3}),
        *ops({"FloatCvt": 3, "SimdCvt": 3, "SimdFloatCvt": 3}),
        *dividers(divide=13, root=20),  # assumed: as its relatives
    ]


class Zen3FUPool(FUPool):
    FUList = [
        *(Alus2And3(), Alu1(), Alu0()),
        *(AddressesLoad(), AddressesBoth(), AddressesVectorStore()),
        *(Vector0And3(), Vector1And2(), PredALU(), IprPort()),
    ]


class Zen3BranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=4096)  # uarch: zen3/btb, calibrated: the largest power of two in it
    ras = ReturnAddrStack(numEntries=32)  # uarch: zen3/btb


class Zen3CPU(X86O3CPU):
    fetchBufferSize = 64  # assumed: eight operations a cycle out of the cache of them; past it, 32 bytes
    fetchWidth = 8  # uarch: zen3/decode_width
    fetchToDecodeDelay = 7  # uarch: zen3/branch_mispredict, calibrated: the stages that a new path goes through
    fetchQueueSize = 64  # assumed: as its relatives
    decodeWidth = 6  # uarch: zen3/rename_width
    renameWidth = 6  # uarch: zen3/rename_width
    dispatchWidth = 6  # uarch: zen3/rename_width
    issueWidth = 11  # uarch: zen3/port_map, calibrated: eleven pipes
    wbWidth = 11  # uarch: zen3/port_map, calibrated: eleven pipes
    commitWidth = 8  # uarch: zen3/retire_width
    squashWidth = 64  # assumed: recovery does not walk
    numROBEntries = 256  # uarch: zen3/rob_size
    numIQEntries = 160  # uarch: zen3/scheduler_size, calibrated: all together
    numPhysIntRegs = 192  # uarch: zen3/int_prf
    numPhysFloatRegs = 160  # uarch: zen3/vec_prf
    LQEntries = 116  # uarch: zen3/load_queue, calibrated: waiting and executing ones
    SQEntries = 64  # uarch: zen3/store_queue
    cacheLoadPorts = 3  # uarch: zen3/tput_load
    cacheStorePorts = 2  # uarch: zen3/tput_store
    fuPool = Zen3FUPool()
    branchPred = Zen3BranchPredictor()


class L1Cache(SiliconCache):
    size = "32KiB"  # uarch: zen3/l1d_size_kb
    assoc = 8  # uarch: zen3/l1d_assoc
    tag_latency = 3  # uarch: zen3/l1d_latency, calibrated: with the core's own cycle, 4 to the use
    data_latency = 3  # uarch: zen3/l1d_latency, calibrated: as tag_latency
    mshrs = 24  # uarch: zen3/mshr_l1d
    write_buffers = 24  # assumed: as mshrs


class L2Cache(SiliconCache):
    size = "512KiB"  # uarch: zen3/l2_size_kb
    assoc = 8  # assumed: as its guide has it
    tag_latency = 2  # uarch: zen3/l2_latency, calibrated: the first level and the bus add the rest
    data_latency = 6  # uarch: zen3/l2_latency, calibrated: as tag_latency
    mshrs = 48  # assumed: twice the first level's
    write_buffers = 48  # assumed: as mshrs
    writeback_clean = True  # assumed: the level below holds what this one drops


class L3Cache(SiliconCache):
    size = "32768KiB"  # uarch: zen3/l3_size_kb
    assoc = 16  # assumed: as its guide has it
    tag_latency = 15  # assumed: half of the data's
    data_latency = 32  # uarch: zen3/l3_latency, calibrated: the levels before it add the rest
    mshrs = 40  # uarch: zen3/dram_bw_single_core_gbps, calibrated: what one core has under way to memory
    write_buffers = 48  # assumed: as the second level's
    clusivity = "mostly_excl"  # assumed: it holds the second level's victims


class L2Bus(L2XBar):
    width = 32  # assumed: as its guide has it
    header_latency = 0  # uarch: zen3/store_commit, calibrated: a line every two cycles


class L3Bus(L2XBar):
    width = 32  # assumed: as its guide has it


STARTUP_UOPS = 100  # uarch: zen3/rep_movs_startup, calibrated: 20 cycles and some for the bytes, four a cycle


def fast(bytes_per_cycle, **conditions):
    return objects.X86StringMode(
        startup_uops=STARTUP_UOPS,
        block=32,  # assumed: a vector register
        bytes_per_cycle=bytes_per_cycle,
        whole_lines=True,  # assumed: as Intel's
        **conditions,
    )


def by_element():
    """Whatever the fast way does not take: an element a cycle."""
    return objects.X86StringMode(
        backwards=True,  # uarch: zen3/rep_movs_fast_conditions
        block=0,  # assumed: microcode by element
        element_cycles=1,  # assumed: microcode by element
        element_uops=2,  # assumed: microcode by element
        startup_uops=STARTUP_UOPS,
    )


def microcode(movs=29.5, stos=29.2):  # uarch: zen3/rep_movs_bytes_per_cycle, zen3/rep_stos_bytes_per_cycle
    """Micro-ops of the hardware in place of gem5's; bytes a cycle of REP MOVS and REP STOS."""
    return objects.X86Microcode(
        gem5=False,  # assumed: hardware has its own
        micro_fusion=True,  # assumed: an operation with its load or store is one macro-op
        fuse_cmp_test=True,  # assumed: as its guide has it
        fuse_add_sub_and=False,  # assumed: as its guide has it
        fuse_inc_dec=False,  # assumed: as its guide has it
        split_stores=False,  # assumed: a store is one operation
        stack_engine=True,  # assumed: as its guide has it
        zero_idioms=True,  # assumed: as its guide has it
        eliminate_zero_idioms=True,  # assumed: as its guide has it
        eliminate_moves=True,  # assumed: as its guide has it
        flag_merge="none",  # uarch: zen3/partial_flag_stall
        max_access=32,  # assumed: a vector register
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=1),  # uarch: zen3/lat_adc
            objects.X86Instruction(mnemonics=["adcx", "adox"], latency=1),  # assumed: as adc
            objects.X86Instruction(mnemonics=["mul", "mulx"], latency=3),  # assumed: as imul, an operation a result
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=3),  # uarch: zen3/lat_psadbw
        ],
        rep_movs=[
            fast(
                movs,
                min_page_offset=16,  # uarch: zen3/rep_movs_align_sensitivity, calibrated: 1 to 15 are slow
                equal_page_offset=True,  # uarch: zen3/rep_movs_align_sensitivity
            ),
            by_element(),
        ],
        rep_stos=[fast(stos), by_element()],
    )


def ours(cpu, dcache, l2, microcode):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode)
    cpu.forwardLatency = 5  # uarch: zen3/stlf_latency, calibrated: with the store's and the load's own cycles, 7 to 8
    cpu.partialForwardPolicy = "penalty"  # uarch: zen3/stlf_fail_penalty
    cpu.forwardFailPenalty = 10  # uarch: zen3/stlf_fail_penalty, calibrated: with the store's way to the cache, 14
    cpu.aliasCheckBits = 12  # uarch: zen3/alias_4k, calibrated: 4 KiB are 12 bits
    cpu.aliasPenalty = 5  # uarch: zen3/alias_4k
    cpu.misaligned.policy = "hardware"  # uarch: zen3/unaligned_within_line
    cpu.misaligned.line_cross_load = 4  # uarch: zen3/split_load_cost, calibrated: a vector's 11 less its 7
    cpu.misaligned.line_cross_store = 5  # uarch: zen3/split_store_cost
    cpu.misaligned.page_cross_load = 4  # uarch: zen3/page_cross_load, calibrated: as line_cross_load
    cpu.misaligned.page_cross_store = 25  # uarch: zen3/page_cross_store
    cpu.mmu.dtb.l2_size = 2048  # uarch: zen3/stlb_entries
    cpu.mmu.dtb.l2_assoc = 8  # uarch: zen3/stlb_entries
    cpu.mmu.dtb.l2_latency = 8  # uarch: zen3/stlb_hit_penalty
    walk_caches(cpu, pml4e=64, pdpte=64, pde=1024)  # assumed: Zen has a cache of 64 entries; PDEs lie in the TLB
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=10)  # uarch: zen3/wc_buffers
    dcache.prefetcher = objects.StreamPrefetcher()  # uarch: zen3/prefetchers
    l2.prefetcher = streamer_and_pairs()  # uarch: zen3/prefetchers


class Memory(SimpleMemory):
    latency = "85ns"  # uarch: zen3/dram_latency_ns, calibrated: the caches and buses on the way add the rest
    bandwidth = "40GiB/s"  # assumed: two channels of DDR4-3200 are more than one core asks for


def zen_cpu(kind, name):
    """A core with its instruction set's vendor, and address translation."""
    cpu = kind(isa=[X86ISA(vendor_string="AuthenticAMD", name_string=name)])
    cpu.mmu.itb.size = 64  # assumed: as the data side's
    cpu.mmu.dtb.size = 64  # uarch: zen3/dtlb_entries
    return cpu


def zen_board(cpu, clock, dcache, l2, l3, memory, **options):
    """A machine of this core and these caches."""
    return silicon_board(
        cpu=cpu,
        clock=clock,
        memory=memory,
        icache=L1Cache(),
        dcache=dcache,
        l2=l2,
        l2bus=L2Bus(),
        l3=l3,
        l3bus=L3Bus(),
        **options,
    )


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def Zen3Board(**options):
    cpu = zen_cpu(Zen3CPU, "Zen 3")
    dcache, l2 = L1Cache(), L2Cache()
    if has_extensions():
        ours(cpu, dcache, l2, microcode())
    return zen_board(cpu, CLOCK, dcache, l2, L3Cache(), Memory(range=board_range(MEMORY_SIZE)), **options)


machine = machine_of(Zen3Board)
