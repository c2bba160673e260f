"""The write-ahead log of a store's file."""

from __future__ import annotations

import sqlite3
import time


def turn_on(db: sqlite3.Connection, seconds: float) -> None:
    """Turns the log on, and waits up to `seconds` for another process that is doing so: SQLite does not by itself.

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
