"""The x86 guest: every routine is right on every core."""

from __future__ import annotations

import random

import pytest

from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.run_points import run_points
from breakeven.points import Point
from breakeven.points.machine_spec import MachineSpec
from breakeven.routine.guest import guest_routines

from .x86_space import fault_points, plain_points

pytestmark = pytest.mark.slow

SIZES = [0, 1, 3, 7, 8, 15, 16, 31, 33, 63, 64, 65, 100, 127, 128, 200, 255, 256, 300, 400, 511, 512]


@pytest.mark.parametrize(("core", "points"), [("atomic", 30), ("timing", 4), ("minor", 4), ("o3", 4)])
def test_every_routine_is_right(core: str, points: int) -> None:
    """At sampled sizes and offsets; the guest compares every byte, the return value and what it may not touch."""
    pytest.importorskip("breakeven._engine")
    session = EmbeddedEngine().open(MachineSpec(f"x86_{core}", ("cpu.isa.enable_avx512=true",)))
    draw = random.Random(1)
    asked = [
        Point(
            routine.name,
            size=draw.choice(SIZES),
            src_offset=draw.randrange(16),
            dst_offset=draw.randrange(16),
            repetitions=1,
            warmup=1,
        )
        for routine in session.routines()
        for _ in range(points)
    ]
    results = run_points(session, asked)
    wrong = [(point, result) for point, result in zip(asked, results, strict=True) if result.status != 0]
    assert not wrong
    assert len(asked) > 50 * points
    long = [result for point, result in zip(asked, results, strict=True) if point.size >= 100]
    assert all(result.cycles_median > 0 and result.instructions > 0 for result in long)


@pytest.mark.slow
def test_a_sample_of_all_points() -> None:
    """Of what `scripts/exhaustive` runs: offsets and sizes of all routines, faulting bytes of all user copies."""
    pytest.importorskip("breakeven._engine")
    session = EmbeddedEngine().open(MachineSpec("x86_atomic", ("cpu.isa.enable_avx512=true",)))
    # Steps that share no factor with the numbers of offsets and sizes: the sample goes through all of them.
    asked = [point for routine in session.routines() for point in plain_points(routine, 11, 3463)]
    faults = [point for routine in session.routines() for point in fault_points(routine, 7, 211)]
    assert len({point.routine for point in faults}) > 20
    asked += faults
    results = run_points(session, asked)
    assert not [(point, result) for point, result in zip(asked, results, strict=True) if result.status != 0]
    assert sum(result.ret > 0 for result in results[-len(faults) :]) > len(faults) // 2, "what was not copied"


def test_what_a_machine_lacks_is_told() -> None:
    _, routines = guest_routines(MachineSpec("x86_o3", ("cpu.isa.enable_adx=false",)))
    missing = {routine.name: routine.missing_extension for routine in routines}
    assert "needs ADX" in missing["x64-csum-adx"]
    assert "cpu.isa.enable_adx=true" in missing["x64-csum-adx"]
    assert missing["x64-csum-avx2"] == ""
