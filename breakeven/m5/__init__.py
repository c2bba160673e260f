"""gem5's configuration language for the embedded engine.

A script sees this package as ``m5`` (`loader.run_script` puts it there while the script runs). `describe` turns a tree
of objects into the engine's machine description; `apply_override` changes one parameter by its dotted path.
"""

from __future__ import annotations

from typing import Any

from breakeven.m5.describe import canonical, describe, machine_hash
from breakeven.m5.errors import ConfigError, OverrideError, PortError
from breakeven.m5.overrides import apply_override

__all__ = [
    "ConfigError",
    "OverrideError",
    "PortError",
    "apply_override",
    "canonical",
    "describe",
    "machine_hash",
]


def __getattr__(name: str) -> Any:
    """What a script sees as ``m5`` (`instantiate`, `simulate`, `stats`, ...); presets alone never need it."""
    if name in ("instantiate", "simulate", "curTick", "MaxTick", "stats", "objects", "params", "proxy", "util"):
        from importlib import import_module

        return getattr(import_module("breakeven.m5.script"), name)
    raise AttributeError(f"breakeven.m5 has no {name!r}")
