"""A path that a person, a folder or a table names, without its symbolic links."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from breakeven.errors import UserError


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
