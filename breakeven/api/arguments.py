"""What arguments of the Python API mean that the command line does not have: engines, stores, names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.sweeps.request import engine_names

if TYPE_CHECKING:
    from breakeven.points.engine import Engine


def path_of(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def names_of(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def each_of(names: Sequence[str | Sequence[str]]) -> list[str]:
    """Names that were given one by one or in lists: ``("a", "b")``, ``(["a", "b"],)``."""
    return [name for some in names for name in names_of(some)]


def simulated_by(engine: Engine, asked: int) -> int:
    """How many of the points that were asked of `engine` it ran (the others were in a store)."""
    return asked if engine.simulated is None else engine.simulated


@contextmanager
def opened_engine(
    store: bool | str | Path, guest: str | Path | None, engine: str = "embedded", scheduler: str | None = None,
    durable: bool = True, trust_native: bool = False,
) -> Iterator[Any]:  # fmt: skip
    """The engine behind a call; `store`: a file, True for the usual one, False for none; `durable`: of `Store`;
    `trust_native`: the user's routines may run on this host."""
    from breakeven.engines.open import open_named

    engine_names(engine, 1)
    path = None if isinstance(store, bool) else Path(store)
    with open_named(engine, path_of(guest), path, store is False, scheduler, durable, trust_native) as opened:
        yield opened
