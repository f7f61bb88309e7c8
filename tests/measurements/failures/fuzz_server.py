"""Sends wrong requests to `--mode=serve`; each must get a response, and none the status 500.

    python -m tests.measurements.failures.fuzz_server --output=requests.json
    python -m tests.measurements.failures.fuzz_server --replay=unicode:17 --seed=1

The summary is JSON. The exit status is 1 if a case failed; each failure names the flag that
replays it.
"""

import argparse
import contextlib
import http.client
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from tests.measurements.failures.wrong_requests import KINDS, VALID, post
from tests.support.processes import ROOT

TIMEOUT = 2.0  # --timeout of the server
PATIENCE = 30.0  # seconds for a response


def send(address: tuple[str, int], request: bytes) -> Optional[tuple[int, bytes]]:
    """Returns the status and the body of the response; None if the connection was closed."""
    with socket.create_connection(address, timeout=PATIENCE) as connection:
        with contextlib.suppress(ConnectionError):  # the server refuses the rest of the body
            connection.sendall(request)
        method = request.partition(b" ")[0].decode("latin-1")
        try:
            response = http.client.HTTPResponse(connection, method=method)
            response.begin()
            return response.status, response.read()
        except (ConnectionError, http.client.BadStatusLine):
            return None


def complaint(request: bytes, answer: Optional[tuple[int, bytes]]) -> str:
    """Returns what is wrong with a response; "" if nothing is."""
    if answer is None:
        return "" if len(request) > 1 << 20 else "no response"
    status, body = answer
    if status >= 500 and status != 503:
        return f"status {status}: {body[:200]!r}"
    if status == 422:
        try:
            sentence = json.loads(body.decode("utf-8"))["detail"]
        except (ValueError, KeyError):
            return f"the refusal is {body[:200]!r}"
        if len(sentence) > 300:
            return f"the refusal has {len(sentence):,} characters"
    return ""


def try_case(address: tuple[str, int], kind: str, number: int, seed: int) -> tuple[str, str]:
    """Sends a drawn request; returns its status, and what is wrong with the response."""
    request = KINDS[kind](random.Random(f"{seed} {kind} {number}"))
    try:
        answer = send(address, request)
    except TimeoutError:
        return "none", f"no response in {PATIENCE:g} s"
    return str(answer and answer[0]), complaint(request, answer)


@contextlib.contextmanager
def served(log: Path, checkpoint: str) -> Iterator[tuple[str, int]]:
    """Serves a model in another process, which must end in order, without a traceback."""
    flags = [
        f"--checkpoint={checkpoint}",
        "--port=0",
        f"--timeout={TIMEOUT}",
        "--log_level=warning",
    ]
    command = [sys.executable, "run.py", "--mode=serve", *flags]
    with (
        open(log, "wb") as errors,
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        address = process.stdout.readline().partition("http://")[2].partition("/")[0]
        host, _, port = address.partition(":")
        try:
            yield host, int(port)
        finally:
            process.send_signal(signal.SIGTERM)
        process.wait(60)
    logged = log.read_text(encoding="utf-8", errors="replace")
    if process.returncode or "Traceback" in logged:
        raise RuntimeError(f"status {process.returncode}, {logged[-2000:]}")


def run(options) -> dict:
    """Tries all cases that the flags ask for; returns a summary."""
    jobs = [(kind, number) for kind in options.kinds for number in range(options.cases)]
    if options.replay:
        kind, _, number = options.replay.partition(":")
        jobs = [(kind, int(number))]
    statuses, failures = {kind: Counter() for kind in options.kinds}, []
    with tempfile.TemporaryDirectory() as folder:
        try:
            with served(Path(folder, "log"), options.checkpoint) as address:
                for kind, number in jobs:
                    status, wrong = try_case(address, kind, number, options.seed)
                    statuses[kind][status] += 1
                    if wrong:
                        failures.append(f"--replay={kind}:{number} {wrong}")
                status, wrong = send(address, post(json.dumps(VALID).encode()))
                if status != 200:
                    failures.append(f"a valid request afterwards: {status} {wrong!r}")
        except RuntimeError as error:
            failures.append(f"the server: {error}")
    return {"seed": options.seed, "statuses": statuses, "failures": failures}


def main(arguments=None) -> int:
    """Runs the cases that the flags ask for; returns 1 if one failed."""
    parser = argparse.ArgumentParser(prog="fuzz_server", description=__doc__)
    parser.add_argument("--output", type=Path, help="file for the summary, JSON")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=300, help="cases of each kind")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--checkpoint", default="demo", help="a model of single texts")
    parser.add_argument("--replay", metavar="KIND:CASE", help="a case, such as unicode:17")
    options = parser.parse_args(arguments)
    text = json.dumps(run(options), indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    return 1 if json.loads(text)["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
