"""A board that is a System."""

from __future__ import annotations

from typing import Any

from breakeven.gem5.components.boards.abstract_board import AbstractBoard
from breakeven.m5.objects import System


class AbstractSystemBoard(System, AbstractBoard):
    """The base of boards for whole systems and single programs."""

    abstract = True

    def __init__(self, clk_freq: str, processor: Any, memory: Any, cache_hierarchy: Any) -> None:
        System.__init__(self)
        AbstractBoard.__init__(
            self, clk_freq=clk_freq, processor=processor, memory=memory, cache_hierarchy=cache_hierarchy
        )
