"""Checks the bodies of POST requests, limits their time, and cancels abandoned requests."""

import asyncio
import contextlib
from email.message import Message as Header
from typing import Optional

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from disan_tf.text.json_texts import parse_json

MAX_BYTES = 1 << 20  # in a request's body
STOPPING = "The server is stopping."


def refusal(status: int, detail: str) -> JSONResponse:
    """Makes the response to a request that is refused; after a 503 a client may try again."""
    headers = {"Retry-After": "1"} if status == 503 else None
    return JSONResponse({"detail": shorten(detail)}, status, headers)


def shorten(text: str, most: int = 200) -> str:
    """Truncates a text that may quote a request, and replaces what UTF-8 cannot encode."""
    text = text if len(text) <= most else f"{text[:most]} ..."
    return text.encode("utf-8", "replace").decode("utf-8")


class Refused(Exception):
    """The error if a body is refused; `refusal` takes its arguments."""


class Guard:
    """Lets only complete bodies of strict JSON through, and ends requests that nobody waits for.

    Bodies are limited to `MAX_BYTES` while they are read, have the type application/json, and obey
    the same rules as JSON files (`parse_json`). If the client leaves, the request is
    cancelled. If it takes longer than `timeout` seconds, or `stop` is called, it is cancelled and
    answered with the status 503.

    Args:
      app: the application.
      timeout: seconds for a POST request, from the end of its header until its response is in the
        buffers of the connection. Headers, requests of other methods, and the reading of the
        buffers by the client have no limit here; the server's process closes idle connections.

    Attributes:
      is_stopping: whether the server is about to stop; the server sets it.
    """

    def __init__(self, app: ASGIApp, timeout: float):
        self._app, self._timeout = app, timeout
        self._running: set[asyncio.Task] = set()
        self.is_stopping = False

    def stop(self) -> None:
        """Ends all requests."""
        for task in self._running:
            task.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            return await self._app(scope, receive, send)
        has_begun = False

        async def send_marked(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        task = asyncio.create_task(self._respond(scope, receive, send_marked))
        self._running.add(task)
        try:
            await asyncio.wait({task}, timeout=self._timeout)
        finally:
            self._running.discard(task)
            is_late = task.cancel()  # False if it has ended
        if not is_late and not task.cancelled():
            return task.result()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        if not has_begun:
            late = f"The request took longer than {self._timeout:g} seconds; try again later."
            response = refusal(503, late if is_late else STOPPING)
            await response(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on a request with its body; cancels it if its client leaves."""
        try:
            body = await _read_body(scope, receive)
        except Refused as refused:
            return await refusal(*refused.args)(scope, receive, send)
        if body is None:
            return None

        async def replay() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        work = asyncio.create_task(self._app(scope, replay, send))
        left = asyncio.create_task(receive())  # after the body comes only the client's departure
        try:
            await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            is_left = work.cancel()
        if not is_left:
            work.result()


async def _read_body(scope: Scope, receive: Receive) -> Optional[bytes]:
    """Returns the body of a request, or None if its client has left.

    Raises:
      Refused: it is too large, or not JSON.
    """
    headers = Header()
    headers["Content-Type"] = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1")
    if headers.get_content_type() != "application/json":
        raise Refused(415, "The header Content-Type must be application/json.")
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > MAX_BYTES:
            raise Refused(413, f"A request may have at most {MAX_BYTES:,} bytes.")
        if not message.get("more_body"):
            break
    try:
        parse_json(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refused(422, f"The body is not UTF-8 at byte {error.start}.") from None
    except ValueError as error:
        raise Refused(422, f"The body is {error}.") from None
    return bytes(body)
