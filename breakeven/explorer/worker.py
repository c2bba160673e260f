"""The process that simulates for the explorer: questions come in as lines of JSON, each is answered by one line.

``{"id": 1, "call": "points", ...}`` is answered by ``{"id": 1, "value": ...}`` or ``{"id": 1, "error": "a sentence"}``;
``{"stop": 1}`` ends a question that is out of date. The process ends when its standard input does, so that it never
outlives the server.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

from breakeven.errors import say


class Stopped(Exception):
    """The question is out of date."""


class _Requests:
    """Reads questions in a thread, so that a stop is seen while one is being answered."""

    def __init__(self) -> None:
        self.waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.stopped: set[int] = set()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            request = json.loads(line)
            if "stop" in request:
                self.stopped.add(request["stop"])
            else:
                self.waiting.put(request)
        # The server is gone: nobody waits for what is being simulated. What is being compiled or measured ends with its
        # children, and leaves no folder (`breakeven.files.sandbox.terminable`).
        signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)

    def check_waiting(self) -> None:
        """Raises `Stopped` when somebody asks."""
        if not self.waiting.empty():
            raise Stopped

    def check(self, number: int) -> None:
        if number in self.stopped:
            raise Stopped


def sentence(error: Exception) -> str:
    """What is told on the page; a user's file may raise anything."""
    text = " ".join(str(error).split()) or type(error).__name__
    known = ("UserError", "PointError", "MachineError", "ConfigError", "OverrideError", "EngineError")
    return text if type(error).__name__ in known else f"{type(error).__name__}: {text}"


def add(simulator: Any, file: str, isa: str, kind: str) -> dict[str, Any]:
    """Builds a routine as `breakeven add` does, one that reads no other file: a page may be shown anything."""
    from breakeven.routine.add import add as add_file
    from breakeven.routine.build import Build

    added = add_file(Build(Path(file), kind=kind, confined=True), isa)
    return {"routines": added.file.routines, "points": added.points, "notes": added.notes}


def main() -> None:
    """Answers until standard input ends."""
    # Ctrl-C is the server's affair; it closes our standard input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # A machine file may print: not into the answers.
    os.dup2(2, 1)
    requests = _Requests()
    options = json.loads(sys.argv[1])
    os.nice(options["nice"])

    from breakeven.explorer.simulate import Simulator
    from breakeven.machine.resolve import resolving

    with resolving(many=True):
        store = Path(options["store"]) if options["store"] else None
        simulator = Simulator(store, options["no_store"], options["threads"])
        if options["first"]:
            _simulate_ahead(simulator, requests, options["first"])
        # Modules and presets stay: the collector of garbage need not look at them again during each question.
        gc.freeze()
        while True:
            answer = _answer(simulator, requests, requests.waiting.get())
            out.write(json.dumps(answer) + "\n")
            out.flush()


def _simulate_ahead(simulator: Any, requests: _Requests, first: dict[str, Any]) -> None:
    """Simulates what the first tab will ask, until somebody asks something. An error does not end the worker: the tab
    asks again, and its page shows the sentence. The terminal shows it at once."""
    simulator.stop = requests.check_waiting
    try:
        simulator.points(**first)
    except Stopped:
        pass
    except Exception as error:
        say(f"breakeven: the first sizes were not simulated: {sentence(error)}", file=sys.stderr)


def _answer(simulator: Any, requests: _Requests, request: dict[str, Any]) -> dict[str, Any]:
    number, call = request.pop("id"), request.pop("call")
    try:
        requests.check(number)
        simulator.stop = partial(requests.check, number)
        value = add(simulator, **request) if call == "add" else getattr(simulator, call)(**request)
        return {"id": number, "value": value}
    except Stopped:
        return {"id": number, "error": "stopped"}
    except Exception as error:
        return {"id": number, "error": sentence(error)}
    finally:
        requests.stopped.discard(number)


if __name__ == "__main__":
    main()
