"""gem5's AtomicSimple: every instruction a cycle, memory without time; for running programs, not for measuring them."""

from m5.objects import DDR3_1600_8x8, RiscvAtomicSimpleCPU

from machines.constructors import RISCV, constructor, machine_of
from machines.families import riscv
from machines.provenance import as_gem5

NAME = "atomic"
DESCRIPTION = "gem5's AtomicSimple: 2 GHz, one instruction a cycle, no caches, memory without time"
ISA = "riscv"

CLOCK = as_gem5("2GHz", "reference configuration")
MEMORY = as_gem5("512MB", "reference configuration")


@constructor("clk_freq", *RISCV)
def AtomicBoard(**options):
    memory = riscv.dram(DDR3_1600_8x8, MEMORY)
    return riscv.RiscvBoard(cpu=RiscvAtomicSimpleCPU(), clock=CLOCK, memory=memory, **options)


machine = machine_of(AtomicBoard)
