"""`scripts/gem5_differential`: with a program in gem5's place, and without one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.gem5.programs import bare_metal

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
import gem5_differential as differential  # noqa: E402

pytestmark = pytest.mark.slow

#: takes gem5's arguments, and leaves one parameter of the machine at its default
FAKE = """#!{python}
import subprocess, sys
words = sys.argv[1:]
words[words.index("--default") + 1] += ",executeBranchDelay"
sys.exit(subprocess.run([sys.executable, "-m", "breakeven", "gem5", *words]).returncode)
"""


@pytest.fixture
def guest(tmp_path):
    path = tmp_path / "work.elf"
    path.write_bytes(bare_metal("work"))
    return path


@pytest.fixture
def gem5(tmp_path):
    path = tmp_path / "gem5.opt"
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(0o755)
    return path


def test_a_difference_is_found_and_hangs_on_its_parameter(gem5, guest, capsys):
    where = ["--seeds", "1", "--isa", "riscv", "--cpu", "minor", "--guest", str(guest), "--gem5", str(gem5)]
    differential.main([*where, "--bisect", "1"])
    table, _, causes = capsys.readouterr().out.partition("\n\nriscv minor 1, work[0], cycles: ")
    assert "riscv minor: 1 runs" in table and "0 equal" in table
    assert table.splitlines()[3].split()[:5] == ["riscv", "minor", "1", "work[0]", "cycles"]
    assert causes.splitlines()[1].split()[0] == "executeBranchDelay" and "(+0.00 %)" in causes.splitlines()[1]


def test_cycles_that_are_kept(tmp_path, capsys):
    machine = differential.Machine("riscv", "minor", 1)
    ours = differential.measure(differential.OURS, machine, [])
    table = tmp_path / "kept.csv"
    rows = [f"riscv,minor,1,{kernel},{counts['cycles']:.0f}," for kernel, counts in ours.items()]
    rows[3] = f"riscv,minor,1,mul,{ours['mul']['cycles'] * 2:.0f},1"
    table.write_text("\n".join(["isa,cpu,seed,kernel,cycles,insts", *rows]) + "\n")
    differential.main(["--seeds", "1..2", "--isa", "riscv", "--cpu", "minor", "--reference", str(table)])
    done = capsys.readouterr()
    assert "34 runs, median difference 0.00 %, 33 equal, 97.1 % within 2 %, 1 beyond 10 %" in done.out
    first, second = (line.split() for line in done.out.splitlines()[3:5])
    assert (first[3:5], first[-1], second[3:5]) == (["mul", "cycles"], "-50.00", ["mul", "insts"])
    assert "riscv minor 2: no cycles are kept of it; --gem5 PATH measures them" in done.err


def test_mistakes(tmp_path, guest):
    def says(*words: str) -> str:
        with pytest.raises((differential.Mistake, SystemExit)) as raised:
            differential.main([*words])
        return str(raised.value)

    bad = tmp_path / "bad.csv"
    bad.write_text("isa,cpu,seed\n")
    assert "bad.csv has no column cycles, kernel" in says("--reference", str(bad))
    bad.write_text("isa,cpu,seed,kernel,cycles\nriscv,minor,one,nop,3\n")
    assert "bad.csv, line 2: not a row of numbers" in says("--reference", str(bad))
    assert "none of these machines" in says("--seeds", "99999", "--cpu", "minor")
    assert "--guest needs --gem5" in says("--guest", str(guest))
    assert "/none is no program" in says("--gem5", "/none")
    liar = tmp_path / "liar"
    liar.write_text("#!/bin/sh\necho 'fatal: not today' >&2\nexit 3\n")
    liar.chmod(0o755)
    where = ["--seeds", "1", "--isa", "riscv", "--cpu", "minor", "--guest", str(guest)]
    assert "gem5 gave up on riscv minor 1 with work.elf (status 3): fatal: not today" in says(
        *where, "--gem5", str(liar)
    )
    assert says("--seeds", "x") == "2" and says("--cpu", "atomic") == "2"
