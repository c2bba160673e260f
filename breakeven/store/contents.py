"""All that a store holds: as a table, and whether it is what was written."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd

from breakeven import points as pt
from breakeven.errors import printable, say
from breakeven.points.record import RANGES
from breakeven.points.table import DESCRIBED
from breakeven.points.table import frame as frame_of
from breakeven.store.database import Store
from breakeven.store.file import damaged
from breakeven.store.rows import UNNAMED, Context, note_is_whole


def check(store: Store) -> list[str]:
    """What is wrong: SQLite's own integrity check, and rows whose checksum does not fit; empty: nothing."""
    wrong = store.disorder()
    if wrong:
        return wrong  # rows could be there again and again
    for row in store.context_rows():
        name = row.machine if row.is_whole else UNNAMED
        if not row.is_whole:
            wrong.append(f"the name or the description of a machine is damaged (its points are shown as of {name})")
        points = store.rows(row)[1]
        notes = store.read("SELECT question, answer, sum FROM note WHERE context=?", row.id)
        spoiled = sum(not note_is_whole(row.identity, *note) for note in notes)
        wrong += [f"{points} damaged rows of {name}"] if points else []
        wrong += [f"{spoiled} damaged notes on {name}"] if spoiled else []
    for table in ("result", "note"):
        lost = store.count(f"{table} WHERE context NOT IN (SELECT id FROM context)")
        wrong += [f"{lost} rows of {table} are of no machine"] if lost else []
    return wrong


def frame(store: Store, machine: str | None = None, engine: str | None = None) -> pd.DataFrame:
    """Every point as a data frame: the columns of a sweep's table, and `machine_hash`, `engine`, `guest`.

    `machine`: only of machines asked for by this name (with its settings); `engine`: only of this fingerprint.
    Raises `UserError` where SQLite finds damage: rows could be missing, or there twice.
    """
    frames = [table for _, table in tables(store, machine, engine)]
    return without_defaults(pd.concat(frames, ignore_index=True)) if frames else pd.DataFrame()


def tables(
    store: Store, machine: str | None = None, engine: str | None = None
) -> Iterator[tuple[Context, pd.DataFrame]]:
    """What `frame` has, a context at a time: those with points that this version knows, with all columns."""
    if wrong := store.disorder():
        raise damaged(store.path, wrong[0])
    unknown = 0
    for context in store.contexts():
        if (machine is not None and context.machine != machine) or (engine not in (None, context.identity.engine)):
            continue
        whole, lost = store.rows(context)
        store.damaged += lost
        records = np.frombuffer(b"".join(p for p, _ in whole), pt.point_dtype())
        results = np.frombuffer(b"".join(r for _, r in whole), pt.result_dtype())
        known = _known(records)
        unknown += int((~known).sum())
        records, results = records[known], results[known]
        if len(records):
            table = frame_of(printable(context.machine), {}, records, results)
            # What a sweep's table says only where it is not the default: all that tells two points apart.
            more = {column: records[column].astype("i8") for column in (*DESCRIBED, "mix")}
            yield context, table.assign(**more, **context.identity._asdict())
    if unknown:
        text = f"{unknown} points of the store {str(store.path)!r} are none that this version knows: left out"
        say(f"breakeven: {text}", file=sys.stderr)


def without_defaults(table: pd.DataFrame) -> pd.DataFrame:
    default = {name: getattr(pt.Point("", 0), name) for name in (*DESCRIBED, "mix")}
    return table.drop(columns=[name for name in default if (table[name] == default[name]).all()])


def _known(records: np.ndarray) -> np.ndarray:
    """Which points have a name, a cache state and a measure that there are: a store says what its maker wrote."""
    names = [name for name in np.unique(records["routine"]) if _is_name(name)]
    states, measures = (records[name] < len(known) for name, known in _NAMED)
    named = np.isin(records["routine"], np.array(names, records["routine"].dtype))
    mixed = (records["mix"] != 0) == (records["measure"] == pt.MIX)
    ranges = [(records[name] >= least) & (records[name] <= most) for name, (least, most) in RANGES.items()]
    known: np.ndarray = np.logical_and.reduce([named, states, measures, mixed, *ranges])
    return known


_NAMED = (("cache_state", pt.CACHE_STATES), ("measure", pt.MEASURES))


def _is_name(name: bytes) -> bool:
    try:
        pt.check_routine_name(name.decode())
    except ValueError:
        return False
    return True
