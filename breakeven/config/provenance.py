"""Where a value of a machine comes from, as data that the value carries until a parameter takes it.

A machine's file writes ``size = sourced("32KiB", "u74/l1d_size_kb")``; the object that takes the value keeps the plain
value and, beside it, the `Provenance` (`SimObject.provenance`). Whoever writes the parameter again replaces both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

SOURCED = "sourced"
CALIBRATED = "calibrated"
ASSUMED = "assumed"
#: gem5's own reference configuration has this value
GEM5 = "gem5"
#: by probes of a host (`breakeven calibrate`)
MEASURED = "measured"


class Provenance(NamedTuple):
    """Where one value comes from."""

    #: `SOURCED`, `CALIBRATED`, `ASSUMED`, `GEM5` or `MEASURED`
    mark: str
    #: row of ``configs/machines/uarch.csv``, ``cpu/parameter``; empty: none
    row: str = ""
    #: why this value; from what it was calibrated
    note: str = ""


class Marked:
    """A value with its provenance. Numbers and strings that are marked can be calculated with; the result is plain."""

    value: Any
    provenance: Provenance

    def __bool__(self) -> bool:
        return bool(self.value)


class _Int(Marked, int):
    pass


class _Float(Marked, float):
    pass


class _Str(Marked, str):
    pass


_KINDS: dict[type, Any] = {int: _Int, float: _Float, str: _Str}


def _marked(value: Any, provenance: Provenance) -> Any:
    if isinstance(value, Mapping):
        return {name: _marked(each, provenance) for name, each in value.items()}
    if isinstance(value, tuple):
        return tuple(_marked(each, provenance) for each in value)
    if isinstance(value, Marked):
        value = value.value
    kind = _KINDS.get(type(value))
    made = Marked() if kind is None else kind(value)
    made.value, made.provenance = value, provenance
    return made


def sourced(value: Any, row: str, note: str = "") -> Any:
    """`value` as `row` (``cpu/parameter``) of uarch.csv has it. Of a mapping or a tuple: each of its values."""
    return _marked(value, Provenance(SOURCED, row, note))


def calibrated(value: Any, row: str, note: str) -> Any:
    """`value` chosen so that what `row` measures comes out; `note`: how, or what adds the rest."""
    return _marked(value, Provenance(CALIBRATED, row, note))


def assumed(value: Any, note: str) -> Any:
    """`value` without a source; `note`: why this one."""
    return _marked(value, Provenance(ASSUMED, "", note))


def assumed_unless_marked(value: Any, note: str) -> Any:
    """`value` with the mark that it has, else assumed."""
    return value if isinstance(value, Marked) else assumed(value, note)


def as_gem5(value: Any, note: str) -> Any:
    """`value` of gem5's own reference runs; `note`: where it stands there."""
    return _marked(value, Provenance(GEM5, "", note))


def measured(value: Any, host: str, note: str) -> Any:
    """`value` that probes of `host` (a date, a processor) decided; `note`: which, with their numbers."""
    return _marked(value, Provenance(MEASURED, "", f"{host}: {note}"))


def plain(value: Any) -> tuple[Any, Provenance | None]:
    """The value without its mark, and the mark."""
    return (value.value, value.provenance) if isinstance(value, Marked) else (value, None)
