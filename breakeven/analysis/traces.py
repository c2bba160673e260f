"""A point's micro-ops over the cycles: the O3PipeView trace of its measurement, read into rows for the page."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from breakeven.errors import UserError
from breakeven.machine.clock import core_period
from breakeven.machine.resolve import Machine

#: of a record, in its order
STAGES = ("fetch", "decode", "rename", "dispatch", "issue", "complete", "retire")
#: what is told of cores that keep no such trace
NO_PIPELINE = "this core has no pipeline: O3CPU and MinorCPU have, such as u74, c910 or skylake"
#: micro-ops that a page shows
MOST = 1500


class Row(NamedTuple):
    """One micro-op; stages in cycles since the measurement began, below 0 before it, None where one was not reached."""

    address: int
    text: str
    stages: tuple[int | None, ...]
    #: the functional unit that took it, by number, and the cycles for which that takes no other; None: the trace does
    #: not tell, or none was needed
    unit: tuple[int, int] | None = None


def keeps_one(machine: Machine) -> bool:
    """Whether a machine's core can keep a trace."""
    return machine.has("BaseO3CPU", "BaseMinorCPU")


def of_point(machine: Machine, measure: Callable[[Path], Any]) -> dict[str, Any]:
    """The rows of the point that `measure` runs with a trace. Raises `UserError` where the core keeps none."""
    if not keeps_one(machine):
        raise UserError(NO_PIPELINE)
    with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
        file = Path(folder, "trace")
        measured = measure(file)
        found = rows(file.read_text(), core_period(machine), measured.begin)
    return {**packed(found), "whole": bool(measured.traced), "cycles": measured.cycles, "by_address": by_address(found)}


def packed(found: Sequence[Row], most: int = MOST) -> dict[str, Any]:
    """The first `most` rows as a page has them: ``texts``, address and words of each instruction; ``ops``, of each
    micro-op the number of its text, the cycle of its fetch, the cycles from there to each later stage; ``many``."""
    numbers: dict[tuple[int, str], int] = {}
    ops = []
    for row in found[:most]:
        number, first = numbers.setdefault((row.address, row.text), len(numbers)), row.stages[0] or 0
        ops.append([number, first, *(None if stage is None else stage - first for stage in row.stages[1:])])
    return {"stages": STAGES, "texts": [list(text) for text in numbers], "ops": ops, "many": len(found)}


def rows(text: str, period: int, begin: int) -> list[Row]:
    """The micro-ops that retired, in the order in which they were fetched; `begin`: `Measured`'s."""
    lines = text.splitlines()
    found = []
    for at in range(0, len(lines) - len(STAGES) + 1, len(STAGES)):
        first = lines[at].split(":", 6)
        ticks = [int(line.split(":")[2]) for line in lines[at : at + len(STAGES)]]
        if ticks[-1]:
            _, _, _, *unit = lines[at + STAGES.index("issue")].split(":")
            taken = (int(unit[0]), int(unit[1])) if unit else None
            found.append((int(first[5]), int(first[3], 16), first[6].strip(), ticks, taken))
    found.sort(key=lambda row: row[0])
    return [
        Row(address, says, tuple(tick // period - begin if tick else None for tick in ticks), unit)
        for _, address, says, ticks, unit in found
    ]


def by_address(found: list[Row]) -> dict[str, tuple[int, int]]:
    """Address -> how often an instruction ran, and the cycles that it held up retirement in all.

    The cycles between two retirements belong to the later one; they add up to the cycle of the last.
    """
    table: dict[str, tuple[int, int]] = {}
    last, before = 0, None
    for row in found:
        retired = row.stages[-1]
        assert retired is not None
        key = f"{row.address:#x}"
        times, cycles = table.get(key, (0, 0))
        # Micro-ops of one instruction follow each other.
        table[key] = (times + (row.address != before), cycles + retired - last)
        last, before = retired, row.address
    return table
