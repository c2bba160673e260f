"""What a page keeps of single points besides their cycles: where those went, the instructions and the micro-ops.

Tables hold neither. A few points of each part are simulated again when the page is written, and kept where they take
the very cycles that the table has: a table of another engine, of a changed preset or of made-up numbers gets none.
"""

from __future__ import annotations

import math
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.analysis import traces
from breakeven.analysis.topdown import account_of, as_dict
from breakeven.config.errors import ConfigError
from breakeven.engines.open import open_engine
from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf, load_engine
from breakeven.machine.clock import core_period
from breakeven.machine.resolve import Machine, of_request, resolve
from breakeven.points import CACHE_STATES, MEASURES, MIX, SLOPES, STREAM, Point, index_of
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
#: where all points of a part are beyond that, one is looked into: cycles of all those of a page, the cheapest first
LONG_CYCLES = 140_000_000
#: bytes a cycle that a long point is believed to move, and rows of a condition and size: a table may say anything
BELIEVED, MOST_ROWS = 4, 64
#: why a part has no account though it is short enough
NOT_AS_BEFORE = (
    "A page keeps accounts of points for which the simulator gives the table's very cycles, on a machine and of "
    "routines that it has; of packets and hosts it keeps none."
)
#: how far one call without those before it may be from the table's median
ALONE = 0.01
#: micro-ops of a page, all its pipelines together (some 30 bytes each); of one point and routine at least and at most
MICRO_OPS, FEWEST_OPS, MOST_OPS = 4000, 32, 200
#: routines that share those of a long point
LONG_ROUTINES = 2
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
        #: one thread at a time makes machines
        self._making = threading.Lock()
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
        for name in list(dict.fromkeys(table["routine"]))[:LISTED]:
            self._listing(str(name))
        chosen = list(_chosen(table, axes, self._most))
        ops = self._ops // max(1, sum(len(rows) for _, rows in chosen))
        jobs = [(part, row) for _, rows in chosen for row in rows.to_dict("records")]
        looks = iter(self._looks(jobs, ops))
        for where, rows in chosen:
            accounts = [one for one in islice(looks, len(rows)) if one]
            if accounts:
                found.append({"where": where, "size": int(rows["size"].iloc[0]), "of": accounts})
        return found

    def of_long(self, parts: Sequence[tuple[Part, pd.DataFrame, Sequence[str]]]) -> list[dict[str, Any] | str]:
        """Of each of these parts, of which `of` knows nothing: the same of the condition and size that take the fewest
        cycles, all routines together; or a sentence why there is none."""
        cheapest = [_cheapest(table, axes) for _, table, axes in parts]
        left, found = float(LONG_CYCLES), ["" if one else NOT_AS_BEFORE for one in cheapest]
        for place in sorted((i for i, one in enumerate(cheapest) if one), key=lambda i: cheapest[i]["cost"]):
            if (cost := cheapest[place]["cost"]) <= left:
                left -= cost
                continue
            found[place] = (
                f"Its shortest points take {cost / 1e6:.0f} million simulated cycles; a page has "
                f"{LONG_CYCLES / 1e6:.0f} million for all such looks, the shortest first."
            )
        jobs = [
            (place, i, row) for place, why in enumerate(found) if not why for i, row in enumerate(cheapest[place]["of"])
        ]
        # The long ones first: at the end no core waits for another.
        jobs.sort(key=lambda job: -_cost(job[2])[0])
        looks = self._looks([(parts[place][0], row) for place, _, row in jobs], self._ops // LONG_ROUTINES, long=True)
        seen = {(place, i): look for (place, i, _), look in zip(jobs, looks, strict=True)}
        of_each = [
            [look for key in sorted(seen) if key[0] == place and (look := seen[key])] for place in range(len(parts))
        ]
        return [
            why or ({"where": one["where"], "size": one["size"], "of": accounts} if accounts else NOT_AS_BEFORE)
            for why, one, accounts in zip(found, cheapest, of_each, strict=True)
        ]

    def _looks(
        self, jobs: Sequence[tuple[Part, dict[str, Any]]], ops: int, long: bool = False
    ) -> list[dict[str, Any] | None]:
        """`_look` at each row, on all cores."""
        ops = max(FEWEST_OPS, min(MOST_OPS, ops))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            looks = [pool.submit(of_request(self._look, part, row, ops, long)) for part, row in jobs]
        return [look.result() for look in looks]

    def _look(self, part: Part, row: dict[str, Any], ops: int, long: bool = False) -> dict[str, Any] | None:
        """A row's point, simulated, with its first `ops` micro-ops; None where that cannot be done or gives other
        cycles. `long`: it may take long; of many cold calls one is simulated alone."""
        try:
            point = _point_of(row)
            looked_into = point.routine in self._known and (_is_short(point, row) or long)
            with self._making:
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
                account = as_dict(account_of(seen.stats, str(machine.spec), seen.subtracted))
                ran = traces.rows(file.read_text(), core_period(machine), seen.begin) if file else []
        except (UserError, ConfigError, OSError, ValueError, TypeError, load_engine().EngineError):
            return None  # a table may hold anything
        lines = [{**line, "cycles": round(line["cycles"], 1), "percent": round(line["percent"], 2)}
                 for line in account["account"]]  # fmt: skip
        found = {"routine": point.routine, **account, "account": lines}
        if MEASURES[point.measure] in SLOPES:
            found["calls"] = point.calls
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
                yield where, rows[rows["size"] == size].head(MOST_ROWS)


def _cheapest(table: pd.DataFrame, axes: Sequence[str]) -> dict[str, Any]:
    """The condition (``where``) and size whose points (``of``) take the fewest cycles (``cost``); nothing where a
    table has none."""
    axes = [name for name in axes if name not in ("routine", "size")]
    groups = table[table["size"] > 0].groupby([*axes, "size"], sort=False, dropna=False)
    try:
        cost, records = min(
            ((sum(_cost(row)[0] for row in rows), rows) for rows in (rows.to_dict("records") for _, rows in groups)),
            key=lambda pair: pair[0],
        )
    except (UserError, ValueError, TypeError):
        return {}  # a table may hold anything, or nothing
    where = {name: records[0][name] for name in axes}
    return {"where": where, "size": int(records[0]["size"]), "of": records, "cost": cost}


def _nearest(sizes: list[int], aim: float) -> int:
    return min(sizes, key=lambda size: abs(size - aim))


def _is_short(point: Point, row: dict[str, Any]) -> bool:
    """Whether it is looked into: no stream, no mix, no packets, and nothing that keeps the reader waiting."""
    if point.measure in (STREAM, MIX) or point.cache_state >= PACKETS:
        return False
    measurements = point.repetitions + point.warmup
    return _moved(point) * measurements <= MOST_BYTES and row["cycles_median"] * measurements <= MOST_CYCLES


def _cost(row: dict[str, Any]) -> tuple[float, bool]:
    """Cycles of the calls that a look into a long point simulates, and whether that is one call alone: where every call
    finds cold caches, those before it hardly matter."""
    point = _point_of(row)
    calls = point.repetitions + point.warmup
    alone = calls > 1 and "cold" in CACHE_STATES[point.cache_state] and point.measure != STREAM
    calls = 1 if alone else calls
    # What a table says of cycles is no bound of what is simulated.
    return max(row["cycles_median"] * calls, _moved(point) * calls / BELIEVED), alone


def _moved(point: Point) -> int:
    """Bytes that a measurement moves, and some for each call."""
    return (abs(point.size) + abs(point.size2) + 64) * max(1, point.calls)


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
