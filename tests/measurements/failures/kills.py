"""Kills, failing writes and losses of power, after which a command ends like an unbroken one."""

import errno
import random
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, NamedTuple

from tests.measurements.failures.commands import ForkServer
from tests.measurements.failures.power import LOSSES, Disk, Operation, read_trace
from tests.measurements.failures.scenarios import ALL, Scenario, fresh
from tests.measurements.failures.snapshots import differences, snapshot

KEEP_WHOLE = ("prepare", "predict", "attend")  # their output is there as a whole, or not at all
MAPPED = ("elmo",)  # write into memory, where nothing can be recorded


@dataclass
class Unbroken:
    """A run that nothing stopped."""

    files: dict
    operations: int
    seconds: float
    trace: list[Operation] = field(default_factory=list)


class Kind(NamedTuple):
    """A kind of break.

    Attributes:
      draw: what breaks a run like the unbroken one: options of a `Request`, or of a loss of power.
      most: the breaks of one folder, before it is finished.
      left_out: scenarios that it cannot break.
    """

    draw: Callable[[random.Random, Unbroken], dict]
    most: int = 1
    left_out: tuple = ()


def _draw_kill(draw: random.Random, unbroken: Unbroken) -> dict:
    """At an operation (three of five), after a time, or SIGTERM after a time."""
    kind = draw.random()
    if kind < 0.6:
        return {"kill_at": draw.randint(1, unbroken.operations)}
    after = round(draw.uniform(0.05, 0.95) * unbroken.seconds, 2)
    return {"after": after, "signal": signal.SIGKILL if kind < 0.85 else signal.SIGTERM}


KINDS = {
    "kill": Kind(_draw_kill, most=3),
    "write": Kind(
        lambda draw, unbroken: {
            "kill_at": draw.randint(1, unbroken.operations),
            "error": draw.choice((errno.ENOSPC, errno.EIO)),
        }
    ),
    "power": Kind(
        lambda draw, unbroken: {
            "after_operations": draw.randint(1, len(unbroken.trace)),
            "loss": draw.choice([*LOSSES]),
        },
        left_out=MAPPED,
    ),
}


class Breaker:
    """Breaks commands.

    Args:
      server: runs them.
      folder: for their output.
      data: of `write_data`.
      model: of `train_model`.
    """

    def __init__(self, server: ForkServer, folder: Path, data: Path, model: Path):
        self._server, self._folder = server, folder
        self._places, self._unbroken = (data, model), {}

    def chain(self, kind: str, name: str, seed: int, most: int = 0) -> tuple[int, str]:
        """Breaks a command up to `most` times in the same folder, then lets it end.

        Returns:
          How many breaks there were, and what is wrong with the outcome, "" for nothing.
        """
        scenario, draw = ALL[name], random.Random(f"{name} {seed}")
        unbroken = self._run_unbroken(scenario)
        out, told = fresh(self._folder / name), []
        for _ in range(most or KINDS[kind].most):
            how = KINDS[kind].draw(draw, unbroken)
            is_broken, wrong = self._break(scenario, unbroken, out, **how)
            told += [how] if is_broken else []
            if wrong or not is_broken or self._is_done(scenario, unbroken, out):
                break
        wrong = wrong or self._finish(scenario, unbroken, out)
        return len(told), wrong and f"--replay={kind}:{name}:{seed} {told}: {wrong}"

    def _break(self, scenario: Scenario, unbroken: Unbroken, out: Path, **how) -> tuple[bool, str]:
        """Whether the run was broken, and what is wrong after it."""
        if "loss" in how:
            Disk(out, unbroken.trace[: how["after_operations"]]).restore(how["loss"])
            return True, self._half_written(scenario, unbroken, out)
        outcome, error = self._run(scenario, out, **how), how.get("error")
        ended = [2] if error else [-signal.SIGKILL]
        if how.get("signal") == signal.SIGTERM:
            ended += [143, -signal.SIGTERM]  # by the default handler: Python was leaving
        if outcome.status not in ended:  # it was faster, or can do without the write
            return False, outcome.complaint()
        wrong = outcome.complaint(ended)
        if error and not wrong and str(out) not in outcome.stderr:
            wrong = f"names no path: {outcome.stderr[-300:]}"
        return True, wrong or self._half_written(scenario, unbroken, out)

    def _run(self, scenario: Scenario, out: Path, **how):
        data, model = self._places
        return self._server.run(*scenario.command(data, out, model), folder=str(out), **how)

    def _run_unbroken(self, scenario: Scenario) -> Unbroken:
        if scenario.name not in self._unbroken:
            out, start = fresh(self._folder / scenario.name), time.monotonic()
            trace = out.with_suffix(".trace")
            outcome = self._run(scenario, out, trace=str(trace))
            assert outcome.complaint() is None, f"{scenario.name}: {outcome.complaint()}"
            seconds, operations = time.monotonic() - start, list(read_trace(trace))
            found = Unbroken(snapshot(out), outcome.operations, seconds, operations)
            if scenario.name not in MAPPED:
                Disk(out, operations).restore()
                assert not differences(found.files, snapshot(out)), "the trace is not whole"
            self._unbroken[scenario.name] = found
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


def plan(kind: str, seed: int, chains: int, commands: Sequence[str]) -> list[tuple[str, int]]:
    """Names and seeds of chains: of each command one, then by the weights of the scenarios."""
    commands = [name for name in commands if name not in KINDS[kind].left_out]
    draw = random.Random(seed)
    names = [name for name in commands for _ in range(ALL[name].weight)]
    chosen = (commands + draw.choices(names, k=chains))[:chains]
    return [(name, seed * 1000 + number) for number, name in enumerate(chosen)]
