"""Files that are no store of ours, or cannot be one, are refused before SQLite does what they say."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from breakeven.errors import UserError
from breakeven.store.rows import SCHEMA

#: comments and spaces of a statement, and the column that tables of an earlier layout lack
_NO_RULE, _LATER = re.compile(r"--[^\n]*|[ \t\r\n]+"), ",sumBLOB"


def _plain(statement: object) -> str:
    return _NO_RULE.sub("", str(statement)).replace(_LATER, "")


_TABLES = {_plain(statement) for statement in SCHEMA.split(";")} - {""}


def is_made_by_us(schema: Sequence[tuple[str, str, str | None]]) -> bool:
    """Whether a database's schema (type, name, SQL) is that of a store of any layout, and nothing else.

    Whatever else a schema may hold can make SQLite compute when a row is read, checked or written: views, triggers,
    virtual tables, generated columns, CHECK, DEFAULT, indexes on expressions and on parts of a table.
    """
    # SQLite makes an index of its own, without a statement, for PRIMARY KEY and UNIQUE.
    tables = [_plain(sql) for kind, _, sql in schema if kind != "index" or sql is not None]
    return len(tables) == len(set(tables)) and set(tables) <= _TABLES


def schema_of(db: sqlite3.Connection) -> list[tuple[str, str, str | None]]:
    """The schema of a database, as `is_made_by_us` looks at it; nothing in it is trusted from now on."""
    db.execute("PRAGMA trusted_schema=OFF")
    return db.execute("SELECT type, name, sql FROM sqlite_master").fetchall()


def check_files(path: Path) -> None:
    """Raises `UserError` where SQLite would open what is no plain file, or undo what a rollback journal names.

    Such a journal can name another file, which SQLite then deletes. A store has a write-ahead log in place of one.
    """
    store = Path(os.path.realpath(path))  # beside what SQLite opens, not beside a link to it
    for end, what in (("", "store"), ("-wal", "log"), ("-shm", "log"), ("-journal", "rollback journal")):
        file = store.with_name(store.name + end)
        try:
            plain = stat.S_ISREG(file.lstat().st_mode)
        except OSError:
            continue
        if end == "-journal" or not plain:
            raise UserError(
                f"cannot use the store {str(path)!r}: the {what} {str(file)!r} is no file of breakeven's: move it away"
                + ("" if end else ", or name another file (--store)")
            )


def turn_on_log(db: sqlite3.Connection, seconds: float) -> None:
    """Turns the write-ahead log on. Waits up to `seconds` for another process that is doing so: SQLite does not.

    Where there can be no log SQLite says nothing, and stays with what there was.
    """
    end = time.monotonic() + seconds
    while db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            # Without a file beside the store, which `check_files` of another process would refuse.
            db.execute("PRAGMA journal_mode=MEMORY")
            if db.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal":
                continue
            if time.monotonic() > end:
                raise sqlite3.OperationalError("it takes no write-ahead log")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        time.sleep(0.01)
