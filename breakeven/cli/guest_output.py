"""Where `exec` sends what a guest prints: on as it comes, or into the one JSON object."""

from __future__ import annotations

import select
import sys
from time import monotonic
from typing import Any

from breakeven.errors import UserError

#: one JSON object holds no more
MOST_KEPT = 16 << 20
#: what a program may print where it goes on as it comes: a file on a disk that others use, too
MOST_PASSED = 1 << 30


class PassedOn:
    """A standard stream of ours, by name; every write goes out at once. Raises `UserError` when it cannot, or when
    nobody has taken it at the time `until` of `time.monotonic`."""

    def __init__(self, name: str, until: float | None = None) -> None:
        self._name = name
        self._written = 0
        self._until = until

    def write(self, data: bytes) -> None:
        stream: Any = getattr(sys, self._name)
        what = "standard output" if self._name == "stdout" else "standard error"
        if stream is None:
            raise UserError(f"the program prints, and {what} is closed")
        self._written += len(data)
        if self._written > MOST_PASSED:
            raise UserError(f"the program has printed more than {MOST_PASSED >> 20} MiB: it is ended")
        stream.flush()
        # Nothing may stay in a buffer: the interpreter would fail again when it flushes at its end.
        binary = getattr(stream.buffer, "raw", stream.buffer)
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[binary.write(self._writable(binary, rest)) or 0 :]
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UserError(f"cannot write the program's output to {what}: {reason}") from None

    def _writable(self, binary: Any, rest: memoryview) -> memoryview:
        """As much as can be written now, where there is a time limit; else all."""
        if self._until is None:
            return rest
        if not select.select((), (binary,), (), max(0.0, self._until - monotonic()))[1]:
            raise UserError("the program's output was not taken before --max-seconds had passed: send it to a file")
        # A pipe that is ready takes so much without waiting.
        return rest[: select.PIPE_BUF]


class Kept:
    """Output for `--json`: one stream, and all of them as they came."""

    def __init__(self, both: bytearray) -> None:
        self._both = both
        self._own = bytearray()

    def write(self, data: bytes) -> None:
        if len(self._both) + len(data) > MOST_KEPT:
            raise UserError(
                f"the program prints more than the {MOST_KEPT >> 20} MiB that --json takes: run it without --json"
            )
        self._both += data
        self._own += data

    def text(self) -> str:
        return as_text(self._own)


def as_text(data: bytes | bytearray) -> str:
    """UTF-8; each byte that is none becomes U+DC00 + its value, as Python's ``surrogateescape`` has it."""
    return data.decode(errors="surrogateescape")
