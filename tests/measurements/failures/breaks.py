"""Commands that are killed, edited behind or hindered: afterwards all is as after an unbroken run.

`kill` sends signals, `write` lets an operation on files fail, `power` loses the power: then the
same command runs to its end. `edit` writes a raw file anew while a command prepares it.
`SURROUNDINGS` lack a permission, a home, a compiler or locks, or have company.
"""

import errno
import functools
import random
import shutil
import signal
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.measurements.failures.power import LOSSES, Disk, read_trace
from tests.measurements.failures.snapshots import differences, snapshot
from tests.measurements.failures.world import COMMANDS, Case, World, fresh

KEEP_WHOLE = ("prepare", "table", "predict", "attend")  # their output is whole, or not there
MAPPED = ("elmo",)  # writes into memory, where nothing can be recorded
EDITED = {"prepare": "sst/trees/train.txt", "table": "table.csv"}
CHANGED = "changed while it was prepared; run the same command again."
EDITS = {  # what somebody makes of a file of lines
    "with a line more": lambda lines: [*lines, lines[-1]],
    "with a line less": lambda lines: lines[:-1],
    "with other words": lambda lines: [line.replace("film", "book") for line in lines],
    "with longer words": lambda lines: [line.replace("film", "picture") for line in lines],
}


class Unbroken(NamedTuple):
    """A run that nothing stopped: its files, its operations on files, and its seconds."""

    files: dict
    trace: list
    operations: int
    seconds: float


def _draw_kill(draw: random.Random, unbroken: Unbroken) -> dict:
    """At an operation (three of five), after a time, or SIGTERM after a time."""
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


def break_command(case: Case, kind: str, commands: Sequence[str] = tuple(COMMANDS)) -> str:
    """Breaks a drawn command, or the first ones once each; says what is wrong afterwards."""
    commands = [name for name in commands if kind != "power" or name not in MAPPED]
    weights = [COMMANDS[name].weight for name in commands]
    (name,) = case.draw.choices(commands, weights)
    name = commands[case.number] if case.number < len(commands) else name
    breaks, wrong = chain(case.world, kind, name, case.draw, 3 if kind == "kill" else 1)
    case.told = f"{name} {breaks}"
    return wrong


def chain(
    world: World, kind: str, name: str, draw: random.Random, most: int
) -> tuple[list[dict], str]:
    """Breaks a command up to `most` times in one folder, then lets it end.

    Returns:
      The breaks, and what is wrong with the outcome, "" for nothing.
    """
    (unbroken, out), breaks = start(world, name), []
    for _ in range(most):
        how = DRAWS[kind](draw, unbroken)
        is_broken, wrong = _break(world, name, out, **how)
        breaks += [how] * is_broken
        if wrong or not is_broken or _is_done(unbroken, name, out):
            break
    if not wrong and not _is_done(unbroken, name, out):
        wrong = _end(world, name, out)
    return breaks, wrong


def start(world: World, name: str) -> tuple[Unbroken, Path]:
    """The unbroken run of a command, and the empty folder in which it ran."""
    return run_unbroken(world, name), fresh(world.folder / name)


def run_unbroken(world: World, name: str, data=None, text: str = "") -> Unbroken:
    """The run of a command on data, which `text` tells apart."""

    def run() -> Unbroken:
        out, begun = fresh(world.folder / name), time.monotonic()
        trace = out.with_suffix(".trace")
        trace.unlink(missing_ok=True)
        outcome = world.run(name, out, data=data, trace=str(trace)).check()
        seconds, operations, files = (
            time.monotonic() - begun,
            list(read_trace(trace)),
            snapshot(out),
        )
        if name not in MAPPED:
            Disk(out, operations).restore()
            assert not differences(files, snapshot(out)), "the trace is not whole"
        return Unbroken(files, operations, outcome.operations, seconds)

    return world.keep((name, text), run)


def _break(world: World, name: str, out: Path, **how) -> tuple[bool, str]:
    """Whether the run was broken, and what is wrong after it."""
    unbroken = run_unbroken(world, name)
    if "loss" in how:
        Disk(out, unbroken.trace[: how["lost_after"]]).restore(how["loss"])
        return True, _half_written(unbroken, name, out)
    outcome, error = world.run(name, out, **how), how.get("error")
    ended = [2] if error else [-signal.SIGKILL]
    if how.get("signal") == signal.SIGTERM:
        ended += [143, -signal.SIGTERM]  # by the default handler: Python was leaving
    if outcome.status not in ended:  # it was faster, or can do without the write
        return False, outcome.complaint()
    wrong = outcome.complaint(ended)
    if error and not wrong and str(out) not in outcome.stderr:
        wrong = f"names no path: {outcome.stderr[-300:]}"
    return True, wrong or _half_written(unbroken, name, out)


def _half_written(unbroken: Unbroken, name: str, out: Path) -> str:
    """What of an output that is whole or absent is neither."""
    there = snapshot(out, hidden=False) if name in KEEP_WHOLE else {}
    return "; ".join(differences(unbroken.files, there)) if there else ""


def _is_done(unbroken: Unbroken, name: str, out: Path) -> bool:
    """Whether the output is there, which the command would refuse to write again."""
    return name in KEEP_WHOLE and snapshot(out, hidden=False) == unbroken.files


def _end(world: World, name: str, out: Path, **how) -> str:
    """Runs a command to its end; says how its output differs from that of an unbroken run."""
    outcome, expected = world.run(name, out, **how), run_unbroken(world, name).files
    return outcome.complaint() or "; ".join(differences(expected, snapshot(out)))


def edit(case: Case) -> str:
    """Edits a raw file before an operation of the command that prepares it.

    Either the command says that the file changed, or the next one prepares it again.
    """
    world, name = case.world, case.draw.choice([*EDITED])
    data, out = world.folder / "edited", fresh(world.folder / "out")
    shutil.copytree(world.data, data, dirs_exist_ok=True)
    raw, what = data / EDITED[name], case.draw.choice([*EDITS])
    whole = (world.data / EDITED[name]).read_text()
    text = "".join(f"{line}\n" for line in EDITS[what](whole.splitlines()))
    raw.write_text(text)
    expected = run_unbroken(world, name, data, text).files
    raw.write_text(whole)
    last = case.draw.randint(1, run_unbroken(world, name).operations)
    case.told = f"{name} of a file {what}, before operation {last}"
    outcome = world.run(name, out, data=data, kill_at=last, edits={str(raw): text})
    if outcome.complaint((0, 2)) or (outcome.status and CHANGED not in outcome.stderr):
        return outcome.complaint() or outcome.stderr[-300:]
    again = world.run(name, out, data=data)
    return again.complaint() or "; ".join(differences(expected, snapshot(out)))


def surround(case: Case) -> str:
    """Runs a command in one of `SURROUNDINGS`."""
    function = SURROUNDINGS[case.number]
    case.told = f"{function.func.__name__} {function.keywords}"
    return function(case.world)


def forbidden(world: World, name: str) -> str:
    """The output may not be written; the same command, which may, goes on."""
    _, out = start(world, name)
    out.chmod(0o555)
    outcome = world.run(name, out, rights=False)
    out.chmod(0o755)
    return outcome.complaint((2,)) or _end(world, name, out)


def lacking(world: World, **environment) -> str:
    """Predictions are made without these variables; portable operations round otherwise."""
    _, out = start(world, "predict")
    wrong = _end(world, "predict", out, environment=environment)
    return "; ".join(line for line in wrong.split("; ") if "answers.jsonl differs" not in line)


def unlocked(world: World, error: int) -> str:
    """A training goes on after a warning."""
    unbroken, out = start(world, "disan")
    outcome = world.run("disan", out, lock_error=error)
    if not outcome.complaint() and "cannot be locked" not in outcome.stderr:
        return "no warning"
    return outcome.complaint() or "; ".join(differences(unbroken.files, snapshot(out)))


def _both(run) -> list:
    """The outcomes of `run(0)` and `run(1)` at the same time."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, (0, 1)))


def two(world: World, name: str, shared: str = "", statuses=(0,)) -> str:
    """Both end well, or one says that the other works: in one folder, or with one shared.

    Args:
      shared: a flag for a folder that both share; "" = they share all.
      statuses: with which they may end, one of them with 0.
    """
    unbroken, folder = start(world, name)
    expected = unbroken.files
    outs = [folder / "0", folder / "1"] if shared else [folder, folder]
    for out in outs:
        out.mkdir(exist_ok=True)
    more = [f"{shared}={folder / 'shared'}"] if shared else []
    outcomes = _both(lambda it: world.run(name, outs[it], server=it, more=more))
    wrong = [complaint for it in outcomes if (complaint := it.complaint(statuses))]
    wrong += [] if wrong or any(it.status == 0 for it in outcomes) else ["none works"]
    if shared:
        expected = {key: it for key, it in expected.items() if not key.startswith("prepared/")}
    wrong += [line for out in outs for line in differences(expected, snapshot(out))]
    return "; ".join(wrong)


def two_builds(world: World) -> str:
    """Two processes compile the native operations into one cache."""
    cache = fresh(world.folder / "native")
    command = {"environment": {"DISAN_TF_NATIVE_CACHE": str(cache)}}
    outcomes = _both(lambda it: world.servers[it].run("disan_tf.ops.native", **command))
    wrong = [it.complaint() for it in outcomes if it.complaint()]
    wrong += [it.stdout for it in outcomes if "native operations" not in it.stdout]
    return "; ".join(wrong + ["not one library"] * (len(list(cache.glob("*.so"))) != 1))


def two_exports(world: World) -> str:
    """Both end well, and the newer is there; it removes the older one if it began after it."""
    out = fresh(world.folder / "export")
    outcomes = _both(lambda it: world.run("export", out, server=it))
    wrong = [it.complaint() for it in outcomes if it.complaint()]
    lines = [line for it in outcomes for line in it.stdout.splitlines()]
    named = [Path(line) for line in lines if str(out) in line]
    newer = [path for path in named if path.name == max(path.name for path in named)]
    wrong += [f"{path} is missing" for path in newer if not path.is_dir()]
    numbers = len(newer), len(named)
    return "; ".join(wrong or [f"{numbers} paths, not 2 of 4"] * (numbers != (2, 4)))


_with = functools.partial
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # of file systems without locks
SURROUNDINGS = (
    *(_with(forbidden, name=name) for name in ("disan", "prepare", "predict", "export")),
    _with(lacking, HOME=None, XDG_CACHE_HOME=None, DISAN_TF_NATIVE_CACHE=None),
    _with(lacking, CXX="/nowhere/g++"),
    _with(lacking, DISAN_TF_NATIVE_CACHE="/proc/nowhere"),
    _with(two, name="disan", statuses=(0, 2)),
    _with(two, name="series"),
    _with(two, name="prepare"),
    _with(two, name="elmo", shared="--prepared_dir"),
    _with(two_builds),
    _with(two_exports),
    *(_with(unlocked, error=number) for number in _NO_LOCKS),
)
