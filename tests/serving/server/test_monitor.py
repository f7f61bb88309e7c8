"""The log and the metrics of requests."""

import logging
import re
import threading
import urllib.error
import urllib.request

import pytest

from tests.support.http import call, running
from tests.support.models.slow_texts import SlowTexts

for module in ("fastapi", "uvicorn", "prometheus_client"):
    pytest.importorskip(module)

from disan_tf.serving.server.app import Application  # noqa: E402
from disan_tf.serving.server.monitor import LOG  # noqa: E402
from disan_tf.serving.server.service import Limits  # noqa: E402


@pytest.fixture
def lines():
    """The lines of the log."""
    found = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    yield found
    LOG.removeHandler(handler)


def metrics(address):
    with urllib.request.urlopen(f"{address}/metrics") as response:
        assert response.headers["Content-Type"].startswith("text/plain; version=")
        lines = response.read().decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def test_each_request_is_one_line_forges_no_other_and_is_counted(lines):
    with running(Application(SlowTexts(), "words", Limits())) as address:
        call(address, "/predict", {"texts": ["a b"]})
        call(address, "/predict", {"texts": [""]})
        call(address, "/predict", b"{")
        call(address, f"/{'x' * 1000}?%0Aforged%1b[31m")
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{address}/%0A%1b%E9/y")
        found = metrics(address)
    assert found['disan_tf_requests_total{path="/predict",status="200"}'] == "2.0"
    assert found['disan_tf_requests_total{path="/predict",status="422"}'] == "1.0"
    assert found['disan_tf_requests_total{path="other",status="404"}'] == "2.0"
    assert found['disan_tf_request_seconds_count{path="/predict"}'] == "3.0"
    assert found["disan_tf_waiting_tokens"] == found["disan_tf_waiting_requests"] == "0.0"
    assert float(found["process_resident_memory_bytes"]) > 1 << 20
    assert [re.sub(r"\d+\.\d ms$", "T", line) for line in lines] == [
        "127.0.0.1 POST /predict 200 T",
        "127.0.0.1 POST /predict 200 T",
        "127.0.0.1 POST /predict 422 T",
        f"127.0.0.1 GET /{'x' * 199} ... 404 T",
        "127.0.0.1 GET /%0A%1b%E9/y 404 T",
        "127.0.0.1 GET /metrics 200 T",
    ]


def test_a_forwarded_address_forges_no_line(lines):
    header = {"X-Forwarded-For": f"\x1b[31m 127.0.0.1 {'x' * 1000}"}
    with running(Application(SlowTexts(), "words", Limits())) as address:
        call(address, "/health", headers=header)
    (line,) = lines
    assert line.startswith(f"%1B%5B31m%20127.0.0.1%20{'x' * 56} ... GET /health 200 ")


def test_work_that_waits_is_measured():
    model = SlowTexts(seconds=0.05)
    with running(Application(model, "slow", Limits())) as address:
        body = {"texts": ["a " * 10, "a " * 1500]}
        thread = threading.Thread(target=call, args=(address, "/predict", body))
        thread.start()
        model.begins.wait()
        found = metrics(address)
        model.seconds = 0.0
        thread.join()
        assert found["disan_tf_waiting_tokens"] == "1500.0"
        assert found["disan_tf_waiting_requests"] == "1.0"
        assert metrics(address)["disan_tf_waiting_requests"] == "0.0"
