"""gem5's TimingSimple: one instruction at a time, every memory access waited for; no pipeline."""

from m5.objects import X86TimingSimpleCPU
from x86_board import root
from x86_minor import board

NAME = "x86_timing"
DESCRIPTION = "gem5's TimingSimple, gem5's x86 micro-ops: 2 GHz, one instruction at a time, the memory of `x86_minor`"
ISA = "x86"


def machine(**options):
    return root(board(X86TimingSimpleCPU(), **options))
