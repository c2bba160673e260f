"""gem5's AtomicSimple: every instruction a cycle, memory without time; for running programs, not for measuring them."""

from constructors import X86, constructor, machine_of
from m5.objects import DDR3_1600_8x8, MemCtrl, X86AtomicSimpleCPU
from x86_board import X86Board, board_range

NAME = "x86_atomic"
DESCRIPTION = "gem5's AtomicSimple: 2 GHz, one instruction a cycle, no caches, memory without time"
ISA = "x86"

CLOCK = "2GHz"  # gem5: reference configuration
MEMORY = "512MB"  # gem5: reference configuration


@constructor("clk_freq", *X86)
def X86AtomicBoard(**options):
    memory = MemCtrl(dram=DDR3_1600_8x8(range=board_range(MEMORY)))
    return X86Board(cpu=X86AtomicSimpleCPU(), clock=CLOCK, memory=memory, **options)


machine = machine_of(X86AtomicBoard)
