"""SpacemiT X100 as in the K3: four-wide, out-of-order, RVV 1.0 of 256 bits; its authors began from the open C910.

The file of `c910` is used; what differs is here. The ROB holds up to three micro-ops an entry: here 192 micro-ops.
Vectors are loaded 32 bytes a cycle and stored 16 (instructions timed on the board). Not modelled:
which micro-ops may share an entry of the ROB, its fusion, and its queues (here one of their joint size).

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5 import objects
from m5.objects import FUDesc, FUPool, IntALU, IprPort, OpDesc, PredALU, RiscvISA, SimpleMemory

from machines.c910 import (
    C910CPU,
    MEMORY_SIZE,
    C910BranchPredictor,
    C910FloatAdd,
    C910FloatMul,
    C910Vector,
    L1DCache,
    L1ICache,
    L2Bus,
    L2Cache,
)
from machines.constructors import (
    L2,
    MEMORY,
    OUT_OF_ORDER,
    RISCV,
    constructor,
    machine_of,
    without_gem5_traits,
)
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.riscv_board import RiscvBoard, board_range

NAME = "x100"
DESCRIPTION = "SpacemiT X100 (K3, 2.4 GHz): 4-wide out-of-order, RVV 1.0 of 256 bits, misaligned in hardware"
ISA = "riscv"

CLOCK = sourced("2400MHz", "x100/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 22}  # cycles; what `breakeven machines show x100` measures
LOADS = ("SimdUnitStrideLoad", "SimdUnitStrideMaskLoad", "SimdStridedLoad", "SimdIndexedLoad",
         "SimdUnitStrideFaultOnlyFirstLoad", "SimdWholeRegisterLoad")  # fmt: skip
STORES = ("SimdUnitStrideStore", "SimdUnitStrideMaskStore", "SimdStridedStore", "SimdIndexedStore",
          "SimdWholeRegisterStore")  # fmt: skip


class X100IntALU(IntALU):
    count = calibrated(3, "x100/port_map", "two ALUs and the branch unit, which gem5's classes do not tell apart")


class X100MulDiv(FUDesc):
    count = sourced(1, "x100/port_map")
    opList = [
        OpDesc(opClass="IntMult", opLat=sourced(3, "x100/lat_mul")),
        OpDesc(opClass="IntDiv", opLat=sourced(22, "x100/lat_div"), pipelined=assumed(False, "one divider")),
    ]


class X100Load(FUDesc):
    count = sourced(2, "x100/port_map")
    opList = [OpDesc(opClass=name) for name in ("MemRead", "FloatMemRead", *LOADS)]


class X100Store(FUDesc):
    count = calibrated(1, "x100/vec_store_bytes", "16 bytes a cycle")
    opList = [OpDesc(opClass=name) for name in ("MemWrite", "FloatMemWrite", *STORES)]


class X100FUPool(FUPool):
    FUList = [
        X100IntALU(),
        X100MulDiv(),
        C910FloatAdd(),
        C910FloatMul(),
        X100Load(),
        X100Store(),
        C910Vector(),
        PredALU(),
        IprPort(),
    ]


class X100CPU(C910CPU):
    fetchWidth = assumed(8, "32 bytes: wider than the C910's, by its authors")
    decodeWidth = sourced(4, "x100/decode_width")
    renameWidth = sourced(4, "x100/decode_width")
    dispatchWidth = sourced(4, "x100/decode_width")
    numROBEntries = sourced(192, "x100/rob_size")
    LQEntries = assumed(32, "twice the C910's; the queue that issues has 16")
    SQEntries = assumed(24, "as LQEntries")
    numPhysIntRegs = assumed(192, "no limit before the ROB")
    numPhysFloatRegs = assumed(192, "as numPhysIntRegs")
    cacheLoadPorts = calibrated(2, "x100/vec_load_bytes", "16 bytes each")
    cacheStorePorts = calibrated(1, "x100/vec_store_bytes", "16 bytes a cycle")
    fuPool = X100FUPool()
    branchPred = C910BranchPredictor()


class X100L1DCache(L1DCache):
    tag_latency = calibrated(2, "x100/lat_load_l1", "with the core's own cycle, 3 to the use")
    data_latency = calibrated(2, "x100/lat_load_l1", "as tag_latency")


class X100L2Cache(L2Cache):
    size = assumed("4MiB", "a cluster's share")
    tag_latency = assumed(8, "half of the data's")
    data_latency = assumed(16, "no source; less than the C910's, by its authors")


def ours(cpu, l2):
    """What a real gem5 cannot express: there, misaligned accesses are free but for crossing a line."""
    without_gem5_traits(cpu)
    cpu.misaligned.policy = assumed("hardware", "as the C910")
    cpu.misaligned.line_cross_load = assumed(1, "as the C910")
    cpu.misaligned.line_cross_store = assumed(1, "as the C910")
    cpu.misaligned.page_cross_load = assumed(10, "as the C910")
    cpu.misaligned.page_cross_store = assumed(10, "as the C910")
    cpu.mmu.dtb.l2_size = assumed(1024, "as the C910")
    cpu.mmu.dtb.l2_assoc = assumed(4, "four ways")
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    cpu.isa[0].dlen = sourced(128, "x100/dlen")
    cpu.isa[0].clmul_latency = sourced(2, "x100/lat_clmul")
    cpu.isa[0].strided_element_cycles = sourced(1, "x100/vec_strided_cycles")
    cpu.isa[0].indexed_element_cycles = assumed(1, "as strided_element_cycles")
    cpu.isa[0].whole_vector_groups = sourced(True, "x100/vl_dispatch")
    l2.prefetcher = objects.StreamPrefetcher()


@constructor(*OUT_OF_ORDER, *L2, *MEMORY, *RISCV, "prefetchers")
def X100Board(**options):
    cpu = X100CPU(isa=[RiscvISA(enable_rvv=sourced(True, "x100/vlen"), vlen=sourced(256, "x100/vlen"))])
    cpu.mmu.itb.size = assumed(32, "the instruction side's first level")
    cpu.mmu.dtb.size = assumed(32, "as the instruction side")
    l2 = X100L2Cache()
    extend(ours, cpu, l2)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=assumed("90ns", "LPDDR5"),
        bandwidth=assumed("8GiB/s", "one core of it"),
    )
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=X100L1DCache(),
        l2=l2,
        l2bus=L2Bus(),
        misaligned=assumed(True, "as the C910"),
        **options,
    )


machine = machine_of(X100Board)
