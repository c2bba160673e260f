"""What a class statement below SimObject does: it declares parameters and ports, gives values, puts prototypes.

A class body is checked line by line as it is written (`ClassBody`); the class then holds what all its instances have.
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

from breakeven.config.errors import UnknownName
from breakeven.config.former import instead
from breakeven.config.params import MISSING, ParamDesc, SimObjectVector, hooks
from breakeven.config.ports import Port, PortRef
from breakeven.config.provenance import Provenance, plain

_KEYWORDS = frozenset(
    ("type", "abstract", "cxx_header", "cxx_class", "cxx_base", "cxx_extra_bases", "cxx_exports", "cxx_param_exports",
     "cxx_template_params", "override_create")
)  # fmt: skip
_PYTHON = (FunctionType, classmethod, staticmethod, property, type)


def is_object_or_list(value: Any) -> bool:
    if isinstance(value, hooks.simobject):
        return True
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, hooks.simobject) for item in value)


def as_child(value: Any) -> Any:
    return value if isinstance(value, (hooks.simobject, SimObjectVector)) else SimObjectVector(value)


def members_of(child: Any) -> list[Any]:
    return [child] if isinstance(child, hooks.simobject) else list(child)


def converted_for(owner: str, desc: ParamDesc, value: Any) -> Any:
    try:
        return desc.convert(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{owner}.{desc.name} ({desc.type_text}): {error}") from None


def no_such_name(owner: Any, name: str) -> UnknownName:
    """`owner`: an object, a class, or the body of one."""
    if isinstance(owner, hooks.simobject):
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


def present_name(cls: type, name: str) -> str | None:
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


class ClassBody(dict):  # type: ignore[type-arg]
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
        self.provenance: dict[str, Provenance | None] = {}
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
                converted_for(self.name, value, value.default)
            self.params[name] = self.known_params[name] = value
        elif isinstance(value, Port):
            value.name = name
            self.ports[name] = self.known_ports[name] = value
        elif name in self.known_params:
            value, self.provenance[name] = plain(value)
            self.assigned[name] = converted_for(self.name, self.known_params[name], value)
        elif name in self.known_ports:
            self.joins.append((name, value))
        elif isinstance(value, _PYTHON):
            return
        elif is_object_or_list(value):
            self.children[name] = as_child(value)
        else:
            known = [*self.known_params, *self.known_ports]
            raise _unknown(self.base, f"{self.name} has no parameter {name!r}", name, known)


class MetaSimObject(type):
    """Collects what a class declares; class attributes are parameters' values for all instances."""

    _params: dict[str, ParamDesc]
    _ports: dict[str, Port]
    #: where the values come from that this class gives its parameters; None: it does not say
    _own_provenance: dict[str, Provenance | None]

    @classmethod
    def __prepare__(mcs, name: str, bases: tuple[type, ...], /, **kwargs: Any) -> ClassBody:  # type: ignore[override]
        return ClassBody(name, bases)

    def __new__(mcs, name: str, bases: tuple[type, ...], body: Any, /, library: bool = False) -> MetaSimObject:
        if not isinstance(body, ClassBody):
            raise TypeError(f"{name}: make SimObject classes with a class statement")
        owned = body.params.keys() | body.ports.keys() | body.assigned.keys() | body.children.keys()
        owned |= {port for port, _ in body.joins}
        cls = super().__new__(mcs, name, bases, {key: value for key, value in body.items() if key not in owned})
        own = {
            "_library": library, "abstract": bool(body.get("abstract", False)), "_own_params": body.params,
            "_own_values": {}, "_own_raw": body.raw, "_own_children": {}, "_own_refs": {}, "_plan_cache": None,
            "_own_provenance": body.provenance,
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
        if isinstance(value, (hooks.simobject, SimObjectVector)):
            names = [name] if isinstance(value, hooks.simobject) else value.names(name)
            for member, member_name in zip(members_of(value), names, strict=True):
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
            base._put_value(name, converted_for(base.__name__, base._params[name], value))
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
                    if isinstance(value, (hooks.simobject, SimObjectVector)):
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
        raise no_such_name(cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name.startswith("_") or name in _KEYWORDS or isinstance(value, _PYTHON):
            super().__setattr__(name, value)
        elif name in cls._ports:
            cls._class_ref(name).connect(value)
        elif name in cls._params:
            value, cls._own_provenance[name] = plain(value)
            cls._put_value(name, converted_for(cls.__name__, cls._params[name], value))
            cls._forget_plan()
        elif is_object_or_list(value):
            cls._own_children[name] = as_child(value)
            cls._adopt_prototype(name, cls._own_children[name])
            cls._forget_plan()
        else:
            raise no_such_name(cls, name)


class Delayed:
    """A library value still in the form of its data file; calling it makes the value."""

    __slots__ = ("_make", "_raw")

    def __init__(self, make: Any, raw: Any) -> None:
        self._make = make
        self._raw = raw

    def __call__(self) -> Any:
        return self._make(self._raw)
