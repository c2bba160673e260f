"""The questions of all tabs: a newer one of a tab replaces the older one of its kind; answers are streams of lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.explorer import views
from breakeven.explorer.curves import ahead, curves
from breakeven.explorer.process import BEHIND, IDLE, LATER, NOW, SOON, Worker, WorkerDied, first_worker
from breakeven.explorer.state import State, as_row, from_row
from breakeven.machine.presets import is_file_name

Lines = AsyncIterator[dict[str, Any]]
#: how far the second process stands back (nice(1))
_NICE = 10
#: what is out of date, of the same tab, when new curves are asked for
_OF_OLD_CURVES = ("rank", "ahead", "account", "code", "pipeline", "map", "commands")
#: what makes room for any other question to the process that simulates
_ROOM = ("along",)
#: machines that are simulated while nothing is asked: at a time, and before the server ends (some 10 KB of store each)
_ALONG, _ALONG_EVER = 128, 2000
#: how long a dropped file may take (s), and how many are built at once
BUILD_SECONDS, _BUILDERS = 600, 2
_ELSEWHERE = ("rank", "host", "about")


class Hub:
    """Has the worker that simulates what is looked at, and the one for the rest."""

    def __init__(
        self, first: State, store: Path | None = None, no_store: bool = False, threads: int = 0,
        worker: Worker | None = None,
    ) -> None:  # fmt: skip
        self.first = first
        #: machine files that questions may name: code that is run
        self._files = {first.machine} if is_file_name(first.machine) else set()
        #: where points are kept, and on how many threads they are simulated
        self._where = (store, no_store, threads)
        self.worker = worker or first_worker(first, *self._where)
        self._ranker: Worker | None = None
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._stopped = False
        #: tab -> the state that is being simulated ahead for it
        self._ahead_of: dict[str, Any] = {}
        #: states that were simulated while nothing was asked
        self._along_of: set[State] = set()
        #: how many routines are being built and hosts measured; nothing is simulated along before they are done
        self._alone = 0
        self._builders = asyncio.Semaphore(_BUILDERS)
        self._room = asyncio.Event()
        self._room.set()
        self._kinds: dict[str, Callable[[dict[str, Any]], Lines]] = {
            "describe": self._describe, "curves": self._curves, "commands": self._commands, "account": self._account,
            "code": self._code, "pipeline": self._pipeline, "map": self._map, "rank": self._rank,
            "host": self._host, "snapshot": self._snapshot, "about": self._about, "ahead": self._ahead,
            "along": self._along,
        }  # fmt: skip

    def allow(self, machine: str) -> None:
        """From now on questions may name this machine, be it a file."""
        if is_file_name(machine):
            self._files.add(machine)

    @property
    def ranker(self) -> Worker:
        """A process of its own, behind the other: while it measures or ranks, curves are drawn."""
        if self._ranker is None:
            self._ranker = Worker(*self._where, nice=_NICE)
        return self._ranker

    async def stream(self, tab: str, kind: str, question: dict[str, Any]) -> AsyncIterator[bytes]:
        """The lines that answer a question, as JSON; an error is the last line."""
        lines: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        task = asyncio.create_task(self._run(kind, question, lines))

        def end(task: asyncio.Task[None]) -> None:
            # One that is cancelled before it has begun says nothing itself.
            if task.cancelled():
                lines.put_nowait({"replaced": True})
            lines.put_nowait(None)

        task.add_done_callback(end)
        if self._stopped:
            task.cancel()
        ended = (kind, *(_OF_OLD_CURVES if kind == "curves" else ()), *(() if kind in _ELSEWHERE else _ROOM))
        if kind == "ahead":
            self._ahead_of[tab] = question.get("state")
        elif kind == "curves" and self._ahead_of.get(tab) == question.get("state"):
            # What was begun while the pointer came near is what is asked for now.
            ended = tuple(other for other in ended if other != "ahead")
        for other in dict.fromkeys(ended):
            if (old := self._tasks.get((tab, other))) is not None:
                old.cancel()
        self._tasks[tab, kind] = task
        try:
            while (line := await lines.get()) is not None:
                yield json.dumps(line).encode() + b"\n"
        finally:
            task.cancel()
            if self._tasks.get((tab, kind)) is task:
                del self._tasks[tab, kind]
                if kind == "ahead":
                    self._ahead_of.pop(tab, None)

    async def _run(self, kind: str, question: dict[str, Any], lines: asyncio.Queue[dict[str, Any] | None]) -> None:
        try:
            if kind not in self._kinds:
                raise UserError(f"there is no question {kind!r}")
            async for line in self._kinds[kind](question):
                lines.put_nowait(line)
        except WorkerDied as error:
            lines.put_nowait({"error": str(error), "died": True})
        except UserError as error:
            lines.put_nowait({"error": str(error)})
        except Exception as error:  # a question may hold anything where something else is wanted
            lines.put_nowait({"error": f"the question is incomplete: {error!r}"})

    def _state(self, question: dict[str, Any]) -> State:
        state = from_row(question["state"])
        if is_file_name(state.machine) and state.machine not in self._files:
            raise UserError(f"{state.machine} is a file, which is run to build the machine: name it with --machine")
        return state

    async def _describe(self, question: dict[str, Any]) -> Lines:
        state = self._state(question)
        yield await self.worker.ask("describe", NOW, name=state.machine, settings=state.settings)

    async def _curves(self, question: dict[str, Any]) -> Lines:
        state, coming = self._state(question), question.get("coming")
        if coming is not None:
            coming = self._state({"state": {**question["state"], "settings": coming}}).settings
        async for line in curves(self.worker, state, coming, bool(question.get("moving"))):
            yield line

    async def _commands(self, question: dict[str, Any]) -> Lines:
        state, sizes = self._state(question), [int(size) for size in question["sizes"]]
        yield await self.worker.ask("commands", LATER, state=as_row(state), sizes=sizes)

    async def _account(self, question: dict[str, Any]) -> Lines:
        async for line in views.accounts(self.worker, self._state(question), int(question["size"])):
            yield line

    async def _code(self, question: dict[str, Any]) -> Lines:
        async for line in views.code(self.worker, self._state(question), int(question["size"])):
            yield line

    async def _pipeline(self, question: dict[str, Any]) -> Lines:
        async for line in views.pipeline(self.worker, self._state(question), int(question["size"])):
            yield line

    async def _map(self, question: dict[str, Any]) -> Lines:
        async for line in views.winners(self.worker, self._state(question), question):
            yield line

    async def _rank(self, question: dict[str, Any]) -> Lines:
        async for line in views.rank(self.ranker, self._state(question), question):
            yield line

    @contextmanager
    def _others_wait(self) -> Iterator[None]:
        """What is simulated along may take every core; who builds or measures would starve."""
        self._alone += 1
        self._room.clear()
        try:
            yield
        finally:
            self._alone -= 1
            if not self._alone:
                self._room.set()

    async def _host(self, question: dict[str, Any]) -> Lines:
        # The other process: measuring must not wait for what is simulated.
        trusted = [str(name) for name in question.get("trusted", ())]
        with self._others_wait():
            async for line in views.host(self.ranker, self._state(question), trusted):
                yield line

    async def _ahead(self, question: dict[str, Any]) -> Lines:
        yield {"ahead": await ahead(self.worker, self._state(question))}

    async def _along(self, question: dict[str, Any]) -> Lines:
        # While nothing else is asked: where the slider in hand, and those on top of the ranking, may be moved to.
        for settings in question["list"][:_ALONG]:
            state = self._state({"state": {**question["state"], "settings": settings}})
            if state not in self._along_of and len(self._along_of) >= _ALONG_EVER:
                return
            self._along_of.add(state)
            await self._room.wait()
            yield {"ahead": await ahead(self.worker, state, IDLE)}

    async def _about(self, question: dict[str, Any]) -> Lines:
        from breakeven.explorer.about import host, presets

        # The curves do not wait for it.
        yield {"presets": await asyncio.to_thread(presets), "host": await asyncio.to_thread(host)}

    async def _snapshot(self, question: dict[str, Any]) -> Lines:
        from breakeven.explorer.saved import saved

        yield {"saved": await saved(self.worker, self._state(question))}

    async def add(self, file: Path, isa: str, kind: str) -> dict[str, Any]:
        """Builds and checks a routine as `breakeven add` does; raises `UserError` with the compiler's words."""
        # Who dropped a file waits for neither curves nor ranking: a process for this file alone.
        async with self._builders:
            builder = Worker(*self._where, nice=BEHIND)
            try:
                async with asyncio.timeout(BUILD_SECONDS):
                    with self._others_wait():
                        added = await builder.ask("add", NOW, file=str(file), isa=isa, kind=kind)
            except TimeoutError:
                said = f"{file.name} was not built and checked within {BUILD_SECONDS} s"
                raise UserError(f"{said}: add it by the command, which has more time") from None
            finally:
                await asyncio.to_thread(builder.close)
        others = [worker for worker in (self.worker, self._ranker) if worker is not None]
        await asyncio.gather(*(each.ask("routines_changed", SOON) for each in others))
        return added

    def stop(self) -> None:
        """Ends every question, and each that comes from now on."""
        self._stopped = True
        for task in self._tasks.values():
            task.cancel()

    def close(self) -> None:
        """Ends both processes."""
        self.worker.close()
        if self._ranker is not None:
            self._ranker.close()
