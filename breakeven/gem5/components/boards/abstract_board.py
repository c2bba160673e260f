"""What every board is and what its parts may ask of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from breakeven.config.errors import unimplemented
from breakeven.gem5.components.boards.mem_mode import MemMode, mem_mode_to_string
from breakeven.gem5.resources.resource import BinaryResource
from breakeven.m5.objects import SrcClockDomain, System, VoltageDomain


class AbstractBoard:
    """A processor, a memory and a cache hierarchy on one System (a board is a System too)."""

    def __init__(self, clk_freq: str, processor: Any, memory: Any, cache_hierarchy: Any) -> None:
        if not isinstance(self, System):
            raise TypeError(f"{type(self).__name__} is a board and must be a System too")
        self.clk_domain = SrcClockDomain(clock=clk_freq, voltage_domain=VoltageDomain())
        self.processor = processor
        self.memory = memory
        self._cache_hierarchy = cache_hierarchy
        if cache_hierarchy is not None:
            self.cache_hierarchy = cache_hierarchy
        self._is_fs: bool | None = None
        self._connected = False
        self._setup_memory_ranges()
        self._setup_board()

    # --- the parts ---

    def get_processor(self) -> Any:
        return self.processor

    def get_memory(self) -> Any:
        return self.memory

    def get_mem_ports(self) -> Sequence[tuple[Any, Any]]:
        """Each memory's address range with its port."""
        return self.get_memory().get_mem_ports()

    def get_cache_hierarchy(self) -> Any:
        return self._cache_hierarchy

    def get_cache_line_size(self) -> int:
        return self.cache_line_size

    def get_clock_domain(self) -> Any:
        return self.clk_domain

    def connect_system_port(self, port: Any) -> None:
        self.system_port = port

    def set_mem_mode(self, mem_mode: MemMode) -> None:
        self.mem_mode = mem_mode_to_string(mem_mode)

    # --- what it runs ---

    def _set_fullsystem(self, is_fs: bool) -> None:
        self._is_fs = is_fs

    def is_fullsystem(self) -> bool:
        """Whether the workload is bare-metal; an error before there is one."""
        if self._is_fs is None:
            raise Exception("the board has no workload yet: call e.g. set_se_binary_workload()")
        return self._is_fs

    def set_workload(self, workload: Any) -> None:
        """Call the function that the workload resource names, with its parameters; a program of a local file runs as
        ``set_se_binary_workload`` would run it."""
        if isinstance(workload, BinaryResource):
            self.set_se_binary_workload(workload)  # type: ignore[attr-defined]
            return
        name = workload.get_function_str()
        function = getattr(self, name, None)
        if function is None:
            raise Exception(f"{type(self).__name__} has no {name}() for this workload")
        function(**workload.get_parameters())

    # --- what a kind of board says ---

    @abstractmethod
    def _setup_board(self) -> None:
        raise unimplemented(self, "_setup_board")

    @abstractmethod
    def _setup_memory_ranges(self) -> None:
        raise unimplemented(self, "_setup_memory_ranges")

    def has_dma_ports(self) -> bool:
        return False

    def get_dma_ports(self) -> list[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no DMA ports; has_dma_ports() says so")

    def has_io_bus(self) -> bool:
        return False

    def get_io_bus(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no I/O bus; has_io_bus() says so")

    def has_coherent_io(self) -> bool:
        return False

    def get_mem_side_coherent_io_port(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no coherent I/O; has_coherent_io() says so")

    # --- putting it together ---

    def _connect_things(self) -> None:
        self.get_memory().incorporate_memory(self)
        if self.get_cache_hierarchy() is not None:
            self.get_cache_hierarchy().incorporate_cache(self)
        self.get_processor().incorporate_processor(self)
        self._connected = True

    def _pre_instantiate(self, full_system: bool | None = None) -> Any:
        """Join the parts and make the Root; `full_system`: instead of what the workload says."""
        if not self._connected:
            self._connect_things()
        from breakeven.m5.objects import Root

        return Root(full_system=self.is_fullsystem() if full_system is None else full_system, board=self)

    def _post_instantiate(self) -> None:
        self.get_processor()._post_instantiate()
        if self.get_cache_hierarchy() is not None:
            self.get_cache_hierarchy()._post_instantiate()
        self.get_memory()._post_instantiate()
