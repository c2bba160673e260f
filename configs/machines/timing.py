"""gem5's TimingSimple: one instruction at a time, every memory access waited for; no pipeline."""

from m5.objects import RiscvTimingSimpleCPU
from minor import board
from riscv_board import root

NAME = "timing"
DESCRIPTION = "gem5's TimingSimple: 2 GHz, one instruction at a time, the memory of `minor`"
ISA = "riscv"


def machine(**options):
    return root(board(RiscvTimingSimpleCPU(), **options))
