"""A store's file, open: the tables that it must have, transactions, SQLite's errors as sentences, and the distrust that
a file takes which somebody else may have made. What is in the tables is `Store`'s.

Files that are no store, or cannot be one, are refused before SQLite does what they say. What SQLite is asked has an
end, and Ctrl-C comes before it: pages that lead to the same pages, on and on, are few and stand for more rows than
anybody can wait for, and while SQLite is at work, Python sees no signal.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from breakeven.errors import UserError, printable
from breakeven.store.rows import APPLICATION_ID, LAYOUT, SCHEMA

#: how long to wait for another process that is writing (s)
BUSY_SECONDS = 60
ENVIRONMENT = "BREAKEVEN_STORE"
#: steps of SQLite's machine between two looks for a signal: less than a millisecond
_STEPS = 1000
#: steps of what is asked at once: what finds a few rows (500 points take some 20,000), and more for each byte of the
#: file where all rows are read (a row has 100 bytes or more, its check takes some 50 steps)
_FEW, _FOR_EACH_BYTE = 1_000_000, 10
#: comments and spaces of a statement, and the column that tables of an earlier layout lack
_NO_RULE, _LATER = re.compile(r"--[^\n]*|[ \t\r\n]+"), ",sumBLOB"


class NotWritable(UserError):
    """Where the store is to be, nothing can be written."""


def damaged(path: Path, what: str) -> UserError:
    """Of a store whose rows could be missing, or there twice."""
    said = printable(" ".join(what.split()))
    return UserError(
        f"the store {str(path)!r} is damaged ({said}): `breakeven store check` says more, "
        "`breakeven store repair` keeps what is whole"
    )


def _explained(error: sqlite3.DatabaseError | UnicodeDecodeError, path: Path) -> UserError:
    """An error of SQLite's as one sentence with the file's name and the fix."""
    # SQLite's own sentence may cite damaged bytes, which are no text.
    undecoded = isinstance(error, UnicodeDecodeError)
    text, kind = "malformed" if undecoded else str(error), UserError
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
    return kind(f"the store {str(path)!r}: {text}: {fix}")


def _frozen_name(path: Path) -> str:
    """SQLite's name for a file that nobody changes: it makes no files beside it, and reads no log there."""
    log = path.with_name(f"{path.name}-wal")
    if log.is_file() and log.stat().st_size:
        raise NotWritable(
            f"the store {str(path)!r} was not closed and cannot be written: "
            f"copy it and {log.name!r} to a folder that can be"
        )
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


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


def is_at(path: Path, before: os.stat_result | None) -> bool:
    """Whether there is still the file that was there `before`: `store repair` puts another in its place, and who waits
    meanwhile has opened the old one."""
    now = there(path)
    return before is None or (now is not None and os.path.samestat(before, now))


def there(path: Path) -> os.stat_result | None:
    """The file at `path`, for `is_at`."""
    return path.stat() if path.exists() else None


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


def size_of(db: sqlite3.Connection) -> int:
    """Bytes of a database with its log, as SQLite sees it now."""
    pages, each = (int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size"))
    return pages * each


@contextmanager
def bounded(db: sqlite3.Connection, size: int = 0) -> Iterator[None]:
    """Ends what is asked meanwhile: with `sqlite3.DatabaseError` after more steps than there is work for (`size`: bytes
    of the file, where all its rows may be read), and with what a signal's handler raises. Not for what writes: an
    interrupted batch of points would be lost."""
    raised: list[BaseException] = []
    left = [(_FEW + _FOR_EACH_BYTE * size) // _STEPS]

    def looks() -> Iterator[int]:
        # A generator: it goes on within its `try`, so that what a signal raises is seen; SQLite would drop it.
        try:
            while left[0] > 0:
                left[0] -= 1
                yield 0
        except GeneratorExit:
            raise
        except BaseException as error:
            raised.append(error)
        while True:
            yield 1

    db.set_progress_handler(looks().__next__, _STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if raised:
            raise raised[0] from None
        if left[0] <= 0 and "interrupted" in str(error):
            raise sqlite3.DatabaseError("malformed: it has more to read than its size allows") from None
        raise
    finally:
        db.set_progress_handler(None, 0)


class Room:
    """How much can be read of a damaged file: each of its bytes once."""

    def __init__(self, size: int) -> None:
        # What is no row of the file, such as its schema, may be longer here.
        self._left = size + (1 << 16)

    def take(self, row: tuple[Any, ...]) -> None:
        """Counts a row; raises `sqlite3.DatabaseError` for one too many."""
        self._left -= sum(len(value) if isinstance(value, bytes | str) else 1 for value in row)
        if self._left < 0:
            raise sqlite3.DatabaseError("malformed: it has more to read than its size allows")


class StoreFile:
    """An open file. Use it as a context manager, or `close` it.

    `durable`: what is kept outlives a power cut from its commit on; if not, the last seconds may be lost, no more.
    `reading`: nothing is to be written, so that a store in a folder that cannot be written will do.
    """

    def __init__(self, path: Path, durable: bool = True, reading: bool = False) -> None:
        self.path = path
        self._durable = durable
        self._db: sqlite3.Connection | None = None
        # Threads of one process may share a store; its connection is for one at a time.
        self._turn = threading.RLock()
        #: whether each page is in its one place
        self._ordered = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise NotWritable(f"cannot make the store's folder {str(path.parent)!r}: {reason}") from None
        check_files(path)
        try:
            while not self._is_open(reading):
                self.close()
        except BaseException:
            self.close()
            raise

    def _is_open(self, reading: bool) -> bool:
        """Opens the file; false where `store repair` has put another in its place meanwhile."""
        path = self.path
        with self._errors():
            before = there(path)
            # autocommit: transactions are ours, see `_transaction`.
            frozen = reading and path.is_file() and not os.access(path.parent, os.W_OK)
            name = _frozen_name(path) if frozen else str(path.absolute())  # to SQLite ":memory:" is no file
            self._db = sqlite3.connect(
                name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=frozen
            )
            self._open(frozen, reading)
        return is_at(path, before)

    def _open(self, frozen: bool, reading: bool) -> None:
        db = self._connection
        with self._errors(), bounded(db):
            # In this order: another process that is making the store marks it together with its tables.
            schema = schema_of(db)
            ours = db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        if schema and not (ours and is_made_by_us(schema)):
            what = "holds other tables than a store" if ours else "is a database of another program"
            raise UserError(f"{str(self.path)!r} {what}: name another file for the store")
        with self._errors():
            if not frozen:
                turn_on_log(db, BUSY_SECONDS)
            db.execute(f"PRAGMA synchronous={'FULL' if self._durable else 'NORMAL'}")
            db.execute("PRAGMA foreign_keys=ON")
            # Text that something has damaged is text all the same: it equals no key.
            db.text_factory = lambda data: data.decode(errors="replace")
            layout = db.execute("PRAGMA user_version").fetchone()[0]
            if 0 < layout < LAYOUT:
                self._check_pages()  # all of it is read now
            if 0 < layout < LAYOUT and (frozen or (reading and not os.access(self.path, os.W_OK))):
                from breakeven.store.layouts import in_memory

                self._db = db = in_memory(db)
            if layout < LAYOUT:
                layout = self._made()
        if layout != LAYOUT:
            raise UserError(
                f"the store {str(self.path)!r} has layout {layout}, this breakeven reads {LAYOUT}: name another file"
            )

    def _made(self) -> int:
        """Makes the tables of an empty file, or brings an earlier layout to this one; the layout."""
        with self._transaction() as db:
            # Another process may have been faster.
            layout = int(db.execute("PRAGMA user_version").fetchone()[0])
            if layout:
                from breakeven.store.layouts import upgrade  # most runs do without

                return upgrade(db, layout)
            for statement in SCHEMA.split(";"):
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
        """SQLite's errors as one sentence with the file's name and the fix; one thread at a time."""
        try:
            with self._turn:
                yield
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise _explained(error, self.path) from None

    @contextmanager
    def _few(self) -> Iterator[None]:
        """To find a few rows."""
        with self._errors(), bounded(self._connection):
            yield

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """To read all rows."""
        with self._errors(), bounded(self._connection, size_of(self._connection)):
            yield

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def disorder(self) -> list[str]:
        """What SQLite finds, a hundred things at most. A page in another's place has whole rows, twice, and its own are
        missing: what `read` asks for does not see that."""
        found: list[str] = []
        known = self._pages()
        # Behind the first thing that it finds it goes on, into pages that may have no end.
        with self._whole() if known is None else self._few():
            try:
                found += (str(row[0]) for row in self._connection.execute("PRAGMA integrity_check"))
            except sqlite3.DatabaseError as error:
                found += [] if found else [known or str(error)]
        return [] if found == ["ok"] else found

    def _pages(self) -> str | None:
        """What SQLite finds first of all; None: nothing. It sees each page once."""
        with self._whole():
            found = str(self._connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        self._ordered = found == "ok"
        return None if self._ordered else found

    def _check_pages(self) -> None:
        """Raises `UserError` where a page is in two places, so that rows would be read again and again."""
        if not self._ordered and (found := self._pages()):
            raise damaged(self.path, found)
