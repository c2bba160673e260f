"""The board that every x86 machine here sits on: one core, its caches, a memory bus and one memory from address 0.

Written in gem5's language: under a real gem5 the same script builds the same board.
"""

from m5.objects import (
    AddrRange,
    BadAddr,
    L2XBar,
    Root,
    SrcClockDomain,
    System,
    SystemXBar,
    VoltageDomain,
    X86FsWorkload,
)


class X86Board(System):
    """One core on a memory bus.

    icache, dcache: first-level caches; both None: the core sits on the memory bus itself.
    l2, l3, l4: further levels, each behind its own bus; None: the level above sits on the next.
    memory: the controller or plain memory, made for the board's address range by the caller.
    """

    def __init__(self, cpu, clock, memory, icache=None, dcache=None, object_file="", **levels):
        super().__init__()
        self.clk_domain = SrcClockDomain(clock=clock, voltage_domain=VoltageDomain())
        self.mem_mode = type(cpu).memory_mode()
        self.cpu = cpu
        self.membus = SystemXBar()
        self.membus.badaddr_responder = BadAddr()
        self.membus.default = self.membus.badaddr_responder.pio

        inner = self.membus.cpu_side_ports
        for name in ("l4", "l3", "l2"):
            cache, bus = levels.pop(name, None), levels.pop(f"{name}bus", None)
            if cache is not None:
                bus = bus if bus is not None else L2XBar()
                setattr(self, f"{name}bus", bus)
                setattr(self, name, cache)
                cache.cpu_side = bus.mem_side_ports
                cache.mem_side = inner
                inner = bus.cpu_side_ports
        if levels:
            raise TypeError(f"X86Board: there is no part {', '.join(levels)}")
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
        cpu.createInterruptController()
        cpu.interrupts[0].pio = self.membus.mem_side_ports
        cpu.interrupts[0].int_requestor = self.membus.cpu_side_ports
        cpu.interrupts[0].int_responder = self.membus.mem_side_ports
        self.system_port = self.membus.cpu_side_ports

        self.mem_ctrl = memory
        self.mem_ctrl.port = self.membus.mem_side_ports
        self.mem_ranges = [memory.dram.range if hasattr(memory, "dram") else memory.range]
        cpu.createThreads()
        self.workload = X86FsWorkload(object_file=object_file)


def board_range(size):
    """The board's memory, `size` bytes from 0."""
    return AddrRange(0, size=size)


def root(board):
    """The tree that `m5.instantiate()` takes."""
    return Root(full_system=True, system=board)
