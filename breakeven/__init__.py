"""Which memory-copy or checksum routine wins, from which size and alignment on, and on which hardware.

``breakeven.run``, ``sweep``, ``compare``, ``find``, ``surface``, ``sensitivity``, ``tune``, ``explain``, ``report``,
``add``, ``remove``, ``routines`` and ``machines`` are functions of `breakeven.api`, which is imported when the first of
them is used: ``import breakeven`` itself loads nothing.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from breakeven.api import (
        add,
        compare,
        explain,
        find,
        machines,
        remove,
        report,
        routines,
        run,
        sensitivity,
        surface,
        sweep,
        tune,
    )  # fmt: skip

    __version__: str

__all__ = [
    "add", "compare", "explain", "find", "machines", "remove", "report", "routines", "run", "sensitivity", "surface",
    "sweep", "tune",
]  # fmt: skip


class _Verb:
    """A verb of `breakeven.api`. Some modules of the package bear the same name (``from breakeven.sweep import ...``):
    importing one must not put it in the verb's place."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, module: Any, owner: type) -> Any:
        from breakeven import api

        return getattr(api, self.name)

    def __set__(self, module: Any, value: Any) -> None:
        if not isinstance(value, ModuleType):
            raise AttributeError(f"breakeven.{self.name} cannot be set")


class _Package(ModuleType):
    add, compare, explain, find, machines, remove, report, routines = (_Verb() for _ in range(8))
    run, sensitivity, surface, sweep, tune = (_Verb() for _ in range(5))

    @property
    def __version__(self) -> str:
        """The installed version; ``0+unknown`` in a checkout that was never set up."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("breakeven")
        except PackageNotFoundError:
            return "0+unknown"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Package
