"""gem5's TimingSimple: one instruction at a time, every memory access waited for; no pipeline."""

from m5.objects import RiscvTimingSimpleCPU

from machines.constructors import L2, RISCV, constructor, machine_of
from machines.minor import board

NAME = "timing"
DESCRIPTION = "gem5's TimingSimple: 2 GHz, one instruction at a time, the memory of `minor`"
ISA = "riscv"


@constructor("clk_freq", "misaligned", *L2, *RISCV)
def TimingBoard(**options):
    return board(RiscvTimingSimpleCPU(), **options)


machine = machine_of(TimingBoard)
