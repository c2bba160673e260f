"""What every processor is."""

from __future__ import annotations

from typing import Any

from breakeven.config.errors import unimplemented
from breakeven.gem5.isas import ISA
from breakeven.m5.objects import SubSystem


class AbstractProcessor(SubSystem):
    """A list of cores. The engine simulates one: a machine with more is refused when it is made."""

    abstract = True

    def __init__(self, cores: list[Any] | None = None, isa: ISA = ISA.NULL) -> None:
        super().__init__()
        if cores is not None:
            if not cores:
                raise ValueError("a processor needs a core")
            self.cores = cores
            isa = cores[0].get_isa()
            if any(core.get_isa() is not isa for core in cores):
                raise ValueError("all cores of a processor have one instruction set")
        self._isa = isa

    def get_cores(self) -> list[Any]:
        return list(self.cores)

    def get_num_cores(self) -> int:
        return len(self.get_cores())

    def get_isa(self) -> ISA:
        return self._isa

    def incorporate_processor(self, board: Any) -> None:
        raise unimplemented(self, "incorporate_processor")

    def _post_instantiate(self) -> None:
        """For processors that have something left to do."""
