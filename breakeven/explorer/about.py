"""What a page offers besides its question: the machines, and this host's processor."""

from __future__ import annotations

from breakeven.errors import UserError


def presets() -> list[list[str]]:
    """Name, instruction set and description of every machine that comes with breakeven."""
    from breakeven.machine.presets import list_presets

    return [[preset.name, preset.isa, preset.description] for preset in list_presets()]


def host() -> list[str] | None:
    """Instruction set and name of this host's processor; None: it runs no routines of ours."""
    from breakeven.engines.native import NativeEngine, host_name

    try:
        return [NativeEngine().isa, host_name()]
    except UserError:
        return None
