"""Programs that a command starts end with it: when their time is up, and when a signal ends the command."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from breakeven.files import sandbox
from breakeven.files.data import find_data
from breakeven.routine.registry import folder_of, user_files
from tests.asm import build
from tests.waiting import until

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which("riscv64-unknown-elf-gcc") or not find_data("guests").joinpath("riscv-recipe.json").is_file():
        pytest.skip("no riscv64-unknown-elf-gcc, or the guests are not built with it")
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))


#: starts a child and waits for it
PARENT = "sleep 1000 & echo $! > pid; mv pid child; wait"


def gone(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return True
    return state == "Z"


def test_a_program_whose_time_is_up_ends_with_its_children(tmp_path):
    with pytest.raises(sandbox.TimedOut):
        # The time begins when the child is there: the program is asked again until it was.
        while not (tmp_path / "child").is_file():
            sandbox.run(["/bin/sh", "-c", PARENT], folder=tmp_path, limits=sandbox.Limits(seconds=2))
    until(lambda: gone(int((tmp_path / "child").read_text())))


def test_a_program_that_ends_leaves_no_child(tmp_path):
    done = sandbox.run(["/bin/sh", "-c", "sleep 1000 & echo $! > child; exit 3"], folder=tmp_path)
    assert done.status == 3
    until(lambda: gone(int((tmp_path / "child").read_text())))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_program_with_its_children(tmp_path, number):
    code = f"""
from pathlib import Path
from breakeven.files import sandbox
sandbox.run(["/bin/sh", "-c", {PARENT!r}], folder=Path({str(tmp_path)!r}))
"""
    process = subprocess.Popen([sys.executable, "-P", "-c", code], stderr=subprocess.DEVNULL)
    until((tmp_path / "child").is_file)
    process.send_signal(number)
    assert process.wait() == -number
    until(lambda: gone(int((tmp_path / "child").read_text())))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_add_leaves_nothing(tmp_path, number):
    (tmp_path / "forever.S").write_text("    .globl forever\nforever: j forever\n")
    command = [sys.executable, "-P", "-m", "breakeven", "add", "forever.S", "--isa", "riscv"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    # The guest that is being checked lies there.
    until(lambda: list(folder_of("riscv").glob(".new-*/build/check")))
    process.send_signal(number)
    assert process.wait() == -number
    assert list(folder_of("riscv").iterdir()) == []


#: in gcc's place: what it builds (the word behind -o) never ends, or a child of its own does not
GCCS = {
    "built": """#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\necho $$ > {there}.new; mv {there}.new {there}; exec sleep 1000\n' > "$2"
chmod +x "$2"
""",
    "gcc": """#!/bin/sh
touch ${{TMPDIR:-/tmp}}/code.s
sleep 1000 & echo $! > {there}.new; mv {there}.new {there}; wait
""",
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="calibrate measures x86-64")
@pytest.mark.parametrize("runs", GCCS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_calibrate_leaves_nothing(tmp_path, monkeypatch, number, runs):
    for name in ("bin", "tmp", "here"):
        (tmp_path / name).mkdir()
    there = tmp_path / "pid"
    (tmp_path / "bin" / "gcc").write_text(GCCS[runs].format(there=there))
    (tmp_path / "bin" / "gcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    command = [sys.executable, "-P", "-m", "breakeven", "calibrate", "--base", "x86_o3"]
    process = subprocess.Popen(command, cwd=tmp_path / "here", stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    until(lambda: there.is_file() or process.poll() is not None)
    assert process.poll() is None and list((tmp_path / "tmp").iterdir())
    process.send_signal(number)
    assert process.wait() == (130 if number == signal.SIGINT else -number)
    until(lambda: gone(int(there.read_text())))
    assert [*(tmp_path / "tmp").iterdir(), *(tmp_path / "here").iterdir()] == []


#: in gem5's place: given a word AT, it starts a child and waits for it
GEM5 = """#!/bin/sh
cd "${0%/*}"
case "$*" in *AT*) PARENT;; esac
echo "breakeven asks: 24.0.0.1"
echo "built with USE_RISCV_ISA = True"
"""


@pytest.mark.parametrize("at", ["build.py", "--points"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_under_a_gem5_leaves_nothing(tmp_path, monkeypatch, number, at):
    """While it is asked what it is, and while it simulates points."""
    (tmp_path / "tmp").mkdir()
    gem5 = tmp_path / "gem5"
    gem5.write_text(GEM5.replace("AT", at).replace("PARENT", PARENT))
    gem5.chmod(0o755)
    for name, value in (("TMPDIR", "tmp"), ("GEM5", "gem5"), ("BREAKEVEN_STORE", "points.sqlite")):
        monkeypatch.setenv(name, str(tmp_path / value))
    words = ["sweep", "rv-word", "-m", "timing", "--sizes", "8,16,24", "--threads", "1", "--engine", "gem5"]
    command = [sys.executable, "-P", "-m", "breakeven", *words]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    until(lambda: (tmp_path / "child").is_file() or process.poll() is not None)
    assert process.poll() is None and list((tmp_path / "tmp").iterdir())
    process.send_signal(number)
    assert process.wait() == (130 if number == signal.SIGINT else -number)
    until(lambda: gone(int((tmp_path / "child").read_text())))
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the native program is x86-64's")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_the_host_measures_leaves_nothing(tmp_path, monkeypatch, number):
    """As `--engine native` and `calibrate --check` do; the program never ends."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    code = f"""
import os
from pathlib import Path
from breakeven.api import run
from breakeven.engines import native
from breakeven.files import sandbox
script = "echo $$ > pid; mv pid child; exec sleep 1000"
native._run = lambda *_: sandbox.attend(["/bin/sh", "-c", script], os.environ, cwd=Path({str(tmp_path)!r}))
run("x64-copy-erms", size=8, engine="native", store=False)
"""
    process = subprocess.Popen([sys.executable, "-P", "-c", code], stderr=subprocess.DEVNULL)
    until(lambda: (tmp_path / "child").is_file() or process.poll() is not None)
    assert process.poll() is None and list((tmp_path / "tmp").iterdir())
    process.send_signal(number)
    assert process.wait() == -number and list((tmp_path / "tmp").iterdir()) == []
    until(lambda: gone(int((tmp_path / "child").read_text())))


def test_what_a_killed_add_has_left_is_removed_by_the_next(tmp_path, breakeven):
    left, held = folder_of("riscv") / ".new-left", folder_of("riscv") / ".new-held"
    for folder in (left, held):
        folder.mkdir(parents=True)
        (folder / "file").write_text("")
    (folder_of("riscv") / ".new-link").symlink_to(tmp_path)
    descriptor = os.open(held, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    (tmp_path / "bad.S").write_text("nonsense\n")
    assert breakeven("add", "bad.S", "--isa", "riscv").returncode == 1
    os.close(descriptor)
    assert not left.exists() and held.exists() and tmp_path.exists() and user_files("riscv") == []


def test_a_signal_that_python_swallows_ends_the_process_all_the_same(tmp_path: Path) -> None:
    """What a handler raises in a weak reference's callback, as in an import, is ignored by Python."""
    script = """
import os, signal, sys, threading, weakref
from breakeven.files.sandbox import terminable
class Thing: pass
def gone(_):
    os.kill(os.getpid(), signal.SIGHUP)
    sum(range(100))  # the handler runs here
with terminable():
    thing = Thing()
    reference = weakref.ref(thing, gone)
    try:
        del thing
        threading.Event().wait()
    finally:
        print("cleaned", flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2]
    )
    assert (done.stdout, done.stderr, done.returncode) == ("cleaned\n", "", -signal.SIGHUP)


#: A process exits while its child holds as many files in memory as it gets, up to 250, and waits for ever. Its status
#: is how many of them the child did not get.
HOARDER = """
 la a0, ends
 li a1, 0
 li a7, 59 # pipe2
 ecall
 li a0, 17
 li a1, 0
 li a2, 0
 li a3, 0
 li a4, 0
 li a7, 220 # clone
 ecall
 la s1, left
 lw s2, ends
 lw s3, ends + 4
 bnez a0, parent
 li s0, 250
1: la a0, name
 li a1, 0
 li a7, 279 # memfd_create
 ecall
 bltz a0, 2f
 addi s0, s0, -1
 bnez s0, 1b
2: sb s0, (s1)
 mv a0, s3
 mv a1, s1
 li a2, 1
 li a7, 64 # write
 ecall
3: li a0, 0
 li a1, 0
 li a2, 0
 li a3, 0
 li a7, 73 # ppoll
 ecall
 j 3b
parent:
 mv a0, s2
 mv a1, s1
 li a2, 1
 li a7, 63 # read
 ecall
 lbu a0, (s1)
 li a7, 94 # exit_group
 ecall
.bss
ends: .space 8
left: .space 8
name: .space 8
"""


def test_a_program_leaves_the_simulator_descriptors_to_write_its_results_with(tmp_path: Path) -> None:
    (tmp_path / "hoarder").write_bytes(build(HOARDER))
    command = [sys.executable, "-m", "breakeven", "exec", "--linux", "-m", "atomic", "--stats", "st.txt", "hoarder"]
    limited = ["prlimit", "--nofile=128:128", *command]
    done = subprocess.run(limited, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert "cannot write" not in done.stderr and "simInsts" in (tmp_path / "st.txt").read_text(), done.stderr
    # Of 128 the simulator keeps 32 and what it has open.
    assert 250 - 128 + 32 < done.returncode < 250, done.stderr
