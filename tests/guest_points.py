"""Points for the guests' tests, also such as `breakeven.points` refuses to pack; statuses by name."""

from __future__ import annotations

import struct

from breakeven.points import FLAG_DISTANCE, NO_FAULT, Result

RIGHT, WRONG_OUTPUT, UNKNOWN_ROUTINE, OUT_OF_RANGE, UNEXPECTED_TRAP, WRONG_RETURN, DAMAGE = range(7)
DAMAGED_REGISTERS = 1 << 62
PAGE = 4096
POINT = struct.Struct("<40sQIIIIIIQIIIIQIIi12x")


def point(routine, size, src=0, dst=0, *, state=0, measure=0, repetitions=1, calls=1, size2=0, src2=0, dst2=0,
          warmup=0, seed=1, fault_at=NO_FAULT, flags=0, parameter=0, distance=0):  # fmt: skip
    """A record."""
    return POINT.pack(routine.encode(), size, src, dst, state, measure, repetitions, calls, size2, src2, dst2, warmup,
                      seed, fault_at, flags | (FLAG_DISTANCE if distance else 0), parameter, distance)  # fmt: skip


def assert_right(records: list[bytes], results: list[Result]) -> None:
    wrong = [(POINT.unpack(r)[:4], POINT.unpack(r)[13], q) for r, q in zip(records, results, strict=True) if q.status]
    assert not wrong, f"{len(wrong)} of {len(records)} points are wrong, among them {wrong[:3]}"
