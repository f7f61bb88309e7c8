"""Breaks commands and runs them again; the results must equal those of unbroken runs.

    python -m tests.measurements.failures.run_failures --output=failures.json
    python -m tests.measurements.failures.run_failures --replay=kill:17 --seed=1

`kill` sends signals, `write` lets a file operation fail, `power` simulates a loss of power. Then
the same command runs to its end. The summary is JSON. The exit status is 1 if a case failed; each
failure names the flag that replays it.
"""

import argparse
import errno
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from disan_tf.common.atomic import scratch_folder
from tests.measurements.failures import world as worlds  # noqa: E402
from tests.measurements.failures.power import LOSSES, Disk, read_trace  # noqa: E402
from tests.measurements.failures.snapshots import differences, snapshot  # noqa: E402
from tests.measurements.failures.world import COMMANDS, World  # noqa: E402

CASES = {"power": 80, "write": 80, "kill": 200}  # by default
KEEP_WHOLE = ("prepare", "table", "predict", "attend")  # whose output is complete or absent
MAPPED = ("elmo",)  # writes into memory, where nothing can be recorded


class Unbroken(NamedTuple):
    """An unbroken run: its files, its file operations and their number, its seconds."""

    files: dict
    trace: list
    operations: int
    seconds: float


def _draw_kill(draw: random.Random, unbroken: Unbroken) -> dict:
    """Draws SIGKILL at an operation (60 %) or after a time, or SIGTERM after a time."""
    kind = draw.random()
    if kind < 0.6:
        return {"kill_at": draw.randint(1, unbroken.operations)}
    after = round(draw.uniform(0.05, 0.95) * unbroken.seconds, 2)
    return {"after": after, "signal": signal.SIGKILL if kind < 0.85 else signal.SIGTERM}


def _draw_write(draw: random.Random, unbroken: Unbroken) -> dict:
    error = draw.choice((errno.ENOSPC, errno.EIO))
    return {"kill_at": draw.randint(1, unbroken.operations), "error": error}


def _draw_power(draw: random.Random, unbroken: Unbroken) -> dict:
    return {"lost_after": draw.randint(1, len(unbroken.trace)), "loss": draw.choice([*LOSSES])}


DRAWS = {"kill": _draw_kill, "write": _draw_write, "power": _draw_power}


def try_case(
    world: World, kind: str, number: int, commands: Sequence[str] = tuple(COMMANDS)
) -> tuple[str, str]:
    """Breaks a drawn command; the first cases break each command once.

    Returns:
      The command and its breaks, and what is wrong afterwards; "" if nothing is.
    """
    draw = random.Random(f"{world.seed} {kind} {number}")
    commands = [name for name in commands if kind != "power" or name not in MAPPED]
    (name,) = draw.choices(commands, [COMMANDS[name].weight for name in commands])
    name = commands[number] if number < len(commands) else name
    try:
        breaks, wrong = chain(world, kind, name, draw, 3 if kind == "kill" else 1)
    except Exception:
        breaks, wrong = "", traceback.format_exc(limit=-3)
    return f"{name} {breaks}", wrong


def chain(
    world: World, kind: str, name: str, draw: random.Random, most: int
) -> tuple[list[dict], str]:
    """Breaks a command up to `most` times in one folder, then lets it end.

    Returns:
      The breaks, and what is wrong with the outcome; "" if nothing is.
    """
    unbroken, breaks = run_unbroken(world, name), []
    out = worlds.fresh(world.folder / name)
    for _ in range(most):
        how = DRAWS[kind](draw, unbroken)
        is_broken, wrong = _break(world, unbroken, name, out, **how)
        breaks += [how] * is_broken
        if wrong or not is_broken or _is_done(unbroken, name, out):
            break
    if not wrong and not _is_done(unbroken, name, out):
        outcome = world.run(name, out)
        wrong = outcome.complaint() or "; ".join(differences(unbroken.files, snapshot(out)))
    return breaks, wrong


def run_unbroken(world: World, name: str) -> Unbroken:
    """Returns the unbroken run of a command, which a world makes once."""
    if name not in world.unbroken:
        out, begun = worlds.fresh(world.folder / name), time.monotonic()
        trace = out.with_suffix(".trace")
        trace.unlink(missing_ok=True)
        outcome = world.run(name, out, trace=str(trace)).check()
        seconds, operations = time.monotonic() - begun, list(read_trace(trace))
        files = snapshot(out)
        if name not in MAPPED:
            Disk(out, operations).restore()
            assert not differences(files, snapshot(out)), "the trace is not whole"
        world.unbroken[name] = Unbroken(files, operations, outcome.operations, seconds)
    return world.unbroken[name]


def _break(world: World, unbroken: Unbroken, name: str, out: Path, **how) -> tuple[bool, str]:
    """Returns whether the run was broken, and what is wrong after it."""
    if "loss" in how:
        Disk(out, unbroken.trace[: how["lost_after"]]).restore(how["loss"])
        return True, _half_written(unbroken, name, out)
    outcome, error = world.run(name, out, **how), how.get("error")
    ended = [2] if error else [-signal.SIGKILL]
    if how.get("signal") == signal.SIGTERM:
        ended += [143, -signal.SIGTERM]  # the default handler: Python was exiting
    if outcome.status not in ended:  # it ended first, or does not need the write
        return False, outcome.complaint()
    wrong = outcome.complaint(ended)
    if error and not wrong and str(out) not in outcome.stderr:
        wrong = f"names no path: {outcome.stderr[-300:]}"
    return True, wrong or _half_written(unbroken, name, out)


def _half_written(unbroken: Unbroken, name: str, out: Path) -> str:
    """Returns the differences of an output that must be complete or absent; "" if it is."""
    there = snapshot(out, hidden=False) if name in KEEP_WHOLE else {}
    return "; ".join(differences(unbroken.files, there)) if there else ""


def _is_done(unbroken: Unbroken, name: str, out: Path) -> bool:
    """Returns whether the output is complete; the command would refuse to write it again."""
    return name in KEEP_WHOLE and snapshot(out, hidden=False) == unbroken.files


def run(options, first: World) -> dict:
    """Tries all cases that the flags ask for; returns a summary."""
    jobs = [(kind, number) for kind in options.parts for number in range(getattr(options, kind))]
    if options.replay:
        kind, _, number = options.replay.partition(":")
        jobs = [(kind, int(number))]
    counts, failures, lock, waiting = Counter(), [], threading.Lock(), iter(jobs)
    until = time.monotonic() + 60 * options.minutes

    def work(process: int) -> None:
        folder = first.folder.with_name(f"process-{process}")
        world = World(folder, first.data, first.model, options.seed)
        while time.monotonic() < until:
            with lock:
                job = next(waiting, None)
            if job is None:
                break
            told, wrong = try_case(world, *job, commands=options.commands)
            kind, number = job
            with lock:
                counts[kind] += 1
                if wrong:
                    failures.append(f"--replay={kind}:{number} {told}: {wrong}")
                print(f"{kind} {number}; {told}: {wrong or 'right'}", file=sys.stderr, flush=True)
        world.close()

    with ThreadPoolExecutor(options.processes) as pool:
        list(pool.map(work, range(options.processes)))
    parts = {kind: {"cases": counts[kind]} for kind in options.parts}
    return {"seed": options.seed, **parts, "failures": failures}


def main(arguments=None) -> int:
    """Runs the cases that the flags ask for; returns 1 if one failed."""
    parser = argparse.ArgumentParser(prog="run_failures", description=__doc__)
    parser.add_argument("--output", type=Path, help="file for the summary, JSON")
    parser.add_argument("--seed", type=int, default=1)
    for name, cases in CASES.items():
        parser.add_argument(f"--{name}", type=int, default=cases, metavar="CASES")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60, help="after which nothing is begun")
    parser.add_argument("--parts", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--replay", metavar="KIND:CASE", help="a case, such as kill:17")
    options = parser.parse_args(arguments)
    with scratch_folder(Path(tempfile.gettempdir(), "failures")) as folder:
        first = World(folder / "first", worlds.write_data(folder / "data"), folder / "model")
        worlds.train_model(first)
        first.close()
        started = time.monotonic()
        summary = run(options, first)
        summary["minutes"] = round((time.monotonic() - started) / 60, 1)
    text = json.dumps(summary, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")
    return 1 if summary["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
