"""Numbers with units, as gem5 writes them: ``"32KiB"``, ``"3GHz"``, ``"1ns"``, ``"12.8GB/s"``, ``"0.5V"``.

The rules are gem5's (its ``m5.util.convert``): sizes and memory bandwidths take every prefix as a power of two
(``"32kB"`` is 32768 bytes), everything else takes decimal prefixes; a prefix needs a unit after it; sizes are whole
numbers of bytes before the prefix. Every function raises `ValueError` with the fix in its text.
"""

from __future__ import annotations

import math
import re

TICKS_PER_SECOND = 10**12

_KIBI = 1024
_DECIMAL = {
    "a": 1e-18, "f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3,
    "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
}  # fmt: skip
_BINARY = {
    prefix + suffix: _KIBI**power
    for power, prefix in enumerate("kMGTPE", start=1)
    for suffix in ("", "i")
    if prefix + suffix != "ki"
} | {"Ki": _KIBI}
_METRIC = _DECIMAL | {name: float(factor) for name, factor in _BINARY.items() if name.endswith("i")}


def _split(text: str, suffixes: tuple[str, ...] | dict[str, float] | dict[str, int]) -> tuple[str, str]:
    """`text` without the longest of `suffixes` that ends it, and that suffix (empty when none does)."""
    found = max((suffix for suffix in suffixes if text.endswith(suffix)), key=len, default="")
    return (text[: len(text) - len(found)], found) if found else (text, "")


def _parse(
    text: str, units: tuple[str, ...], prefixes: dict[str, float] | dict[str, int]
) -> tuple[str, float | int, str]:
    """Magnitude (still text), factor and unit of `text`."""
    rest, unit = _split(text.strip(), units)
    if not unit:
        return rest.strip(), 1, ""
    magnitude, prefix = _split(rest.strip(), prefixes)
    return magnitude.strip(), prefixes[prefix] if prefix else 1, unit


def _wrong(text: str, what: str, example: str) -> ValueError:
    hint = ""
    if text.strip().endswith("KB") or text.strip().endswith("KB/s"):
        hint = " (kilo is a small k: 'kB', or 'KiB')"
    elif text.strip()[-1:] == "b":
        hint = " (b is not a byte: write 'B')"
    return ValueError(f"{text!r} is not a {what}; write it like {example}{hint}")


def _ascii(text: str) -> str:
    """Python takes the digits of any script for a number; raises `ValueError` for others than ours."""
    if not text.isascii():
        raise ValueError
    return text


def _float(magnitude: str, text: str, what: str, example: str) -> float:
    """The number `magnitude`, which is `text` without its prefix and unit."""
    try:
        value = float(_ascii(magnitude))
    except ValueError:
        raise _wrong(text, what, example) from None
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a finite {what}")
    return value


def integer(text: str) -> int:
    """A whole number in any base that Python writes (``"16"``, ``"0x10"``)."""
    try:
        return int(_ascii(text.strip()), 0)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


def boolean(text: str) -> bool:
    """``"true"``, ``"t"``, ``"yes"``, ``"y"``, ``"1"`` and their opposites, in any case."""
    word = text.strip().lower()
    if word in ("true", "t", "yes", "y", "1"):
        return True
    if word in ("false", "f", "no", "n", "0"):
        return False
    raise ValueError(f"{text!r} is neither true nor false")


def prefixed(text: str) -> float:
    """A number with a decimal prefix and no unit (``"2k"`` is 2000)."""
    magnitude, prefix = _split(text.strip(), _METRIC)
    return _float(magnitude, text, "number", "'2k'") * (_METRIC[prefix] if prefix else 1)


def memory_size(text: str) -> int:
    """Bytes; every prefix is a power of two, with or without the ``i``."""
    magnitude, factor, _ = _parse(text, ("B",), _BINARY)
    try:
        return int(_ascii(magnitude), 0) * int(factor)
    except ValueError:
        raise _wrong(text, "size in bytes", "'32KiB' or '2MiB'") from None


_SIZE = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)\s*(?:([kKmMgGtT])[iI]?)?[bB]?")


def typed_size(text: str) -> int:
    """Bytes as the command line takes them: what `memory_size` takes, and more that can mean nothing else (``64K``,
    ``64kb``). Every prefix is a power of two."""
    match = _SIZE.fullmatch(text.strip())
    # int() of tens of thousands of digits is refused by Python; nothing we take needs more than twenty.
    if match is None or len(match[1]) > 20:
        raise _wrong(text, "number", "1448, 64K or 2MiB")
    power = "kmgt".index(match[2].lower()) + 1 if match[2] else 0
    return int(match[1], 0 if match[1][:2].lower() == "0x" else 10) * _KIBI**power


def memory_bandwidth(text: str) -> float:
    """Bytes a second; every prefix is a power of two, as in gem5 (``"12.8GB/s"`` is 12.8 GiB/s)."""
    magnitude, factor, unit = _parse(text, ("B/s",), _BINARY)
    if not unit:
        raise _wrong(text, "memory bandwidth", "'12.8GiB/s'")
    return _float(magnitude, text, "memory bandwidth", "'12.8GiB/s'") * factor


def _metric(text: str, unit: str, what: str, example: str) -> float:
    magnitude, factor, found = _parse(text, (unit,), _METRIC)
    if not found:
        raise _wrong(text, what, example)
    return _float(magnitude, text, what, example) * factor


def quantity(text: str) -> tuple[float, str, str]:
    """A time, frequency, memory bandwidth or voltage: the number in its base unit, that unit, and the one as written
    (``"10ns"``: 1e-8, ``"s"``, ``"ns"``)."""
    for unit, prefixes in (("B/s", _BINARY), ("Hz", _METRIC), ("V", _METRIC), ("s", _METRIC)):
        if text.strip().endswith(unit):
            magnitude, factor, _ = _parse(text, (unit,), prefixes)
            number = _float(magnitude, text, "quantity", "'10ns' or '2GHz'")
            return number * factor, unit, text.strip().removeprefix(magnitude).strip()
    raise _wrong(text, "quantity", "'10ns' or '2GHz'")


def network_bandwidth(text: str) -> float:
    """Bytes a second, from bits a second (``"10Gbps"``)."""
    return _metric(text, "bps", "network bandwidth", "'10Gbps'") / 8


def voltage(text: str) -> float:
    return _metric(text, "V", "voltage", "'0.9V'")


def current(text: str) -> float:
    return _metric(text, "A", "current", "'55mA'")


def energy(text: str) -> float:
    return _metric(text, "J", "energy", "'1pJ'")


def temperature(text: str) -> float:
    """Kelvin, from K, C or F."""
    magnitude, factor, unit = _parse(text, ("K", "C", "F"), _METRIC)
    if not unit:
        raise _wrong(text, "temperature", "'300K' or '25C'")
    value = _float(magnitude, text, "temperature", "'300K' or '25C'") * factor
    kelvin = {"K": value, "C": value + 273.15, "F": (value + 459.67) / 1.8}[unit]
    if kelvin < 0:
        raise ValueError(f"{text!r} is below absolute zero")
    return kelvin


def seconds(text: str) -> float:
    """A duration in seconds from a time (``"1ns"``), a frequency (``"2GHz"``) or ticks (``"500t"``)."""
    example = "'1ns' or '2GHz'"
    if text.strip().endswith("t"):
        return integer(text.strip()[:-1]) / TICKS_PER_SECOND
    magnitude, factor, unit = _parse(text, ("Hz", "s"), _METRIC)
    if not unit:
        raise _wrong(text, "time", example)
    value = _float(magnitude, text, "time", example) * factor
    if value < 0:
        raise ValueError(f"{text!r} is negative")
    if unit == "s":
        return value
    return _inverse(value, text, "period: a clock must run")


def _inverse(value: float, text: str, what: str) -> float:
    """1 / `value`; `ValueError` where that is no finite number (1e-310 has none either)."""
    inverse = 1.0 / value if value else float("inf")
    if inverse == float("inf"):
        raise ValueError(f"{text!r} has no {what}")
    return inverse


def hertz(text: str) -> float:
    """A frequency in Hz from a frequency or a period; 0 Hz is allowed (off)."""
    example = "'100MHz'"
    magnitude, factor, unit = _parse(text, ("Hz", "s"), _METRIC)
    if not unit:
        raise _wrong(text, "frequency", example)
    value = _float(magnitude, text, "frequency", example) * factor
    if value < 0:
        raise ValueError(f"{text!r} is negative")
    if unit == "Hz":
        return value
    return _inverse(value, text, "frequency")


def ticks(duration: float) -> int:
    """Picoseconds, rounded to the nearest."""
    if not math.isfinite(duration * TICKS_PER_SECOND):
        raise ValueError(f"{duration:g} s is too long a time")
    return round(duration * TICKS_PER_SECOND)
