"""Which simulation a gem5 script works on. What one can do: `breakeven.m5.simulate.Session`."""

from __future__ import annotations

from typing import Any


class Unstarted:
    """Before there is a simulation: where a preset announces its Root."""

    root: Any = None


_current: Any = Unstarted()


def current() -> Any:
    """The current `breakeven.m5.simulate.Session`; an `Unstarted` until that module is loaded."""
    return _current


def use(session: Any) -> Any:
    """Make `session` the current one; returns the one before."""
    global _current
    before, _current = _current, session
    return before
