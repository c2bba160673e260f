"""Where cycles went: the core's account as a tree of shares that add up to all of them.

A core charges every commit slot of every cycle to one reason (docs/cores.md); the account is the statistics
`<cpu>.account::<reason>`. Here they get their groups and become cycles: a reason's share of all slots, times the
cycles. A point's account is its measurement's less that of the empty calls (of a throughput: of half as many calls)
which the point's cycles are without. So a line can be below 0: the fences around an empty call wait for themselves
what they wait for the routine otherwise.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError
from breakeven.points import CACHE_STATES, PACKETS
from breakeven.points.converged import measured
from breakeven.points.engine import point_result

if TYPE_CHECKING:
    from breakeven.analysis.comparison import Comparison
    from breakeven.analysis.ports import Pressure
    from breakeven.points import Point
    from breakeven.points.engine import Measured, PointResult
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
    "bad speculation": {"badSpeculation": "mispredicted branches", "replay": "memory-order replays"},
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
    #: of all cycles
    percent: float

    @property
    def label(self) -> str:
        return GROUPS.get(self.group, {}).get(self.reason, self.reason) if self.reason else self.group


@dataclass(frozen=True, slots=True)
class Account:
    """A core's cycles by what became of their commit slots: of a point those that its result has."""

    cycles: int
    instructions: int
    lines: tuple[Line, ...]
    #: of a point's account: its result
    result: PointResult = None  # type: ignore[assignment]
    #: of a point's, where it was asked for: which functional units its instructions take
    ports: Pressure | None = None

    @property
    def groups(self) -> list[Line]:
        """The groups alone; their shares add up to 100 %."""
        return [line for line in self.lines if not line.reason]


def explain_points(
    engine: Any,
    machine: MachineSpec,
    points: Sequence[Point],
    by_rule: bool = False,
    check: bool = True,
    ports: bool = False,
) -> Iterator[Account]:
    """The account of each point's measurement on the simulator. Raises `UserError` for a wrong output, or without
    `check` gives an empty account.

    `by_rule`: as of `run_points`. `ports`: with the functional units that its instructions take.
    """
    for point in points:
        if point.cache_state >= PACKETS:
            state = CACHE_STATES[point.cache_state]
            raise UserError(f"{state} is the mean of a round of calls, and explain is of one: take --cache cold or l2")
    session = engine.open(machine)
    for point in points:
        found, trace = _measured(session, machine, point, by_rule, ports)
        result = point_result(session, point, found.result)
        if result.ok:
            account = account_of(found.stats, str(machine), found.subtracted)
            units = _ports(machine, found, result, trace) if ports else None
            yield replace(account, result=result, ports=units)
        elif check:
            raise UserError(f"{point.routine} on {machine}, size {point.size}: {result.problem}")
        else:
            yield Account(0, 0, (), result)


def _measured(session: Any, machine: MachineSpec, point: Point, by_rule: bool, ports: bool) -> tuple[Measured, str]:
    """A point's measurement and, for `ports`, the trace of its micro-ops."""
    if not ports:
        return measured(session, point, by_rule), ""
    from breakeven.analysis.ports import MOST_TRACED, check
    from breakeven.machine.resolve import resolve

    check(resolve(machine), point)
    with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
        file = Path(folder, "trace")
        found = measured(session, point, by_rule, file, MOST_TRACED, True)
        return found, file.read_text() if file.exists() else ""


def _ports(machine: MachineSpec, found: Measured, result: PointResult, trace: str) -> Pressure:
    from breakeven.analysis.ports import pressure
    from breakeven.machine.resolve import resolve

    return pressure(resolve(machine), found, result, trace)


def account_of(stats: Stats, machine: str, subtracted: Stats = ()) -> Account:
    """The account in a core's statistics, less that in `subtracted`. Raises `UserError` when the core keeps none."""
    cycles, instructions, charged = _charged(stats, machine)
    if subtracted:
        less_cycles, less_instructions, less = _charged(subtracted, machine)
        cycles, instructions = cycles - less_cycles, instructions - less_instructions
        charged = {reason: charged.get(reason, 0.0) - less.get(reason, 0.0) for reason in {**charged, **less}}
    return Account(cycles, instructions, tuple(_lines(charged, cycles)))


def _charged(stats: Stats, machine: str) -> tuple[int, int, dict[str, float]]:
    """Cycles, instructions, and the cycles charged to each reason."""
    values = {name: value for name, value, _, _ in stats}
    slots = {match[1]: value for name, value in values.items() if (match := _ACCOUNT.search(name))}
    slots.pop("total", None)
    if not slots:
        raise UserError(
            f"the core of {machine} keeps no account of its cycles: a MinorCPU and an O3CPU do (-m u74, -m o3)"
        )
    cycles = next(value for name, value in values.items() if name.endswith(".numCycles"))
    every = sum(slots.values()) or 1.0
    return int(cycles), int(values.get("simInsts", 0)), {name: cycles * n / every for name, n in slots.items()}


def _lines(charged: dict[str, float], cycles: float) -> list[Line]:
    known = {reason for reasons in GROUPS.values() for reason in reasons}
    groups = {**GROUPS, "other": {reason: reason for reason in charged if reason not in known}}
    lines = []
    for group, reasons in groups.items():
        # Half a slot of the widest core is 1/32 of a cycle: what is less is the difference of two sums.
        own = {reason: charged[reason] for reason in reasons if abs(charged.get(reason, 0.0)) > 0.02}
        if own:
            parts = {"": sum(own.values()), **(own if len(reasons) > 1 else {})}
            percent = 100.0 / cycles if cycles > 0 else 0.0
            lines += [Line(group, reason, part, percent * part) for reason, part in parts.items()]
    return lines


def opening_size(found: Comparison) -> int:
    """The size at which routines are best looked at: the threshold between them, else where the lead last changes.

    Raises `UserError` where one of them leads at every size."""
    leads = found.leads
    threshold = leads.choice.threshold if leads and leads.choice else None
    edges = leads.edges if leads else []
    if threshold is not None:
        return threshold
    if edges:
        return edges[-1][1]
    raise UserError(f"the lead does not change between {found.x[0]:.0f} and {found.x[-1]:.0f} B: give --size")


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
