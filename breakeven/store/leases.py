"""Leases on points: processes that simulate into one store at once simulate each point once.

A lease is a lock on one byte of the file ``STORE.leases``, which stays empty; the byte's number is a hash of the
context's key and the point. The kernel holds the lock and ends it with the process that took it, however that process
ends: a crashed holder leaves nothing behind, and no clock decides anything. The locks belong to an open file (Linux's
open file description locks), so two sessions of one process exclude each other as two processes do.

Two points whose bytes are the same number (one in 2**62) only wait for each other. Where the file cannot be made or
locked, nothing is leased: work may be done twice, and results are the same.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

#: ``struct flock`` of 64-bit Linux: type, whence, start, length, pid
_FLOCK = struct.Struct("hhqqi4x")
#: bits of a byte's number: an offset is a signed 64-bit number
_BITS = 62


class Leases:
    """The leases that one session holds on points of one context."""

    def __init__(self, store: Path, context_key: bytes) -> None:
        self._key = hashlib.blake2b(context_key).digest()
        self._file: int | None = None
        with suppress(OSError):
            name = store.with_name(f"{store.name}.leases")
            self._file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)

    @contextmanager
    def take(self, points: Sequence[bytes], most: int) -> Iterator[list[bytes]]:
        """Leases of the first `most` of `points` that nobody else holds; given back at the end."""
        mine: list[bytes] = []
        try:
            for point in points:
                if len(mine) == most:
                    break
                if self._lock(fcntl.F_WRLCK, self._byte(point), 1):
                    mine.append(point)
            yield mine
        finally:
            # Length 0 is the whole file.
            self._lock(fcntl.F_UNLCK, 0, 0)

    def close(self) -> None:
        """Lets go of the file, and so of every lease."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __del__(self) -> None:
        self.close()

    def _byte(self, point: bytes) -> int:
        found = hashlib.blake2b(point, digest_size=8, key=self._key).digest()
        return int.from_bytes(found, "little") >> (64 - _BITS)

    def _lock(self, kind: int, start: int, length: int) -> bool:
        """Whether the lock is ours now; a file system without such locks gives every lease."""
        if self._file is None:
            return True
        try:
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, _FLOCK.pack(kind, os.SEEK_SET, start, length, 0))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            self.close()
        return True
