"""Opens the engine that was asked for, with the store before it: the simulator in this process or on a dask scheduler's
workers, a real gem5, this host's own processor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError, say

if TYPE_CHECKING:
    from breakeven.store import Store


@contextmanager
def open_named(
    name: str, guest: Path | None, store: Path | None, no_store: bool, scheduler: str | None = None,
    durable: bool = True, trust_native: bool = False,
) -> Iterator[Any]:  # fmt: skip
    """The engine `name`. A store stands before the simulator and a gem5; the scheduler is the simulator's affair.
    `durable`: of `Store`."""
    if name == "native":
        from breakeven.engines.native import NativeEngine

        if guest is not None:
            raise UserError("--guest and --engine native: a guest is for a simulator; `breakeven add` makes both")
        yield NativeEngine(lambda routine: trust_native)
    elif name == "gem5":
        from breakeven.engines.gem5_binary import Gem5Engine

        with _stored(Gem5Engine, guest, store, no_store, durable) as engine:
            yield engine
    else:
        detailed = name == "detailed"
        if detailed and scheduler:
            raise UserError("--engine detailed runs on this machine only: leave --scheduler out")
        with open_engine(guest, store, no_store, scheduler, durable, detailed=detailed) as engine:
            yield engine


@contextmanager
def open_engine(
    guest: Path | None, store: Path | None, no_store: bool, scheduler: str | None = None, durable: bool = True,
    watch: Callable[[], None] | None = None, detailed: bool = False,
) -> Iterator[Any]:  # fmt: skip
    """The engine that simulates (here, or on a dask scheduler's workers), with the store before it if one is wanted.

    Without `guest`, routines that the user has added are there as well. `durable`: of `Store`.
    `watch`, `detailed`: of `EmbeddedEngine`.
    """
    from breakeven.engines.embedded import EmbeddedEngine

    if scheduler == "":
        raise UserError("--scheduler is empty: give the address of a dask scheduler, as tcp://HOST:8786")
    with ExitStack() as stack:

        def make(elf: Path | None) -> Any:
            if not scheduler:
                return EmbeddedEngine(elf, watch, detailed)
            from breakeven.engines.dask import DaskEngine

            return stack.enter_context(DaskEngine(scheduler, elf))

        yield stack.enter_context(_stored(make, guest, store, no_store, durable))


@contextmanager
def _stored(
    make: Callable[[Path | None], Any], guest: Path | None, store: Path | None, no_store: bool, durable: bool
) -> Iterator[Any]:
    """The engine that `make` gives for `guest`, or for breakeven's and the user's guests, with the store before it."""
    from breakeven.engines.user_routines import with_user_routines

    with opened_store(store, no_store, durable) as kept:

        def with_store(elf: Path | None) -> Any:
            if kept is None:
                return make(elf)
            from breakeven.engines.stored import StoredEngine

            return StoredEngine(make(elf), kept)

        yield with_store(guest) if guest else with_user_routines(with_store)


@contextmanager
def opened_store(store: Path | None, no_store: bool, durable: bool = True) -> Iterator[Store | None]:
    """The store `store`, else the user's; None where none is wanted, and where nobody named one and the user's cache
    folder cannot be written, which is told."""
    from breakeven.store import ENVIRONMENT, OFF, NotWritable, Store, default_path

    path = store or default_path()
    with ExitStack() as stack:
        kept = None
        if not no_store and str(path) != OFF:
            try:
                kept = stack.enter_context(Store(path, durable))
            except NotWritable as error:
                if store is not None or os.environ.get(ENVIRONMENT):
                    raise
                say(f"breakeven: nothing is kept: {error}", file=sys.stderr)
        yield kept
