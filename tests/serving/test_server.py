"""`--mode=serve`: requests over HTTP, their limits, batches, and the end."""

import asyncio
import contextlib
import json
import multiprocessing
import socket
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from disan_tf.serving.inference.model import LoadedModel
from tests.support.errors import user_error
from tests.support.runs.command import run_forked

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("fastapi")

from disan_tf.serving import server as served  # noqa: E402
from disan_tf.serving.server import Batcher  # noqa: E402

TEXTS = ["the film is not dull .", "the plot is superb , but the acting is awful .", "", "zzzz"]


@pytest.mark.parametrize("host, port", [("no.invalid", 8000), ("127.0.0.1", None)])
def test_an_address_that_cannot_be_used_is_refused(host, port, model):
    with socket.create_server(("127.0.0.1", 0)) as other:  # a port in use
        port = port or other.getsockname()[1]
        message = user_error(served.serve, model, "demo", host, port)
    assert message.startswith(f"--host={host} --port={port}: ")
    assert "must be from 0 to 65535" in user_error(served.serve, model, "demo", host, 65536)


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


@contextlib.contextmanager
def running(model, name):
    port = free_port()
    config = uvicorn.Config(served.make_app(model, name), port=port, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def model(loaded):
    return loaded("demo")


@pytest.fixture(scope="module")
def address(model):
    with running(model, "demo") as address:
        yield address


def call(address, path, body=None):
    """Returns the status and the content."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_predictions_and_vectors_are_those_of_the_model(address, model):
    status, found = call(address, "/predict", {"texts": TEXTS})
    assert status == 200 and found == {"predictions": model.predict(TEXTS)}
    assert found["predictions"][2]["blank"] and found["predictions"][3]["no_known_word"]
    _, found = call(address, "/encode", {"texts": TEXTS})
    np.testing.assert_allclose(found["vectors"], model.encode(TEXTS), atol=1e-6)


def test_the_most_probable_classes_are_those_of_the_model(address, model):
    _, found = call(address, "/predict", {"texts": TEXTS, "top_k": 1})
    expected = model.predict(TEXTS, top_k=1)
    expected[2] = model.predict([""])[0]
    assert found["predictions"] == expected


def test_health_and_the_description(address, model):
    assert call(address, "/health") == (
        200,
        {"status": "ok", "model": "demo", "fields": ["text"], "classes": list(model.classes)},
    )
    _, described = call(address, "/openapi.json")
    assert set(described["paths"]) == {"/health", "/predict", "/encode"}
    for path in ("/predict", "/encode"):
        post = described["paths"][path]["post"]
        assert set(post["responses"]) == {"200", "413", "422", "503"} and post["description"]


@pytest.mark.parametrize(
    "body, status",
    [
        ({"texts": []}, 422),
        ({"texts": ["a"] * (served.MAX_TEXTS + 1)}, 422),
        ({"texts": ["a" * (served.MAX_CHARACTERS + 1)]}, 422),
        ({"texts": ["a"], "top_k": 0}, 422),
        (b"{", 422),
        (b" " * (served.MAX_BYTES + 1), 413),
    ],
)
def test_other_requests_are_refused(address, body, status):
    assert call(address, "/predict", body)[0] == status


def test_a_model_of_pairs_reads_objects(sick_bundle):
    model = LoadedModel(sick_bundle)
    pair = {"sentence_a": "a good film", "sentence_b": "boring"}
    with running(model, "sick") as address:
        _, found = call(address, "/predict", {"texts": [pair]})
        assert found == {"predictions": model.predict([pair])}
        assert call(address, "/predict", {"texts": [["a", "b"]]})[0] == 422


def gather(batcher, *requests):
    """Returns the results of concurrent requests."""

    async def run():
        task = asyncio.create_task(batcher.run())
        found = await asyncio.gather(*map(batcher, requests), return_exceptions=True)
        task.cancel()
        return found

    return asyncio.run(run())


def test_waiting_requests_are_computed_together():
    calls = []

    def compute(items):
        calls.append(list(items))
        time.sleep(0.05)
        return [item * 10 for item in items]

    found = gather(Batcher(compute, 4), [1], [2, 3], [4], [5, 6, 7], [8])
    assert found == [[10], [20, 30], [40], [50, 60, 70], [80]]
    assert calls == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_a_failure_reaches_the_requests_of_its_batch_alone():
    def compute(items):
        if 2 in items:
            raise ValueError("two")
        return items

    first, second = gather(Batcher(compute, 1), [2], [3])
    assert isinstance(first, ValueError) and second == [3]


def test_too_many_waiting_requests_are_refused(monkeypatch):
    monkeypatch.setattr(served, "MAX_WAITING", 2)
    *found, last = gather(Batcher(lambda items: items, 8), [1], [2], [3])
    assert found == [[1], [2]] and last.status_code == 503


def test_sigterm_ends_the_command_after_the_running_requests():
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with ThreadPoolExecutor(5) as pool:
        arguments = ["--mode=serve", "--checkpoint=demo", f"--port={port}"]
        command = pool.submit(run_forked, *arguments)
        while not command.done():
            with contextlib.suppress(urllib.error.URLError):
                assert call(address, "/health")[0] == 200
                break
            time.sleep(0.1)
        body = {"texts": ["a dull film"] * 256}
        answers = [pool.submit(call, address, "/predict", body) for _ in range(4)]
        time.sleep(0.2)
        for process in multiprocessing.active_children():
            process.terminate()
        assert [answer.result()[0] for answer in answers] == [200] * 4
        outcome = command.result()
    assert (outcome.returncode, outcome.stderr) == (0, "") and f"{address}/docs" in outcome.stdout
