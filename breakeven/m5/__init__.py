"""gem5's Python modules for scripts: what they import as ``m5``, the launcher, programs and their output.

A script sees this package as ``m5`` (`loader.run_script` puts it there while the script runs). The classes and the
description made of them are `breakeven.config`'s; the names that Python code takes from here are found when used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: name -> the module that has it
_NAMES = {
    **dict.fromkeys(("canonical", "describe", "machine_hash"), "config.describe"),
    **dict.fromkeys(("ConfigError", "OverrideError", "PortError"), "config.errors"),
    "apply_override": "config.overrides",
    **dict.fromkeys(
        ("instantiate", "simulate", "curTick", "MaxTick", "stats", "objects", "params", "proxy", "util"), "m5.script"
    ),
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"breakeven.{_NAMES[name]}"), name)
    raise AttributeError(f"breakeven.m5 has no {name!r}")
