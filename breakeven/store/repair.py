"""A store of what is whole in a damaged one."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from breakeven.errors import UserError
from breakeven.points.engine import Identity
from breakeven.store.database import Store
from breakeven.store.rows import APPLICATION_ID, is_whole


class Repaired(NamedTuple):
    """What `repair` did. `kept`: rows of the new store; `lost`: rows that could be read and were damaged;
    `unreadable`: parts of the file that SQLite could not read; `old`: where the damaged file is now."""

    kept: int
    lost: int
    unreadable: int
    old: Path


def repair(path: Path) -> Repaired:
    """Makes a new store at `path` of the whole rows of the one there, which becomes ``path.damaged``.

    Raises `UserError` where the file is no store, or nothing can be read of it.
    """
    fresh = path.with_name(f"{path.name}.repaired")
    for name in _files(fresh):
        name.unlink(missing_ok=True)
    kept = lost = unreadable = 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=rw", uri=True)) as db:
            db.text_factory = lambda data: data.decode(errors="replace")
            if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise UserError(f"{str(path)!r} is no store of breakeven: nothing was changed")
            contexts = list(_readable(db, "SELECT id, engine, machine_hash, guest, machine, description FROM context"))
            with Store(fresh) as store:
                for id_, engine, machine_hash, guest, machine, packed in filter(None, contexts):
                    identity = Identity(engine, machine_hash, guest)
                    rows = list(_readable(db, "SELECT point, result, sum FROM result WHERE context=?", id_))
                    unreadable += rows.count(None)
                    whole = [(p, r) for p, r, total in filter(None, rows) if is_whole(identity, p, r, total)]
                    lost += sum(row is not None for row in rows) - len(whole)
                    description = _unpacked(packed)
                    if whole and description is not None:
                        new = store.context(identity, machine, description)
                        store.add(new, [p for p, _ in whole], [r for _, r in whole])
                        kept += len(whole)
    except sqlite3.DatabaseError as error:
        raise UserError(f"nothing can be read of {str(path)!r} ({error}): delete it, or name another file") from None
    unreadable += contexts.count(None)
    old = path.with_name(f"{path.name}.damaged")
    path.replace(old)
    for name in _files(path)[1:]:
        name.unlink(missing_ok=True)
    fresh.replace(path)
    return Repaired(kept, lost, unreadable, old)


def _files(path: Path) -> list[Path]:
    """A database and what SQLite keeps beside it."""
    return [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))]


def _readable(db: sqlite3.Connection, query: str, *values: object) -> Iterator[tuple[Any, ...] | None]:
    """The rows of a query; None, and the end, where SQLite can read no further."""
    try:
        yield from db.execute(query, values)
    except sqlite3.DatabaseError:
        yield None


def _unpacked(packed: object) -> str | None:
    """A description; None where it is damaged."""
    with suppress(zlib.error, UnicodeDecodeError, TypeError):
        return zlib.decompress(packed).decode()  # type: ignore[arg-type]
    return None
