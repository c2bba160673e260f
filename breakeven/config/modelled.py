"""Which parameters of gem5's classes change something here (``data/modelled.json``; ``scripts/gem5_parameters.py``).

A script may set every parameter that gem5 has; one that is set to something else than gem5's default and is not
modelled is named once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from breakeven.config.params import MISSING
from breakeven.config.proxy import Proxy
from breakeven.config.simobject import SimObject, modelled_class

FILE = Path(__file__).parent / "data" / "modelled.json"
#: read by the Python side itself: programs, standard streams, what only groups objects
OWN = {
    "KernelWorkload": ("object_file",), "Process": ("input", "output", "errout"), "Root": ("full_system",),
    "System": ("readfile", "init_param"), "X86FsWorkload": ("object_file",), "RiscvBareMetal": ("bootloader",),
}  # fmt: skip

#: names and numbers of things: they change nothing in gem5 either
LABELS = ("cpu_id", "socket_id", "description", "power_state", "name_string", "entry_type")


def load() -> dict[str, dict[str, Any]]:
    """Class -> ``{"read": [...], "checked": [...]}``; a class that no machine can have is not there."""
    return json.loads(FILE.read_bytes())


def unmodelled(root: SimObject) -> list[tuple[str, str]]:
    """Class and name of every parameter below `root` that a script has set and nothing reads, once each."""
    table = load()
    found: dict[tuple[str, str], None] = {}
    for obj in root.descendants():
        cls = modelled_class(obj)
        known = table.get(cls.__name__, {})
        for name in obj.set_names():
            if (
                name in LABELS
                or name not in cls._params
                or name in known.get("read", ())
                or name in known.get("checked", ())
            ):
                continue
            if any(name in OWN.get(base.__name__, ()) for base in cls.__mro__):
                continue
            value = obj._value(name)
            if isinstance(value, (SimObject, Proxy)) or (isinstance(value, list) and value and _objects(value)):
                continue
            # What gem5's own default object set, in the form that the parameter keeps; else the class's value.
            given = (obj._given or {}).get(name, MISSING)
            default = cls._class_value(name) if given is MISSING else cls._params[name].convert(given)
            if default is MISSING or value != default:
                found[(cls.__name__, name)] = None
    return list(found)


def _objects(items: list[Any]) -> bool:
    return any(isinstance(item, (SimObject, Proxy)) for item in items)


def warn_of_unmodelled(root: SimObject) -> None:
    for cls, name in unmodelled(root):
        print(f"warn: {cls}.{name} is set and changes nothing here: it is not modelled", file=sys.stderr)
