"""The explorer's page without a server: `explore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from breakeven.machine.resolve import resolving
from breakeven.sweeps.request import Settings, settings_texts

if TYPE_CHECKING:
    from breakeven.explorer.snapshot import View


@resolving()
def explore(
    *routines: str,
    machine: str = "u74",
    settings: Settings | None = None,
    src: int = 0,
    dst: int = 0,
    cache: str = "warm",
    measure: str = "latency",
    smallest: int = 1,
    largest: int = 2048,
    threads: int = 0,
    store: bool | str | Path = True,
) -> View:
    """What the page of `breakeven explore` shows of some routines, without a server: it shows itself in a notebook,
    ``.save("page.html")`` writes it, ``.verdicts`` are its sentences (docs/explore.md).

    >>> view = explore("rv-byte", "rv-word", largest=32, store=False)
    >>> view.verdicts[0].startswith("rv-byte leads to 7 B, rv-word from 8 B on")
    True
    """
    from breakeven.explorer.snapshot import view
    from breakeven.explorer.state import State

    state = State(machine, routines, tuple(settings_texts(settings)), src, dst, cache, measure, smallest, largest)
    state.validate()
    return view(state, None if isinstance(store, bool) else Path(store), store is False, threads)
