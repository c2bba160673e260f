"""Where breakeven's own data lies: one answer for a source checkout and for an installed wheel.

A checkout keeps its configurations in ``configs/`` and builds the guests' ELFs into ``build/guests/``; the wheel
carries both under ``breakeven/_data/``. The checkout wins, so that an edit there takes effect at once.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from breakeven.errors import UserError

PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = PACKAGE.parent

#: kind -> (folder in a checkout, folder in the wheel, what to do when neither is there)
_KINDS: dict[str, tuple[Path, Path, str]] = {
    "configs": (
        _CHECKOUT / "configs",
        PACKAGE / "_data" / "configs",
        "reinstall breakeven, or run from a complete checkout",
    ),
    "guests": (
        _CHECKOUT / "build" / "guests",
        PACKAGE / "_data" / "guests",
        "build them with `scons guests`",
    ),
}


#: no program, guest or script is larger; keeps /dev/zero and a slip from eating the host's memory
MAX_FILE_BYTES = 1 << 28


def read_bounded(path: Path) -> bytes:
    """The bytes of a file the user named; `OSError` also when there are more than `MAX_FILE_BYTES`."""
    with open(path, "rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MAX_FILE_BYTES} bytes", str(path))
    return data


def check_target(path: Path) -> None:
    """Raises `UserError` before anything runs when no file can be written at `path`."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise UserError(f"cannot write {str(path)!r}: there is no folder {str(folder)!r}")
    if path.is_dir():
        raise UserError(f"cannot write {str(path)!r}: it is a folder")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise UserError(f"cannot write {str(path)!r}: permission denied")


class DataNotFound(FileNotFoundError):
    """Data that breakeven needs is neither in the checkout nor in the wheel."""


def in_checkout() -> bool:
    """Whether this package runs from a source checkout (its configurations can be edited in place)."""
    return (_CHECKOUT / "configs" / "machines").is_dir() and (_CHECKOUT / "Cargo.toml").is_file()


def checkout() -> Path:
    """The root of the source checkout that this package runs from (see `in_checkout`)."""
    return _CHECKOUT


def find_data(kind: str, name: str | None = None) -> Path:
    """The folder of `kind` (``"configs"`` or ``"guests"``), or the file or folder `name` in it.

    Raises `DataNotFound` with the places looked at and the fix.
    """
    if kind not in _KINDS:
        raise ValueError(f"no data of kind {kind!r}; there are: {', '.join(sorted(_KINDS))}")
    checkout, wheel, fix = _KINDS[kind]
    # A folder called configs/ beside site-packages is not ours: the checkout counts only when it is one.
    candidates = [checkout, wheel] if (_CHECKOUT / "Cargo.toml").is_file() else [wheel]
    wanted = [folder / name if name else folder for folder in candidates]
    for path in wanted:
        if path.exists():
            return path
    looked = " or ".join(str(path) for path in wanted)
    raise DataNotFound(f"no {name or kind} at {looked}: {fix}")
