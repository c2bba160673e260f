"""The explorer's page with its numbers in it, without a server: for a file, a notebook, a web server.

What a server would stream is simulated here and kept in the page, question by question.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from breakeven.explorer import notebook, page
from breakeven.explorer.saved import saved
from breakeven.explorer.simulate import Simulator
from breakeven.explorer.state import State, as_row, to_fragment
from breakeven.files.writing import replacing
from breakeven.machine.resolve import of_request, resolving


@dataclass(frozen=True)
class View:
    """A state with all that its page shows; `save` writes the page.

    In a notebook it shows itself (`notebook`): its sliders move while the kernel runs.
    """

    state: State
    #: question -> the lines that answer it
    saved: dict[str, list[dict[str, Any]]]
    #: the store that points are kept in (None: the usual one), and whether none is
    where: tuple[Path | None, bool] = (None, False)

    @property
    def verdicts(self) -> list[str]:
        """Who leads where, and at which single sizes another one does, as `compare` says it."""
        return list(self._said["sentences"])

    @property
    def break_even(self) -> dict[str, Any] | None:
        """What to ship, sizes in bytes (`breakeven.analysis.crossings.Choice`); None: the routines tie everywhere."""
        found = self._said["break_even"]
        return found and dict(found)

    @property
    def command(self) -> str:
        """The command that gives the same cycles."""
        return str(self.saved["commands"][0]["command"])

    @property
    def link(self) -> str:
        """What `breakeven explore` takes to show this with a server."""
        return f"#{to_fragment(self.state)}"

    @property
    def _said(self) -> dict[str, Any]:
        return [line["verdict"] for line in self.saved["curves"] if "verdict" in line][-1]

    def html(self) -> str:
        """The page."""
        title = f"{', '.join(self.state.routines)} on {self.state.machine}"
        return page.html(title, {"live": False, "state": as_row(self.state), "presets": [], "saved": self.saved})

    def save(self, path: str | Path) -> Path:
        """Writes the page as one file that needs no server and no network."""

        with replacing(Path(path)) as beside:
            beside.write_text(self.html(), encoding="utf-8")
        return Path(path)

    def _repr_html_(self) -> str:
        if not notebook.in_kernel():
            return notebook.saved_frame(self.html())
        return notebook.live_frame(self.html(), notebook.running(self.state, *self.where).address(self.state))


class _Here:
    """Answers like a worker, in this process."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    async def ask(self, call: str, priority: int, **question: Any) -> Any:
        return getattr(self._simulator, call)(**question)


def view(state: State, store: Path | None = None, no_store: bool = False, threads: int = 0) -> View:
    """Simulates what the page of `state` shows. Raises `UserError` as the page would tell it."""
    # In a thread of its own: a notebook has a loop that runs already.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(of_request(_view, state, store, no_store, threads)).result()


def _view(state: State, store: Path | None, no_store: bool, threads: int) -> View:
    with resolving(many=True), closing(Simulator(store, no_store, threads)) as simulator:
        here: Any = _Here(simulator)
        return View(state, asyncio.run(saved(here, state)), (store, no_store))
