"""SiFive X280 as in Tenstorrent's Blackhole: the U7 core with a vector unit of 512-bit registers, 256 bits a cycle.

The file of `u74` is used; what differs is here, and what is not published of the X280 is the U74's. The unit works by
vl: the part of a group beyond it takes no time. Not modelled: the queue between core and vector unit, vector accesses
that go past the first level, loads beside stores, and that segment loads and comparisons do not chain.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import (
    L2XBar,
    MinorDefaultFloatSimdFU,
    MinorDefaultMiscFU,
    MinorDefaultPredFU,
    MinorFUPool,
    RiscvISA,
    SimpleMemory,
)

from machines.c908 import C908VectorMemFU, op_classes
from machines.constructors import (
    IN_ORDER,
    L2,
    MEMORY,
    RISCV,
    constructor,
    machine_of,
    without_gem5_traits,
)
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.riscv_board import RiscvBoard, board_range
from machines.u74 import (
    MEMORY_SIZE,
    U74CPU,
    L1DCache,
    L1ICache,
    L2Cache,
    U74DivFU,
    U74IntFU,
    U74LoadFU,
    U74MulFU,
    U74StoreFU,
)

NAME = "x280"
DESCRIPTION = "SiFive X280 (Tenstorrent Blackhole, 1.75 GHz): dual-issue in-order, RVV 1.0 of 512 bits, 256 a cycle"
ISA = "riscv"

CLOCK = sourced("1750MHz", "x280/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 25}  # cycles; what `breakeven machines show x280` measures


class X280ConfigFU(MinorDefaultMiscFU):
    """vsetvli and its kin: hardly any cost, by rvv-bench's author."""

    opClasses = op_classes("SimdConfig")
    opLat = assumed(1, "as integer arithmetic")


class X280VectorFU(MinorDefaultFloatSimdFU):
    opLat = calibrated(6, "x280/lat_vector", "a source may come 2 cycles before its due time")


class X280FUPool(MinorFUPool):
    funcUnits = [
        U74IntFU(),
        U74IntFU(),
        X280ConfigFU(),
        U74MulFU(),
        U74DivFU(),
        X280VectorFU(),
        MinorDefaultPredFU(),
        U74LoadFU(),
        U74StoreFU(),
        C908VectorMemFU(),
        MinorDefaultMiscFU(),
    ]


class X280CPU(U74CPU):
    executeFuncUnits = X280FUPool()
    executeMaxAccessesInMemory = assumed(4, "a vector's lines miss together")


class X280L1DCache(L1DCache):
    mshrs = assumed(4, "as executeMaxAccessesInMemory")
    tgts_per_mshr = assumed(8, "pieces of a vector that miss together")


class X280L2Cache(L2Cache):
    size = assumed("256KiB", "private; its size in this chip is not published")


class L2Bus(L2XBar):
    width = assumed(16, "16 bytes a cycle between the levels")


def ours(cpu, l2):
    """What a real gem5 cannot express; there, the board's empty PMA range makes misaligned accesses trap."""
    without_gem5_traits(cpu)
    cpu.misaligned.policy = assumed("trap", "as the U74: scalar words only, vectors go by elements")
    cpu.isa[0].enable_Zbc = assumed(False, "not among what its profile demands")
    cpu.isa[0].enable_Zicond = assumed(False, "younger than the core")
    cpu.mmu.dtb.l2_size = sourced(512, "u74/stlb_entries")
    cpu.mmu.dtb.l2_assoc = sourced(4, "u74/stlb_entries")
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    cpu.isa[0].dlen = sourced(256, "x280/dlen")
    cpu.isa[0].short_vector_groups = sourced(True, "x280/vl_dispatch")
    cpu.isa[0].vector_chaining = sourced("beat", "x280/chaining")
    cpu.isa[0].vector_startup_cycles = calibrated(0, "x280/vec_arith_cycles", "beats alone make up what it takes")
    cpu.isa[0].strided_element_cycles = sourced(1, "x280/vec_strided_cycles")
    cpu.isa[0].indexed_element_cycles = sourced(1, "x280/vec_indexed_cycles")
    cpu.isa[0].segment_element_cycles = sourced(1, "x280/vec_segment_cycles")
    l2.replacement_policy.any_way = sourced(True, "u74/l2_replacement")


@constructor(*IN_ORDER, *L2, *MEMORY, *RISCV)
def X280Board(**options):
    cpu = X280CPU(isa=[RiscvISA(enable_rvv=sourced(True, "x280/vlen"), vlen=sourced(512, "x280/vlen"))])
    l2 = X280L2Cache()
    cpu.mmu.itb.size = assumed(32, "as the data side")
    cpu.mmu.dtb.size = sourced(32, "u74/dtlb_entries")
    extend(ours, cpu, l2)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=assumed("150ns", "GDDR6 behind a mesh"),
        bandwidth=assumed("8GiB/s", "one core of it"),
    )
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=X280L1DCache(),
        l2=l2,
        l2bus=L2Bus(),
        misaligned=assumed(False, "as the U74"),
        **options,
    )


machine = machine_of(X280Board)
