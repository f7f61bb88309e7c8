"""Requests that end early: their client leaves, they take too long, or the server stops."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.http import call, running
from tests.support.models.slow_texts import SlowTexts

for module in ("fastapi", "uvicorn", "prometheus_client"):
    pytest.importorskip(module)

from disan_tf.serving.server import service  # noqa: E402
from disan_tf.serving.server.app import Application  # noqa: E402
from disan_tf.serving.server.service import Limits  # noqa: E402


def open_request(address, path, body, length=None):
    """Sends a request, or the beginning of it; returns its socket."""
    host, port = address.removeprefix("http://").split(":")
    data = json.dumps(body).encode()
    connection = socket.create_connection((host, int(port)))
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {length or len(data)}\r\n\r\n".encode() + data)
    return connection


@pytest.mark.parametrize("path", ["/predict", "/encode"])
def test_the_texts_of_a_client_that_left_are_not_computed(path, monkeypatch):
    monkeypatch.setattr(service, "CHUNK", 10)
    model = SlowTexts(seconds=0.02)
    with running(Application(model, "slow", Limits())) as address:
        with open_request(address, path, {"texts": ["a " * 10] * 20}):
            model.begins.wait()
        time.sleep(0.5)
        assert call(address, "/predict", {"texts": ["a b"]})[0] == 200
        assert call(address, "/health")[0] == 200
    assert len(model.chunks) < 6 and model.chunks[-1] == ("predict", [2])


def test_a_long_request_does_not_block_a_short_one(monkeypatch):
    monkeypatch.setattr(service, "CHUNK", 10)
    model = SlowTexts(seconds=0.02)
    with running(Application(model, "slow", Limits())) as address, ThreadPoolExecutor(1) as pool:
        running_long = pool.submit(call, address, "/predict", {"texts": ["a " * 10] * 10})
        model.begins.wait()
        assert call(address, "/encode", {"texts": ["a b"]})[0] == 200 and not running_long.done()
        assert running_long.result()[0] == 200


def test_a_request_that_takes_too_long_is_answered_and_not_computed_further(monkeypatch):
    monkeypatch.setattr(service, "CHUNK", 10)
    model = SlowTexts(seconds=0.02)
    with running(Application(model, "slow", Limits(4096, 2048, 0.5))) as address:
        found = call(address, "/predict", {"texts": ["a " * 10] * 20})
        late = "The request took longer than 0.5 seconds; try again later."
        assert found == (503, {"detail": late})
        assert call(address, "/predict", {"texts": ["a b"]})[0] == 200
        with open_request(address, "/predict", {"texts": ["a"]}, length=1000) as slow:
            assert slow.recv(1000).startswith(b"HTTP/1.1 503 ")
    assert len(model.chunks) < 6


def test_more_texts_than_the_queue_holds_are_refused(monkeypatch):
    monkeypatch.setattr(service, "MAX_WAITING", 100)
    model = SlowTexts(seconds=0.01)
    application = Application(model, "slow", Limits(50, 50, 30))
    with running(application) as address, ThreadPoolExecutor(8) as pool:
        body = {"texts": ["a " * 25] * 2}
        found = [*pool.map(lambda _: call(address, "/predict", body), range(8))]
    assert {status for status, _ in found} == {200, 503}
    assert (503, {"detail": "Too many texts wait; try again later."}) in found


def test_a_stop_ends_all_requests(monkeypatch):
    monkeypatch.setattr(service, "CHUNK", 10)
    model = SlowTexts(seconds=0.05)
    application = Application(model, "slow", Limits())
    with running(application) as address, ThreadPoolExecutor(2) as pool:
        bodies = {"texts": ["a " * 10] * 50}, {"texts": ["a " * 10] * 60}
        waiting = [pool.submit(call, address, "/predict", body) for body in bodies]
        model.begins.wait()
        application.guard.is_stopping = True
        assert call(address, "/ready") == (503, {"detail": "The server is stopping."})
        assert call(address, "/health")[0] == 200
        application.guard.stop()
        for request in waiting:
            assert request.result() == (503, {"detail": "The server is stopping."})
