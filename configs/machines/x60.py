"""SpacemiT X60 as in the K1 (Banana Pi BPI-F3): the C908's core with vectors of 256 bits and a datapath of 128.

The file of `c908` is used; what differs is here, and what is not published of the X60 is the C908's. Not modelled: that
two cores' clusters share a second level, and the matrix extension.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import RiscvISA

from machines.c908 import C908CPU, L2Cache, in_order_board
from machines.constructors import IN_ORDER, L2, MEMORY, RISCV, constructor, machine_of
from machines.provenance import assumed, sourced

NAME = "x60"
DESCRIPTION = "SpacemiT X60 (K1, Banana Pi BPI-F3, 1.6 GHz): dual-issue in-order, RVV 1.0 of 256 bits, 512 KiB L2"
ISA = "riscv"

CLOCK = sourced("1600MHz", "x60/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 17}  # cycles; what `breakeven machines show x60` measures


class X60L2Cache(L2Cache):
    size = sourced("512KiB", "x60/l2_size_kb")


@constructor(*IN_ORDER, *L2, *MEMORY, *RISCV)
def X60Board(**options):
    cpu = C908CPU(isa=[RiscvISA(enable_rvv=sourced(True, "x60/vlen"), vlen=sourced(256, "x60/vlen"))])
    datapath = sourced(128, "x60/dlen")
    return in_order_board(cpu, CLOCK, datapath, X60L2Cache(), assumed("120ns", "LPDDR4X-2666"), **options)


machine = machine_of(X60Board)
