"""The routines that there are for a machine: breakeven's guest and those that the user has added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from breakeven.files.binaries import guest_elf, load_engine
from breakeven.machine.resolve import resolve
from breakeven.points.engine import FLAG_NEEDS, Routine
from breakeven.points.machine_spec import MachineSpec
from breakeven.routine.extensions import is_off, missing_extension_of


def guest_routines(machine: MachineSpec, elf: Path | None = None) -> tuple[str, list[Routine]]:
    """The instruction set of `machine` and the routines there are for it (`elf`: in that guest), without booting it."""
    resolved = resolve(machine, unread=True)
    isa, description = resolved.isa, resolved.description
    found = _routines_on(description, guest_elf(isa, elf))
    if elf is None:
        from breakeven.routine.registry import user_files

        for own in user_files(isa):
            for each in _routines_on(description, own.guest.read_bytes()):
                missing = each.missing_extension or missing_extension_of(description, own.extensions)
                found.append(each._replace(origin=own.source, missing_extension=missing))
    return isa, found


def _routines_on(description: dict[str, Any], program: bytes) -> list[Routine]:
    """The routines of a guest with what the described machine lacks for each."""
    rows = load_engine().routines(program)
    missing = {flags: _lacking(description, flags) for flags in {row["flags"] for row in rows}}
    return [Routine(row["name"], row["kind"], row["flags"], missing[row["flags"]]) for row in rows]


def _lacking(description: dict[str, Any], flags: int) -> str:
    """What the described machine lacks of what a routine's flags ask for."""
    for bit, (extension, parameter) in FLAG_NEEDS.items():
        for item in description["objects"] if flags & bit else ():
            if is_off(item, parameter):
                setting = f"{item['path'].removeprefix('system.')}.{parameter}=true"
                return f"needs {extension}, which this machine lacks: add --set {setting}"
    return ""
