"""gem5's own default in-order core with x86: the configuration that gem5's reference cycles were measured on."""

from m5 import objects

from machines.constructors import IN_ORDER, L2, X86, constructor, machine_of
from machines.families import x86
from machines.minor import MEMORY, parts

NAME = "x86_minor"
DESCRIPTION = "gem5's default Minor, gem5's x86 micro-ops: 2 GHz, dual issue, 32 kB L1, 256 kB L2, DDR3-1600"
ISA = "x86"


def board(cpu, **options):
    """A machine of gem5's core `cpu`; `x86_timing` and `x86_o3` use it, too."""
    return x86.X86Board(cpu=cpu, memory=x86.dram(objects.DDR3_1600_8x8, MEMORY), **parts(), **options)


@constructor(*IN_ORDER, *L2, *X86)
def X86MinorBoard(**options):
    return board(objects.X86MinorCPU(), **options)


machine = machine_of(X86MinorBoard)
