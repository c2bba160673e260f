"""``config.ini`` and ``config.json``: the resolved tree as gem5 writes it."""

from __future__ import annotations

import json
from typing import Any

from breakeven.config.describe import Resolver, Unresolved
from breakeven.config.params import MISSING
from breakeven.config.simobject import SimObject, SimObjectVector, modelled_class
from breakeven.config.values import AddrRange, Frequency, Latency, NullObject


def ini(root: SimObject) -> str:
    """One section an object, by path: type, children, parameters, ports."""
    resolver = Resolver(root)
    sections = [_section(obj, resolver) for obj in sorted(root.descendants(), key=lambda obj: obj.path())]
    return "\n".join(sections)


def _section(obj: SimObject, resolver: Resolver) -> str:
    lines = [f"[{obj.path()}]", f"type={modelled_class(obj).__name__}"]
    children = [name for name, child in _own_children(obj)]
    if children:
        lines.append("children=" + " ".join(children))
    for name in sorted(type(obj)._params):
        value = _value(obj, name, resolver)
        if value is not MISSING:
            lines.append(f"{name}={_ini_text(value)}")
    for name, ref in sorted(obj._refs.items()):
        if ref.peers:
            lines.append(f"{name}=" + " ".join(_peer_path(ref, index) for index in range(len(ref.peers))))
    return "\n".join(lines) + "\n"


def _own_children(obj: SimObject) -> list[tuple[str, SimObject]]:
    found = []
    for child in obj._children.values():
        for member in [child] if isinstance(child, SimObject) else child:
            if member._parent is obj:
                found.append((member._name, member))
    return sorted(found, key=lambda pair: pair[0])


def _value(obj: SimObject, name: str, resolver: Resolver) -> Any:
    try:
        return resolver.value(obj, name)
    except Unresolved:
        # `describe` reports those that matter; gem5 leaves out what was never set.
        return MISSING


def _ini_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, SimObject):
        return value.path()
    if isinstance(value, NullObject):
        return "Null"
    if isinstance(value, list):
        return " ".join(_ini_text(item) for item in value)
    if isinstance(value, AddrRange):
        return f"{value.start}:{value.end}"
    if isinstance(value, (Latency, Frequency)):
        return str(_ticks(value))
    return f"{value:f}" if isinstance(value, float) else str(value)


def _ticks(value: Latency | Frequency) -> int:
    """Ticks; of a frequency, a period's (0: off), as gem5 writes it."""
    if isinstance(value, Latency):
        return value.ticks
    return value.period.ticks if value else 0


def _peer_path(ref: Any, index: int) -> str:
    """The peer's path; of a vector port with the element that this one is joined with."""
    peer = ref.peers[index]
    path = f"{peer.owner.path()}.{peer.port.name}"
    if not peer.port.vector:
        return path
    # The same two ports may be joined more than once: the n-th time here is the n-th time there.
    nth = sum(1 for other in ref.peers[:index] if other is peer)
    places = [place for place, other in enumerate(peer.peers) if other is ref]
    return f"{path}[{places[nth]}]"


def as_json(root: SimObject) -> str:
    """The tree as nested objects: parameters, ports, and children below their names."""
    return json.dumps(_tree(root, Resolver(root)), indent=4)


def _tree(obj: SimObject, resolver: Resolver) -> dict[str, Any]:
    cls = modelled_class(obj)
    node: dict[str, Any] = {
        "type": cls.__name__,
        "cxx_class": f"gem5::{cls.__name__}",
        "name": obj._name or "root",
        "path": obj.path(),
    }
    for name in sorted(type(obj)._params):
        value = _value(obj, name, resolver)
        if value is not MISSING:
            node[name] = _json_value(value)
    for name, child in obj._children.items():
        if isinstance(child, SimObject):
            if child._parent is obj:
                node[name] = _tree(child, resolver)
        elif all(member._parent is obj for member in child):
            node[name] = [_tree(member, resolver) for member in child]
    for name, ref in sorted(obj._refs.items()):
        if ref.peers:
            peers = [_peer_path(ref, index) for index in range(len(ref.peers))]
            node[name] = {"role": ref.port.role.upper(), "peer": peers if ref.port.vector else peers[0]}
    return node


def _json_value(value: Any) -> Any:
    if isinstance(value, SimObject):
        return value.path()
    if isinstance(value, NullObject):
        return None
    if isinstance(value, (list, SimObjectVector)):
        return [_json_value(item) for item in value]
    if isinstance(value, AddrRange):
        return f"{value.start}:{value.end}"
    if isinstance(value, (Latency, Frequency)):
        return _ticks(value)
    return value


__all__ = ["as_json", "ini"]
