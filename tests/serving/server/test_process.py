"""The server's process: its address, and its end after a signal."""

import contextlib
import http.client
import json
import os
import random
import re
import signal
import socket
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.measurements.load import TEXT, served
from tests.support.errors import user_error
from tests.support.http import call, free_port
from tests.support.models.slow_texts import serve_slowly
from tests.support.processes import ROOT
from tests.support.runs.command import SERVER, needs_sighup, run_forked

for module in ("fastapi", "uvicorn", "prometheus_client"):
    pytest.importorskip(module)

from disan_tf.serving.presets import find_bundle  # noqa: E402
from disan_tf.serving.server.process import make_url, serve  # noqa: E402
from disan_tf.serving.server.service import Limits  # noqa: E402

STOPPING = (503, {"detail": "The server is stopping."})


@pytest.mark.parametrize(
    "host, port",
    [("no.invalid", 8000), ("127.0.0.1", None), ("é" * 70, 8000)],
)
def test_an_address_that_cannot_be_used_is_refused(host, port):
    with socket.create_server(("127.0.0.1", 0)) as other:  # a port in use
        port = port or other.getsockname()[1]
        message = user_error(serve, None, "demo", host, port, Limits(), 0.0, "info")
    assert message.startswith(f"--host={host} --port={port}: ")


def test_an_empty_host_is_refused():
    message = user_error(serve, None, "demo", "", 0, Limits(), 0.0, "info")
    assert message == "--host is empty; name an address, or 0.0.0.0 for all network interfaces."


@pytest.mark.parametrize("host, shown", [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
def test_the_printed_address_can_be_opened(host, shown):
    assert make_url(host, 8000) == f"http://{shown}:8000"


class Slow:
    """A server of `SlowTexts` in a fork."""

    def __init__(self, folder, seconds, delay=0.0, stopping=25.0, idle=30.0):
        self.folder = folder
        arguments = folder, seconds, delay, stopping, idle
        self.process = SERVER.Process(target=serve_slowly, args=arguments, daemon=True)
        self.process.start()
        while not (printed := self.read("stdout")).endswith("/docs\n"):
            assert self.process.is_alive()
            time.sleep(0.05)
        self.address = printed.partition(": ")[2].removesuffix("/docs\n")

    def read(self, name):
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def stop(self, number=signal.SIGTERM):
        os.kill(self.process.pid, number)
        return time.monotonic()

    def wait(self):
        """Returns the exit status and the log, without the lines of requests."""
        self.process.join(60)
        log = [line for line in self.read("stderr").splitlines() if " INFO 127.0.0.1 " not in line]
        return self.process.exitcode, log


@pytest.mark.parametrize(
    "signals",
    [
        [signal.SIGINT],
        pytest.param([signal.SIGHUP], marks=needs_sighup),
        [signal.SIGINT] * 3,
    ],
)
def test_running_requests_are_answered_after_signals(tmp_path, signals):
    server = Slow(tmp_path, seconds=0.02)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(call, server.address, "/predict", {"texts": ["a " * 10] * 10})
        for number in signals:
            time.sleep(0.3)
            server.stop(number)
        assert running.result()[0] == 200
    assert server.wait() == (0, [])
    with pytest.raises(urllib.error.URLError):
        call(server.address, "/health")


@pytest.mark.parametrize("texts", [["a " * 1000], ["a " * 100] * 10])
def test_a_long_computation_does_not_delay_the_end(tmp_path, texts):
    server = Slow(tmp_path, seconds=0.1, stopping=0.5)
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(call, server.address, "/predict", {"texts": texts}) for _ in "ab"]
        time.sleep(0.5)
        stopped = server.stop()
        assert [request.result() for request in running] == [STOPPING] * 2
        assert server.wait() == (0, []) and time.monotonic() - stopped < 5


HEAD = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
GET = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
TEXT_HEAD = HEAD.replace(b"application/json", b"text/plain")


def _connect(server):
    host, port = server.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)))


def test_clients_that_neither_send_nor_read_do_not_delay_the_end(tmp_path):
    server = Slow(tmp_path, seconds=0.0, stopping=0.5)
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(_connect(server)) for _ in range(3)]
        connections[1].sendall(HEAD)
        connections[2].sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        time.sleep(0.3)
        stopped = server.stop()
        assert server.wait() == (0, []) and time.monotonic() - stopped < 5
        assert connections[2].recv(100).startswith(b"HTTP/1.1 503 ")


def _open_files(server):
    with urllib.request.urlopen(f"{server.address}/metrics") as response:
        (number,) = re.findall("^process_open_fds (.+)$", response.read().decode(), re.M)
    return float(number)


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="counts open files; needs Linux")
@pytest.mark.parametrize(
    "parts",
    [
        [],
        [HEAD],  # has no end
        [GET, HEAD],
        [TEXT_HEAD + b"Content-Length: 100\r\n\r\n", b"{"],  # refused after the header
        [GET * 3000],  # the responses have 9 MB
    ],
    ids=["nothing", "half a header", "half of the second header", "half a body", "does not read"],
)
def test_a_client_that_neither_sends_nor_reads_is_disconnected(tmp_path, parts):
    server = Slow(tmp_path, seconds=0.0, idle=2.0)
    files = _open_files(server)
    with _connect(server) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(0.3)
        assert _open_files(server) > files
        begun = time.monotonic()
        while _open_files(server) > files:
            assert time.monotonic() - begun < 20
            time.sleep(0.2)
    server.stop()
    assert server.wait() == (0, [])


def test_slow_clients_and_requests_that_run_are_not_disconnected(tmp_path):
    server = Slow(tmp_path, seconds=0.4, idle=1.0)
    with ThreadPoolExecutor(1) as pool, _connect(server) as slow, _connect(server) as reader:
        reader.sendall(GET * 999 + GET[:-2] + b"Connection: close\r\n\r\n")
        running = pool.submit(call, server.address, "/predict", {"texts": ["a " * 12]})
        received = b""
        for byte in HEAD[:20]:
            slow.sendall(bytes([byte]))
            received += reader.recv(1 << 17)
            time.sleep(0.3)
        slow.sendall(HEAD[20:] + b'Content-Length: 16\r\n\r\n{"texts": ["a"]}')
        assert slow.recv(100).startswith(b"HTTP/1.1 200 ") and running.result()[0] == 200
        while data := reader.recv(1 << 20):
            received += data
    assert received.count(b"HTTP/1.1 200 ") == 1000
    server.stop()
    assert server.wait() == (0, [])


@pytest.mark.parametrize("path", ["/ready", "/openapi.json"])
def test_responses_on_one_connection_are_not_delayed(tmp_path, path):
    server = Slow(tmp_path, seconds=0.0)
    connection = http.client.HTTPConnection(server.address.removeprefix("http://"))
    connection.request("GET", path)
    connection.getresponse().read()
    begun = time.monotonic()
    for _ in range(20):
        connection.request("GET", path)
        assert connection.getresponse().read()
    assert time.monotonic() - begun < 20 * 0.03  # a delayed acknowledgement takes 0.04
    connection.close()
    server.stop()
    assert server.wait() == (0, [])


@pytest.mark.parametrize("signals", [1, 2])
def test_the_port_stays_open_for_the_delay_and_a_second_signal_ends_it(tmp_path, signals):
    server = Slow(tmp_path, seconds=0.0, delay=2.0)
    assert call(server.address, "/ready")[0] == 200
    stopped = server.stop()
    time.sleep(0.3)
    assert call(server.address, "/ready") == STOPPING
    assert call(server.address, "/health")[0] == 200
    assert call(server.address, "/predict", {"texts": ["a"]})[0] == 200
    if signals == 2:
        server.stop()
    assert server.wait() == (0, [])
    seconds = time.monotonic() - stopped
    assert 2 <= seconds < 4 if signals == 1 else seconds < 2


def _of_dockerfile(instruction):
    """Returns the list of words of an instruction."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    (found,) = [line for line in lines if line.startswith(f"{instruction} ")]
    return json.loads(found.partition(" ")[2])


def test_the_containers_command_serves_until_sigterm():
    program, *flags = _of_dockerfile("ENTRYPOINT")
    (checkpoint,) = _of_dockerfile("CMD")
    assert program == "disan-tf" and find_bundle(checkpoint.removeprefix("--checkpoint="))
    flags.append("--checkpoint=demo")  # a smaller model
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with ThreadPoolExecutor(5) as pool:
        command = pool.submit(run_forked, *flags, f"--port={port}", "--log_level=warning")
        while not command.done():
            with contextlib.suppress(urllib.error.URLError):
                assert call(address, "/health")[0] == 200
                break
            time.sleep(0.1)
        body = {"texts": ["a dull film"] * 256}
        answers = [pool.submit(call, address, "/predict", body) for _ in range(4)]
        time.sleep(0.2)
        for process in SERVER.active_children():
            process.terminate()
        assert [answer.result()[0] for answer in answers] == [200] * 4
        outcome = command.result()
    assert (outcome.returncode, outcome.stderr) == (0, "") and f":{port}/docs" in outcome.stdout


@pytest.mark.slow
def test_memory_does_not_grow():
    draw = random.Random(1)
    words = TEXT.split()
    with served("demo") as address:
        connection = http.client.HTTPConnection(address)

        def request(method, path, body=None):
            connection.request(method, path, body, {"Content-Type": "application/json"})
            return connection.getresponse().read().decode()

        def send(count):
            for _ in range(count):
                lengths = [draw.choice([3, 8, 20, 40]) for _ in range(draw.choice([1, 2, 8]))]
                body = json.dumps(
                    {"texts": [" ".join(draw.choices(words, k=it)) for it in lengths]}
                )
                body = body[: draw.choice([len(body)] * 20 + [-3])]  # some are refused
                request("POST", draw.choice(["/predict", "/encode"]), body)
            found = re.search(
                "^process_resident_memory_bytes (.+)", request("GET", "/metrics"), re.M
            )
            return float(found[1])

        before = send(1000)
        assert send(4000) - before < 5e6
        connection.close()
