"""The module that a script imports as ``m5``."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from breakeven.m5 import objects, params, ports, proxy, stats, units, util
from breakeven.m5 import simulate as _simulation
from breakeven.m5.describe import describe
from breakeven.m5.simobject import SimObject as _SimObject

MaxTick = _simulation.MAX_TICK


def _module(name: str, **names: Any) -> ModuleType:
    module = ModuleType(f"m5.{name}")
    module.__dict__.update(names)
    return module


def _global_frequency(frequency: Any) -> None:
    if util.convert.anyToFrequency(frequency) != units.TICKS_PER_SECOND:
        raise ValueError(f"a tick is a picosecond here; {frequency!r} is not supported")


defines = _module("defines", buildEnv={"USE_RISCV_ISA": True, "USE_X86_ISA": True, "PROTOCOL": "None"})
options = _module("options", outdir="m5out")
ticks = _module("ticks", fixGlobalFrequency=lambda: None, setGlobalFrequency=_global_frequency, fromSeconds=units.ticks)
event = _module("event", ExitEvent=_simulation.ExitEvent)
SimObject = _module("SimObject", SimObject=_SimObject)
# What the module `m5.SimObject` holds; `m5.SimObject.SimObject` is the class.


def instantiate(ckpt_dir: str | None = None, root: _SimObject | None = None) -> None:
    """Resolve the tree below the script's Root and make the machine."""
    if ckpt_dir is not None:
        raise ValueError("checkpoints are not supported: call m5.instantiate() without one")
    _simulation.current().instantiate(root)


def simulate(ticks: int = MaxTick) -> _simulation.ExitEvent:
    """Run on for `ticks` at most, or until something happens."""
    return _simulation.current().simulate(ticks)


def curTick() -> int:
    return _simulation.current().current_tick()


def disableAllListeners() -> None:
    """Nothing listens here."""


def setOutputDir(path: str) -> None:
    from pathlib import Path

    _simulation.current().outdir = Path(path)


def fatal(text: str, *args: object) -> None:
    util.fatal(text, *args)


def panic(text: str, *args: object) -> None:
    util.panic(text, *args)


__all__ = [
    "MaxTick", "SimObject", "curTick", "defines", "describe", "disableAllListeners", "event", "fatal", "instantiate",
    "objects", "options", "panic", "params", "ports", "proxy", "setOutputDir", "simulate", "stats", "ticks", "util",
]  # fmt: skip
