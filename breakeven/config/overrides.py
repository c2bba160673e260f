"""One parameter changed by its dotted path: ``cpu.dcache.size=64KiB`` (what ``--set`` and sweeps use).

A path starts at the system (``system.`` in front is optional; ``root.`` reaches the root itself) and goes through
children; a vector's element is ``funcUnits[0]`` or, as in the description, ``funcUnits0``, or has a name
(`element_names`): ``rep_movs.backwards``, ``opList.MemRead``. A value is text in the parameter's own notation, a size
also as ``--sizes`` takes it (``64K``); vectors are separated by commas; an object is a class name
(``cpu.branchPred=LocalBP``), ``NULL`` for none.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from breakeven.config.element_names import names_of, unique_names
from breakeven.config.errors import OverrideError
from breakeven.config.params import MISSING, ParamDesc, hooks
from breakeven.config.proxy import Proxy
from breakeven.config.simobject import SimObject, modelled_class
from breakeven.config.units import typed_size
from breakeven.config.values import NULL
from breakeven.errors import near

_STEP = re.compile(r"^([A-Za-z_]\w*)((?:\[\d+\])*)$")


class Target(NamedTuple):
    """The parameter that a ``path=value`` has set."""

    owner: SimObject
    name: str
    text: str


def apply_override(root: SimObject, text: str) -> Target:
    """Apply ``path=value`` to the machine below `root` (a Root or its System); what it has set."""
    path, equals, value = text.partition("=")
    path, value = path.strip(), value.strip()
    if not equals or not path:
        raise OverrideError(f"{text!r} is not of the form path=value, e.g. cpu.dcache.size=64KiB")
    return Target(*set_parameter(root, path, value), text)


def set_parameter(root: SimObject, path: str, value: Any) -> tuple[SimObject, str]:
    """Set the parameter at `path` to `value` (text in the parameter's notation, or a Python value); object and name."""
    owner, name, index = _find_owner(root, path)
    cls = type(owner)
    if name in cls._ports:
        raise OverrideError(f"{path}: {name} is a port; ports are joined in the machine's file, not overridden")
    desc = cls._params.get(name)
    if desc is None:
        if name in owner._children:
            child = owner._children[name]
            raise OverrideError(f"{path} is a {type(child).__name__}; set one of its parameters: {_some(child)}")
        hint = near(name, [*cls._params, *owner._children], all_of=f"{owner.path()} has")
        raise OverrideError(f"{path}: {owner.path()} ({cls.__name__}) has no parameter {name!r}{hint}")
    converted = _from_text(path, desc, value) if isinstance(value, str) else value
    if index is not None:
        current = owner._value(name)
        if not isinstance(current, list) or index >= len(current):
            raise OverrideError(f"{path}: there is no element {index}; {owner.path()}.{name} is {current!r}")
        one = converted[0] if isinstance(converted, list) else converted
        converted = [*current[:index], one, *current[index + 1 :]]
    try:
        setattr(owner, name, converted)
    except TypeError as error:
        raise OverrideError(f"{path}: {error}") from None
    return owner, name


def shown_paths(root: SimObject) -> dict[str, str]:
    """Every object's own path -> the path to show and to set it by: without ``system.``, elements by name where no
    other has it."""
    shown = {root.path(): "root"}

    def walk(node: SimObject, prefix: str) -> None:
        for name, child in node._children.items():
            several = isinstance(child, list) and len(child) > 1
            names = unique_names([_names(each) for each in child]) if several else [""]
            for index, each in enumerate(child if isinstance(child, list) else [child]):
                own = f"{name}.{names[index]}" if names[index] else f"{name}[{index}]" if several else name
                # The system's own path stands for itself: nothing is set by it.
                path = "" if node is root and name == "system" else f"{prefix}{own}."
                shown[each.path()] = path[:-1] or "system"
                walk(each, path)

    walk(root, "")
    return shown


def located(root: SimObject, path: str) -> tuple[str, str]:
    """The object's own path and the parameter's name that `path` means."""
    owner, name, _ = _find_owner(root, path)
    return owner.path(), name


def located_parameter(root: SimObject, path: str) -> tuple[SimObject, str]:
    """The object and the parameter's name that `path` means."""
    owner, name, _ = _find_owner(root, path)
    return owner, name


def located_element(root: SimObject, path: str) -> tuple[SimObject, str, int | None]:
    """As `located_parameter`, with the element that `path` means of a vector."""
    return _find_owner(root, path)


def kind_of(root: SimObject, path: str) -> tuple[str, str]:
    """The class of the object and the parameter's name that `path` means."""
    owner, name, _ = _find_owner(root, path)
    return type(owner).__name__, name


def get_parameter(root: SimObject, path: str) -> Any:
    """The value at `path` as written (a proxy stays a proxy)."""
    owner, name, index = _find_owner(root, path)
    value = owner._value(name) if name in type(owner)._params else MISSING
    if value is MISSING:
        raise OverrideError(f"{path} has no value{near(name, type(owner)._params)}")
    return value if index is None else value[index]


def _some(child: Any) -> str:
    params = list(type(child)._params) if isinstance(child, SimObject) else []
    return ", ".join(sorted(params)[:8]) + (", ..." if len(params) > 8 else "")


def _find_owner(root: SimObject, path: str) -> tuple[SimObject, str, int | None]:
    """The object that has the last step of `path`, that step's name and its index (of a vector parameter)."""
    node, steps = _start(root, path)
    parsed = []
    for step in steps:
        match = _STEP.match(step)
        if match is None:
            raise OverrideError(f"{path}: {step!r} is not a name")
        parsed.append((match[1], [int(number) for number in re.findall(r"\d+", match[2])]))
    position = 0
    while position < len(parsed) - 1:
        name, indices = parsed[position]
        so_far, after = ".".join(steps[: position + 1]), parsed[position + 1]
        # `rep_movs.backwards`: two steps to one object, unless the vector is followed by its only element's parameter.
        element = None if indices or position + 2 == len(parsed) else _called(node, name, after[0])
        if element is not None and not after[1]:
            node, position = element, position + 2
        else:
            node, position = _child(node, name, indices, path, so_far), position + 1
    name, indices = parsed[-1]
    if len(indices) > 1:
        raise OverrideError(f"{path}: a parameter has one index at most")
    return node, name, indices[0] if indices else None


def _start(root: SimObject, path: str) -> tuple[SimObject, list[str]]:
    steps = path.split(".")
    is_root = "system" in root._children and any(cls.__name__ == "Root" for cls in type(root).__mro__)
    if steps[0] == "root" and len(steps) > 1:
        if is_root and steps[1] not in root._children:
            return root, steps[1:]
        steps = steps[1:]
    system = root._children["system"] if is_root else root
    if steps[0] == "system" and len(steps) > 1:
        steps = steps[1:]
    elif is_root and steps[0] in root._children and steps[0] != "system":
        return root, steps
    return system, steps


def _child(node: SimObject, name: str, indices: list[int], path: str, so_far: str) -> SimObject:
    found: Any = node._children.get(name)
    if found is None and name in type(node)._params:
        value = node._value(name)
        found = value if isinstance(value, (SimObject, list)) and not isinstance(value, Proxy) else None
        if found is None:
            raise OverrideError(f"{path}: {so_far} is a value ({value!r}), not an object with parameters")
    if found is None:
        found = _named_element(node, name)
    if found is None:
        hint = near(name, node._children, all_of=f"below {node.path()} there are")
        raise OverrideError(f"{path}: {node.path()} has no child {name!r}{hint}")
    for index in indices:
        if index >= len(found):
            many = "1 element" if len(found) == 1 else f"{len(found)} elements"
            raise OverrideError(f"{path}: {so_far} has {many}; there is no [{index}]")
        found = found[index]
    if isinstance(found, list):
        if len(found) == 1:
            return found[0]
        names = [shown for shown in unique_names([_names(member) for member in found]) if shown]
        which = f"{name}[0]" + (f", or by name: {', '.join(names)}" if names else "")
        raise OverrideError(f"{path}: {so_far} is a vector of {len(found)}; say which one: {which}")
    return found


def _called(node: SimObject, name: str, element: str) -> SimObject | None:
    """The one element of the vector `name` of `node` that is called `element` (`element_names`)."""
    vector = node._children.get(name)
    if vector is None and name in type(node)._params:
        vector = node._value(name)
    if isinstance(vector, SimObject):
        vector = [vector]
    if not isinstance(vector, list):
        return None
    found = [member for member in vector if isinstance(member, SimObject) and element in _names(member)]
    return found[0] if len(found) == 1 and (len(vector) > 1 or element not in type(vector[0])._params) else None


def _names(element: SimObject) -> list[str]:
    return names_of(modelled_class(element).__name__, type(element).__name__, element._value)


def _named_element(node: SimObject, name: str) -> SimObject | None:
    """The element of a vector that the description calls `name` (``funcUnits3``)."""
    for child in node._children.values():
        if isinstance(child, list):
            for member in child:
                if member._name == name:
                    return member
    return None


def _from_text(path: str, desc: ParamDesc, text: str) -> Any:
    items = [_scalar_text(path, desc, item.strip()) for item in text.strip("[]").split(",")] if desc.vector else None
    if items is None:
        return _scalar_text(path, desc, text)
    return [] if items == [""] else items


def _scalar_text(path: str, desc: ParamDesc, text: str) -> Any:
    if desc.type_name.startswith("MemorySize") or desc.name.endswith("_bytes"):
        # Sizes as the command line writes them elsewhere; what is no size is told by the parameter's own type.
        try:
            return typed_size(text)
        except ValueError:
            return text
    if not desc.takes_objects:
        return text
    name = text.removesuffix("()")
    if name.upper() in ("NULL", "NONE"):
        return NULL
    made = hooks.find_class(name)
    if made is None:
        candidates = [known for known in hooks.class_names() if _fits(known, desc)]
        raise OverrideError(f"{path}: there is no class {name!r}{near(name, candidates, all_of='it takes')}")
    return made()


def _fits(name: str, desc: ParamDesc) -> bool:
    cls, wanted = hooks.find_class(name), desc.ptype
    return cls is not None and wanted is not None and issubclass(cls, wanted) and not cls.__dict__["abstract"]
