"""From a tree of SimObjects to the description that the engine builds a machine from (docs/description.md).

Proxies are followed, defaults filled in, quantities brought to the engine's units; everything that is wrong is
collected and raised together as a `ConfigError`, each error with its dotted path and the fix.
"""

from __future__ import annotations

import json
from typing import Any

from breakeven.config.errors import ConfigError
from breakeven.config.library import LEFT_OUT_WHILE_UNSET, REQUIRED_PORTS
from breakeven.config.metaclass import MetaSimObject
from breakeven.config.params import MISSING, ParamDesc, SimObjectVector
from breakeven.config.proxy import Proxy, apply_scale
from breakeven.config.simobject import SimObject, modelled_class
from breakeven.config.values import AddrRange, Frequency, Latency, NullObject

#: a parameter of LEFT_OUT_WHILE_UNSET counts as unset while it has this value; the others while they are False
_UNSET = {
    "associativity": 1,
    "slices": 1,
    "way_predictor_masks": [],
    "numFTQEntries": 8,
    "maxTakenPredPerCycle": 1,
    "instQueues": [],
    "iqInsertionPolicy": "FirstMatch",
    "destination_alignment": 1,
    "gem5ReplaysTogether": True,
    "gem5Retranslation": True,
    "gem5RenameUnblocks": True,
    "gem5RefusedStoreFirst": True,
    "gem5StoreSetIndex": True,
    "gem5RenameBlocksIdle": True,
    "gem5SkidBufferFirst": True,
    "gem5SquashedRobEntries": True,
    "gem5SquashedCredits": True,
    "gem5NonSpeculativeDrains": True,
    "gem5TrapsDrain": True,
    "gem5RobEmptyDrains": True,
    "gem5LastUnitEndsIssue": True,
    "gem5BundleBubbles": True,
    "gem5SplitTranslation": True,
    "gem5HeadHoldsEarlyIssue": True,
    "enable_Zbc": True,
    "enable_Zicond": True,
    "clmul_latency": 0,
    "vector_chaining": "register",
    "vector_startup_cycles": 0,
    "vector_memory_startup_cycles": 0,
    "strided_element_cycles": 1,
    "indexed_element_cycles": 1,
    "segment_element_cycles": 1,
}

FORMAT = 1


class Unresolved(Exception):
    """A value that cannot be found; the text says why."""


#: stands for a value that is just being worked out: who meets it has gone in a circle
_BUSY = object()


class Resolver:
    """Values of one tree with all proxies followed; each is worked out once."""

    def __init__(self, root: SimObject) -> None:
        self._values: dict[tuple[int, str], Any] = {}
        #: (object's id, parameter) -> the object and parameter of each value that was taken from it
        self._taken: dict[tuple[int, str], dict[tuple[int, str], SimObject]] = {}
        #: the values that are being worked out, each for the one before it
        self._asking: list[tuple[SimObject, str]] = []
        self._found: dict[tuple[int, type], Any] = {}
        self._root = root

    def value(self, obj: SimObject, name: str) -> Any:
        key = (id(obj), name)
        known = self._values.get(key, MISSING)
        if known is _BUSY:
            raise Unresolved("it refers to itself")
        if known is not MISSING:
            if isinstance(known, Unresolved):
                raise known
            return known
        value = obj._value(name)
        if isinstance(value, Proxy) or (isinstance(value, list) and any(isinstance(item, Proxy) for item in value)):
            self._values[key] = _BUSY
            self._asking.append((obj, name))
            try:
                value = self._followed(obj, type(obj)._params[name], value)
            except Unresolved as error:
                self._values[key] = error
                raise
            finally:
                self._asking.pop()
        self._values[key] = value
        return value

    def forget(self, obj: SimObject, name: str) -> list[SimObject]:
        """The value has been changed: it and all that is taken from it are worked out anew; whose values they are."""
        left, found = {(id(obj), name): obj}, {}
        while left:
            key, owner = left.popitem()
            found[key] = owner
            self._values.pop(key, None)
            left |= {taken: by for taken, by in self._taken.get(key, {}).items() if taken not in found}
        return list(found.values())

    def _followed(self, obj: SimObject, desc: ParamDesc, value: Any) -> Any:
        if isinstance(value, list):
            items: list[Any] = []
            for item in value:
                found = self._follow(obj, desc, item) if isinstance(item, Proxy) else item
                items.extend(found if isinstance(found, list) else [found])
            value = items
        else:
            value = self._follow(obj, desc, value)
        if value is MISSING:
            raise Unresolved("what it refers to has not been set")
        try:
            return desc.convert(value)
        except (TypeError, ValueError) as error:
            raise Unresolved(f"what it refers to does not fit: {error}") from None

    def _follow(self, obj: SimObject, desc: ParamDesc, proxy: Proxy) -> Any:
        if proxy._name == "all" and not proxy._up:
            wanted = desc.ptype or SimObject
            return SimObjectVector(node for node in obj.descendants() if isinstance(node, wanted))
        node: Any = obj._parent if proxy._up else obj
        while isinstance(node, SimObject):
            found = self._any(node, desc.ptype, obj) if proxy._name == "any" else self._attribute(node, proxy._name)
            # Parent.clk_domain of a clock domain means the next one above, not itself.
            if found is not MISSING and found is not obj:
                return apply_scale(proxy, self._stepped(found, proxy))
            if not proxy._up:
                break
            node = node._parent
        where = "no object above it has one" if proxy._up else "it has no such value, or one that refers back"
        raise Unresolved(f"{proxy} cannot be resolved: {where}")

    def _attribute(self, node: SimObject, name: str) -> Any:
        """Parameter or child `name` of `node`; `MISSING` when it has none (or is just being worked out)."""
        if name in type(node)._params:
            if self._asking:
                by, wanted = self._asking[-1]
                self._taken.setdefault((id(node), name), {})[id(by), wanted] = by
            if self._values.get((id(node), name)) is _BUSY:
                return MISSING
            return self.value(node, name)
        return node._children.get(name, MISSING)

    def _stepped(self, found: Any, proxy: Proxy) -> Any:
        for step in proxy._steps:
            if isinstance(step, int):
                if not isinstance(found, (list, SimObject)) or step >= len(found):
                    raise Unresolved(f"{proxy} cannot be resolved: there is no element {step}")
                found = found[step]
                continue
            value = self._attribute(found, step) if isinstance(found, SimObject) else MISSING
            if value is MISSING:
                raise Unresolved(f"{proxy} cannot be resolved: there is no {step!r}")
            found = value
        return found

    def _any(self, node: SimObject, wanted: type | None, asker: SimObject) -> Any:
        """The one object of class `wanted` that `node` is, has as a child or refers to."""
        if wanted is None:
            raise Unresolved("Parent.any finds objects only; name the parameter")
        if isinstance(node, wanted):
            return node
        key = (id(node), wanted)
        if key in self._found:
            return self._found[key]
        found: Any = MISSING
        candidates = [
            child for child in node._children.values() if isinstance(child, wanted) and not asker._descends_from(child)
        ]
        for name, desc in type(node)._params.items():
            if not desc.takes_objects or desc.vector:
                continue
            ptype = desc.ptype
            if ptype is not None and issubclass(ptype, wanted) and self._values.get((id(node), name)) is not _BUSY:
                value = self.value(node, name)
                if isinstance(value, SimObject):
                    candidates.append(value)
        for candidate in candidates:
            if found is not MISSING and candidate is not found:
                raise Unresolved(f"Parent.any fits more than one object: {found.path()}, {candidate.path()}; name one")
            found = candidate
        self._found[key] = found
        return found


def _encoded(value: Any, paths: dict[int, str]) -> Any:
    if isinstance(value, SimObject):
        path = paths.get(id(value))
        if path is None:
            raise Unresolved(f"it refers to {value.path()}, which is not below the root; put it into the tree")
        return {"ref": path}
    if isinstance(value, NullObject):
        return None
    if isinstance(value, list):
        return [_encoded(item, paths) for item in value]
    if isinstance(value, Latency):
        return value.ticks
    if isinstance(value, Frequency):
        return float(value)
    if isinstance(value, AddrRange):
        return {"start": value.start, "end": value.end}
    return value


class Describer:
    """Describes the objects of one tree; what is wrong is collected in `errors`."""

    def __init__(self, root: SimObject) -> None:
        self.objects = list(root.descendants())
        self.paths = {id(obj): obj.path() for obj in self.objects}
        self.resolver = Resolver(root)
        self.errors: list[str] = []
        # As in gem5, an emulated process needs no page walker.
        self.optional_ports = ("PagetableWalker",) if root._value("full_system") is False else ()

    def whole(self) -> dict[str, Any]:
        """The description; raises `ConfigError`."""
        objects = [self.described(obj) for obj in self.objects]
        if self.errors:
            raise ConfigError(self.errors)
        return {"format": FORMAT, "objects": objects}

    def described(self, obj: SimObject) -> dict[str, Any]:
        """One object as the description has it."""
        path = self.paths[id(obj)]
        cls = modelled_class(obj)
        if cls.__dict__["abstract"]:
            self.errors.append(f"{path} is a {cls.__name__}, which is abstract: use one of its subclasses")
        params = {name: self.param(obj, path, name, desc) for name, desc in cls._params.items()}
        for name in LEFT_OUT_WHILE_UNSET.intersection(params):
            if params[name] is None or params[name] == _UNSET.get(name, False):
                del params[name]
        bases = [base.__name__ for base in cls.__mro__[1:] if isinstance(base, MetaSimObject)]
        return {"path": path, "type": cls.__name__, "bases": bases, "params": params, "ports": self.ports(obj, path)}

    def param(self, obj: SimObject, path: str, name: str, desc: ParamDesc) -> Any:
        try:
            value = self.resolver.value(obj, name)
            if value is MISSING:
                fix = f"give it a value, e.g. {path}.{name} = {desc.example}"
                raise Unresolved(f"has no default: {fix}")
            return _encoded(value, self.paths)
        except (Unresolved, ValueError) as error:
            # `ValueError`: a value that can be written and is beyond what can be simulated.
            self.errors.append(f"{path}.{name} ({desc.type_text}): {error}")
            return None

    def ports(self, obj: SimObject, path: str) -> dict[str, list[str]]:
        ports: dict[str, list[str]] = {}
        for name, ref in sorted(obj._refs.items()):
            peers = []
            for peer in ref.peers:
                owner = self.paths.get(id(peer.owner))
                if owner is None:
                    self.errors.append(f"{path}.{name} is joined with {peer}, which is not below the root")
                else:
                    peers.append(f"{owner}.{peer.port.name}")
            if peers:
                ports[name] = peers
        if type(obj).__name__.endswith(self.optional_ports):
            return ports
        for cls in type(obj).__mro__:
            for name in REQUIRED_PORTS.get(cls.__name__, ()):
                if not ports.get(name) and name in type(obj)._ports:
                    role = type(obj)._ports[name].peer_role
                    self.errors.append(
                        f"{path}.{name} is not connected: join it with a {role} port, e.g. a bus's "
                        f"{'cpu_side_ports' if role == 'response' else 'mem_side_ports'}"
                    )
        return ports


def describe(root: SimObject) -> dict[str, Any]:
    """The description of the machine below `root`; raises `ConfigError` with everything that is wrong."""
    if type(root).__name__ != "Root" and not any(cls.__name__ == "Root" for cls in type(root).__mro__):
        raise ConfigError([f"{root.path()} is not a Root: make Root(full_system=True, system=...) and describe that"])
    return Describer(root).whole()


def canonical(description: dict[str, Any]) -> str:
    """The one text of a description: sorted keys, no spaces."""
    return json.dumps(description, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def machine_hash(description: dict[str, Any]) -> str:
    """SHA-256 over the canonical text."""
    from hashlib import sha256

    return sha256(canonical(description).encode()).hexdigest()


__all__ = ["FORMAT", "Resolver", "Unresolved", "canonical", "describe", "machine_hash", "modelled_class"]
