"""What a page shows, as the address's fragment has it: machine, settings, routines, conditions, sizes.

The fragment is the query string of these fields: ``m=u74&r=rv-byte,rv-word&set=cpu.misaligned.policy=hardware``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import parse_qsl, urlencode

from breakeven.errors import UserError
from breakeven.points import CACHE_STATES, MAX_OFFSET, MAX_SIZE, MEASURES, check_routine_name, check_state, index_of

#: measures that the page offers: those of one call, without a second size or a whole stream
SHOWN_MEASURES = MEASURES[:2]
#: cache states that the page offers: those that need no ring of buffers
SHOWN_STATES = CACHE_STATES[: CACHE_STATES.index("receive")]
#: sizes of a curve, those drawn first, and what the search for a break-even adds at most
SIZES, COARSE, PROBES = 48, 8, 24
_MOST_ROUTINES = 8


@dataclass(frozen=True)
class State:
    """One view's question."""

    machine: str = "u74"
    routines: tuple[str, ...] = ("rv-byte", "rv-word")
    #: ``path=value``, in the order in which they were set
    settings: tuple[str, ...] = ()
    src: int = 0
    dst: int = 0
    cache: str = "warm"
    measure: str = "latency"
    least: int = 1
    most: int = 2048

    def validate(self) -> None:
        """Raises `UserError` for what no page asks."""
        if not 1 <= len(self.routines) <= _MOST_ROUTINES:
            raise UserError(f"{len(self.routines)} routines: name 1 to {_MOST_ROUTINES}")
        for routine in self.routines:
            check_routine_name(routine)
        for name, offset in (("source", self.src), ("destination", self.dst)):
            if not 0 <= offset <= MAX_OFFSET:
                raise UserError(f"{name} offset {offset} is out of range: 0 to {MAX_OFFSET}")
        if not 0 <= self.least < self.most <= MAX_SIZE:
            raise UserError(f"sizes {self.least} to {self.most}: from 0 on, upwards, to {MAX_SIZE} at most")
        state = index_of(SHOWN_STATES, self.cache, "cache state")
        check_state(index_of(SHOWN_MEASURES, self.measure, "measure"), state)

    def sizes(self) -> list[int]:
        """Every size, in the steps of a log axis."""
        start = max(self.least, 1)
        grown = (start * (self.most / start) ** (i / (SIZES - 1)) for i in range(SIZES))
        return sorted({self.least, *(round(size) for size in grown)})

    def coarse(self) -> list[int]:
        """Some of them over the whole range: what is drawn first."""
        sizes = self.sizes()
        count = min(COARSE, len(sizes))
        return [sizes[round(i * (len(sizes) - 1) / (count - 1))] for i in range(count)]

    def places(self, sizes: list[int]) -> list[tuple[int, int, int]]:
        """What the worker takes for these sizes."""
        return [(size, self.src, self.dst) for size in sizes]


_SHORT = {"machine": "m", "routines": "r", "settings": "set"}


def to_fragment(state: State) -> str:
    """What stands behind the ``#`` of an address; fields that are as by default are left out."""
    pairs: list[tuple[str, str]] = []
    for field in fields(State):
        value, name = getattr(state, field.name), _SHORT.get(field.name, field.name)
        if field.name == "settings":
            pairs += [(name, text) for text in value]
        elif field.name == "routines":
            pairs.append((name, ",".join(value)))
        elif value != field.default or field.name == "machine":
            pairs.append((name, str(value)))
    return urlencode(pairs, safe=",=:/")


def from_link(text: str) -> State:
    """The state of a link: a whole address, or what stands behind its ``#``. Raises `UserError`."""
    pairs = parse_qsl(text.partition("#")[2] if "#" in text else text, keep_blank_values=True)
    if not any(name in ("m", "r") for name, _ in pairs):
        raise UserError(f"{text!r} is no link of an explorer: it has no m= or r= behind a '#'")
    row: dict[str, Any] = dict(pairs)
    settings = [value for name, value in pairs if name == "set"]
    named = {field.name: row[_SHORT.get(field.name, field.name)] for field in fields(State)
             if _SHORT.get(field.name, field.name) in row}  # fmt: skip
    return from_row({**named, "settings": settings})


def from_row(row: Mapping[str, Any]) -> State:
    """A state from JSON or from texts. Raises `UserError`."""
    values: dict[str, Any] = {}
    try:
        for name, value in row.items():
            if name in ("src", "dst", "least", "most"):
                values[name] = int(value)
            elif name in ("routines", "settings"):
                texts = value.split(",") if isinstance(value, str) else map(str, value)
                values[name] = tuple(dict.fromkeys(texts) if name == "routines" else texts)
            elif name in State.__dataclass_fields__:
                values[name] = str(value)
    except (TypeError, ValueError):
        raise UserError(f"{name} {value!r} is no number") from None
    state = State(**values)
    state.validate()
    return state


def as_row(state: State) -> dict[str, Any]:
    """A state for JSON."""
    return asdict(state)
