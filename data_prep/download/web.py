"""Requests over http and https alone, and a watchdog that ends stalled requests."""

import contextlib
import socket
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping

SCHEMES = ("http", "https")
TIMEOUT = 60  # seconds without a byte before the server counts as gone
MIN_BYTES = 60_000  # with fewer bytes in TIMEOUT seconds a server counts as stalled: 1 kB a second


class Watchdog:
    """A watchdog that ends connections with fewer than `MIN_BYTES` bytes in `TIMEOUT` seconds.

    A timeout of the socket alone would let a server send a byte a minute for ever.

    Attributes:
      has_barked: whether the watchdog has ended connections.
    """

    def __init__(self):
        self.has_barked = False
        self._sockets, self._received, self._done = [], 0, threading.Event()

    def watch(self, connection: socket.socket) -> None:
        """Adds a connection."""
        self._sockets.append(connection)

    def count(self, received: int) -> None:
        """Counts received bytes."""
        self._received += received

    @contextlib.contextmanager
    def awake(self) -> Iterator[None]:
        """Watches the connections within the context."""
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join()

    def _run(self):
        seen = 0
        while not self._done.wait(TIMEOUT):
            if self._received - seen < MIN_BYTES:
                self.has_barked = True
                for connection in self._sockets:
                    with contextlib.suppress(OSError):  # it is closed already
                        socket.socket.shutdown(connection, socket.SHUT_RDWR)
            seen = self._received


def open_url(url: str, headers: Mapping[str, str], watchdog: Watchdog):
    """Returns the response to a GET request, following redirects.

    Raises:
      ValueError: the address, or a redirect's address, is not http or https, or a redirect leads
        from https to http.
      OSError, http.client.HTTPException: there is no proper response.
    """
    _check_scheme(url)
    http, https = urllib.request.HTTPHandler(), urllib.request.HTTPSHandler()
    for handler in (http, https):
        handler.do_open = _watched(handler.do_open, watchdog)
    opener = urllib.request.build_opener(http, https, Redirects())
    return opener.open(urllib.request.Request(url, headers=dict(headers)), timeout=TIMEOUT)


class Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https, but never from https to http."""

    def http_error_302(self, request, response, *rest):
        response.close()  # or its body would be read to the end, if there is one
        return super().http_error_302(request, response, *rest)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(self, request, response, code, message, headers, address):
        _check_scheme(address)
        if request.type == "https" and not address.startswith("https:"):
            raise ValueError(f"it redirects from https to {address[:100]!r}")
        return super().redirect_request(request, response, code, message, headers, address)


def _check_scheme(url: str) -> None:
    if urllib.parse.urlsplit(url).scheme not in SCHEMES:
        raise ValueError(f"{url[:100]!r} is not an address of {' or '.join(SCHEMES)}")


def _watched(do_open, watchdog: Watchdog):
    """Returns an `AbstractHTTPHandler.do_open` that passes each socket to a watchdog."""

    def make(connection_class):
        class Connection(connection_class):
            def connect(self):
                super().connect()
                watchdog.watch(self.sock)

        return Connection

    return lambda connection_class, *rest, **options: do_open(
        make(connection_class), *rest, **options
    )
