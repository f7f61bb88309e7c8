"""The process of `--mode=serve`: its address, its log, and its shutdown."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import time

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from disan_tf.common.errors import Stopped, UserError
from disan_tf.common.process import ending_signals
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.server.app import Application
from disan_tf.serving.server.guard import Guard
from disan_tf.serving.server.monitor import LOG
from disan_tf.serving.server.service import Limits
from disan_tf.serving.server.texts import TextModel

_STOPPING = 25  # seconds that running requests have after the port is closed
_SENDING = 2  # seconds for sending the last responses
_IDLE = 30.0  # seconds that a connection may wait for its client


def serve(
    bundle: Bundle,
    name: str,
    host: str,
    port: int,
    limits: Limits,
    shutdown_delay: float,
    log_level: str,
) -> None:
    """Serves a model until SIGTERM, SIGHUP or Control-C.

    Then `/ready` responds with 503. After `shutdown_delay` seconds the port is closed, and running
    requests have 25 seconds to end; the others are answered with the status 503.

    Raises:
      UserError: the address cannot be used.
    """
    if not host:
        raise UserError("--host is empty; name an address, or 0.0.0.0 for all network interfaces.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        host.encode("idna")  # else the socket raises TypeError
        bound = socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        raise UserError(f"--host={host} --port={port}: {error}; choose another address.") from None
    # Connections inherit this; without it, a client that keeps its connection waits 40 ms.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux ends connections whose client does not read
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * _IDLE))
    model = TextModel(bundle)
    model.compile()
    application = Application(model, name, limits)
    _set_up_log(log_level)
    server = _Server(application, shutdown_delay)
    for number in ending_signals():
        signal.signal(number, server.handle_exit)
    print(f"{name}: {make_url(host, bound.getsockname()[1])}/docs", flush=True)
    with contextlib.suppress(Stopped, KeyboardInterrupt):  # raised again after the shutdown
        server.run([bound])
    if application.service.is_computing:  # Python would wait for the thread
        sys.stdout.flush()
        os._exit(0)


def make_url(host: str, port: int) -> str:
    """Returns the address of a server; an IPv6 address has brackets around it."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _set_up_log(level: str) -> None:
    """Writes logs to standard error; at "info", uvicorn logs only warnings and errors."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    levels = {LOG: level, logging.getLogger("uvicorn"): "warning" if level == "info" else level}
    for logger, threshold in levels.items():
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(threshold.upper())


class _Connection(H11Protocol):
    """A connection that is closed if its client sends nothing, and no request runs.

    uvicorn closes idle connections only after a response. This class also closes them before the
    first request, and inside a header or the body of a refused request. The connection is checked
    every `_IDLE` seconds, so it may be idle for up to twice this time.
    """

    def connection_made(self, transport) -> None:
        super().connection_made(transport)
        self._has_received = False
        self._timer = self.loop.call_later(_IDLE, self._check)

    def data_received(self, data: bytes) -> None:
        self._has_received = True
        super().data_received(data)

    def connection_lost(self, exc) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _check(self) -> None:
        is_running = self.cycle is not None and not self.cycle.response_complete
        if not (is_running or self._has_received):
            self.transport.close()  # sends the rest of a response first
            return
        self._has_received = is_running
        self._timer = self.loop.call_later(_IDLE, self._check)


class _Server(uvicorn.Server):
    """A server whose port stays open for a while after a signal, and whose requests then end."""

    def __init__(self, application: Application, delay: float):
        longest = _STOPPING + _SENDING
        super().__init__(
            uvicorn.Config(
                application,
                http=_Connection,
                ws="none",  # connections of WebSocket would have no limits
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=longest,
            )
        )
        self._guard: Guard = application.guard
        self._delay, self._closes = delay, 0.0  # seconds; the time at which the port closes

    def handle_exit(self, sig, frame) -> None:
        """Notes a signal; the second one ends the delay, and further ones change nothing."""
        is_first = not self._guard.is_stopping
        self._closes = time.monotonic() + self._delay * is_first
        self._guard.is_stopping = True
        super().handle_exit(sig, frame)
        self.force_exit = False  # a second Control-C sets it, which would drop running requests

    async def on_tick(self, counter: int) -> bool:
        """Returns whether the port is closed now; uvicorn calls this each tenth of a second."""
        return await super().on_tick(counter) and time.monotonic() >= self._closes

    async def shutdown(self, sockets=None) -> None:
        """Closes the port, and waits for the requests that run."""
        asyncio.get_running_loop().call_later(_STOPPING, self._guard.stop)
        await super().shutdown(sockets)
