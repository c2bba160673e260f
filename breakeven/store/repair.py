"""A store of what is whole in a damaged one."""

from __future__ import annotations

import itertools
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from breakeven.errors import UserError
from breakeven.store.database import Store
from breakeven.store.foreign import check_files, is_made_by_us
from breakeven.store.rows import APPLICATION_ID, CONTEXT_COLUMNS, UNNAMED, ContextRow, is_whole, note_is_whole


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

    Points whose machine's name is damaged are kept as of `UNNAMED`. Raises `UserError` where the file is no store, or
    nothing can be read of it.
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
    kept = lost = unreadable = 0
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as db:
            db.text_factory = lambda data: data.decode(errors="replace")
            if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise UserError(f"{str(path)!r} is no store of breakeven: nothing was changed")
            schema = list(_readable(db, "SELECT type, name, sql FROM sqlite_master"))
            if None not in schema and not is_made_by_us(schema):  # type: ignore[arg-type]
                raise UserError(f"{str(path)!r} holds other tables than a store: nothing was changed")
            # Not so where an earlier layout was too damaged for `Store` to bring it to this one.
            summed = any(column[1] == "sum" for column in _readable(db, "PRAGMA table_info(context)") if column)
            columns = CONTEXT_COLUMNS if summed else CONTEXT_COLUMNS.replace("sum", "NULL")
            contexts = list(_readable(db, f"SELECT {columns} FROM context"))
            with Store(fresh) as store:
                for row in filter(None, contexts):
                    done = _copied(db, ContextRow(*row), store, summed)
                    kept, lost, unreadable = kept + done[0], lost + done[1], unreadable + done[2]
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise UserError(f"nothing can be read of {str(path)!r} ({error}): delete it, or name another file") from None
    unreadable += contexts.count(None)
    old = next(each for each in _names(path) if not os.path.lexists(each))
    path.replace(old)
    for name in _files(path)[1:]:
        name.unlink(missing_ok=True)
    fresh.replace(path)
    return Repaired(kept, lost, unreadable, old)


def _names(path: Path) -> Iterator[Path]:
    """Where the damaged file may go: an earlier one stays."""
    yield path.with_name(f"{path.name}.damaged")
    yield from (path.with_name(f"{path.name}.damaged-{number}") for number in itertools.count(2))


def _copied(db: sqlite3.Connection, context: ContextRow, store: Store, summed: bool) -> tuple[int, int, int]:
    """Puts what is whole of a context into `store`: points kept, rows lost, parts unreadable. `summed`: the file has
    checksums of contexts and notes."""
    points = list(_readable(db, "SELECT point, result, sum FROM result WHERE context=?", context.id))
    notes = list(_readable(db, "SELECT question, answer, sum FROM note WHERE context=?", context.id) if summed else ())
    whole = [row[:2] for row in points if row and is_whole(context.identity, *row)]
    answers = [row[:2] for row in notes if row and note_is_whole(context.identity, *row)]
    unreadable = points.count(None) + notes.count(None)
    named = context.is_whole if summed else context.description is not None
    lost = len(points) + len(notes) - unreadable - len(whole) - len(answers) + (not named)
    if whole or answers:
        name = context.machine if named else UNNAMED
        new = store.context(context.identity, name, context.description or "")
        store.add(new, [point for point, _ in whole], [result for _, result in whole])
        for question, answer in answers:
            store.note(new, question, answer)
    return len(whole), lost, unreadable


def _files(path: Path) -> list[Path]:
    """A database and what SQLite keeps beside it."""
    return [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))]


def _readable(db: sqlite3.Connection, query: str, *values: object) -> Iterator[tuple[Any, ...] | None]:
    """The rows of a query; None, and the end, where SQLite can read no further."""
    try:
        yield from db.execute(query, values)
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        yield None
