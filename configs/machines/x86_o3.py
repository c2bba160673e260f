"""gem5's own default out-of-order core with x86: the configuration that gem5's reference cycles were measured on."""

from m5.objects import X86O3CPU
from x86_board import root
from x86_minor import board

NAME = "x86_o3"
DESCRIPTION = "gem5's default O3, gem5's x86 micro-ops: 2 GHz, 8-wide, 192-entry ROB, one store at a time (TSO)"
ISA = "x86"


def machine(**options):
    cpu = X86O3CPU()
    if hasattr(cpu, "gem5CreditReturns"):
        cpu.gem5CreditReturns = True  # gem5: what it does of itself
        cpu.gem5PseudoOps = True  # gem5: the same
        cpu.gem5PortRetries = True  # gem5: the same
    return root(board(cpu, **options))
