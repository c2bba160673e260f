"""Files that the user names, read with a bound."""

from __future__ import annotations

import errno
import zlib
from pathlib import Path

from breakeven.errors import UserError

#: no program, guest or script is larger; keeps /dev/zero and a slip from eating the host's memory
MAX_FILE_BYTES = 1 << 28


def read_bounded(path: Path) -> bytes:
    """The bytes of a file the user named; `OSError` also when there are more than `MAX_FILE_BYTES`."""
    with open(path, "rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MAX_FILE_BYTES} bytes", str(path))
    return data


def read_file(path: Path, what: str) -> bytes:
    """The bytes of a file that the user named; one sentence when it cannot be read."""

    try:
        return read_bounded(path)
    except OSError as error:
        raise UserError(f"cannot read the {what} {str(path)!r}: {(error.strerror or str(error)).lower()}") from None


def unpacked(data: bytes, most: int) -> bytes:
    """What `zlib.compress` made into `data`: `most` bytes at most, as a byte may stand for a thousand.

    Raises `ValueError` for more, and for what is not compressed data.
    """
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(data, most)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not unpacker.eof:
        raise ValueError(f"it has more than {most} bytes, or is cut off")
    return found
