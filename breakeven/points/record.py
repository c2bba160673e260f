"""Points as the guests read them (docs/guests.md); what they write is `result`.

The layout stands once, as a field table; both `struct` (one point: no import of numpy on the path of ``breakeven run``)
and a numpy structured dtype (whole sweeps) are derived from it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from breakeven.errors import PointError, UserError
from breakeven.points.measurements import repetitions_of

if TYPE_CHECKING:
    import numpy as np


MAGIC = b"BEPOINTS"
VERSION = 2
ROUTINE_BYTES = 40
MAX_SIZE = 1 << 24
MAX_OFFSET = 4095
MAX_COUNT = 1_000_000
#: `fault_at` of a point without a fault
NO_FAULT = (1 << 64) - 1
#: bit of `fault_at`: the unmapped page lies on the destination side
FAULT_IN_DESTINATION = 1 << 63

#: where the buffers lie when a measurement begins: cold is in memory, l2 in the second level but not in the first
CACHE_STATES = (
    "warm", "src-cold", "dst-cold", "cold", "src-l2", "dst-l2", "l2", "src-l2-dst-cold", "src-cold-dst-l2",
    "receive", "send",
)  # fmt: skip
#: of a stream only those before this one
_L2_STATES = CACHE_STATES.index("src-l2")
#: from here on: as a network driver leaves it, a ring of buffers on one side
PACKETS = CACHE_STATES.index("receive")
MEASURES = ("latency", "throughput", "interleaved", "stream", "mix")
STREAM, MIX = MEASURES.index("stream"), MEASURES.index("mix")
#: measures whose cycles are a slope: what `calls` calls more take in a row
SLOPES = MEASURES[1:3]
#: calls of a mix
MAX_MIX_CALLS = 65536
#: bytes of all calls of a stream together
MAX_STREAM = 64 << 20
FLAG_HUGE_PAGES = 1
FLAG_SKIP_VERIFICATION = 2
#: of the stream measure alone: the source moves on like the destination; its pages appear when they are first touched;
#: a reader touches every line of the destination after each call (of a mix, too)
STREAM_FLAGS = {"moving": 4, "untouched": 8, "reader": 16}
#: the destination lies `distance` bytes behind the source, in the same buffer; set with it
FLAG_DISTANCE = 32
#: the measures that a copy within one buffer may have
_DISTANCE_MEASURES = MEASURES[:2]
# (field, struct code, numpy code); little-endian without padding
_POINT_LAYOUT = (
    ("routine", "40s", "S40"),
    ("size", "Q", "u8"),
    ("src_offset", "I", "u4"),
    ("dst_offset", "I", "u4"),
    ("cache_state", "I", "u4"),
    ("measure", "I", "u4"),
    ("repetitions", "I", "u4"),
    ("calls", "I", "u4"),
    ("size2", "Q", "u8"),
    ("src_offset2", "I", "u4"),
    ("dst_offset2", "I", "u4"),
    ("warmup", "I", "u4"),
    ("seed", "I", "u4"),
    ("fault_at", "Q", "u8"),
    ("flags", "I", "u4"),
    ("parameter", "I", "u4"),
    ("distance", "i", "i4"),
    ("reserved", "4x", "V4"),
    ("mix", "Q", "u8"),
)
_POINT = struct.Struct("<" + "".join(code for _, code, _ in _POINT_LAYOUT))
_HEADER = struct.Struct("<8sIIQQ")
#: a list of calls: its name and their number; then of each call the size and both offsets
LIST, CALL = struct.Struct("<QQ"), struct.Struct("<III")
POINT_BYTES = _POINT.size
#: where in a point record the number of its measurements stands
REPETITIONS_AT = struct.calcsize("<" + "".join(code for _, code, _ in _POINT_LAYOUT[:6]))
assert _POINT_LAYOUT[6][0] == "repetitions"


def point_dtype() -> np.dtype:
    """One point record as a numpy structured dtype."""
    import numpy as np

    return np.dtype([(name, code if code[0] in "SV" else f"<{code}") for name, _, code in _POINT_LAYOUT])


# field -> (least, most)
RANGES: dict[str, tuple[int, int]] = {
    "size": (0, MAX_SIZE),
    "src_offset": (0, MAX_OFFSET),
    "dst_offset": (0, MAX_OFFSET),
    "cache_state": (0, len(CACHE_STATES) - 1),
    "measure": (0, len(MEASURES) - 1),
    "repetitions": (1, MAX_COUNT),
    "calls": (1, MAX_COUNT),
    "size2": (0, MAX_SIZE),
    "src_offset2": (0, MAX_OFFSET),
    "dst_offset2": (0, MAX_OFFSET),
    "warmup": (0, MAX_COUNT),
    "seed": (0, (1 << 32) - 1),
    "flags": (0, FLAG_HUGE_PAGES | FLAG_SKIP_VERIFICATION | sum(STREAM_FLAGS.values()) | FLAG_DISTANCE),
    "parameter": (0, (1 << 32) - 1),
    "distance": (-MAX_SIZE, MAX_SIZE),
    "mix": (0, (1 << 63) - 1),
}


def check_range(field: str, value: int) -> None:
    """Raises `PointError` when `value` is outside the range of the point field `field`."""
    least, most = RANGES[field]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise PointError(f"{field} {value!r} is out of range: {least} to {most}")


def check_state(measure: int, cache_state: int) -> None:
    """Raises `PointError` for a cache state that the measure cannot have.

    Of many calls only the first finds a cache state, and `SLOPES` and mixes are of settled calls. A stream fits in no
    cache.
    """
    name, state = MEASURES[measure], CACHE_STATES[cache_state]
    most = {**dict.fromkeys((*SLOPES, "mix"), 1), "stream": _L2_STATES}.get(name, len(CACHE_STATES))
    states = CACHE_STATES[:most]
    if state not in states:
        raise PointError(f"cache state {state} is not of the {name} measure: take {' or '.join(states)}, or latency")


def check_distance(distance: int, size: int, measure: int) -> None:
    """Raises `PointError` for a copy within one buffer that cannot be laid out."""
    if distance and MEASURES[measure] not in _DISTANCE_MEASURES:
        raise PointError(f"a distance is of the measures {' and '.join(_DISTANCE_MEASURES)}")
    if distance and size + abs(distance) > MAX_SIZE:
        raise PointError(f"distance {distance} is out of range: with the size ({size}) at most {MAX_SIZE} bytes")


def stream_flags(text: str) -> int:
    """The flags of a stream from words separated by commas; raises `PointError`."""
    names = tuple(STREAM_FLAGS)
    words = [word.strip() for word in text.split(",") if word.strip()]
    return sum({STREAM_FLAGS[names[index_of(names, word, "kind of stream")]] for word in words})


def stream_calls(total: int, size: int) -> int:
    """Calls of `size` bytes in a stream of `total` bytes: at least one."""
    return max(1, total // max(size, 1))


def check_routine_name(name: str) -> bytes:
    """The name as the guests store it; raises `PointError` when it cannot be one."""
    if ":" in name:
        from breakeven.points.sequence import record_name, sequence_of  # few ask for one

        sequence = sequence_of(name)
        for part in (sequence.first, sequence.second):
            check_routine_name(part)
        return record_name(sequence)
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        encoded = b""
    if not encoded or len(encoded) >= ROUTINE_BYTES or not name.isprintable() or name.startswith("-"):
        raise PointError(
            f"routine {name!r} cannot be a name: 1 to {ROUTINE_BYTES - 1} bytes of printable UTF-8, the first no '-'"
        )
    return encoded


def routines_of(name: str) -> list[str]:
    """The routines that a name stands for: both of a sequence, else itself."""
    if ":" not in name:
        return [name]
    from breakeven.points.sequence import sequence_of

    return list(sequence_of(name)[1:])


def routine_in(record: bytes) -> str:
    """The routine, or the sequence, that a packed point names: as it was written where this process knows it."""
    name = record[:ROUTINE_BYTES].rstrip(b"\0").decode(errors="replace")
    if ":" in name:
        from breakeven.points.sequence import name_in

        return name_in(name)
    return name


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement: a routine, where it copies, and under which conditions. Numbers as in the points file."""

    routine: str
    size: int
    src_offset: int = 0
    dst_offset: int = 0
    cache_state: int = 0
    measure: int = 0
    #: measurements; None: as many as `measurements.repetitions_of` says
    repetitions: int = None  # type: ignore[assignment]
    calls: int = 1
    size2: int = 0
    src_offset2: int = 0
    dst_offset2: int = 0
    warmup: int = 2
    seed: int = 1
    fault_at: int = NO_FAULT
    flags: int = 0
    #: of a routine that has one (a threshold); 0: its default
    parameter: int = 0
    #: bytes from the source to the destination (negative: it lies before), both in one buffer; 0: each has its own
    distance: int = 0
    #: of a mix: the name of its list of calls (`points.mix`); `size` is then the bytes that they are spread over
    mix: int = 0

    def __post_init__(self) -> None:
        if self.distance:
            object.__setattr__(self, "flags", self.flags | FLAG_DISTANCE)
        if self.repetitions is None:
            measure = MEASURES[self.measure] if self.measure in (STREAM, MIX) else ""
            object.__setattr__(self, "repetitions", repetitions_of(measure))

    def validate(self) -> None:
        """Raises `PointError`, one sentence that names the field and its range."""
        check_routine_name(self.routine)
        for field in RANGES:
            check_range(field, getattr(self, field))
        if self.measure == 0 and self.calls != 1:
            raise PointError(f"calls {self.calls} is out of range: 1 for the latency measure")
        if self.measure == STREAM and not 1 <= self.size * self.calls <= MAX_STREAM:
            bytes_asked = f"{self.calls} calls of {self.size} bytes"
            raise PointError(f"a stream of {bytes_asked} is out of range: 1 to {MAX_STREAM} bytes")
        check_state(self.measure, self.cache_state)
        reader = STREAM_FLAGS["reader"] if self.measure == MIX else 0
        if self.measure != STREAM and self.flags & (sum(STREAM_FLAGS.values()) - reader):
            raise PointError(f"flags {self.flags}: {', '.join(STREAM_FLAGS)} are of the stream measure")
        self._validate_mix()
        check_distance(self.distance, self.size, self.measure)
        if self.flags & FLAG_DISTANCE and not self.distance:
            raise PointError(f"flags {self.flags}: bit {FLAG_DISTANCE} goes with a distance")
        if self.fault_at != NO_FAULT:
            index = self.fault_at & ~FAULT_IN_DESTINATION
            if not 0 <= self.fault_at < 1 << 64 or index > self.size:
                raise PointError(f"fault_at {index} is out of range: 0 to the size ({self.size})")
        if ":" in self.routine:
            from breakeven.points.sequence import check_sequence

            check_sequence(self.routine, self.parameter, self.distance)

    def _validate_mix(self) -> None:
        if (self.measure == MIX) != (self.mix != 0):
            raise PointError("the mix measure goes with a list of calls: say what is mixed (mix, --mix)")
        if self.measure != MIX:
            return
        if self.calls > MAX_MIX_CALLS:
            raise PointError(f"calls {self.calls} is out of range: 1 to {MAX_MIX_CALLS} for a mix")
        if self.src_offset or self.dst_offset or self.fault_at != NO_FAULT:
            raise PointError("a mix draws the offsets of its calls: it has no src, dst and fault of its own")
        if not self.size:
            raise PointError("size 0 is out of range: a mix is spread over 1 byte and more")

    def pack(self) -> bytes:
        """The record of this point, validated."""
        self.validate()
        values = [getattr(self, field) for field in _POINT_FIELDS]
        return _POINT.pack(check_routine_name(values[0]), *values[1:])


_POINT_FIELDS = tuple(field.name for field in fields(Point))
assert tuple(name for name, _, _ in _POINT_LAYOUT if name != "reserved") == _POINT_FIELDS
_MEASURE_FIELD, _MIX_FIELD = _POINT_FIELDS.index("measure"), _POINT_FIELDS.index("mix")


def pack(points: Iterable[Point]) -> bytes:
    """The records of `points`, as `Sweep.run` of the engine takes them."""
    return b"".join(point.pack() for point in points)


def points_file(records: bytes, lists: bytes = b"") -> bytes:
    """A whole points file, as a guest reads it, around packed records. `lists`: of calls, where records name some
    (`lists_of`)."""
    if len(records) % POINT_BYTES:
        raise ValueError(f"{len(records)} bytes are no whole number of {POINT_BYTES}-byte records")
    return _HEADER.pack(MAGIC, VERSION, POINT_BYTES, len(records) // POINT_BYTES, 0) + records + lists


class CallList(NamedTuple):
    """The calls of a mix, as one point makes them."""

    #: what its record says; decided by what it holds
    name: int
    calls: int
    #: bytes that all calls together move
    total: int
    #: as the guest reads it
    packed: bytes


#: lists that this process knows, by name
_lists: dict[int, CallList] = {}
#: bytes of all of them: a sweep's may have a fifth of that
_MOST_KEPT = 1 << 28


def kept_list(found: CallList) -> CallList:
    """`found`, which points of this process may name from now on: those of a request, but not those of all times."""
    if found.name not in _lists:
        _lists[found.name] = found
        while sum(len(each.packed) for each in _lists.values()) > _MOST_KEPT:
            del _lists[next(iter(_lists))]
    return _lists[found.name]


def list_named(name: int) -> CallList:
    """The list of calls that a record names; raises `UserError` where nobody has drawn it."""
    try:
        return _lists[name]
    except KeyError:
        raise UserError(f"the calls of mix {name:#x} are not known here: ask with --mix for what they were") from None


def lists_of(records: bytes) -> bytes:
    """The lists that packed points name, each once, as they stand behind the points in a points file."""
    if not _lists:
        return b""
    points = _POINT.iter_unpack(records)
    names = dict.fromkeys(row[_MIX_FIELD] for row in points if row[_MEASURE_FIELD] == MIX)
    return b"".join(list_named(each).packed for each in names)


def _are_lists(data: bytes) -> bool:
    """Whether these bytes are whole lists of calls and nothing else."""
    at = 0
    while at + LIST.size <= len(data):
        name, calls = LIST.unpack_from(data, at)
        if not name or not 1 <= calls <= MAX_MIX_CALLS:
            return False
        at += LIST.size + calls * CALL.size
    return at == len(data)


def unpack(data: bytes) -> list[Point]:
    """The points of a points file. Raises `UserError` on anything that is none."""
    if len(data) < _HEADER.size:
        raise UserError(f"the points file has {len(data)} bytes, its header alone takes {_HEADER.size}")
    magic, version, record, count, _ = _HEADER.unpack_from(data)
    if magic != MAGIC or version != VERSION or record != POINT_BYTES:
        raise UserError(f"this is no points file of version {VERSION} with {POINT_BYTES}-byte records")
    points_end = _HEADER.size + count * POINT_BYTES
    if len(data) < points_end or not _are_lists(data[points_end:]):
        raise UserError(f"the points file announces {count} points and holds {len(data) - _HEADER.size} bytes of them")
    points = []
    for row in _POINT.iter_unpack(data[_HEADER.size : points_end]):
        points.append(Point(routine_in(row[0]), *row[1 : len(_POINT_FIELDS)]))
    return points


def index_of(names: Sequence[str], word: str, what: str) -> int:
    """The number of a cache state or measure from its name (or number); raises `UserError` with the choices."""
    if word in names:
        return names.index(word)
    if word.isascii() and word.isdigit() and int(word) < len(names):
        return int(word)
    raise UserError(f"unknown {what} {word!r}: one of {', '.join(names)}")


def as_dict(point: Point) -> dict[str, Any]:
    """A point for JSON: names instead of numbers."""
    row: dict[str, Any] = {field: getattr(point, field) for field in _POINT_FIELDS}
    row["cache_state"] = CACHE_STATES[point.cache_state]
    row["measure"] = MEASURES[point.measure]
    row["fault_at"] = None if point.fault_at == NO_FAULT else point.fault_at
    return row
