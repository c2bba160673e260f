"""Points measured until their median has converged: the one way from points to results, for every verb and engine.

A point takes `measurements.REPETITIONS` measurements; where their median has not converged, it is measured once more
from the start with `measurements.AGAIN`. Records that say another number than the rule's were asked for: they take just
that many. Converged points keep the result that they have, so that one point has one answer, whatever it is asked with.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from breakeven.points.measurements import AGAIN, REPETITIONS, has_converged
from breakeven.points.record import POINT_BYTES, REPETITIONS_AT
from breakeven.points.result import RESULT_BYTES

if TYPE_CHECKING:
    from breakeven.points.engine import Progress, Session
    from breakeven.points.record import Point

_WORDS = RESULT_BYTES // 8
_STATUS, _MEDIAN, _LATER = 0, 2, 6  # 8-byte words of a result record; the status is the upper half of its word


def run_until_converged(
    session: Session, records: bytes, by_rule: bool = True, threads: int = 0, progress: Progress | None = None
) -> tuple[bytes, bytes]:
    """The records, each with the number of measurements that it took, and their results in the same order.

    `by_rule`: nobody asked for a number of measurements.
    """
    results = session.run(records, threads, progress)
    if not by_rule or len(results) * POINT_BYTES != len(records) * RESULT_BYTES:
        return records, results
    asked = repetitions_in(records)
    learning = [i for i in unconverged(results) if asked[i] == REPETITIONS]
    if not learning:
        return records, results
    taken = bytearray(records)
    for i in learning:
        struct.pack_into("<I", taken, i * POINT_BYTES + REPETITIONS_AT, AGAIN)
    again = session.run(b"".join(taken[i * POINT_BYTES : (i + 1) * POINT_BYTES] for i in learning), threads)
    merged = bytearray(results)
    for number, i in enumerate(learning):
        # A record begins with the number of its point.
        row = again[number * RESULT_BYTES + 4 : (number + 1) * RESULT_BYTES]
        merged[i * RESULT_BYTES + 4 : (i + 1) * RESULT_BYTES] = row
    return bytes(taken), bytes(merged)


def measured(session: Any, point: Point, by_rule: bool, *trace: Any) -> Any:
    """One point with a look into the measurement of its median (a simulator's `session.measured`), likewise."""
    found = session.measured(point, *trace)
    if by_rule and point.repetitions == REPETITIONS and found.result.converged is False:
        found = session.measured(replace(point, repetitions=AGAIN), *trace)
    return found


def unconverged(results: bytes) -> list[int]:
    """Numbers of the right results whose median has not converged."""
    words = memoryview(results).cast("Q")
    return [
        i
        for i in range(len(results) // RESULT_BYTES)
        if words[i * _WORDS + _STATUS] >> 32 == 0
        and has_converged(REPETITIONS, words[i * _WORDS + _MEDIAN], words[i * _WORDS + _LATER]) is False
    ]


def repetitions_in(records: bytes) -> list[int]:
    """The numbers of measurements in packed records."""
    starts = range(REPETITIONS_AT, len(records), POINT_BYTES)
    return [struct.unpack_from("<I", records, at)[0] for at in starts]
