"""Command lines made at random: each ends in a result or in one sentence, never in a fault of our own.

The command line is built once: a case takes 9 ms.
`BREAKEVEN_HOSTILE=100000 pytest tests/cli/test_hostile.py` for a long run.
"""

from __future__ import annotations

import functools
import os
import random
from pathlib import Path
from typing import Any

import pytest
import typer.main

from breakeven.cli import failed, load
from tests.tiers import long_after

pytestmark = pytest.mark.slow

CASES = int(os.environ.get("BREAKEVEN_HOSTILE", "5000"))
#: cases of one test, and how many tests are not long
BATCH, STAY = 100, 5

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
    "--sweep": ["cpu.dcache.assoc=1:2:1", "cpu.x=1:2:1", "=", "cpu.dcache.assoc=1:0:0", "cpu.dcache.assoc=0:1:1e-9"],
    "--out": ["out.csv", "out.xyz", "", "/", "no/out.csv", "o" * 300 + ".csv"],
    "--store": ["s.sqlite", "/", "no/such/s.sqlite", "junk.csv", "s" * 300],
    "--engine": ["embedded", "gem6", "", "embedded,embedded"],
    "--threads": ["1", "0", "-1", "x", "9" * 30],
    "--file": ["junk.csv", "none.toml", "junk.toml", "/", "f" * 5000],
    "--scheduler": ["nowhere", ""], "--total": ["4K", "0", "x", "9" * 40], "--stream": ["reused", "x", ""],
    "--match": ["cpu.dcache.assoc", "no", "[", "*" * 500], "--budget": ["4", "0", "-1", "x"],
}  # fmt: skip
#: of any option else
ANYTHING = ["1", "0", "-1", "x", "", "1K", "junk.csv", "9" * 40, "\u00e4", "a=b", "." * 500]
#: what keeps a sound command line small, where it does not say otherwise
SMALL = {
    "--sizes": "8", "--machine": "u74", "--match": "cpu.dcache.assoc", "--budget": "4", "--repetitions": "1",
    "--threads": "1", "--sweep": "cpu.dcache.assoc=2,4", "--max-insts": "1000", "--no-plot": "",
}  # fmt: skip
WORDS = [
    *["rv-byte", "rv-word"] * 4,
    *["x64-byte", "no-such", "", "all", "junk.csv", "..", "show", "export", "\u00e4", "r" * 5000],
]  # fmt: skip
#: not run: they start servers, compilers or whole studies, or measure for minutes
LEFT_OUT = {"reproduce", "gem5", "add", "tune", "explore", "calibrate"}


@functools.cache
def commands() -> tuple[Any, dict[tuple[str, ...], dict[str, bool]]]:
    """The command line; by the words of a command: its options, and whether they take a value."""
    whole, found = typer.main.get_command(load()), {}

    def walk(words: tuple[str, ...], command: Any) -> None:
        options = [each for each in command.params if each.param_type_name == "option"]
        found[words] = {each.opts[0]: not (each.is_flag or each.count) for each in options}
        for name, part in getattr(command, "commands", {}).items():
            if name not in LEFT_OUT:
                walk((*words, name), part)

    walk((), whole)
    return whole, found


def line(random_: random.Random) -> list[str]:
    """One command line; with few and small points where it happens to be sound."""
    found = commands()[1]
    words = list(random_.choice([*found, ("no",)]))
    options = found.get(tuple(words), {})
    words += random_.choices(WORDS, k=random_.choice([0, 1, 2, 2, 3]))
    drawn = random_.sample(sorted(options), min(len(options), random_.randrange(5)))
    if random_.random() < 0.1:
        drawn.append(random_.choice([*VALUES, "--nonsense", "-", "--", "--help", "--version"]))
    for option in drawn:
        takes = options.get(option, option in VALUES)
        words += [option, *([random_.choice(VALUES.get(option, ANYTHING))] if takes else [])]
    for option, value in SMALL.items():
        if option in options and option not in drawn:
            words += [option, *([value] if value else [])]
    return words


@pytest.mark.parametrize("seed", long_after(STAY, range(-(-CASES // BATCH))))
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
        try:
            commands()[0](words, standalone_mode=False)
        except SystemExit:
            pass
        except Exception as error:
            capsys.readouterr()
            status = failed(error)
            said = capsys.readouterr().err
            assert status in (1, 2, 130) and "a fault of breakeven's own" not in said, (words, said)
            assert len(said) < 2000, (words, said)
        capsys.readouterr()
