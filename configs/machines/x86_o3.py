"""gem5's own default out-of-order core with x86: the configuration that gem5's reference cycles were measured on."""

from m5.objects import X86O3CPU

from machines.constructors import L2, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import has_extensions
from machines.provenance import as_gem5
from machines.x86_minor import board

NAME = "x86_o3"
DESCRIPTION = "gem5's default O3, gem5's x86 micro-ops: 2 GHz, 8-wide, 192-entry ROB, one store at a time (TSO)"
ISA = "x86"
LOAD_TO_USE = {"L1": 3, "L2": 17}  # cycles; what `breakeven machines show x86_o3` measures


@constructor(*OUT_OF_ORDER, *L2, *X86)
def X86O3Board(**options):
    cpu = X86O3CPU()
    if has_extensions():
        cpu.gem5CreditReturns = as_gem5(True, "what it does of itself")
        cpu.gem5PseudoOps = as_gem5(True, "the same")
        cpu.gem5PortRetries = as_gem5(True, "the same")
    return board(cpu, **options)


machine = machine_of(X86O3Board)
