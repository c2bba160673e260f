"""What every memory system is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from breakeven.config.errors import unimplemented
from breakeven.m5.objects import SubSystem


class AbstractMemorySystem(SubSystem):
    """Memory controllers and the addresses that they answer."""

    abstract = True

    def incorporate_memory(self, board: Any) -> None:
        """For memories that ask something of their board."""

    def get_mem_ports(self) -> Sequence[tuple[Any, Any]]:
        raise unimplemented(self, "get_mem_ports")

    def get_memory_controllers(self) -> list[Any]:
        raise unimplemented(self, "get_memory_controllers")

    def get_mem_interfaces(self) -> list[Any]:
        raise unimplemented(self, "get_mem_interfaces")

    def get_size(self) -> int:
        raise unimplemented(self, "get_size")

    def set_memory_range(self, ranges: list[Any]) -> None:
        raise unimplemented(self, "set_memory_range")

    def get_uninterleaved_range(self) -> list[Any]:
        raise unimplemented(self, "get_uninterleaved_range")

    def _post_instantiate(self) -> None:
        """For memories that have something left to do."""
