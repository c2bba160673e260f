"""gem5's own default in-order core: the configuration that gem5's reference cycles were measured on."""

from m5 import objects

from machines.constructors import IN_ORDER, L2, RISCV, constructor, machine_of
from machines.families import riscv
from machines.provenance import as_gem5

NAME = "minor"
DESCRIPTION = "gem5's default Minor: 2 GHz, dual issue, 32 kB L1, 256 kB L2, DDR3-1600; misaligned accesses in hardware"
ISA = "riscv"

REFERENCE = "reference configuration"
CLOCK = as_gem5("2GHz", REFERENCE)
MEMORY = as_gem5("512MB", REFERENCE)


class L1Cache(objects.Cache):
    size = as_gem5("32kB", REFERENCE)
    assoc = as_gem5(8, REFERENCE)
    tag_latency = data_latency = response_latency = as_gem5(2, REFERENCE)
    mshrs = as_gem5(10, REFERENCE)
    tgts_per_mshr = as_gem5(20, REFERENCE)


class L2Cache(objects.Cache):
    size = as_gem5("256kB", REFERENCE)
    assoc = as_gem5(8, REFERENCE)
    tag_latency = data_latency = response_latency = as_gem5(10, REFERENCE)
    mshrs = as_gem5(20, REFERENCE)
    tgts_per_mshr = as_gem5(12, REFERENCE)


def parts():
    """The reference configuration around a core; `timing`, `o3` and those of x86 have it, too."""
    return {"clock": CLOCK, "icache": L1Cache(), "dcache": L1Cache(), "l2": L2Cache()}


def board(cpu, **options):
    """A machine of gem5's core `cpu`."""
    return riscv.RiscvBoard(cpu=cpu, memory=riscv.dram(objects.DDR3_1600_8x8, MEMORY), **parts(), **options)


@constructor(*IN_ORDER, *L2, *RISCV)
def MinorBoard(**options):
    return board(objects.RiscvMinorCPU(), **options)


machine = machine_of(MinorBoard)
