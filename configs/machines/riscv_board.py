"""The board that every RISC-V machine here sits on: one core, its caches, a memory bus and one memory.

Written in gem5's language: under a real gem5 the same script builds the same board.
"""

from m5.objects import (
    AddrRange,
    BadAddr,
    L2XBar,
    PMAChecker,
    RiscvBareMetal,
    Root,
    SrcClockDomain,
    System,
    SystemXBar,
    VoltageDomain,
)

#: where RISC-V boards have their memory
MEMORY_START = 0x80000000


class RiscvBoard(System):
    """One core on a memory bus.

    icache, dcache: first-level caches; both None: the core sits on the memory bus itself.
    l2, l3: further levels, each behind its own bus; None: the level before sits on the memory bus.
    memory: the controller or plain memory, made for the board's address range by the caller.
    misaligned: whether gem5's checker lets misaligned accesses to the memory pass (else they trap).
    """

    def __init__(
        self, cpu, clock, memory, icache=None, dcache=None, l2=None, l2bus=None, l3=None, l3bus=None, misaligned=True,
        bootloader=""
    ):  # fmt: skip
        super().__init__()
        self.clk_domain = SrcClockDomain(clock=clock, voltage_domain=VoltageDomain())
        self.mem_mode = type(cpu).memory_mode()
        self.cpu = cpu
        self.membus = SystemXBar()
        self.membus.badaddr_responder = BadAddr()
        self.membus.default = self.membus.badaddr_responder.pio

        inner = self.membus.cpu_side_ports
        if l3 is not None:
            self.l3bus = l3bus if l3bus is not None else L2XBar()
            self.l3 = l3
            self.l3.cpu_side = self.l3bus.mem_side_ports
            self.l3.mem_side = inner
            inner = self.l3bus.cpu_side_ports
        if l2 is not None:
            self.l2bus = l2bus if l2bus is not None else L2XBar()
            self.l2 = l2
            self.l2.cpu_side = self.l2bus.mem_side_ports
            self.l2.mem_side = inner
            inner = self.l2bus.cpu_side_ports
        for name, cache in (("icache", icache), ("dcache", dcache)):
            port = getattr(cpu, f"{name}_port")
            if cache is None:
                setattr(cpu, f"{name}_port", inner)
            else:
                setattr(cpu, name, cache)
                cache.cpu_side = port
                cache.mem_side = inner
        for tlb in (cpu.mmu.itb, cpu.mmu.dtb):
            tlb.walker.port = inner
        self.system_port = self.membus.cpu_side_ports

        self.mem_ctrl = memory
        self.mem_ctrl.port = self.membus.mem_side_ports
        self.mem_ranges = [memory_range(memory)]
        cpu.mmu.pma_checker = PMAChecker(misaligned=self.mem_ranges if misaligned else [])

        cpu.createInterruptController()
        cpu.createThreads()
        self.workload = RiscvBareMetal(bootloader=bootloader)


def board_range(size):
    """The board's memory, `size` bytes from `MEMORY_START`."""
    return AddrRange(MEMORY_START, size=size)


def memory_range(memory):
    """The addresses that a controller or a plain memory answers."""
    return memory.dram.range if hasattr(memory, "dram") else memory.range


def root(board):
    """The tree that `m5.instantiate()` takes."""
    return Root(full_system=True, system=board)
