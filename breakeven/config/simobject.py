"""SimObject: a part of a machine, with typed parameters, children and ports.

Assigning an object adopts it as a child; assigning a port joins it; anything else must fit a declared parameter, or the
line that wrote it raises `AttributeError` (no such parameter) or `TypeError` (not a value of it), in a class body too.
Objects written in a class body are prototypes: every instance gets its own copies, joined as the prototypes were.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any, NoReturn

from breakeven.config.errors import UnknownName
from breakeven.config.former import instead
from breakeven.config.params import MISSING, ParamDesc, SimObjectVector, hooks
from breakeven.config.ports import Port, PortRef
from breakeven.config.values import as_read

_KEYWORDS = frozenset(
    ("type", "abstract", "cxx_header", "cxx_class", "cxx_base", "cxx_extra_bases", "cxx_exports", "cxx_param_exports",
     "cxx_template_params", "override_create")
)  # fmt: skip
_PYTHON = (FunctionType, classmethod, staticmethod, property, type)


def _is_object_or_list(value: Any) -> bool:
    if isinstance(value, SimObject):
        return True
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, SimObject) for item in value)


def _as_child(value: Any) -> SimObject | SimObjectVector:
    return value if isinstance(value, (SimObject, SimObjectVector)) else SimObjectVector(value)


def _members(child: Any) -> list[SimObject]:
    return [child] if isinstance(child, SimObject) else list(child)


def _converted(owner: str, desc: ParamDesc, value: Any) -> Any:
    try:
        return desc.convert(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{owner}.{desc.name} ({desc.type_text}): {error}") from None


def _no_such(owner: Any, name: str) -> UnknownName:
    """`owner`: an object, a class, or the body of one."""
    if isinstance(owner, SimObject):
        cls, text = type(owner), f"{type(owner).__name__} has no parameter or child {name!r}"
        if name in owner._children:
            return UnknownName(f"{owner.path()}.{name} is an object: put another object there", name, [])
        return _unknown(cls, text, name, [*cls._params, *cls._ports, *owner._children])
    return _unknown(owner, f"{owner.__name__} has no parameter {name!r}", name, [*owner._params, *owner._ports])


def _unknown(cls: type, text: str, name: str, known: list[str]) -> UnknownName:
    now = instead(cls, name)
    return UnknownName(text, name, known) if now is None else UnknownName(f"{text}: {now}", name, [])


#: class -> former name of a port (gem5 still takes it) -> its name; filled by the library
FORMER_NAMES: dict[str, dict[str, str]] = {}


def _present_name(cls: type, name: str) -> str | None:
    """What gem5 calls now what it once called `name`, said once; None for a name that it never had."""
    for base in cls.__mro__:
        new = FORMER_NAMES.get(base.__name__, {}).get(name)
        if new is not None:
            if (base.__name__, name) not in _said:
                _said.add((base.__name__, name))
                print(f"warn: `{name}` is now called `{new}`", file=sys.stderr)
            return new
    return None


_said: set[tuple[str, str]] = set()


class _Body(dict):  # type: ignore[type-arg]
    """The namespace of a class body: checks what is written and sorts it, line by line."""

    def __init__(self, name: str, bases: tuple[type, ...]) -> None:
        super().__init__()
        self.name = name
        self.base = bases[0] if bases else object
        self.params: dict[str, ParamDesc] = {}
        self.ports: dict[str, Port] = {}
        self.assigned: dict[str, Any] = {}
        self.raw: dict[str, Any] = {}
        self.children: dict[str, Any] = {}
        self.joins: list[tuple[str, Any]] = []
        self.known_params: dict[str, ParamDesc] = {}
        self.known_ports: dict[str, Port] = {}
        for base in reversed(bases):
            self.known_params.update(getattr(base, "_params", {}))
            self.known_ports.update(getattr(base, "_ports", {}))

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if name.startswith("_") or name in _KEYWORDS:
            return
        if isinstance(value, ParamDesc):
            value.name = name
            if value.default is not MISSING and not isinstance(value.default, Delayed):
                _converted(self.name, value, value.default)
            self.params[name] = self.known_params[name] = value
        elif isinstance(value, Port):
            value.name = name
            self.ports[name] = self.known_ports[name] = value
        elif name in self.known_params:
            self.assigned[name] = _converted(self.name, self.known_params[name], value)
        elif name in self.known_ports:
            self.joins.append((name, value))
        elif isinstance(value, _PYTHON):
            return
        elif _is_object_or_list(value):
            self.children[name] = _as_child(value)
        else:
            known = [*self.known_params, *self.known_ports]
            raise _unknown(self.base, f"{self.name} has no parameter {name!r}", name, known)


class MetaSimObject(type):
    """Collects what a class declares; class attributes are parameters' values for all instances."""

    _params: dict[str, ParamDesc]
    _ports: dict[str, Port]

    @classmethod
    def __prepare__(mcs, name: str, bases: tuple[type, ...], /, **kwargs: Any) -> _Body:  # type: ignore[override]
        return _Body(name, bases)

    def __new__(mcs, name: str, bases: tuple[type, ...], body: Any, /, library: bool = False) -> MetaSimObject:
        if not isinstance(body, _Body):
            raise TypeError(f"{name}: make SimObject classes with a class statement")
        owned = body.params.keys() | body.ports.keys() | body.assigned.keys() | body.children.keys()
        owned |= {port for port, _ in body.joins}
        cls = super().__new__(mcs, name, bases, {key: value for key, value in body.items() if key not in owned})
        own = {
            "_library": library, "abstract": bool(body.get("abstract", False)), "_own_params": body.params,
            "_own_values": {}, "_own_raw": body.raw, "_own_children": {}, "_own_refs": {}, "_plan_cache": None,
        }  # fmt: skip
        for key, value in own.items():
            type.__setattr__(cls, key, value)
        params: dict[str, ParamDesc] = {}
        ports: dict[str, Port] = {}
        for base in reversed(cls.__mro__[1:]):
            params.update(base.__dict__.get("_own_params", {}))
            ports.update(base.__dict__.get("_own_ports", {}))
        type.__setattr__(cls, "_own_ports", body.ports)
        type.__setattr__(cls, "_params", params | body.params)
        type.__setattr__(cls, "_ports", ports | body.ports)
        for key, value in body.children.items():
            cls._adopt_prototype(key, value)
            cls._own_children[key] = value
        for key, value in body.assigned.items():
            cls._put_value(key, value)
        for key, value in body.joins:
            cls._class_ref(key).connect(value)
        return cls

    def __init__(cls, name: str, bases: tuple[type, ...], body: Any, /, **kwargs: Any) -> None:
        super().__init__(name, bases, body)

    # --- values of the class ---

    def _adopt_prototype(cls, name: str, value: Any) -> None:
        if isinstance(value, (SimObject, SimObjectVector)):
            names = [name] if isinstance(value, SimObject) else value.names(name)
            for member, member_name in zip(_members(value), names, strict=True):
                if member._parent is None:
                    member._parent, member._name = cls, member_name

    def _put_value(cls, name: str, value: Any) -> None:
        cls._own_values[name] = value
        cls._adopt_prototype(name, value)

    def _class_ref(cls, name: str) -> PortRef:
        ref = cls._own_refs.get(name)
        if ref is None:
            ref = cls._own_refs[name] = PortRef(cls, cls._ports[name])
        return ref

    def _class_value(cls, name: str) -> Any:
        """The value that instances start with; `MISSING` when it must be set."""
        for base in cls.__mro__:
            own = base.__dict__.get("_own_values")
            if own is None:
                continue
            if name in own:
                return own[name]
            if name in base._own_raw:
                raw = base._own_raw[name]
            else:
                desc = base._own_params.get(name)
                if desc is None:
                    continue
                raw = desc.default
                if raw is MISSING:
                    return MISSING
            # Library values are converted when first needed: most of gem5's classes never are.
            value = raw() if isinstance(raw, Delayed) else raw
            base._put_value(name, _converted(base.__name__, base._params[name], value))
            return own[name]
        return MISSING

    def _plan(cls) -> list[tuple[str, Any, bool]]:
        """What an instance copies: (name, prototype, whether it is a parameter's value)."""
        plan = cls._plan_cache
        if plan is None:
            children: dict[str, Any] = {}
            for base in reversed(cls.__mro__):
                children.update(base.__dict__.get("_own_children", {}))
            plan = [(name, child, False) for name, child in children.items() if name not in cls._params]
            for name, desc in cls._params.items():
                if desc.takes_objects:
                    value = cls._class_value(name)
                    if isinstance(value, (SimObject, SimObjectVector)):
                        plan.append((name, value, True))
            type.__setattr__(cls, "_plan_cache", plan)
        return plan

    def _forget_plan(cls) -> None:
        type.__setattr__(cls, "_plan_cache", None)
        for derived in type.__subclasses__(cls):
            derived._forget_plan()

    # --- the class as the user sees it ---

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in cls._params:
            value = cls._class_value(name)
            if value is not MISSING:
                return value
            raise AttributeError(f"{cls.__name__}.{name} has no default; every object sets its own")
        for base in cls.__mro__:
            if name in base.__dict__.get("_own_children", {}):
                return base._own_children[name]
        if name in cls._ports:
            return cls._class_ref(name)
        raise _no_such(cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name.startswith("_") or name in _KEYWORDS or isinstance(value, _PYTHON):
            super().__setattr__(name, value)
        elif name in cls._ports:
            cls._class_ref(name).connect(value)
        elif name in cls._params:
            cls._put_value(name, _converted(cls.__name__, cls._params[name], value))
            cls._forget_plan()
        elif _is_object_or_list(value):
            cls._own_children[name] = _as_child(value)
            cls._adopt_prototype(name, cls._own_children[name])
            cls._forget_plan()
        else:
            raise _no_such(cls, name)


class Delayed:
    """A library value still in the form of its data file; calling it makes the value."""

    __slots__ = ("_make", "_raw")

    def __init__(self, make: Any, raw: Any) -> None:
        self._make = make
        self._raw = raw

    def __call__(self) -> Any:
        return self._make(self._raw)


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
            if any(member._parent is None for member in _members(copy)):
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
        for member, member_name in zip(_members(child), names, strict=True):
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
            for member in _members(child):
                if member._parent is self:
                    member._parent, member._name = None, ""

    def add_child(self, name: str, child: Any) -> None:
        """Adopt `child` (an object or a list of objects) as `name`; one that has a parent keeps it."""
        child = _as_child(child)
        if all(member._parent is not None for member in _members(child)):
            known = _members(child)[0].path()
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
            for member in _members(self._children[name]):
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
        new = _present_name(cls, name)
        if new is not None:
            return self._ref(new)
        raise _no_such(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        elif name in cls._ports:
            self._ref(name).connect(value)
        elif name in cls._params:
            converted = _converted(cls.__name__, cls._params[name], value)
            if self._children.get(name) is not converted:
                self._release(name)
            self._values[name] = converted
            if isinstance(converted, (SimObject, SimObjectVector)) and any(
                member._parent is None for member in _members(converted)
            ):
                self._adopt(name, converted)
        elif _is_object_or_list(value):
            self.add_child(name, value)
        elif any(isinstance(base.__dict__.get(name), property) for base in cls.__mro__):
            object.__setattr__(self, name, value)
        else:
            new = _present_name(cls, name)
            if new is None:
                raise _no_such(self, name)
            self._ref(new).connect(value)

    # --- reaching into the tree by text ---

    def get_simobj(self, path: str) -> NoReturn:
        """gem5 finds objects here whose statistics alone shall be dumped, which is not supported."""
        raise NotImplementedError(f"the statistics of {path} alone cannot be had: dump all of them")

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
    memo[id(original)] = copy
    originals.append(original)
    for name, child in original._children.items():
        copied = _copied(child, memo, originals)
        copy._adopt(name, copied)
    for name, value in original._values.items():
        if isinstance(value, (SimObject, SimObjectVector)):
            # What hangs elsewhere in the tree is referred to, not copied.
            inside = [member for member in _members(value) if id(member) in memo]
            if len(inside) == len(_members(value)):
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
