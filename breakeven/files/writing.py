"""Files that are whole or not there: written beside their place, then renamed into it.

A full disk, an interrupt or an error leaves the earlier file as it was and no piece of a new one.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from breakeven.errors import UserError


def unwritable(path: Path, error: OSError) -> UserError:
    """The sentence for a file that cannot be written."""
    fix = ": make room and run it again" if error.errno == errno.ENOSPC else ""
    return UserError(f"cannot write {str(path)!r}: {(error.strerror or str(error)).lower()}{fix}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write in place of `path`, with its suffix; it takes that place when the block ends without an error.

    Raises `UserError` for what the operating system refuses. A device, a pipe (``/dev/stdout``)
    or a file in a folder that takes no new ones is written directly.
    """
    target = path.resolve()
    try:
        if not (_is_ordinary(target) and os.access(target.parent, os.W_OK)):
            yield path
            return
        import tempfile  # with it comes `random`: only who writes a file pays for them

        descriptor, name = tempfile.mkstemp(prefix=".", suffix=f".new{target.suffix}", dir=target.parent)
        os.close(descriptor)
        beside = Path(name)
        try:
            yield beside
            _flush(beside)
            beside.chmod(_mode(target))
            beside.replace(target)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise
    except OSError as error:
        raise unwritable(path, error) from None


def write_text(path: Path, text: str) -> None:
    """`text` as the file at `path`, in UTF-8, whole or not at all."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


def write_bytes(path: Path, data: bytes) -> None:
    """`data` as the file at `path`, whole or not at all."""
    with replacing(path) as beside:
        beside.write_bytes(data)


def _is_ordinary(target: Path) -> bool:
    """Whether a rename may take the place of what is at `target`: a file, or nothing yet."""
    try:
        return stat.S_ISREG(target.stat().st_mode)
    except FileNotFoundError:
        return True


def _mode(target: Path) -> int:
    """The mode of the file that is replaced; of a new file what the process's mask leaves."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _flush(path: Path) -> None:
    """Has the disk take the bytes: a full one says so here at the latest, before the earlier file is given up."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_target(path: Path) -> None:
    """Raises `UserError` before anything runs when no file can be written at `path`."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise UserError(f"cannot write {str(path)!r}: there is no folder {str(folder)!r}")
    if path.is_dir():
        raise UserError(f"cannot write {str(path)!r}: it is a folder")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise UserError(f"cannot write {str(path)!r}: permission denied")
