"""What every hierarchy of classic caches is."""

from __future__ import annotations

from typing import Any

from breakeven.gem5.components.cachehierarchies.abstract_cache_hierarchy import AbstractCacheHierarchy
from breakeven.gem5.isas import ISA
from breakeven.m5.objects import BadAddr, SystemXBar


def default_membus() -> Any:
    """The standard library's memory bus: 64 bytes wide, with an answer for addresses that nobody has."""
    membus = SystemXBar(width=64)
    membus.badaddr_responder = BadAddr()
    membus.default = membus.badaddr_responder.pio
    return membus


class AbstractClassicCacheHierarchy(AbstractCacheHierarchy):
    """Caches, and a memory bus called `membus`."""

    abstract = True

    def _take_membus(self, membus: Any) -> None:
        self.membus = membus if membus is not None else default_membus()

    def get_mem_side_port(self) -> Any:
        return self.membus.mem_side_ports

    def get_cpu_side_port(self) -> Any:
        return self.membus.cpu_side_ports

    def _join_memory(self, board: Any) -> None:
        """The memories and the system port go to the bus."""
        board.connect_system_port(self.get_cpu_side_port())
        for _, port in board.get_mem_ports():
            self.membus.mem_side_ports = port

    def _join_interrupts(self, core: Any) -> None:
        if core.get_isa() is ISA.X86:
            core.connect_interrupt(self.get_mem_side_port(), self.get_cpu_side_port())
        else:
            core.connect_interrupt()
