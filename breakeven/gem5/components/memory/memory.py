"""DRAM behind one controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from breakeven.gem5.components.memory.abstract_memory_system import AbstractMemorySystem
from breakeven.m5.convert import toMemorySize
from breakeven.m5.objects import MemCtrl


class ChanneledMemory(AbstractMemorySystem):
    """`num_channels` channels of `dram_interface_class`, here one: addresses are not interleaved.

    `size`: by default what the DRAM's devices hold; `addr_mapping`: by default the class's own.
    """

    def __init__(
        self,
        dram_interface_class: Any,
        num_channels: int | str,
        interleaving_size: int | str,
        size: str | None = None,
        addr_mapping: str | None = None,
    ) -> None:
        super().__init__()
        if int(num_channels) != 1:
            raise NotImplementedError(
                f"{num_channels} memory channels are not supported: interleaving is not modelled; take one"
            )
        interface = dram_interface_class
        self._interleaving_size = int(interleaving_size)
        self._dram = interface(addr_mapping=addr_mapping) if addr_mapping else interface()
        whole = interface.device_size * interface.devices_per_rank * interface.ranks_per_channel
        self._size = toMemorySize(size) if size else whole
        self.mem_ctrl = [MemCtrl(dram=self._dram)]

    def incorporate_memory(self, board: Any) -> None:
        if self._interleaving_size < int(board.get_cache_line_size()):
            raise ValueError(f"the interleaving size {self._interleaving_size} is below the board's cache line")

    def get_mem_ports(self) -> Sequence[tuple[Any, Any]]:
        return [(self._dram.range, self.mem_ctrl[0].port)]

    def get_memory_controllers(self) -> list[Any]:
        return list(self.mem_ctrl)

    def get_mem_interfaces(self) -> list[Any]:
        return [self._dram]

    def get_size(self) -> int:
        return self._size

    def set_memory_range(self, ranges: list[Any]) -> None:
        self._dram.range = _one_range(ranges, self._size)

    def get_uninterleaved_range(self) -> list[Any]:
        return [self._dram.range]


def _one_range(ranges: list[Any], size: int) -> Any:
    if len(ranges) != 1 or ranges[0].size() != size:
        raise ValueError(f"the memory of {size} bytes takes one range of its size, not {ranges}")
    return ranges[0]
