"""Starts the explorer: a free port on the loopback interface, the token, the browser; ends it on Ctrl-C."""

from __future__ import annotations

import html
import secrets
import socket
import string
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from breakeven.errors import UserError
from breakeven.explorer.process import first_worker
from breakeven.explorer.state import State, to_fragment
from breakeven.files.sandbox import terminable

if TYPE_CHECKING:
    import uvicorn

    from breakeven.explorer.hub import Hub


def listen(port: int) -> socket.socket:
    """A socket on 127.0.0.1; `port` 0: a free one."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", port))
        # From now on a browser waits for the server instead of being refused.
        sock.listen(64)
    except OSError as error:
        sock.close()
        why = (error.strerror or str(error)).lower()
        raise UserError(f"cannot listen on 127.0.0.1:{port}: {why}: give another --port, or none") from None
    return sock


def server(hub: Hub, token: str, port: int) -> uvicorn.Server:
    """The server of a hub's questions; its `run` takes the socket."""
    import asyncio  # the first worker is started before it is loaded

    import uvicorn

    from breakeven.explorer.connections import WAITING, out_of_descriptors, protocol
    from breakeven.explorer.server import application

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            asyncio.get_running_loop().set_exception_handler(out_of_descriptors)
            await super().startup(sockets)

        def handle_exit(self, sig: int, frame: Any) -> None:
            # Answers that are under way would hold the end up.
            asyncio.get_running_loop().call_soon_threadsafe(hub.stop)
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        application(hub, token, port), log_level="critical", access_log=False,
        server_header=False, timeout_graceful_shutdown=1, lifespan="on", http=protocol(), ws="none", loop="asyncio",
        backlog=WAITING,
    )  # fmt: skip
    return Server(config)


def serve(
    state: State, port: int = 0, browser: bool = True, store: Path | None = None, no_store: bool = False,
    threads: int = 0, link: str = "",
) -> None:  # fmt: skip
    """Serves until Ctrl-C. `threads`: of `Worker`. `link`: what the address has behind its ``#``; empty: the state."""
    sock = listen(port)
    # The worker simulates the first sizes while the server's own libraries are loaded.
    worker = first_worker(state, store, no_store, threads)
    from breakeven.explorer.hub import Hub

    hub = Hub(state, store, no_store, threads, worker)
    with terminable(), tempfile.TemporaryDirectory(prefix="breakeven-") as folder:  # private to this user
        try:
            port, token = sock.getsockname()[1], secrets.token_urlsafe(16)
            # A link of somebody else's may hold what steers a terminal.
            view = quote(link or to_fragment(state), safe=string.punctuation)
            address = f"http://127.0.0.1:{port}/?token={token}#{view}"
            print(f"breakeven explore: {address}\nCtrl-C ends it.", flush=True)
            if browser:
                # It starts, and waits at the socket, while the server's libraries are loaded.
                page = _leading_to(address, Path(folder))
                threading.Thread(target=_open, args=(page,), daemon=True).start()
            server(hub, token, port).run(sockets=[sock])
        except KeyboardInterrupt:
            pass  # how it is ended
        finally:
            hub.close()
            sock.close()


def _open(page: Path) -> None:
    import webbrowser

    webbrowser.open(page.as_uri())


def _leading_to(address: str, folder: Path) -> Path:
    """A page that leads to `address`, for this user alone: every user can read what a browser's process was given."""
    page = folder / "explore.html"
    page.touch(0o600)
    to = html.escape(address)
    page.write_text(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={to}"><a href="{to}">breakeven</a>\n')
    return page
