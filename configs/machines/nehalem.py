"""Intel Nehalem server (Xeon X5570 at its base clock): four-wide, out-of-order, three ways of REP MOVS by count.

Ports are functional units: 0, 1, 5 compute, 2 loads, 3 and 4 store (one unit). An adc is two micro-ops and two cycles;
one that reads what dec left of the flags waits, with its fused load, until all before it has retired. One decoder of
the four makes several micro-ops. Not modelled: the register file's three read ports, that branches have port 5 only,
the uncore's own clock.
`westmere` uses this file.

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

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, constructor, machine_of
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import (
    MEMORY_SIZE,
    SHIFT,
    SINCE_SANDY_BRIDGE,
    WALK_CACHES,
    LoadPorts,
    SiliconCache,
    StorePorts,
    dividers,
    hardware_core,
    ops,
    silicon_board,
    slow_loops,
    streamer_and_pairs,
    walk_caches,
    without,
)

NAME = "nehalem"
DESCRIPTION = "Intel Nehalem server (X5570, 2.93 GHz): 4-wide out-of-order, adc of two cycles, REP MOVS by count"
ISA = "x86"

CLOCK = sourced("2930MHz", "nehalem/clock_mhz")
LOAD_TO_USE = {"L1": 4, "L2": 11, "L3": 40}  # cycles; what `breakeven machines show nehalem` measures

#: additions, on ports 0 and 5
VECTOR_ADD = {**sourced({"SimdAdd": 1, "SimdAddAcc": 1}, "nehalem/lat_simd_add"), "SimdReduceAlu": 3}
#: logic, on every computing port
VECTOR = assumed({"SimdAlu": 1, "SimdCmp": 1}, "as the additions")


class Port0(FUDesc):
    count = sourced(1, "nehalem/port_map")
    opList = [
        *ops({"IntAlu": 1, SHIFT: 1, **VECTOR, **VECTOR_ADD, "SimdExt": 1, "SimdMisc": 1}),
        *ops({"FloatMult": 5, "SimdFloatMult": 5, "FloatMultAcc": 9, "SimdFloatMultAcc": 9}),
        *ops({"FloatMisc": 1, "SimdFloatMisc": 1}),
        *dividers(**assumed({"integer": 25, "divide": 14, "root": 18}, "a radix-16 divider")),
    ]


class Port1(FUDesc):
    count = sourced(1, "nehalem/port_map")
    opList = [
        *ops({"IntAlu": 1, "IntMult": sourced(3, "nehalem/lat_imul")}),
        *ops(
            {
                **VECTOR,
                "SimdShift": 1,
                "SimdMult": 3,
                "SimdMultAcc": 3,
                "SimdReduceAdd": 3,
            }
        ),
        *ops({"FloatAdd": 3, "FloatCmp": 3, "SimdFloatAdd": 3, "SimdFloatCmp": 3, "SimdFloatAlu": 3}),
        *ops({"FloatCvt": 3, "SimdCvt": 3, "SimdFloatCvt": 3}),
    ]


class Port5(FUDesc):
    count = sourced(1, "nehalem/port_map")
    opList = [*ops({"IntAlu": 1, SHIFT: 1, **VECTOR, **VECTOR_ADD, "SimdExt": 1, "SimdMisc": 1, "SimdFloatExt": 1})]


class PortLoad(LoadPorts):
    count = sourced(1, "nehalem/port_map")


class PortStore(StorePorts):
    count = sourced(1, "nehalem/port_map")


class NehalemFUPool(FUPool):
    FUList = [Port5(), Port0(), Port1(), PortLoad(), PortStore(), PredALU(), IprPort()]


class NehalemBranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=assumed(4096, "nehalem/btb says two levels, without numbers"))
    ras = ReturnAddrStack(numEntries=sourced(16, "nehalem/btb"))


class NehalemCPU(X86O3CPU):
    fetchBufferSize = sourced(16, "nehalem/fetch_bytes_per_cycle")
    fetchWidth = assumed(6, "the predecoder finds up to six instructions a cycle")
    fetchToDecodeDelay = calibrated(10, "nehalem/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = sourced(28, "nehalem/idq_size", "the queue behind the decoders that loops run from")
    decodeWidth = sourced(4, "nehalem/decode_width")
    renameWidth = sourced(4, "nehalem/rename_width")
    dispatchWidth = sourced(4, "nehalem/rename_width")
    issueWidth = calibrated(6, "nehalem/port_map", "six ports")
    wbWidth = calibrated(6, "nehalem/port_map", "six ports")
    commitWidth = sourced(4, "nehalem/retire_width")
    squashWidth = assumed(128, "recovery does not walk")
    numROBEntries = sourced(128, "nehalem/rob_size")
    numIQEntries = sourced(36, "nehalem/scheduler_size")
    numPhysIntRegs = calibrated(256, "nehalem/int_prf", "values live in the ROB, so registers never run out")
    numPhysFloatRegs = calibrated(256, "nehalem/int_prf", "as numPhysIntRegs")
    LQEntries = sourced(48, "nehalem/load_queue")
    SQEntries = sourced(32, "nehalem/store_queue")
    cacheLoadPorts = sourced(1, "nehalem/tput_load")
    cacheStorePorts = sourced(1, "nehalem/tput_store")
    fuPool = NehalemFUPool()
    branchPred = NehalemBranchPredictor()


class L1Cache(SiliconCache):
    size = sourced("32KiB", "nehalem/l1d_size_kb")
    assoc = sourced(8, "nehalem/l1d_assoc")
    tag_latency = calibrated(3, "nehalem/l1d_latency", "with the core's own cycle, 4 to the use")
    data_latency = calibrated(3, "nehalem/l1d_latency", "as tag_latency")
    mshrs = sourced(10, "nehalem/mshr_l1d")
    write_buffers = sourced(10, "nehalem/wc_buffers")


class L1ICache(L1Cache):
    assoc = sourced(4, "nehalem/l1i_assoc")


class L2Cache(SiliconCache):
    size = sourced("256KiB", "nehalem/l2_size_kb")
    assoc = sourced(8, "nehalem/l2_assoc")
    tag_latency = calibrated(2, "nehalem/l2_latency", "the first level and the bus add the rest")
    data_latency = calibrated(4, "nehalem/l2_latency", "as tag_latency")
    mshrs = assumed(16, "Intel's superqueue")
    write_buffers = assumed(16, "as mshrs")


class L3Cache(SiliconCache):
    size = sourced("8MiB", "nehalem/l3_size_kb")
    assoc = sourced(16, "nehalem/l3_assoc")
    tag_latency = assumed(14, "half of the data's")
    data_latency = calibrated(28, "nehalem/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(12, "nehalem/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(32, "as mshrs")


class L2Bus(L2XBar):
    width = sourced(32, "nehalem/l2_l1_bytes_per_cycle")


class L3Bus(L2XBar):
    width = assumed(32, "as between the levels before")


class Memory(SimpleMemory):
    latency = calibrated("55ns", "nehalem/dram_latency_ns", "the caches and buses on the way add the rest")
    bandwidth = assumed("24GiB/s", "three quarters of three channels of DDR3-1333")


def string_modes(bytes_per_cycle, byte_rate):
    """By count: a short way, one by element, and 16 bytes at a time. Single bytes have a longer start-up.

    A start-up's micro-ops need a computing port: they go three a cycle.
    """
    return [
        objects.X86StringMode(
            max_count=sourced(12, "nehalem/rep_movs_startup"),
            min_element=calibrated(2, "nehalem/rep_movs_startup", "not single bytes"),
            startup_uops=calibrated(48, "nehalem/rep_movs_startup", "three a cycle; 20 cycles in all"),
        ),
        objects.X86StringMode(
            max_count=calibrated(75, "nehalem/rep_movs_startup", "below 76"),
            min_element=calibrated(2, "nehalem/rep_movs_startup", "not single bytes"),
            startup_uops=calibrated(45, "nehalem/rep_movs_startup", "15 cycles"),
            block=calibrated(0, "nehalem/rep_movs_startup", "by element"),
            element_cycles=sourced(1, "nehalem/rep_movs_startup"),
        ),
        fast_mode(
            bytes_per_cycle,
            min_element=calibrated(2, "nehalem/rep_movs_startup", "not single bytes"),
            startup_uops=calibrated(120, "nehalem/rep_movs_startup", "40 cycles"),
        ),
        objects.X86StringMode(
            max_count=assumed(3, "a few bytes are done one by one"),
            startup_uops=assumed(27, "nine cycles"),
        ),
        fast_mode(
            byte_rate,
            min_element=assumed(1, "single bytes"),
            startup_uops=assumed(150, "ten cycles more than for words"),
        ),
        objects.X86StringMode(
            backwards=assumed(True, "microcode by element"),
            block=assumed(0, "microcode by element"),
            element_cycles=assumed(2, "microcode by element"),
            element_uops=assumed(4, "as element_cycles"),
            startup_uops=assumed(45, "as the way by element going up"),
        ),
    ]


def fast_mode(bytes_per_cycle, **costs):
    """Lines of 16-byte pieces: four cycles a line, six where pieces are split.

    Lines written whole are read first, as other stores' are: Intel's manual of the time (Software Developer's Manual
    3A, order number 253668-032, 8.2.4) gives the way without that read to the P6 family, Pentium 4, Core and Core 2,
    not to this one.
    """
    return objects.X86StringMode(
        block=sourced(64, "nehalem/line_bytes"),
        alignment=sourced(16, "nehalem/rep_movs_fast_conditions"),
        bytes_per_cycle=bytes_per_cycle,
        bytes_per_cycle_misaligned=calibrated(
            bytes_per_cycle * 4 / 6, "nehalem/rep_movs_align_sensitivity", "half as many cycles again"
        ),
        bytes_per_cycle_crossed=calibrated(
            bytes_per_cycle * 4 / 6, "nehalem/rep_movs_align_sensitivity", "half as many cycles again"
        ),
        **costs,
    )


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        micro_fusion=assumed(True, "as every Intel core since the Pentium M"),
        fuse_cmp_test=assumed(True, "since Core, in 64-bit mode since Nehalem"),
        split_stores=sourced(True, "nehalem/port_map"),
        stack_engine=assumed(True, "as micro_fusion"),
        zero_idioms=assumed(True, "as micro_fusion"),
        flag_merge=sourced("stall", "nehalem/partial_flag_stall"),
        flag_stall=calibrated(2, "nehalem/adc_dec_loop", "four such loops and partial_flag_stall"),
        first_decoder=sourced(True, "nehalem/decode_width"),
        max_access=sourced(16, "nehalem/tput_load"),
        instructions=[
            objects.X86Instruction(
                mnemonics=["adc", "sbb"],
                latency=sourced(2, "nehalem/lat_adc"),
                uops=assumed(2, "as pentium3/uops_adc_rr"),
            ),
            objects.X86Instruction(
                mnemonics=["mul"],
                latency=assumed(3, "as imul; a micro-op a result"),
            ),
            objects.X86Instruction(mnemonics=["psadbw"], latency=sourced(3, "nehalem/lat_psadbw")),
            objects.X86Instruction(
                mnemonics=["shl", "shr", "sar", "rol", "ror"],
                opClass=SHIFT,
                latency=sourced(1, "nehalem/lat_shift"),
            ),
            *slow_loops(),
        ],
        rep_movs=string_modes(
            bytes_per_cycle=sourced(14.2, "nehalem/rep_movs_bytes_per_cycle"),
            byte_rate=sourced(13.1, "nehalem/rep_movs_bytes_per_cycle"),
        ),
        rep_stos=string_modes(
            bytes_per_cycle=sourced(15.4, "nehalem/rep_stos_bytes_per_cycle"),
            byte_rate=sourced(15.4, "nehalem/rep_stos_bytes_per_cycle"),
        ),
    )


def ours(cpu, dcache, l2, memory):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.loopBufferSize = assumed(256, "the loop stream detector's 28 micro-ops, in bytes of code")
    cpu.forwardLatency = calibrated(2, "nehalem/stlf_latency", "with the store's and the load's own cycles, 5")
    cpu.partialForwardPolicy = sourced("penalty", "nehalem/stlf_fail_penalty")
    cpu.forwardFailPenalty = calibrated(4, "nehalem/stlf_fail_penalty", "with the store's way to the cache, 11")
    cpu.aliasCheckBits = sourced(12, "nehalem/alias_4k")
    cpu.aliasPenalty = sourced(5, "nehalem/alias_4k")
    cpu.misaligned.policy = sourced("hardware", "nehalem/unaligned_within_line")
    cpu.misaligned.line_cross_load = calibrated(4, "nehalem/split_load_cost", "4.5 are not whole")
    cpu.misaligned.line_cross_store = sourced(4, "nehalem/split_store_cost")
    cpu.misaligned.split_slots = calibrated(3, "nehalem/split_load_cost", "a split every four to five cycles")
    cpu.misaligned.page_cross_load = sourced(20, "nehalem/page_cross_load")
    cpu.misaligned.page_cross_store = sourced(27, "nehalem/page_cross_store")
    cpu.mmu.dtb.assoc = sourced(4, "nehalem/dtlb_entries")
    cpu.mmu.dtb.l2_size = sourced(512, "nehalem/stlb_entries")
    cpu.mmu.dtb.l2_assoc = sourced(4, "nehalem/stlb_entries")
    cpu.mmu.dtb.l2_latency = sourced(6, "nehalem/stlb_hit_penalty")
    walk_caches(cpu, **WALK_CACHES)
    cpu.write_combining = objects.WriteCombiningBuffers(
        buffers=sourced(10, "nehalem/wc_buffers"),
        posted=assumed(True, "free when the uncore's queue has the line"),
    )
    isa = cpu.isa[0]
    without(isa, *SINCE_SANDY_BRIDGE)
    dcache.prefetcher = sourced(objects.NextLinePrefetcher(), "nehalem/prefetchers")
    memory.write_buffer_size = assumed(16, "the write tracker of the uncore's global queue")
    l2.prefetcher = sourced(streamer_and_pairs(), "nehalem/prefetchers")


def board(name, clock, l3, memory, **options):
    """The machine with `l3` and `memory`; the CPU's parameters can still be changed at its root's `system.cpu`."""
    cpu = NehalemCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string=name)])
    cpu.mmu.itb.size = assumed(128, "Intel's of the time")
    cpu.mmu.dtb.size = sourced(64, "nehalem/dtlb_entries")
    dcache, l2 = L1Cache(), L2Cache()
    extend(ours, cpu, dcache, l2, memory)
    return silicon_board(
        cpu=cpu,
        clock=clock,
        memory=memory,
        icache=L1ICache(),
        dcache=dcache,
        l2=l2,
        l2bus=L2Bus(),
        l3=l3,
        l3bus=L3Bus(),
        **options,
    )


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, "prefetchers")
def NehalemBoard(**options):
    return board("Nehalem", CLOCK, L3Cache(), Memory(range=board_range(MEMORY_SIZE)), **options)


machine = machine_of(NehalemBoard)
