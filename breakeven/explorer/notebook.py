"""A view in a notebook: the live page while the kernel runs, its snapshot when it does not.

The server is a thread of the kernel (one for each store), so that nothing is left when the kernel ends. The live page
is shown once it has said that it is there: a notebook that is read later, elsewhere, or through another machine shows
the snapshot, which is part of the output.
"""

from __future__ import annotations

import secrets
import sys
import threading
from html import escape
from pathlib import Path

from breakeven.explorer.state import State, to_fragment

#: height of a view, in pixels
_HEIGHT = 900
#: what a live page tells the page that it is in (static/main.js)
_SAYS = "breakeven explore"
_STYLE = f"width:100%;height:{_HEIGHT}px;border:0"
_SCRIPT = """(() => {
  const [live, saved] = document.getElementById("NAME").querySelectorAll("iframe");
  addEventListener("message", (event) => {
    if (event.source === live.contentWindow && event.data === "SAYS") { live.hidden = false; saved.hidden = true; }
  });
  live.src = live.dataset.address;
})();"""
_servers: dict[tuple[Path | None, bool], Server] = {}


class Server:
    """A server in a thread of this process."""

    def __init__(self, state: State, store: Path | None, no_store: bool, threads: int = 0) -> None:
        from breakeven.explorer.hub import Hub
        from breakeven.explorer.launch import listen, server

        self._socket = listen(0)
        self.port, self.token = self._socket.getsockname()[1], secrets.token_urlsafe(16)
        self._hub = Hub(state, store, no_store, threads)
        self._server = server(self._hub, self.token, self.port)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()

    def address(self, state: State) -> str:
        """Where a state is shown; a machine file that it names was named by the notebook."""
        self._hub.allow(state.machine)
        return f"http://127.0.0.1:{self.port}/?token={self.token}#{to_fragment(state)}"

    def close(self) -> None:
        """Ends it, and the processes that simulate for it."""
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()
        self._hub.close()


def in_kernel() -> bool:
    """Whether this is the process of a notebook."""
    module = sys.modules.get("IPython")
    return module is not None and hasattr(module.get_ipython(), "kernel")


def running(state: State, store: Path | None, no_store: bool) -> Server:
    """The server of this process for a store, started when it is first asked for."""
    if (store, no_store) not in _servers:
        _servers[store, no_store] = Server(state, store, no_store)
    return _servers[store, no_store]


def saved_frame(page: str) -> str:
    """A snapshot: it may run its scripts and nothing else, and its styles and the notebook's stay apart."""
    return f'<iframe sandbox="allow-scripts allow-downloads" style="{_STYLE}" srcdoc="{escape(page)}"></iframe>'


def live_frame(page: str, address: str) -> str:
    """The live page at `address`; until it answers, and where it does not, the snapshot `page`."""
    name = f"breakeven-{secrets.token_hex(8)}"
    script = _SCRIPT.replace("NAME", name).replace("SAYS", _SAYS)
    live = f'<iframe hidden style="{_STYLE}" data-address="{escape(address)}"></iframe>'
    return f'<div id="{name}">{live}{saved_frame(page)}</div><script>{script}</script>'
