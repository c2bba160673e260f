"""A store that somebody else made says what its maker wrote, with checksums that fit: odd values end in a sentence."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from breakeven.points import Point, point_dtype, result_dtype
from breakeven.points.engine import Identity
from breakeven.points.result import _RESULT as RESULT
from breakeven.store.rows import row_sum
from tests.tiers import long_after

pytestmark = pytest.mark.slow

WORDS = ("rv-byte", "rv-word", "-m", "atomic", "--sizes", "1..8", "--store", "s.sqlite")
COMMANDS = (
    ("store", "--store", "s.sqlite"), ("store", "--json", "--store", "s.sqlite"),
    ("store", "check", "--store", "s.sqlite"), ("store", "export", "t.csv", "--store", "s.sqlite"),
    ("store", "export", "t.json", "--all-engines", "--store", "s.sqlite"),
    ("report", "-o", "r.html", "--store", "s.sqlite"), ("compare", *WORDS), ("compare", *WORDS, "--json"),
    ("sweep", *WORDS, "-o", "s.csv"), ("machines", "show", "u74", "--store", "s.sqlite"),
    ("store", "repair", "--store", "s.sqlite"), ("store", "prune", "--store", "s.sqlite"),
)  # fmt: skip
TEXTS = ("", "x\ny", "a b=c", "\x1b[2J", "é" * 70000, 7, 2**62, -1, 1.5, b"\xff\x00")
NUMBERS = ("", "x", 2**62, -(2**62), 1.5, b"\xff")
DESCRIPTIONS = (
    "", "x", "[]", "7", "{}", '{"objects": 7}', '{"objects": [7]}', '{"objects": [{}]}', '{"format": 1, "objects": []}',
    '{"objects": [{"path": 1, "type": 2, "bases": 3, "params": 4}]}', '{"objects": [{"path": "a", "type": "System", '
    '"bases": ["BaseCPU"], "params": {"size": {"ref": "nowhere"}, "clock": [{}], "mem_ranges": [7]}}]}',
)  # fmt: skip
ANSWERS = ("", "x", "7", "[]", "{}", "[7]", '[{"x": 1}]', '{"said": 7, "sizes": []}', '{"said": "a\\nb"}', "null",
           '[{"level": 1, "size_bytes": "x", "cycles": null, "nanoseconds": []}]')  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with points, and with both kinds of notes."""
    folder = tmp_path_factory.mktemp("made")
    for words in (("sensitivity", *WORDS), ("machines", "show", "u74", "--store", "s.sqlite")):
        subprocess.run([sys.executable, "-m", "breakeven", *words], cwd=folder, check=True, capture_output=True)
    return folder / "s.sqlite"


def fields(dtype: object) -> list[str]:
    return list(dtype.names)  # type: ignore[attr-defined]


FIRST = [
    *[("context", name, b"\xff\x00") for name in ("engine", "machine_hash", "guest", "machine", "created")],
    *[("note", "answer", value) for value in ("", "[]", '{"said": 7, "sizes": []}', '[{"x": 1}]')],
    *[("point", name, b"\xff") for name in ("routine", "cache_state", "measure")],
    ("description", "", '{"objects": 7}'),
]  # fmt: skip
REST = [
    *[("context", name, value) for name in ("engine", "machine_hash", "guest", "machine") for value in TEXTS],
    *[("context", "created", value) for value in NUMBERS],
    *[("description", "", value) for value in DESCRIPTIONS],
    *[("note", "answer", value) for value in ANSWERS],
    *[("point", name, value) for name in fields(point_dtype()) for value in (b"\xff", b"\x7f", b"\x00")],
    *[("result", name, value) for name in fields(result_dtype()) for value in (b"\xff", b"\x7f", b"\x00")],
]


def changed(path: Path, what: str, name: str, value: object) -> None:
    """Puts `value` into each row, whose checksums are made anew."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA foreign_keys=OFF")
        for row in db.execute("SELECT id, engine, machine_hash, guest, machine, description, created FROM context"):
            columns = dict(
                zip(("id", "engine", "machine_hash", "guest", "machine", "description", "created"), row, strict=True)
            )
            if what == "context":
                columns[name] = value
            if what == "description":
                text = str(value).encode()
                columns |= {"description": zlib.compress(text), "machine_hash": hashlib.sha256(text).hexdigest()}
            identity = Identity(columns["engine"], columns["machine_hash"], columns["guest"])
            own = (columns["machine"], columns["description"], columns["created"])
            db.execute(
                "UPDATE OR REPLACE context SET engine=?, machine_hash=?, guest=?, machine=?, description=?, created=?, "
                "sum=? WHERE id=?", (*identity, *own, row_sum(identity, *own), columns["id"]),
            )  # fmt: skip
            points = db.execute("SELECT point, result FROM result WHERE context=?", (columns["id"],)).fetchall()
            for number, (point, result) in enumerate(points):
                old = point
                if what in ("point", "result"):
                    dtype = point_dtype() if what == "point" else result_dtype()
                    kind, at = dtype.fields[name][:2]
                    data = bytearray(point if what == "point" else result)
                    data[at : at + kind.itemsize] = value * kind.itemsize
                    point, result = (bytes(data), result) if what == "point" else (point, bytes(data))
                    if what == "point" and number:
                        continue  # they would all be the same
                db.execute(
                    "UPDATE OR REPLACE result SET point=?, result=?, sum=? WHERE context=? AND point=?",
                    (point, result, row_sum(identity, point, result), columns["id"], old),
                )
            for question, answer in db.execute("SELECT question, answer FROM note WHERE context=?", (columns["id"],)):
                answer = value if what == "note" else answer
                db.execute(
                    "UPDATE note SET answer=?, sum=? WHERE context=? AND question=?",
                    (answer, row_sum(identity, question, answer), columns["id"], question),
                )


@pytest.mark.parametrize("odd", long_after(len(FIRST), [*FIRST, *REST]))
def test_odd_values_are_no_fault_of_ours(made: Path, breakeven: Callable, tmp_path: Path, odd: tuple) -> None:
    shutil.copy(made, tmp_path / "s.sqlite")
    changed(tmp_path / "s.sqlite", *odd)
    for words in COMMANDS:
        done = breakeven(*words)
        assert "fault of breakeven's own" not in done.stderr, (words, done.stderr)
        assert not {"\x1b", "\x9b"} & set(done.stdout + done.stderr)
        if "--json" in words and done.stdout:
            json.loads(done.stdout)


def test_a_description_of_no_machine_is_left_out_of_a_report(tmp_path: Path, breakeven: Callable) -> None:
    """It is told; the points stay. One of 14 MB would take 2 GB."""
    from breakeven.files.binaries import load_engine
    from breakeven.store import Store
    from breakeven.web.sources import _described

    texts = ['"abc"', "5", '{"objects":5}', "[" * 100_000, '{"format":1,"objects":[' + "[]," * 1_000_000 + "[]]}"]
    with Store(tmp_path / "s.sqlite") as store:
        for number, text in enumerate(texts):
            machine_hash = hashlib.sha256(text.encode()).hexdigest()
            context = store.context(Identity(load_engine().fingerprint, machine_hash, "g" * 64), "u74", text)
            result = RESULT.pack(0, 0, 46, 53, 1000, 50, 0, 0, 15)
            store.add(context, [Point("rv-word", 64, seed=number + 1).pack()], [result])
    tracemalloc.start()
    assert not any(_described(text, 1 << 30) for text in texts)
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()
    done = breakeven("report", "--store", "s.sqlite", "-o", "r.html")
    assert done.returncode == 0 and done.stdout == "5 points: r.html\n"
    assert "5 descriptions of machines in the store" in done.stderr and "left out" in done.stderr
