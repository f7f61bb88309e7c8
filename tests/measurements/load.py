"""Measures `--mode=serve` under load, for models of single texts.

    python -m tests.measurements.load --output=server_load.json
    python -m tests.measurements.load --checkpoints runs/own --seconds=5

Clients send one short text each, first alone, then beside a client that always sends the longest
requests that the server allows, to `/predict` and to `/encode` at once.
"""

import argparse
import contextlib
import http.client
import inspect
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402

from disan_tf.cli.modes import serve  # noqa: E402
from disan_tf.study.benchmark.timing import describe_machine  # noqa: E402
from tests.support.processes import ROOT  # noqa: E402

TEXT = "Who wrote the book that lies on the table of the library ?"
CASES = {  # the number of clients with short requests -> whether long ones are sent too
    "16 clients": (16, False),
    "1 client": (1, False),
    "4 clients beside long requests": (4, True),
}


@contextlib.contextmanager
def served(checkpoint: str) -> Iterator[str]:
    """Serves a model in another process; yields its host and port."""
    command = [sys.executable, "run.py", "--mode=serve", f"--checkpoint={checkpoint}", "--port=0"]
    with subprocess.Popen(
        [*command, "--log_level=warning"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline().partition("http://")[2].partition("/")[0]
        try:
            yield address
        finally:
            process.terminate()


def ask(address: str, path: str, texts: list, until: float, seconds: list) -> None:
    """Sends a request again and again; appends the seconds of each to a list."""
    connection = http.client.HTTPConnection(address)
    body, headers = json.dumps({"texts": texts}), {"Content-Type": "application/json"}
    while time.monotonic() < until:
        begun = time.monotonic()
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise RuntimeError(f"{path}: {response.status} {content[:200]!r}")
        seconds.append(time.monotonic() - begun)
    connection.close()


def measure(address: str, clients: int, has_long: bool, duration: float) -> dict:
    """Returns the requests per second and their latencies in milliseconds."""
    limits = inspect.signature(serve).parameters
    most, longest = (limits[f"max_{what}_tokens"].default for what in ("request", "text"))
    long_texts = [" ".join(["film"] * longest)] * (most // longest)
    until, short, long = time.monotonic() + duration, [], {"/predict": [], "/encode": []}
    threads = [
        threading.Thread(target=ask, args=(address, "/predict", [TEXT], until, short))
        for _ in range(clients)
    ]
    if has_long:
        threads += [
            threading.Thread(target=ask, args=(address, path, long_texts, until, found))
            for path, found in long.items()
        ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {"requests_per_second": round(len(short) / duration, 1), **_latency(short)}
    return {**found, "long": _latency([*long["/predict"], *long["/encode"]])} if has_long else found


def _latency(seconds: list) -> dict:
    shares = {"median_ms": 0.5, "percentile_99_ms": 0.99, "max_ms": 1.0}
    return {
        name: round(1e3 * float(np.quantile(seconds, share)), 1) for name, share in shares.items()
    }


def main() -> None:
    """Measures each case with each model; prints the record, and writes it as JSON."""
    parser = argparse.ArgumentParser(prog="tests.measurements.load")
    parser.add_argument("--checkpoints", nargs="*", default=["disan_trec", "disan_sst5"])
    parser.add_argument("--seconds", type=float, default=20, help="seconds of each case")
    parser.add_argument("--output", help="file for the record, JSON")
    options = parser.parse_args()
    record = {"machine": describe_machine(), "seconds": options.seconds, "models": {}}
    for checkpoint in options.checkpoints:
        with served(checkpoint) as address:
            record["models"][checkpoint] = {
                name: measure(address, *case, options.seconds) for name, case in CASES.items()
            }
        print(checkpoint, json.dumps(record["models"][checkpoint], indent=2), flush=True)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
