"""The board that every machine here sits on: one core, its caches, a memory bus and one memory.

Written in gem5's language: under a real gem5 the same script builds the same board.
"""

from m5.objects import BadAddr, Cache, L2XBar, Root, SrcClockDomain, System, SystemXBar, VoltageDomain

from machines.constructors import without_gem5_traits
from machines.extensions import extend
from machines.provenance import assumed

MEMORY_SIZE = assumed("512MiB", "what the guests need")


class Board(System):
    """One core on a memory bus.

    icache, dcache: first-level caches; both None: the core sits on the memory bus itself.
    l2, l3, l4: further levels, each behind its own bus (l2bus, ...); None: the level above sits on the next.
    memory: the controller or plain memory, made for the board's address range by the caller.
    """

    def __init__(self, cpu, clock, memory, icache=None, dcache=None, **levels):
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
            raise TypeError(f"{type(self).__name__}: there is no part {', '.join(levels)}")
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
        self.join_interrupts()
        self.system_port = self.membus.cpu_side_ports

        self.mem_ctrl = memory
        self.mem_ctrl.port = self.membus.mem_side_ports
        self.mem_ranges = [memory.dram.range if hasattr(memory, "dram") else memory.range]

    def join_interrupts(self):
        """Joins the ports of the interrupt controller, where it has some."""


class SiliconCache(Cache):
    response_latency = assumed(1, "fills pass through")
    tgts_per_mshr = assumed(16, "enough for one core")


def parts(caches, buses):
    """The parts of a `Board`: `caches` of instructions and data, then the further levels; `buses`: to each of these."""
    icache, dcache, *levels = caches
    return {
        "icache": icache,
        "dcache": dcache,
        **{f"l{level}": cache for level, cache in enumerate(levels, 2)},
        **{f"l{level}bus": bus for level, bus in enumerate(buses, 2)},
    }


def silicon(board, ours):
    """The board of a real processor: without what only gem5's core does, and with `ours(board)`.

    `ours` sets what this engine has; a real gem5 takes of it the parameters that it has.
    """

    def all_of_it(board):
        without_gem5_traits(board.cpu)
        ours(board)

    extend(all_of_it, board)
    return board


def put(part, *tables, **values):
    """Sets several parameters of `part`; `tables`: those whose values have one source, `sourced({...}, row)`."""
    for table in (*tables, values):
        for name, value in table.items():
            setattr(part, name, value)


def root(board):
    """The tree that `m5.instantiate()` takes."""
    return Root(full_system=True, system=board)
