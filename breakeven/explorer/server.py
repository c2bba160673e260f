"""The server behind the page: on the loopback interface alone, for whoever has the token.

It serves one page and answers questions; it reads no file that a request names.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from breakeven.errors import UserError
from breakeven.explorer import page
from breakeven.explorer.hub import Hub
from breakeven.explorer.state import as_row
from breakeven.files.reading import parsed_json

#: bytes of a question, and of a routine's file
_MOST_QUESTION, _MOST_FILE = 1 << 20, 1 << 24
#: bytes of the page's query, which is looked at before anybody is let in
_MOST_QUERY = 1 << 12
_HEADERS = {
    "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": page.POLICY + "; connect-src 'self'; frame-ancestors http://127.0.0.1:* "
    "http://localhost:*",
}  # fmt: skip
_SUFFIXES, _LONGEST_NAME = (".S", ".s", ".c", ".o"), 100

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]


def application(hub: Hub, token: str, port: int) -> App:
    """The ASGI application."""

    async def show(request: Request) -> Response:
        data = {"live": True, "token": token, "state": as_row(hub.first)}
        return HTMLResponse(page.html("breakeven explore", data), headers=_HEADERS)

    async def ask(request: Request) -> Response:
        question = await _json(request)
        lines = hub.stream(str(question.get("tab", "")), str(question.get("kind", "")), question)
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=_HEADERS)

    async def add(request: Request) -> Response:
        name, kind, isa = (request.query_params.get(word, "") for word in ("name", "kind", "isa"))
        body = await _body(request, _MOST_FILE)
        adding = asyncio.create_task(_added(hub, name, kind, isa, body))
        gone = asyncio.create_task(_gone(request))
        try:
            await asyncio.wait((adding, gone), return_when=asyncio.FIRST_COMPLETED)
            if not adding.done():
                adding.cancel()
            return JSONResponse(await adding, headers=_HEADERS)
        except asyncio.CancelledError:
            return PlainTextResponse("ended, as nobody waits for it\n", 499, headers=_HEADERS)
        finally:
            gone.cancel()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        hub.close()

    async def refused(_: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, status_code=400, headers=_HEADERS)

    routes = [Route("/", show), Route("/ask", ask, methods=["POST"]), Route("/add", add, methods=["POST"])]
    inner = Starlette(routes=routes, lifespan=lifespan, exception_handlers={UserError: refused})
    return _guarded(inner, token, port)


def _guarded(inner: App, token: str, port: int) -> App:
    """`inner` for requests to this host's own name that bring the token; another site's page has neither."""
    hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}

    async def guard(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await inner(scope, receive, send)
            return
        host = dict(scope["headers"]).get(b"host")
        if host not in hosts or not hmac.compare_digest(_token(scope), token.encode()):
            text = "This page needs the whole address that `breakeven explore` printed, with its token.\n"
            await PlainTextResponse(text, 403, headers={**_HEADERS, "Connection": "close"})(scope, receive, send)
            return
        await inner(scope, receive, send)

    return guard


def _token(scope: Scope) -> bytes:
    """The token that a request brings, or says that it does."""
    query: bytes = scope["query_string"]
    if scope["path"] != "/":
        return bytes(dict(scope["headers"]).get(b"x-token", b""))
    if len(query) > _MOST_QUERY:
        return b""
    return dict(word.partition(b"=")[::2] for word in query.split(b"&")).get(b"token", b"")


async def _body(request: Request, most: int) -> bytes:
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > most:
            raise UserError(f"more than {most} bytes were sent")
    return data


async def _gone(request: Request) -> None:
    """Waits until the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _json(request: Request) -> dict[str, Any]:
    try:
        found = parsed_json(await _body(request, _MOST_QUESTION))
    except ValueError as error:
        raise UserError(f"a question is an object in JSON: {error}") from None
    if not isinstance(found, dict):
        raise UserError("a question is an object in JSON")
    return found


async def _added(hub: Hub, name: str, kind: str, isa: str, data: bytes) -> dict[str, Any]:
    """A dropped file, built in a folder of its own: its name alone is taken from the request."""
    plain = re.sub(r"[^A-Za-z0-9._+-]", "-", Path(name).name).lstrip(".-")
    if not plain.endswith(_SUFFIXES):
        raise UserError(f"{name!r}: a routine is a file whose name ends in {', '.join(_SUFFIXES)}")
    if len(plain) > _LONGEST_NAME:
        raise UserError(f"a routine's file has a name of {len(plain)} letters: give it one of {_LONGEST_NAME} at most")
    with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
        file = Path(folder, plain)
        file.write_bytes(data)
        return await hub.add(file, "" if plain.endswith(".o") else isa, kind or "copy")
