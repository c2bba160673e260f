"""Intel Nehalem server (Xeon X5570 at its base clock): four-wide, out-of-order, three ways of REP MOVS by count.

Ports are functional units: 0, 1, 5 compute, 2 loads, 3 and 4 store (one unit). An adc is two micro-ops and two cycles;
one that reads what dec left of the flags waits, with its fused load, until all before it has retired. One decoder of
the four makes several micro-ops. Not modelled: the register file's three read ports, that branches have port 5 only,
the uncore's own clock.
`westmere` uses this file.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from constructors import L3, MEMORY, OUT_OF_ORDER, constructor, has_extensions, machine_of
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
    SHIFT,
    SINCE_SANDY_BRIDGE,
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

CLOCK = "2930MHz"  # uarch: nehalem/clock_mhz
LOAD_TO_USE = {"L1": 4, "L2": 11, "L3": 40}  # cycles; what `breakeven machines show nehalem` measures

#: additions, on ports 0 and 5
VECTOR_ADD = {"SimdAdd": 1, "SimdAddAcc": 1, "SimdReduceAlu": 3}  # uarch: nehalem/lat_simd_add
#: logic, on every computing port
VECTOR = {"SimdAlu": 1, "SimdCmp": 1}  # assumed: as the additions


class Port0(FUDesc):
    count = 1  # uarch: nehalem/port_map
    opList = [
        *ops({"IntAlu": 1, SHIFT: 1, **VECTOR, **VECTOR_ADD, "SimdExt": 1, "SimdMisc": 1}),
        *ops({"FloatMult": 5, "SimdFloatMult": 5, "FloatMultAcc": 9, "SimdFloatMultAcc": 9}),
        *ops({"FloatMisc": 1, "SimdFloatMisc": 1}),
        *dividers(integer=25, divide=14, root=18),  # assumed: a radix-16 divider
    ]


class Port1(FUDesc):
    count = 1  # uarch: nehalem/port_map
    opList = [
        *ops({"IntAlu": 1, "IntMult": 3}),  # uarch: nehalem/lat_imul
        *ops({**VECTOR, "SimdShift": 1, "SimdMult": 3, "SimdMultAcc": 3, "SimdReduceAdd": 3}),
        *ops({"FloatAdd": 3, "FloatCmp": 3, "SimdFloatAdd": 3, "SimdFloatCmp": 3, "SimdFloatAlu": 3}),
        *ops({"FloatCvt": 3, "SimdCvt": 3, "SimdFloatCvt": 3}),
    ]


class Port5(FUDesc):
    count = 1  # uarch: nehalem/port_map
    opList = [*ops({"IntAlu": 1, SHIFT: 1, **VECTOR, **VECTOR_ADD, "SimdExt": 1, "SimdMisc": 1, "SimdFloatExt": 1})]


class PortLoad(LoadPorts):
    count = 1  # uarch: nehalem/port_map


class PortStore(StorePorts):
    count = 1  # uarch: nehalem/port_map


class NehalemFUPool(FUPool):
    FUList = [Port5(), Port0(), Port1(), PortLoad(), PortStore(), PredALU(), IprPort()]


class NehalemBranchPredictor(LTAGE):
    btb = SimpleBTB(numEntries=4096)  # assumed: nehalem/btb says two levels, without numbers
    ras = ReturnAddrStack(numEntries=16)  # uarch: nehalem/btb


class NehalemCPU(X86O3CPU):
    fetchBufferSize = 16  # uarch: nehalem/fetch_bytes_per_cycle
    fetchWidth = 6  # assumed: the predecoder finds up to six instructions a cycle
    fetchToDecodeDelay = 10  # uarch: nehalem/branch_mispredict, calibrated: the stages that a new path goes through
    fetchQueueSize = 28  # uarch: nehalem/idq_size, the queue behind the decoders that loops run from
    decodeWidth = 4  # uarch: nehalem/decode_width
    renameWidth = 4  # uarch: nehalem/rename_width
    dispatchWidth = 4  # uarch: nehalem/rename_width
    issueWidth = 6  # uarch: nehalem/port_map, calibrated: six ports
    wbWidth = 6  # uarch: nehalem/port_map, calibrated: six ports
    commitWidth = 4  # uarch: nehalem/retire_width
    squashWidth = 128  # assumed: recovery does not walk
    numROBEntries = 128  # uarch: nehalem/rob_size
    numIQEntries = 36  # uarch: nehalem/scheduler_size
    numPhysIntRegs = 256  # uarch: nehalem/int_prf, calibrated: values live in the ROB, so registers never run out
    numPhysFloatRegs = 256  # uarch: nehalem/int_prf, calibrated: as numPhysIntRegs
    LQEntries = 48  # uarch: nehalem/load_queue
    SQEntries = 32  # uarch: nehalem/store_queue
    cacheLoadPorts = 1  # uarch: nehalem/tput_load
    cacheStorePorts = 1  # uarch: nehalem/tput_store
    fuPool = NehalemFUPool()
    branchPred = NehalemBranchPredictor()


class L1Cache(SiliconCache):
    size = "32KiB"  # uarch: nehalem/l1d_size_kb
    assoc = 8  # uarch: nehalem/l1d_assoc
    tag_latency = 3  # uarch: nehalem/l1d_latency, calibrated: with the core's own cycle, 4 to the use
    data_latency = 3  # uarch: nehalem/l1d_latency, calibrated: as tag_latency
    mshrs = 10  # uarch: nehalem/mshr_l1d
    write_buffers = 10  # uarch: nehalem/wc_buffers


class L1ICache(L1Cache):
    assoc = 4  # uarch: nehalem/l1i_assoc


class L2Cache(SiliconCache):
    size = "256KiB"  # uarch: nehalem/l2_size_kb
    assoc = 8  # uarch: nehalem/l2_assoc
    tag_latency = 2  # uarch: nehalem/l2_latency, calibrated: the first level and the bus add the rest
    data_latency = 4  # uarch: nehalem/l2_latency, calibrated: as tag_latency
    mshrs = 16  # assumed: Intel's superqueue
    write_buffers = 16  # assumed: as mshrs


class L3Cache(SiliconCache):
    size = "8MiB"  # uarch: nehalem/l3_size_kb
    assoc = 16  # uarch: nehalem/l3_assoc
    tag_latency = 14  # assumed: half of the data's
    data_latency = 28  # uarch: nehalem/l3_latency, calibrated: the levels before it add the rest
    mshrs = 12  # uarch: nehalem/dram_bw_single_core_gbps, calibrated: what one core has under way to memory
    write_buffers = 32  # assumed: as mshrs


class L2Bus(L2XBar):
    width = 32  # uarch: nehalem/l2_l1_bytes_per_cycle


class L3Bus(L2XBar):
    width = 32  # assumed: as between the levels before


class Memory(SimpleMemory):
    latency = "55ns"  # uarch: nehalem/dram_latency_ns, calibrated: the caches and buses on the way add the rest
    bandwidth = "24GiB/s"  # assumed: three quarters of three channels of DDR3-1333


def string_modes(bytes_per_cycle, byte_rate):
    """By count: a short way, one by element, and 16 bytes at a time. Single bytes have a longer start-up.

    A start-up's micro-ops need a computing port: they go three a cycle.
    """
    return [
        objects.X86StringMode(
            max_count=12,  # uarch: nehalem/rep_movs_startup
            min_element=2,  # uarch: nehalem/rep_movs_startup, calibrated: not single bytes
            startup_uops=48,  # uarch: nehalem/rep_movs_startup, calibrated: three a cycle; 20 cycles in all
        ),
        objects.X86StringMode(
            max_count=75,  # uarch: nehalem/rep_movs_startup, calibrated: below 76
            min_element=2,  # uarch: nehalem/rep_movs_startup, calibrated: not single bytes
            startup_uops=45,  # uarch: nehalem/rep_movs_startup, calibrated: 15 cycles
            block=0,  # uarch: nehalem/rep_movs_startup, calibrated: by element
            element_cycles=1,  # uarch: nehalem/rep_movs_startup
        ),
        fast_mode(bytes_per_cycle, min_element=2, startup_uops=120),  # uarch: nehalem/rep_movs_startup, calibrated: 40
        objects.X86StringMode(
            max_count=3,  # assumed: a few bytes are done one by one
            startup_uops=27,  # assumed: nine cycles
        ),
        fast_mode(byte_rate, min_element=1, startup_uops=150),  # assumed: ten cycles more than for words
        objects.X86StringMode(
            backwards=True,  # assumed: microcode by element
            block=0,  # assumed: microcode by element
            element_cycles=2,  # assumed: microcode by element
            element_uops=4,  # assumed: as element_cycles
            startup_uops=45,  # assumed: as the way by element going up
        ),
    ]


def fast_mode(bytes_per_cycle, **costs):
    """Lines of 16-byte pieces: four cycles a line, six where pieces are split.

    Lines written whole are read first, as other stores' are: Intel's manual of the time (Software Developer's Manual
    3A, order number 253668-032, 8.2.4) gives the way without that read to the P6 family, Pentium 4, Core and Core 2,
    not to this one.
    """
    return objects.X86StringMode(
        block=64,  # uarch: nehalem/line_bytes
        alignment=16,  # uarch: nehalem/rep_movs_fast_conditions
        bytes_per_cycle=bytes_per_cycle,
        bytes_per_cycle_misaligned=bytes_per_cycle * 4 / 6,  # uarch: nehalem/rep_movs_align_sensitivity
        bytes_per_cycle_crossed=bytes_per_cycle * 4 / 6,  # uarch: nehalem/rep_movs_align_sensitivity
        **costs,
    )


def microcode():
    """Micro-ops of the hardware in place of gem5's."""
    return objects.X86Microcode(
        gem5=False,  # assumed: hardware has its own
        micro_fusion=True,  # assumed: as every Intel core since the Pentium M
        fuse_cmp_test=True,  # assumed: since Core, in 64-bit mode since Nehalem
        split_stores=True,  # uarch: nehalem/port_map
        stack_engine=True,  # assumed: as micro_fusion
        zero_idioms=True,  # assumed: as micro_fusion
        flag_merge="stall",  # uarch: nehalem/partial_flag_stall
        flag_stall=2,  # uarch: nehalem/adc_dec_loop, calibrated: four such loops and partial_flag_stall
        first_decoder=True,  # uarch: nehalem/decode_width
        max_access=16,  # uarch: nehalem/tput_load
        instructions=[
            objects.X86Instruction(
                mnemonics=["adc", "sbb"],
                latency=2,  # uarch: nehalem/lat_adc
                uops=2,  # assumed: as pentium3/uops_adc_rr
            ),
            objects.X86Instruction(
                mnemonics=["mul"],
                latency=3,  # assumed: as imul; a micro-op a result
            ),
            objects.X86Instruction(mnemonics=["psadbw"], latency=3),  # uarch: nehalem/lat_psadbw
            objects.X86Instruction(
                mnemonics=["shl", "shr", "sar", "rol", "ror"],
                opClass=SHIFT,
                latency=1,  # uarch: nehalem/lat_shift
            ),
            *slow_loops(),
        ],
        rep_movs=string_modes(bytes_per_cycle=14.2, byte_rate=13.1),  # uarch: nehalem/rep_movs_bytes_per_cycle
        rep_stos=string_modes(bytes_per_cycle=15.4, byte_rate=15.4),  # uarch: nehalem/rep_stos_bytes_per_cycle
    )


def ours(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    hardware_core(cpu, microcode())
    cpu.loopBufferSize = 256  # assumed: the loop stream detector's 28 micro-ops, in bytes of code
    cpu.forwardLatency = 2  # uarch: nehalem/stlf_latency, calibrated: with the store's and the load's own cycles, 5
    cpu.partialForwardPolicy = "penalty"  # uarch: nehalem/stlf_fail_penalty
    cpu.forwardFailPenalty = 4  # uarch: nehalem/stlf_fail_penalty, calibrated: with the store's way to the cache, 11
    cpu.aliasCheckBits = 12  # uarch: nehalem/alias_4k
    cpu.aliasPenalty = 5  # uarch: nehalem/alias_4k
    cpu.misaligned.policy = "hardware"  # uarch: nehalem/unaligned_within_line
    cpu.misaligned.line_cross_load = 4  # uarch: nehalem/split_load_cost, calibrated: 4.5 are not whole
    cpu.misaligned.line_cross_store = 4  # uarch: nehalem/split_store_cost
    cpu.misaligned.split_slots = 3  # uarch: nehalem/split_load_cost, calibrated: a split every four to five cycles
    cpu.misaligned.page_cross_load = 20  # uarch: nehalem/page_cross_load
    cpu.misaligned.page_cross_store = 27  # uarch: nehalem/page_cross_store
    cpu.mmu.dtb.assoc = 4  # uarch: nehalem/dtlb_entries
    cpu.mmu.dtb.l2_size = 512  # uarch: nehalem/stlb_entries
    cpu.mmu.dtb.l2_assoc = 4  # uarch: nehalem/stlb_entries
    cpu.mmu.dtb.l2_latency = 6  # uarch: nehalem/stlb_hit_penalty
    walk_caches(cpu)  # assumed: as its relatives
    cpu.write_combining = objects.WriteCombiningBuffers(
        buffers=10,  # uarch: nehalem/wc_buffers
        posted=True,  # assumed: free when the uncore's queue has the line
    )
    isa = cpu.isa[0]
    without(isa, *SINCE_SANDY_BRIDGE)  # assumed: came later
    dcache.prefetcher = objects.NextLinePrefetcher()  # uarch: nehalem/prefetchers
    l2.prefetcher = streamer_and_pairs()  # uarch: nehalem/prefetchers


def board(name, clock, l3, memory, **options):
    """The machine with `l3` and `memory`; the CPU's parameters can still be changed at its root's `system.cpu`."""
    cpu = NehalemCPU(isa=[X86ISA(vendor_string="GenuineIntel", name_string=name)])
    cpu.mmu.itb.size = 128  # assumed: Intel's of the time
    cpu.mmu.dtb.size = 64  # uarch: nehalem/dtlb_entries
    dcache, l2 = L1Cache(), L2Cache()
    if has_extensions():
        ours(cpu, dcache, l2)
        memory.write_buffer_size = 16  # assumed: the write tracker of the uncore's global queue
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
