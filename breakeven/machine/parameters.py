"""The parameters of a machine that its engine reads: which there are, what they take, and that no other one is set."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from breakeven.config.describe import canonical
from breakeven.config.errors import OverrideError
from breakeven.config.modelled import OWN
from breakeven.config.overrides import Target
from breakeven.config.proxy import Proxy
from breakeven.config.simobject import SimObject
from breakeven.errors import near
from breakeven.files.binaries import load_engine

if TYPE_CHECKING:
    from breakeven.machine.sources import Sources


def parameters_read(description: dict[str, Any], text: str = "") -> dict[tuple[str, str], str]:
    """What building the machine looks at: (path of the object, parameter) -> the values it takes, in words (empty: all
    that its type holds). `text`: the canonical description, where it is known."""
    used = load_engine().parameters_used(text or canonical(description))
    return {(path, name): takes for path, _, name, _, takes in used}


#: a value that no number's bounds hold
_BEYOND = 987_654_321
_BOUNDS = re.compile(r"(\S+)\.(\w+): is \d+; must be (\d+) to (\d+)\b")
#: numbers of registers: some must be alike, and a sentence about that hides the others
_ONE_VALUE = re.compile(r"numPhys\w*Regs")


def bounds_checked(description: dict[str, Any]) -> dict[tuple[str, str], tuple[int, int]]:
    """Least and greatest value of the numbers whose bounds a core itself checks, not the description's reader: asked of
    the engine, which tells of all at once when each is beyond them."""
    read, objects = parameters_read(description), []
    for item in description["objects"]:
        params = {
            name: _BEYOND
            if type(value) is int and read.get((item["path"], name)) == "" and not _ONE_VALUE.fullmatch(name)
            else value
            for name, value in item["params"].items()
        }
        objects.append({**item, "params": params})
    said = load_engine().check_description(canonical({**description, "objects": objects}))
    found = [match for match in map(_BOUNDS.match, said) if match]
    return {(match[1], match[2]): (int(match[3]), int(match[4])) for match in found}


def check_overrides(root: SimObject, description: dict[str, Any], targets: Iterable[Target], text: str = "") -> None:
    """Raises `OverrideError` for an override that changes nothing on this machine: no rule reads the parameter."""
    read = parameters_read(description, text)
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


#: unit of a parameter by its class and name, the first that matches; durations of memories are in ticks (ps)
_UNITS = [
    (re.compile(pattern), unit)
    for pattern, unit in (
        (r"SrcClockDomain\.clock", "ps"),
        (r"(SimpleMemory|MemCtrl|(LP)?DDR.*|.*Interface)\.(latency|t[A-Z]\w*|\w*_latency|command_window)", "ps"),
        (r"SimpleMemory\.bandwidth", "B/s"),
        (r".*\.bytes_per_cycle\w*|Cache\.bandwidth", "B/cycle"),
        (r".*\.(\w*(_bytes|cache_line_size|granule|block|alignment)|max_access|fetchBufferSize)", "B"),
        (r"Cache\.size|.*XBar\.width", "B"),
        (r".*TLB\.(l2_)?size|.*\.(\w*Entries|\w*BufferSize|\w*QueueSize|mshrs|write_buffers)", "entries"),
        (r".*\.(\w*([lL]atency|Lat|Delay|Penalty|Cycles|_cycles|_cross_\w+)|startup|flag_stall)", "cycles"),
        (r".*\.(\w*_)?uops", "micro-ops"),
        (r".*\.emulate_cycles_per_byte", "cycles/B"),
        (r".*\.\w*(Width|Limit|Ports)", "a cycle"),
        (r".*\.\w*[aA]ssoc\w*", "ways"),
    )
]


class Parameter(NamedTuple):
    """A parameter that the engine reads: what ``--set`` takes, and what is known of it."""

    path: str
    value: str
    #: "cycles", "B", ...; empty: a plain number, a name, a switch
    unit: str
    #: the values that the engine takes, in words; empty: all that the type holds
    takes: str
    #: letters of `breakeven.machine.sources.MARKS`
    mark: str
    #: the row of uarch.csv that the value cites
    source: str
    #: why this value, as the machine's file says it
    note: str
    #: gem5's class of the object that has it
    of: str


def unit_of(kind: str, name: str) -> str:
    """The unit of parameter `name` of class `kind`, as `Parameter.unit`."""
    full = f"{kind}.{name}"
    return next((unit for pattern, unit in _UNITS if pattern.fullmatch(full)), "")


def parameters(description: dict[str, Any], sources: Sources) -> list[Parameter]:
    """Every parameter that is read and is no reference to an object, in the order of the objects."""
    from breakeven.machine.page import shown_value

    read, shown, found = parameters_read(description), sources.shown_paths(), []
    for item in description["objects"]:
        path = item["path"]
        for name, value in item["params"].items():
            takes = read.get((path, name))
            if takes is None or takes.startswith("only ") or not _plain(value):
                continue
            cited = sources.provenance(path, name)
            mark = sources.mark(path, name, value)
            of_cache = "BaseCache" in item["bases"]
            found.append(Parameter(
                f"{shown[path]}.{name}".removeprefix("system."), shown_value(name, value, of_cache),
                "" if of_cache and name == "size" else unit_of(item["type"], name), takes, mark,
                cited.row if cited else "", cited.note if cited else "", item["type"],
            ))  # fmt: skip
    return found


def _plain(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, (int, float)) for one in value)
    return isinstance(value, (int, float, str))


def matching(found: Iterable[Parameter], pattern: str) -> list[Parameter]:
    """The parameters that have every word of `pattern` somewhere: path, value, unit, range, source or class.

    Letters' case does not matter."""
    words = pattern.lower().split()
    return [each for each in found if all(word in " ".join(each._replace(note="")).lower() for word in words)]
