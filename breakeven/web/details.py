"""What a page keeps of single points besides their cycles: where those went, the instructions and the micro-ops.

Tables hold neither. A few points of each part are simulated again when the page is written, and kept where they take
the very cycles that the table has: a table of another engine, of a changed preset or of made-up numbers gets none.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.analysis import traces
from breakeven.analysis.topdown import account_of, as_dict
from breakeven.config.errors import ConfigError
from breakeven.engines.open import open_engine
from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf, load_engine
from breakeven.machine.clock import core_period
from breakeven.machine.resolve import Machine, resolve
from breakeven.points import CACHE_STATES, MEASURES, STREAM, Point, index_of
from breakeven.points.converged import measured
from breakeven.points.machine_spec import HOST, MachineSpec
from breakeven.points.record import PACKETS
from breakeven.routine.page import page as routine_page
from breakeven.routine.registry import user_file_by_routine
from breakeven.web.sources import Part, parameters

if TYPE_CHECKING:
    import pandas as pd

ISAS = ("riscv", "x86")
#: conditions and sizes, together, that are looked into: of a page, and of a part at most and at least
ON_A_PAGE, OF_A_PART, AT_LEAST = 80, 16, 2
#: of a part: conditions at most
CONDITIONS = 4
#: bytes of the largest point and of all its calls, and cycles of all its measurements
LARGEST, MOST_BYTES, MOST_CYCLES = 4 << 10, 4 << 20, 200_000
#: where all points of a part are beyond that, one is looked into: cycles of a page's, each part's share and what those
#: before it have left
LONG_CYCLES = 30_000_000
#: how far one call without those before it may be from the table's median
ALONE = 0.01
#: micro-ops of a page, all its pipelines together (some 30 bytes each); of one point and routine at least and at most
MICRO_OPS, FEWEST_OPS, MOST_OPS = 4000, 32, 200
#: routines of a part whose code the page has
LISTED = 12
#: bytes of a trace: some 4000 micro-ops
_TRACE = 1 << 20
#: booted machines that are kept
_KEPT = 8
#: columns that are a point's numbers
_NUMBERS = (
    "size", "src_offset", "dst_offset", "calls", "repetitions", "warmup", "seed", "parameter", "flags", "size2",
    "src_offset2", "dst_offset2", "distance",
)  # fmt: skip


class Details:
    """Looks into points, and keeps the listings of their routines. `trusted`: whether a machine's file may be run.
    `parts`: how many share the page."""

    def __init__(self, trusted: Callable[[MachineSpec], bool], parts: int) -> None:
        self._trusted = trusted
        self._most = min(OF_A_PART, max(AT_LEAST, ON_A_PAGE // max(1, parts)))
        self._ops = MICRO_OPS // max(1, parts)
        self._share = LONG_CYCLES // max(1, parts)
        #: cycles that may be spent on long points
        self._left = 0.0
        self._stack = ExitStack()
        self._engine: Any = None
        self._sessions: dict[MachineSpec, tuple[Machine, Any] | None] = {}
        #: routine -> what its file says, where it was published, [address, instruction]
        self.listings: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Details:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def of(self, part: Part, table: pd.DataFrame, axes: Sequence[str]) -> list[dict[str, Any]]:
        """What is known of some points of `table`: ``where`` (the values of `axes`), ``size``, and ``of``: a row for
        each routine with its account and, where its core keeps a trace, the cycles by address and the first micro-ops.
        """
        axes = [name for name in axes if name not in ("routine", "size")]
        found = []
        self._left += self._share
        for name in list(dict.fromkeys(table["routine"]))[:LISTED]:
            self._listing(str(name))
        chosen = list(_chosen(table, axes, self._most))
        ops = self._ops // max(1, sum(len(rows) for _, rows in chosen))
        for where, rows in chosen:
            looked = (self._look(part, row, max(FEWEST_OPS, min(MOST_OPS, ops))) for row in rows.to_dict("records"))
            accounts = [one for one in looked if one]
            if accounts:
                found.append({"where": where, "size": int(rows["size"].iloc[0]), "of": accounts})
        return found or self._long(part, table, axes)

    def _long(self, part: Part, table: pd.DataFrame, axes: list[str]) -> list[dict[str, Any]]:
        """As `of`, of the condition and size that take the fewest cycles, all routines together."""
        groups = table[table["size"] > 0].groupby([*axes, "size"], sort=False, dropna=False)
        of_each = [rows.to_dict("records") for _, rows in groups]
        try:
            cost, records = min(
                ((sum(_cost(row)[0] for row in rows), rows) for rows in of_each), key=lambda pair: pair[0]
            )
        except (UserError, ValueError, TypeError):
            return []  # a table may hold anything, or nothing
        if cost > self._left:
            return []
        self._left -= cost
        ops = max(FEWEST_OPS, min(MOST_OPS, self._ops // len(records)))
        accounts = [one for one in (self._look(part, row, ops, long=True) for row in records) if one]
        where = {name: records[0][name] for name in axes}
        return [{"where": where, "size": int(records[0]["size"]), "of": accounts}] if accounts else []

    def _look(self, part: Part, row: dict[str, Any], ops: int, long: bool = False) -> dict[str, Any] | None:
        """A row's point, simulated, with its first `ops` micro-ops; None where that cannot be done or gives other
        cycles. `long`: it may take long; of many cold calls one is simulated alone."""
        try:
            point = _point_of(row)
            looked_into = point.routine in self._known and (_is_short(point, row) or long)
            opened = self._session(_spec_of(part, row)) if looked_into and point.cache_state < PACKETS else None
            if opened is None:
                return None
            machine, session = opened
            alone = long and _cost(row)[1]
            if alone:
                point = replace(point, repetitions=1, warmup=0)
            by_rule = not alone and row.get("repetitions") in (None, Point("", 0).repetitions)
            with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
                file = Path(folder, "trace") if traces.keeps_one(machine) else None
                seen = measured(session, point, by_rule, *((file, _TRACE) if file else ()))
                off = abs(seen.result.cycles_median - row["cycles_median"])
                if not seen.result.ok or off > (ALONE * row["cycles_median"] if alone else 0):
                    return None
                account = as_dict(account_of(seen.stats, str(machine.spec)))
                ran = traces.rows(file.read_text(), core_period(machine), seen.begin) if file else []
        except (UserError, ConfigError, OSError, ValueError, TypeError, load_engine().EngineError):
            return None  # a table may hold anything
        lines = [{**line, "cycles": round(line["cycles"], 1), "percent": round(line["percent"], 2)}
                 for line in account["account"]]  # fmt: skip
        found = {"routine": point.routine, **account, "account": lines}
        if alone:
            found["alone"] = int(row["cycles_median"])
        if ran:
            pipeline = {**traces.packed(ran, ops), "cycles": seen.cycles}
            listed = {f"{address:#x}" for address, _ in self.listings.get(point.routine, {}).get("listing", ())}
            held = {address: cycles for address, cycles in traces.by_address(ran).items() if address in listed}
            found |= {"by_address": held, "whole": bool(seen.traced), "pipeline": pipeline}
        return found

    @cached_property
    def _known(self) -> dict[str, str]:
        """The routines that there are -> their instruction set."""
        own = {name: isa for isa in ISAS for name in user_file_by_routine(isa)}
        return {row["name"]: isa for isa in ISAS for row in load_engine().routines(guest_elf(isa))} | own

    def _session(self, spec: MachineSpec) -> tuple[Machine, Any] | None:
        """The machine and a session on the simulator itself; None for one that may not or cannot be made."""
        if spec not in self._sessions:
            if self._engine is None:
                # The store keeps no statistics.
                self._engine = self._stack.enter_context(open_engine(None, None, no_store=True))
            while len(self._sessions) >= _KEPT:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[spec] = None
            if spec.name != HOST and self._trusted(spec):
                self._sessions[spec] = (resolve(spec), self._engine.open(spec))
        return self._sessions[spec]

    def _listing(self, routine: str) -> None:
        isa = self._known.get(routine)
        if isa and routine not in self.listings:
            own = user_file_by_routine(isa).get(routine)
            found = routine_page(isa, routine, own.guest if own else None)
            self.listings[routine] = {name: found[name] for name in ("text", "published", "listing")}


def _chosen(table: pd.DataFrame, axes: list[str], most: int) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Some conditions, spread over all, and of each some sizes, with the rows of all their routines."""
    table = table[(table["size"] > 0) & (table["size"] <= LARGEST)]
    conditions = table[axes].drop_duplicates() if axes else None
    count = 1 if conditions is None else len(conditions)
    some = min(count, CONDITIONS, most)
    for place in [round(i * (count - 1) / max(1, some - 1)) for i in range(some)]:
        rows, where = table, {}
        if conditions is not None:
            values = conditions.iloc[place]
            for name in axes:
                rows = rows[rows[name] == values[name]]
            where = {name: values[name] for name in axes}
        sizes = sorted(set(rows["size"]))
        if sizes:
            low, high = math.log(sizes[0]), math.log(sizes[-1])
            each = most // some
            aims = [math.exp(low + (high - low) * (i + 1) / (each + 1)) for i in range(each)]
            for size in sorted({_nearest(sizes, aim) for aim in aims}):
                yield where, rows[rows["size"] == size]


def _nearest(sizes: list[int], aim: float) -> int:
    return min(sizes, key=lambda size: abs(size - aim))


def _is_short(point: Point, row: dict[str, Any]) -> bool:
    """Whether it is looked into: no stream, no packets, and nothing that keeps the reader waiting."""
    if point.measure == STREAM or point.cache_state >= PACKETS:
        return False
    measurements = point.repetitions + point.warmup
    moved = (point.size + 64) * point.calls * measurements
    return moved <= MOST_BYTES and row["cycles_median"] * measurements <= MOST_CYCLES


def _cost(row: dict[str, Any]) -> tuple[float, bool]:
    """Cycles of the calls that a look into a long point simulates, and whether that is one call alone: where every call
    finds cold caches, those before it hardly matter."""
    point = _point_of(row)
    calls = point.repetitions + point.warmup
    alone = calls > 1 and "cold" in CACHE_STATES[point.cache_state] and point.measure != STREAM
    return row["cycles_median"] * (1 if alone else calls), alone


def _spec_of(part: Part, row: dict[str, Any]) -> MachineSpec:
    """The machine of a row: the part's of that name, with the row's swept parameters."""
    name = row.get("machine")
    spec = next((shown.spec for shown in part.machines if name is None or str(shown.spec) == str(name)), None)
    if spec is None:
        spec = next((shown.spec for shown in part.machines if shown.spec.name == str(name)), None)
    if spec is None:
        raise UserError(f"{part.name} does not say what {name} is")
    return spec.with_settings(*(f"{path}={row[path]}" for path in parameters(part.table)))


def _point_of(row: dict[str, Any]) -> Point:
    numbers = {name: int(row[name]) for name in _NUMBERS if name in row and row[name] == row[name]}
    return Point(
        routine=str(row["routine"]), **numbers,
        cache_state=index_of(CACHE_STATES, str(row.get("cache_state", "warm")), "cache state"),
        measure=index_of(MEASURES, str(row.get("measure", "latency")), "measure"),
    )  # fmt: skip
