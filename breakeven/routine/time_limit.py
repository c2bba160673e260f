"""One bound on the time of all that is done with a file of the user's: compilers, checks, however many routines."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from breakeven.errors import UserError

#: how a guest's run ends whose time is up
TIME_IS_UP = "host time limit reached"
#: of this thread: when its time is up, and how long it was
_limit: ContextVar[tuple[float, float]] = ContextVar("limit", default=(math.inf, math.inf))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What asks for `seconds_left` within takes so many seconds in all, and then raises `UserError`."""
    before = _limit.set((time.monotonic() + seconds, seconds))
    try:
        yield
    finally:
        _limit.reset(before)


def seconds_left() -> float:
    """Above 0, perhaps infinite; raises `UserError` where there are none."""
    until, seconds = _limit.get()
    left = until - time.monotonic()
    if left <= 0:
        raise UserError(f"the file is not built and checked within {seconds:g} s: give fewer routines at a time")
    return left


def run_guest(guest: Any, most: int) -> str:
    """Runs a guest for `most` instructions at most; how it ended. Raises `UserError` where its time is up."""
    return str(end_of_guest(guest, most)["cause"])


def end_of_guest(guest: Any, most: int) -> dict[str, Any]:
    """As `run_guest`; all that is known of the end (`Machine.run`)."""
    while True:
        end: dict[str, Any] = guest.run(max_insts=most, max_seconds=seconds_left())
        if end["cause"] != TIME_IS_UP:
            return end
