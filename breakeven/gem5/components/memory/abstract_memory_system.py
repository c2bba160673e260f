"""What every memory system is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from breakeven.m5.objects import SubSystem


class AbstractMemorySystem(SubSystem):
    """Memory controllers and the addresses that they answer."""

    abstract = True

    def incorporate_memory(self, board: Any) -> None:
        """For memories that ask something of their board."""

    def get_mem_ports(self) -> Sequence[tuple[Any, Any]]:
        raise NotImplementedError

    def get_memory_controllers(self) -> list[Any]:
        raise NotImplementedError

    def get_mem_interfaces(self) -> list[Any]:
        raise NotImplementedError

    def get_size(self) -> int:
        raise NotImplementedError

    def set_memory_range(self, ranges: list[Any]) -> None:
        raise NotImplementedError

    def get_uninterleaved_range(self) -> list[Any]:
        raise NotImplementedError

    def _post_instantiate(self) -> None:
        """For memories that have something left to do."""
