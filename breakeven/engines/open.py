"""Opens the engine that was asked for, with the store before it: the simulator in this process or on a dask scheduler's
workers, a real gem5, this host's own processor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError

if TYPE_CHECKING:
    from breakeven.store import Store


@contextmanager
def open_named(
    name: str, guest: Path | None, store: Path | None, no_store: bool, scheduler: str | None = None
) -> Iterator[Any]:
    """The engine `name`; store and scheduler are the simulator's affair."""
    if name == "native":
        from breakeven.engines.native import NativeEngine

        if guest is not None:
            raise UserError("--guest and --engine native: a guest is for a simulator; `breakeven add` makes both")
        yield NativeEngine()
    elif name == "gem5":
        from breakeven.engines.gem5_binary import Gem5Engine
        from breakeven.engines.user_routines import with_user_routines

        yield Gem5Engine(guest) if guest else with_user_routines(Gem5Engine)
    else:
        with open_engine(guest, store, no_store, scheduler) as engine:
            yield engine


@contextmanager
def open_engine(
    guest: Path | None, store: Path | None, no_store: bool, scheduler: str | None = None, durable: bool = True
) -> Iterator[Any]:  # fmt: skip
    """The engine that simulates (here, or on a dask scheduler's workers), with the store before it if one is wanted.

    Without `guest`, routines that the user has added are there as well. `durable`: of `Store`.
    """
    from breakeven.engines.embedded import EmbeddedEngine
    from breakeven.engines.user_routines import with_user_routines
    from breakeven.store import OFF, default_path

    if scheduler == "":
        raise UserError("--scheduler is empty: give the address of a dask scheduler, as tcp://HOST:8786")
    path = store or default_path()
    with ExitStack() as stack:
        kept = None if no_store or str(path) == OFF else _opened(path, stack, durable, named=store is not None)

        def make(elf: Path | None) -> Any:
            if scheduler:
                from breakeven.engines.dask import DaskEngine

                engine: Any = stack.enter_context(DaskEngine(scheduler, elf))
            else:
                engine = EmbeddedEngine(elf)
            if kept is not None:
                from breakeven.engines.stored import StoredEngine

                engine = StoredEngine(engine, kept)
            return engine

        yield make(guest) if guest else with_user_routines(make)


def _opened(path: Path, stack: ExitStack, durable: bool, named: bool) -> Store | None:
    """The store; None where nobody named one and the user's cache folder cannot be written, which is told."""
    from breakeven.store import ENVIRONMENT, NotWritable, Store

    try:
        return stack.enter_context(Store(path, durable))
    except NotWritable as error:
        if named or os.environ.get(ENVIRONMENT):
            raise
        print(f"breakeven: nothing is kept: {error}", file=sys.stderr)
        return None
