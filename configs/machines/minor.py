"""gem5's own default in-order core: the configuration that gem5's reference cycles were measured on."""

from constructors import IN_ORDER, L2, RISCV, constructor, machine_of
from m5.objects import Cache, DDR3_1600_8x8, MemCtrl, RiscvMinorCPU
from riscv_board import RiscvBoard, board_range

NAME = "minor"
DESCRIPTION = "gem5's default Minor: 2 GHz, dual issue, 32 kB L1, 256 kB L2, DDR3-1600; misaligned accesses in hardware"
ISA = "riscv"

CLOCK = "2GHz"  # gem5: reference configuration
MEMORY = "512MB"  # gem5: reference configuration


class L1Cache(Cache):
    size = "32kB"  # gem5: reference configuration
    assoc = 8  # gem5: reference configuration
    tag_latency = 2  # gem5: reference configuration
    data_latency = 2  # gem5: reference configuration
    response_latency = 2  # gem5: reference configuration
    mshrs = 10  # gem5: reference configuration
    tgts_per_mshr = 20  # gem5: reference configuration


class L2Cache(Cache):
    size = "256kB"  # gem5: reference configuration
    assoc = 8  # gem5: reference configuration
    tag_latency = 10  # gem5: reference configuration
    data_latency = 10  # gem5: reference configuration
    response_latency = 10  # gem5: reference configuration
    mshrs = 20  # gem5: reference configuration
    tgts_per_mshr = 12  # gem5: reference configuration


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
