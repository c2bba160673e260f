"""Command lines made at random: each ends in a result or in one sentence, never in a fault of our own.

`BREAKEVEN_HOSTILE=10000 pytest tests/cli/test_hostile.py` for a long run.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from breakeven.cli import FILES, failed, load

pytestmark = pytest.mark.slow

CASES = int(os.environ.get("BREAKEVEN_HOSTILE", "300"))
#: cases of one test
BATCH = 100

#: by option: values, sound ones among them
VALUES = {
    "--machine": ["u74", "minor", "x86_o3", "no", "", "/", "./x.py", "host", "u" * 5000],
    "--sizes": ["8", "8,16", "1..9:4", "0", "9..1", "1..1e9", "-1", "x", "", "1..99999999999999999999", "8" * 5000],
    "--size": ["8", "0", "-8", "1K", "8.5", "x", "", "9" * 40],
    "--src": ["0", "3", "4096", "-1", "a", "0..7"],
    "--dst": ["0", "1", "\u00e4"],
    "--cache": ["warm", "cold", "hot", "", "warm,cold"],
    "--measure": ["latency", "stream", "x", "latency,throughput"],
    "--repetitions": ["1", "2", "0", "-1", "1e3", "x"],
    "--warmup": ["0", "1", "-1"],
    "--calls": ["1", "0", "x"],
    "--set": [
        "cpu.dcache.size=16KiB", "cpu.dcache.size=", "cpu.dcache.size=17", "=", "a=b", "cpu=1", "cpu.dcache=x",
        "cpu.misaligned.policy=x", "cpu..x=1", "cpu.isa[99].x=1", "." * 5000, "cpu.dcache.size=1e400",
        "cpu.dcache.assoc=0", "cpu.dcache.assoc=-1", "cpu.__class__=1",
    ],
    "--sweep": ["cpu.dcache.assoc=1:2", "cpu.x=1:2", "=", "cpu.dcache.assoc=1:0:0", "cpu.dcache.assoc=0:1:1e-9"],
    "--out": ["out.csv", "out.xyz", "", "/", "no/out.csv", "o" * 300 + ".csv"],
    "--store": ["s.sqlite", "/", "no/such/s.sqlite", "junk.csv", "s" * 300],
    "--engine": ["embedded", "gem6", "", "embedded,embedded"],
    "--threads": ["1", "0", "-1", "x", "9" * 30],
    "--file": ["junk.csv", "none.toml", "junk.toml", "/", "f" * 5000],
    "--scheduler": ["nowhere"],
    "--json": [], "--no-store": [], "--help": [], "--version": [], "--nonsense": ["1"], "-": [], "--": [],
}  # fmt: skip
WORDS = [
    "rv-byte", "rv-word", "x64-byte", "no-such", "", "all", "junk.csv", "..", "show", "export", "\u00e4", "r" * 5000,
]  # fmt: skip
#: not run: they start servers, compilers or whole studies, or wait for a scheduler
LEFT_OUT = {"reproduce", "gem5", "add", "tune", "explore"}


def line(random_: random.Random) -> list[str]:
    """One command line; with few and small points where it happens to be sound."""
    commands = sorted({name for names in FILES.values() for name in names} - LEFT_OUT)
    words = [random_.choice([*commands, "no"])]
    words += random_.choices(WORDS, k=random_.choice([0, 1, 2, 2, 3]))
    for option in random_.sample(sorted(VALUES), random_.randrange(5)):
        if option == "--scheduler":
            continue
        words += [option, *([random_.choice(VALUES[option])] if VALUES[option] else [])]
    return words


@pytest.mark.parametrize("seed", range(-(-CASES // BATCH)))
def test_a_command_line_ends_in_a_result_or_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BREAKEVEN_STORE", str(tmp_path / "own.sqlite"))
    Path("junk.csv").write_text("a,b\n1,2\n")
    Path("junk.toml").write_text("routines = [1]\n")
    random_ = random.Random(seed)
    for _ in range(BATCH):
        words = line(random_)
        done = CliRunner().invoke(load(*words[:1]), words, standalone_mode=False)
        if done.exception is None or isinstance(done.exception, SystemExit):
            continue
        capsys.readouterr()
        status = failed(done.exception)
        said = capsys.readouterr().err
        assert status in (1, 2, 130) and "a fault of breakeven's own" not in said, (words, said)
        assert len(said) < 2000, (words, said)
