"""gem5's AtomicSimple: every instruction a cycle, memory without time; for running programs, not for measuring them."""

from m5.objects import DDR3_1600_8x8, MemCtrl, RiscvAtomicSimpleCPU

from machines.constructors import RISCV, constructor, machine_of
from machines.provenance import as_gem5
from machines.riscv_board import RiscvBoard, board_range

NAME = "atomic"
DESCRIPTION = "gem5's AtomicSimple: 2 GHz, one instruction a cycle, no caches, memory without time"
ISA = "riscv"

CLOCK = as_gem5("2GHz", "reference configuration")
MEMORY = as_gem5("512MB", "reference configuration")


@constructor("clk_freq", *RISCV)
def AtomicBoard(**options):
    memory = MemCtrl(dram=DDR3_1600_8x8(range=board_range(MEMORY)))
    return RiscvBoard(cpu=RiscvAtomicSimpleCPU(), clock=CLOCK, memory=memory, **options)


machine = machine_of(AtomicBoard)
