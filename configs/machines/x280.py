"""SiFive X280 as in Tenstorrent's Blackhole: the U7 core with a vector unit of 512-bit registers, 256 bits a cycle.

The file of `u74` is used; what differs is here, and what is not published of the X280 is the U74's. The unit works by
vl: the part of a group beyond it takes no time. Not modelled: the queue between core and vector unit, vector accesses
that go past the first level, loads beside stores, and that segment loads and comparisons do not chain.
"""

from machines import c908, u74
from machines.constructors import IN_ORDER, L2, MEMORY, RISCV, constructor, machine_of
from machines.families import inorder, riscv
from machines.families.inorder import pool, unit
from machines.provenance import assumed, calibrated, rows_of

NAME = "x280"
DESCRIPTION = "SiFive X280 (Tenstorrent Blackhole, 1.75 GHz): dual-issue in-order, RVV 1.0 of 512 bits, 256 a cycle"
ISA = "riscv"

row = rows_of("x280")
CLOCK = row(clock_mhz="1750MHz")
LOAD_TO_USE = {"L1": 3, "L2": 25}  # cycles; what `breakeven machines show x280` measures

#: vsetvli and its kin: hardly any cost, by rvv-bench's author
CONFIG = unit("X280ConfigFU", inorder.MISC, "SimdConfig", opLat=assumed(1, "as integer arithmetic"))
VECTOR_LATENCY = calibrated(6, "x280/lat_vector", "a source may come 2 cycles before its due time")
VECTOR = unit("X280VectorFU", inorder.FLOAT, opLat=VECTOR_LATENCY)


class X280CPU(u74.U74CPU):
    executeMaxAccessesInMemory = assumed(4, "a vector's lines miss together")
    executeFuncUnits = pool(
        *(u74.INT, u74.INT, CONFIG, u74.MUL, u74.DIV, VECTOR),
        *(inorder.PREDICATES, u74.LOAD, u74.STORE, c908.VECTOR_MEM, inorder.MISC),
    )


class L1DCache(u74.L1DCache):
    mshrs = assumed(4, "as executeMaxAccessesInMemory")
    tgts_per_mshr = assumed(8, "pieces of a vector that miss together")


def ours(board):
    """What a real gem5 cannot express; there, the board's empty PMA range makes misaligned accesses trap."""
    u74.u7(board)
    board.cpu.misaligned.policy = assumed("trap", "as the U74: scalar words only, vectors go by elements")
    isa = board.cpu.isa[0]
    riscv.without(isa, "Zbc", note="not among what its profile demands")
    riscv.without(isa, "Zicond", note="younger than the core")
    isa.dlen = row(dlen=256)
    isa.short_vector_groups, isa.vector_chaining = row(vl_dispatch=True, chaining="beat")
    isa.vector_startup_cycles = calibrated(0, "x280/vec_arith_cycles", "beats alone make up what it takes")
    isa.strided_element_cycles, isa.indexed_element_cycles = row(vec_strided_cycles=1, vec_indexed_cycles=1)
    isa.segment_element_cycles = row(vec_segment_cycles=1)


@constructor(*IN_ORDER, *L2, *MEMORY, *RISCV)
def X280Board(**options):
    cpu = X280CPU(isa=riscv.vectors(512, "x280/vlen"))
    l2 = u74.L2Cache(size=assumed("256KiB", "private; its size in this chip is not published"))
    memory = riscv.memory(assumed("150ns", "GDDR6 behind a mesh"), assumed("8GiB/s", "one core of it"))
    caches = (u74.L1ICache(), L1DCache(), l2)
    buses = (riscv.Bus(),)
    return riscv.silicon_board(cpu, CLOCK, ours, memory, caches, buses, misaligned=False, **options)


machine = machine_of(X280Board)
