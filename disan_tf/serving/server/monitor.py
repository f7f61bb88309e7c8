"""What operators of a server see: a line in the log for each request, and metrics."""

import asyncio
import logging
import time
from collections.abc import Collection
from urllib.parse import quote

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from disan_tf.serving.server.guard import shorten
from disan_tf.serving.server.scheduler import Scheduler

LOG = logging.getLogger("disan_tf.serving.server")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)  # bounds of a histogram
_LEFT = 499  # the status of a request whose client left, as nginx logs it


class Monitor:
    """Counts and logs the requests of an application.

    Args:
      app: the application.
      queue: the texts that wait for the model.
      paths: the paths that metrics name; others are "other".
      registry: gets the metrics.
    """

    def __init__(
        self, app: ASGIApp, queue: Scheduler, paths: Collection[str], registry: CollectorRegistry
    ):
        self._app, self._paths = app, paths
        ProcessCollector(registry=registry)  # memory, file descriptors and processor time
        self._requests = Counter(
            "disan_tf_requests", "Requests.", ["path", "status"], registry=registry
        )
        self._seconds = Histogram(
            "disan_tf_request_seconds",
            "Seconds from a request's headers to the end of its response.",
            ["path"],
            registry=registry,
            buckets=_SECONDS,
        )
        for name, meaning, function in (
            ("tokens", "Tokens that wait for the model.", queue.size),
            ("requests", "Requests that wait for the model or are computed.", queue.count),
        ):
            Gauge(f"disan_tf_waiting_{name}", meaning, registry=registry).set_function(function)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        start, status = time.monotonic(), _LEFT

        async def send_marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_marked)
        except asyncio.CancelledError:  # the server ends, and the client has not read its response
            pass
        finally:
            seconds = time.monotonic() - start
            path = scope["path"] if scope["path"] in self._paths else "other"
            self._requests.labels(path, status).inc()
            self._seconds.labels(path).observe(seconds)
            client = (scope.get("client") or ["-"])[0]  # X-Forwarded-For may give any text
            client = shorten(quote(client, safe=":"), 80)
            target = shorten(scope["raw_path"].decode("latin-1"))  # of printable ASCII
            LOG.info("%s %s %s %d %.1f ms", client, scope["method"], target, status, 1e3 * seconds)
