"""gem5's TimingSimple: one instruction at a time, every memory access waited for; no pipeline."""

from m5.objects import X86TimingSimpleCPU

from machines.constructors import L2, X86, constructor, machine_of
from machines.x86_minor import board

NAME = "x86_timing"
DESCRIPTION = "gem5's TimingSimple, gem5's x86 micro-ops: 2 GHz, one instruction at a time, the memory of `x86_minor`"
ISA = "x86"


@constructor("clk_freq", "misaligned", *L2, *X86)
def X86TimingBoard(**options):
    return board(X86TimingSimpleCPU(), **options)


machine = machine_of(X86TimingBoard)
