"""A store of what is whole in a damaged one."""

from __future__ import annotations

import itertools
import os
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from breakeven.errors import UserError
from breakeven.files.places import resolved
from breakeven.store.database import Store
from breakeven.store.file import Room, bounded, check_files, is_made_by_us
from breakeven.store.rows import APPLICATION_ID, CONTEXT_COLUMNS, UNNAMED, ContextRow, is_whole, note_is_whole

#: how long another process may keep the file (s)
SECONDS = 1.0
#: rows that are read at once
_AT_ONCE = 500


class Repaired(NamedTuple):
    """What `repair` did. `kept`: points of the new store; `lost`: rows that could be read and were damaged;
    `unreadable`: parts of the file that SQLite could not read; `old`: where the damaged file is now."""

    kept: int
    lost: int
    unreadable: int
    old: Path


def repair(path: Path) -> Repaired:
    """Makes a new store at `path` of the whole rows of the one there, which becomes ``path.damaged`` (``-2`` and so
    on where that is taken).

    Points whose machine's name is damaged are kept as of `UNNAMED`. Raises `UserError` where the file is no store,
    another process uses it, or nothing can be read of it.
    """
    if not (os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK)):
        raise UserError(
            f"the store {str(path)!r} cannot be written: copy it to a folder that can be, and repair the copy"
        )
    check_files(path)
    with suppress(UserError):
        Store(path).close()  # of an earlier layout: its rows get checksums, where that goes
    with tempfile.TemporaryDirectory(prefix=f"{path.name}.repair-", dir=path.parent) as folder:
        return _repaired(path, Path(folder) / path.name)


def _repaired(path: Path, fresh: Path) -> Repaired:
    """`repair`, by way of a store that is made at `fresh`."""
    log = path.with_name(f"{path.name}-wal")
    size = sum(each.stat().st_size for each in (path, log) if each.exists())
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", SECONDS, uri=True)) as db:
            db.isolation_level = None
            db.text_factory = lambda data: data.decode(errors="replace")
            with bounded(db):
                _keep_others_out(db, path)
                if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                    raise UserError(f"{str(path)!r} is no store of breakeven: nothing was changed")
                schema = list(_readable(db, Room(size), "SELECT type, name, sql FROM sqlite_master"))
                if None not in schema and not is_made_by_us(schema):  # type: ignore[arg-type]
                    raise UserError(f"{str(path)!r} holds other tables than a store: nothing was changed")
            with Store(fresh) as store, bounded(db, size):
                kept, lost, unreadable = _copied(db, Room(size), store)
            return Repaired(kept, lost, unreadable, _replaced(db, path, fresh))
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise UserError(f"nothing can be read of {str(path)!r} ({error}): delete it, or name another file") from None


def _keep_others_out(db: sqlite3.Connection, path: Path) -> None:
    """Takes the file for this process alone, up to its end. A process that has it open may be writing to its log:
    points that go there while the file is replaced would be in no store."""
    try:
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        db.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        raise UserError(
            f"the store {str(path)!r} is in use: wait until the other commands have ended, then repair it"
        ) from None


def _replaced(db: sqlite3.Connection, path: Path, fresh: Path) -> Path:
    """Puts `fresh` into the place of the file that `db` has for itself; where that one is now."""
    # What is in the log goes into the file, and SQLite deletes the log: it would be taken for the new file's.
    try:
        with bounded(db):  # it reads the schema
            db.execute("PRAGMA journal_mode=MEMORY")
    except sqlite3.DatabaseError:
        db.close()  # its tables cannot be read, so that nobody else opens it meanwhile
    if path.with_name(f"{path.name}-wal").exists():
        raise sqlite3.DatabaseError("its log cannot be put into it")
    old = next(each for each in _names(path) if not os.path.lexists(each))
    try:
        os.link(resolved(path), old)  # a second name: there is a store at `path` at any time
    except OSError:
        path.replace(old)  # a file system without links
    fresh.replace(path)
    return old


def _names(path: Path) -> Iterator[Path]:
    """Where the damaged file may go: an earlier one stays."""
    yield path.with_name(f"{path.name}.damaged")
    yield from (path.with_name(f"{path.name}.damaged-{number}") for number in itertools.count(2))


def _copied(db: sqlite3.Connection, room: Room, store: Store) -> tuple[int, int, int]:
    """Puts what is whole into `store`: points kept, rows lost, parts unreadable.

    A few rows at a time, and no more than the file has room for: pages that are in many places stand for any number.
    """
    # Not so where an earlier layout was too damaged for `Store` to bring it to this one: without checksums of contexts
    # and notes.
    summed = any(column[1] == "sum" for column in _readable(db, room, "PRAGMA table_info(context)") if column)
    columns = CONTEXT_COLUMNS if summed else CONTEXT_COLUMNS.replace("sum", "NULL")
    found: Counter[str] = Counter()
    for row in _readable(db, room, f"SELECT {columns} FROM context"):
        if row is None:
            found["unreadable"] += 1
            continue
        context = ContextRow(*row)
        named = context.is_whole if summed else context.description is not None
        found["lost"] += not named
        points = _readable(db, room, "SELECT point, result, sum FROM result WHERE context=?", context.id)
        for some in _whole(points, partial(is_whole, context.identity), found):
            new = _context(store, context, named)
            store.add(new, [point for point, _ in some], [result for _, result in some])
        if summed:
            notes = _readable(db, room, "SELECT question, answer, sum FROM note WHERE context=?", context.id)
            for some in _whole(notes, partial(note_is_whole, context.identity), found):
                new = _context(store, context, named)
                for question, answer in some:
                    store.note(new, question, answer)
    return store.count("result"), found["lost"], found["unreadable"]


def _context(store: Store, context: ContextRow, named: bool) -> int:
    return store.context(context.identity, context.machine if named else UNNAMED, context.description or "")


def _whole(
    rows: Iterator[tuple[Any, ...] | None], is_so: Callable[..., bool], found: Counter[str]
) -> Iterator[list[tuple[Any, ...]]]:
    """What rows hold besides their checksums, `_AT_ONCE` at a time; counts the others."""
    while some := list(islice(rows, _AT_ONCE)):
        whole = [row[:2] for row in some if row and is_so(*row)]
        unreadable = some.count(None)
        found["unreadable"] += unreadable
        found["lost"] += len(some) - unreadable - len(whole)
        if whole:
            yield whole


def _readable(db: sqlite3.Connection, room: Room, query: str, *values: object) -> Iterator[tuple[Any, ...] | None]:
    """The rows of a query; None, and the end, where SQLite can read no further, or there is more than `room`."""
    try:
        for row in db.execute(query, values):
            room.take(row)
            yield row
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        yield None
