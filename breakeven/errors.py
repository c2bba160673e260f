"""Errors that a user can act on: one sentence that names the thing and the fix, shown without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO


class UserError(Exception):
    """What the user asked for cannot be done; the message is one sentence for stderr."""


def printable(text: str, keep: str = "\n") -> str:
    """Text for a terminal, a page or a table: names come from programs, tables and stores, and may hold what moves a
    cursor, hides text or begins a line. All but printable characters and those in `keep` are written as Python writes
    them."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in keep else ascii(each)[1:-1] for each in text)


def say(text: str, file: TextIO | None = None) -> None:
    """Prints text in which names may be: see `printable`."""
    print(printable(text), file=file, flush=file is sys.stderr)


def shown_path(path: Path | str | None) -> str:
    """A file's name within a line of text: it breaks no line, either."""
    return printable(str(path), keep="")


class PointError(UserError, ValueError):
    """A field of a point is out of its range."""


def near(name: str, known: Iterable[str], *, all_of: str = "") -> str:
    """``; did you mean 'x' or 'y'?`` for the names in `known` close to `name`, or where to look for all of them."""
    from difflib import get_close_matches  # only errors pay for it

    names = sorted(set(known))
    lower = {candidate.lower(): candidate for candidate in names}
    close = [lower[word] for word in get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    if not close:
        close = [candidate for candidate in names if len(name) > 2 and name.lower() in candidate.lower()][:3]
    if close:
        return "; did you mean " + " or ".join(repr(candidate) for candidate in close) + "?"
    if all_of and names:
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        return f"; {all_of}: {shown}"
    return ""
