"""gem5's own default out-of-order core: the configuration that gem5's reference cycles were measured on."""

from m5.objects import RiscvO3CPU
from minor import board
from riscv_board import root

NAME = "o3"
DESCRIPTION = "gem5's default O3: 2 GHz, 8-wide out-of-order, 192-entry ROB, the memory of `minor`"
ISA = "riscv"


def machine(**options):
    cpu = RiscvO3CPU()
    if hasattr(cpu, "gem5CompressedBranches"):
        cpu.gem5CompressedBranches = True  # gem5: what it does of itself
        cpu.gem5StoresJoinMisses = True  # gem5: the same
        cpu.gem5CreditReturns = True  # gem5: the same
        cpu.gem5PseudoOps = True  # gem5: the same
        cpu.gem5PortRetries = True  # gem5: the same
    return root(board(cpu, **options))
