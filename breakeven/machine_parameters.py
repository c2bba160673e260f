"""The parameters of a machine that its engine reads: which there are, and that no other one is set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from breakeven.m5.describe import canonical
from breakeven.m5.errors import OverrideError, near
from breakeven.m5.overrides import Target
from breakeven.m5.proxy import Proxy
from breakeven.m5.simobject import SimObject


def parameters_read(description: dict[str, Any]) -> dict[tuple[str, str], str]:
    """What building the machine looks at: (path of the object, parameter) -> the values it takes, in words (empty: all
    that its type holds)."""
    from breakeven.runner import load_engine

    return {(path, name): takes for path, _, name, _, takes in load_engine().parameters_used(canonical(description))}


def check_overrides(root: SimObject, description: dict[str, Any], targets: Iterable[Target]) -> None:
    """Raises `OverrideError` for an override that changes nothing on this machine: no rule reads the parameter."""
    read = parameters_read(description)
    paths = {item["path"] for item in description["objects"]}
    for target in targets:
        path, name = target.owner.path(), target.name
        if path not in paths:
            raise OverrideError(f"{target.text} changes nothing: a later setting has replaced its object")
        if (path, name) in read or _read_elsewhere(name, target.owner) or _referred_to(root, name, read):
            continue
        known = [other for owner, other in read if owner == path and other]
        hint = near(name, known, all_of=f"of {path} are read")
        raise OverrideError(f"{target.text} changes nothing: no rule reads {name} on this machine{hint}")


def _read_elsewhere(name: str, owner: SimObject) -> bool:
    """Whether Python itself reads the parameter: programs and their streams."""
    from breakeven.m5.modelled import OWN

    return any(name in OWN.get(base.__name__, ()) for base in type(owner).__mro__)


def _referred_to(root: SimObject, name: str, read: dict[tuple[str, str], str]) -> bool:
    """Whether a parameter that is read takes its value from one called `name` (``Parent.name``)."""
    for node in root.descendants():
        path = node.path()
        for each in type(node)._params:
            value = node._value(each) if (path, each) in read else None
            if isinstance(value, Proxy) and name in (value._name, *value._steps):
                return True
    return False
