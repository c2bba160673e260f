"""RISC-V machines: their board, and what the cores made in silicon share."""

from m5 import objects
from m5.objects import AddrRange, L2XBar, PMAChecker, RiscvBareMetal, RiscvISA

from machines.families.board import MEMORY_SIZE, Board, SiliconCache, parts, put, root, silicon
from machines.provenance import assumed, sourced

__all__ = ["MEMORY_SIZE", "RiscvBoard", "SiliconCache", "board_range", "memory", "put", "root", "silicon_board"]

#: where RISC-V boards have their memory
MEMORY_START = 0x80000000


class RiscvBoard(Board):
    """A `Board`. misaligned: whether gem5's checker lets misaligned accesses to the memory pass (else they trap)."""

    def __init__(self, cpu, clock, memory, misaligned=True, bootloader="", **parts):
        super().__init__(cpu, clock, memory, **parts)
        cpu.mmu.pma_checker = PMAChecker(misaligned=self.mem_ranges if misaligned else [])
        cpu.createThreads()
        self.workload = RiscvBareMetal(bootloader=bootloader)


def board_range(size):
    """The board's memory, `size` bytes from `MEMORY_START`."""
    return AddrRange(MEMORY_START, size=size)


def memory(latency, bandwidth, size=MEMORY_SIZE):
    """A plain memory: `latency` of a read, bytes a second."""
    return objects.SimpleMemory(range=board_range(size), latency=latency, bandwidth=bandwidth)


def dram(kind, size=MEMORY_SIZE):
    """DRAM of this kind behind its controller."""
    return objects.MemCtrl(dram=kind(range=board_range(size)))


def silicon_board(cpu, clock, ours, memory, caches, buses=(), **options):
    """The board of a real core (see `parts`); `ours(board)`: what a real gem5 may lack."""
    return silicon(RiscvBoard(cpu=cpu, clock=clock, memory=memory, **parts(caches, buses), **options), ours)


class Bus(L2XBar):
    width = assumed(16, "16 bytes a cycle between the levels")


#: address generation, bits, products without carry, single bits
ZB = ("Zba", "Zbb", "Zbc", "Zbs")


def without_vectors(note):
    """An instruction set without RVV, and why."""
    return [RiscvISA(enable_rvv=assumed(False, note))]


def vectors(bits, row):
    """An instruction set with RVV 1.0 of registers of so many bits, by this row."""
    return [RiscvISA(**sourced({"enable_rvv": True, "vlen": bits}, row))]


def without(isa, *extensions, note):
    """Takes extensions of the instruction set away, and says why."""
    for name in extensions:
        setattr(isa, f"enable_{name}", assumed(False, note))
