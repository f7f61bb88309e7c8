"""Breaks commands, damages and edits files, forges bundles, runs hostile servers, calls oddly.

    python -m tests.measurements.failures.run_failures --output=failures.json
    python -m tests.measurements.failures.run_failures --replay=mutation:17 --seed=1

The summary is JSON. The exit status is 1 if anything failed; each failure says what replays it.
"""

import argparse
import functools
import json
import logging
import os
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Optional

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from disan_tf.common.files import scratch_folder  # noqa: E402
from tests.measurements.failures import downloads, loaded_models, saved_models  # noqa: E402
from tests.measurements.failures.commands import ForkServer, build_library  # noqa: E402
from tests.measurements.failures.edits import run_edits  # noqa: E402
from tests.measurements.failures.kills import KINDS, Breaker, Breaks, plan  # noqa: E402
from tests.measurements.failures.mutations import Reader, run_mutations  # noqa: E402
from tests.measurements.failures.scenarios import ALL, fresh, train_model, write_data  # noqa: E402
from tests.measurements.failures.surroundings import Surroundings  # noqa: E402

PARTS = (
    "kill",
    "write",
    "power",
    "mutations",
    "surroundings",
    "edits",
    "downloads",
    "calls",
    "leaks",
    "arguments",
    "forged",
)


class Harness:
    """All parts in one folder.

    Args:
      folder: empty.
      options: the flags.
    """

    def __init__(self, folder: Path, options):
        self._folder, self._options = folder, options
        self._data, self._model = folder / "originals/data", folder / "originals/model"
        library = build_library(folder)
        self._servers = [ForkServer(library) for _ in range(options.processes)]
        write_data(fresh(self._data))
        train_model(self._servers[0].run, self._data, self._model)
        self._until = time.monotonic() + 60 * options.minutes

    def run(self) -> dict:
        """The summary of the parts that were asked for."""
        parts = {
            name: self._breaks(name) if name in KINDS else getattr(self, f"_{name}")()
            for name in self._options.parts
        }
        for server in self._servers:
            server.close()
        failures = [failure for part in parts.values() for failure in part.pop("failures")]
        return {"seed": self._options.seed, **parts, "failures": failures}

    @functools.cached_property
    def _breakers(self):
        return [
            Breaker(server, self._folder / f"breaks-{number}", self._data, self._model)
            for number, server in enumerate(self._servers)
        ]

    def _breaks(self, kind: str) -> dict:
        """Chains of breaks, shared by the servers until there are enough or no time is left."""
        found, lock, most = Breaks(), threading.Lock(), getattr(self._options, kind)
        chains = iter(plan(kind, self._options.seed, 10 * most, self._options.commands))

        def work(breaker: Breaker) -> None:
            while True:
                with lock:
                    if found.count >= most or time.monotonic() > self._until:
                        return
                    name, seed = next(chains)
                try:
                    count, failure = breaker.chain(kind, name, seed)
                except Exception as error:  # what is left cannot be read, for instance
                    count, failure = 0, f"--replay={kind}:{name}:{seed} {error!r}"
                with lock:
                    found.add(name, count, failure)
                    self._tell(f"{found.count} of {kind}; {name}: {failure or 'ok'}")

        with ThreadPoolExecutor(len(self._servers)) as pool:
            list(pool.map(work, self._breakers))
        return {
            "cases": found.count,
            "by command": dict(sorted(found.by_scenario.items())),
            "failures": found.failures,
        }

    def _mutations(self) -> dict:
        found = run_mutations(
            self._folder / "originals",
            self._folder / "mutations",
            self._options.seed,
            self._options.mutations,
            self._options.processes,
            self._until,
        )
        return {"cases": found.cases, "refused": found.refused, "failures": found.failures}

    def _surroundings(self) -> dict:
        pair = (self._servers * 2)[:2]
        where, failures, ran = self._folder / "surroundings", [], 0
        for name, case in Surroundings(pair, where, self._data, self._model).cases():
            if time.monotonic() > self._until:
                break
            wrong, ran = case(), ran + 1
            self._tell(f"{name}: {wrong or 'ok'}")
            if wrong:
                failures.append(f"{name}: {wrong}")
        return {"cases": ran, "failures": failures}

    def _downloads(self) -> dict:
        cases = self._options.downloads
        failures = downloads.run_downloads(self._folder / "install", self._options.seed, cases)
        return {"cases": cases, "failures": failures}

    def _calls(self) -> dict:
        export = self._folder / "export"
        command = ALL["export"].command(self._data, export, self._model)
        outcome = self._servers[0].run(*command)
        assert outcome.complaint() is None, outcome.complaint()
        cases = self._options.calls
        failures = saved_models.run_calls(export, self._options.seed, cases)
        return {"cases": cases, "failures": failures}

    def _edits(self) -> dict:
        cases, where = self._options.edits, self._folder / "edits"
        failures = run_edits(self._servers[0], where, self._data, self._options.seed, cases)
        return {"cases": cases, "failures": failures}

    def _forged(self) -> dict:
        cases, where = self._options.forged, self._folder / "forged"
        failures = loaded_models.run_forged(self._model / "best", where, self._options.seed, cases)
        return {"cases": cases, "failures": failures}

    def _arguments(self) -> dict:
        cases = self._options.arguments
        failures = loaded_models.run_arguments(self._model, self._options.seed, cases)
        return {"cases": cases, "failures": failures}

    def _leaks(self) -> dict:
        calls = self._options.leaks
        return {"calls": calls, "failures": loaded_models.run_leaks(self._model, calls)}

    def _tell(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def replay(self, what: str) -> Optional[str]:
        """What is wrong with one chain of breaks, or one mutation."""
        kind, _, case = what.partition(":")
        if kind in KINDS:
            name, _, seed = case.partition(":")
            return self._breakers[0].chain(kind, name, int(seed))[1]
        scratch = self._folder / "mutations"
        return json.dumps(
            Reader(self._folder / "originals", scratch, self._options.seed).case(int(case))
        )


def _flags(arguments):
    parser = argparse.ArgumentParser(prog="run_failures", description=__doc__)
    parser.add_argument("--output", type=Path, help="file for the summary, JSON")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kill", type=int, default=200)
    parser.add_argument("--write", type=int, default=200, help="failing writes")
    parser.add_argument("--power", type=int, default=200, help="losses of power")
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--downloads", type=int, default=300)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--forged", type=int, default=300)
    parser.add_argument("--arguments", type=int, default=1000)
    parser.add_argument("--leaks", type=int, default=3000, help="calls of each function")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60, help="after which nothing is begun")
    parser.add_argument("--parts", nargs="*", default=PARTS[::-1], choices=PARTS)
    parser.add_argument("--commands", nargs="*", default=list(ALL), choices=list(ALL))
    parser.add_argument("--replay", help="<kind>:<command>:<seed> or mutation:<case>")
    return parser.parse_args(arguments)


def main(arguments=None) -> int:
    """Runs what the flags say; 1 if anything failed."""
    logging.getLogger("tensorflow").setLevel(logging.ERROR)  # of functions traced again
    options = _flags(arguments)
    with scratch_folder(Path(tempfile.gettempdir(), "failures")) as folder:
        started = time.monotonic()
        harness = Harness(folder, options)
        if options.replay:
            print(harness.replay(options.replay) or "ok")
            return 0
        summary = harness.run()
        summary["minutes"] = round((time.monotonic() - started) / 60, 1)
    text = json.dumps(summary, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")
    return 1 if summary["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
