"""``m5.stats``: dump and reset the statistics of the running machine."""

from __future__ import annotations

from typing import Any

from breakeven.config.current import current


def _machine() -> Any:
    machine = current().machine
    if machine is None:
        raise RuntimeError("there are no statistics before m5.instantiate()")
    return machine


def __getattr__(name: str) -> Any:
    if name == "gem5stats":
        from breakeven.m5 import gem5stats

        return gem5stats
    raise AttributeError(f"module 'm5.stats' has no attribute {name!r}", name=name)


def dump(roots: Any = None) -> None:
    """Append the statistics to ``stats.txt``; those of single objects cannot be had."""
    if roots:
        raise NotImplementedError("m5.stats.dump() writes all statistics: call it without arguments")
    _machine()
    current().dump_stats()


def reset() -> None:
    _machine().reset_stats()
    current().forget_dump()


def periodicStatDump(period: int = 0) -> None:
    """Dump and reset every `period` ticks from now on; 0 ends it."""
    current().dump_every(period)


def addStatVisitor(url: str) -> None:
    """Dumps go to one more file: ``FILE`` or ``text://FILE``, ``json://FILE``."""
    current().add_stats_file(url)


def initSimStats() -> None:
    """Statistics are there from `m5.instantiate` on."""


enable = initSimStats
