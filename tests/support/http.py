"""Requests to a server in this process."""

import contextlib
import json
import socket
import threading
import time
import urllib.error
import urllib.request


def free_port() -> int:
    """Returns a port that nobody uses."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


@contextlib.contextmanager
def running(application):
    """Serves an ASGI application in a thread; yields its address."""
    import uvicorn

    port = free_port()
    server = uvicorn.Server(uvicorn.Config(application, port=port, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:  # otherwise the thread of a failed test would keep the interpreter running
        server.should_exit = True
        thread.join()


def call(address, path, body=None, headers=None, method=None):
    """Returns the status and the content of a response; a body is JSON or bytes."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} if headers is None else headers
    request = urllib.request.Request(address + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.loads(response.read() or "null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or "null")
