"""Fixtures of the configuration language's tests: small trees, and a stand-in for the engine."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from tests.m5.tiny_machine import tiny_root


@pytest.fixture
def root() -> Any:
    return tiny_root()


class FakeMachine:
    """Takes what the engine takes and ends at once."""

    made: list[FakeMachine] = []

    def __init__(
        self,
        description: str,
        elf: bytes,
        *,
        readfile: bytes = b"",
        init_param: int = 0,
        stdout: Any = None,
        stderr: Any = None,
    ) -> None:
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
