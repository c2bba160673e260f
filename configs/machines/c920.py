"""T-Head XuanTie C920 as in the SG2044 (its second version): the C910 with RVV 1.0 of 128 bits, and a third level.

The file of `c910` is used; what differs is here: the vector unit, more extensions, a server's caches. A vector load or
store takes the one pipe of its kind, 16 bytes a cycle, and the time of its whole register group. The first version (of
the SG2042) has the vectors of draft 0.7.1, which no program here uses. Not modelled, beside what is not there either:
that four cores share the second level, and all 64 the third.
"""

from machines import c910
from machines.constructors import L3, MEMORY, OUT_OF_ORDER, RISCV, constructor, machine_of
from machines.families import riscv
from machines.families.outoforder import pool, unit
from machines.provenance import assumed, rows_of

NAME = "c920"
DESCRIPTION = "T-Head C920 (SG2044, 2.6 GHz): C910's 3-wide out-of-order core, RVV 1.0 of 128 bits, 2 MiB L2, 64 MiB L3"
ISA = "riscv"

row = rows_of("c920")
CLOCK = row(clock_mhz="2600MHz")
LOAD_TO_USE = {"L1": 3, "L2": 60, "L3": 134}  # cycles; what `breakeven machines show c920` measures


class C920CPU(c910.C910CPU):
    fuPool = pool(
        *(*c910.INTEGER, *c910.FLOATS),
        unit("C920Load", c910.ONE, {"loads": 1, "vector loads": 1}),
        unit("C920Store", c910.ONE, {"stores": 1, "vector stores": 1}),
        c910.VECTOR,
    )


class L3Cache(c910.L2Cache):
    size = row(l3_size_kb="64MiB")
    tag_latency = assumed(50, "half of the data's")
    data_latency = assumed(100, "no source: a mesh of 64 cores")
    mshrs = write_buffers = assumed(32, "twice the second level's")


def ours(board):
    """What a real gem5 cannot express, beside the C910's."""
    c910.ours(board)
    isa = board.cpu.isa[0]
    for name in (*riscv.ZB, "Zicond"):
        setattr(isa, f"enable_{name}", row(extensions=True))
    isa.dlen, isa.whole_vector_groups = row(dlen=128, vl_dispatch=True)
    board.cpu.mmu.itb.size = assumed(32, "as the C910")
    board.cpu.mmu.dtb.size = assumed(17, "as the C910")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *RISCV, "prefetchers")
def C920Board(**options):
    cpu = C920CPU(isa=riscv.vectors(128, "c920/vlen"))
    l2 = c910.L2Cache(size=row(l2_size_kb="2MiB"))
    latency = assumed("100ns", "DDR5 of a server, behind three levels")
    memory = riscv.memory(latency, assumed("8GiB/s", "one core of it"))
    caches = (c910.L1ICache(), c910.L1DCache(), l2, L3Cache())
    buses = (riscv.Bus(), riscv.Bus())
    return riscv.silicon_board(cpu, CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(C920Board)
