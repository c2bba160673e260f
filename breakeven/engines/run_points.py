"""A few points, typed in and out."""

from __future__ import annotations

from breakeven.errors import UserError
from breakeven.points import RESULT_BYTES, Point, Result, pack, unpack_results
from breakeven.points.engine import Progress, Session
from breakeven.routine.checks import check_routines


def run_points(
    session: Session, points: list[Point], threads: int = 1, progress: Progress | None = None
) -> list[Result]:
    """A few points, typed in and out."""
    records = pack(points)
    check_routines(session, sorted({point.routine for point in points}))
    data = session.run(records, threads, progress)
    if len(data) != len(points) * RESULT_BYTES:
        raise UserError(f"the guest left {len(data)} bytes of results for {len(points)} points")
    return unpack_results(data)
