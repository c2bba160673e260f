"""Where breakeven keeps what is the user's: the XDG base directories, and variables of breakeven's own before them.

`resolved`: what any path of the user's is without its symbolic links.

Own code, as `platformdirs` would take a fifth of a run's start (docs/decisions/README.md, 13).
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from breakeven.errors import UserError


def _expanded(named: str, variable: str) -> Path:
    try:
        return Path(named).expanduser()
    except RuntimeError:
        raise UserError(f"there is no home folder for {named!r}: set {variable} to a folder") from None


def named_by(variable: str) -> Path | None:
    """The path that breakeven's own variable names; None: it is not set."""
    named = os.environ.get(variable)
    return _expanded(named, variable) if named else None


def _base(variable: str, otherwise: str) -> Path:
    named = named_by(variable)
    # The specification: what is not absolute does not count.
    return named if named and named.is_absolute() else _expanded(otherwise, variable)


def cache() -> Path:
    """What can be made again: ``$XDG_CACHE_HOME/breakeven``, else ``~/.cache/breakeven``."""
    return _base("XDG_CACHE_HOME", "~/.cache") / "breakeven"


def data() -> Path:
    """What the user has made: ``$XDG_DATA_HOME/breakeven``, else ``~/.local/share/breakeven``."""
    return _base("XDG_DATA_HOME", "~/.local/share") / "breakeven"


def resolved(path: Path) -> Path:
    """`path` as `Path.resolve` has it; raises `UserError` where no file can have that name, or its links have no end:
    Python raises three errors for these, or none, by its version."""
    try:
        os.stat(path)
    except ValueError:  # a zero byte, half a character
        raise UserError(f"{str(path)!r} cannot be a file's name: give another one") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UserError(f"cannot use {str(path)!r}: its symbolic links lead in a circle: remove one") from None
    return Path(os.path.realpath(path))


def in_home(path: Path) -> bool:
    """Whether a path lies in the user's home folder, by whatever name the two are called."""
    return _lies_in(path, Path(os.path.expanduser("~")))


def holds_home(folder: Path) -> bool:
    """Whether the user's home folder is `folder`, or lies in it."""
    return _lies_in(Path(os.path.expanduser("~")), folder)


def _lies_in(path: Path, folder: Path) -> bool:
    path = resolved(path)
    try:
        # A folder that is mounted in two places has two paths without a link.
        return any(os.path.samefile(each, folder) for each in (path, *path.parents) if each.exists())
    except OSError:
        return path.is_relative_to(resolved(folder))
