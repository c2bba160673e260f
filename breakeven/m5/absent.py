"""Parts of gem5's standard library that are not here, and why.

Scripts import more than they use: a module of this table can be imported, and what is taken from it fails when it is
made, with the reason, at the line of the script.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

_RUBY = "Ruby's coherence protocols are not modelled; take a hierarchy of gem5.components.cachehierarchies.classic"
WHOLE = "machines that boot an operating system are not modelled; take a SimpleBoard with set_se_binary_workload"
_TRAFFIC = "traffic generators are not modelled; run a program on a core"
SAMPLES = "checkpoints and sampled simulation are not supported; run the program from its start"
_FDP = "gem5 25's decoupled front end is not modelled"
CHANNELS = "interleaved channels are not modelled; take one channel"
_ONE = "a script runs one machine; run it once for each"

#: module, or what its name begins with -> why it is not here
_REASONS = {
    "gem5.components.boards.arm_board": WHOLE,
    "gem5.components.boards.experimental": WHOLE,
    "gem5.components.boards.kernel_disk_workload": WHOLE,
    "gem5.components.boards.riscv_board": WHOLE,
    "gem5.components.boards.test_board": _TRAFFIC,
    "gem5.components.boards.x86_board": WHOLE,
    "gem5.components.cachehierarchies.chi": _RUBY,
    "gem5.components.cachehierarchies.classic.two_level_fdp_cache_hierarchy": _FDP,
    "gem5.components.cachehierarchies.ruby": _RUBY,
    "gem5.components.devices": WHOLE,
    "gem5.components.memory.dramsys": "DRAMSys is not here; take a memory of gem5.components.memory.single_channel",
    "gem5.components.memory.hbm": "interleaved channels are not modelled; take SingleChannelHBM",
    "gem5.components.memory.multi_channel": CHANNELS,
    "gem5.components.processors.complex_generator": _TRAFFIC,
    "gem5.components.processors.decoupled_processor": _FDP,
    "gem5.components.processors.gups_generator": _TRAFFIC,
    "gem5.components.processors.linear_generator": _TRAFFIC,
    "gem5.components.processors.random_generator": _TRAFFIC,
    "gem5.components.processors.simple_switchable_processor": "a machine keeps its core; run the script once with each",
    "gem5.components.processors.spatter_gen": _TRAFFIC,
    "gem5.components.processors.strided_generator": _TRAFFIC,
    "gem5.components.processors.switchable_processor": "a machine keeps its core; run the script once with each",
    "gem5.components.processors.traffic_generator": _TRAFFIC,
    "gem5.prebuilt": WHOLE,
    "gem5.resources.elfie": SAMPLES,
    "gem5.resources.looppoint": SAMPLES,
    "gem5.utils.multiprocessing": _ONE,
    "gem5.utils.multisim": _ONE,
    "gem5.utils.simpoint": SAMPLES,
}


def reason(module: str) -> str | None:
    """Why `module` is not here; None when gem5 has no such module that we know of."""
    for name, why in _REASONS.items():
        # ``random_generator`` stands for ``random_generator_core`` too, ``gem5.prebuilt`` for all below it.
        if module == name or module.startswith((f"{name}.", f"{name}_")):
            return why
    return None


class _Absent(type):
    """The class of what is not here: using it says so."""

    _what = ""

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(cls._what)

    def __getattr__(cls, name: str) -> NoReturn:
        raise NotImplementedError(cls._what) if not name.startswith("_") else AttributeError(name)


def absent_class(module: str, name: str, why: str) -> type:
    """A class that says `why` there is none when it is made."""
    return _Absent(name, (), {"_what": f"{module}.{name} is not here: {why}", "__module__": module})


def absent_names(module: str, reasons: dict[str, str]) -> Callable[[str], type]:
    """The ``__getattr__`` of a module of which some names (`reasons`: name -> why) are not here."""

    def take(name: str) -> type:
        if name not in reasons:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        return absent_class(module, name, reasons[name])

    return take


def stand_in(module: str, why: str) -> ModuleType:
    """A module whose every name is a class that cannot be made."""
    made = ModuleType(module, f"Not here: {why}.")

    def take(name: str) -> type:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        return absent_class(module, name, why)

    made.__getattr__ = take  # type: ignore[method-assign]
    return made
