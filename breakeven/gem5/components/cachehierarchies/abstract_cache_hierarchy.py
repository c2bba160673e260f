"""What every cache hierarchy is."""

from __future__ import annotations

from typing import Any

from breakeven.config.errors import unimplemented
from breakeven.m5.objects import SubSystem


class AbstractCacheHierarchy(SubSystem):
    """Joins a board's cores with its memory."""

    abstract = True

    def incorporate_cache(self, board: Any) -> None:
        raise unimplemented(self, "incorporate_cache")

    def is_ruby(self) -> bool:
        return False

    def _post_instantiate(self) -> None:
        """For hierarchies that have something left to do."""
