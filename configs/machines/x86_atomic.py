"""gem5's AtomicSimple: every instruction a cycle, memory without time; for running programs, not for measuring them."""

from m5.objects import DDR3_1600_8x8, MemCtrl, X86AtomicSimpleCPU

from machines.constructors import X86, constructor, machine_of
from machines.provenance import as_gem5
from machines.x86_board import X86Board, board_range

NAME = "x86_atomic"
DESCRIPTION = "gem5's AtomicSimple: 2 GHz, one instruction a cycle, no caches, memory without time"
ISA = "x86"

CLOCK = as_gem5("2GHz", "reference configuration")
MEMORY = as_gem5("512MB", "reference configuration")


@constructor("clk_freq", *X86)
def X86AtomicBoard(**options):
    memory = MemCtrl(dram=DDR3_1600_8x8(range=board_range(MEMORY)))
    return X86Board(cpu=X86AtomicSimpleCPU(), clock=CLOCK, memory=memory, **options)


machine = machine_of(X86AtomicBoard)
