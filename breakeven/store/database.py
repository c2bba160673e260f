"""The store: every simulated point, kept with everything that produced it, so that none is simulated twice.

One SQLite file. A *context* is what decides a result besides the point: the engine (a hash of its sources), the
machine (a hash of its description) and the guest (a hash of its ELF). A *result* is the guest's 64-byte record under
its context and its 128-byte point record (docs/guests.md). Both are kept as they are: what a newer version
wants to know of an old point can still be read out of it. A *note* is an answer that took many points, kept with the
context it is about.

Each row of each table has a checksum over all that it says and its context's key. A row that a disk or a program has
damaged counts as missing and is told: its point is simulated again, its question answered again. The points of a
context have checksums of their own, so they outlive what the context's row has lost: they are shown as of `UNNAMED`
until a command that knows the machine writes the row again.

Results are written as they come, each batch in one transaction that is on the disk before the next one begins
(write-ahead log, ``synchronous=FULL``): killing a sweep loses the points in flight and no others. Any number of
processes on one machine may use one store; a network file system will not do (SQLite's locks).

`StoredEngine` puts a store before an engine. What runs points (a sweep, a study, the search for a break-even) sees an
`Engine` and knows nothing of stores.
"""

from __future__ import annotations

import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from breakeven.errors import UserError, say
from breakeven.files import places
from breakeven.points.engine import FOREIGN, Identity
from breakeven.store.file import ENVIRONMENT, StoreFile
from breakeven.store.rows import (
    CONTEXT_COLUMNS,
    UNNAMED,
    Context,
    ContextRow,
    is_whole,
    note_is_whole,
    row_sum,
)

#: points looked up in one query; SQLite takes at least 999 parameters
_AT_ONCE = 500
#: which context an `Identity` is, and the id it has today: after `prune` another may have got the earlier one
_KEY = "engine=? AND machine_hash=? AND guest=?"
_NUMBER = f"(SELECT id FROM context WHERE {_KEY})"
#: `store = off`: keep nothing
OFF = "off"


def default_path() -> Path:
    """Where points are kept when nothing else is said: ``BREAKEVEN_STORE``, else the user's cache folder."""
    return places.named_by(ENVIRONMENT) or places.cache() / "points.sqlite"


class Store(StoreFile):
    """An open store, and what is kept in it."""

    def __init__(self, path: Path, durable: bool = True, reading: bool = False) -> None:
        super().__init__(path, durable, reading)
        self._identities: dict[int, Identity] = {}
        #: rows read so far whose checksum was wrong
        self.damaged = 0

    @contextmanager
    def telling(self, what: str) -> Iterator[None]:
        """Says on stderr how many of the rows that are read meanwhile are damaged, and `what` became of them."""
        before = self.damaged
        yield
        if damaged := self.damaged - before:
            say(
                f"breakeven: {damaged} rows of the store {str(self.path)!r} are damaged: {what} "
                "(`breakeven store check` looks at all)",
                file=sys.stderr,
            )

    def context(self, identity: Identity, machine: str, description: str) -> int:
        """The id of a context; kept from now on when it is new, or its row is damaged."""
        found = self._context_row(identity)
        if found is not None and found.is_whole and found.machine != UNNAMED:
            return found.id
        values = (machine, zlib.compress(description.encode()), int(time.time()))
        with self._errors(), self._transaction() as db:
            db.execute(
                "INSERT INTO context (engine, machine_hash, guest, machine, description, created, sum)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (engine, machine_hash, guest) DO UPDATE SET"
                " engine=excluded.engine, machine_hash=excluded.machine_hash, guest=excluded.guest,"
                " machine=excluded.machine, description=excluded.description, created=excluded.created,"
                " sum=excluded.sum",
                (*identity, *values, row_sum(identity, *values)),
            )
        found = self._context_row(identity)
        if found is None:
            raise UserError(f"the store {str(self.path)!r} lost a context that was just written: prune ran meanwhile?")
        return found.id

    def find(self, identity: Identity) -> int | None:
        """The id of a context, when there is one whose row is whole and names its machine."""
        found = self._context_row(identity)
        if found is None:
            return None
        self.damaged += not found.is_whole
        return found.id if found.is_whole and found.machine != UNNAMED else None

    def has(self, identity: Identity) -> bool:
        """Whether there is a row of a context, whole or not: its points are checked by themselves."""
        return self._context_row(identity) is not None

    def _context_row(self, identity: Identity) -> ContextRow | None:
        rows = self._first(f"SELECT {CONTEXT_COLUMNS} FROM context WHERE {_KEY}", *identity)
        if not rows:
            return None
        # Rows of this context are checked with what was asked for, not with what the file says.
        self._identities[rows[0][0]] = identity
        return ContextRow(*rows[0])

    def known(self, context: int, points: Sequence[bytes]) -> list[bytes | None]:
        """The results that there are of `points`, in their order; their `index` field is 0."""
        have: dict[bytes, bytes] = {}
        identity = self._identity(context)
        for start in range(0, len(points), _AT_ONCE):
            some = points[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            with self._few():
                rows = self._connection.execute(
                    f"SELECT point, result, sum FROM result WHERE context={_NUMBER} AND point IN ({marks})",
                    (*identity, *some),
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
            rows.append((point, result, row_sum(identity, point, result)))
        with self._errors(), self._transaction() as db:
            now = self._number(context)
            db.executemany(f"INSERT OR REPLACE INTO result (context, point, result, sum) VALUES ({now}, ?, ?, ?)", rows)

    def _identity(self, context: int) -> Identity:
        """What the context's rows are checked with."""
        if context not in self._identities:
            rows = self._first("SELECT engine, machine_hash, guest FROM context WHERE id=?", context)
            if not rows:
                raise self._lost(context)
            self._identities[context] = Identity(*rows[0])
        return self._identities[context]

    def _number(self, context: int) -> int:
        """The id that a context has today, to be asked in the transaction that writes under it."""
        (number,) = self._connection.execute(f"SELECT {_NUMBER}", self._identity(context)).fetchone()
        if number is None:
            raise self._lost(context)
        return int(number)

    def _lost(self, context: int) -> UserError:
        return UserError(f"the store {str(self.path)!r} has no context {context}: prune ran meanwhile?")

    def note(self, context: int, question: str, answer: str) -> None:
        """Keeps what was found out about a context; a later answer to the same question takes its place."""
        total = row_sum(self._identity(context), question, answer)
        with self._errors(), self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO note (context, question, answer, sum) VALUES (?, ?, ?, ?)",
                       (self._number(context), question, answer, total))  # fmt: skip

    def noted(self, context: int, question: str) -> str | None:
        """What `note` kept; None: nothing, or it is damaged."""
        identity = self._identity(context)
        rows = self._first(f"SELECT answer, sum FROM note WHERE context={_NUMBER} AND question=?", *identity, question)
        if rows and not note_is_whole(identity, question, *rows[0]):
            self.damaged += 1
            return None
        return str(rows[0][0]) if rows else None

    def contexts(self) -> list[Context]:
        """What there is, oldest first. Of a damaged row, what a point's checksum proves: the machine is `UNNAMED`."""
        found = []
        rows, counts = self.context_rows(), dict(self.read("SELECT context, count(*) FROM result GROUP BY context"))
        for row in rows:
            points = counts.get(row.id, 0)
            if row.is_whole:
                found.append(Context(row.id, row.identity, row.machine, row.created, points))
                continue
            self.damaged += 1
            if self._has_points(row):
                found.append(Context(row.id, row.identity, UNNAMED, 0, points))
        return found

    def context_rows(self) -> list[ContextRow]:
        """The rows of all contexts, whole or not."""
        return [ContextRow(*row) for row in self.read(f"SELECT {CONTEXT_COLUMNS} FROM context ORDER BY id")]

    def _has_points(self, row: ContextRow) -> bool:
        """Whether the checksum of a point says that the context's key is what was written."""
        with self._whole():
            rows = self._connection.execute("SELECT point, result, sum FROM result WHERE context=?", (row.id,))
            return any(is_whole(row.identity, *each) for each in rows)

    def description(self, context: int) -> str | None:
        """The machine's canonical description; None: the store has lost it."""
        rows = self._first(f"SELECT {CONTEXT_COLUMNS} FROM context WHERE id=?", context)
        if not rows:
            raise UserError(f"the store {str(self.path)!r} has no context {context}")
        return ContextRow(*rows[0]).description

    def rows(self, context: Context | ContextRow) -> tuple[list[tuple[bytes, bytes]], int]:
        """The whole rows of a context, points and results, and how many are damaged."""
        rows = self.read("SELECT point, result, sum FROM result WHERE context=? ORDER BY point", context.id)
        whole = [(p, r) for p, r, total in rows if is_whole(context.identity, p, r, total)]
        return whole, len(rows) - len(whole)

    def prune(self, engine: str) -> int:
        """Deletes the points of every version of ours but `engine`, and gives the room back; how many points went."""
        self._check_pages()
        old, which = "engine<>? AND substr(engine, 1, ?)<>?", (engine, len(FOREIGN), FOREIGN)
        with self._errors():
            with self._transaction() as db:
                gone = db.execute(
                    f"SELECT count(*) FROM result WHERE context IN (SELECT id FROM context WHERE {old})", which
                ).fetchone()[0]
                db.execute(f"DELETE FROM context WHERE {old}", which)
            self._connection.execute("VACUUM")
        return int(gone)

    def statistics(self) -> dict[str, Any]:
        """Points, contexts and the file's size (bytes)."""
        size = self.path.stat().st_size if self.path.exists() else 0
        return {"file": str(self.path), "bytes": size, "contexts": self.count("context"),
                "points": self.count("result")}  # fmt: skip

    def count(self, rows: str, *values: object) -> int:
        """How many there are: a table, and perhaps a condition."""
        return int(self.read(f"SELECT count(*) FROM {rows}", *values)[0][0])

    def read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """All rows of a query, as they stand in the file: anything may be damaged, but each row is there once."""
        self._check_pages()
        with self._whole():
            return self._connection.execute(query, values).fetchall()

    def _first(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The row of a query by a key, where there is one."""
        with self._few():
            return self._connection.execute(query, values).fetchmany(1)
