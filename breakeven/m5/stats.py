"""``m5.stats``: dump and reset the statistics of the running machine."""

from __future__ import annotations

from typing import Any

from breakeven.m5 import simulate


def _machine() -> Any:
    machine = simulate.current().machine
    if machine is None:
        raise RuntimeError("there are no statistics before m5.instantiate()")
    return machine


def dump() -> None:
    _machine()
    simulate.current().dump_stats()


def reset() -> None:
    _machine().reset_stats()
