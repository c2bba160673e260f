"""``m5.objects``: every SimObject class, made when it is first named.

``from m5.objects import Cache`` makes one class; ``from m5.objects import *`` makes all of them. gem5's own modules
below it (``m5.objects.FuncUnitConfig``) are this one again.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from breakeven.config import gem5_build as build
from breakeven.config import library
from breakeven.config.params import NULL, AddrRange, Param, SimObjectVector, VectorParam  # noqa: F401
from breakeven.config.ports import Port, RequestPort, ResponsePort, VectorRequestPort, VectorResponsePort  # noqa: F401
from breakeven.config.proxy import Parent, Self  # noqa: F401
from breakeven.config.simobject import SimObject  # noqa: F401

#: modules of Python's that a star import from gem5's ``m5.objects`` and ``m5.params`` leaves behind; public scripts
#: (gem5's tutorial among them) use them without importing them
_LEFT_BEHIND = ("copy", "math", "os", "re", "sys", "time")
#: functions that gem5 has among its classes
_FUNCTIONS = {"minorMakeOpClassSet": "op_class_set"}
_PLAIN = [
    "NULL",
    "AddrRange",
    "Param",
    "Parent",
    "Port",
    "RequestPort",
    "ResponsePort",
    "Self",
    "SimObject",
    "SimObjectVector",
    "VectorParam",
    "VectorRequestPort",
    "VectorResponsePort",
]

__all__ = sorted({*_PLAIN, *_FUNCTIONS, *_LEFT_BEHIND, *library.names(), *build.PLAIN_NAMES})  # pyright: ignore[reportUnsupportedDunderAll]


class _Module(ModuleType):
    """A class of this module keeps its name when a script imports the module that gem5 calls alike."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Module


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    if name in _FUNCTIONS:
        from breakeven.config import methods

        return getattr(methods, _FUNCTIONS[name])
    if name in _LEFT_BEHIND:
        return import_module(name)
    plain = build.own_name(name)
    return library.get_class(name if plain is None else plain)


def __dir__() -> list[str]:
    return __all__
