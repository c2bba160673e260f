"""Connections to the explorer's server: who sends half a request, and who has no token, keeps nobody out."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

#: connections that have not sent a request's head yet: each has a descriptor, and a process has some 1000
WAITING = 256


def out_of_descriptors(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """For a loop, in place of a traceback for each connection that it cannot accept in a burst: it tries again by
    itself, and who has a connection keeps it."""
    error = context.get("exception")
    if not (isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)):
        loop.default_exception_handler(context)


def protocol() -> type[asyncio.Protocol]:
    """uvicorn's protocol for a server: of the connections that have sent no whole head the newest `WAITING` are kept.
    Without a token the first answer ends the connection (`breakeven.explorer.server`)."""
    waiting: dict[Any, None] = {}

    class Protocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            waiting[self] = None
            if len(waiting) > WAITING:
                oldest = next(iter(waiting))
                del waiting[oldest]
                oldest.transport.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None:
                waiting.pop(self, None)

        def connection_lost(self, exc: Exception | None) -> None:
            waiting.pop(self, None)
            super().connection_lost(exc)

    return Protocol
