"""A damaged store gives right values or a sentence, never an altered value; what is whole of it can be kept."""

from __future__ import annotations

import random
import shutil
import sqlite3
import tracemalloc
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from breakeven.engines.stored import StoredEngine
from breakeven.errors import UserError
from breakeven.points.machine_spec import MachineSpec
from breakeven.store import Store
from breakeven.store.contents import check, frame
from breakeven.store.repair import repair
from breakeven.store.rows import LAYOUT, SCHEMA, UNNAMED
from breakeven.sweeps.run import run_sweep
from tests.cli.conftest import FakeEngine
from tests.cli.test_store import IDENTITY, Storable, cycles, spec
from tests.tiers import long_after

pytestmark = pytest.mark.slow

SIZES = range(60)
LONG_AGO = 1_000_000_000
MACHINE, QUESTION, ANSWER = MachineSpec("m"), "which is faster", "the fast one, by 25.0 cycles"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a store with 120 points of one machine and a note on it."""
    path = tmp_path_factory.mktemp("store") / "points.sqlite"
    with pytest.MonkeyPatch.context() as patched, Store(path) as store:
        patched.setattr("breakeven.store.database.time.time", lambda: LONG_AGO)
        engine = StoredEngine(Storable(cycles), store)
        run_sweep(spec(SIZES), engine)
        engine.note(MACHINE, QUESTION, ANSWER)
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


def swept(path: Path):
    with Store(path) as store:
        return run_sweep(spec(SIZES), StoredEngine(Storable(cycles), store))


def said(path: Path) -> set[object]:
    """All that commands print of a store."""
    with Store(path) as store:
        contexts = store.contexts()
        found: set[object] = {value for each in contexts for value in (*each.identity, each.machine)}
        # A row that is written again has another date.
        found |= {each.created for each in contexts if each.created < 3 * LONG_AGO // 2}
        found |= {store.description(each.id) for each in contexts}
        table = frame(store)
        if not table.empty:
            found |= {*table["machine"], *table.drop(columns="machine").itertuples(index=False, name=None)}
        engine = StoredEngine(Storable(cycles), store)
        engine.open(MACHINE)
        return found | {engine.noted(MACHINE, QUESTION)}


COLUMNS = [
    (table, column)
    for db in [sqlite3.connect(":memory:")]
    for _ in [db.executescript(SCHEMA)]
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
    for _, column, *_ in db.execute(f"PRAGMA table_info({table})").fetchall()
]


def damaged(value: object, draw: random.Random) -> object:
    """A value with one bit changed, which stays text where it was."""
    if isinstance(value, int):
        return value ^ 1 << draw.randrange(20)
    data = bytearray(value if isinstance(value, bytes) else value.encode())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(7)
    return bytes(data) if isinstance(value, bytes) else data.decode()


@pytest.mark.parametrize("seed", long_after(1, range(3)))
@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=[".".join(each) for each in COLUMNS])
def test_damage_to_any_column_is_found_and_never_printed(
    whole: bytes, tmp_path: Path, table: str, column: str, seed: int
) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    right, table_of_all = {*said(path), UNNAMED, None, 0}, swept(path)
    with closing(sqlite3.connect(path)) as db, db:
        (value,) = db.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()
        db.execute(f"UPDATE {table} SET {column}=? WHERE {column}=?", (damaged(value, random.Random(seed)), value))
    with Store(path) as store:
        assert check(store)
    copy = tmp_path / "copy.sqlite"
    shutil.copy(path, copy)
    repair(copy)
    with Store(copy) as store:
        assert check(store) == []
    for each in (path, copy):
        assert said(each) <= right
        assert swept(each).equals(table_of_all)
        assert said(each) <= right
        with Store(each) as store:
            assert "m" in {context.machine for context in store.contexts()}


def test_a_damaged_note_is_told_and_found_out_again(whole: bytes, tmp_path: Path, capsys) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE note SET answer=replace(answer, '25.0', '35.0')")
    with Store(path) as store:
        engine = StoredEngine(Storable(cycles), store)
        engine.open(MACHINE)
        assert check(store) == ["1 damaged notes on m"]
        assert engine.noted(MACHINE, QUESTION) is None and "1 rows of the store" in capsys.readouterr().err
        engine.note(MACHINE, QUESTION, ANSWER)
        assert engine.noted(MACHINE, QUESTION) == ANSWER and check(store) == []


def test_points_outlive_the_name_of_their_machine(whole: bytes, tmp_path: Path, capsys) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE context SET machine='n'")
    with Store(path) as store:
        assert set(frame(store)["machine"]) == {UNNAMED} and len(frame(store)) == 120
    copy = tmp_path / "copy.sqlite"
    shutil.copy(path, copy)
    assert repair(copy).kept == 120
    for each in (path, copy):
        with Store(each) as store:
            engine = StoredEngine(Storable(cycles), store)
            run_sweep(spec(range(61)), engine)
            assert engine.simulated == 2 and engine.noted(MACHINE, QUESTION) == ANSWER
            assert [(context.machine, context.points) for context in store.contexts()] == [("m", 122)]
            assert check(store) == []
    assert "1 rows of the store" in capsys.readouterr().err


def test_a_description_that_unpacks_to_gigabytes_is_a_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / "points.sqlite"
    with Store(path) as store:
        context = store.context(IDENTITY, "m", "d")
        bomb = zlib.compress(bytes(1 << 27), 1)
        store._connection.execute("UPDATE context SET description=?", (bomb,))
        tracemalloc.start()
        assert store.description(context) is None
        assert tracemalloc.get_traced_memory()[1] < 1 << 26
        tracemalloc.stop()


def test_what_sqlite_says_of_damage_need_not_be_text(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "points.sqlite"
    for name in (b"result (", b"note ("):
        path.write_bytes(whole.replace(b"CREATE TABLE " + name, b"CREATE TABLE \xc5" + name[1:]))
        with pytest.raises(UserError, match="breakeven store repair"):
            swept(path)
        done = repair(path)
        assert done.unreadable and done.old.is_file()


@pytest.mark.parametrize("seed", long_after(12, range(120)))
def test_no_altered_value_is_read(whole: bytes, tmp_path: Path, seed: int) -> None:
    right = run_sweep(spec(SIZES), FakeEngine(cycles))
    data, draw = bytearray(whole), random.Random(seed)
    for _ in range(draw.choice([1, 3, 50])):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    if seed % 6 == 0:
        del data[draw.randrange(len(data)) :]
    path = tmp_path / "points.sqlite"
    path.write_bytes(data)
    try:
        assert swept(path).equals(right)
        with Store(path) as store:
            check(store)
            found = frame(store)
        assert found.empty or set(found["cycles_median"]) <= set(right["cycles_median"])
        assert found.empty or set(found["machine"]) <= {"m", UNNAMED}
    except UserError as error:
        assert str(path) in str(error)
    try:
        repair(path)
    except UserError as error:
        assert "nothing" in str(error)
    else:
        with Store(path) as store:
            assert check(store) == []
        assert swept(path).equals(right)


def test_a_page_in_anothers_place_is_told_before_a_table_is_made(tmp_path: Path, breakeven) -> None:
    """Its rows are whole, so that no checksum tells: some would be missing and others there twice."""
    path, out = tmp_path / "points.sqlite", tmp_path / "points.csv"
    with Store(path) as store:
        run_sweep(spec(range(200)), StoredEngine(Storable(cycles), store))
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with closing(sqlite3.connect(path)) as db, db:
        size = db.execute("PRAGMA page_size").fetchone()[0]
    data = path.read_bytes()
    pages = [data[at : at + size] for at in range(0, len(data), size)]
    # Of an index's leaves, 400 points in 15 and more of them.
    leaves = [number for number, page in enumerate(pages) if page[0] == 10 and len(set(page)) > 50]
    for number, other in zip(leaves, leaves[1:], strict=False):
        path.write_bytes(b"".join([*pages[:other], pages[number], *pages[other + 1 :]]))
        with Store(path) as store:
            wrong = check(store)
        if not wrong:
            with Store(path) as store:
                assert len(frame(store)) == len(frame(store).drop_duplicates())
            continue
        done = breakeven("store", "export", str(out), "--store", str(path), "--all-engines")
        assert done.returncode == 1 and "is damaged (" in done.stderr and "breakeven store repair" in done.stderr
        assert not out.exists()
        break
    else:
        pytest.fail("no page was in another's place")


def test_a_damaged_row_is_told_and_simulated_again(whole: bytes, tmp_path: Path, capsys) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as db, db:
        point, result = db.execute("SELECT point, result FROM result LIMIT 1").fetchone()
        db.execute("UPDATE result SET result=? WHERE point=?", (result[:-1] + b"\x55", point))
    with Store(path) as store:
        assert "1 damaged rows of m" in check(store)
        engine = StoredEngine(Storable(cycles), store)
        assert run_sweep(spec(SIZES), engine).equals(run_sweep(spec(SIZES), FakeEngine(cycles)))
        assert engine.simulated == 1 and "1 rows of the store" in capsys.readouterr().err
        assert "1 damaged rows of m" not in check(store)


def former(path: Path, layout: int) -> None:
    """Makes of a store one as layout 1 or 2 had it."""
    with closing(sqlite3.connect(path)) as db, db:
        if layout == 1:
            db.execute("ALTER TABLE result DROP COLUMN sum")
        for table in ("context", "note"):
            db.execute(f"ALTER TABLE {table} DROP COLUMN sum")
        db.execute(f"PRAGMA user_version={layout}")


@pytest.mark.parametrize("layout", [1, 2])
def test_a_store_of_an_earlier_layout_gets_checksums(whole: bytes, tmp_path: Path, layout: int) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    former(path, layout)
    with Store(path) as store:
        assert store._connection.execute("PRAGMA user_version").fetchone()[0] == LAYOUT
        assert check(store) == []
        engine = StoredEngine(Storable(cycles), store)
        run_sweep(spec(SIZES), engine)
        assert engine.simulated == 0 and engine.read == 120
        assert engine.noted(MACHINE, QUESTION) is None, "what had no checksum is not printed"


def test_an_earlier_layout_is_read_where_it_cannot_be_written(whole: bytes, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    former(path, 2)
    before = path.read_bytes()
    for beside in tmp_path.glob("points.sqlite?*"):
        beside.unlink()
    monkeypatch.setattr("breakeven.store.file.os.access", lambda *_: False)
    with Store(path, reading=True) as store:
        assert len(frame(store)) == 120 and check(store) == []
    assert path.read_bytes() == before


@pytest.mark.parametrize("fails", [False, True])
def test_repair_reads_an_earlier_layout(whole: bytes, tmp_path: Path, monkeypatch, fails: bool) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    former(path, 2)
    if fails:  # as where pages of it are damaged

        def upgrade(*_: object) -> int:
            raise sqlite3.DatabaseError("database disk image is malformed")

        monkeypatch.setattr("breakeven.store.layouts.upgrade", upgrade)
    assert repair(path)[:3] == (120, 0, 0)
    with Store(path) as store:
        assert [(context.machine, context.points) for context in store.contexts()] == [("m", 120)]


@pytest.mark.parametrize("place", ["", "-wal", "-shm", "-journal", ".leases", ".repaired", ".damaged"])
def test_a_link_at_a_stores_place_leaves_its_target(whole: bytes, tmp_path: Path, place: str) -> None:
    path, mine = tmp_path / "s" / "points.sqlite", tmp_path / "mine.txt"
    path.parent.mkdir()
    path.write_bytes(whole)
    mine.write_text("my notes\n")
    link = path.with_name(path.name + place)
    link.unlink(missing_ok=True)
    link.symlink_to(mine)
    for use in (swept, repair):
        try:
            use(path)
        except UserError as error:
            assert str(path) in str(error)
    assert mine.read_text() == "my notes\n"


def test_repair_does_not_blame_a_store_that_cannot_be_written(whole: bytes, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    monkeypatch.setattr("breakeven.store.repair.os.access", lambda *_: False)
    with pytest.raises(UserError, match="cannot be written: copy it"):
        repair(path)
    assert [each.name for each in tmp_path.iterdir()] == ["points.sqlite"] and path.read_bytes() == whole


def test_repair_leaves_files_beside_the_store(whole: bytes, tmp_path: Path) -> None:
    path, mine = tmp_path / "points.sqlite", tmp_path / "points.sqlite.repaired"
    path.write_bytes(whole)
    mine.write_text("my notes\n")
    repair(path)
    assert mine.read_text() == "my notes\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == [path.name, f"{path.name}.damaged", mine.name]


def test_a_name_that_steers_a_terminal_is_escaped_in_tables(tmp_path: Path) -> None:
    with Store(tmp_path / "points.sqlite") as store:
        run_sweep(spec([1], machine="m\x1b[2J"), StoredEngine(Storable(cycles), store))
        assert set(frame(store)["machine"]) == {r"m\x1b[2J"}


def test_repair_keeps_what_is_whole(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE result SET result=zeroblob(64) WHERE point IN (SELECT point FROM result LIMIT 5)")
    done = repair(path)
    assert (done.kept, done.lost, done.unreadable) == (115, 5, 0) and done.old.is_file()
    with Store(path) as store:
        engine = StoredEngine(Storable(cycles), store)
        run_sweep(spec(SIZES), engine)
        assert engine.simulated == 5
    before = done.old.read_bytes()
    assert repair(path).old.name == "points.sqlite.damaged-2" and done.old.read_bytes() == before
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE theirs (x)")
    with pytest.raises(UserError, match="no store of breakeven: nothing was changed"):
        repair(other)
