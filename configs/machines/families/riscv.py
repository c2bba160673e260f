"""RISC-V machines: their board, and what the cores made in silicon share."""

from m5.objects import AddrRange, Cache, L2XBar, MemCtrl, PMAChecker, RiscvBareMetal, RiscvISA, SimpleMemory

from machines.families.board import MEMORY_SIZE, Board, parts, put, root, silicon
from machines.provenance import assumed, sourced

__all__ = ["MEMORY_SIZE", "RiscvBoard", "board_range", "memory", "put", "root", "silicon_board"]

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
    return SimpleMemory(range=board_range(size), latency=latency, bandwidth=bandwidth)


def dram(kind, size=MEMORY_SIZE):
    """DRAM of this kind behind its controller."""
    return MemCtrl(dram=kind(range=board_range(size)))


def silicon_board(cpu, clock, ours, memory, caches, buses=(), **options):
    """The board of a real core (see `parts`); `ours(board)`: what a real gem5 may lack."""
    return silicon(RiscvBoard(cpu=cpu, clock=clock, memory=memory, **parts(caches, buses), **options), ours)


class SiliconCache(Cache):
    response_latency = assumed(1, "fills pass through")


class OutOfOrderCache(SiliconCache):
    """A first level beside an out-of-order core."""

    tgts_per_mshr = assumed(16, "enough for one core")


class OutOfOrderICache(OutOfOrderCache):
    tag_latency = data_latency = assumed(1, "fetch is pipelined on the hardware")
    mshrs = assumed(2, "a line and the next one")
    is_read_only = assumed(True, "instruction side")


class InOrderCache(Cache):
    """A first level beside an in-order core."""

    response_latency = assumed(1, "as tag_latency")
    tgts_per_mshr = assumed(4, "enough for one core")


class InstructionCache(InOrderCache):
    tag_latency = data_latency = assumed(1, "a line every cycle keeps two instructions a cycle coming")
    mshrs = assumed(1, "one line fetch at a time")
    is_read_only = assumed(True, "instruction side")


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
