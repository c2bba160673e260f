"""What every core is."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from breakeven.config.errors import unimplemented
from breakeven.m5.objects import SubSystem


class AbstractCore(SubSystem):
    """A core of a processor: a CPU and how it is joined with the rest."""

    abstract = True

    @abstractmethod
    def get_isa(self) -> Any:
        raise unimplemented(self, "get_isa")

    @abstractmethod
    def get_simobject(self) -> Any:
        raise unimplemented(self, "get_simobject")

    def is_kvm_core(self) -> bool:
        return False
