"""A few points, typed in and out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.points import RESULT_BYTES, Point, Result, pack, unpack_results
from breakeven.points.converged import measured, repetitions_in, run_until_converged
from breakeven.points.engine import PointResult, Progress, Session, point_result
from breakeven.routine.checks import check_routines


def run_points(
    session: Session, points: list[Point], threads: int = 1, progress: Progress | None = None, by_rule: bool = False
) -> list[Result]:
    """A few points, typed in and out. `by_rule`: nobody asked for their number of measurements, so that those whose
    median has not converged are measured again (`points.converged`); a result says how many it took."""
    check_routines(session, sorted({point.routine for point in points}))
    records, data = run_until_converged(session, pack(points), by_rule, threads, progress)
    if len(data) != len(points) * RESULT_BYTES:
        raise UserError(f"the guest left {len(data)} bytes of results for {len(points)} points")
    return [
        replace(result, repetitions=taken)
        for result, taken in zip(unpack_results(data), repetitions_in(records), strict=True)
    ]


def run_point(
    session: Any, point: Point, by_rule: bool, trace: Path | None = None, trace_limit: int = 1 << 30
) -> PointResult:
    """One point. `by_rule`: as of `run_points`. `trace`: a file for its measurement's micro-ops (simulated)."""
    if trace is None:
        (result,) = run_points(session, [point], by_rule=by_rule)
        return point_result(session, point, result)
    found = measured(session, point, by_rule, trace, trace_limit)
    return point_result(session, point, found.result, found.traced)
