"""The little language of sizes, offsets and parameter values on the command line.

``64,1448`` a list; ``64..1448`` every integer; ``64..1448:8`` every eighth; ``1..64K*2`` multiplied by 2 each step (the
end belongs to it); ``K``, ``M``, ``G``, with or without ``B`` or ``iB``, are powers of 1024. Items are sorted, each
value once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from breakeven.config.units import quantity, typed_size
from breakeven.errors import UserError

#: one list may not hold more values than this, all its items together (a sweep's size is checked again, in points)
MAX_VALUES = 1 << 20
#: points in one sweep (their records alone take 128 bytes each)
MAX_POINTS = 4_000_000
#: machines with all combinations of swept parameters in one sweep (each takes some 60 KB)
MAX_VARIANTS = 20_000
#: swept parameters of one sweep
MAX_SWEPT = 32
#: whole numbers of steps are not larger: a million of a thousand digits would fill the memory
_MAX_NUMBER = 1 << 64


def parse_number(text: str, what: str) -> int:
    """``1448``, ``64K``, ``2MiB``, ``0x40`` as an integer; `what` names the option in the error."""

    try:
        return typed_size(text)
    except ValueError:
        raise UserError(f"{what} {text!r} is not a number (like 1448, 64K or 2MiB)") from None


def _range(item: str, what: str, least: int, most: int) -> Sequence[int]:
    start_text, rest = item.split("..", 1)
    stop_text, operator, step_text = rest, "", ""
    for operator in (":", "*"):
        if operator in rest:
            stop_text, step_text = rest.split(operator, 1)
            break
    else:
        operator = ""
    start, stop = parse_number(start_text, what), parse_number(stop_text, what)
    _check(start, what, least, most)
    _check(stop, what, least, most)
    if stop < start:
        raise UserError(f"{what} {item!r} runs backwards: {start} is more than {stop}")
    if operator == "*":
        return _geometric(start, stop, step_text, item, what)
    step = parse_number(step_text, what) if operator else 1
    if step < 1:
        raise UserError(f"{what} {item!r} has a step of {step}: at least 1")
    if (stop - start) // step >= MAX_VALUES:
        raise UserError(f"{what} {item!r} holds more than {MAX_VALUES} values: take a larger step")
    return range(start, stop + 1, step)


def _geometric(start: int, stop: int, factor_text: str, item: str, what: str) -> list[int]:
    try:
        factor = float(factor_text)
    except ValueError:
        factor = 0.0
    if not 1.01 <= factor <= 1e6:
        raise UserError(f"{what} {item!r} needs a factor of at least 1.01 after '*'")
    values, value = [], float(max(start, 1))
    if start == 0:
        values.append(0)
    while round(value) <= stop:
        values.append(round(value))
        value *= factor
    return values


def _check(value: int, what: str, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UserError(f"{what} {value} is out of range: {least} to {most}")


def parse_integers(text: str, what: str, least: int, most: int) -> list[int]:
    """The integers that `text` names, ascending, each once; `what` names the option in errors."""
    return sorted(set().union(*_items(text, what, least, most)))


def _items(text: str, what: str, least: int, most: int) -> list[Sequence[int]]:
    """The values of each item. A short text may stand for any number: they are counted before they are listed."""
    items: list[Sequence[int]] = []
    count = 0
    for item in text.split(","):
        if ".." in item:
            items.append(_range(item, what, least, most))
        else:
            value = parse_number(item, what)
            _check(value, what, least, most)
            items.append((value,))
        count += len(items[-1])
        if count > MAX_VALUES:
            raise UserError(f"{what}: up to {item!r} the list holds more than {MAX_VALUES} values: take a larger step")
    return items


def parse_sweep(text: str) -> tuple[str, list[str]]:
    """``path=start:stop:step`` (the end belongs to it) or ``path=value,value,...`` of a machine parameter.

    Values stay text: the configuration language converts and checks them (``32KiB``, ``true``, ``2.5``).
    """
    path, _, listed = _counted_sweep(text)
    return path, listed()


class Swept:
    """The swept parameters of one sweep, counted before a list of their values is made."""

    def __init__(self) -> None:
        #: values as text, by path
        self.texts: dict[str, str] = {}
        self._combinations = 1

    def add(self, text: str) -> None:
        """Takes a text as of `parse_sweep`; raises `UserError` for a path named twice, and for too many."""
        path, count, _ = _counted_sweep(text)
        if path in self.texts:
            raise UserError(f"--sweep names {path} twice")
        if len(self.texts) == MAX_SWEPT:
            raise UserError(f"--sweep {path}: the sweep has more than {MAX_SWEPT} parameters: take fewer")
        self._combinations *= count
        if self._combinations > MAX_VARIANTS:
            raise UserError(
                f"--sweep {path}: the swept parameters have more than {MAX_VARIANTS} combinations: take fewer values"
            )
        self.texts[path] = text.partition("=")[2]


def _counted_sweep(text: str) -> tuple[str, int, Callable[[], list[str]]]:
    """A parameter's path, the number of its values, and what lists them."""
    path, equals, values = text.partition("=")
    path = path.strip()
    if not equals or not path or not values.strip():
        raise UserError(f"--sweep {text!r} is not path=start:stop:step or path=value,value,...")
    parts = [part.strip() for part in values.split(":")]
    if len(parts) in (2, 3) and all(re.match(r"-?[0-9.]", part) for part in parts) and "," not in values:
        return path, *_steps(path, *parts, *["1"] * (3 - len(parts)))
    if ".." in values:
        items = _items(values, path, 0, 1 << 62)
        if len(items) == 1 and isinstance(items[0], range):
            return path, len(items[0]), lambda: [str(value) for value in items[0]]
        listed = [str(value) for value in sorted(set().union(*items))]
    else:
        listed = list(dict.fromkeys(value.strip() for value in values.split(",")))
    if not all(listed):
        raise UserError(f"--sweep {text!r} has an empty value")
    return path, len(listed), lambda: listed


def _steps(path: str, start_text: str, stop_text: str, step_text: str) -> tuple[int, Callable[[], list[str]]]:
    unit = ""
    try:
        start, stop, step = (_step_number(part) for part in (start_text, stop_text, step_text))
    except ValueError:
        try:
            (start, stop, step), unit = quantities([start_text, stop_text, step_text])
        except ValueError:
            raise UserError(
                f"--sweep {path}={start_text}:{stop_text}:{step_text} is not made of numbers, sizes (like 32K) or "
                "times and frequencies of one unit (10ns:40ns:10ns): list other values with commas"
            ) from None
    if step <= 0 or stop < start:
        raise UserError(f"--sweep {path}={start_text}:{stop_text}:{step_text} must run upwards with a positive step")
    try:
        count = int((stop - start) / step + 1e-9) + 1
    except OverflowError:
        raise UserError(f"--sweep {path}={start_text}:{stop_text}:{step_text} runs too far") from None
    if count > MAX_VALUES:
        raise UserError(f"--sweep {path} holds more than {MAX_VALUES} values: take a larger step")
    whole = isinstance(start, int) and isinstance(step, int)
    return count, lambda: [str(start + i * step) if whole else f"{start + i * step:.12g}{unit}" for i in range(count)]


def quantities(texts: Sequence[str]) -> tuple[list[float], str]:
    """Values of a parameter as numbers along an axis, and their unit: plain numbers (no unit), sizes in bytes (``B``),
    or times, frequencies, bandwidths and voltages in the unit of the first. Raises `ValueError` for others."""
    numbers = []
    for text in texts:
        try:
            numbers.append(_step_number(text))
        except ValueError:
            break
    else:
        plain = all(re.fullmatch(r"[-+.\deE]+", text.strip()) for text in texts)
        return [float(number) for number in numbers], "" if plain else "B"
    found = [quantity(text) for text in texts]
    _, base, unit = found[0]
    scale = quantity(f"1{unit}")[0]
    if any(each[1] != base for each in found):
        raise ValueError(f"{', '.join(texts)} are of different units")
    return [float(f"{number / scale:.12g}") for number, _, _ in found], unit


def _step_number(text: str) -> int | float:
    """A number, or a size in bytes; raises `ValueError`."""

    if re.fullmatch(r"-?\d+", text):
        number = int(text)
        if abs(number) > _MAX_NUMBER:
            raise ValueError(f"{text!r} is too large")
        return number
    try:
        value = float(text)
    except ValueError:
        return typed_size(text)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not finite")
    return value


def ranges_text(values: Sequence[int] | set[int]) -> str:
    """Integers as the command line takes them: runs of equal steps as ``first..last:step``."""
    left, parts = sorted(set(values)), []
    while left:
        count = _run(left)
        first, last = left[0], left[count - 1]
        if count < 3:
            parts.append(f"{first}")
            left = left[1:]
            continue
        step = left[1] - first
        parts.append(f"{first}..{last}" if step == 1 else f"{first}..{last}:{step}")
        left = left[count:]
    return ",".join(parts)


def _run(values: Sequence[int]) -> int:
    """How many of the first values have one step between them."""
    count = 1
    while count < len(values) and values[count] - values[count - 1] == values[min(1, len(values) - 1)] - values[0]:
        count += 1
    return count
