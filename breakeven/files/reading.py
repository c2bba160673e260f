"""What comes from outside, read with a bound: files that the user names, compressed data, JSON."""

from __future__ import annotations

import csv
import errno
import io
import itertools
import json
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from breakeven.errors import UserError
from breakeven.files.places import resolved

#: no program, guest or script is larger; keeps /dev/zero and a slip from eating the host's memory
MAX_FILE_BYTES = 1 << 28
#: bytes of a line of text: names have a hundred
MAX_LINE_BYTES = 1 << 16
#: bytes of a text that is read line by line, unpacked: ten million micro-ops of a trace have half of it
MAX_TEXT_BYTES = 1 << 32
#: how deep JSON may be nested; ours is four
MAX_DEPTH = 40
#: of an integer in it: a double has 308
_MOST_DIGITS = 300
#: of JSON all but the brackets outside of texts
_NOT_NESTING = re.compile(r'"(?:[^"\\]|\\.)*"?|[^][{}"]+', re.DOTALL)


def read_bounded(path: Path, most: int | None = None) -> bytes:
    """The bytes of a file the user named; `OSError`, which names it, also when there are more than `most`
    (None: `MAX_FILE_BYTES`)."""
    most = MAX_FILE_BYTES if most is None else most
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        # Of a file that is open Python does not say which it is.
        error.filename = str(path)
        raise
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(path))
    return data


def is_odd(path: Path) -> bool:
    """Whether there is something else than a file or a folder, such as a pipe: whoever opens it may wait for ever."""
    return path.exists() and not (path.is_file() or path.is_dir())


def check_links(folder: Path) -> None:
    """Raises `UserError` where a link in a folder of results leads out of it: whoever made the folder may name any
    file, which would be shown or overwritten. The same for a pipe or a device, which may have no end."""
    inside = resolved(folder)
    for below in ("*", "*/*", "*/*/*"):  # results/native/HOST/FILE
        for path in sorted(folder.glob(below)):
            if path.is_symlink() and not resolved(path).is_relative_to(inside):
                raise UserError(f"the link {str(path)!r} leads out of {str(folder)!r}: remove it")
            if is_odd(path):
                raise UserError(f"{str(path)!r} is neither a file nor a folder: remove it")


def read_file(path: Path, what: str, most: int | None = None) -> bytes:
    """The bytes of a file that the user named, `most` as of `read_bounded`; one sentence when it cannot be read."""
    try:
        return read_bounded(path, most)
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


def read_text(path: Path, what: str) -> str:
    """The text in UTF-8 of a file that the user named; one sentence when there is none."""
    try:
        return read_file(path, what).decode()
    except UnicodeDecodeError as error:
        raise UserError(f"the {what} {str(path)!r} is no text: {error}") from None


def csv_rows(path: Path, needed: Sequence[str] = ()) -> list[dict[str, str]]:
    """The rows of a table in CSV by the names in its first line, among them the columns `needed`; raises `UserError`
    for anything else.

    Each row has every column: filled up, short rows below a wide first line would take the square of the file.
    """
    try:
        lines = [line for line in csv.reader(io.StringIO(read_text(path, "table"), newline="")) if line]
    except csv.Error as error:
        raise UserError(f"{str(path)!r} is no table in CSV: {error}") from None
    names, rows = (lines[0], lines[1:]) if lines else ([], [])
    if any(len(row) != len(names) for row in rows):
        raise UserError(f"{str(path)!r} is no such table: not every row has {len(names)} columns")
    for name in needed:
        if rows and name not in names:
            raise UserError(f"{str(path)!r} is no such table: not every row has {name!r}")
    return [dict(zip(names, row, strict=True)) for row in rows]


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a text in UTF-8, with their ends; a name that ends in ``.gz``: of a compressed one.

    Raises `ValueError` for what is no such text, for a line of more than `MAX_LINE_BYTES` and for more than
    `MAX_TEXT_BYTES`: what a small compressed file stands for may fit neither memory nor patience.
    """
    import gzip

    left = MAX_TEXT_BYTES
    with open(path, "rb") as raw:
        file: gzip.GzipFile | IO[bytes] = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        try:
            while line := file.readline(MAX_LINE_BYTES + 1):
                left -= len(line)
                if len(line) > MAX_LINE_BYTES:
                    raise ValueError(f"a line has more than {MAX_LINE_BYTES} bytes")
                if left < 0:
                    raise ValueError(f"it has more than {MAX_TEXT_BYTES} bytes")
                yield line.decode()
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(str(error)) from None


def parsed_json(text: bytes | str) -> Any:
    """The value of JSON that comes from outside, whose numbers are finite; raises `ValueError` for anything else."""
    if isinstance(text, bytes):
        text = text.decode()
    steps = (1 if mark in "[{" else -1 for mark in _NOT_NESTING.sub("", text))
    if max(itertools.accumulate(steps), default=0) > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    return json.loads(text, parse_constant=_not_finite, parse_float=_finite, parse_int=_integer)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _not_finite(text)


def _integer(text: str) -> int:
    """One that a double can hold: whoever reads it may make one of it."""
    if len(text) > _MOST_DIGITS:
        _not_finite(f"{text[:_MOST_DIGITS]}...")
    return int(text)


def _not_finite(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")
