"""Where a machine's values come from: what is gem5's default, and what the comments of the machine's file say.

A value's comment stands at the end of its line (docs/machines.md): ``uarch: cpu/parameter`` for rows of
``configs/machines/uarch.csv``, ``assumed``, ``calibrated``, ``gem5``.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from breakeven.config.metaclass import MetaSimObject
from breakeven.config.overrides import located, shown_paths
from breakeven.config.params import MISSING
from breakeven.config.proxy import Proxy
from breakeven.config.simobject import SimObject, modelled_class
from breakeven.config.values import Frequency, Latency

#: mark of a value -> what the page says it means
MARKS = {
    "*": "not gem5's default",
    "u": "a row of uarch.csv",
    "c": "calibrated",
    "a": "assumed",
    "g": "gem5's reference runs",
    "s": "set now",
}


class Comment(NamedTuple):
    rows: tuple[str, ...]
    mark: str


def _comment(text: str) -> Comment | None:
    rows = tuple(re.findall(r"\b([a-z]\w*/\w+)", text)) if "uarch:" in text else ()
    for word, mark in (("calibrated", "c"), ("uarch:", "u"), ("assumed", "a"), ("gem5", "g")):
        if word in text:
            return Comment(rows, mark)
    return None


#: nothing is said of a value
_NONE = Comment((), "")


def _mnemonics(call: ast.Call) -> Iterator[ast.Constant]:
    """The mnemonics that an `X86Instruction` is made for."""
    for keyword in call.keywords:
        if keyword.arg == "mnemonics" and isinstance(keyword.value, ast.List):
            yield from (word for word in keyword.value.elts if isinstance(word, ast.Constant))


class _File:
    """The values that one machine file writes, each with the comment of its line."""

    def __init__(self, path: Path) -> None:
        source = path.read_text(encoding="utf-8")
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        self._comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
        self.tree = ast.parse(source)
        #: (class, parameter), from class bodies and from keywords of calls
        self.by_class: dict[tuple[str, str], Comment] = {}
        #: (class, first mnemonic, parameter, value) of objects that are made in an expression, one of several of their
        #: class; the class is empty for a function that passes its keywords on
        self.by_value: dict[tuple[str, str, str, Any], Comment] = {}
        #: end of a dotted path, from assignments to attributes
        self.by_path: dict[str, Comment] = {}
        self.constants: dict[str, Comment] = {}
        for node in ast.walk(self.tree):
            for table, key, at in self._values(node):
                found = next(filter(None, map(_comment, self._lines(at))), None)
                if table is self.by_value:
                    # Two objects with the same value and different sources cannot be told apart.
                    same = table.setdefault(key, found or _NONE) == (found or _NONE)
                    table[key] = table[key] if same else _NONE
                elif found is not None:
                    table.setdefault(key, found)

    def _lines(self, node: ast.AST) -> Iterator[str]:
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):  # type: ignore[attr-defined]
            if line in self._comments:
                yield self._comments[line]

    def _values(self, node: ast.AST) -> Iterator[tuple[dict[Any, Comment], Any, ast.AST]]:
        if isinstance(node, ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    yield self.by_class, (node.name, statement.targets[0].id), statement
        elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            plain = isinstance(node.func, ast.Name)
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            first = next((word.value for word in _mnemonics(node)), "")
            for keyword in node.keywords:
                if keyword.arg is None:
                    continue
                if plain:
                    yield self.by_class, (name, keyword.arg), keyword
                if isinstance(keyword.value, ast.Constant) and (not plain or name.islower()):
                    yield self.by_value, ("" if plain else name, first, keyword.arg, keyword.value.value), keyword
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            # `cpu.isa[0].enable_Zba`: a vector of one has a plain name
            whole = re.sub(r"\[\d+\]", "", ast.unparse(node.targets[0]))
            yield self.by_path, whole.partition(".")[2], node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield self.constants, node.targets[0].id, node


def _with_neighbours(path: Path) -> list[Path]:
    """A machine file and those beside it that it imports, itself first."""
    found = [path]
    for file in found:
        for node in ast.walk(ast.parse(file.read_bytes())):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            beside = (path.parent / f"{name}.py" for name in names if name)
            found += [other for other in beside if other.is_file() and other not in found]
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Latency):
        return value.ticks
    if isinstance(value, Frequency):
        return float(value)
    return value


class Sources:
    """Marks for the values of one machine."""

    def __init__(self, root: SimObject, path: Path, settings: tuple[str, ...] = ()) -> None:
        self._objects = {obj.path(): obj for obj in root.descendants()}
        self._root = root
        self._mnemonics = {
            path: obj._value("mnemonics") for path, obj in self._objects.items() if "mnemonics" in type(obj)._params
        }
        self._files = [_File(file) for file in _with_neighbours(path)]
        self._set = {".".join(located(root, setting.partition("=")[0].strip())) for setting in settings}
        self._blank: dict[MetaSimObject, SimObject] = {}
        #: row -> paths that it decided
        self.cited: dict[str, list[str]] = {}

    def shown_paths(self) -> dict[str, str]:
        """Every object's path -> the path to show (`overrides.shown_paths`)."""
        return shown_paths(self._root)

    def default(self, path: str, name: str) -> Any:
        """gem5's value of the parameter; `MISSING` when gem5 has none, or one that depends on the place."""
        cls = modelled_class(self._objects[path])
        if cls not in self._blank:
            self._blank[cls] = cls()
        value = self._blank[cls]._value(name) if name in cls._params else MISSING
        if isinstance(value, SimObject):
            return type(value).__name__
        return MISSING if isinstance(value, (Proxy, list)) else _plain(value)

    def mark(self, path: str, name: str, value: Any) -> str:
        """The marks of a value, at most two letters; notes the rows it cites."""
        default = self.default(path, name)
        changed = "*" if default is not MISSING and value != default else ""
        if f"{path}.{name}" in self._set:
            return f"{changed}s"
        found = self._written(path, name, value)
        if found is None:
            return changed
        for row in found.rows:
            where = self.cited.setdefault(row, [])
            shown = f"{path.removeprefix('system.')}.{name}"
            if shown not in where:
                where.append(shown)
        return changed + found.mark

    def comment(self, path: str, name: str, value: Any) -> Comment | None:
        """The comment at the line that sets the value; None where it is gem5's or was set now."""
        return None if f"{path}.{name}" in self._set else self._written(path, name, value)

    def constant(self, name: str) -> str:
        """The mark of a constant of the machine's file (``CLOCK``)."""
        found = next((file.constants[name] for file in self._files if name in file.constants), None)
        if found is None:
            return ""
        for row in found.rows:
            self.cited.setdefault(row, []).append(name)
        return found.mark

    def _written(self, path: str, name: str, value: Any) -> Comment | None:
        whole = f"{path}.{name}"
        cls = type(self._objects[path])
        own = [base.__name__ for base in cls.__mro__ if isinstance(base, MetaSimObject) and not base._library]
        for file in self._files:
            for ending, comment in file.by_path.items():
                if whole.endswith(f".{ending}"):
                    return comment
            classes = [*own, modelled_class(self._objects[path]).__name__]
            for class_name in classes:
                if (class_name, name) in file.by_class:
                    return file.by_class[class_name, name]
            if not isinstance(value, (list, dict)):
                first = str((self._mnemonics.get(path) or [""])[0])
                for class_name in [*classes, ""]:
                    if (class_name, first, name, value) in file.by_value:
                        return file.by_value[class_name, first, name, value]
        return None

    def rows(self) -> list[tuple[str, str]]:
        """What the cited rows of uarch.csv say: (row, value, unit, how sure, source)."""
        from breakeven.files.data import find_data

        with find_data("configs", "machines/uarch.csv").open(newline="", encoding="utf-8") as file:
            table = {f"{row['cpu']}/{row['parameter']}": row for row in csv.DictReader(file)}
        shown = []
        for key in sorted(self.cited):
            if key in table:
                row = table[key]
                shown.append((key, f"{row['value']} {row['unit']} ({row['confidence']}: {row['source']})"))
        return shown
