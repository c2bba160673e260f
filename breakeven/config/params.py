"""Typed parameters: ``Param.Cycles(2, "what it is")``, ``VectorParam.AddrRange([], "...")``.

A `ParamDesc` converts whatever is assigned to the Python value that stands for it (a size is an int in bytes, a latency
a `Latency`, an object stays itself) or raises `TypeError`. Proxies and ``NULL`` pass where gem5 lets them pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from breakeven.config import units
from breakeven.config.proxy import Proxy
from breakeven.config.values import MAX_ADDR, NULL, AddrRange, Clock, Frequency, Latency, NullObject, address
from breakeven.errors import near

#: no default: the parameter must be set
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "<not set>", "__bool__": lambda self: False})()

Converter = Callable[[Any], Any]


def _whole(value: Any) -> int:
    if isinstance(value, str):
        return units.integer(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise TypeError(f"{value!r} is not a whole number")


def _ranged(low: int, high: int, parse: Converter = _whole) -> Converter:
    def convert(value: Any) -> int:
        number = parse(value)
        if not low <= number <= high:
            raise ValueError(f"{value!r} is out of range: {low} to {high}")
        return number

    return convert


def _unsigned(bits: int) -> Converter:
    return _ranged(0, (1 << bits) - 1)


def _signed(bits: int) -> Converter:
    return _ranged(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _size(value: Any) -> int:
    return units.memory_size(value) if isinstance(value, str) else _whole(value)


def _real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError(f"{value!r} is not a number")
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"{value!r} is not a finite number")
    return number


def _bool(value: Any) -> bool:
    if isinstance(value, str):
        return units.boolean(value)
    if isinstance(value, (bool, int)):
        return bool(value)
    raise TypeError(f"{value!r} is neither true nor false")


def _string(value: Any) -> str:
    # A path object is what a script naturally passes for a file, a number for an argument of a program's.
    if isinstance(value, (str, int, float)) or hasattr(value, "__fspath__"):
        return str(value)
    raise TypeError(f"{value!r} is not a string")


def _clock(value: Any) -> Clock:
    _has_unit(value)
    clock = Clock(value)
    if units.ticks(clock) <= 0:
        raise ValueError(f"{value!r} has no period of at least one picosecond")
    return clock


def _latency(value: Any) -> Latency:
    _has_unit(value)
    return value if type(value) is Latency else Latency(value)


def _has_unit(value: Any) -> None:
    if not isinstance(value, (str, Latency, Frequency)):
        raise TypeError(f"{value!r} needs its unit, like '{value}ns'")


def _quantity(parse: Callable[[str], float]) -> Converter:
    def convert(value: Any) -> float:
        number = parse(value) if isinstance(value, str) else _real(value)
        if number < 0:
            raise ValueError(f"{value!r} is negative")
        return number

    return convert


def _range(value: Any) -> AddrRange:
    return value if isinstance(value, AddrRange) else AddrRange(value)


def _anything(value: Any) -> Any:
    if isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"{value!r} is neither a string nor a number")


#: scalar type -> (converter, example for messages)
SCALARS: dict[str, tuple[Converter, str]] = {
    "Int": (_signed(32), "4"),
    "Unsigned": (_unsigned(32), "4"),
    **{f"Int{bits}": (_signed(bits), "4") for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}": (_unsigned(bits), "4") for bits in (8, 16, 32, 64)},
    "Cycles": (_unsigned(64), "2"),
    "Counter": (_unsigned(64), "0"),
    "Tick": (_unsigned(64), "0"),
    "Percent": (_ranged(0, 100), "50"),
    "TcpPort": (_unsigned(16), "7000"),
    "UdpPort": (_unsigned(16), "7000"),
    "RiscvVectorLength": (_ranged(8, 65536), "256"),
    "RiscvVectorElementLength": (_ranged(8, 64), "64"),
    "Float": (_real, "0.5"),
    "Bool": (_bool, "True"),
    "String": (_string, "'text'"),
    "Time": (_string, "'01/01/2012'"),
    "HostSocket": (_anything, "7000"),
    "PcCountPair": (_anything, "'0x1000,1'"),
    "MemorySize": (_ranged(0, MAX_ADDR, _size), "'32KiB'"),
    "MemorySize32": (_ranged(0, (1 << 32) - 1, _size), "'32KiB'"),
    "Addr": (address, "0x80000000"),
    "AddrRange": (_range, "AddrRange(0x80000000, size='512MiB')"),
    "Latency": (_latency, "'10ns'"),
    "Clock": (_clock, "'1GHz'"),
    "Frequency": (lambda value: value if type(value) is Frequency else Frequency(value), "'100MHz'"),
    "MemoryBandwidth": (_quantity(units.memory_bandwidth), "'12.8GiB/s'"),
    "NetworkBandwidth": (_quantity(units.network_bandwidth), "'10Gbps'"),
    "Voltage": (_quantity(units.voltage), "'1V'"),
    "Current": (_quantity(units.current), "'55mA'"),
    "Energy": (_quantity(units.energy), "'1pJ'"),
    "Temperature": (_quantity(units.temperature), "'25C'"),
}

#: enumeration -> its values; filled by `library` and by subclasses of `Enum`
ENUMS: dict[str, list[str]] = {}


class Enum:
    """A parameter type with a fixed set of names: subclass it with ``vals = [...]``."""

    vals: list[str] = []

    def __init_subclass__(cls) -> None:
        ENUMS[cls.__name__] = list(cls.vals)


ScopedEnum = Enum


def _enum(name: str) -> Converter:
    vals = ENUMS[name]

    def convert(value: Any) -> str:
        if isinstance(value, str) and value in vals:
            return value
        hint = near(str(value), vals, all_of="it is one of")
        raise TypeError(f"{value!r} is not a {name}{hint}")

    return convert


# Set by `simobject` and `library`: parameters name classes that exist only later.
class _Hooks:
    simobject: type = type("Unset", (), {})

    @staticmethod
    def find_class(name: str) -> type | None:
        return None

    @staticmethod
    def class_names() -> list[str]:
        return []


hooks = _Hooks


class SimObjectVector(list):  # type: ignore[type-arg]
    """A vector of SimObjects, named ``name0``, ``name1``, ...; a vector of one keeps the plain name, as in gem5."""

    def names(self, name: str) -> list[str]:
        if len(self) == 1:
            return [name]
        width = len(str(len(self) - 1))
        return [f"{name}{index:0{width}d}" for index in range(len(self))]


class ParamDesc:
    """One declared parameter: its type, default and description."""

    vector = False

    def __init__(self, type_name: str, *args: Any, **kwargs: Any) -> None:
        self.type_name = type_name
        self.name = ""
        self.default = MISSING
        self.desc = ""
        if len(args) > 2:
            raise TypeError(f"Param.{type_name} takes a default and a description, not {len(args)} values")
        if args:
            self.desc = args[-1]
        if len(args) == 2:
            self.default = args[0]
        if "default" in kwargs:
            self.default = kwargs.pop("default")
        if "desc" in kwargs:
            self.desc = kwargs.pop("desc")
        if kwargs:
            raise TypeError(f"Param.{type_name} does not take {', '.join(sorted(kwargs))}")
        if not isinstance(self.desc, str):
            raise TypeError(f"Param.{type_name} needs a description string last, not {self.desc!r}")
        self._converter: Converter | None = None

    @property
    def example(self) -> str:
        """How a value is written, for messages."""
        if self.type_name in SCALARS:
            text = SCALARS[self.type_name][1]
        elif self.type_name in ENUMS:
            text = repr(ENUMS[self.type_name][0])
        else:
            text = f"{self.type_name}()"
        return f"[{text}]" if self.vector else text

    @property
    def type_text(self) -> str:
        return f"vector of {self.type_name}" if self.vector else self.type_name

    @property
    def ptype(self) -> type | None:
        """The SimObject class that this parameter takes; None for scalars and unknown classes."""
        if self.type_name in SCALARS or self.type_name in ENUMS:
            return None
        return hooks.find_class(self.type_name)

    @property
    def takes_objects(self) -> bool:
        return self.type_name not in SCALARS and self.type_name not in ENUMS

    def _scalar(self, value: Any) -> Any:
        if isinstance(value, Proxy):
            return value
        convert = self._converter
        if convert is None:
            if self.type_name in SCALARS:
                convert = SCALARS[self.type_name][0]
            elif self.type_name in ENUMS:
                convert = _enum(self.type_name)
            else:
                convert = self._object
            self._converter = convert
        return convert(value)

    def _object(self, value: Any) -> Any:
        if isinstance(value, NullObject):
            return value
        wanted = self.ptype
        if isinstance(value, hooks.simobject):
            if wanted is None or isinstance(value, wanted):
                return value
            raise TypeError(f"a {type(value).__name__} is not a {self.type_name}")
        if value is None:
            raise TypeError("None is not an object; write NULL for no object")
        if isinstance(value, type) and issubclass(value, hooks.simobject):
            raise TypeError(f"{value.__name__} is a class; make an object of it: {value.__name__}()")
        raise TypeError(f"{value!r} is not a {self.type_name}")

    def convert(self, value: Any) -> Any:
        """The value that stands for `value`; `TypeError` or `ValueError` when it cannot be one."""
        return self._scalar(value)


class VectorParamDesc(ParamDesc):
    """A parameter that is a list; a single value is taken as a list of one."""

    vector = True

    def convert(self, value: Any) -> Any:
        items = [self._scalar(item) for item in (value if isinstance(value, (list, tuple)) else [value])]
        if items and all(isinstance(item, hooks.simobject) for item in items):
            return SimObjectVector(items)
        # NULL given for a vector of objects is an empty vector.
        return [] if len(items) == 1 and isinstance(items[0], NullObject) else items


class _Factory:
    def __init__(self, kind: type[ParamDesc]) -> None:
        self._kind = kind

    def __getattr__(self, type_name: str) -> Callable[..., ParamDesc]:
        if type_name.startswith("_"):
            raise AttributeError(type_name)
        kind = self._kind

        def declare(*args: Any, **kwargs: Any) -> ParamDesc:
            return kind(type_name, *args, **kwargs)

        return declare


Param = _Factory(ParamDesc)
VectorParam = _Factory(VectorParamDesc)

__all__ = [
    "NULL",
    "AddrRange",
    "Clock",
    "Enum",
    "Frequency",
    "Latency",
    "Param",
    "ParamDesc",
    "ScopedEnum",
    "SimObjectVector",
    "VectorParam",
    "VectorParamDesc",
]
