"""What the store's file holds: its tables, the checksum of a row, a context."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import NamedTuple

from breakeven.files.reading import unpacked
from breakeven.points import POINT_BYTES, RESULT_BYTES
from breakeven.points.engine import Identity

#: marks the file as ours ("bkev") and its layout; SQLite keeps both numbers in the file's header
APPLICATION_ID = 0x626B6576
LAYOUT = 3

#: each table's `sum` is the `row_sum` of all its other columns, with the context's key for its number
SCHEMA = """
CREATE TABLE context (
    id INTEGER PRIMARY KEY,
    engine TEXT NOT NULL,       -- fingerprint of the engine's sources
    machine_hash TEXT NOT NULL, -- SHA-256 of the machine's canonical description
    guest TEXT NOT NULL,        -- SHA-256 of the guest's ELF
    machine TEXT NOT NULL,      -- the name and settings it was first asked for
    description BLOB NOT NULL,  -- zlib of the canonical description
    created INTEGER NOT NULL,   -- Unix time, s
    sum BLOB,
    UNIQUE (engine, machine_hash, guest)
);
CREATE TABLE result (
    context INTEGER NOT NULL REFERENCES context (id) ON DELETE CASCADE,
    point BLOB NOT NULL,
    result BLOB NOT NULL,
    sum BLOB,
    PRIMARY KEY (context, point)
) WITHOUT ROWID;
CREATE TABLE note (             -- answers that took many contexts, kept with the one they are about
    context INTEGER NOT NULL REFERENCES context (id) ON DELETE CASCADE,
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
    sum BLOB,
    PRIMARY KEY (context, question)
) WITHOUT ROWID;
"""

#: of a machine whose name the store has lost
UNNAMED = "?"
#: bytes of a description at most; one of our machines has some 200,000
_MOST_DESCRIPTION = 1 << 24


def row_sum(identity: Identity, *values: object) -> bytes:
    """The checksum of a row (8 bytes): what decides its context's results, and what it says."""
    parts = map(_as_bytes, ("\n".join(map(str, identity)), *values))
    return hashlib.blake2b(b"\0".join(parts), digest_size=8).digest()


def _as_bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="backslashreplace")


def is_whole(identity: Identity, point: object, result: object, total: object) -> bool:
    """Whether a row of `result` is what was written."""
    if not isinstance(point, bytes) or not isinstance(result, bytes):
        return False
    sizes = len(point) == POINT_BYTES and len(result) == RESULT_BYTES
    return sizes and total == row_sum(identity, point, result)


def note_is_whole(identity: Identity, question: str, answer: object, total: object) -> bool:
    """Whether a row of `note` is what was written."""
    return isinstance(answer, str) and total == row_sum(identity, question, answer)


class Context(NamedTuple):
    """A row of the store: one machine as one engine simulates it, and how many points there are of it."""

    id: int
    identity: Identity
    machine: str
    created: int
    points: int


#: what `ContextRow` is made of
CONTEXT_COLUMNS = "id, engine, machine_hash, guest, machine, description, created, sum"


class ContextRow:
    """A row of `context` as it stands in the file, where anything may have been damaged."""

    def __init__(
        self, id_: int, engine: str, machine_hash: str, guest: str, machine: str, packed: bytes, created: int,
        total: bytes | None,
    ) -> None:  # fmt: skip
        # SQLite keeps what a row was given, whatever its column is for.
        self.id, self.identity = id_, Identity(str(engine), str(machine_hash), str(guest))
        self.machine, self.created = machine, created
        self._packed, self._total = packed, total

    @property
    def is_whole(self) -> bool:
        """Whether it is what was written."""
        return isinstance(self.machine, str) and isinstance(self.created, int) and self._total == self.own_sum

    @property
    def own_sum(self) -> bytes:
        """The checksum of what it holds today."""
        return row_sum(self.identity, self.machine, self._packed, self.created)

    @property
    def description(self) -> str | None:
        """The canonical description; None: it is damaged, or another machine's."""
        with suppress(ValueError, TypeError):
            text = unpacked(self._packed, _MOST_DESCRIPTION)
            if hashlib.sha256(text).hexdigest() == self.identity.machine_hash:
                return text.decode()
        return None
