"""The engine computes what it did: scripts/identity against its baseline, and that it names what differs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("breakeven._engine")
sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
import identity  # noqa: E402


def test_the_engine_computes_what_the_baseline_says() -> None:
    """A change that is meant: `scripts/identity --update`, and say in the commit which rule changed what."""
    found = list(identity.differences(identity.read(), identity.baseline_of(identity.measure())))
    assert not found, "\n".join(found[:40])


def group(machine: str = "m", **changed: float) -> identity.Group:
    stats = {"system.cpu.numCycles": 100.0, "loads": 7.0, "never": 0.0} | changed
    others = {"system.cpu.numCycles": 50.0, "loads": 3.0, "never": 0.0}
    runs = [identity.Run("first", f"{stats['system.cpu.numCycles']:.0f}", stats), identity.Run("second", "50", others)]
    return identity.Group("g", runs, machine)


def compare(old: identity.Group, new: identity.Group, folder: Path) -> list[str]:
    identity.write(identity.baseline_of([old]), folder)
    return list(identity.differences(identity.read(folder), identity.baseline_of([new])))


def test_what_differs_is_named(tmp_path: Path) -> None:
    assert compare(group(), group(), tmp_path) == []
    assert compare(group(), group(loads=8), tmp_path) == [
        "g: first: the same cycles, but statistics differ",
        "g: loads (all runs together): 10 -> 11",
    ]
    cycles = compare(group(), group(**{"system.cpu.numCycles": 101}), tmp_path)
    assert cycles[0] == "g: first: cycles 100 -> 101"
    assert compare(group(), group(never=1), tmp_path)[-1] == "g: never (all runs together): 0 -> 1"
    assert "machine's description" in compare(group("m"), group("n"), tmp_path)[0]


def test_differences_that_cancel_out_are_noticed(tmp_path: Path) -> None:
    old = group()
    new = group(loads=8)
    new.runs[1].stats["loads"] = 2.0
    found = compare(old, new, tmp_path)
    assert len(found) == 2 and all("none of its group's sums" in line for line in found)
