"""``@overrides(Base)``: a method says whose it replaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def overrides(interface_class: type) -> Callable[[F], F]:
    """`TypeError` when `interface_class` has no such method."""

    def check(method: F) -> F:
        if not hasattr(interface_class, method.__name__):
            raise TypeError(f"{interface_class.__name__} has no method {method.__name__!r} to override")
        return method

    return check
