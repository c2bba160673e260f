"""gem5's own default in-order core: the configuration that gem5's reference cycles were measured on."""

from m5.objects import Cache, DDR3_1600_8x8, MemCtrl, RiscvMinorCPU

from machines.constructors import IN_ORDER, L2, RISCV, constructor, machine_of
from machines.provenance import as_gem5
from machines.riscv_board import RiscvBoard, board_range

NAME = "minor"
DESCRIPTION = "gem5's default Minor: 2 GHz, dual issue, 32 kB L1, 256 kB L2, DDR3-1600; misaligned accesses in hardware"
ISA = "riscv"

CLOCK = as_gem5("2GHz", "reference configuration")
MEMORY = as_gem5("512MB", "reference configuration")


class L1Cache(Cache):
    size = as_gem5("32kB", "reference configuration")
    assoc = as_gem5(8, "reference configuration")
    tag_latency = as_gem5(2, "reference configuration")
    data_latency = as_gem5(2, "reference configuration")
    response_latency = as_gem5(2, "reference configuration")
    mshrs = as_gem5(10, "reference configuration")
    tgts_per_mshr = as_gem5(20, "reference configuration")


class L2Cache(Cache):
    size = as_gem5("256kB", "reference configuration")
    assoc = as_gem5(8, "reference configuration")
    tag_latency = as_gem5(10, "reference configuration")
    data_latency = as_gem5(10, "reference configuration")
    response_latency = as_gem5(10, "reference configuration")
    mshrs = as_gem5(20, "reference configuration")
    tgts_per_mshr = as_gem5(12, "reference configuration")


def board(cpu, **options):
    """The reference configuration around `cpu`; `timing` uses it too."""
    return RiscvBoard(
        cpu=cpu,
        clock=CLOCK,
        memory=MemCtrl(dram=DDR3_1600_8x8(range=board_range(MEMORY))),
        icache=L1Cache(),
        dcache=L1Cache(),
        l2=L2Cache(),
        **options,
    )


@constructor(*IN_ORDER, *L2, *RISCV)
def MinorBoard(**options):
    return board(RiscvMinorCPU(), **options)


machine = machine_of(MinorBoard)
