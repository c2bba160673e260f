"""The wheel, installed into an empty environment with what it says it needs, where there is no compiler: every verb.

``BREAKEVEN_WHEEL=FILE`` tries that wheel instead of building one.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(1800)]

REPO = Path(__file__).resolve().parent.parent
GUESTS = {"riscv.elf", "x86.elf", "load-to-use-riscv.elf", "load-to-use-x86.elf"}
BOTH = ["rv-byte", "rv-word"]
#: what a user of the wheel does, in this order, in one folder; {configs}: the wheel's own
COMMANDS = [
    ["routines"],
    ["machines"],
    ["machines", "show", "u74"],
    ["machines", "diff", "u74", "c906"],
    ["run", "rv-word", "--size", "64"],
    ["run", "x64-copy-unrolled", "--size", "64", "-m", "broadwell"],
    ["explain", *BOTH, "--size", "64", "-m", "c910"],
    ["sweep", *BOTH, "--sizes", "8..32:8", "--out", "table.csv"],
    ["compare", *BOTH, "--sizes", "8..32:8"],
    ["best", "checksum", "--sizes", "8..32:8"],
    ["find", *BOTH, "--sizes", "1..32"],
    ["surface", *BOTH, "--sizes", "1..16", "--sweep", "cpu.executeBranchDelay=1:2:1"],
    ["sensitivity", *BOTH, "--sizes", "1..8", "-m", "atomic"],
    ["reproduce", "tiny.py"],
    ["report", "table.csv"],
    ["report", "--out", "store.html"],
    ["store"],
    ["store", "export", "points.csv"],
    ["store", "prune"],
    ["gem5", "{configs}/point.py", "u74", "rv-word", "64"],
]
STUDY = """
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.study import Contents, Study
from breakeven.sweeps.spec import SweepSpec

GRID = SweepSpec(["rv-byte"], [MachineSpec("u74", ())], [8, 16])
TEXT = "{{verdicts}} {{conditions}}"
STUDY = Study("tiny", "Tiny", {"sizes": ("both", GRID)}, lambda data: [], lambda data: Contents({}, [], []), TEXT)
"""


def built(folder: Path) -> Path:
    """The wheel to try."""
    given = os.environ.get("BREAKEVEN_WHEEL")
    if given:
        return Path(given).resolve()
    scons = Path(sys.executable).with_name("scons")
    if not scons.exists() or shutil.which("cargo") is None or shutil.which("riscv64-unknown-elf-gcc") is None:
        pytest.skip("building a wheel needs scons, cargo and the cross compiler: scripts/setup installs them")
    done = subprocess.run(
        [str(scons), "-Q", "-s", "wheel", f"out={folder}"], cwd=REPO, capture_output=True, text=True, timeout=1500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def closure(wheel: Path) -> set[str]:
    """What the wheel requires, and what that requires: names of distributions."""
    from packaging.requirements import Requirement

    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        lines = archive.read(metadata).decode().splitlines()
    wanted = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    found: set[str] = set()
    while wanted:
        requirement = Requirement(wanted.pop())
        if requirement.name not in found and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
            found.add(requirement.name)
            wanted += importlib.metadata.requires(requirement.name) or []
    return found


def environment(folder: Path, wheel: Path) -> Path:
    """A virtual environment with the wheel and links to what it requires, nothing else; its folder of programs."""
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in closure(wheel):
        distribution = importlib.metadata.distribution(name)
        tops = {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}
        for top in tops:
            if not (site / top).exists():
                (site / top).symlink_to(distribution.locate_file(top))
    command = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet"]
    command += ["--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)]
    subprocess.run(command, check=True, timeout=300)
    return folder / "bin"


def test_the_wheel_does_everything_without_a_compiler(tmp_path: Path) -> None:
    wheel = built(tmp_path / "dist")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"breakeven/_data/guests/{name}" for name in GUESTS} <= names
    ours = {path.relative_to(REPO) for path in (REPO / "configs").rglob("*.*") if "__pycache__" not in path.parts}
    assert {f"breakeven/_data/{path}" for path in ours} <= names
    assert {"breakeven/explorer/static/page.html", "breakeven/web/chart.js"} <= names
    assert {f"breakeven/_data/native/{preset}/points.csv" for preset in ("goldencove", "zen4")} <= names
    assert not [name for name in names if "__pycache__" in name]

    programs = environment(tmp_path / "venv", wheel)
    home = tmp_path / "home"
    home.mkdir()
    (home / "tiny.py").write_text(STUDY)
    (home / "mine.S").write_text("    .globl mine\nmine:\n    ret\n")
    variables = {"PATH": str(programs), "HOME": str(home)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(programs / "breakeven"), *arguments]
        return subprocess.run(command, cwd=home, env=variables, capture_output=True, text=True, timeout=300)

    where = subprocess.run(
        [str(programs / "python"), "-c", "from breakeven.files.data import find_data; print(find_data('configs'))"],
        cwd=home, env=variables, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    configs = where.stdout.strip()
    assert configs.startswith(str(tmp_path)), "it does not use the wheel's own configurations"
    for command in COMMANDS:
        done = run(*(word.replace("{configs}", configs) for word in command))
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    assert json.loads(run("run", "rv-word", "--size", "64", "--json").stdout)["ok"]
    limited = run("exec", str(REPO / "tests/data/gem5/micro.rv64.elf"), "--max-insts", "100", "-m", "atomic")
    assert limited.returncode == 124, limited.stderr
    # This one compiles; the others are all.
    done = run("add", "mine.S", "--isa", "riscv")
    assert done.returncode == 1 and "checkout" in done.stderr and "Traceback" not in done.stderr, done.stderr
    done = run("tune", "-m", "u74", "--candidates", ",".join(BOTH), "-n", "8,16,64", "--src", "0", "-o", "t.h")
    assert done.returncode == 0 and "dispatch not included" in done.stdout, done.stdout + done.stderr
    assert "always_inline)) void tuned_copy(" in (home / "t.h").read_text()
    # A calibration takes minutes.
    done = run("calibrate", "--base", "nothing")
    assert done.returncode == 1 and "no preset 'nothing'" in done.stderr, done.stderr
    verbs = {
        line.split()[0] for line in run("--help").stdout.partition("Commands:\n")[2].splitlines() if line[2:3] > " "
    }
    assert verbs == {command[0] for command in COMMANDS} | {"exec", "add", "tune", "explore", "gem5-diff", "calibrate"}
    assert "anand2002" in run("reproduce", "nobody").stderr
