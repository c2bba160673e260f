"""gem5's AtomicSimple: every instruction a cycle, memory without time; for running programs, not for measuring them."""

from m5.objects import DDR3_1600_8x8, X86AtomicSimpleCPU

from machines.constructors import X86, constructor, machine_of
from machines.families import x86
from machines.provenance import as_gem5

NAME = "x86_atomic"
DESCRIPTION = "gem5's AtomicSimple: 2 GHz, one instruction a cycle, no caches, memory without time"
ISA = "x86"

CLOCK = as_gem5("2GHz", "reference configuration")
MEMORY = as_gem5("512MB", "reference configuration")


@constructor("clk_freq", *X86)
def X86AtomicBoard(**options):
    memory = x86.dram(DDR3_1600_8x8, MEMORY)
    return x86.X86Board(cpu=X86AtomicSimpleCPU(), clock=CLOCK, memory=memory, **options)


machine = machine_of(X86AtomicBoard)
