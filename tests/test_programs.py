"""Debian's static busybox and bash under syscall emulation: each line of `scripts/applets` prints, returns and leaves
what it does on this host."""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


# All lines take two minutes on two busy cores.
@pytest.mark.parametrize("words", [["sed"], pytest.param([], marks=(pytest.mark.long, pytest.mark.timeout(600)))])
@pytest.mark.parametrize("machine", ["x86_atomic"])
def test_every_line_is_as_on_this_host(machine: str, words: list[str]) -> None:
    pytest.importorskip("breakeven._engine")
    if platform.machine() != "x86_64" or not (shutil.which("busybox") and shutil.which("bash-static")):
        pytest.skip("no static busybox or bash for this host (scripts/setup --test-tools)")
    command = [sys.executable, ROOT / "scripts/applets", "-m", machine, "--no-usage", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    assert f" lines as on this host ({machine})" in done.stdout
