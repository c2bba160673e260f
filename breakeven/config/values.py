"""Parameter values that are more than a number: durations, clocks, frequencies, address ranges, the null object."""

from __future__ import annotations

from typing import Any, Self

from breakeven.config import units

MAX_ADDR = (1 << 64) - 1


class _Quantity(float):
    """A number of one unit: arithmetic with plain numbers keeps the unit."""

    __slots__ = ()

    def __mul__(self, other: Any) -> Any:
        return type(self)(float(self) * float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        # A ratio of two quantities of one unit is a plain number.
        if isinstance(other, type(self)):
            return float(self) / float(other)
        return type(self)(float(self) / float(other))

    def __add__(self, other: Any) -> Any:
        return type(self)(float(self) + float(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return type(self)(float(self) - float(other))

    def getValue(self) -> float | int:
        return float(self)


class _Valued:
    """gem5's parameter values hold the plain one as `value`, and give it by `getValue`."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        for kind in (int, float, str):
            if isinstance(self, kind):
                return kind(self)
        raise TypeError(f"{self!r} has no plain value")

    def getValue(self) -> Any:
        return self.value


class _Int(_Valued, int):
    __slots__ = ()


class _Float(_Valued, float):
    __slots__ = ()


class _Text(_Valued, str):
    __slots__ = ()


_READ: dict[type, type] = {int: _Int, float: _Float, str: _Text}


def as_read(value: Any) -> Any:
    """`value` as a script reads it off an object: numbers and texts are what they were, with gem5's ``.value`` too."""
    kind = _READ.get(type(value))
    return value if kind is None else kind(value)


class Latency(_Quantity):
    """A duration in seconds."""

    __slots__ = ()

    def __new__(cls, value: Any) -> Self:
        return super().__new__(cls, _seconds(value, cls.__name__))

    @property
    def ticks(self) -> int:
        return units.ticks(self)

    def getValue(self) -> int:
        return self.ticks


class Clock(Latency):
    """A clock, held as its period in seconds; never zero."""

    __slots__ = ()

    @property
    def period(self) -> Latency:
        return Latency(float(self))

    @property
    def frequency(self) -> Frequency:
        return Frequency(1.0 / float(self))


class Frequency(_Quantity):
    """A frequency in Hz."""

    __slots__ = ()

    def __new__(cls, value: Any) -> Self:
        if isinstance(value, str):
            return super().__new__(cls, units.hertz(value))
        if isinstance(value, Latency):
            return super().__new__(cls, 1.0 / float(value))
        if isinstance(value, (int, float)):
            return super().__new__(cls, float(value))
        raise TypeError(f"{value!r} is not a frequency; write it like '100MHz'")

    @property
    def period(self) -> Latency:
        return Latency(1.0 / float(self))


def _seconds(value: Any, what: str) -> float:
    if isinstance(value, str):
        return units.seconds(value)
    if isinstance(value, Frequency):
        return 1.0 / float(value)
    if isinstance(value, float):
        return float(value)
    raise TypeError(f"{value!r} is not a {what.lower()}; write it like '1ns'")


class AddrRange:
    """Addresses from `start` up to, not including, `end`.

    ``AddrRange("512MiB")`` starts at zero; ``AddrRange(start, size=...)``, ``AddrRange(start, end)`` and
    ``AddrRange(start=..., end=...)`` are gem5's other spellings. Interleaving is not modelled.
    """

    __slots__ = ("end", "start")

    def __init__(self, *args: Any, start: Any = None, end: Any = None, size: Any = None, **other: Any) -> None:
        for name, value in other.items():
            if name not in ("intlvHighBit", "xorHighBit", "intlvBits", "intlvMatch", "masks"):
                raise TypeError(f"AddrRange has no {name!r}; it takes start, end or size")
            # Without bits to interleave by, the others mean nothing.
            if value not in (0, [], None) and (name == "masks" or other.get("intlvBits")):
                raise TypeError(f"AddrRange: interleaving ({name}) is not modelled; take one memory channel")
        if len(args) > 2 or (args and start is not None):
            raise TypeError("AddrRange takes (size), (start, end), or start= with end= or size=")
        if len(args) == 1 and end is None and size is None:
            self.start, self.end = self._whole(args[0])
            return
        if args:
            start = args[0]
        if len(args) == 2:
            if end is not None or size is not None:
                raise TypeError("AddrRange got its end twice")
            end = args[1]
        if (end is None) == (size is None):
            raise TypeError("AddrRange needs either end or size")
        self.start = address(0 if start is None else start)
        self.end = address(end) if end is not None else self.start + address(size)
        self._check()

    def _whole(self, value: Any) -> tuple[int, int]:
        if isinstance(value, AddrRange):
            return value.start, value.end
        if isinstance(value, str) and ":" in value:
            first, _, last = value.partition(":")
            pair = address(first), address(last)
        elif isinstance(value, (list, tuple)) and len(value) == 2:
            pair = address(value[0]), address(value[1])
        else:
            pair = 0, address(value)
        self.start, self.end = pair
        self._check()
        return pair

    def _check(self) -> None:
        if self.end < self.start:
            raise ValueError(f"AddrRange ends ({self.end:#x}) before it starts ({self.start:#x})")
        if self.end > MAX_ADDR:
            raise ValueError(f"AddrRange ends beyond 64 bits ({self.end:#x})")

    def size(self) -> int:
        return self.end - self.start

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddrRange) and (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __repr__(self) -> str:
        return f"AddrRange({self.start:#x}, {self.end:#x})"


def address(value: Any) -> int:
    """An address: a whole number, or a string that may be a size (``"0x1000"``, ``"2GiB"``)."""
    if isinstance(value, str):
        number = units.memory_size(value)
    elif isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        number = int(value)
    else:
        raise TypeError(f"{value!r} is not an address")
    if not 0 <= number <= MAX_ADDR:
        raise ValueError(f"{value!r} is not a 64-bit address")
    return number


class NullObject:
    """``NULL``: no object where a parameter wants one."""

    __slots__ = ()
    _instance: NullObject | None = None

    def __new__(cls) -> NullObject:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __call__(self) -> NullObject:
        # ``PrefetcherCls=NULL`` makes its prefetcher as any class does.
        return self

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NULL"


NULL = NullObject()
