"""Sweeps as TOML files: the axes of the command `sweep`, by their names. Mistakes name file, line and key."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from breakeven import points as pt
from breakeven.errors import UserError, near
from breakeven.files.toml import read_toml
from breakeven.machine.presets import is_file_name
from breakeven.output.shell import quoted
from breakeven.points.distribution import PUBLISHED
from breakeven.points.ranges import Swept, parse_integers, parse_number


def read_sweep_file(path: Path) -> dict[str, Any]:
    """What a file asks for, as the command `sweep` has it, and perhaps `out`."""
    text, content = read_toml(path, "sweep")
    found: dict[str, Any] = {}
    for key, value in content.items():
        if key in ("set", "sweep"):
            found[_NAMES[key]] = _table(path, text, key, value)
        elif key in _READERS:
            with_place = _Place(path, text, key)
            found[_NAMES.get(key, key)] = with_place.call(_READERS[key], key, value)
        else:
            raise _Place(path, text, key).error(f"there is no such key{near(key, [*_READERS, 'set', 'sweep'])}")
    for key in ("routines", "sizes"):
        if key not in found:
            raise UserError(f"the sweep {str(path)!r} has no {key}: add {key} = ...")
    return found


class _Place:
    """Where a key stands, for errors."""

    def __init__(self, path: Path, text: str, key: str, table: str = "") -> None:
        self._path, self._text, self._key, self._table = path, text, key, table

    def error(self, text: str) -> UserError:
        # Each line is looked at once: `\s` would take the lines that follow, too, from each line anew.
        table = re.compile(rf"[ \t]*\[[ \t]*{self._table}[ \t]*\]")
        written = re.compile(rf'[ \t]*(["\']?){re.escape(self._key)}\1[ \t]*=')
        within = not self._table
        for number, line in enumerate(self._text.split("\n"), 1):
            within = within or table.match(line) is not None
            if within and written.match(line):
                return UserError(f"{self._path}, line {number}: {self._key}: {text}")
        # Keys may be written in other ways (dotted, in one line): then the key alone says it.
        return UserError(f"{self._path}: {self._key}: {text}")

    def call(self, reader: Callable[[str, Any], Any], key: str, value: Any) -> Any:
        try:
            return reader(key, value)
        except UserError as error:
            raise self.error(str(error)) from None


def _names(key: str, value: Any) -> list[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise UserError('a name or a list of names is wanted, like ["one", "two"]')
    return names


def _machines(key: str, value: Any) -> list[str]:
    """Presets' names. A machine's file is run, so only the person at the keyboard names one."""
    names = _names(key, value)
    for name in names:
        if is_file_name(name):
            raise UserError(f"{name!r} is a file that would be run: name it on the command line (-m {quoted(name)})")
    return names


def _joined(key: str, value: Any) -> str:
    return ",".join(_names(key, value))


def _integers(key: str, value: Any) -> str:
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, (int, str)) and not isinstance(item, bool) for item in items):
        raise UserError('a number, a list, or a text like "64..1448:8" is wanted')
    text = ",".join(str(item) for item in items)
    parse_integers(text, _SINGULAR[key], 0, pt.MAX_SIZE if key == "sizes" else pt.MAX_OFFSET)
    return text


def _integer(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UserError(f"a whole number is wanted, not {value!r}")
    return value


def _size(key: str, value: Any) -> str:
    parse_number(str(value), key)
    return str(value)


def _flag(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UserError("true or false is wanted")
    return value


def _table_file(key: str, value: Any) -> Path:
    """A table in the current folder: whoever wrote the sweep may be somebody else."""
    if not isinstance(value, str):
        raise UserError("a file's name is wanted")
    if not value.isprintable():
        raise UserError(f"{value!r} has characters that cannot be printed: give another name")
    path = Path(value)
    if path.name != value or value.startswith("."):
        raise UserError(f"{value!r} is no plain name of a file in the current folder: give it with --out")
    return path


def _distance(key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise UserError("a number of bytes is wanted, or a text such as '-4K'")
    return str(value)


def _mix(key: str, value: Any) -> str:
    """What a mix draws from, without a file: whoever wrote the sweep may be somebody else."""
    if not isinstance(value, str):
        raise UserError('sizes are wanted, like "1..256", or "spec2017"')
    if value not in PUBLISHED:
        parse_integers(value, "mix", 0, pt.MAX_SIZE)
    return value


_SINGULAR = {"sizes": "size", "src": "src offset", "dst": "dst offset"}
_READERS: dict[str, Callable[[str, Any], Any]] = {
    "routines": _names, "machines": _machines, "sizes": _integers, "src": _integers, "dst": _integers, "cache": _joined,
    "measure": _joined, "repetitions": _integer, "warmup": _integer, "calls": _integer, "size2": _size,
    "stream": _joined, "total": _size, "src2": _integer, "dst2": _integer, "seed": _integer, "parameter": _integer,
    "distance": _distance, "mix": _mix, "align": _integer,
    "huge_pages": _flag, "out": _table_file,
}  # fmt: skip
#: keys whose argument has another name
_NAMES = {
    "set": "settings", "sweep": "sweep", "src2": "src_offset2", "dst2": "dst_offset2", "parameter": "routine_parameter",
}  # fmt: skip


#: parameters of a table; each variant of a machine keeps them all
_MAX_SET = 1000


def _table(path: Path, text: str, table: str, value: Any) -> list[str]:
    """`[set]` or `[sweep]`: dotted paths with values, as ``path=value`` texts."""
    if not isinstance(value, dict):
        raise _Place(path, text, table).error(f"a table is wanted: [{table}]")
    found, swept = [], Swept()
    flattened: list[tuple[str, Any]] = _Place(path, text, table).call(_flattened, "", value)
    if len(flattened) > _MAX_SET:
        raise _Place(path, text, table).error(f"[{table}] has more than {_MAX_SET} parameters: take fewer")
    for name, given in flattened:
        place = _Place(path, text, name, table)
        items = given if isinstance(given, list) else [given]
        if not items or not all(isinstance(item, (int, float, str)) for item in items):
            raise place.error(
                "a number, a text or true or false is wanted" + (", or a list" if table == "sweep" else "")
            )
        if table == "set" and isinstance(given, list):
            raise place.error("one value is wanted; [sweep] takes several")
        written = f"{name}={','.join(str(item).lower() if isinstance(item, bool) else str(item) for item in items)}"
        if table == "sweep":
            place.call(lambda _, argument: swept.add(argument), name, written)
        found.append(written)
    return found


def _flattened(prefix: str, table: dict[str, Any]) -> list[tuple[str, Any]]:
    """TOML reads a.b = 1 as a table in a table: back to dotted paths."""
    found = []
    for name, value in table.items():
        path = f"{prefix}{name}"
        found += _flattened(f"{path}.", value) if isinstance(value, dict) else [(path, value)]
    return found
