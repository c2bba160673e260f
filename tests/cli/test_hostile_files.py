"""Tables, sweep files and routine names made at random: each is taken or refused in one sentence.

`BREAKEVEN_HOSTILE=10000 pytest tests/cli/test_hostile_files.py` for a long run.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from breakeven.cli import failed, load
from breakeven.errors import UserError
from breakeven.routine.build import check_name
from breakeven.sweeps.file import read_sweep_file
from tests.cli.test_report import HOSTILE, table
from tests.cli.test_sweep_file import EXAMPLE
from tests.tiers import long_after

pytestmark = pytest.mark.slow

TABLES, TEXTS = (int(os.environ.get("BREAKEVEN_HOSTILE", default)) for default in (800, 4500))
#: cases of one test, and how many tests of each kind are not long
BATCH, STAY = 100, 1
#: what lies between the cells of any of these files
MARKS = [
    ",",
    "\n",
    '"',
    "=",
    "[",
    "]",
    "{",
    "}",
    ".",
    "#",
    " ",
    "\0",
    "\ufeff",
    "\u00e4",
    "\u202e",
    "\U0001f600",
    "''",
    "\\",
]
AXES = (
    'routines = "copy"\nmachines = ["u74", "c906"]\nsizes = [1, "8..16"]\nsrc = 3\ndst = "0..7"\n'
    'cache = ["warm", "cold"]\nmeasure = "latency"\nrepetitions = 1\ncalls = 8\nsize2 = "1K"\nseed = 7\n'
    "[set]\ncpu.a.b = true\n[sweep]\ncpu.c = [1, 2]\n"
)


def mutated(text: str, draw: random.Random) -> bytes:
    """The text with a few changes: words replaced, marks put in, lines doubled or lost, a byte changed, its end cut."""
    for _ in range(draw.choice([1, 1, 2, 5])):
        words = re.split(r"([^\w.-]+)", text)
        at = draw.randrange(len(words))
        match draw.randrange(5):
            case 0:
                words[at] = draw.choice(HOSTILE)
            case 1:
                words.insert(at, draw.choice(MARKS))
            case 2:
                words[at] = str(draw.choice([-1, 0, 2**63, 2**64, 10**400, 1e308, 0.5]))
            case 3:
                lines = text.split("\n")
                line = draw.randrange(len(lines))
                lines[line : line + 1] = [lines[line]] * draw.choice([0, 2])
                words = ["\n".join(lines)]
            case _:
                words = words[:at]
        text = "".join(words)
    data = bytearray(text.encode())
    if data and draw.random() < 0.3:
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(data)


@pytest.mark.parametrize("seed", long_after(STAY, range(-(-TABLES // BATCH))))
def test_a_table_is_shown_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(seed)
    whole = table(machine=draw.choice(["native", "u74"])).iloc[:6]
    texts = {"t.csv": whole.to_csv(index=False), "t.json": whole.to_json(orient="records")}
    for _ in range(BATCH):
        name = draw.choice(list(texts))
        Path(name).write_bytes(data := mutated(texts[name], draw))
        done = CliRunner().invoke(load("report"), ["report", name, "-o", "t.html"], standalone_mode=False)
        if done.exception is None or isinstance(done.exception, SystemExit):
            continue
        capsys.readouterr()
        status = failed(done.exception)
        said = capsys.readouterr().err
        assert status in (1, 2) and "a fault of breakeven's own" not in said and len(said) < 2000, (data, said)


@pytest.mark.parametrize("seed", long_after(STAY, range(-(-TEXTS // BATCH))))
def test_a_sweep_file_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    draw, path = random.Random(seed), tmp_path / "s.toml"
    for _ in range(BATCH):
        path.write_bytes(data := mutated(draw.choice([EXAMPLE, AXES]), draw))
        try:
            read_sweep_file(path)
        except UserError as error:
            assert str(path) in str(error), (data, error)


@pytest.mark.parametrize("seed", long_after(STAY, range(-(-TEXTS // BATCH))))
def test_a_routines_name_is_a_files_name_or_refused(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(BATCH):
        parts = ["a", "Z", "9", "..", "/", "-", "_", "+", "all", "copy", "~", "x" * 40, *MARKS, *HOSTILE]
        name = "".join(draw.choices(parts, k=draw.choice([0, 1, 1, 2, 3, 8])))
        try:
            check_name(name)
        except UserError as error:
            assert "cannot be a routine's name" in str(error)
        else:
            assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,38}", name), name
