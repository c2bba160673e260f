"""Files that are whole or not there: written beside their place, then renamed into it.

A full disk, an interrupt or an error leaves the earlier file as it was and no piece of a new one.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from breakeven.errors import UserError
from breakeven.files.places import resolved
from breakeven.files.reading import is_odd

#: characters of a suffix that tells a library what to write
_LONGEST_SUFFIX = 20


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
    target = resolved(path)
    try:
        if not (_is_ordinary(target) and os.access(target.parent, os.W_OK)):
            yield path
            return
        with _taking_the_place(target) as beside:
            yield beside
    except OSError as error:
        raise unwritable(path, error) from None


@contextmanager
def _taking_the_place(target: Path) -> Iterator[Path]:
    """A file beside `target` that is renamed to it: what is there, a link too, is replaced and not followed."""
    import tempfile  # with it comes `random`: only who writes a file pays for them

    # A guest may call its file anything: a longer suffix would not fit a name.
    suffix = target.suffix if len(target.suffix) <= _LONGEST_SUFFIX else ""
    descriptor, name = tempfile.mkstemp(prefix=".", suffix=f".new{suffix}", dir=target.parent)
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


class Held:
    """The place of an output file, taken before a program runs that may write beside it.

    A link that leads there is followed now. Where that program makes a link or a pipe, moves or removes something
    later, the output goes into the same folder, or the same open file, as it would have before.
    """

    def __init__(self, path: Path, program_writes: Path | None = None) -> None:
        """`program_writes`: the folder of the program's; what is no plain file there is refused."""
        check_target(path)
        self.path, target = path, resolved(path)
        self._ordinary = _is_ordinary(target)
        if program_writes is not None and not self._ordinary and target.is_relative_to(resolved(program_writes)):
            raise UserError(f"cannot write {str(path)!r}: it is no plain file, and the program may write beside it")
        self._renames = self._ordinary and os.access(target.parent, os.W_OK)
        try:
            self._handle = os.open(target.parent if self._renames else path, os.O_PATH | os.O_CLOEXEC)
        except OSError as error:
            raise unwritable(path, error) from None
        self._name = target.name

    def write(self, text: str) -> None:
        """`text` as the file, in UTF-8, whole or not at all."""
        held = Path(f"/proc/self/fd/{self._handle}")
        try:
            with _taking_the_place(held / self._name) if self._renames else nullcontext(held) as beside:
                beside.write_text(text, encoding="utf-8")
        except OSError as error:
            raise unwritable(self.path, error) from None

    def opened(self) -> Path:
        """A name for the file itself, which is made now where there is none, whatever becomes of its place."""
        held = f"/proc/self/fd/{self._handle}"
        if self._renames:
            try:
                held = (
                    f"/proc/self/fd/{os.open(f'{held}/{self._name}', os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)}"
                )
            except OSError as error:
                raise unwritable(self.path, error) from None
        return Path(held)


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
    with suppress(FileNotFoundError):
        mode = target.lstat().st_mode
        if stat.S_ISREG(mode):
            return stat.S_IMODE(mode)
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


def default_place(name: str, option: str, folder: Path | None = None) -> Path:
    """`name` in `folder` (None: the current one), for an output that `option` could have named and did not.

    Raises `UserError` where a link lies there, or on the way below `folder`: whoever made the folder would choose the
    file that is replaced. The same for a pipe or a device, which is written directly where a command names it.
    """
    place = folder or Path()
    for part in Path(name).parts:
        place /= part
        if place.is_symlink():
            raise UserError(f"{str(place)!r} is a symbolic link that nobody named: remove it, or give {option}")
        if is_odd(place):
            raise UserError(f"{str(place)!r} is neither a file nor a folder: remove it, or give {option}")
    return place


def check_target(path: Path) -> None:
    """Raises `UserError` before anything runs when no file can be written at `path`."""
    folder = resolved(path).parent
    if not folder.is_dir():
        raise UserError(f"cannot write {str(path)!r}: there is no folder {str(folder)!r}")
    if path.is_dir():
        raise UserError(f"cannot write {str(path)!r}: it is a folder")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise UserError(f"cannot write {str(path)!r}: permission denied")
