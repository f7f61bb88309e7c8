"""Raw corpora that somebody edits while a command prepares them.

The command is stopped before a drawn operation of its own on its output, a raw file is written
anew, and the command goes on. What it leaves must be what a command of its own makes of the new
file: either it says that the file changed, or the next command prepares it again.
"""

import random
import shutil
from pathlib import Path

from tests.measurements.failures.commands import ForkServer
from tests.measurements.failures.scenarios import ALL, Scenario, fresh
from tests.measurements.failures.snapshots import differences, snapshot

TABLE = Scenario(
    "table",
    (
        "run.py",
        "--mode=prepare",
        "--config=configs/own_table.py:additive,tiny",
        "--config.data.train=table.csv",
        "--data_dir=DATA",
        "--prepared_dir=OUT",
    ),
)
EDITED = {ALL["prepare"]: "sst/trees/train.txt", TABLE: "table.csv"}
_SENTENCE = "changed while it was prepared; run the same command again."


class Edits:
    """Runs the cases.

    Args:
      server: runs the commands.
      folder: for copies of the data and for output.
      data: of `write_data`.
    """

    def __init__(self, server: ForkServer, folder: Path, data: Path):
        self._server, self._folder, self._data = server, folder, data
        self._unbroken = {}

    def case(self, number: int, seed: int) -> str:
        """What is wrong with the outcome of a case; "" = nothing."""
        draw = random.Random(f"{seed} edit {number}")
        scenario = draw.choice(list(EDITED))
        data, out = self._folder / "data", fresh(self._folder / "out")
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(self._data, data)
        raw = data / EDITED[scenario]
        name, text = draw.choice(_edits(raw.read_text()))
        operations, _ = self._after(scenario, data, raw, raw.read_text(), "whole")
        _, expected = self._after(scenario, data, raw, text, name)
        last = draw.randint(1, operations)
        outcome = self._run(scenario, data, out, kill_at=last, edits={str(raw): text})
        told = f"edit {number} ({scenario.name}, {name}, operation {last} of {operations})"
        if outcome.complaint((0, 2)) or (outcome.status and _SENTENCE not in outcome.stderr):
            return f"{told}: {outcome.complaint() or outcome.stderr[-300:]}"
        again = self._run(scenario, data, out)
        wrong = again.complaint() or "; ".join(differences(expected, snapshot(out)))
        return f"{told}: {wrong}" if wrong else ""

    def _run(self, scenario, data, out, **options):
        command = scenario.command(data, out, out)
        return self._server.run(*command, folder=str(out), **options)

    def _after(self, scenario, data, raw, text, name) -> tuple:
        """The number of operations, and the output, of a command after an edit."""
        key = scenario.name, name
        if key not in self._unbroken:
            whole, out = raw.read_text(), fresh(self._folder / "unbroken")
            raw.write_text(text)
            outcome = self._run(scenario, data, out)
            assert outcome.complaint() is None, outcome.complaint()
            self._unbroken[key] = outcome.operations, snapshot(out)
            raw.write_text(whole)
        return self._unbroken[key]


def _edits(text: str) -> list[tuple[str, str]]:
    """Names of edits, and a file after them; one keeps its size."""
    head, *lines = text.splitlines(keepends=True)
    return [
        ("with a line more", text + lines[-1]),
        ("with a line less", "".join([head, *lines[:-1]])),
        ("with other words", text.replace("film", "book")),
        ("with longer words", text.replace("film", "picture")),
    ]


def run_edits(server: ForkServer, folder: Path, data: Path, seed: int, cases: int) -> list[str]:
    """What went wrong in `cases` cases, one line each."""
    edits = Edits(server, folder, data)
    return [wrong for number in range(cases) if (wrong := edits.case(number, seed))]
