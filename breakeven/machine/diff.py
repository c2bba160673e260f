"""What differs between two machines: every parameter by its path, and the objects that only one of them has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from breakeven.machine.page import shown_value
from breakeven.machine.sources import short_path

#: said of what one of the machines has not
NONE = "-"
#: objects whose parameters follow from those of their owner
_DERIVED = ("tags",)
#: objects that tell what a functional unit does; they are told in one row of the unit's
_OPERATIONS = {"opClasses": "opClass", "opList": "opClass"}

#: elements of vectors that say what they are; others are compared one after the other
_BY_NAME = ("X86StringMode", "X86Instruction")


class Difference(NamedTuple):
    """One path with its value in either machine (`NONE`: it has none)."""

    path: str
    a: str
    b: str


def differences(
    a: dict[str, Any], b: dict[str, Any], shown: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {})
) -> list[Difference]:
    """How description `b` differs from `a`, in the order of the objects.

    Paths are what ``--set`` takes, but for those of objects: there the class differs, or only one machine has it. Of
    objects of different classes the parameters that both have are compared. `shown`: of either machine what
    `overrides.shown_paths` says; with them elements of vectors have their names, and instructions and string modes are
    compared by name.
    """
    left, right = (_units_in_a_row(one["objects"], names) for one, names in zip((a, b), shown, strict=True))
    found: list[Difference] = []
    missing: set[str] = set()
    for key in dict.fromkeys([*left, *right]):
        paths = [one[key]["path"] if key in one else "" for one in (left, right)]
        names = [names.get(path, short_path(path)) for names, path in zip(shown, paths, strict=True) if path]
        label = names[0] if len(set(names)) == 1 else short_path(paths[0])
        if all(paths):
            found += _of_both(label, left[key], right[key])
            continue
        # The parts of an object that one machine lacks are told with it.
        path = paths[0] or paths[1]
        if path.rpartition(".")[0] not in missing:
            found.append(Difference(label, *(one[key]["type"] if key in one else NONE for one in (left, right))))
        missing.add(path)
    return found


def parameters_of(description: dict[str, Any]) -> list[tuple[str, str]]:
    """Every parameter of a machine, (path, value), in the order of the objects; an object's own path has its class."""
    found = []
    for path, item in _units_in_a_row(description["objects"], {}).items():
        found.append((short_path(path), item["type"]))
        texts = ((name, _text(item, name)) for name in item["params"])
        found += [(f"{short_path(path)}.{name}", text) for name, text in texts if text]
    return found


def _units_in_a_row(objects: list[dict[str, Any]], shown: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Objects by path (those of `_BY_NAME` by the path to show); the operations of a functional unit as a parameter of
    it."""
    found: dict[str, dict[str, Any]] = {}
    for item in objects:
        path = item["path"]
        owner, _, name = path.rpartition(".")
        kind = name.rstrip("0123456789")
        if kind not in _OPERATIONS:
            if not any(part in _DERIVED for part in path.split(".")):
                key = shown.get(path, path) if item["type"] in _BY_NAME else path
                found[key] = {**item, "params": dict(item["params"])}
            continue
        unit = owner.removesuffix(f".{kind}")
        operation = item["params"].get(_OPERATIONS[kind])
        if unit in found and operation is not None:
            latency = item["params"].get("opLat")
            text = operation if latency is None else f"{operation} {latency}"
            found[unit]["params"].setdefault("operations", []).append(text)
    return found


def _of_both(label: str, a: dict[str, Any], b: dict[str, Any]) -> list[Difference]:
    found, names = [], dict.fromkeys([*a["params"], *b["params"]])
    if a["type"] != b["type"]:
        found.append(Difference(label, a["type"], b["type"]))
        names = dict.fromkeys(name for name in a["params"] if name in b["params"])
    for name in names:
        if name == "operations":
            texts = _only_there(*(item["params"].get(name, []) for item in (a, b)))
        else:
            texts = [_text(item, name) for item in (a, b)]
        if texts[0] != texts[1]:
            found.append(Difference(f"{label}.{name}", *(text or NONE for text in texts)))
    return found


def _only_there(a: list[str], b: list[str]) -> list[str]:
    """Of two units' operations those that the other does not do, or not so."""
    return [", ".join(each for each in one if each not in other) for one, other in ((a, b), (b, a))]


def _text(item: dict[str, Any], name: str) -> str:
    """A parameter's value; empty for references, which the objects themselves tell, and for what is not there."""
    value = item["params"].get(name)
    if value is None or _refers(value):
        return ""
    if name == "operations":
        return ", ".join(value)
    if item["type"] == "SrcClockDomain" and name == "clock" and value[0]:
        return f"{1e3 / value[0]:.4g} GHz"
    return shown_value(name, value, "BaseCache" in item["bases"])


def _refers(value: Any) -> bool:
    if isinstance(value, list):
        return not value or any(_refers(one) for one in value)
    return isinstance(value, dict)
