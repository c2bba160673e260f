"""The store: every simulated point, kept with everything that produced it, so that none is simulated twice.

One SQLite file. A *context* is what decides a result besides the point: the engine (a hash of its sources), the
machine (a hash of its description) and the guest (a hash of its ELF). A *result* is the guest's 64-byte record under
its context and its 128-byte point record (docs/guests.md). Both are kept as they are: what a newer version
wants to know of an old point can still be read out of it. Each row has a checksum over its point, its result and the
context's key: a row that a disk or a program has damaged counts as missing, is told, and its point is simulated again.

Results are written as they come, each batch in one transaction that is on the disk before the next one begins
(write-ahead log, ``synchronous=FULL``): killing a sweep loses the points in flight and no others. Any number of
processes on one machine may use one store; a network file system will not do (SQLite's locks).

`StoredEngine` puts a store before an engine. What runs points (a sweep, a study, the search for a break-even) sees an
`Engine` and knows nothing of stores.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven import points as pt
from breakeven.errors import UserError
from breakeven.files import places
from breakeven.points.engine import FOREIGN, Identity
from breakeven.store.rows import APPLICATION_ID, LAYOUT, NOTES, SCHEMA, Context, is_whole, row_sum

if TYPE_CHECKING:
    import pandas as pd


#: how long to wait for another process that is writing (s)
BUSY_SECONDS = 60
#: points looked up in one query; SQLite takes at least 999 parameters
_AT_ONCE = 500
#: `store = off`: keep nothing
OFF = "off"
ENVIRONMENT = "BREAKEVEN_STORE"


def default_path() -> Path:
    """Where points are kept when nothing else is said: ``BREAKEVEN_STORE``, else the user's cache folder."""
    return places.named_by(ENVIRONMENT) or places.cache() / "points.sqlite"


class NotWritable(UserError):
    """Where the store is to be, nothing can be written."""


class Store:
    """An open store. Use it as a context manager, or `close` it.

    `durable`: what is kept outlives a power cut from its commit on; if not, the last seconds may be lost, no more.
    `reading`: nothing is to be written, so that a store in a folder that cannot be written will do.
    """

    def __init__(self, path: Path, durable: bool = True, reading: bool = False) -> None:
        self.path = path
        self._durable = durable
        self._db: sqlite3.Connection | None = None
        self._identities: dict[int, Identity] = {}
        # Threads of one process may share a store; its connection is for one at a time.
        self._turn = threading.RLock()
        #: rows read so far whose checksum was wrong
        self.damaged = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise NotWritable(f"cannot make the store's folder {str(path.parent)!r}: {reason}") from None
        with self._errors():
            # autocommit: transactions are ours, see `_transaction`.
            frozen = reading and path.is_file() and not os.access(path.parent, os.W_OK)
            name = self._frozen() if frozen else str(path)
            self._db = sqlite3.connect(
                name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=frozen
            )
            self._open(frozen)

    def _frozen(self) -> str:
        """SQLite's name for a file that nobody changes: it makes no files beside it, and reads no log there."""
        log = self.path.with_name(f"{self.path.name}-wal")
        if log.is_file() and log.stat().st_size:
            raise NotWritable(
                f"the store {str(self.path)!r} was not closed and cannot be written: "
                f"copy it and {log.name!r} to a folder that can be"
            )
        return f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"

    def _open(self, frozen: bool) -> None:
        db = self._connection
        with self._errors():
            # In this order: another process that is making the store marks it together with its tables.
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            ours = db.execute("PRAGMA application_id").fetchone()[0]
        if tables and ours != APPLICATION_ID:
            self.close()
            raise UserError(f"{str(self.path)!r} is a database of another program: name another file for the store")
        with self._errors():
            if not frozen:
                self._write_ahead(db)
            db.execute(f"PRAGMA synchronous={'FULL' if self._durable else 'NORMAL'}")
            db.execute("PRAGMA foreign_keys=ON")
            # Text that something has damaged is text all the same: it equals no key.
            db.text_factory = lambda data: data.decode(errors="replace")
            layout = db.execute("PRAGMA user_version").fetchone()[0] or self._create()
            if layout == 1:
                layout = self._add_sums()
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
            for statement in SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            db.execute(f"PRAGMA user_version={LAYOUT}")
        return LAYOUT

    def _add_sums(self) -> int:
        """From layout 1, whose rows have no checksum: they get one of what they hold today."""
        with self._transaction() as db:
            # Another process may have been faster.
            if db.execute("PRAGMA user_version").fetchone()[0] == 1:
                db.create_function("row_sum", 5, row_sum, deterministic=True)
                db.execute("ALTER TABLE result ADD COLUMN sum BLOB")
                db.execute(
                    "UPDATE result SET sum = (SELECT row_sum(engine, machine_hash, guest, result.point, result.result)"
                    " FROM context WHERE id = result.context)"
                )
                db.execute(f"PRAGMA user_version={LAYOUT}")
        return LAYOUT

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            raise UserError(f"the store {str(self.path)!r} is closed")
        return self._db

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """SQLite's errors as one sentence with the file's name and the fix; one thread at a time."""
        try:
            with self._turn:
                yield
        except sqlite3.DatabaseError as error:
            name, text, kind = str(self.path), str(error), UserError
            if "not a database" in text or "malformed" in text:
                fix = "take what is left with `breakeven store repair`, or name another file (--store)"
            elif "full" in text or "disk I/O" in text:
                fix = "make room; every point stored so far is still there"
            elif "locked" in text:
                fix = f"another process has kept it for {BUSY_SECONDS} s: wait for it, or name another file"
            elif "readonly" in text or "unable to open" in text:
                fix = f"name a file that can be written (--store, or {ENVIRONMENT}), or use --no-store"
                kind = NotWritable
            else:
                fix = "name another file (--store), or use --no-store"
            raise kind(f"the store {name!r}: {text}: {fix}") from None

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
        if row is not None and not isinstance(row[0], int):
            raise self._damage()
        return None if row is None else row[0]

    def known(self, context: int, points: Sequence[bytes]) -> list[bytes | None]:
        """The results that there are of `points`, in their order; their `index` field is 0."""
        have: dict[bytes, bytes] = {}
        identity = self._identity(context)
        with self._errors():
            for start in range(0, len(points), _AT_ONCE):
                some = points[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = self._connection.execute(
                    f"SELECT point, result, sum FROM result WHERE context=? AND point IN ({marks})", (context, *some)
                )
                for point, result, total in rows:
                    if is_whole(identity, point, result, total):
                        have[point] = result
                    else:
                        self.damaged += 1
        return [have.get(point) for point in points]

    def add(self, context: int, points: Sequence[bytes], results: Sequence[bytes]) -> None:
        """Keeps results, in one transaction. A row that there is (of another process, or damaged) is replaced."""
        identity = self._identity(context)
        rows = []
        for point, result in zip(points, results, strict=True):
            result = b"\0\0\0\0" + result[4:]
            rows.append((context, point, result, row_sum(*identity, point, result)))
        with self._errors(), self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO result (context, point, result, sum) VALUES (?, ?, ?, ?)", rows)

    def _identity(self, context: int) -> Identity:
        """What the context's rows are checked with."""
        if context not in self._identities:
            with self._errors():
                row = self._connection.execute(
                    "SELECT engine, machine_hash, guest FROM context WHERE id=?", (context,)
                ).fetchone()
            if row is None:
                raise UserError(f"the store {str(self.path)!r} has no context {context}: prune ran meanwhile?")
            self._identities[context] = Identity(*row)
        return self._identities[context]

    def note(self, context: int, question: str, answer: str) -> None:
        """Keeps what was found out about a context; a later answer to the same question takes its place."""
        with self._errors(), self._transaction() as db:
            db.execute(NOTES)
            db.execute("INSERT OR REPLACE INTO note (context, question, answer) VALUES (?, ?, ?)",
                       (context, question, answer))  # fmt: skip

    def noted(self, context: int, question: str) -> str | None:
        """What `note` kept; None: nothing."""
        with self._errors():
            if not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name='note'").fetchone():
                return None
            row = self._connection.execute(
                "SELECT answer FROM note WHERE context=? AND question=?", (context, question)
            ).fetchone()
        return None if row is None else str(row[0])

    def contexts(self) -> list[Context]:
        """What there is, oldest first."""
        query = (
            "SELECT c.id, engine, machine_hash, guest, machine, created,"
            " (SELECT count(*) FROM result WHERE context = c.id) FROM context c ORDER BY c.id"
        )
        with self._errors():
            rows = self._connection.execute(query).fetchall()
        if not all(isinstance(row[0], int) and all(isinstance(text, str) for text in row[1:5]) for row in rows):
            raise self._damage()
        return [Context(row[0], Identity(*row[1:4]), row[4], row[5], row[6]) for row in rows]

    def _damage(self) -> UserError:
        return UserError(f"the store {str(self.path)!r} is damaged: take what is left with `breakeven store repair`")

    def description(self, context: int) -> str:
        """The machine's canonical description."""
        with self._errors():
            row = self._connection.execute("SELECT description FROM context WHERE id=?", (context,)).fetchone()
        if row is None:
            raise UserError(f"the store {str(self.path)!r} has no context {context}")
        try:
            return zlib.decompress(row[0]).decode()
        except (zlib.error, UnicodeDecodeError, TypeError):
            raise UserError(
                f"the store {str(self.path)!r}: the description of context {context} is damaged: "
                "run `breakeven store repair`"
            ) from None

    def check(self) -> list[str]:
        """What is wrong: SQLite's own integrity check, and rows whose checksum does not fit; empty: nothing."""
        with self._errors():
            rows = self._connection.execute("PRAGMA integrity_check").fetchall()
        wrong = [row[0] for row in rows if row[0] != "ok"]
        for context in self.contexts():
            _, damaged = self._rows(context)
            wrong += [f"{damaged} damaged rows of {context.machine}"] if damaged else []
            try:
                if hashlib.sha256(self.description(context.id).encode()).hexdigest() != context.identity.machine_hash:
                    wrong.append(f"the description of {context.machine} is another machine's")
            except UserError:
                wrong.append(f"the description of {context.machine} is damaged")
        return wrong

    def _rows(self, context: Context) -> tuple[list[tuple[bytes, bytes]], int]:
        """The whole rows of a context, points and results, and how many are damaged."""
        with self._errors():
            rows = self._connection.execute(
                "SELECT point, result, sum FROM result WHERE context=? ORDER BY point", (context.id,)
            ).fetchall()
        whole = [(p, r) for p, r, total in rows if is_whole(context.identity, p, r, total)]
        return whole, len(rows) - len(whole)

    def prune(self, engine: str) -> int:
        """Deletes the points of every version of ours but `engine`, and gives the room back; how many points went."""
        old, which = "engine<>? AND substr(engine, 1, ?)<>?", (engine, len(FOREIGN), FOREIGN)
        with self._errors():
            with self._transaction() as db:
                gone = db.execute(
                    f"SELECT count(*) FROM result WHERE context IN (SELECT id FROM context WHERE {old})", which
                ).fetchone()[0]
                db.execute(f"DELETE FROM context WHERE {old}", which)
            self._connection.execute("VACUUM")
        return int(gone)

    def frame(self, machine: str | None = None, engine: str | None = None) -> pd.DataFrame:
        """Every point as a data frame: the columns of a sweep's table, and `machine_hash`, `engine`, `guest`.

        `machine`: only of machines asked for by this name (with its settings); `engine`: only of this fingerprint.
        """
        import numpy as np
        import pandas as pd

        from breakeven.points.table import DESCRIBED, frame

        frames = []
        for context in self.contexts():
            if (machine is not None and context.machine != machine) or (engine not in (None, context.identity.engine)):
                continue
            whole, damaged = self._rows(context)
            self.damaged += damaged
            records = np.frombuffer(b"".join(p for p, _ in whole), pt.point_dtype())
            results = np.frombuffer(b"".join(r for _, r in whole), pt.result_dtype())
            if len(whole):
                table = frame(context.machine, {}, records, results)
                # What a sweep's table says only where it is not the default: all that tells two points apart.
                more = {column: records[column].astype("i8") for column in DESCRIBED}
                frames.append(table.assign(**more, **context.identity._asdict()))
        if not frames:
            return pd.DataFrame()
        whole = pd.concat(frames, ignore_index=True)
        default = {name: getattr(pt.Point("", 0), name) for name in DESCRIBED}
        return whole.drop(columns=[name for name in DESCRIBED if (whole[name] == default[name]).all()])

    def statistics(self) -> dict[str, Any]:
        """Points, contexts and the file's size (bytes)."""
        contexts = self.contexts()
        size = self.path.stat().st_size if self.path.exists() else 0
        return {"file": str(self.path), "bytes": size, "contexts": len(contexts),
                "points": sum(context.points for context in contexts)}  # fmt: skip
