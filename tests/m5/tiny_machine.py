"""The smallest machine, for fixtures and for scripts under test, which import it by this file's name."""

from __future__ import annotations

from typing import Any

import breakeven.m5.objects as o


def tiny_root(**system: Any) -> Any:
    """The smallest machine that describes: an atomic core on a bus with a plain memory."""
    board = o.System(**system)
    board.clk_domain = o.SrcClockDomain(clock="1GHz", voltage_domain=o.VoltageDomain())
    board.mem_ranges = [o.AddrRange(0x80000000, size="64MiB")]
    board.cpu = o.RiscvAtomicSimpleCPU()
    board.membus = o.SystemXBar()
    board.cpu.icache_port = board.membus.cpu_side_ports
    board.cpu.dcache_port = board.membus.cpu_side_ports
    for tlb in (board.cpu.mmu.itb, board.cpu.mmu.dtb):
        tlb.walker.port = board.membus.cpu_side_ports
    board.system_port = board.membus.cpu_side_ports
    board.memory = o.SimpleMemory(range=board.mem_ranges[0])
    board.memory.port = board.membus.mem_side_ports
    board.cpu.createInterruptController()
    board.cpu.createThreads()
    board.workload = o.RiscvBareMetal(bootloader="")
    return o.Root(full_system=True, system=board)
