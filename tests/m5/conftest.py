"""Fixtures of the configuration language's tests: small trees, and a stand-in for the engine."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

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


@pytest.fixture
def root() -> Any:
    return tiny_root()


class FakeMachine:
    """Takes what the engine takes and ends at once."""

    made: list[FakeMachine] = []

    def __init__(self, description: str, elf: bytes, *, readfile: bytes = b"", init_param: int = 0) -> None:
        self.description, self.elf, self.readfile, self.init_param = description, elf, readfile, init_param
        self.calls: list[Any] = []
        self.taken = 0
        FakeMachine.made.append(self)

    def run(
        self, max_insts: int = 0, max_cycles: int = 0, max_ticks: int = 0, stats_hook: Any = None
    ) -> dict[str, Any]:
        self.calls.append(("run", max_ticks))
        return {"cause": "m5_exit instruction encountered", "code": 3, "ticks": 1000 * len(self.calls), "detail": ""}

    def dump_stats(self) -> None:
        self.calls.append("dump")

    def reset_stats(self) -> None:
        self.calls.append("reset")

    def outputs(self) -> dict[str, bytes]:
        return {"../results.bin": b"x"}

    def take_stats_txt(self) -> str:
        dumps = self.calls.count("dump")
        new, self.taken = dumps - self.taken, dumps
        return "simTicks 1000\n" * new

    def console(self) -> bytes:
        return b""


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> type[FakeMachine]:
    """`breakeven._engine` replaced: what a script does is tested, not the simulation."""
    import breakeven

    module = types.ModuleType("breakeven._engine")
    module.Machine = FakeMachine  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "breakeven._engine", module)
    monkeypatch.setattr(breakeven, "_engine", module, raising=False)
    FakeMachine.made.clear()
    return FakeMachine
