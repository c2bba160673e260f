"""The explorer in Debian's chromium, and its server without one. An explorer starts once a worker."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from breakeven.errors import UserError

REPO = Path(__file__).resolve().parents[2]
QUESTION = ["rv-byte", "rv-copy-user-2021", "--src", "3", "--sizes", "1..256"]


class Model:
    """Answers as the worker does, from a formula."""

    def __init__(self, *cycles) -> None:
        self.cycles, self.asked = cycles, []
        #: settings and sizes of what was simulated ahead, and behind how many questions
        self.ahead = []

    async def ask(self, call: str, priority: int, **question) -> dict:
        if call == "published":
            return [["rv-byte", 64, 150.0, "measured somewhere"], ["rv-byte", 4096, 1.0, "out of range"]]
        if call == "ahead":
            self.ahead.append((len(self.asked), question["settings"], [place[0] for place in question["places"]]))
            raise UserError("beyond the slider's end")
        assert call == "points"
        self.asked.append((priority, [place[0] for place in question["places"]], question["settings"]))
        rows = [[f(size), f(size), 1, True, ""] for size, _, _ in question["places"] for f in self.cycles]
        return {"rows": rows, "without_effect": []}


class Explorer:
    """A running `breakeven explore`; it simulates on one thread, beside a browser and the tests' other processes."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.home = folder / "home"
        variables = {**os.environ, "BREAKEVEN_HOME": str(self.home), "BREAKEVEN_STORE": str(folder / "store.sqlite")}
        command = [sys.executable, "-m", "breakeven", "explore", *words, "--no-browser", "--threads", "1"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=variables)
        assert self.process.stdout is not None
        told = []
        for line in self.process.stdout:
            told.append(line)
            if line.startswith("breakeven explore: http://127.0.0.1:"):
                break
        else:
            raise AssertionError(f"it ended with status {self.process.wait()}, having told {told}")
        self.address = line.partition(": ")[2].strip()

    @property
    def base(self) -> str:
        return self.address.partition("?")[0]

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2].partition("#")[0]

    def children(self) -> list[int]:
        """The processes that simulate."""
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return [int(word) for word in found.stdout.split()]

    def interrupt(self) -> int:
        """Ctrl-C; the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait()


def explored(folder: Path) -> Iterator[Explorer]:
    pytest.importorskip("breakeven._engine", reason="the engine is not built")
    running = Explorer(folder, *QUESTION)
    yield running
    if running.process.poll() is None:
        running.interrupt()


@pytest.fixture(scope="session")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """One that all tests of a worker share: they leave it as they found it."""
    yield from explored(tmp_path_factory.mktemp("explore"))


@pytest.fixture
def own_explorer(tmp_path: Path) -> Iterator[Explorer]:
    """One of the test's own, which may add routines to it."""
    yield from explored(tmp_path)


class Watched:
    """An explorer's server in this process, which sees what its process for curves is asked."""

    def __init__(self, store: Path, *routines: str, **more: Any) -> None:
        from breakeven.explorer.notebook import Server
        from breakeven.explorer.state import State

        state = State("u74", routines, **more)
        self._server = Server(state, store, False, 1)
        self.address = self._server.address(state)
        self.base, _, rest = self.address.partition("?")
        self.token = rest.removeprefix("token=").partition("#")[0]
        #: questions that were sent to the process that simulates
        self.sent: list[dict[str, Any]] = []
        worker = self._server._hub.worker
        send = worker._send

        def sent(message: dict[str, Any]) -> None:
            send(message)
            self.sent.append(message)

        worker._send = sent  # type: ignore[method-assign]
        self._worker = worker

    def simulates(self, size: int) -> bool:
        """Whether the process has been sent points of that size."""
        return any(
            message.get("call") == "points" and size in {place[0] for place in message["places"]}
            for message in self.sent
        )

    def kill(self) -> None:
        """The process that simulates dies."""
        os.kill(self._worker.process.pid, signal.SIGKILL)

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    pytest.importorskip("breakeven._engine", reason="the engine is not built")
    running = Watched(tmp_path / "store.sqlite", "rv-byte", "rv-word", most=64)
    yield running
    running.close()


def alone(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The answer of a coroutine, in a thread of its own: playwright has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
