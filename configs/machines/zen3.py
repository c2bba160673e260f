"""AMD Zen 3 (EPYC 7J13 at the clock of its measurements): six-wide, a victim third level, REP MOVS minds page offsets.

Ports are functional units: four compute, three generate addresses (three loads or two stores a cycle; of vectors two
and one), four vector pipes. The schedulers are one queue of their joint size. REP MOVS is fast unless the destination
lies 1 to 15 bytes behind the source modulo 4 KiB: then it goes by element. Not modelled: loads that take their store's
data at renaming (memfile), stores that cross 32 bytes, that stores of different lines take turns, the op cache
beyond loops (fetch brings 64 bytes a cycle at any time), three-component lea.

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
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import (
    MEMORY_SIZE,
    SiliconCache,
    dividers,
    fences,
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

CLOCK = sourced("3241MHz", "zen3/clock_mhz")
LOAD_TO_USE = {"L1": 4, "L2": 13, "L3": 44}  # cycles; what `breakeven machines show zen3` measures


class Alu1(FUDesc):
    count = sourced(1, "zen3/port_map")
    opList = [*ops({"IntAlu": 1, "IntMult": sourced(3, "zen3/lat_imul")})]


class Alu0(FUDesc):
    count = sourced(1, "zen3/port_map")
    opList = [
        *ops({"IntAlu": 1}),
        *dividers(**assumed({"integer": 17}, "one bit pair a cycle")),
    ]


class Alus2And3(FUDesc):
    count = calibrated(2, "zen3/port_map", "the other two of four")
    opList = [*ops({"IntAlu": 1})]


class AddressesBoth(FUDesc):
    """Loads of any kind and stores of general registers."""

    count = calibrated(1, "zen3/port_map", "one of three")
    opList = [*ops(calibrated({"MemRead": 1, "FloatMemRead": 4, "MemWrite": 1}, "zen3/lat_load_l1", "4 and 7"))]


class AddressesVectorStore(FUDesc):
    """Loads and stores of any kind."""

    count = calibrated(1, "zen3/port_map", "one of three")
    opList = [*ops(sourced({"MemRead": 1, "FloatMemRead": 4, "MemWrite": 1, "FloatMemWrite": 1}, "zen3/port_map"))]


class AddressesLoad(FUDesc):
    """Loads of general registers."""

    count = calibrated(1, "zen3/port_map", "one of three")
    opList = [*ops({"MemRead": 1})]


#: logic and additions, on every vector pipe
VECTOR = sourced({"SimdAlu": 1, "SimdCmp": 1, "SimdAdd": 1, "SimdAddAcc": 1, "SimdMisc": 1}, "zen3/lat_simd_add")


class Vector0And3(FUDesc):
    """Multiplications and sums of differences."""

    count = assumed(2, "as the guide has them")
    opList = [
        *ops(
            {
                **VECTOR,
                "SimdMult": 3,
                "SimdMultAcc": 4,
                "SimdReduceAdd": 3,
                "SimdReduceAlu": 3,
            }
        ),
        *ops({"FloatMult": 3, "SimdFloatMult": 3, "FloatMultAcc": 4, "SimdFloatMultAcc": 4}),
        *ops({"FloatMisc": 1, "SimdFloatMisc": 1}),
    ]


class Vector1And2(FUDesc):
    """Shifts, shuffles and conversions; the divider."""

    count = assumed(2, "as the guide has them")
    opList = [
        *ops({**VECTOR, "SimdShift": 1, "SimdExt": 1, "SimdFloatExt": 1}),
        *ops({"FloatAdd": 3, "FloatCmp": 3, "SimdFloatAdd": 3, "SimdFloatCmp": 3, "SimdFloatAlu": 3}),
        *ops({"FloatCvt": 3, "SimdCvt": 3, "SimdFloatCvt": 3}),
        *dividers(**assumed({"divide": 13, "root": 20}, "as its relatives")),
    ]


class Zen3FUPool(FUPool):
    FUList = [
        *(Alus2And3(), Alu1(), Alu0()),
        *(AddressesLoad(), AddressesBoth(), AddressesVectorStore()),
        *(Vector0And3(), Vector1And2(), PredALU(), IprPort()),
    ]


class Zen3BranchPredictor(LTAGE):
    btb = SimpleBTB(
        numEntries=calibrated(6656, "zen3/btb", "6.5 K, the second level's"),
        associativity=assumed(13, "512 sets"),
    )
    ras = ReturnAddrStack(numEntries=sourced(32, "zen3/btb"))


class Zen3CPU(X86O3CPU):
    fetchBufferSize = assumed(64, "eight operations a cycle out of the cache of them; past it, 32 bytes")
    fetchWidth = sourced(8, "zen3/decode_width")
    fetchToDecodeDelay = calibrated(7, "zen3/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = assumed(64, "as its relatives")
    decodeWidth = sourced(6, "zen3/rename_width")
    renameWidth = sourced(6, "zen3/rename_width")
    dispatchWidth = sourced(6, "zen3/rename_width")
    issueWidth = calibrated(11, "zen3/port_map", "eleven pipes")
    wbWidth = calibrated(11, "zen3/port_map", "eleven pipes")
    commitWidth = sourced(8, "zen3/retire_width")
    squashWidth = assumed(64, "recovery does not walk")
    numROBEntries = sourced(256, "zen3/rob_size")
    numIQEntries = calibrated(160, "zen3/scheduler_size", "all together")
    numPhysIntRegs = sourced(192, "zen3/int_prf")
    numPhysFloatRegs = sourced(160, "zen3/vec_prf")
    LQEntries = calibrated(116, "zen3/load_queue", "waiting and executing ones")
    SQEntries = sourced(64, "zen3/store_queue")
    cacheLoadPorts = sourced(3, "zen3/tput_load")
    cacheStorePorts = sourced(2, "zen3/tput_store")
    fuPool = Zen3FUPool()
    branchPred = Zen3BranchPredictor()


class L1Cache(SiliconCache):
    size = sourced("32KiB", "zen3/l1d_size_kb")
    assoc = sourced(8, "zen3/l1d_assoc")
    tag_latency = calibrated(3, "zen3/l1d_latency", "with the core's own cycle, 4 to the use")
    data_latency = calibrated(3, "zen3/l1d_latency", "as tag_latency")
    mshrs = sourced(24, "zen3/mshr_l1d")
    write_buffers = assumed(24, "as mshrs")


class L2Cache(SiliconCache):
    size = sourced("512KiB", "zen3/l2_size_kb")
    assoc = assumed(8, "as its guide has it")
    tag_latency = calibrated(2, "zen3/l2_latency", "the first level and the bus add the rest")
    data_latency = calibrated(6, "zen3/l2_latency", "as tag_latency")
    mshrs = assumed(48, "twice the first level's")
    write_buffers = assumed(48, "as mshrs")
    writeback_clean = assumed(True, "the level below holds what this one drops")


class L3Cache(SiliconCache):
    size = sourced("32768KiB", "zen3/l3_size_kb")
    assoc = assumed(16, "as its guide has it")
    tag_latency = assumed(15, "half of the data's")
    data_latency = calibrated(32, "zen3/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(40, "zen3/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(48, "as the second level's")
    clusivity = assumed("mostly_excl", "it holds the second level's victims")


class L2Bus(L2XBar):
    width = assumed(32, "as its guide has it")
    header_latency = calibrated(0, "zen3/store_commit", "a line every two cycles")


class L3Bus(L2XBar):
    width = assumed(32, "as its guide has it")


ANY = 4294967295
#: Micro-ops that begin a REP MOVSB: of less than 128 bytes; of more; of more to what is no multiple of 32.
BYTES = calibrated(
    {"short": 85, "long": 110, "misaligned": 170},
    "zen3/rep_movs_startup_long",
    "alone 28 cycles up to 127 bytes, 41 of 128, 56 to other destinations",
)
#: ... and one of wider elements, of up to so many bytes (the keys)
WIDE = calibrated(
    {95: 85, 255: 120, ANY: 165}, "zen3/rep_movs_startup_wide", "alone 31 cycles of 64 bytes, 47 of 128, 61 of 256"
)
STARTUP_UOPS = calibrated(85, "zen3/rep_movs_startup_long", "as a short REP MOVSB's")
#: Micro-ops that begin a REP STOS of 128 elements or more, to a multiple of 32 bytes or not; others go by element.
LONG_STOS = calibrated(
    {"aligned": 302, "misaligned": 496},
    "zen3/rep_stos_startup",
    "alone 74 cycles of 128 bytes, 122 to other destinations",
)
#: cycles before the first of bytes that are copied one by one
ONE_BY_ONE = calibrated(135, "zen3/rep_movs_by_element", "one byte makes 164")


def fast(startups, bytes_per_cycle, block, **conditions):
    return [
        objects.X86StringMode(
            max_bytes=limit,
            startup_uops=startup,
            block=block,
            bytes_per_cycle=bytes_per_cycle,
            whole_lines=assumed(True, "as Intel's"),
            **conditions,
        )
        for limit, startup in startups.items()
    ]


def byte_copies(startups, bytes_per_cycle, block, **conditions):
    to_aligned = sourced(32, "zen3/rep_movs_startup_long")
    return [
        *fast({127: startups["short"]}, bytes_per_cycle, block, **conditions),
        *fast({ANY: startups["long"]}, bytes_per_cycle, block, destination_alignment=to_aligned, **conditions),
        *fast({ANY: startups["misaligned"]}, bytes_per_cycle, block, **conditions),
    ]


def long_stores(bytes_per_cycle, block):
    many = calibrated(128, "zen3/rep_stos_startup", "elements, not bytes")
    to_aligned = calibrated(32, "zen3/rep_stos_startup", "destinations of 8 and 48 are slow")
    aligned, misaligned = ({ANY: LONG_STOS[way]} for way in ("aligned", "misaligned"))
    return [
        *fast(aligned, bytes_per_cycle, block, min_count=many, destination_alignment=to_aligned),
        *fast(misaligned, bytes_per_cycle, block, min_count=many),
    ]


def by_element(**conditions):
    """What the fast way does not take: an element a cycle."""
    return objects.X86StringMode(
        block=assumed(0, "microcode by element"),
        element_cycles=assumed(1, "microcode by element"),
        element_uops=assumed(2, "microcode by element"),
        startup_uops=STARTUP_UOPS,
        **conditions,
    )


WALK_CACHES = assumed({"pml4e": 64, "pdpte": 64, "pde": 1024}, "Zen has a cache of 64 entries; PDEs lie in the TLB")
MOVS = sourced(29.5, "zen3/rep_movs_bytes_per_cycle")
STOS = sourced(29.2, "zen3/rep_stos_bytes_per_cycle")


BLOCK = assumed(32, "a vector register")
#: pairs of address bits; their parities are the way predictor's hash
WAY_HASH = [(12, 27), (13, 26), (14, 25), (15, 20), (16, 21), (17, 22), (18, 23), (19, 24)]


def microcode(movs=MOVS, stos=STOS, block=BLOCK, startups=BYTES, one_by_one=ONE_BY_ONE):
    """Micro-ops of the hardware in place of gem5's; bytes a cycle of REP MOVS and REP STOS, and at a time."""
    conditions = {
        "min_page_offset": calibrated(16, "zen3/rep_movs_align_sensitivity", "1 to 15 are slow"),
        "equal_page_offset": sourced(True, "zen3/rep_movs_align_sensitivity"),
    }
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        micro_fusion=assumed(True, "an operation with its load or store is one macro-op"),
        fuse_cmp_test=assumed(True, "as its guide has it"),
        fuse_add_sub_and=assumed(False, "as its guide has it"),
        fuse_inc_dec=assumed(False, "as its guide has it"),
        split_stores=assumed(False, "a store is one operation"),
        stack_engine=assumed(True, "as its guide has it"),
        zero_idioms=assumed(True, "as its guide has it"),
        eliminate_zero_idioms=assumed(True, "as its guide has it"),
        eliminate_moves=assumed(True, "as its guide has it"),
        flag_merge=sourced("none", "zen3/partial_flag_stall"),
        max_access=assumed(32, "a vector register"),
        instructions=[
            objects.X86Instruction(mnemonics=["adc", "sbb"], latency=sourced(1, "zen3/lat_adc")),
            objects.X86Instruction(mnemonics=["adcx", "adox"], latency=assumed(1, "as adc")),
            objects.X86Instruction(mnemonics=["mul", "mulx"], latency=assumed(3, "as imul, an operation a result")),
            objects.X86Instruction(mnemonics=["psadbw", "vpsadbw"], latency=sourced(3, "zen3/lat_psadbw")),
        ],
        rep_movs=[
            *fast(
                WIDE,
                movs,
                block,
                min_element=calibrated(2, "zen3/rep_movs_startup_wide", "any but bytes"),
                **conditions,
            ),
            by_element(min_element=calibrated(2, "zen3/rep_movs_by_element", "any but bytes")),
            *byte_copies(startups, movs, block, **conditions),
            by_element(startup=one_by_one),
            backwards(),
        ],
        rep_stos=[
            *long_stores(stos, block),
            by_element(startup=calibrated(5, "zen3/rep_stos_startup", "16 bytes make 35")),
            backwards(),
        ],
    )


def backwards():
    return by_element(backwards=sourced(True, "zen3/rep_movs_fast_conditions"))


def ours(cpu, dcache, l2, microcode):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode)
    cpu.loopBufferSize = calibrated(4 * 4096, "zen3/op_cache", "four bytes of code an operation")
    fences(
        cpu, **calibrated({"latency": 17, "after_loads": 20}, "zen3/mfence", "13 cycles are hidden, none behind loads")
    )
    cpu.forwardLatency = calibrated(5, "zen3/stlf_latency", "with the store's and the load's own cycles, 7 to 8")
    cpu.partialForwardPolicy = sourced("penalty", "zen3/stlf_fail_penalty")
    cpu.forwardFailPenalty = calibrated(10, "zen3/stlf_fail_penalty", "with the store's way to the cache, 14")
    cpu.aliasCheckBits = calibrated(12, "zen3/alias_4k", "4 KiB are 12 bits")
    cpu.aliasPenalty = sourced(5, "zen3/alias_4k")
    cpu.misaligned.policy = sourced("hardware", "zen3/unaligned_within_line")
    cpu.misaligned.line_cross_load = calibrated(4, "zen3/split_load_cost", "a vector's 11 less its 7")
    cpu.misaligned.line_cross_store = sourced(5, "zen3/split_store_cost")
    cpu.misaligned.page_cross_load = calibrated(4, "zen3/page_cross_load", "as line_cross_load")
    cpu.misaligned.page_cross_store = sourced(25, "zen3/page_cross_store")
    cpu.mmu.dtb.l2_size = sourced(2048, "zen3/stlb_entries")
    cpu.mmu.dtb.l2_assoc = sourced(8, "zen3/stlb_entries")
    cpu.mmu.dtb.l2_latency = sourced(8, "zen3/stlb_hit_penalty")
    walk_caches(
        cpu, **assumed({"pml4e": 64, "pdpte": 64, "pde": 1024}, "Zen has a cache of 64 entries; PDEs lie in the TLB")
    )
    cpu.write_combining = objects.WriteCombiningBuffers(buffers=sourced(10, "zen3/wc_buffers"))
    dcache.prefetcher = sourced(objects.StreamPrefetcher(), "zen3/prefetchers")
    dcache.way_predictor_masks = calibrated(
        [1 << a | 1 << b for a, b in WAY_HASH], "zen3/way_predictor", "its pairs of bits as masks"
    )
    l2.prefetcher = sourced(streamer_and_pairs(), "zen3/prefetchers")


class Memory(SimpleMemory):
    latency = calibrated("85ns", "zen3/dram_latency_ns", "the caches and buses on the way add the rest")
    bandwidth = assumed("40GiB/s", "two channels of DDR4-3200 are more than one core asks for")


def zen_cpu(kind, name):
    """A core with its instruction set's vendor, and address translation."""
    cpu = kind(isa=[X86ISA(vendor_string="AuthenticAMD", name_string=name)])
    cpu.mmu.itb.size = assumed(64, "as the data side's")
    cpu.mmu.dtb.size = sourced(64, "zen3/dtlb_entries")
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
    extend(lambda *parts: ours(*parts, microcode()), cpu, dcache, l2)
    return zen_board(cpu, CLOCK, dcache, l2, L3Cache(), Memory(range=board_range(MEMORY_SIZE)), **options)


machine = machine_of(Zen3Board)
