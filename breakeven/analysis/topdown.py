"""Where cycles went: the core's account as a tree of shares that add up to all of them.

A core charges every commit slot of every cycle to one reason (docs/cores.md); the account is the statistics
`<cpu>.account::<reason>`. Here they get their groups and become cycles: a reason's share of all slots, times the
cycles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError
from breakeven.points.converged import measured
from breakeven.points.engine import point_result

if TYPE_CHECKING:
    from breakeven.points import Point
    from breakeven.points.engine import PointResult
    from breakeven.points.machine_spec import MachineSpec


Stats = Sequence[tuple[str, float, str, str]]

#: what is printed for each reason, by group and in order
GROUPS: dict[str, dict[str, str]] = {
    "retiring": {"retiring": "retiring"},
    "front end": {
        "frontEnd": "fetch and decode",
        "fetchCache": "instruction cache",
        "fetchTlb": "instruction TLB",
    },
    "bad speculation": {"badSpeculation": "mispredicted branches, flushes", "replay": "memory-order replays"},
    "memory": {
        "level1": "first-level cache",
        "level2": "second-level cache",
        "level3": "third-level cache",
        "memory": "main memory",
        "tlbWalk": "page walks",
        "split": "line and page crossings",
        "forwardFail": "failed forwarding",
        "storeQueue": "store queue",
    },
    "execution": {"execution": "latency", "unit": "units taken", "serialize": "serialising instructions, traps"},
}
_ACCOUNT = re.compile(r"\.account::(\w+)$")


@dataclass(frozen=True, slots=True)
class Line:
    """One reason, or the sum of a group's (`reason` empty)."""

    group: str
    reason: str
    cycles: float
    #: of all cycles, 0 to 100
    percent: float

    @property
    def label(self) -> str:
        return GROUPS.get(self.group, {}).get(self.reason, self.reason) if self.reason else self.group


@dataclass(frozen=True, slots=True)
class Account:
    """A core's cycles by what became of their commit slots."""

    cycles: int
    instructions: int
    lines: tuple[Line, ...]
    #: of a point's account: its result
    result: PointResult = None  # type: ignore[assignment]

    @property
    def groups(self) -> list[Line]:
        """The groups alone; their shares add up to 100 %."""
        return [line for line in self.lines if not line.reason]


def explain_points(
    engine: Any, machine: MachineSpec, points: Sequence[Point], by_rule: bool = False, check: bool = True
) -> Iterator[Account]:
    """The account of each point's measurement on the simulator. Raises `UserError` for a wrong output, or without
    `check` gives an empty account.

    `by_rule`: as of `run_points`.
    """
    session = engine.open(machine)
    for point in points:
        found = measured(session, point, by_rule)
        result = point_result(session, point, found.result)
        if result.ok:
            yield replace(account_of(found.stats, str(machine)), result=result)
        elif check:
            raise UserError(f"{point.routine} on {machine}, size {point.size}: {result.problem}")
        else:
            yield Account(0, 0, (), result)


def account_of(stats: Stats, machine: str) -> Account:
    """The account in a core's statistics. Raises `UserError` when the core keeps none."""
    values = {name: value for name, value, _, _ in stats}
    slots = {match[1]: value for name, value in values.items() if (match := _ACCOUNT.search(name))}
    slots.pop("total", None)
    if not slots:
        raise UserError(f"the core of {machine} keeps no account of its cycles: a MinorCPU and an O3CPU do")
    cycles = next(value for name, value in values.items() if name.endswith(".numCycles"))
    return Account(int(cycles), int(values.get("simInsts", 0)), tuple(_lines(slots, cycles)))


def _lines(slots: dict[str, float], cycles: float) -> list[Line]:
    every = sum(slots.values())
    known = {reason for reasons in GROUPS.values() for reason in reasons}
    groups = {**GROUPS, "other": {reason: reason for reason in slots if reason not in known}}
    lines = []
    for group, reasons in groups.items():
        charged = {reason: slots[reason] / every for reason in reasons if slots.get(reason)}
        if charged:
            shares = {"": sum(charged.values()), **(charged if len(reasons) > 1 else {})}
            lines += [Line(group, reason, cycles * part, 100.0 * part) for reason, part in shares.items()]
    return lines


def as_dict(account: Account) -> dict[str, Any]:
    """An account for JSON."""
    rows = [
        {"group": row.group, "reason": row.reason or None, "cycles": row.cycles, "percent": row.percent}
        for row in account.lines
    ]
    return {"cycles": account.cycles, "instructions": account.instructions, "account": rows}


def side_by_side(accounts: Sequence[Account]) -> list[tuple[Line, list[Line | None]]]:
    """Every line that any of the accounts has, in order: one of them, and each account's own or None."""
    order = [(group, reason) for group, reasons in GROUPS.items() for reason in ("", *reasons)]
    found = {(line.group, line.reason): line for account in accounts for line in account.lines}
    order += [key for key in found if key not in order]
    rows: list[tuple[Line, list[Line | None]]] = []
    for key in order:
        if key in found:
            own = [next((r for r in a.lines if (r.group, r.reason) == key), None) for a in accounts]
            rows.append((found[key], own))
    return rows
