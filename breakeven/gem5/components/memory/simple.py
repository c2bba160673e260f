"""Memory with one latency and one bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from breakeven.gem5.components.memory.abstract_memory_system import AbstractMemorySystem
from breakeven.gem5.components.memory.memory import _one_range
from breakeven.m5.convert import toMemorySize
from breakeven.m5.objects import SimpleMemory


class SingleChannelSimpleMemory(AbstractMemorySystem):
    """`latency` like ``"60ns"``, `bandwidth` like ``"12.8GiB/s"``; `latency_var` must be ``"0ns"``."""

    def __init__(self, latency: str, latency_var: str, bandwidth: str, size: str) -> None:
        super().__init__()
        self.module = SimpleMemory(latency=latency, latency_var=latency_var, bandwidth=bandwidth)
        self._size = toMemorySize(size)

    def get_mem_ports(self) -> Sequence[tuple[Any, Any]]:
        return [(self.module.range, self.module.port)]

    def get_memory_controllers(self) -> list[Any]:
        return [self.module]

    def get_mem_interfaces(self) -> list[Any]:
        return [self.module]

    def get_size(self) -> int:
        return self._size

    def set_memory_range(self, ranges: list[Any]) -> None:
        self.module.range = _one_range(ranges, self._size)

    def get_uninterleaved_range(self) -> list[Any]:
        return [self.module.range]
