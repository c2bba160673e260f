"""SimObject: a part of a machine, with typed parameters, children and ports.

Assigning an object adopts it as a child; assigning a port joins it; anything else must fit a declared parameter, or the
line that wrote it raises `AttributeError` (no such parameter) or `TypeError` (not a value of it), in a class body too.
Objects written in a class body are prototypes: every instance gets its own copies, joined as the prototypes were.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from breakeven.config.metaclass import (
    Delayed,
    MetaSimObject,
    as_child,
    converted_for,
    is_object_or_list,
    members_of,
    no_such_name,
    present_name,
)
from breakeven.config.params import MISSING, SimObjectVector, hooks
from breakeven.config.ports import PortRef
from breakeven.config.provenance import Provenance, plain
from breakeven.config.values import as_read


class SimObject(metaclass=MetaSimObject, library=True):
    """The base of everything in a configuration."""

    abstract = True

    def __init__(self, **values: Any) -> None:
        self._blank()
        memo: dict[int, SimObject] = {id(cls): self for cls in type(self).__mro__ if "_own_refs" in cls.__dict__}
        originals: list[Any] = [cls for cls in type(self).__mro__ if cls.__dict__.get("_own_refs")]
        for name, prototype, is_param in type(self)._plan():
            copy = _copied(prototype, memo, originals)
            if is_param:
                self._values[name] = copy
            if any(member._parent is None for member in members_of(copy)):
                self._adopt(name, copy)
        _copy_joins(originals, memo)
        for name, value in values.items():
            setattr(self, name, value)

    def _blank(self) -> None:
        put = object.__setattr__
        put(self, "_parent", None)
        put(self, "_name", "")
        put(self, "_children", {})
        put(self, "_values", {})
        put(self, "_refs", {})
        put(self, "_provenance", {})
        #: of an object that a gem5 default made: what gem5 set
        put(self, "_given", None)

    def __call__(self, **values: Any) -> SimObject:
        """A copy of this object and everything below it; it has no parent."""
        originals: list[Any] = []
        memo: dict[int, SimObject] = {}
        copy = _cloned(self, memo, originals)
        _copy_joins(originals, memo)
        for name, value in values.items():
            setattr(copy, name, value)
        return copy

    # --- the tree ---

    def _adopt(self, name: str, child: SimObject | SimObjectVector) -> None:
        names = [name] if isinstance(child, SimObject) else child.names(name)
        for member, member_name in zip(members_of(child), names, strict=True):
            if member._parent is None:
                if self._descends_from(member):
                    raise TypeError(f"{member.path()} cannot be a child of its own descendant {self.path()}")
                member._parent, member._name = self, member_name
        self._children[name] = child

    def _descends_from(self, other: SimObject) -> bool:
        node: Any = self
        while isinstance(node, SimObject):
            if node is other:
                return True
            node = node._parent
        return False

    def _release(self, name: str) -> None:
        child = self._children.pop(name, None)
        if child is not None:
            for member in members_of(child):
                if member._parent is self:
                    member._parent, member._name = None, ""

    def add_child(self, name: str, child: Any) -> None:
        """Adopt `child` (an object or a list of objects) as `name`; one that has a parent keeps it."""
        child = as_child(child)
        if all(member._parent is not None for member in members_of(child)):
            known = members_of(child)[0].path()
            print(f"warn: {self.path()}.{name} already is {known}; not adopted again", file=sys.stderr)
            return
        if self._children.get(name) is not child:
            self._release(name)
        self._adopt(name, child)

    def path(self) -> str:
        """The dotted path; children of the root carry no ``root.``."""
        parent = self._parent
        if parent is None:
            return "root" if type(self).__name__ == "Root" else f"<{type(self).__name__}>"
        if isinstance(parent, type):
            return f"{parent.__name__}.{self._name}"
        above = parent.path()
        return self._name if above == "root" else f"{above}.{self._name}"

    def get_parent(self) -> Any:
        return self._parent

    def get_name(self) -> str:
        return self._name

    def has_parent(self) -> bool:
        return self._parent is not None

    def descendants(self) -> Iterator[SimObject]:
        """This object and everything below it, children in the order of their names."""
        yield self
        for name in sorted(self._children):
            for member in members_of(self._children[name]):
                if member._parent is self:
                    yield from member.descendants()

    # --- attributes ---

    def _ref(self, name: str) -> PortRef:
        ref = self._refs.get(name)
        if ref is None:
            ref = self._refs[name] = PortRef(self, type(self)._ports[name])
        return ref

    def _value(self, name: str) -> Any:
        """A parameter's value as written (a proxy stays a proxy); `MISSING` when it was never set."""
        return self._values[name] if name in self._values else type(self)._class_value(name)

    def provenance(self, name: str) -> Provenance | None:
        """Where the parameter's value comes from; None where what set it does not say, and where it is gem5's."""
        if name in self._provenance:
            return self._provenance[name]
        for cls in type(self).__mro__:
            if name in cls.__dict__.get("_own_provenance", {}):
                return cls._own_provenance[name]
            if name in cls.__dict__.get("_own_values", {}) or name in cls.__dict__.get("_own_params", {}):
                return None
        return None

    def set_names(self) -> list[str]:
        """The parameters that this object, or a class that is not the library's, gives a value."""
        names = dict.fromkeys(self._values)
        for cls in type(self).__mro__:
            if isinstance(cls, MetaSimObject) and not cls._library:
                names.update(dict.fromkeys(cls._own_values))
        return list(names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        cls = type(self)
        if name in cls._ports:
            return self._ref(name)
        if name in cls._params:
            value = self._value(name)
            if value is not MISSING:
                return as_read(value)
            raise AttributeError(f"{self.path()}.{name} ({cls._params[name].type_text}) has not been set")
        if name in self._children:
            return self._children[name]
        new = present_name(cls, name)
        if new is not None:
            return self._ref(new)
        raise no_such_name(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        elif name in cls._ports:
            self._ref(name).connect(value)
        elif name in cls._params:
            value, self._provenance[name] = plain(value)
            converted = converted_for(cls.__name__, cls._params[name], value)
            if self._children.get(name) is not converted:
                self._release(name)
            self._values[name] = converted
            if isinstance(converted, (SimObject, SimObjectVector)) and any(
                member._parent is None for member in members_of(converted)
            ):
                self._adopt(name, converted)
        elif is_object_or_list(value):
            self.add_child(name, value)
        elif any(isinstance(base.__dict__.get(name), property) for base in cls.__mro__):
            object.__setattr__(self, name, value)
        else:
            new = present_name(cls, name)
            if new is None:
                raise no_such_name(self, name)
            self._ref(new).connect(value)

    # --- reaching into the tree by text ---

    def get_simobj(self, path: str) -> NoReturn:
        """gem5 finds objects here whose statistics alone shall be dumped, which is not supported."""
        raise NotImplementedError(f"no statistics of {path} alone: call m5.stats.dump() without arguments")

    # An object can stand where a vector of one is expected: cpu[0], for c in cpu, len(cpu).
    def __getitem__(self, index: int) -> SimObject:
        if index == 0:
            return self
        raise IndexError(f"{self.path()} is one {type(self).__name__}, not a vector")

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[SimObject]:
        yield self

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return self.path()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path()}>"


hooks.simobject = SimObject


def _copied(value: Any, memo: dict[int, SimObject], originals: list[Any]) -> Any:
    if isinstance(value, SimObject):
        return _cloned(value, memo, originals)
    return SimObjectVector(_cloned(member, memo, originals) for member in value)


def _cloned(original: SimObject, memo: dict[int, SimObject], originals: list[Any]) -> SimObject:
    """A copy of `original` and its subtree; one copy each, so that references inside stay inside."""
    known = memo.get(id(original))
    if known is not None:
        return known
    copy = object.__new__(type(original))
    copy._blank()
    copy._given = original._given
    copy._provenance.update(original._provenance)
    memo[id(original)] = copy
    originals.append(original)
    for name, child in original._children.items():
        copied = _copied(child, memo, originals)
        copy._adopt(name, copied)
    for name, value in original._values.items():
        if isinstance(value, (SimObject, SimObjectVector)):
            # What hangs elsewhere in the tree is referred to, not copied.
            inside = [member for member in members_of(value) if id(member) in memo]
            if len(inside) == len(members_of(value)):
                value = _copied(value, memo, originals)
        copy._values[name] = list(value) if type(value) is list else value
    return copy


def _copy_joins(originals: list[Any], memo: dict[int, SimObject]) -> None:
    """Join the copies as their originals are joined (each side copies its own list, which keeps the order)."""
    for original in originals:
        refs = original._own_refs if isinstance(original, type) else original._refs
        copy = memo[id(original)]
        for name, ref in refs.items():
            for peer in ref.peers:
                other = memo.get(id(peer.owner))
                if other is not None:
                    copy._ref(name).peers.append(other._ref(peer.port.name))


__all__ = ["Delayed", "MetaSimObject", "SimObject"]


def modelled_class(obj: SimObject) -> MetaSimObject:
    """The nearest gem5 class of `obj`: what the engine knows it as."""
    return next(cls for cls in type(obj).__mro__ if isinstance(cls, MetaSimObject) and cls._library)
