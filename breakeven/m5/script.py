"""The module that a script imports as ``m5``."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from breakeven.config import units
from breakeven.config.current import current
from breakeven.config.gem5_build import BuildEnv
from breakeven.m5 import simulate as _simulation
from breakeven.m5.command_line import DEBUG_FLAGS, GEM5_VERSION, flag_called

MaxTick = _simulation.MAX_TICK

#: modules of ``m5`` that are loaded when a script first asks for them
_LAZY = {
    "SimObject": "config.simobject", "convert": "m5.convert", "event": "m5.event", "objects": "m5.objects",
    "params": "config.params", "ports": "config.ports", "proxy": "config.proxy", "stats": "m5.stats", "util": "m5.util",
}  # fmt: skip
_HELPERS = ("addToPath", "fatal", "inform", "panic", "warn")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return import_module(f"breakeven.{_LAZY[name]}")
    if name in _HELPERS:
        return getattr(import_module("breakeven.m5.util"), name)
    raise AttributeError(f"module 'm5' has no attribute {name!r}", name=name)


def _module(name: str, **names: Any) -> ModuleType:
    module = ModuleType(f"m5.{name}")
    module.__dict__.update(names)
    return module


def _global_frequency(frequency: Any) -> None:
    hertz = units.hertz(frequency) if isinstance(frequency, str) else float(frequency)
    if hertz != units.TICKS_PER_SECOND:
        raise ValueError(f"a tick is a picosecond here; {frequency!r} is not supported")


def _output_folder(path: str) -> None:
    current().set_outdir(path)


class _Flags(dict):  # type: ignore[type-arg]
    """``m5.debug.flags``; `KeyError` names the flags that there are."""

    def __missing__(self, name: str) -> _Flag:
        present = flag_called(name)
        if present is None:
            raise KeyError(f"there is no debug flag {name!r}: there is {', '.join(self)}")
        return self[present]


class _Flag:
    """``m5.debug.flags["O3PipeView"]``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def enable(self) -> None:
        current().enable_trace(self.name)

    def disable(self) -> None:
        current().disable_trace(self.name)


def _trace_output(name: str) -> None:
    current().options.debug_file = name


defines = _module(
    "defines",
    buildEnv=BuildEnv({
        "BUILD_GPU": False, "KVM_ISA": "", "PROTOCOL": "None", "RUBY": False, "USE_ARM_ISA": False, "USE_KVM": False,
        "USE_MIPS_ISA": False, "USE_NULL_ISA": False, "USE_POWER_ISA": False, "USE_RISCV_ISA": True,
        "USE_SPARC_ISA": False, "USE_SYSTEMC": False, "USE_X86_ISA": True,
    }),
    gem5Version=GEM5_VERSION,
)  # fmt: skip
#: what the launcher was told; `Session` fills it
options = _module("options")
ticks = _module(
    "ticks",
    fixGlobalFrequency=lambda: None,
    setGlobalFrequency=_global_frequency,
    fromSeconds=units.ticks,
    tps=float(units.TICKS_PER_SECOND),
)
core = _module(
    "core",
    disableAllListeners=lambda: None,
    gem5Version=GEM5_VERSION,
    listenersLoopbackOnly=lambda: None,
    LogLevel=SimpleNamespace(PANIC=0, FATAL=1, WARN=2, INFO=3, HACK=4),
    setLogLevel=lambda level: None,  # every warning is said once
    seedRandom=lambda seed: None,  # nothing here is random
    setOutputDir=_output_folder,
)
debug = _module("debug", flags=_Flags({name: _Flag(name) for name in DEBUG_FLAGS}))
trace = _module("trace", output=_trace_output, enable=lambda: None, disable=lambda: None)


class _Enums(ModuleType):
    """``m5.internal.params``: gem5's enumerations, of which scripts list the names (``enum_AddrMap.__members__``)."""

    def __getattr__(self, name: str) -> Any:
        from breakeven.config import library  # reading the library fills the enumerations
        from breakeven.config.params import ENUMS

        values = ENUMS.get(name.removeprefix("enum_")) if name.startswith("enum_") and library.names() else None
        if values is None:
            raise AttributeError(f"module 'm5.internal.params' has no attribute {name!r}", name=name)
        return SimpleNamespace(__members__={value: value for value in values})


internal = _module("internal", params=_Enums("m5.internal.params"))


def instantiate(ckpt_dir: str | None = None) -> None:
    """Resolve the tree below the script's Root and make the machine."""
    if ckpt_dir is not None:
        raise ValueError("checkpoints are not supported: call m5.instantiate() without one")
    current().instantiate()


def simulate(ticks: int = MaxTick, *args: Any) -> _simulation.ExitEvent:
    """Run on for `ticks` at most, or until something happens."""
    return current().simulate(ticks)


def curTick() -> int:
    return current().current_tick()


def setMaxTick(tick: int) -> None:
    """The tick at which every `simulate` ends."""
    current().max_tick = tick


def getMaxTick() -> int:
    return current().max_tick


def getTicksUntilMax() -> int:
    return getMaxTick() - curTick()


def scheduleTickExitFromCurrent(ticks: int, exit_string: str = "Tick exit reached") -> None:
    """`simulate` comes back `ticks` from now with the cause `exit_string`."""
    session = current()
    session.schedule_exit(session.current_tick() + ticks, exit_string)


def scheduleTickExitAbsolute(tick: int, exit_string: str = "Tick exit reached") -> None:
    current().schedule_exit(tick, exit_string)


def disableAllListeners() -> None:
    """Nothing listens here."""


listenersLoopbackOnly = disableAllListeners


def setOutputDir(path: str) -> None:
    _output_folder(path)


def drain() -> bool:
    """Between two calls of `simulate` nothing that a script could see is under way."""
    return True


def _refused(what: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"m5.{what} is not supported: {instead}")


def checkpoint(dir: str) -> NoReturn:
    _refused("checkpoint", "a run starts from reset")


def switchCpus(system: Any, cpuList: Any, verbose: bool = True) -> NoReturn:
    _refused("switchCpus", "a machine keeps its core; run the script once with each")


def fork(simout: str = "") -> NoReturn:
    _refused("fork", "run the script once for each machine")


def memWriteback(root: Any) -> NoReturn:
    _refused("memWriteback", "it serves checkpoints and switching cores")


memInvalidate = memWriteback
