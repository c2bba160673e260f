"""What docs/promises.md says of the store holds under each accident, once; `scripts/soak` goes on for hours."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(600)]

SOAK = Path(__file__).parents[1] / "scripts" / "soak.py"


def test_each_accident_once() -> None:
    pytest.importorskip("breakeven._engine")
    done = subprocess.run([sys.executable, SOAK, "--minutes", "0", "--seed", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "6 rounds" in done.stdout and "no breach" in done.stdout


def test_kills_are_counted() -> None:
    pytest.importorskip("breakeven._engine")
    done = subprocess.run([sys.executable, SOAK, "--kills", "2", "--seed", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    killed = int(done.stdout.split(" sweeps killed")[0].split()[-1])
    assert killed >= 2
