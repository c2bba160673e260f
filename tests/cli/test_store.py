"""The store: nothing is lost, doubled or simulated twice, whatever happens to the process that simulates."""

import hashlib
import json
import os
import sqlite3
import struct
import subprocess
import sys
import weakref
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from breakeven import points as pt
from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.stored import StoredEngine
from breakeven.errors import UserError
from breakeven.files.data import find_data
from breakeven.points.engine import Identity, Routine
from breakeven.points.machine_spec import MachineSpec
from breakeven.store import Store
from breakeven.store.contents import check, frame
from breakeven.store.leases import Leases
from breakeven.store.repair import repair
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec
from tests.cli.conftest import FakeSession

IDENTITY = Identity("engine", "machine", "guest")


class Storable:
    """The fake engine with an identity; hands its results out in parts, and can fail after some."""

    def __init__(self, model, engine="engine", fail_after=None):
        self.model, self.engine, self.fail_after = model, engine, fail_after
        self.ran = []

    def check(self, machine, routines=()):
        pass

    def machine_hash(self, machine):
        return str(machine)

    def identity(self, machine):
        return Identity(self.engine, hashlib.sha256(str(machine).encode()).hexdigest(), "guest"), str(machine)

    def routines(self, machine):
        return [Routine(name, "copy", 0) for name in ("fast", "slow")]

    def open(self, machine):
        outer = self

        class Session(FakeSession):
            def run(self, records, threads=0, progress=None, on_results=None):
                results = super().run(records, threads, progress)
                n = len(records) // pt.POINT_BYTES
                outer.ran += [records[i * pt.POINT_BYTES : (i + 1) * pt.POINT_BYTES] for i in range(n)]
                for start in range(0, n, 7):
                    if outer.fail_after is not None and start >= outer.fail_after:
                        raise KeyboardInterrupt
                    some = range(start, min(start + 7, n))
                    on_results(np.array(some, "<u4").tobytes(), results[some[0] * 64 : (some[-1] + 1) * 64])
                return results

        session = Session(machine, self.model)
        session.machine_hash = self.identity(machine)[0].machine_hash
        return session


def spec(sizes, routines=("fast", "slow"), machine="m"):
    return SweepSpec(routines=routines, machines=[MachineSpec(machine)], sizes=sizes)


def cycles(routine, size, row, machine):
    return size * (1 if routine == "fast" else 2) + len(str(machine))


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "points.sqlite") as opened:
        yield opened


def test_a_point_is_simulated_once(store):
    engine = Storable(cycles)
    first = run_sweep(spec(range(10)), StoredEngine(engine, store))
    again = StoredEngine(engine, store)
    assert run_sweep(spec(range(10)), again).equals(first)
    assert (again.read, again.simulated, len(engine.ran)) == (20, 0, 20)
    wider = StoredEngine(engine, store)
    table = run_sweep(spec(range(15)), wider)
    assert (wider.read, wider.simulated) == (20, 10)
    assert table[table["size"] < 10].reset_index(drop=True).equals(first)
    assert len(set(engine.ran)) == len(engine.ran) == 30


def test_a_booted_guest_ends_with_its_session_and_its_points_stay_counted(store):
    booted = []

    class Watched(Storable):
        def open(self, machine):
            session = super().open(machine)
            booted.append(weakref.ref(session))
            return session

    engine = StoredEngine(Watched(cycles), store)
    session = engine.open(MachineSpec("m"))
    session.run(spec(range(4)).records().tobytes())
    engine.note(MachineSpec("m"), "which", "this")
    assert booted[0]() is not None
    del session
    assert booted[0]() is None
    assert engine.simulated == 8 and engine.noted(MachineSpec("m"), "which") == "this"


def test_equal_to_the_bare_engine_and_points_asked_for_twice(store):
    class Bare(Storable):
        def open(self, machine):
            return FakeSession(machine, self.model)

    session = StoredEngine(Storable(cycles), store).open(MachineSpec("m"))
    records = spec(range(40)).records()
    doubled = np.concatenate([records, records[::-1]]).tobytes()
    assert session.run(doubled) == Bare(cycles).open(MachineSpec("m")).run(doubled)
    assert session.simulated == 80
    assert session.run(doubled) == Bare(cycles).open(MachineSpec("m")).run(doubled)


def test_what_decides_a_result_is_its_key(store):
    run_sweep(spec(range(4)), StoredEngine(Storable(cycles), store))
    for changed in (spec(range(4), machine="other"),):
        engine = StoredEngine(Storable(cycles), store)
        run_sweep(changed, engine)
        assert engine.simulated == 8
    engine = StoredEngine(Storable(cycles, engine="newer"), store)
    run_sweep(spec(range(4)), engine)
    assert engine.simulated == 8
    assert [c.points for c in store.contexts()] == [8, 8, 8]
    assert store.prune("newer") == 16
    assert [(c.identity.engine, c.points) for c in store.contexts()] == [("newer", 8)]


def test_an_interrupted_sweep_keeps_what_was_done(store):
    with pytest.raises(KeyboardInterrupt):
        run_sweep(spec(range(50), routines=("fast",)), StoredEngine(Storable(cycles, fail_after=28), store))
    engine = StoredEngine(Storable(cycles), store)
    run_sweep(spec(range(50), routines=("fast",)), engine)
    assert (engine.read, engine.simulated) == (28, 22)


def test_results_of_another_process_are_taken(store, monkeypatch):
    """A second sweep meets the first in the middle: what one has kept the other does not simulate."""
    monkeypatch.setattr("breakeven.engines.stored.FIRST_PART", 10)
    monkeypatch.setattr("breakeven.engines.stored.PART_SECONDS", 0)
    engine = Storable(cycles)
    other = Store(store.path)
    records = spec(range(40), routines=("fast",)).records()
    points = [records[i : i + 1].tobytes() for i in range(40)]
    context = store.context(*_context(engine))
    inner = StoredEngine(engine, store).open(MachineSpec("m"))
    ran = FakeSession(MachineSpec("m"), cycles).run(records.tobytes())

    def progress(done, total):
        # While the first part runs, another process keeps points 10 to 29.
        other.add(context, points[10:30], [ran[i * 64 : (i + 1) * 64] for i in range(10, 30)])

    assert inner.run(records.tobytes(), 1, progress) == ran
    assert len(engine.ran) == 20
    other.close()


def _context(engine):
    identity, description = engine.identity(MachineSpec("m"))
    return identity, "m", description


def test_frame_and_export(store, tmp_path):
    table = run_sweep(spec(range(5)), StoredEngine(Storable(cycles), store))
    found = frame(store)
    assert list(found.columns) == [*table.columns, "engine", "machine_hash", "guest"]
    key = ["routine", "size"]
    assert found[table.columns].sort_values(key, ignore_index=True).equals(table.sort_values(key, ignore_index=True))
    assert frame(store, machine="another").empty and frame(store, engine="another").empty


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"not a database, and long enough to be read as one" * 40, "not a database"), (None, "another program")],
)
def test_files_that_are_no_store(tmp_path, content, problem):
    path = tmp_path / "x.sqlite"
    if content is None:
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE theirs (x)")
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(UserError, match=problem):
        Store(path)
    assert path.read_bytes() == before


def test_a_store_of_another_layout_is_refused(tmp_path):
    path = tmp_path / "x.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=99")
    with pytest.raises(UserError, match="layout 99"):
        Store(path)


@pytest.mark.slow
def test_a_full_disk_is_an_error_and_loses_nothing(store):
    engine = Storable(cycles)
    run_sweep(spec(range(100)), StoredEngine(engine, store))
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(UserError, match="full.*make room"):
        run_sweep(spec(range(5000)), StoredEngine(engine, store))
    assert check(store) == []
    kept = store.statistics()["points"]
    assert 200 <= kept < 10_000
    store._connection.execute("PRAGMA max_page_count=1000000")
    again = StoredEngine(engine, store)
    run_sweep(spec(range(5000)), again)
    assert (again.read, again.simulated) == (kept, 10_000 - kept)


def test_a_store_that_cannot_be_written_is_read(tmp_path, monkeypatch):
    path = tmp_path / "points.sqlite"
    with Store(path) as store:
        kept = run_sweep(spec(range(9)), StoredEngine(Storable(cycles), store))
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for beside in tmp_path.glob("points.sqlite?*"):
        beside.unlink()
    # As on a read-only file system; root may write anywhere else.
    monkeypatch.setattr("breakeven.store.file.os.access", lambda *_: False)
    with Store(path, reading=True) as store:
        assert len(frame(store)) == len(kept) and check(store) == []
        with pytest.raises(UserError, match="readonly database: name a file that can be written"):
            store.prune("another")
    assert [file.name for file in tmp_path.iterdir()] == ["points.sqlite"]
    (tmp_path / "points.sqlite-wal").write_bytes(b"log")
    with pytest.raises(UserError, match="copy it and 'points.sqlite-wal' to a folder"):
        Store(path, reading=True)


def test_an_unusable_path_is_one_sentence(breakeven, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    for path in ("file/x.sqlite", ".", "loop"):
        done = breakeven("run", "rv-word", "-n", "8", "--store", path)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and "store" in done.stderr


def sweep_command(store, count):
    return [
        *(sys.executable, "-m", "breakeven", "sweep", "rv-word", "-m", "atomic", "-n", f"1..{count}"),
        *("--dst", "0..7", "--store", str(store), "-o", f"{store}.csv"),
    ]


def test_the_command_keeps_and_reads(breakeven, tmp_path):
    first = breakeven("sweep", "rv-word", "-m", "atomic", "-n", "1..40", "--store", "s.sqlite", "--json")
    again = breakeven("sweep", "rv-word", "-m", "atomic", "-n", "1..50", "--store", "s.sqlite", "--json")
    assert json.loads(first.stdout)["simulated"] == 40
    assert json.loads(again.stdout)["simulated"] == 10
    point = ("run", "rv-word", "-m", "atomic", "-n", "7", "--json")
    assert breakeven(*point, "--store", "s.sqlite").stdout == breakeven(*point, "--no-store").stdout
    seen = json.loads(breakeven("store", "--store", "s.sqlite", "--json").stdout)
    assert seen["points"] == 50 and seen["machines"][0]["machine"] == "atomic"
    done = breakeven("store", "export", "all.csv", "--store", "s.sqlite")
    assert done.returncode == 0 and len((tmp_path / "all.csv").read_text().splitlines()) == 51
    assert "0 points deleted, 50 left" in breakeven("store", "prune", "--store", "s.sqlite").stdout
    missing = breakeven("store", "--store", "no.sqlite")
    assert missing.returncode == 1 and "there is no store" in missing.stderr


def test_the_command_checks_and_repairs(breakeven, tmp_path):
    own = ("--store", "s.sqlite")
    assert breakeven("sweep", "rv-word", "-m", "atomic", "-n", "1..40", *own).returncode == 0
    assert "40 points, none damaged" in breakeven("store", "check", *own).stdout
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as db, db:
        db.execute("UPDATE result SET result=zeroblob(64) WHERE point IN (SELECT point FROM result LIMIT 3)")
    done = breakeven("store", "check", *own)
    assert (done.returncode, done.stdout) == (1, "3 damaged rows of atomic\n")
    assert done.stderr == "breakeven: the store is damaged: `breakeven store repair` keeps what is whole\n"
    assert json.loads(breakeven("store", "check", *own, "--json").stdout)["damage"] == ["3 damaged rows of atomic"]
    done = breakeven("store", "repair", *own)
    assert done.returncode == 0 and "37 points kept, 3 damaged, 0 parts unreadable" in done.stdout
    assert (tmp_path / "s.sqlite.damaged").is_file()
    assert "37 points, none damaged" in breakeven("store", "check", *own).stdout
    again = breakeven("sweep", "rv-word", "-m", "atomic", "-n", "1..40", *own, "--json")
    assert json.loads(again.stdout)["simulated"] == 3


@pytest.mark.slow
def test_sweeps_at_once_share_the_work(tmp_path):
    """Four identical sweeps: each point is simulated by one of them."""
    pytest.importorskip("breakeven._engine")
    store = tmp_path / "s.sqlite"
    runs = [[*sweep_command(store, 300)[:-1], f"{tmp_path}/{i}.csv", "--json"] for i in range(4)]
    all_ = [subprocess.Popen(run, stdout=subprocess.PIPE) for run in runs]
    told = [json.loads(process.communicate(timeout=120)[0]) for process in all_]
    assert sum(run["simulated"] for run in told) == 300 * 8
    assert len({(tmp_path / f"{i}.csv").read_bytes() for i in range(4)}) == 1
    with Store(store) as opened:
        assert check(opened) == [] and opened.statistics()["points"] == 300 * 8


def test_a_lease_ends_with_its_holder(tmp_path):
    """A holder that is killed leaves nothing behind; one that lives keeps its points from the others."""
    code = (
        "import sys; from pathlib import Path; from breakeven.store.leases import Leases\n"
        "with Leases(Path(sys.argv[1]), b'c').take([b'a', b'b'], 9): print(1, flush=True); sys.stdin.read()"
    )
    path = tmp_path / "s.sqlite"
    command, pipe = [sys.executable, "-c", code, str(path)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as holder:
        holder.stdout.read(1)
        with Leases(path, b"c").take([b"a", b"b", b"x", b"y"], 1) as mine:
            assert mine == [b"x"]
        with Leases(path, b"another context").take([b"a"], 1) as mine:
            assert mine == [b"a"]
        holder.kill()
    with Leases(path, b"c").take([b"a", b"b"], 9) as mine:
        assert mine == [b"a", b"b"]


def test_a_holder_that_does_nothing_is_not_waited_for_for_ever(store, monkeypatch):
    monkeypatch.setattr("breakeven.engines.stored.PATIENCE", 0.2)
    engine = Storable(cycles)
    records = spec(range(5)).records()
    points = [records[i : i + 1].tobytes() for i in range(len(records))]
    with Leases(store.path, "\n".join(engine.identity(MachineSpec("m"))[0]).encode()).take(points[:3], 3):
        session = StoredEngine(engine, store).open(MachineSpec("m"))
        assert len(session.run(records.tobytes())) == len(points) * pt.RESULT_BYTES
    assert sorted(engine.ran) == sorted(points)


def test_where_nothing_can_be_locked_nothing_is_leased(tmp_path):
    (tmp_path / "s.sqlite.leases").mkdir()
    one, other = Leases(tmp_path / "s.sqlite", b"c"), Leases(tmp_path / "s.sqlite", b"c")
    with one.take([b"a"], 1) as mine, other.take([b"a"], 1) as his:
        assert mine == his == [b"a"]


def test_a_machine_that_is_refused_leaves_nothing_in_the_store(tmp_path, monkeypatch):
    engine, path = Storable(lambda *_: 7), tmp_path / "store.sqlite"
    point = pt.Point("fast", 8).pack()

    def refused(machine):
        raise UserError("numROBEntries is too small")

    with Store(path) as store:
        with monkeypatch.context() as patched:
            patched.setattr(engine, "open", refused)
            with pytest.raises(UserError, match="too small"):
                StoredEngine(engine, store).open(MachineSpec("u74")).run(point)
        assert not store.contexts()
        StoredEngine(engine, store).open(MachineSpec("u74")).run(point)
        assert [context.points for context in store.contexts()] == [1]


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE context; CREATE VIEW context AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)"
        " SELECT i AS id, '' AS engine, '' AS machine_hash, '' AS guest, '' AS machine, x'' AS description,"
        " 0 AS created, x'' AS sum FROM n",
        "ALTER TABLE note ADD COLUMN more TEXT AS (zeroblob(1000000000))",
        "CREATE TRIGGER t AFTER INSERT ON result BEGIN DELETE FROM result; END",
        "CREATE INDEX i ON result (sum) WHERE instr(hex(zeroblob(9)), '1')",
        "CREATE INDEX i ON result (hex(sum))",
        "CREATE INDEX i ON result (sum)",
        "CREATE TABLE more (x)",
        "CREATE VIRTUAL TABLE more USING fts5 (x)",
        "DROP TABLE note; CREATE TABLE note (context, question, answer, sum CHECK (instr(hex(zeroblob(9)), '1')))",
        "ALTER TABLE note ADD COLUMN more TEXT DEFAULT (hex(9))",
        "ALTER TABLE note ADD COLUMN more TEXT",
        "DROP TABLE result; CREATE TABLE result (context INTEGER, point BLOB, result BLOB, sum BLOB)",
        "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql=replace(sql, '(context, point)', '(context, point"
        " COLLATE nocase)'); PRAGMA writable_schema=OFF",
    ],
)
@pytest.mark.parametrize("use", [Store, repair], ids=["open", "repair"])
def test_a_store_with_other_tables_than_ours_is_refused(tmp_path: Path, use, statement: str) -> None:
    """They may compute for ever when a row is read, checked or written."""
    path = tmp_path / "hostile.sqlite"
    Store(path).close()
    db = sqlite3.connect(path)
    db.executescript(statement)
    db.close()
    before = path.read_bytes()
    with pytest.raises(UserError, match="holds other tables than a store"):
        use(path)
    assert path.read_bytes() == before


def journal(page: int, named: Path) -> bytes:
    """A rollback journal that has SQLite delete the file `named`: of a transaction on two databases."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), bytes(named)
    header = (magic + struct.pack(">IIIII", 0, 1, 1, 512, page)).ljust(512, b"\0")
    total = sum(name) & 0xFFFFFFFF
    return header + struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">II", len(name), total) + magic


@pytest.mark.parametrize("use", [Store, repair], ids=["open", "repair"])
@pytest.mark.parametrize("linked", [False, True])
def test_a_rollback_journal_beside_a_store_deletes_nothing(tmp_path: Path, use, linked: bool) -> None:
    path, mine, link = tmp_path / "points.sqlite", tmp_path / "mine.txt", tmp_path / "link.sqlite"
    with Store(path) as store:
        store.context(IDENTITY, "m", "d")
    page = 4096
    mine.write_text("my notes")
    beside = tmp_path / "points.sqlite-journal"
    beside.write_bytes(journal(page, mine))
    link.symlink_to(path)  # SQLite looks for the journal where the link leads
    with pytest.raises(UserError, match=f"{beside}.* is no file of breakeven's: move it away"):
        use(link if linked else path)
    assert mine.read_text() == "my notes" and beside.exists()


@pytest.mark.parametrize("use", [Store, repair], ids=["open", "repair"])
@pytest.mark.parametrize("place", ["", "-wal", "-shm", "-journal"])
def test_a_pipe_at_a_stores_place_is_refused(tmp_path: Path, use, place: str) -> None:
    path = tmp_path / "points.sqlite"
    if place:
        Store(path).close()
    os.mkfifo(f"{path}{place}")
    with pytest.raises(UserError, match=f"{path}{place}.*move it away"):
        use(path)


def test_a_store_is_made_without_a_rollback_journal(tmp_path: Path, monkeypatch) -> None:
    """Another process that opens it meanwhile would refuse it."""
    path = tmp_path / "points.sqlite"
    beside = Path(f"{path}-journal")
    beside_made: list[bool] = []
    connect = sqlite3.connect

    class Watched(sqlite3.Connection):
        def watch(self) -> None:
            super().set_progress_handler(lambda: beside_made.append(beside.exists()) and 0, 1)

        def set_progress_handler(self, *_: object) -> None:
            """The store's own would take the place of ours."""

    def watched(*words: object, **options: object) -> sqlite3.Connection:
        db = connect(*words, **options, factory=Watched)
        db.watch()
        return db

    monkeypatch.setattr("breakeven.store.file.sqlite3.connect", watched)
    Store(path).close()
    assert beside_made and not any(beside_made)


def test_a_link_at_the_leases_place_makes_no_file(tmp_path: Path) -> None:
    (tmp_path / "points.sqlite.leases").symlink_to(tmp_path / "made")
    leases = Leases(tmp_path / "points.sqlite", b"key")
    with leases.take([b"a"], 1) as taken:
        assert taken == [b"a"]
    leases.close()
    assert not (tmp_path / "made").exists()


def test_a_machine_file_that_is_changed_meanwhile_keeps_no_point(tmp_path):
    text = find_data("configs", "machines/minor.py").read_text()
    file = tmp_path / "own.py"
    file.write_text(text)
    point = pt.Point("rv-word", 64, repetitions=3)
    with Store(tmp_path / "points.sqlite") as store:
        session = StoredEngine(EmbeddedEngine(), store).open(MachineSpec(str(file)))
        file.write_text(text.replace("32kB", "16kB"))
        with pytest.raises(UserError, match="its file was changed; run it again"):
            session.run(point.pack(), 1)
        assert store.statistics()["points"] == 0


@pytest.mark.parametrize("name", [":memory:", "file:s?mode=memory"])
def test_no_name_is_special_to_sqlite(tmp_path, monkeypatch, name) -> None:
    monkeypatch.chdir(tmp_path)
    with Store(Path(name)) as store:
        store.context(IDENTITY, "u74", "{}")
    assert Path(name).is_file()
    with Store(Path(name), reading=True) as store:
        assert store.has(IDENTITY)
    repair(Path(name))
    with Store(Path(name), reading=True) as store:
        assert Path(f"{name}.damaged").is_file() and not store.contexts()


def test_a_file_that_takes_no_write_ahead_log_is_told(tmp_path, monkeypatch) -> None:
    """A database in memory stands for a file system without one."""
    asked = []

    class Stubborn(sqlite3.Connection):
        def execute(self, *words):
            asked.append(words)
            assert len(asked) < 1000, "it asks for ever"
            return super().execute(*words)

    db = sqlite3.connect(":memory:", factory=Stubborn)
    monkeypatch.setattr("breakeven.store.file.BUSY_SECONDS", -1)
    monkeypatch.setattr("breakeven.store.file.sqlite3.connect", lambda *_, **__: db)
    with pytest.raises(UserError, match="s.sqlite': it takes no write-ahead log: name another file"):
        Store(tmp_path / "s.sqlite")


def test_a_session_of_a_version_that_was_pruned_replaces_nothing(tmp_path) -> None:
    """SQLite gives a context's number again: the older session's rows must not get under the newer one's."""
    newer, path = Identity("newer", "machine", "guest"), tmp_path / "s.sqlite"
    point, mine, theirs = pt.Point("fast", 8).pack(), bytes(8) + b"\1" * 56, bytes(8) + b"\2" * 56
    with Store(path) as older, Store(path) as store:
        pruned = older.context(IDENTITY, "u74", "{}")
        store.prune("newer")
        context = store.context(newer, "u74", "{}")
        store.add(context, [point], [mine])
        store.note(context, "what", "this")
        for write in (lambda: older.add(pruned, [point], [theirs]), lambda: older.note(pruned, "what", "that")):
            with pytest.raises(UserError, match="prune ran meanwhile"):
                write()
        assert store.known(context, [point]) == [mine] and store.noted(context, "what") == "this"
        assert older.known(pruned, [point]) == [None] and older.noted(pruned, "what") is None
        # Another process of its version has made its context again, under another number.
        with Store(path) as third:
            assert third.context(IDENTITY, "u74", "{}") != pruned
        older.add(pruned, [point], [theirs])
        older.note(pruned, "what", "that")
        again = store.find(IDENTITY)
        assert store.known(again, [point]) == [theirs] and store.noted(again, "what") == "that"
        assert store.known(context, [point]) == [mine] and store.noted(context, "what") == "this"
        assert older.known(pruned, [point]) == [theirs] and older.noted(pruned, "what") == "that"
        assert not store.damaged and not older.damaged
