"""Medians of predictors that are still learning: `run` and `compare` try a sample with more repetitions, and take those
or, where a number was asked for, say so."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from breakeven.points import Point
from breakeven.runner import MachineSpec, run_points
from breakeven.settled import REPETITIONS, settled_point, settled_spec, unsettled_comparison, unsettled_point
from breakeven.sweep import SweepSpec, run_sweep

U74 = MachineSpec("u74")


def learning(routine, size, row, machine):
    """`slow` loses 30 cycles of mispredictions when it is measured often; `fast` one."""
    late = row["repetitions"] >= REPETITIONS
    return 40 + (0 if late else 30 if routine == "slow" and size < 300 else 1)


def steady(routine, size, row, machine):
    return 40 + size


def test_a_point(fake):
    session = fake(learning).open(U74)

    def first(point):
        return run_points(session, [point])[0]

    fast, slow = Point("fast", 100), Point("slow", 100, measure=1, calls=10)
    assert unsettled_point(session, fast, first(fast)) is None
    assert settled_point(session, fast, first(fast)) == (fast, first(fast))
    found = unsettled_point(session, slow, first(slow))
    assert found is not None and (found.cycles, found.settled, found.of) == (70, 40, 1)
    assert str(found).startswith("slow at 100 B takes 40 cycles, not 70, once predictors know the routine: give")
    point, result = settled_point(session, slow, first(slow))
    assert (point.repetitions, result.cycles_median) == (REPETITIONS, 400)
    # Long calls, streams and what was measured often are left alone.
    for point in (Point("slow", 1 << 20), Point("slow", 100, repetitions=REPETITIONS), Point("slow", 100, measure=3)):
        assert unsettled_point(session, point, replace(first(point), cycles_median=10_000)) is None


@pytest.mark.parametrize("parameters", [{}, {"cpu.x": ["1", "5", "9"]}])
def test_a_comparison(fake, parameters):
    sizes = list(range(8, 800, 8)) if not parameters else [64]
    spec = SweepSpec(["fast", "slow"], [U74], sizes, parameters=parameters)
    seen = []

    def model(routine, size, row, machine):
        if row["repetitions"] >= REPETITIONS:
            seen.append((size, *machine.settings))
        return learning(routine, size, row, machine)

    found = unsettled_comparison(spec, run_sweep(spec, fake(learning)), fake(model))
    assert found is not None and (found.cycles, found.settled) == (70, 40)
    looked_at = list(dict.fromkeys(seen))
    if parameters:
        assert looked_at == [(64, "cpu.x=1"), (64, "cpu.x=9")]
        assert (found.off, found.of) == (2, 4) and found.where == "slow at 64 B, cpu.x=1"
    else:
        assert len(looked_at) == 9 and looked_at[0] == (8,) and looked_at[-1] == (792,)
        assert found.of == 18 and "of the 18 points looked at" in str(found)
    assert unsettled_comparison(spec, run_sweep(spec, fake(steady)), fake(steady)) is None


def test_what_is_not_looked_at(fake):
    table = pd.DataFrame({"ok": [True]})
    for spec in (
        SweepSpec(["fast", "slow"], [U74], [64], repetitions=REPETITIONS),
        SweepSpec(["fast", "slow"], [U74], [1 << 20]),
        SweepSpec(["fast", "slow"], [U74], [64], measures=["stream"]),
    ):
        assert unsettled_comparison(spec, table, fake(learning)) is None
    wrong = pd.DataFrame({"ok": [True, False]})
    assert unsettled_comparison(SweepSpec(["fast", "slow"], [U74], [64]), wrong, fake(learning)) is None


def test_not_for_long_calls():
    spec = SweepSpec(["fast", "slow"], [U74], [64, 1 << 14])
    longer = settled_spec(spec)
    assert longer is not None and longer.repetitions == REPETITIONS
    assert settled_spec(replace(spec, sizes=[64, 1 << 20])) is None


def test_the_commands_settle_by_themselves_and_obey(breakeven):
    pytest.importorskip("breakeven._engine")
    point = ("run", "rv-word-unrolled8", "-m", "o3", "--size", "200", "--json")
    done = breakeven(*point)
    settled = json.loads(done.stdout)
    assert done.returncode == 0 and settled["repetitions"] == REPETITIONS and done.stderr == ""
    asked = breakeven(*point, "--repetitions", "3")
    quick = json.loads(asked.stdout)
    assert quick["repetitions"] == 3 and quick["cycles"] > settled["cycles"]
    assert "not settled: rv-word-unrolled8 at 200 B takes" in asked.stderr
    pair = ("compare", "rv-word", "rv-word-unrolled8", "-m", "o3", "--sizes", "64..256:64")
    done = breakeven(*pair, "--plot", "p.svg")
    assert "medians of 21 measurements" in done.stdout and done.stderr == ""
    asked = breakeven(*pair, "--repetitions", "3", "--json")
    assert "points looked at are off" in asked.stderr and json.loads(asked.stdout)["ok"]
    # What settles with three stays with three.
    done = breakeven("run", "rv-word", "-m", "u74", "--size", "1448", "--json")
    assert json.loads(done.stdout)["repetitions"] == 3
