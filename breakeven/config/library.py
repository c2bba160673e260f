"""gem5's SimObject classes, made by name when first asked for.

``data/gem5.json`` holds the facts (gem5 24.0's classes: bases, parameters with types and defaults, overridden values,
ports), ``data/ours.json`` what breakeven adds. Reading them takes milliseconds; a class costs only when it is used.

A class in the data: ``bases``, ``abstract``, ``params`` (name -> [type] or [type, default]), ``values`` (inherited
parameters given another value), ``ports`` (name -> role). A value is a JSON scalar, a list, null for no object,
``{"proxy": "Parent.any"}``, or ``{"object": class, "with": {parameter: value}}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from breakeven.config import methods
from breakeven.config.errors import UnknownName
from breakeven.config.metaclass import FORMER_NAMES, ClassBody, Delayed, MetaSimObject
from breakeven.config.params import ENUMS, NULL, ParamDesc, VectorParamDesc, hooks
from breakeven.config.ports import KINDS
from breakeven.config.proxy import from_text
from breakeven.config.simobject import SimObject

_DATA = Path(__file__).parent / "data"


def _load() -> tuple[dict[str, Any], dict[str, Any]]:
    facts: dict[str, Any] = json.loads((_DATA / "gem5.json").read_bytes())
    ours = json.loads((_DATA / "ours.json").read_bytes())
    facts.update(ours["classes"])
    for name, params in ours["added_params"].items():
        facts[name].setdefault("params", {}).update(params)
    for name, values in ours["other_values"].items():
        facts[name].setdefault("values", {}).update(values)
    ENUMS.update(ours["enums"])
    return facts, ours


_FACTS, _OURS = _load()
REQUIRED_PORTS: dict[str, list[str]] = _OURS["required_ports"]
#: objects and switches that we added to gem5's classes; a machine without one keeps its description and hash
LEFT_OUT_WHILE_UNSET: frozenset[str] = frozenset(_OURS["left_out_while_unset"])
FORMER_NAMES.update(_OURS["former_names"])
#: parameters of ours that make a core behave as gem5's does, for scripts that say nothing of them
IN_SCRIPTS: dict[str, dict[str, Any]] = _OURS["in_scripts"]
_CLASSES: dict[str, MetaSimObject] = {"SimObject": SimObject}


def names() -> list[str]:
    """Every class of the library."""
    return sorted(_FACTS)


def find_class(name: str) -> MetaSimObject | None:
    """The class called `name`, made now if it is the first time; None when there is none."""
    cls = _CLASSES.get(name)
    if cls is None and name in _FACTS:
        cls = _make(name)
    return cls


def get_class(name: str) -> MetaSimObject:
    cls = find_class(name)
    if cls is None:
        raise UnknownName(f"there is no SimObject class {name!r}", name, _FACTS)
    return cls


hooks.find_class = staticmethod(find_class)
hooks.class_names = staticmethod(names)


def _value(raw: Any) -> Any:
    """The Python value that `raw` of a data file stands for."""
    if raw is None:
        return NULL
    if isinstance(raw, list):
        return [_value(item) for item in raw]
    if isinstance(raw, dict):
        if "proxy" in raw:
            return from_text(raw["proxy"])
        values = {name: _value(value) for name, value in raw.get("with", {}).items()}
        made = get_class(raw["object"])(**values)
        made._given = values
        return made
    return raw


def _delayed(raw: Any) -> Any:
    return Delayed(_value, raw) if raw is None or isinstance(raw, (dict, list)) else raw


def _declared(name: str, fact: list[Any]) -> ParamDesc:
    kind = fact[0]
    vector = kind.startswith("Vector.")
    desc = (VectorParamDesc if vector else ParamDesc)(kind.removeprefix("Vector."))
    if len(fact) > 1:
        desc.default = _delayed(fact[1])
    desc.name = name
    return desc


def _methods(name: str) -> dict[str, Any]:
    table = methods.METHODS.get(name, {})
    return dict(table)


def _make(name: str) -> MetaSimObject:
    facts = _FACTS[name]
    # gem5's SimObject is ours; its one parameter is put on it when the library starts.
    bases = tuple(get_class(base) for base in facts["bases"]) or (SimObject,)
    body = ClassBody(name, bases)
    dict.update(body, _methods(name))
    dict.update(
        body, {"__module__": "m5.objects", "__qualname__": name, "type": name, "abstract": facts.get("abstract", False)}
    )
    body.params = {param: _declared(param, fact) for param, fact in facts.get("params", {}).items()}
    body.raw = {param: _delayed(raw) for param, raw in facts.get("values", {}).items()}
    for port, kind in facts.get("ports", {}).items():
        body.ports[port] = KINDS[kind]()
        body.ports[port].name = port
    cls = MetaSimObject(name, bases, body, library=True)
    _CLASSES[name] = cls
    return cls


def _finish_simobject() -> None:
    params = {param: _declared(param, fact) for param, fact in _FACTS["SimObject"]["params"].items()}
    type.__setattr__(SimObject, "_own_params", params)
    type.__setattr__(SimObject, "_params", params)
    for name, method in _methods("SimObject").items():
        type.__setattr__(SimObject, name, method)


_finish_simobject()


def all_classes() -> Iterator[tuple[str, MetaSimObject]]:
    """Every class, made if need be."""
    for name in names():
        yield name, get_class(name)
