"""The clock of a machine's core."""

from __future__ import annotations

from breakeven.errors import UserError
from breakeven.machine.resolve import Machine


def core_period(machine: Machine) -> int:
    """Picoseconds of a core cycle. Raises `UserError` for a machine without a core."""
    objects = {item["path"]: item for item in machine.description["objects"]}
    for item in machine.description["objects"]:
        if "BaseCPU" in item["bases"]:
            clock = objects[item["params"]["clk_domain"]["ref"]]["params"]["clock"]
            return int(clock[0] if isinstance(clock, list) else clock)
    raise UserError("the machine has no core")
