"""``Parent.any``, ``Parent.x``, ``Self.x``, ``Self.all``: values found when the tree is resolved, not when written.

A proxy is immutable; ``Parent.x.y``, ``Parent.x[0]`` and ``Parent.x * 2`` make new ones. `describe` resolves them.
"""

from __future__ import annotations

from typing import Any


class Proxy:
    """Where to look (`up`: the ancestors, else the object itself), for what (`name`), and what to do with it."""

    __slots__ = ("_name", "_scale", "_steps", "_up")
    _up: bool
    _name: str
    _steps: tuple[str | int, ...]
    _scale: tuple[tuple[str, float], ...]

    def __init__(
        self, up: bool, name: str, steps: tuple[str | int, ...] = (), scale: tuple[tuple[str, float], ...] = ()
    ):
        object.__setattr__(self, "_up", up)
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_steps", steps)
        object.__setattr__(self, "_scale", scale)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot set {name!r} on the proxy {self}")

    def __getattr__(self, name: str) -> Proxy:
        if name.startswith("_"):
            raise AttributeError(name)
        return Proxy(self._up, self._name, (*self._steps, name), self._scale)

    def __getitem__(self, index: int) -> Proxy:
        if not isinstance(index, int):
            raise TypeError(f"an index into the proxy {self} is a whole number, not {index!r}")
        return Proxy(self._up, self._name, (*self._steps, index), self._scale)

    def _scaled(self, operation: str, other: Any) -> Proxy:
        if not isinstance(other, (int, float)) or isinstance(other, bool):
            raise TypeError(f"the proxy {self} can be combined with a number, not with {other!r}")
        return Proxy(self._up, self._name, self._steps, (*self._scale, (operation, other)))

    def __mul__(self, other: Any) -> Proxy:
        return self._scaled("*", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Proxy:
        return self._scaled("/", other)

    def __floordiv__(self, other: Any) -> Proxy:
        return self._scaled("//", other)

    def __add__(self, other: Any) -> Proxy:
        return self._scaled("+", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Proxy:
        return self._scaled("-", other)

    def __str__(self) -> str:
        text = ("Parent." if self._up else "Self.") + self._name
        for step in self._steps:
            text += f"[{step}]" if isinstance(step, int) else f".{step}"
        for operation, other in self._scale:
            text += f" {operation} {other}"
        return text

    __repr__ = __str__


def apply_scale(proxy: Proxy, value: Any) -> Any:
    """What `proxy` does to the value it found."""
    for operation, other in proxy._scale:
        if operation == "*":
            value = value * other
        elif operation == "/":
            value = value / other
        elif operation == "//":
            value = value // other
        elif operation == "+":
            value = value + other
        else:
            value = value - other
    return value


class _Factory:
    __slots__ = ("_up",)

    def __init__(self, up: bool) -> None:
        self._up = up

    def __getattr__(self, name: str) -> Proxy:
        if name.startswith("_"):
            raise AttributeError(name)
        return Proxy(self._up, name)


Parent = _Factory(up=True)
Self = _Factory(up=False)


def from_text(text: str) -> Proxy:
    """The proxy that ``Parent.x`` or ``Self.x`` in a data file means."""
    base, _, name = text.partition(".")
    return Proxy(base == "Parent", name)
