"""What the store's file holds: its tables, the checksum of a row, a context."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from breakeven.points import POINT_BYTES, RESULT_BYTES
from breakeven.points.engine import Identity

#: marks the file as ours ("bkev") and its layout; SQLite keeps both numbers in the file's header
APPLICATION_ID = 0x626B6576
LAYOUT = 2

SCHEMA = """
CREATE TABLE context (
    id INTEGER PRIMARY KEY,
    engine TEXT NOT NULL,       -- fingerprint of the engine's sources
    machine_hash TEXT NOT NULL, -- SHA-256 of the machine's canonical description
    guest TEXT NOT NULL,        -- SHA-256 of the guest's ELF
    machine TEXT NOT NULL,      -- the name and settings it was first asked for
    description BLOB NOT NULL,  -- zlib of the canonical description
    created INTEGER NOT NULL,   -- Unix time, s
    UNIQUE (engine, machine_hash, guest)
);
CREATE TABLE result (
    context INTEGER NOT NULL REFERENCES context (id) ON DELETE CASCADE,
    point BLOB NOT NULL,
    result BLOB NOT NULL,
    sum BLOB,                   -- `row_sum`
    PRIMARY KEY (context, point)
) WITHOUT ROWID;
"""

#: answers that took many contexts, kept with the one they are about; made with the first of them
NOTES = """
CREATE TABLE IF NOT EXISTS note (
    context INTEGER NOT NULL REFERENCES context (id) ON DELETE CASCADE,
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (context, question)
) WITHOUT ROWID
"""


def row_sum(engine: str, machine_hash: str, guest: str, point: bytes, result: bytes) -> bytes:
    """The checksum of a row (8 bytes): what decides the result, the point, the result."""
    text = "\n".join((engine, machine_hash, guest))
    return hashlib.blake2b(b"\0".join((text.encode(), bytes(point), bytes(result))), digest_size=8).digest()


def is_whole(identity: Identity, point: object, result: object, total: object) -> bool:
    """Whether a row is what was written."""
    if not isinstance(point, bytes) or not isinstance(result, bytes):
        return False
    sizes = len(point) == POINT_BYTES and len(result) == RESULT_BYTES
    return sizes and total == row_sum(*identity, point, result)


class Context(NamedTuple):
    """A row of the store: one machine as one engine simulates it, and how many points there are of it."""

    id: int
    identity: Identity
    machine: str
    created: int
    points: int
