"""Runs other programs: each goes with its children when it has ended, its time is up, on an error, Ctrl-C, SIGTERM or
SIGHUP (`attend`).

One that somebody else wrote, or that works on what somebody else wrote, runs where it can do little harm (`run`): it
reads what it is given and the system's own folders, writes into one folder (both where the kernel has Landlock), is
bounded in time, memory, files and what is kept of its words, and gets none of our environment, terminal or open files.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from breakeven.files import landlock

#: what programs are made of, everybody's to read
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/dev/urandom"),
)
_NULL = Path(os.devnull)
#: bytes that are kept of what a program says: of the beginning and of the end
_SAID = 1 << 16
#: seconds of a wait between two looks at signals: one of the moment before a wait does not end it
GLANCE = 1.0
#: seconds that the start of a process may take which was interrupted, perhaps before it began
_START = 10
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


class Programs:
    """Programs that are ended together."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._over = False
        self._lock = threading.Lock()

    def end(self) -> None:
        """Ends those that run, with their children, and at once each that is started from now on."""
        with self._lock:
            self._over = True
            running = list(self._running)
        for process in running:
            _end(process)

    def take(self, process: subprocess.Popen[bytes]) -> None:
        """One more, which has just been started."""
        with self._lock:
            self._running.add(process)
            over = self._over
        if over:
            _end(process)

    def leave(self, process: subprocess.Popen[bytes]) -> None:
        """It has ended."""
        with self._lock:
            self._running.discard(process)


def run(
    command: Sequence[str], reads: Sequence[Path] = (), folder: Path | None = None, limits: Limits = Limits(),
    cwd: Path | None = None, variables: Mapping[str, str] | None = None, files: Sequence[int] = (),
) -> Ended:  # fmt: skip
    """Runs `command`, whose first word is a path, to its end. It writes below `folder` alone.

    `files`: the numbers of open files that it gets. Raises `TimedOut`, and `OSError` where it cannot be started.
    """
    environment = {"PATH": f"{Path(command[0]).parent}:/usr/bin:/bin", "LC_ALL": "C", "CCACHE_DISABLE": "1"}
    environment |= {"TMPDIR": str(folder), "HOME": str(folder)} if folder else {}

    def restrict() -> None:
        landlock.restrict([*map(Path, _SYSTEM), *reads], [_NULL, *([folder] if folder else [])])

    return attend(
        ["/bin/sh", "-c", _limited(limits), "sh", *command], {**environment, **(variables or {})}, limits.seconds,
        cwd=cwd or folder or Path("/"), files=files, restrict=restrict,
    )  # fmt: skip


def attend(
    command: Sequence[str], environment: Mapping[str, str], seconds: float | None = None, cwd: Path | None = None,
    files: Sequence[int] = (), restrict: Callable[[], None] | None = None, programs: Programs | None = None,
    kept: int = _SAID,
) -> Ended:  # fmt: skip
    """Runs `command` to its end, without input and in a session of its own, and ends whatever of it is left then.

    `restrict` restricts the thread that starts it; `programs` may end it, too; `kept`: bytes that are kept of what it
    says. Raises `TimedOut`, and `OSError` where it cannot be started.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _NULL.open("rb") as nothing, terminable():

        def popen() -> subprocess.Popen[bytes]:
            if restrict is not None:
                restrict()
            return subprocess.Popen(
                command, stdin=nothing, stdout=out, stderr=err, env=environment, cwd=cwd, start_new_session=True,
                pass_fds=files,
            )  # fmt: skip

        programs, starter = programs or Programs(), _Starter(popen)
        try:
            process = starter.started()
            programs.take(process)
            if not _wait(process, seconds):
                raise TimedOut
        finally:
            starter.end()
        programs.leave(process)
        return Ended(process.returncode, _words(out, kept), _words(err, kept))


def _limited(limits: Limits) -> str:
    """A line of the shell's that sets the limits and becomes the program. A limit that is lower already stays."""
    bounds = {"c": 0, "t": limits.processor_seconds, "v": limits.memory >> 10, "f": limits.file // _BLOCK}
    lines = [f"ulimit -{letter} {value} 2>/dev/null" for letter, value in bounds.items() if value is not None]
    return "\n".join([*lines, 'exec "$@"'])


class _Starter(threading.Thread):
    """Restricts itself, starts the process, and is over: this process stays as it is, a child inherits. No signal comes
    between a process and its name, as signals interrupt the main thread alone."""

    def __init__(self, popen: Callable[[], subprocess.Popen[bytes]]) -> None:
        super().__init__(daemon=True)
        self._popen = popen
        self._process: subprocess.Popen[bytes] | None = None
        self._error: BaseException | None = None
        # Not `join`: where a signal interrupts it, Python 3.11 takes the thread for ended.
        self._tried = threading.Event()

    def run(self) -> None:
        try:
            self._process = self._popen()
        except BaseException as error:
            self._error = error
        finally:
            self._tried.set()

    def started(self) -> subprocess.Popen[bytes]:
        """The process that `popen` starts, restricted as `popen` restricts its thread."""
        self.start()
        self._tried.wait()
        if self._error is not None:
            raise self._error
        assert self._process is not None
        return self._process

    def end(self) -> None:
        """Ends the process with its children, also where a signal has interrupted `started`."""
        if self._tried.wait(_START) and self._process is not None:
            _end(self._process)


def _wait(process: subprocess.Popen[bytes], seconds: float | None) -> bool:
    """Waits for the end, `seconds` at most; whether it has come."""
    if process.returncode is not None:
        return True
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
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            left = GLANCE if until is None else until - time.monotonic()
            if poll.poll(1000 * max(0.0, min(left, GLANCE))):
                return True
            if left <= 0:
                return False
    finally:
        os.close(handle)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process with its children, also those that it has left behind."""
    # Until somebody has waited for it, its number is no other group's.
    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:  # it has not made its group yet
            process.kill()
        process.wait()


def _words(file: IO[bytes], kept: int) -> str:
    """The beginning and the end of what was said, without what would steer a terminal."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    said = file.read(kept if size <= kept else kept // 2)
    file.seek(max(size - kept // 2, len(said)))
    text = (said + file.read(kept // 2)).decode(errors="replace")
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
