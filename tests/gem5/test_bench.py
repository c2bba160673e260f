"""`scripts/bench --gem5`: with a program in gem5's place."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
import bench_gem5  # noqa: E402

pytestmark = pytest.mark.slow

FAKE = """#!{python}
import subprocess, sys
sys.exit(subprocess.run([sys.executable, "-m", "breakeven", "gem5", *sys.argv[1:]]).returncode)
"""


def program(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_both_speeds(tmp_path, capsys):
    gem5 = program(tmp_path / "gem5.opt", FAKE.format(python=sys.executable))
    once = ["--isa", "riscv", "--cpu", "atomic", "--repeat", "1"]
    bench_gem5.main([gem5, *once, "--json"])
    speeds = json.loads(capsys.readouterr().out)
    assert list(speeds) == ["riscv.atomic"] and min(speeds["riscv.atomic"].values()) > 0
    table = bench_gem5.table([bench_gem5.Speeds("riscv.o3", 0.25, 3.0)])
    assert table[1].split() == ["riscv.o3", "0.250", "3.000", "12.0"]


def test_mistakes(tmp_path):
    def says(*words: str) -> str:
        with pytest.raises(bench_gem5.Mistake) as raised:
            bench_gem5.main([*words])
        return str(raised.value)

    assert "/none is no program" in says("/none")
    assert "at least one run" in says(sys.executable, "--repeat", "0")
    liar = program(tmp_path / "liar", "#!/bin/sh\necho 'fatal: not today' >&2\nexit 3\n")
    asked = says(liar, "--isa", "riscv", "--cpu", "atomic", "--repeat", "1")
    assert asked == "liar gave up on riscv atomic (status 3): fatal: not today"
