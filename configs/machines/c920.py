"""T-Head XuanTie C920 as in the SG2044 (its second version): the C910 with RVV 1.0 of 128 bits, and a third level.

The file of `c910` is used; what differs is here: the vector unit, more extensions, a server's caches. A vector load or
store takes the one pipe of its kind, 16 bytes a cycle, and the time of its whole register group. The first version (of
the SG2042) has the vectors of draft 0.7.1, which no program here uses. Not modelled, beside what is not there either:
that four cores share the second level, and all 64 the third.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import FUPool, IprPort, OpDesc, PredALU, RiscvISA, SimpleMemory

from machines.c910 import (
    C910CPU,
    MEMORY_SIZE,
    C910FloatAdd,
    C910FloatMul,
    C910IntALU,
    C910Load,
    C910MulDiv,
    C910Store,
    C910Vector,
    L1DCache,
    L1ICache,
    L2Bus,
    L2Cache,
    ours,
)
from machines.constructors import L3, MEMORY, OUT_OF_ORDER, RISCV, constructor, machine_of
from machines.extensions import extend
from machines.provenance import assumed, sourced
from machines.riscv_board import RiscvBoard, board_range
from machines.x100 import LOADS, STORES

NAME = "c920"
DESCRIPTION = "T-Head C920 (SG2044, 2.6 GHz): C910's 3-wide out-of-order core, RVV 1.0 of 128 bits, 2 MiB L2, 64 MiB L3"
ISA = "riscv"

CLOCK = sourced("2600MHz", "c920/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 60, "L3": 134}  # cycles; what `breakeven machines show c920` measures


class C920Load(C910Load):
    opList = [*C910Load.opList, *(OpDesc(opClass=name) for name in LOADS)]


class C920Store(C910Store):
    opList = [*C910Store.opList, *(OpDesc(opClass=name) for name in STORES)]


class C920FUPool(FUPool):
    FUList = [
        *(C910IntALU(), C910MulDiv(), C910FloatAdd(), C910FloatMul(), C920Load(), C920Store(), C910Vector()),
        *(PredALU(), IprPort()),
    ]


class C920CPU(C910CPU):
    fuPool = C920FUPool()


class C920L2Cache(L2Cache):
    size = sourced("2MiB", "c920/l2_size_kb")


class L3Cache(L2Cache):
    size = sourced("64MiB", "c920/l3_size_kb")
    tag_latency = assumed(50, "half of the data's")
    data_latency = assumed(100, "no source: a mesh of 64 cores")
    mshrs = assumed(32, "twice the second level's")
    write_buffers = assumed(32, "as mshrs")


def c920s(cpu, l2):
    """What a real gem5 cannot express, beside the C910's."""
    ours(cpu, l2)
    isa = cpu.isa[0]
    for name in ("Zba", "Zbb", "Zbc", "Zbs", "Zicond"):
        setattr(isa, f"enable_{name}", sourced(True, "c920/extensions"))
    isa.dlen = sourced(128, "c920/dlen")
    isa.whole_vector_groups = sourced(True, "c920/vl_dispatch")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *RISCV, "prefetchers")
def C920Board(**options):
    cpu = C920CPU(isa=[RiscvISA(enable_rvv=sourced(True, "c920/vlen"), vlen=sourced(128, "c920/vlen"))])
    cpu.mmu.itb.size = assumed(32, "as the C910")
    cpu.mmu.dtb.size = assumed(17, "as the C910")
    l2 = C920L2Cache()
    extend(c920s, cpu, l2)
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=assumed("100ns", "DDR5 of a server, behind three levels"),
        bandwidth=assumed("8GiB/s", "one core of it"),
    )
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=memory,
        icache=L1ICache(),
        dcache=L1DCache(),
        l2=l2,
        l2bus=L2Bus(),
        l3=L3Cache(),
        l3bus=L2Bus(),
        misaligned=sourced(True, "c910/unaligned_within_line"),
        **options,
    )


machine = machine_of(C920Board)
