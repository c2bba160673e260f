"""SpacemiT X60 as in the K1 (Banana Pi BPI-F3): the C908's core with vectors of 256 bits and a datapath of 128.

The file of `c908` is used; what differs is here, and what is not published of the X60 is the C908's. Not modelled: that
two cores' clusters share a second level, and the matrix extension.
"""

from machines import c908
from machines.constructors import IN_ORDER, L2, MEMORY, RISCV, constructor, machine_of
from machines.families import riscv
from machines.provenance import assumed, rows_of

NAME = "x60"
DESCRIPTION = "SpacemiT X60 (K1, Banana Pi BPI-F3, 1.6 GHz): dual-issue in-order, RVV 1.0 of 256 bits, 512 KiB L2"
ISA = "riscv"

row = rows_of("x60")
CLOCK = row(clock_mhz="1600MHz")
LOAD_TO_USE = {"L1": 3, "L2": 17}  # cycles; what `breakeven machines show x60` measures


@constructor(*IN_ORDER, *L2, *MEMORY, *RISCV)
def X60Board(**options):
    vectors, datapath = riscv.vectors(256, "x60/vlen"), row(dlen=128)
    l2 = c908.L2Cache(size=row(l2_size_kb="512KiB"))
    return c908.c908_board(CLOCK, vectors, datapath, l2, assumed("120ns", "LPDDR4X-2666"), **options)


machine = machine_of(X60Board)
