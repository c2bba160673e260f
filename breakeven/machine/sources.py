"""Where a machine's values come from: what is gem5's default, and the provenance that the machine's file gives.

A file marks a value where it writes it (docs/machines.md, `breakeven.config.provenance`).
"""

from __future__ import annotations

import csv
import re
from typing import Any

from breakeven.config import library, provenance
from breakeven.config.metaclass import MetaSimObject
from breakeven.config.overrides import located, shown_paths
from breakeven.config.params import MISSING
from breakeven.config.provenance import Provenance
from breakeven.config.proxy import Proxy
from breakeven.config.simobject import SimObject, modelled_class
from breakeven.config.values import Frequency, Latency
from breakeven.files.data import find_data

#: mark of a value -> what the page says it means
MARKS = {
    "*": "not gem5's default",
    "u": "a row of uarch.csv",
    "c": "calibrated",
    "a": "assumed",
    "g": "gem5's reference runs",
    "m": "measured on a host",
    "s": "set now",
}
_LETTERS = {
    provenance.SOURCED: "u",
    provenance.CALIBRATED: "c",
    provenance.ASSUMED: "a",
    provenance.GEM5: "g",
    provenance.MEASURED: "m",
}


def _plain(value: Any) -> Any:
    if isinstance(value, Latency):
        return value.ticks
    if isinstance(value, Frequency):
        return float(value)
    return value


def short_path(path: str) -> str:
    """An object's path as ``--set`` takes it, where the machine's objects are not there to name it."""
    return re.sub(r"\.(funcUnits|FUList)0*(\d+)\b", r".\1[\2]", path.removeprefix("system."))


class _Defaults:
    """gem5's values of parameters."""

    def __init__(self) -> None:
        self._blank: dict[MetaSimObject, SimObject] = {}

    def of(self, cls: MetaSimObject, name: str) -> Any:
        """A parameter's; `MISSING` when gem5 has none, or one that depends on the place."""
        if cls not in self._blank:
            self._blank[cls] = cls()
        value = self._blank[cls]._value(name) if name in cls._params else MISSING
        if isinstance(value, SimObject):
            return type(value).__name__
        return MISSING if isinstance(value, (Proxy, list)) else _plain(value)


class Unmarked:
    """Stands for `Sources` where a machine's description alone is known: values without marks."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._types = {item["path"]: item["type"] for item in description["objects"]}
        self._defaults = _Defaults()

    def shown_paths(self) -> dict[str, str]:
        """Every object's path -> the path to show."""
        return {path: short_path(path) for path in self._types}

    def default(self, path: str, name: str) -> Any:
        """As of `Sources`."""
        known = self._types[path] in library.names()
        return self._defaults.of(library.get_class(self._types[path]), name) if known else MISSING

    def mark(self, path: str, name: str, value: Any) -> str:
        """None."""
        return ""

    def rows(self) -> list[tuple[str, str]]:
        """None."""
        return []


class Sources:
    """Marks for the values of one machine."""

    def __init__(self, root: SimObject, settings: tuple[str, ...] = ()) -> None:
        self._objects = {obj.path(): obj for obj in root.descendants()}
        self._root = root
        self._set = {".".join(located(root, setting.partition("=")[0].strip())) for setting in settings}
        self._defaults = _Defaults()
        #: row -> paths that it decided
        self.cited: dict[str, list[str]] = {}

    def shown_paths(self) -> dict[str, str]:
        """Every object's path -> the path to show (`overrides.shown_paths`)."""
        return shown_paths(self._root)

    def default(self, path: str, name: str) -> Any:
        """gem5's value of the parameter; `MISSING` when gem5 has none, or one that depends on the place."""
        return self._defaults.of(modelled_class(self._objects[path]), name)

    def mark(self, path: str, name: str, value: Any) -> str:
        """The marks of a value, at most two letters; notes the rows it cites."""
        default = self.default(path, name)
        changed = "*" if default is not MISSING and value != default else ""
        if f"{path}.{name}" in self._set:
            return f"{changed}s"
        found = self.provenance(path, name)
        if found is None:
            return changed
        if found.row:
            where = self.cited.setdefault(found.row, [])
            shown = f"{path.removeprefix('system.')}.{name}"
            if shown not in where:
                where.append(shown)
        return changed + _LETTERS[found.mark]

    def provenance(self, path: str, name: str) -> Provenance | None:
        """What the machine's file says of the value; None where it is gem5's or was set now."""
        return None if f"{path}.{name}" in self._set else self._objects[path].provenance(name)

    def rows(self) -> list[tuple[str, str]]:
        """What the cited rows of uarch.csv say: (row, value, unit, how sure, source)."""

        with find_data("configs", "machines/uarch.csv").open(newline="", encoding="utf-8") as file:
            table = {f"{row['cpu']}/{row['parameter']}": row for row in csv.DictReader(file)}
        shown = []
        for key in sorted(self.cited):
            if key in table:
                row = table[key]
                shown.append((key, f"{row['value']} {row['unit']} ({row['confidence']}: {row['source']})"))
        return shown
