"""gem5's own default in-order core with x86: the configuration that gem5's reference cycles were measured on."""

from m5.objects import DDR3_1600_8x8, MemCtrl, X86MinorCPU

from machines.constructors import IN_ORDER, L2, X86, constructor, machine_of
from machines.minor import CLOCK, MEMORY, L1Cache, L2Cache
from machines.x86_board import X86Board, board_range

NAME = "x86_minor"
DESCRIPTION = "gem5's default Minor, gem5's x86 micro-ops: 2 GHz, dual issue, 32 kB L1, 256 kB L2, DDR3-1600"
ISA = "x86"


def board(cpu, **options):
    """The reference configuration around `cpu`; `x86_timing` and `x86_o3` use it too."""
    return X86Board(
        cpu=cpu,
        clock=CLOCK,
        memory=MemCtrl(dram=DDR3_1600_8x8(range=board_range(MEMORY))),
        icache=L1Cache(),
        dcache=L1Cache(),
        l2=L2Cache(),
        **options,
    )


@constructor(*IN_ORDER, *L2, *X86)
def X86MinorBoard(**options):
    return board(X86MinorCPU(), **options)


machine = machine_of(X86MinorBoard)
