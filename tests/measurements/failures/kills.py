"""Kills: a command is killed several times and finished; the outcome is that of an unbroken run."""

import random
import shutil
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.measurements.failures.commands import ForkServer
from tests.measurements.failures.scenarios import ALL, Scenario, fresh
from tests.measurements.failures.snapshots import differences, snapshot

CHAIN = 3  # kills of one folder, before it is finished
KEEP_WHOLE = ("prepare", "predict", "attend")  # their output is there as a whole, or not at all


@dataclass
class Unbroken:
    """A run that nothing stopped."""

    files: dict
    operations: int
    seconds: float


@dataclass
class Kills:
    """What came of the kills so far."""

    kills: int = 0
    by_scenario: dict = field(default_factory=dict)
    failures: list = field(default_factory=list)

    def add(self, name: str, count: int, failure: str = "") -> None:
        self.kills += count
        self.by_scenario[name] = self.by_scenario.get(name, 0) + count
        if failure:
            self.failures.append(failure)


class Killer:
    """Kills commands.

    Args:
      server: runs them.
      folder: for their output.
      data: of `write_data`.
      model: of `train_model`.
      unbroken: runs that nothing stopped, by name, which several killers may share.
    """

    def __init__(self, server: ForkServer, folder: Path, data: Path, model: Path, unbroken=None):
        self._server, self._folder = server, folder
        self._places, self._unbroken = (data, model), {} if unbroken is None else unbroken

    def chain(self, name: str, seed: int, kills: int = CHAIN) -> tuple[int, str]:
        """Kills a command `kills` times in the same folder, then lets it end.

        Returns:
          How many kills there were, and what is wrong with the outcome, "" for nothing.
        """
        scenario, draw = ALL[name], random.Random(f"{name} {seed}")
        unbroken = self._run_unbroken(scenario)
        out, told = fresh(self._folder / f"{name}-{seed}"), []
        for _ in range(kills):
            how = _draw_kill(draw, unbroken)
            outcome = self._run(scenario, out, **how)
            told.append(how)
            is_signalled = how.get("signal") == signal.SIGTERM
            ended = [-signal.SIGKILL, *((143, -signal.SIGTERM) if is_signalled else ())]
            if outcome.status in ended:  # of SIGTERM by the default handler: Python was leaving
                wrong = outcome.complaint(ended) or self._half_written(scenario, unbroken, out)
            else:  # it was faster
                wrong = outcome.complaint()
                told.pop()
            if wrong or outcome.status not in ended or self._is_done(scenario, unbroken, out):
                break
        wrong = wrong or self._finish(scenario, unbroken, out)
        if wrong:
            return len(told), f"--replay=kill:{name}:{seed} {told}: {wrong}"
        shutil.rmtree(out)
        return len(told), ""

    def _run(self, scenario: Scenario, out: Path, **how):
        data, model = self._places
        return self._server.run(*scenario.command(data, out, model), folder=str(out), **how)

    def _run_unbroken(self, scenario: Scenario) -> Unbroken:
        if scenario.name not in self._unbroken:
            out, start = fresh(self._folder / f"{scenario.name}-unbroken"), time.monotonic()
            outcome = self._run(scenario, out)
            assert outcome.complaint() is None, f"{scenario.name}: {outcome.complaint()}"
            seconds = time.monotonic() - start
            self._unbroken[scenario.name] = Unbroken(snapshot(out), outcome.operations, seconds)
        return self._unbroken[scenario.name]

    def _half_written(self, scenario, unbroken, out) -> str:
        """What of an output that is whole or absent is neither."""
        if scenario.name not in KEEP_WHOLE:
            return ""
        there = snapshot(out, hidden=False)
        return "; ".join(differences(unbroken.files, there)) if there else ""

    def _is_done(self, scenario, unbroken, out) -> bool:
        """Whether the output is there, which the command would refuse to write again."""
        if scenario.name not in KEEP_WHOLE:
            return False
        return snapshot(out, hidden=False) == unbroken.files

    def _finish(self, scenario, unbroken, out) -> str:
        """Runs the command to its end, unless its output is there, and compares."""
        if self._is_done(scenario, unbroken, out):
            return ""
        outcome = self._run(scenario, out)
        if outcome.complaint():
            return outcome.complaint()
        return "; ".join(differences(unbroken.files, snapshot(out)))


def _draw_kill(draw: random.Random, unbroken: Unbroken) -> dict:
    """At an operation (three of five), after a time, or SIGTERM after a time."""
    kind = draw.random()
    if kind < 0.6:
        return {"kill_at": draw.randint(1, unbroken.operations)}
    after = round(draw.uniform(0.05, 0.95) * unbroken.seconds, 2)
    return {"after": after, "signal": signal.SIGKILL if kind < 0.85 else signal.SIGTERM}


def plan(seed: int, chains: int, commands: Sequence[str]) -> list[tuple[str, int]]:
    """Names and seeds of chains: of each command one, then by the weights of the scenarios."""
    draw = random.Random(seed)
    names = [name for name in commands for _ in range(ALL[name].weight)]
    chosen = (list(commands) + draw.choices(names, k=chains))[:chains]
    return [(name, seed * 1000 + number) for number, name in enumerate(chosen)]
