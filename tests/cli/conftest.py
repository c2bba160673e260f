"""A fake engine for what does not need the real one, and how the real command is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from breakeven import points as pt
from breakeven.files.data import find_data
from breakeven.points.engine import Engine, Routine
from breakeven.points.machine_spec import MachineSpec

REPO = Path(__file__).resolve().parents[2]


class FakeSession:
    """Cycles by a formula a test gives; wrong output where it says so."""

    def __init__(self, machine: MachineSpec, model, wrong=()) -> None:
        self.machine = machine
        self.machine_hash = "0" * 64
        self.model = model
        self.wrong = wrong

    def routines(self):
        return [Routine(name, "copy", 0) for name in ("fast", "slow", "rv-word")]

    def run(self, records, threads=0, progress=None, on_results=None):
        table = np.frombuffer(records, pt.point_dtype())
        results = np.zeros(len(table), pt.result_dtype())
        for i, row in enumerate(table):
            cycles = self.model(row["routine"].decode(), int(row["size"]), row, self.machine)
            results[i]["index"] = i
            for name in ("cycles_min", "cycles_median", "cycles_total"):
                results[i][name] = cycles * int(row["calls"])
            results[i]["instructions"] = int(row["size"]) + 1
            results[i]["detail"] = results[i]["cycles_median"]
            if (row["routine"].decode(), int(row["size"])) in self.wrong:
                results[i]["status"], results[i]["detail"] = 1, 5
            if progress:
                progress(i + 1, len(table))
        if on_results:
            on_results(b"".join(i.to_bytes(4, "little") for i in range(len(table))), results.tobytes())
        return results.tobytes()


class FakeEngine(Engine):
    def __init__(self, model, wrong=()) -> None:
        self.model, self.wrong = model, wrong
        self.opened: list[str] = []

    def check(self, machine, routines=()) -> None:
        if "bad" in str(machine):
            raise ValueError("bad machine")

    def machine_hash(self, machine) -> str:
        return "0" * 64

    def open(self, machine) -> FakeSession:
        self.opened.append(str(machine))
        return FakeSession(machine, self.model, self.wrong)


@pytest.fixture
def fake():
    return FakeEngine


def _engine_is_built() -> bool:
    try:
        from breakeven import _engine  # noqa: F401
        from breakeven.files.data import find_data

        find_data("guests", "riscv.elf")
    except (ImportError, FileNotFoundError):
        return False
    return True


@pytest.fixture
def breakeven(tmp_path, monkeypatch, capfd):
    """Runs the command inside this process, in an empty folder, as `program` does it in one of its own."""
    if not _engine_is_built():
        pytest.skip("the engine or the guests are not built")
    from breakeven.entry import command

    def call(*args: object) -> subprocess.CompletedProcess[str]:
        words = ["breakeven", *(os.fsdecode(arg) if isinstance(arg, bytes) else str(arg) for arg in args)]
        capfd.readouterr()
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setattr(sys, "argv", words)
            try:
                command()
                status: object = 0
            except SystemExit as end:
                status = end.code or 0
        out, err = capfd.readouterr()
        assert isinstance(status, int)
        return subprocess.CompletedProcess(words, status, out, err)

    return call


@pytest.fixture
def program(tmp_path):
    """Runs the command as a process of its own, in an empty folder: for signals, descriptors and what a start loads."""
    if not _engine_is_built():
        pytest.skip("the engine or the guests are not built")

    def call(*args: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "breakeven", *(arg if isinstance(arg, bytes) else str(arg) for arg in args)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=timeout)

    return call


@pytest.fixture
def in_process(breakeven):
    """Exit status, standard output and standard error of a command."""

    def call(*args: object) -> tuple[int, str, str]:
        done = breakeven(*args)
        return done.returncode, done.stdout, done.stderr

    return call


def skip_without(compilers: dict[str, str]) -> None:
    """Skips a test without these compilers (by instruction set), or without guests that were built with them."""
    for isa, compiler in compilers.items():
        if shutil.which(compiler) is None or not find_data("guests").joinpath(f"{isa}-recipe.json").is_file():
            pytest.skip(f"no {compiler}, or the guests are not built with it")
