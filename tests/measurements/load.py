"""Measures `--mode=serve` under load.

python -m tests.measurements.load --url=http://127.0.0.1:8000/predict --clients=16 --seconds=20
"""

import argparse
import json
import threading
import time
import urllib.error
import urllib.request

import numpy as np

TEXT = "Who wrote the book that lies on the table of the library ?"


def main() -> None:
    """Prints requests a second, and the median and 99th percentile of their times."""
    parser = argparse.ArgumentParser(prog="tests.measurements.load")
    parser.add_argument("--url", required=True)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--text", default=TEXT)
    options = parser.parse_args()
    body = json.dumps({"texts": [options.text]}).encode()
    request = urllib.request.Request(options.url, body, {"Content-Type": "application/json"})

    try:
        urllib.request.urlopen(request).close()
    except urllib.error.URLError as error:
        parser.error(f"{options.url} does not answer: {error}")
    times, end = [], time.monotonic() + options.seconds

    def ask():
        while time.monotonic() < end:
            start = time.monotonic()
            with urllib.request.urlopen(request) as response:
                response.read()
            times.append(time.monotonic() - start)

    clients = [threading.Thread(target=ask) for _ in range(options.clients)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    middle, last = np.quantile(times, [0.5, 0.99]) * 1000
    print(
        f"{options.clients} clients: {len(times) / options.seconds:,.0f} requests a second, "
        f"median {middle:.0f} ms, 99th percentile {last:.0f} ms"
    )


if __name__ == "__main__":
    main()
