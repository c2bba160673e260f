"""Runs a program on what somebody else wrote, or that somebody else wrote, where it can do little harm.

It reads what it is given and the system's own folders, writes into one folder (both where the kernel has Landlock), is
bounded in time, memory, files and what is kept of its words, gets none of our environment, terminal or open files, and
goes with its children when its time is up, on an error, Ctrl-C, SIGTERM or SIGHUP.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, AnyStr, Generic, NamedTuple

from breakeven.files import landlock

#: what programs are made of, everybody's to read
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/dev/urandom"),
)
_NULL = Path(os.devnull)
#: bytes that are kept of what a program says
_SAID = 1 << 16
#: signals that end a process
_ENDS = (signal.SIGTERM, signal.SIGHUP)
#: units of `ulimit -f`, as POSIX has it
_BLOCK = 512


@dataclass(frozen=True)
class Limits:
    """What a program and each of its children may take."""

    #: of time that passes; None: no limit
    seconds: float | None = 120
    #: of a processor's time; None: no limit
    processor_seconds: int | None = 120
    #: bytes of memory, and of a file
    memory: int = 4 << 30
    file: int = 256 << 20


class Ended(NamedTuple):
    """How a program ended."""

    #: below 0: by a signal
    status: int
    out: str
    err: str


class TimedOut(Exception):
    """A program was ended because its time was up."""


class _Terminated(BaseException):
    """One of `_ENDS`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


#: what runs
_running: set[subprocess.Popen[bytes]] = set()


def run(
    command: Sequence[str], reads: Sequence[Path] = (), folder: Path | None = None, limits: Limits = Limits(),
    cwd: Path | None = None, variables: Mapping[str, str] | None = None, files: Sequence[int] = (),
) -> Ended:  # fmt: skip
    """Runs `command`, whose first word is a path, to its end. It writes below `folder` alone.

    `files`: the numbers of open files that it gets. Raises `TimedOut`, and `OSError` where it cannot be started.
    """
    environment = {"PATH": f"{Path(command[0]).parent}:/usr/bin:/bin", "LC_ALL": "C", "CCACHE_DISABLE": "1"}
    environment |= {"TMPDIR": str(folder), "HOME": str(folder)} if folder else {}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _NULL.open("rb") as nothing, terminable():

        def popen() -> subprocess.Popen[bytes]:
            landlock.restrict([*map(Path, _SYSTEM), *reads], [_NULL, *([folder] if folder else [])])
            return subprocess.Popen(
                ["/bin/sh", "-c", _limited(limits), "sh", *command], stdin=nothing, stdout=out, stderr=err,
                env={**environment, **(variables or {})}, cwd=cwd or folder or "/", start_new_session=True,
                pass_fds=files,
            )  # fmt: skip

        process = started(popen)
        _running.add(process)
        try:
            if not _wait(process, limits.seconds):
                raise TimedOut
        finally:
            _end(process)
        return Ended(process.returncode, _words(out), _words(err))


def _limited(limits: Limits) -> str:
    """A line of the shell's that sets the limits and becomes the program. A limit that is lower already stays."""
    bounds = {"c": 0, "t": limits.processor_seconds, "v": limits.memory >> 10, "f": limits.file // _BLOCK}
    lines = [f"ulimit -{letter} {value} 2>/dev/null" for letter, value in bounds.items() if value is not None]
    return "\n".join([*lines, 'exec "$@"'])


class _Starter(threading.Thread, Generic[AnyStr]):
    """Restricts itself, starts the process, and is over: this process stays as it is, a child inherits."""

    def __init__(self, popen: Callable[[], subprocess.Popen[AnyStr]]) -> None:
        super().__init__(daemon=True)
        self._popen: Callable[[], subprocess.Popen[AnyStr]] = popen
        self.process: subprocess.Popen[AnyStr] | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.process = self._popen()
        except BaseException as error:
            self.error = error


def started(popen: Callable[[], subprocess.Popen[AnyStr]]) -> subprocess.Popen[AnyStr]:
    """The process that `popen` starts, restricted as `popen` restricts its thread; this one stays as it is."""
    starter = _Starter(popen)
    starter.start()
    try:
        starter.join()
    except BaseException:
        # Ctrl-C in the moment of the start.
        starter.join()
        if starter.process is not None:
            _end(starter.process)
        raise
    if starter.error is not None:
        raise starter.error
    assert starter.process is not None
    return starter.process


def _wait(process: subprocess.Popen[bytes], seconds: float | None) -> bool:
    """Waits for the end, `seconds` at most; whether it has come."""
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, or older than 5.3: Python asks again and again
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(None if seconds is None else seconds * 1000):
            return False
        process.wait()
        return True
    finally:
        os.close(handle)


def _end(process: subprocess.Popen[Any]) -> None:
    """Ends a process with its children, if it runs."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:  # it has not made its group yet
            process.kill()
        process.wait()
    _running.discard(process)


def _words(file: IO[bytes]) -> str:
    """The beginning of what was said, without what would steer a terminal."""
    file.seek(0)
    text = file.read(_SAID).decode(errors="replace")
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "?" for letter in text)


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM, and SIGHUP (a closed terminal), end what stands within as Ctrl-C does: every `finally` runs, then the
    signal ends this process."""
    main = threading.current_thread() is threading.main_thread()
    ours = [each for each in _ENDS if main and signal.getsignal(each) is signal.SIG_DFL]
    if not ours:
        yield
        return

    def terminate(number: int, _: object) -> None:
        for each in ours:
            signal.signal(each, signal.SIG_IGN)
        raise _Terminated(number)

    def again(lost: Any) -> None:
        """Python ignores what is raised in a destructor or a weak reference's callback, and calls this."""
        if isinstance(lost.exc_value, _Terminated):
            for each in ours:
                signal.signal(each, terminate)
            threading.Timer(0.01, os.kill, (os.getpid(), lost.exc_value.number)).start()
        else:
            hook(lost)

    for each in ours:
        signal.signal(each, terminate)
    hook, sys.unraisablehook = sys.unraisablehook, again
    try:
        yield
    except _Terminated as end:
        signal.signal(end.number, signal.SIG_DFL)
        os.kill(os.getpid(), end.number)
        raise
    finally:
        sys.unraisablehook = hook
        for each in ours:
            signal.signal(each, signal.SIG_DFL)
