"""Results as the guests write them (docs/guests.md): the layout, and what a status means in words."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from breakeven.errors import UserError
from breakeven.points.measurements import has_converged

if TYPE_CHECKING:
    import numpy as np

#: `status` of a result, by number
STATUSES = (
    "verified",
    "wrong output",
    "unknown routine",
    "point out of range",
    "unexpected trap",
    "wrong return value",
    "guard band or callee-saved register damaged",
    "the point did not finish",
)
#: cycles of a call in a table that comes from outside: what a double counts to, and less than any call takes
MOST_CYCLES, LEAST_CYCLES = 1 << 53, 1e-6
OUT_OF_RANGE = STATUSES.index("point out of range")
UNEXPECTED_TRAP = STATUSES.index("unexpected trap")
#: statuses of a routine that ran to its end and did something else than it should
WRONG = tuple(map(STATUSES.index, ("wrong output", "wrong return value", STATUSES[6])))
#: `detail` of status 7
_UNFINISHED = {
    1: "instruction limit",
    2: "cycle limit",
    3: "deadlock",
    4: "the guest ended without a result",
    5: "memoized execution has not repeated itself: a bug of breakeven; BREAKEVEN_MEMOIZE=off goes without it",
}

# (field, struct code, numpy code); little-endian without padding
_RESULT_LAYOUT = (
    ("index", "I", "u4"),
    ("status", "I", "u4"),
    ("cycles_min", "Q", "u8"),
    ("cycles_median", "Q", "u8"),
    ("cycles_total", "Q", "u8"),
    ("instructions", "Q", "u8"),
    ("ret", "Q", "u8"),
    ("detail", "Q", "u8"),
    ("overhead", "Q", "u8"),
)
_RESULT = struct.Struct("<" + "".join(code for _, code, _ in _RESULT_LAYOUT))
RESULT_BYTES = _RESULT.size


def result_dtype() -> np.dtype:
    """One result record as a numpy structured dtype."""
    import numpy as np

    return np.dtype([(name, f"<{code}") for name, _, code in _RESULT_LAYOUT])


@dataclass(frozen=True, slots=True)
class Result:
    """What the guest reports about one point."""

    index: int
    status: int
    cycles_min: int
    cycles_median: int
    cycles_total: int
    instructions: int
    ret: int
    detail: int
    overhead: int
    #: measurements that it took; 0: whoever read the record did not say
    repetitions: int = 0

    @property
    def ok(self) -> bool:
        """Whether the output was verified: as the reference has it."""
        return self.status == 0

    @property
    def converged(self) -> bool | None:
        """Whether the median has converged; None: not known (of fewer than 5 measurements, or of a wrong output)."""
        return has_converged(self.repetitions, self.cycles_median, self.detail) if self.ok else None

    @property
    def problem(self) -> str:
        """What went wrong, in words; empty when the output was verified."""
        return describe_status(self.status, self.detail)


#: `detail` of status 6: what a routine damaged
_DAMAGED_REGISTERS = 1 << 62
_DAMAGED_SOURCE = 1 << 61
_LEFT_OPEN = 1 << 32


def _damage(detail: int) -> str:
    """What was damaged; an offset counts from the destination's start and may be negative (two's complement)."""
    offset = detail - (1 << 64) if detail >> 63 else detail
    if -(1 << 32) < offset < 1 << 32:
        return f"guard byte at destination{offset:+}"
    if detail & _DAMAGED_REGISTERS:
        saved = detail & (_LEFT_OPEN - 1)
        words = [f"registers, mask {saved:#x}"] if saved else []
        words += ["user pages left open"] if detail & _LEFT_OPEN else []
        return "; ".join(words) or "registers"
    return "the source was written to" if detail & _DAMAGED_SOURCE else f"detail {detail:#x}"


def describe_status(status: int, detail: int) -> str:
    """A result's status and detail in words; empty for status 0."""
    if status == 0:
        return ""
    words = STATUSES[status] if status < len(STATUSES) else f"unknown status {status}"
    extra = {
        1: f" (first wrong byte: {detail})",
        4: f" (cause {detail})",
        5: f" (expected {detail})",
        6: f" ({_damage(detail)})",
        7: f" ({_UNFINISHED.get(detail, f'reason {detail}')})",
    }
    return words + extra.get(status, "")


def unpack_results(data: bytes) -> list[Result]:
    """The results of N * 64 bytes."""
    if len(data) % RESULT_BYTES:
        raise UserError(f"{len(data)} bytes are no whole number of {RESULT_BYTES}-byte results")
    return [Result(*row) for row in _RESULT.iter_unpack(data)]
