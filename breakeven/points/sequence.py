"""Sequences: a copy and a checksum of the same bytes, one after the other, named like a routine.

``copy+checksum:A,B``: A copies, then B sums the copy. ``checksum+copy:B,A``: B sums the source, then A copies it.
Both names need not fit into a record, so it has hashes of them; the guest finds the routines by these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from breakeven.errors import PointError

#: what a sequence's name begins with, before a colon
ORDERS = ("copy+checksum", "checksum+copy")
_HEX = 8


class Sequence(NamedTuple):
    """A sequence by its parts."""

    #: one of `ORDERS`
    order: str
    first: str
    second: str

    @property
    def copy(self) -> str:
        """The routine that copies."""
        return self.first if self.order == ORDERS[0] else self.second

    @property
    def checksum(self) -> str:
        """The routine that sums."""
        return self.second if self.order == ORDERS[0] else self.first


def sequence_of(name: str) -> Sequence:
    """The sequence that a name with a colon is. Raises `PointError` for what is none."""
    order, _, rest = name.partition(":")
    parts = rest.split(",")
    if order not in ORDERS or len(parts) != 2:
        raise PointError(
            f"{name!r} is no sequence: give copy+checksum:COPY,CHECKSUM (a copy, then the sum of its destination) or "
            "checksum+copy:CHECKSUM,COPY (the sum of the source, then a copy of it)"
        )
    for part in parts:
        if ":" in part:
            raise PointError(f"{name!r}: a sequence holds two routines, and no other sequence: {part!r}")
    return Sequence(order, *parts)


def hash_of(name: str) -> int:
    """What a record has of a routine in a sequence: FNV-1a of 32 bits (workloads/harness/kinds.inc)."""
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


#: names that this process knows, by their hash
_known: dict[str, str] = {}


def know(names: Iterable[str]) -> None:
    """Names of routines that records of sequences may hold."""
    for name in names:
        _known.setdefault(f"{hash_of(name):0{_HEX}x}", name)


def record_name(sequence: Sequence) -> bytes:
    """What a record has in place of a routine's name."""
    know((sequence.first, sequence.second))
    return f"{sequence.order}:{hash_of(sequence.first):0{_HEX}x},{hash_of(sequence.second):0{_HEX}x}".encode()


def name_in(text: str) -> str:
    """The name of the sequence that a record holds as `text`; a routine that nobody knows stays a hash."""
    order, _, rest = text.partition(":")
    return f"{order}:{','.join(_known.get(part, part) for part in rest.split(','))}"


def check_sequence(name: str, parameter: int, distance: int) -> None:
    """Raises `PointError` where a sequence is asked for what belongs to a single routine."""
    if ":" not in name:
        return
    for given, what in ((parameter, "parameter"), (distance, "distance")):
        if given:
            raise PointError(f"{name} is a sequence, and a {what} is of one routine: leave it out")
