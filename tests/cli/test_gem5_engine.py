"""`--engine gem5`: the call of a gem5, with breakeven's own launcher in its place, and without one."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from breakeven.engines.gem5_binary import Gem5Engine
from breakeven.errors import UserError
from breakeven.files import landlock
from breakeven.files.data import find_data
from breakeven.machine.resolve import resolving
from breakeven.points import RESULT_BYTES, Point
from breakeven.points.machine_spec import MachineSpec

#: takes gem5's arguments; logs its runs in a folder, and gives up on points whose size is named
FAKE = """#!{python}
import os, pathlib, struct, subprocess, sys
if sys.argv[-1].endswith("build.py"):
    print("breakeven asks: {version}\\nbuilt with USE_RISCV_ISA = True\\nbuilt with USE_X86_ISA = False")
    sys.exit()
here = pathlib.Path(__file__).parent / "runs"
here.mkdir(exist_ok=True)
(here / str(os.getpid())).write_text(os.environ.get("PYTHONPYCACHEPREFIX", "none"))
if {fails!r} in pathlib.Path(sys.argv[sys.argv.index("--points") + 1]).read_bytes().hex():
    sys.exit("fatal: not today")
print("warn: minor without all of it: gem5 cannot express it", file=sys.stderr)
sys.exit(subprocess.run([sys.executable, "-m", "breakeven", "gem5", *sys.argv[1:]]).returncode)
"""


def put(program: Path, version: str = "24.0.0.1", fails: str = "none") -> None:
    program.write_text(FAKE.format(python=sys.executable, version=version, fails=fails))


def runs(program: Path) -> int:
    return len(list((program.parent / "runs").glob("*")))


@pytest.fixture
def gem5(tmp_path, monkeypatch):
    """A program that takes gem5's arguments."""
    program = tmp_path / "gem5.opt"
    put(program)
    program.chmod(0o755)
    monkeypatch.setenv("GEM5", str(program))
    monkeypatch.setenv("BREAKEVEN_STORE", str(tmp_path / "points.sqlite"))
    return program


@pytest.mark.slow
def test_the_same_points_under_a_gem5(gem5, breakeven):
    arguments = ("compare", "rv-byte", "rv-word", "-m", "minor", "--sizes", "8,64", "--src", "3", "--json")
    arguments = (*arguments, "--engine", "embedded,gem5", "--set", "cpu.dcache.size=16KiB")
    done = breakeven(*arguments)
    assert done.returncode == 0, done.stderr
    # Every process says what gem5 leaves out; it is told once.
    assert done.stderr.count("gem5 cannot express") == 1
    found = json.loads(done.stdout)
    assert list(found["engines"]) == ["embedded", "gem5"]
    rows = {(row["routine"], row["size"]): row for row in found["points"]}
    # Every point starts from a boot of its own, as the simulator's start from the snapshot.
    assert len(rows) == 4 and all(row["embedded"] == row["gem5"] for row in rows.values())
    # Kept by the binary: the same one is not asked again, another one is, and `store prune` leaves both.
    first = runs(gem5)
    assert first >= 4
    assert breakeven("store", "prune").returncode == 0
    assert json.loads(breakeven(*arguments).stdout) == found and runs(gem5) == first
    put(gem5, version="24.1.0.0")
    assert breakeven(*arguments).returncode == 0 and runs(gem5) == 2 * first


def test_a_point_that_fails_loses_no_other(gem5, breakeven):
    put(gem5, fails=(77).to_bytes(8, "little").hex())
    words = ("sweep", "rv-word", "-m", "timing", "--sizes", "8,16,77", "--engine", "gem5")
    done = breakeven(*words, "-o", str(gem5.parent / "out.csv"), "--threads", "1")
    assert done.returncode == 1
    assert "gem5 gave up on rv-word, 77 bytes, on timing: fatal: not today (2 of 3 points are done)" in done.stderr
    # Bytecode goes by the second and the size of a source: no gem5 takes that of a machine file as it was.
    folders = [each.read_text() for each in (gem5.parent / "runs").iterdir()]
    assert len(set(folders)) == 3 and all("breakeven-" in folder for folder in folders)


#: writes outside of its folder, as a gem5 does for a guest that asks for it
WRITES = """#!{python}
import pathlib, subprocess, sys
if sys.argv[-1].endswith("build.py"):
    sys.exit(print("breakeven asks: 24.0.0.1"))
status = subprocess.run([sys.executable, "-m", "breakeven", "gem5", *sys.argv[1:]]).returncode
here = pathlib.Path(__file__).parent
print(here.joinpath("secret").read_text())
here.joinpath("written").write_text("by the guest")
sys.exit(status)
"""


@pytest.mark.slow
def test_another_guest_writes_no_file_through_a_gem5(gem5, breakeven, monkeypatch):
    gem5.write_text(WRITES.format(python=sys.executable))
    gem5.with_name("secret").write_text("")
    written = gem5.with_name("written")
    words = ("run", "rv-word", "-m", "timing", "--size", "8", "--engine", "gem5", "--no-store")
    assert breakeven(*words).returncode == 0 and written.read_text() == "by the guest"
    written.unlink()
    other = ("--guest", str(find_data("guests", "riscv.elf")))
    if landlock.version():
        assert breakeven(*words, *other).returncode == 0 and not written.exists()
    monkeypatch.setattr(landlock, "version", lambda: 0)
    engine = Gem5Engine(find_data("guests", "riscv.elf"))
    with pytest.raises(UserError, match="this kernel has no Landlock"):
        engine.open(MachineSpec("timing"))


def test_settings_that_only_a_gem5_reads(gem5, breakeven):
    words = ("run", "rv-word", "-m", "minor", "--size", "8", "--set", "cpu.executeSetTraceTimeOnIssue=true")
    assert "no rule reads executeSetTraceTimeOnIssue" in breakeven(*words).stderr
    done = breakeven(*words, "--engine", "gem5")
    assert done.returncode == 0 and "verified" in done.stdout, done.stderr
    done = breakeven(*words[:-1], "cpu.nonsense=1", "--engine", "gem5")
    assert done.returncode == 1 and "nonsense" in done.stderr


def test_a_gem5_that_is_old_or_none_or_lacks_the_isa(gem5, breakeven, monkeypatch):
    def says(*words: str) -> str:
        done = breakeven(*words, "--engine", "gem5")
        assert done.returncode == 1, done.stdout
        return str(done.stderr)

    words = ("run", "rv-word", "-m", "timing", "--size", "64")
    assert "was built without x86: build it with USE_X86_ISA=y" in says(
        "run", "x64-copy-erms", "-m", "x86_minor", "--size", "64"
    )
    put(gem5, version="[DEVELOP-FOR-23.1]")
    assert "is gem5 23.1: the scripts need 24.0 or later" in says(*words)
    put(gem5, version="22.0.0.2")
    assert "is gem5 22.0.0.2: the scripts need 24.0 or later" in says(*words)
    gem5.write_text("#!/bin/sh\necho 'fatal: not today' >&2\nexit 1\n")
    assert "is no gem5: it does not run a script that asks its version; set GEM5" in says(*words)
    monkeypatch.setenv("GEM5", os.devnull)
    assert "is no program; set GEM5 to its binary" in says(*words)


MACHINE = """
from machines import u74
from part import SIZE
def machine(**options):
    return u74.machine(l1d_size=SIZE, **options)
"""


@pytest.mark.parametrize("edited", [None, "mine.py", "mine.py and back", "part.py", "gem5.opt", "real"])
def test_a_point_is_of_the_files_that_it_is_kept_under(gem5, tmp_path, monkeypatch, edited):
    """Whatever is edited while a gem5 runs, even if it is put back: the point is not told, and the command ends."""
    real = tmp_path / "real"
    real.write_text("the program that a script starts")
    gem5.write_text(
        gem5.read_text().replace('print("breakeven', f"print('built with BINARY = {real}');print(\"breakeven")
    )
    file = tmp_path / "mine.py"
    file.write_text(MACHINE)
    (tmp_path / "part.py").write_text('SIZE = "16KiB"\n')

    def waited(engine, command, folder, programs):
        (folder / "results.bin").write_bytes(bytes(RESULT_BYTES))
        if edited:
            path = tmp_path / edited.partition(" ")[0]
            before = path.read_text()
            path.write_text(before.replace("16", "32") + "\n")
            if "back" in edited:
                path.write_text(before)
        return 0, "", ""

    monkeypatch.setattr(Gem5Engine, "_wait_for", waited)
    told, spec = [], MachineSpec(str(file))
    with resolving():
        engine = Gem5Engine()
        identity = engine.identity(spec)[0]
        session = engine.open(spec)
        if edited is None:
            session.run(Point("rv-word", 8).pack(), on_results=lambda *row: told.append(row))
            assert len(told) == 1
        else:
            with pytest.raises(UserError, match="changed while gem5 ran: run it again"):
                session.run(Point("rv-word", 8).pack() * 2, 1, on_results=lambda *row: told.append(row))
            assert told == []
    with resolving():
        after = Gem5Engine().identity(spec)[0]
    assert (after != identity) == (edited in ("part.py", "gem5.opt", "real"))
