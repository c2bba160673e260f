"""gem5's own default out-of-order core: the configuration that gem5's reference cycles were measured on."""

from m5.objects import RiscvO3CPU

from machines.constructors import L2, OUT_OF_ORDER, RISCV, constructor, machine_of
from machines.extensions import has_extensions
from machines.minor import board
from machines.provenance import as_gem5

NAME = "o3"
DESCRIPTION = "gem5's default O3: 2 GHz, 8-wide out-of-order, 192-entry ROB, the memory of `minor`"
ISA = "riscv"
LOAD_TO_USE = {"L1": 3, "L2": 17}  # cycles; what `breakeven machines show o3` measures


@constructor(*OUT_OF_ORDER, *L2, *RISCV)
def O3Board(**options):
    cpu = RiscvO3CPU()
    if has_extensions():
        cpu.gem5CompressedBranches = as_gem5(True, "what it does of itself")
        cpu.gem5StoresJoinMisses = as_gem5(True, "the same")
        cpu.gem5CreditReturns = as_gem5(True, "the same")
        cpu.gem5PseudoOps = as_gem5(True, "the same")
        cpu.gem5PortRetries = as_gem5(True, "the same")
    return board(cpu, **options)


machine = machine_of(O3Board)
