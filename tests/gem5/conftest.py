"""Runs the scripts of `tests/gem5_scripts` as a user does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.gem5 import programs

SCRIPTS = Path(__file__).resolve().parents[1] / "gem5_scripts"


class Run:
    """Runs a script in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "m5out"

    def __call__(self, script: str, *arguments: str, options: tuple[str, ...] = (), status: int = 0) -> str:
        """What the script prints (standard error after it), once it has ended with `status`."""
        command = [sys.executable, "-m", "breakeven", "gem5", *options, str(SCRIPTS / script), *arguments]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
        )
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    def bare(self, name: str, isa: str = "Riscv") -> str:
        (self.folder / f"{name}.elf").write_bytes(programs.bare_metal(name, isa))
        return f"{name}.elf"

    def linux(self, name: str, isa: str = "Riscv") -> str:
        (self.folder / name).write_bytes(programs.linux(name, isa))
        return name


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)
