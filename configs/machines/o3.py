"""gem5's own default out-of-order core: the configuration that gem5's reference cycles were measured on."""

from constructors import L2, OUT_OF_ORDER, RISCV, constructor, has_extensions, machine_of
from m5.objects import RiscvO3CPU
from minor import board

NAME = "o3"
DESCRIPTION = "gem5's default O3: 2 GHz, 8-wide out-of-order, 192-entry ROB, the memory of `minor`"
ISA = "riscv"
LOAD_TO_USE = {"L1": 3, "L2": 17}  # cycles; what `breakeven machines show o3` measures


@constructor(*OUT_OF_ORDER, *L2, *RISCV)
def O3Board(**options):
    cpu = RiscvO3CPU()
    if has_extensions():
        cpu.gem5CompressedBranches = True  # gem5: what it does of itself
        cpu.gem5StoresJoinMisses = True  # gem5: the same
        cpu.gem5CreditReturns = True  # gem5: the same
        cpu.gem5PseudoOps = True  # gem5: the same
        cpu.gem5PortRetries = True  # gem5: the same
    return board(cpu, **options)


machine = machine_of(O3Board)
