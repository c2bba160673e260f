"""Programs that a command starts end with it: when their time is up, and when a signal ends the command."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from breakeven.files import sandbox
from breakeven.files.data import find_data
from breakeven.routine.registry import folder_of, user_files
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
