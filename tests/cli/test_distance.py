"""The option --distance: copies within one buffer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_the_command_takes_a_distance(breakeven: Callable[..., Any]) -> None:
    done = breakeven("run", "rv-memmove-word", "-n", "512", "--distance", "-64", "-m", "atomic", "--no-store")
    assert "512 B, src+0, dst = src-64, warm, latency" in done.stdout and "verified" in done.stdout
    done = breakeven("run", "rv-byte", "-n", "512", "--distance", "64", "-m", "atomic", "--no-store")
    assert done.returncode == 1 and "WRONG OUTPUT: wrong output (first wrong byte: 64)" in done.stderr
    done = breakeven("run", "rv-copy-user-2021", "-n", "8", "--distance", "64", "-m", "atomic", "--no-store")
    assert "takes no --distance" in done.stderr
    done = breakeven("run", "rv-byte", "-n", "8", "--distance", "far", "-m", "atomic")
    assert "distance 'far' is not a number" in done.stderr
    done = breakeven("run", "rv-byte", "-n", "8", "--distance", "9", "--measure", "stream", "-m", "atomic")
    assert "a distance is of the measures latency and throughput" in done.stderr


def test_a_sweep_keeps_its_distance(breakeven: Callable[..., Any], tmp_path: Any) -> None:
    import pandas as pd

    out = tmp_path / "moves.csv"
    done = breakeven("sweep", "move", "-n", "100,200", "--distance", "16", "-m", "atomic", "--out", out, "--no-store")
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(out)
    assert set(table["distance"]) == {16} and table["ok"].all()
    assert {"rv-memmove-byte", "rv-memmove-word"} <= set(table["routine"])
