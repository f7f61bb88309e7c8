"""Breaks commands, damages and edits files, forges bundles, runs hostile servers, calls oddly.

    python -m tests.measurements.failures.run_failures --output=failures.json
    python -m tests.measurements.failures.run_failures --replay=mutation:17 --seed=1

The summary is JSON. The exit status is 1 if anything failed; each failure says what replays it.
"""

import argparse
import itertools
import json
import logging
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, NamedTuple, Optional, Union

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from disan_tf.common.files import scratch_folder  # noqa: E402
from tests.measurements.failures import downloads, loaded_models, saved_models  # noqa: E402
from tests.measurements.failures.commands import ForkServer, build_library  # noqa: E402
from tests.measurements.failures.edits import run_edits  # noqa: E402
from tests.measurements.failures.kills import KINDS, Breaker, plan  # noqa: E402
from tests.measurements.failures.mutations import Reader, run_mutations  # noqa: E402
from tests.measurements.failures.scenarios import ALL, fresh, train_model, write_data  # noqa: E402
from tests.measurements.failures.surroundings import Surroundings  # noqa: E402


class Harness:
    """All parts in one folder.

    Args:
      folder: empty.
      options: the flags.
    """

    def __init__(self, folder: Path, options):
        self.folder, self.options, self.seed = folder, options, options.seed
        self.data, self.model = folder / "originals/data", folder / "originals/model"
        library = build_library(folder)
        self.servers = [ForkServer(library) for _ in range(options.processes)]
        write_data(fresh(self.data))
        train_model(self.servers[0].run, self.data, self.model)
        self._until = time.monotonic() + 60 * options.minutes
        places = [folder / f"breaks-{number}" for number in range(options.processes)]
        self._breakers = [
            Breaker(server, place, self.data, self.model)
            for server, place in zip(self.servers, places)
        ]

    def run(self) -> dict:
        """The summary of the parts that were asked for."""
        parts = {}
        for name in self.options.parts:
            cases = getattr(self.options, name)
            found = PARTS[name].run(self, cases)
            found = found if isinstance(found, dict) else {"failures": found}
            parts[name] = {"cases": cases, **found}
        for server in self.servers:
            server.close()
        failures = [failure for part in parts.values() for failure in part.pop("failures")]
        return {"seed": self.seed, **parts, "failures": failures}

    def breaks(self, kind: str, most: int) -> dict:
        """Chains of breaks, shared by the servers until there are enough or no time is left."""
        counts, failures, lock = Counter(), [], threading.Lock()
        chains = iter(plan(kind, self.seed, 10 * most, self.options.commands))

        def work(breaker: Breaker) -> None:
            while True:
                with lock:
                    if sum(counts.values()) >= most or time.monotonic() > self._until:
                        return
                    name, seed = next(chains)
                try:
                    count, failure = breaker.chain(kind, name, seed)
                except Exception as error:  # what is left cannot be read, for instance
                    count, failure = 0, f"--replay={kind}:{name}:{seed} {error!r}"
                with lock:
                    counts[name] += count
                    failures.extend([failure] if failure else [])
                    _tell(f"{sum(counts.values())} of {kind}; {name}: {failure or 'ok'}")

        with ThreadPoolExecutor(len(self.servers)) as pool:
            list(pool.map(work, self._breakers))
        by_command = dict(sorted(counts.items()))
        return {"cases": sum(counts.values()), "by command": by_command, "failures": failures}

    def mutations(self, cases: int) -> dict:
        folders = self.folder / "originals", self.folder / "mutations"
        return run_mutations(*folders, self.seed, cases, self.options.processes, self._until)

    def surroundings(self, most: int) -> dict:
        pair = (self.servers * 2)[:2]
        where, failures, ran = self.folder / "surroundings", [], 0
        cases = Surroundings(pair, where, self.data, self.model).cases()
        for name, case in itertools.islice(cases, most):
            if time.monotonic() > self._until:
                break
            wrong, ran = case(), ran + 1
            _tell(f"{name}: {wrong or 'ok'}")
            failures += [f"{name}: {wrong}"] if wrong else []
        return {"cases": ran, "failures": failures}

    def calls(self, cases: int) -> list[str]:
        export = self.folder / "export"
        outcome = self.servers[0].run(*ALL["export"].command(self.data, export, self.model))
        assert outcome.complaint() is None, outcome.complaint()
        return saved_models.run_calls(export, self.seed, cases)

    def replay(self, what: str) -> Optional[str]:
        """What is wrong with one chain of breaks, or one mutation."""
        kind, _, case = what.partition(":")
        if kind in KINDS:
            name, _, seed = case.partition(":")
            return self._breakers[0].chain(kind, name, int(seed))[1]
        scratch = self.folder / "mutations"
        return json.dumps(Reader(self.folder / "originals", scratch, self.seed).case(int(case)))


class Part(NamedTuple):
    """A part of the harness: its number of cases, and what gives their failures or a summary."""

    cases: int
    run: Callable[[Harness, int], Union[dict, list]]


PARTS = {
    "forged": Part(
        300,
        lambda it, cases: loaded_models.run_forged(
            it.model / "best", it.folder / "forged", it.seed, cases
        ),
    ),
    "arguments": Part(
        1000, lambda it, cases: loaded_models.run_arguments(it.model, it.seed, cases)
    ),
    "leaks": Part(3000, lambda it, calls: loaded_models.run_leaks(it.model, calls)),
    "calls": Part(300, Harness.calls),
    "downloads": Part(
        300, lambda it, cases: downloads.run_downloads(it.folder / "install", it.seed, cases)
    ),
    "edits": Part(
        40,
        lambda it, cases: run_edits(it.servers[0], it.folder / "edits", it.data, it.seed, cases),
    ),
    "surroundings": Part(100, Harness.surroundings),
    "mutations": Part(10_000, Harness.mutations),
    "power": Part(80, lambda it, most: it.breaks("power", most)),
    "write": Part(80, lambda it, most: it.breaks("write", most)),
    "kill": Part(200, lambda it, most: it.breaks("kill", most)),
}


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _flags(arguments):
    parser = argparse.ArgumentParser(prog="run_failures", description=__doc__)
    parser.add_argument("--output", type=Path, help="file for the summary, JSON")
    parser.add_argument("--seed", type=int, default=1)
    for name, part in PARTS.items():
        parser.add_argument(f"--{name}", type=int, default=part.cases, metavar="CASES")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60, help="after which nothing is begun")
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
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
