"""The store: every simulated point, kept with everything that produced it, so that none is simulated twice.

One SQLite file. A *context* is what decides a result besides the point: the engine (a hash of its sources), the
machine (a hash of its description) and the guest (a hash of its ELF). A *result* is the guest's 64-byte record under
its context and its 128-byte point record (docs/workload-contract.md). Both are kept as they are: what a newer version
wants to know of an old point can still be read out of it.

Results are written as they come, each batch in one transaction that is on the disk before the next one begins
(write-ahead log, ``synchronous=FULL``): killing a sweep loses the points in flight and no others. Any number of
processes on one machine may use one store; a network file system will not do (SQLite's locks).

`StoredEngine` puts a store before an engine. What runs points (a sweep, a study, the search for a break-even) sees an
`Engine` and knows nothing of stores.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from breakeven.errors import UserError
from breakeven.points import POINT_BYTES, RESULT_BYTES

if TYPE_CHECKING:
    import pandas as pd

#: marks the file as ours ("bkev") and its layout; SQLite keeps both numbers in the file's header
APPLICATION_ID = 0x626B6576
LAYOUT = 1
#: how long to wait for another process that is writing (s)
BUSY_SECONDS = 60
#: points looked up in one query; SQLite takes at least 999 parameters
_AT_ONCE = 500
#: `store = off`: keep nothing
OFF = "off"
ENVIRONMENT = "BREAKEVEN_STORE"

_SCHEMA = """
CREATE TABLE context (
    id INTEGER PRIMARY KEY,
    engine TEXT NOT NULL,       -- fingerprint of the engine's sources
    machine_hash TEXT NOT NULL, -- SHA-256 of the machine's canonical description
    guest TEXT NOT NULL,        -- SHA-256 of the guest's ELF
    machine TEXT NOT NULL,      -- the name and settings it was first asked for
    description BLOB NOT NULL,  -- zlib of the canonical description
    created INTEGER NOT NULL,   -- Unix time, s
    UNIQUE (engine, machine_hash, guest)
);
CREATE TABLE result (
    context INTEGER NOT NULL REFERENCES context (id) ON DELETE CASCADE,
    point BLOB NOT NULL,
    result BLOB NOT NULL,
    PRIMARY KEY (context, point)
) WITHOUT ROWID;
"""


class Identity(NamedTuple):
    """What decides a result besides the point."""

    engine: str
    machine_hash: str
    guest: str


class Context(NamedTuple):
    """A row of the store: one machine as one engine simulates it, and how many points there are of it."""

    id: int
    identity: Identity
    machine: str
    created: int
    points: int


def default_path() -> Path:
    """Where points are kept when nothing else is said: ``BREAKEVEN_STORE``, else the user's cache folder."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "breakeven" / "points.sqlite"


class Store:
    """An open store. Use it as a context manager, or `close` it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UserError(f"cannot make the store's folder {str(path.parent)!r}: {reason}") from None
        with self._errors():
            # autocommit: transactions are ours, see `_transaction`.
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            self._open()

    def _open(self) -> None:
        db = self._connection
        with self._errors():
            # In this order: another process that is making the store marks it together with its tables.
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            ours = db.execute("PRAGMA application_id").fetchone()[0]
        if tables and ours != APPLICATION_ID:
            self.close()
            raise UserError(f"{str(self.path)!r} is a database of another program: name another file for the store")
        with self._errors():
            self._write_ahead(db)
            db.execute("PRAGMA synchronous=FULL")
            db.execute("PRAGMA foreign_keys=ON")
            layout = db.execute("PRAGMA user_version").fetchone()[0] or self._create()
        if layout != LAYOUT:
            self.close()
            raise UserError(
                f"the store {str(self.path)!r} has layout {layout}, this breakeven reads {LAYOUT}: name another file"
            )

    def _write_ahead(self, db: sqlite3.Connection) -> None:
        """Turns the write-ahead log on; SQLite does not wait by itself for another process that is doing so."""
        end = time.monotonic() + BUSY_SECONDS
        while db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                db.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def _create(self) -> int:
        with self._transaction() as db:
            # Another process may have been faster.
            layout = db.execute("PRAGMA user_version").fetchone()[0]
            if layout:
                return int(layout)
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            db.execute(f"PRAGMA user_version={LAYOUT}")
        return LAYOUT

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            raise UserError(f"the store {str(self.path)!r} is closed")
        return self._db

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """SQLite's errors as one sentence with the file's name and the fix."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            name, text = str(self.path), str(error)
            if "not a database" in text or "malformed" in text:
                fix = "name another file, or delete it"
            elif "full" in text or "disk I/O" in text:
                fix = "make room; every point stored so far is still there"
            elif "locked" in text:
                fix = f"another process has kept it for {BUSY_SECONDS} s: wait for it, or name another file"
            elif "readonly" in text or "unable to open" in text:
                fix = f"name a file that can be written (--store, or {ENVIRONMENT}), or use --no-store"
            else:
                fix = "name another file (--store), or use --no-store"
            raise UserError(f"the store {name!r}: {text}: {fix}") from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self._connection
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            # A failed COMMIT (full disk) may have ended the transaction already.
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def context(self, identity: Identity, machine: str, description: str) -> int:
        """The id of a context; kept from now on when it is new."""
        found = self.find(identity)
        if found is not None:
            return found
        with self._errors(), self._transaction() as db:
            db.execute(
                "INSERT OR IGNORE INTO context (engine, machine_hash, guest, machine, description, created)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (*identity, machine, zlib.compress(description.encode()), int(time.time())),
            )
        found = self.find(identity)
        if found is None:
            raise UserError(f"the store {str(self.path)!r} lost a context that was just written: prune ran meanwhile?")
        return found

    def find(self, identity: Identity) -> int | None:
        """The id of a context, when there is one."""
        with self._errors():
            row = self._connection.execute(
                "SELECT id FROM context WHERE engine=? AND machine_hash=? AND guest=?", identity
            ).fetchone()
        return None if row is None else int(row[0])

    def known(self, context: int, points: Sequence[bytes]) -> list[bytes | None]:
        """The results that there are of `points`, in their order; their `index` field is 0."""
        have: dict[bytes, bytes] = {}
        with self._errors():
            for start in range(0, len(points), _AT_ONCE):
                some = points[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                have.update(
                    self._connection.execute(
                        f"SELECT point, result FROM result WHERE context=? AND point IN ({marks})", (context, *some)
                    )
                )
        return [have.get(point) for point in points]

    def add(self, context: int, points: Sequence[bytes], results: Sequence[bytes]) -> None:
        """Keeps results, in one transaction. A point that another process kept meanwhile stays as it is."""
        rows = [(context, p, b"\0\0\0\0" + r[4:]) for p, r in zip(points, results, strict=True)]
        with self._errors(), self._transaction() as db:
            db.executemany("INSERT OR IGNORE INTO result (context, point, result) VALUES (?, ?, ?)", rows)

    def contexts(self) -> list[Context]:
        """What there is, oldest first."""
        query = (
            "SELECT c.id, engine, machine_hash, guest, machine, created,"
            " (SELECT count(*) FROM result WHERE context = c.id) FROM context c ORDER BY c.id"
        )
        with self._errors():
            rows = self._connection.execute(query).fetchall()
        return [Context(row[0], Identity(*row[1:4]), row[4], row[5], row[6]) for row in rows]

    def description(self, context: int) -> str:
        """The machine's canonical description."""
        with self._errors():
            row = self._connection.execute("SELECT description FROM context WHERE id=?", (context,)).fetchone()
        if row is None:
            raise UserError(f"the store {str(self.path)!r} has no context {context}")
        return zlib.decompress(row[0]).decode()

    def check(self) -> list[str]:
        """What SQLite's own integrity check finds; empty: nothing is wrong."""
        with self._errors():
            rows = self._connection.execute("PRAGMA integrity_check").fetchall()
        return [row[0] for row in rows if row[0] != "ok"]

    def prune(self, engine: str) -> int:
        """Deletes the points of every engine but `engine`, and gives the room back; how many points went."""
        with self._errors():
            with self._transaction() as db:
                gone = db.execute(
                    "SELECT count(*) FROM result WHERE context IN (SELECT id FROM context WHERE engine<>?)", (engine,)
                ).fetchone()[0]
                db.execute("DELETE FROM context WHERE engine<>?", (engine,))
            self._connection.execute("VACUUM")
        return int(gone)

    def frame(self, machine: str | None = None, engine: str | None = None) -> pd.DataFrame:
        """Every point as a data frame: the columns of a sweep's table, and `machine_hash`, `engine`, `guest`.

        `machine`: only of machines asked for by this name (with its settings); `engine`: only of this fingerprint.
        """
        import numpy as np
        import pandas as pd

        from breakeven import points as pt
        from breakeven.sweep import frame

        frames = []
        for context in self.contexts():
            if (machine is not None and context.machine != machine) or (engine not in (None, context.identity.engine)):
                continue
            with self._errors():
                rows = self._connection.execute(
                    "SELECT point, result FROM result WHERE context=? ORDER BY point", (context.id,)
                ).fetchall()
            whole = [(p, r) for p, r in rows if len(p) == POINT_BYTES and len(r) == RESULT_BYTES]
            records = np.frombuffer(b"".join(p for p, _ in whole), pt.point_dtype())
            results = np.frombuffer(b"".join(r for _, r in whole), pt.result_dtype())
            if len(whole):
                table = frame(context.machine, {}, records, results)
                frames.append(table.assign(**context.identity._asdict()))
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def statistics(self) -> dict[str, Any]:
        """Points, contexts and the file's size (bytes)."""
        contexts = self.contexts()
        size = self.path.stat().st_size if self.path.exists() else 0
        return {"file": str(self.path), "bytes": size, "contexts": len(contexts),
                "points": sum(context.points for context in contexts)}  # fmt: skip
