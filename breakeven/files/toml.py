"""TOML that a person names, and that somebody else may have written: read within bounds.

Python's reader keeps each beginning of a dotted key: memory grows with the square of the key's length. So what nests is
counted before it reads.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.files.reading import MAX_DEPTH, read_file

#: bytes of a file; a sweep has some hundred
MAX_BYTES = 1 << 20
#: numbers have 64 bits at most: Python does not even print one of thousands of digits
_MOST = 1 << 64
#: comments and texts, which end as TOML ends them; one without an end goes to the end of its line or of the file, so
#: that no part of it is looked at twice
_OUTSIDE = re.compile(
    r"""
    \#[^\n]*
    | \"{3} (?: [^"\\]+ | \\.? | "(?!"") )* (?: "{3,5} | \Z )
    | '{3} (?: [^']+ | '(?!'') )* (?: '{3,5} | \Z )
    | " (?: [^"\\\n]+ | \\.? )* "?
    | ' [^'\n]* '?
    """,
    re.DOTALL | re.VERBOSE,
)
#: what separates keys from all else
_SEPARATORS = re.compile(r"[][{},=\n]+")
_NOT_NESTING = re.compile(r"[^][{}]+")


def read_toml(path: Path, what: str) -> tuple[str, dict[str, Any]]:
    """The text of a file and what it holds; raises `UserError`, which names `what` it is, for anything else."""
    name = f"the {what} {str(path)!r}"
    try:
        # In TOML a line may end in two characters.
        text = read_file(path, what, MAX_BYTES).decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UserError(f"{name} is not UTF-8 text") from None
    deeper = UserError(f"{name} is nested deeper than {MAX_DEPTH} levels: give its keys fewer parts")
    if _is_deep(text):
        raise deeper
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name}: {error}") from None
    except RecursionError:
        raise deeper from None
    except ValueError:  # a number of thousands of digits
        raise UserError(f"{name}: a number is too large") from None
    values: list[tuple[Any, int]] = [(content, 0)]
    while values:
        value, depth = values.pop()
        if depth > MAX_DEPTH:
            raise deeper
        if isinstance(value, dict | list):
            values += [(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value)]
        elif isinstance(value, int) and abs(value) > _MOST:
            raise UserError(f"{name}: a number is too large")
    return text, content


def _is_deep(text: str) -> bool:
    """Whether a key, a list or a table of TOML may nest deeper than `MAX_DEPTH`."""
    # A quoted name may be part of a key: something stays in its place.
    bare = _OUTSIDE.sub(lambda found: "" if found[0].startswith("#") else "q", text)
    if any(key.count(".") >= MAX_DEPTH for key in _SEPARATORS.split(bare)):
        return True
    steps = (1 if mark in "[{" else -1 for mark in _NOT_NESTING.sub("", bare))
    return max(itertools.accumulate(steps), default=0) > MAX_DEPTH
