"""Which values of a machine a sensitivity moves, and how far: each one step down and up.

Moved is every number, switch and choice that the engine reads and whose line in the machine's file says where it comes
from (`breakeven.machine.sources`), and the microcode's string modes and instruction latencies. A step is

- a quarter of the value, at least 1, for cycles, delays, latencies and rates;
- half and twice the value for sizes, ways, and tables that are a power of two from 16 on;
- 1 for other integers up to 7, a quarter for larger ones;
- the other value of a switch, every other value of a choice.

A step is no claim about how unsure a value is: it ranks what the answer depends on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from breakeven.config.params import ENUMS
from breakeven.points.machine_spec import MachineSpec

#: mark of `breakeven.machine.sources` -> word
WORDS = {
    "u": "sourced",
    "c": "calibrated",
    "a": "assumed",
    "g": "gem5's",
    "m": "measured",
    "s": "set now",
    "": "no source",
}
#: of a parameter's type, as the description has its values
_UNITS = {"Latency": "ps", "Clock": "ps", "Frequency": "Hz", "MemoryBandwidth": "B/s"}
_SHARE = 0.25
_POWER = 16
_SMALL = 7
_CYCLES = re.compile(r"(?i)(lat|latency|delay|penalty|cycles|startup|uops|cross_\w+|rate|bandwidth|per_cycle)")
_SIZES = ("size", "assoc", "l2_size", "l2_assoc")
_MICROCODE = ("X86StringMode", "X86Instruction")
#: what names things, is a limit of a format or a simulator's rule, not a property of hardware
_NOT_MOVED = ("eventq_index", "min_count", "max_count", "max_bytes", "min_element", "is_read_only", "backwards", "gem5")


@dataclass(frozen=True)
class Parameter:
    """A value of a machine: what ``--set`` takes, where it comes from, and the values it is moved to."""

    path: str
    value: str
    #: one of `WORDS`
    mark: str
    steps: tuple[str, ...]


def steps_of(name: str, value: Any, choices: tuple[str, ...] = ()) -> list[Any]:
    """The values that one is moved to; none for what is no number, switch or choice."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [other for other in choices if other != value]
    if isinstance(value, float):
        return [value * (1 - _SHARE), value * (1 + _SHARE)] if value > 0 else []
    if not isinstance(value, int) or value < 0:
        return []
    if name in _SIZES and value > 1 or (value >= _POWER and value & (value - 1) == 0 and not _CYCLES.search(name)):
        return [value // 2, value * 2]
    step = 1 if value <= _SMALL and not _CYCLES.search(name) else max(1, round(value * _SHARE))
    return [value - step, value + step] if value >= step else [value + step]


def parameters_of(machine: MachineSpec) -> list[Parameter]:
    """The values of `machine` that a sensitivity moves, in the order of its description."""
    from breakeven.config.describe import describe
    from breakeven.config.simobject import modelled_class
    from breakeven.machine.parameters import parameters_read
    from breakeven.machine.presets import load_machine
    from breakeven.machine.sources import Sources

    root = load_machine(machine.name, machine.settings)
    sources = Sources(root, tuple(machine.settings))
    objects, description = {obj.path(): obj for obj in root.descendants()}, describe(root)
    read, shown, found = parameters_read(description), sources.shown_paths(), []
    for item in description["objects"]:
        if item["path"] not in objects:
            continue
        cls = modelled_class(objects[item["path"]])
        for name, value in item["params"].items():
            mark = sources.mark(item["path"], name, value)
            microcode = cls.__name__ in _MICROCODE and "*" in mark
            mark = mark.replace("*", "")
            if (not mark and not microcode) or name in _NOT_MOVED or (item["path"], name) not in read:
                continue
            choices = tuple(ENUMS.get(cls._params[name].type_name, ()))
            unit = _UNITS.get(cls._params[name].type_name, "")
            steps = tuple(f"{_text(step)}{unit}" for step in steps_of(name, value, choices))
            if steps:
                path = f"{shown[item['path']]}.{name}".removeprefix("system.")
                found.append(Parameter(path, f"{_text(value)}{unit}", WORDS[mark], steps))
    return found


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.12g}" if isinstance(value, float) else str(value)
