"""A damaged store gives right values or a sentence, never an altered value; what is whole of it can be kept."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from breakeven.engines.stored import StoredEngine
from breakeven.errors import UserError
from breakeven.store import Store
from breakeven.store.repair import repair
from breakeven.store.rows import LAYOUT
from breakeven.sweeps.run import run_sweep
from tests.cli.conftest import FakeEngine
from tests.cli.test_store import Storable, cycles, spec
from tests.tiers import long_after

pytestmark = pytest.mark.slow

SIZES = range(60)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a store with 120 points."""
    path = tmp_path_factory.mktemp("store") / "points.sqlite"
    with Store(path) as store:
        run_sweep(spec(SIZES), StoredEngine(Storable(cycles), store))
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


def swept(path: Path):
    with Store(path) as store:
        return run_sweep(spec(SIZES), StoredEngine(Storable(cycles), store))


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
            store.check()
            frame = store.frame()
        assert frame.empty or set(frame["cycles_median"]) <= set(right["cycles_median"])
    except UserError as error:
        assert str(path) in str(error)
    try:
        repair(path)
    except UserError as error:
        assert "nothing" in str(error)
    else:
        with Store(path) as store:
            assert set(store.check()) <= {"the description of m is another machine's"}
        assert swept(path).equals(right)


def test_a_damaged_row_is_told_and_simulated_again(whole: bytes, tmp_path: Path, capsys) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    with sqlite3.connect(path) as db:
        point, result = db.execute("SELECT point, result FROM result LIMIT 1").fetchone()
        db.execute("UPDATE result SET result=? WHERE point=?", (result[:-1] + b"\x55", point))
    with Store(path) as store:
        assert "1 damaged rows of m" in store.check()
        engine = StoredEngine(Storable(cycles), store)
        assert run_sweep(spec(SIZES), engine).equals(run_sweep(spec(SIZES), FakeEngine(cycles)))
        assert engine.simulated == 1 and "1 rows of the store" in capsys.readouterr().err
        assert "1 damaged rows of m" not in store.check()


def test_a_store_without_checksums_gets_them(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE result DROP COLUMN sum")
        db.execute("PRAGMA user_version=1")
    with Store(path) as store:
        assert store._connection.execute("PRAGMA user_version").fetchone()[0] == LAYOUT
        engine = StoredEngine(Storable(cycles), store)
        run_sweep(spec(SIZES), engine)
        assert engine.simulated == 0 and engine.read == 120


def test_repair_keeps_what_is_whole(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "points.sqlite"
    path.write_bytes(whole)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE result SET result=zeroblob(64) WHERE point IN (SELECT point FROM result LIMIT 5)")
    done = repair(path)
    assert (done.kept, done.lost, done.unreadable) == (115, 5, 0) and done.old.is_file()
    with Store(path) as store:
        engine = StoredEngine(Storable(cycles), store)
        run_sweep(spec(SIZES), engine)
        assert engine.simulated == 5
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE theirs (x)")
    with pytest.raises(UserError, match="no store of breakeven: nothing was changed"):
        repair(other)
