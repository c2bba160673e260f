"""``m5.objects``: every SimObject class, made when it is first named.

``from m5.objects import Cache`` makes one class; ``from m5.objects import *`` makes all of them.
"""

from __future__ import annotations

from typing import Any

from breakeven.m5 import library
from breakeven.m5.params import NULL, AddrRange, Param, SimObjectVector, VectorParam  # noqa: F401
from breakeven.m5.ports import (  # noqa: F401
    Port,
    RequestPort,
    ResponsePort,
    VectorRequestPort,
    VectorResponsePort,
)
from breakeven.m5.proxy import Parent, Self  # noqa: F401
from breakeven.m5.simobject import SimObject  # noqa: F401

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

__all__ = sorted({*_PLAIN, *library.names()})  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return library.get_class(name)


def __dir__() -> list[str]:
    return __all__
