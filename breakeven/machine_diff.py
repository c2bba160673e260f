"""What differs between two machines: every parameter by its path, and the objects that only one of them has."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from breakeven.machine_page import shown_value

#: said of what one of the machines has not
NONE = "-"
#: objects whose parameters follow from those of their owner
_DERIVED = ("tags",)
#: objects that tell what a functional unit does; they are told in one row of the unit's
_OPERATIONS = {"opClasses": "opClass", "opList": "opClass"}


class Difference(NamedTuple):
    """One path with its value in either machine (`NONE`: it has none)."""

    path: str
    a: str
    b: str


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[Difference]:
    """How description `b` differs from `a`, in the order of the objects.

    Paths are what ``--set`` takes, but for those of objects: there the class differs, or only one machine has it. Of
    objects of different classes the parameters that both have are compared.
    """
    left, right = (_units_in_a_row(one["objects"]) for one in (a, b))
    found: list[Difference] = []
    missing: set[str] = set()
    for path in dict.fromkeys([*left, *right]):
        if path in left and path in right:
            found += _of_both(path, left[path], right[path])
            continue
        # The parts of an object that one machine lacks are told with it.
        if path.rpartition(".")[0] not in missing:
            types = (one[path]["type"] if path in one else NONE for one in (left, right))
            found.append(Difference(_short(path), *types))
        missing.add(path)
    return found


def parameters_of(description: dict[str, Any]) -> list[tuple[str, str]]:
    """Every parameter of a machine, (path, value), in the order of the objects; an object's own path has its class."""
    found = []
    for path, item in _units_in_a_row(description["objects"]).items():
        found.append((_short(path), item["type"]))
        texts = ((name, _text(item, name)) for name in item["params"])
        found += [(f"{_short(path)}.{name}", text) for name, text in texts if text]
    return found


def _units_in_a_row(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Objects by path; the operations of a functional unit as a parameter of it."""
    found: dict[str, dict[str, Any]] = {}
    for item in objects:
        path = item["path"]
        owner, _, name = path.rpartition(".")
        kind = name.rstrip("0123456789")
        if kind not in _OPERATIONS:
            if not any(part in _DERIVED for part in path.split(".")):
                found[path] = {**item, "params": dict(item["params"])}
            continue
        unit = owner.removesuffix(f".{kind}")
        operation = item["params"].get(_OPERATIONS[kind])
        if unit in found and operation is not None:
            latency = item["params"].get("opLat")
            text = operation if latency is None else f"{operation} {latency}"
            params = found[unit]["params"]
            params["operations"] = f"{params['operations']}, {text}" if "operations" in params else text
    return found


def _short(path: str) -> str:
    """A path as ``--set`` takes it."""
    return re.sub(r"\.(funcUnits|FUList)0*(\d+)\b", r".\1[\2]", path.removeprefix("system."))


def _of_both(path: str, a: dict[str, Any], b: dict[str, Any]) -> list[Difference]:
    found, names = [], dict.fromkeys([*a["params"], *b["params"]])
    if a["type"] != b["type"]:
        found.append(Difference(_short(path), a["type"], b["type"]))
        names = dict.fromkeys(name for name in a["params"] if name in b["params"])
    for name in names:
        texts = [_text(item, name) for item in (a, b)]
        if texts[0] != texts[1]:
            found.append(Difference(f"{_short(path)}.{name}", *(text or NONE for text in texts)))
    return found


def _text(item: dict[str, Any], name: str) -> str:
    """A parameter's value; empty for references, which the objects themselves tell, and for what is not there."""
    value = item["params"].get(name)
    if value is None or _refers(value):
        return ""
    if item["type"] == "SrcClockDomain" and name == "clock" and value[0]:
        return f"{1e3 / value[0]:.4g} GHz"
    return shown_value(name, value, "BaseCache" in item["bases"])


def _refers(value: Any) -> bool:
    if isinstance(value, list):
        return not value or any(_refers(one) for one in value)
    return isinstance(value, dict)
