"""A worker as the server sees it: questions by priority, one at a time; a new process where one has died."""

from __future__ import annotations

import heapq
import itertools
import json
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError
from breakeven.files.isolated import python_command

if TYPE_CHECKING:
    import asyncio

    from breakeven.explorer.state import State

#: priorities of questions, the least first
NOW, SOON, LATER, IDLE = range(4)
#: how far the process that simulates stands back (nice(1)): it may take every core, and a browser draws beside it
BEHIND = 5


class WorkerDied(UserError):
    """The process that simulates has ended by itself; the next question starts another."""


class Worker:
    """Starts the process at once; the loop is taken with the first question.

    `threads`: host threads that simulate; 0: one a core. `first`: points that will be asked for first; the process
    simulates them without being asked.
    """

    def __init__(
        self, store: Path | None = None, no_store: bool = False, threads: int = 0, nice: int = 0,
        first: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._options = {"store": str(store) if store else "", "no_store": no_store, "threads": threads, "nice": nice}
        self._numbers = itertools.count(1)
        self._queue: list[tuple[int, int, dict[str, Any], asyncio.Future[Any]]] = []
        #: the question that the process works on
        self._at: tuple[int, asyncio.Future[Any]] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._dead = False
        self.process = self._started(first)

    def _started(self, first: dict[str, Any] | None = None) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            python_command("breakeven.explorer.worker", json.dumps({**self._options, "first": first})),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        threading.Thread(target=self._read, args=(process,), daemon=True).start()
        return process

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._answered, json.loads(line))
        process.wait()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._died, process)

    async def ask(self, call: str, priority: int = SOON, **question: Any) -> Any:
        """The answer; raises `UserError` with what was wrong, `WorkerDied` where the process ended.

        When the asker is cancelled, so is the question.
        """
        import asyncio  # the process is started before what a server needs is loaded

        self._loop = asyncio.get_running_loop()
        number, future = next(self._numbers), self._loop.create_future()
        heapq.heappush(self._queue, (priority, number, {"id": number, "call": call, **question}, future))
        self._next()
        try:
            return await future
        finally:
            if self._at is not None and self._at[0] == number and future.cancelled():
                self._send({"stop": number})

    def _next(self) -> None:
        while self._at is None and self._queue:
            _, number, question, future = heapq.heappop(self._queue)
            if not future.done():
                if self._dead:
                    self.process, self._dead = self._started(), False
                self._at = (number, future)
                self._send(question)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has died: `_died` comes

    def _answered(self, answer: dict[str, Any]) -> None:
        if self._at is None or self._at[0] != answer["id"]:
            return
        future = self._at[1]
        self._at = None
        if not future.done():
            if "error" in answer:
                future.set_exception(UserError(answer["error"]))
            else:
                future.set_result(answer["value"])
        self._next()

    def _died(self, process: subprocess.Popen[bytes]) -> None:
        if process is not self.process:
            return
        at, self._at = self._at, None
        self._dead = True
        if at is not None and not at[1].done():
            code = process.returncode
            how = f"signal {-code}" if code < 0 else f"status {code}"
            said = f"the process that simulates has died ({how}); the next question starts another"
            at[1].set_exception(WorkerDied(said))
        self._next()

    def close(self) -> None:
        """Ends the process."""
        self._loop = None
        process = self.process
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def first_worker(state: State, store: Path | None = None, no_store: bool = False, threads: int = 0) -> Worker:
    """A worker that simulates at once what the first tab will ask: it finds it in the store."""
    first = {
        "name": state.machine, "settings": state.settings, "routines": state.routines,
        "places": state.places(state.coarse()), "cache": state.cache, "measure": state.measure,
    }  # fmt: skip
    return Worker(store, no_store, threads, BEHIND, None if no_store else first)
