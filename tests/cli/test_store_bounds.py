"""A store whose pages stand for rows without end ends every command soon; `repair` keeps others out."""

from __future__ import annotations

import os
import signal
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from breakeven.engines.stored import StoredEngine
from breakeven.errors import UserError
from breakeven.store import Store
from breakeven.store.contents import check, frame
from breakeven.store.repair import repair
from breakeven.sweeps.run import run_sweep
from tests.cli.test_store import Storable, cycles, spec

pytestmark = pytest.mark.slow

TABLES = ("context", "sqlite_autoindex_context_1", "result", "sqlite_master")
#: of a page of a b-tree
LEAF, HEADER = (10, 13), 100


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a store with a few points of one machine."""
    path = tmp_path_factory.mktemp("store") / "points.sqlite"
    with Store(path) as store:
        run_sweep(spec(range(4)), StoredEngine(Storable(cycles), store))
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


def endless(path: Path, whole: bytes, table: str) -> Path:
    """A store in which each entry of a b-tree's root leads to one page, all of whose entries lead to one page, and so
    on, 14 deep: some 100^14 rows in 20 pages more."""
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as db:
        size = db.execute("PRAGMA page_size").fetchone()[0]
        roots = dict(db.execute("SELECT name, rootpage FROM sqlite_master"))
    data = bytearray(whole)
    root = roots.get(table, 1)
    start = HEADER if root == 1 else 0
    leaf = bytearray(data[(root - 1) * size : root * size])
    if start:  # only rows of indexes that SQLite makes itself: any number of them is no mistake
        count = struct.unpack_from(">H", leaf, start + 3)[0]
        cells = [struct.unpack_from(">H", leaf, start + 8 + 2 * i)[0] for i in range(count)]
        data += leaf[:0] + _leaf(leaf, cells, size)
        leaf = _leaf(leaf, [cell for cell in cells if b"autoindex" in leaf[cell : cell + 40]], size)
    kind = {10: 2, 13: 5}[leaf[0]]
    entry = b""
    if kind == 2:
        at = struct.unpack_from(">H", leaf, 8)[0]
        length, more = leaf[at], 1
        if length & 0x80:
            length, more = (length & 0x7F) << 7 | leaf[at + 1], 2
        entry = bytes(leaf[at : at + more + length])
    first = len(data) // size
    data += leaf
    for _ in range(14):
        child = len(data) // size
        data += _interior([child] * 100, child, kind, entry, size)
    child = len(data) // size
    before = [first] if start else []
    top = _interior(before + [child] * 20, child, kind, entry, size, start)
    data[(root - 1) * size + start : root * size] = top[start:]
    struct.pack_into(">I", data, 28, len(data) // size)
    path.write_bytes(data)
    return path


def _leaf(page: bytes, cells: list[int], size: int) -> bytearray:
    """A leaf of the schema's with these of the cells of its first page."""
    found = bytearray(page)
    found[:HEADER] = bytes(HEADER)
    found[0] = 13
    struct.pack_into(">HHHB", found, 1, 0, len(cells), min(cells), 0)
    for i, cell in enumerate(cells):
        struct.pack_into(">H", found, 8 + 2 * i, cell)
    return found


def _interior(children: list[int], last: int, kind: int, entry: bytes, size: int, start: int = 0) -> bytearray:
    page, at, cells = bytearray(size), size, []
    for number, child in enumerate(children):
        cell = struct.pack(">I", child) + (entry or bytes([min(127, number + 1)]))
        if at - len(cell) < start + 12 + 2 * len(children):
            break
        at -= len(cell)
        page[at : at + len(cell)] = cell
        cells.append(at)
    page[start] = kind
    struct.pack_into(">HHHBI", page, start + 1, 0, len(cells), at, 0, last)
    for i, cell in enumerate(cells):
        struct.pack_into(">H", page, start + 12 + 2 * i, cell)
    return page


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "words", ["store", "store check", "store export t.csv", "store prune", "store repair", "report -o r.html"]
)
def test_pages_that_lead_to_the_same_pages_end_a_command(
    whole: bytes, tmp_path: Path, breakeven: Callable, table: str, words: str
) -> None:
    endless(tmp_path / "s.sqlite", whole, table)
    start = time.monotonic()
    done = breakeven(*words.split(), "--store", "s.sqlite")
    assert time.monotonic() - start < 30
    assert "fault of breakeven's own" not in done.stderr
    if words != "store repair":
        assert done.returncode == 1, done
        assert "damage" in done.stdout + done.stderr or "malformed" in done.stderr
    elif not done.returncode:
        with Store(tmp_path / "s.sqlite") as store:
            assert check(store) == []


@pytest.mark.parametrize("table", TABLES)
def test_points_are_looked_up_in_such_a_store_or_it_is_refused(whole: bytes, tmp_path: Path, table: str) -> None:
    path = endless(tmp_path / "s.sqlite", whole, table)
    start = time.monotonic()
    try:
        with Store(path) as store:
            run_sweep(spec(range(6)), StoredEngine(Storable(cycles), store))
    except UserError as error:
        assert str(path) in str(error)
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_what_sqlite_is_at(whole: bytes, tmp_path: Path, end: signal.Signals) -> None:
    """As a file of gigabytes is read, whose bound is far away."""
    path = tmp_path / "s.sqlite"
    path.write_bytes(whole)
    code = (
        "import sys; from pathlib import Path; from breakeven.store import Store\n"
        "import breakeven.store.file as file; file._FEW = 1 << 60\n"
        "with Store(Path(sys.argv[1])) as store:\n"
        "    print(flush=True)\n"
        "    store.read('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n')\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline()
    start = time.monotonic()
    child.send_signal(end)
    _, said = child.communicate(timeout=20)
    assert time.monotonic() - start < 5
    assert b"KeyboardInterrupt" in said if end is signal.SIGINT else child.returncode == -end


def test_repair_refuses_a_store_that_another_process_uses(whole: bytes, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(whole)
    monkeypatch.setattr("breakeven.store.repair.SECONDS", 0.1)
    with Store(path) as store:
        run_sweep(spec(range(8)), StoredEngine(Storable(cycles), store))
        with pytest.raises(UserError, match="is in use: wait until"):
            repair(path)
        run_sweep(spec(range(9)), StoredEngine(Storable(cycles), store))
    assert not Path(f"{path}.damaged").exists()
    with Store(path) as store:
        assert check(store) == [] and len(frame(store)) == 18


def test_who_waits_for_a_repair_uses_the_new_store(whole: bytes, tmp_path: Path, monkeypatch) -> None:
    from breakeven.store import repair as module

    path = tmp_path / "s.sqlite"
    path.write_bytes(whole)
    replaced, threads = module._replaced, []

    def sweep() -> None:
        with Store(path) as store:
            run_sweep(spec(range(9)), StoredEngine(Storable(cycles), store))

    def waited_for(*words: object) -> Path:
        threads.append(threading.Thread(target=sweep))
        threads[0].start()
        threads[0].join(0.3)  # it has opened the old file by then, mostly, and cannot read it
        assert threads[0].is_alive()
        return replaced(*words)

    monkeypatch.setattr(module, "_replaced", waited_for)
    repair(path)
    threads[0].join(60)
    with Store(path) as store:
        assert check(store) == [] and len(frame(store)) == 18


def test_a_repair_that_is_killed_leaves_a_store(whole: bytes, tmp_path: Path, monkeypatch) -> None:
    """At each step that changes a name."""
    path = tmp_path / "s.sqlite"

    class Killed(BaseException):
        pass

    for step in range(2):
        path.write_bytes(whole)
        left = [step]

        def dying(real: Callable, left: list[int] = left) -> Callable:
            def call(*words: object, **options: object) -> object:
                if not left[0]:
                    raise Killed
                left[0] -= 1
                return real(*words, **options)

            return call

        with monkeypatch.context() as patch:
            patch.setattr("breakeven.store.repair.os.link", dying(os.link))
            patch.setattr("breakeven.store.repair.Path.replace", dying(Path.replace))
            with pytest.raises(Killed):
                repair(path)
        with Store(path) as store:
            assert check(store) == [] and len(frame(store)) == 8
    assert repair(path).kept == 8
