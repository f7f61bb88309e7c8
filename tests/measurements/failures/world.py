"""The commands that cases break, the data that they read, and what the cases of a process share."""

import functools
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

from data_prep.synthetic.pairs import write_pairs
from data_prep.synthetic.treebank import write_treebank
from tests.measurements.failures.commands import ForkServer, Outcome, build_library
from tests.support.corpora.elmo import write_bilm

_STEPS = (
    " --data_dir={data} --workdir={out} --config.train.steps=14 --config.train.evaluate_every=4"
    " --config.train.checkpoint_every=3 --config.train.log_every=2"
)
_QUIET = f"{_STEPS} --nopictures"
_TABLE = "--config=configs/own_table.py:additive,tiny --config.data.train=table.csv"
COMMANDS = {  # name -> how often it is broken, in comparison to others, and its arguments
    "disan": (4, "--config=configs/disan_sst.py:tiny" + _STEPS),
    "tokens": (2, "--config=configs/disan_snli.py:tiny --config.train.batch_tokens=256" + _QUIET),
    "float16": (
        2,
        "--config=configs/own_table.py:pairs,tiny --config.dtype=mixed_float16"
        " --config.data.train=pairs.csv" + _STEPS,
    ),
    "resan": (
        2,
        "--config=configs/resan_snli.py:tiny --config.policy.pretrain_steps=4"
        " --config.policy.policy_steps=3" + _QUIET,
    ),
    "scores": (
        2,
        "--config=configs/own_table.py:scores,tiny --config.data.train=scores.csv" + _STEPS,
    ),
    "dsa": (2, "--config=configs/dsa_sst.py:tiny" + _QUIET),
    "drcn": (2, "--config=configs/drcn_snli.py:tiny" + _QUIET),
    "elmo": (2, "--config=configs/elmo_disan_sst.py:tiny" + _QUIET),
    "bilm": (2, "--config=configs/bilm.py:tiny --config.data.texts=texts" + _QUIET),
    "series": (3, f"{_TABLE} --seeds=1,2" + _QUIET),
    "prepare": (
        1,
        "--mode=prepare --config=configs/disan_sst.py:tiny --data_dir={data} --prepared_dir={out}",
    ),
    "table": (1, f"--mode=prepare {_TABLE} --data_dir={{data}} --prepared_dir={{out}}"),
    "predict": (
        1,
        "--mode=predict --checkpoint={model} --input={data}/lines.txt --output={out}/answers.jsonl",
    ),
    "attend": (
        1,
        "--mode=attend --checkpoint={model} --input={data}/few.txt --output={out}/attention",
    ),
    "export": (1, "--mode=export --checkpoint={model} --output={out}"),
    "evaluate": (
        1,
        "--mode=evaluate --checkpoint={model} --data_dir={data} --prepared_dir={out}/prepared"
        " --output={out}/evaluation",
    ),
    "report": (1, "--mode=report --workdir={model} --output={out}"),
}
TABLES = {  # file -> its header and its rows
    "table.csv": ("text,label", "the film {} is {}.,{}"),
    "pairs.csv": ("text,second_text,label", "the film {},it is {},{}"),
    "scores.csv": ("text,second_text,score", "the film {},it is {},{}"),
}
LINES = ["the film is good .", "", "its plot was awful , but moving !", "okra"] * 30


class World:
    """Folders and processes of one process.

    Args:
      folder: for output.
      data: of `write_data`.
      model: of `train_model`.
      seed: of all cases.
      calls: of a function whose memory is measured.
    """

    def __init__(self, folder: Path, data: Path, model: Path, seed: int = 1, calls: int = 1000):
        self.folder, self.data, self.model = folder, data, model
        self.seed, self.calls, self.kept = seed, calls, {}
        folder.mkdir(parents=True, exist_ok=True)

    @functools.cached_property
    def servers(self) -> list[ForkServer]:
        """Two, which run commands at the same time; the second starts with its first command."""
        library = build_library(self.folder)
        return [ForkServer(library), ForkServer(library)]

    def run(self, name: str, out: Path, data=None, server: int = 0, more=(), **how) -> Outcome:
        """Runs one of `COMMANDS`; `how` has options of a `Request`."""
        places = {"data": data or self.data, "model": self.model, "out": out}
        flags = [flag.format(**places) for flag in COMMANDS[name][1].split()]
        return self.servers[server].run("run.py", *flags, *more, folder=str(out), **how)

    def keep(self, key, make):
        """What `make` made when the key was new."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def close(self) -> None:
        for server in vars(self).get("servers", ()):
            server.close()


@dataclass
class Case:
    """A case: its world, its number and its random numbers; `told` says what it has drawn."""

    world: World
    number: int
    draw: random.Random
    told: str = ""


def write_data(folder: Path) -> Path:
    """Writes the raw corpora of all commands, of our own grammar."""
    write_treebank(folder, 0, {"train": 30, "dev": 12, "test": 12})
    write_pairs(folder, 0, {"train": 60, "dev": 12, "test": 12})
    write_bilm(folder)
    texts = {"lines.txt": LINES, "few.txt": LINES[:6]}
    for name, (header, row) in TABLES.items():
        rows = [row.format(n % 7, ("bad", "good")[n % 2], 1 + n % 2) for n in range(60)]
        texts[name] = [header, *rows]
    (folder / "texts").mkdir()
    texts["texts/some.txt"] = [f"the film {n % 17} is {n % 5} times good ." for n in range(120)]
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def train_model(world: World) -> None:
    """Trains the finished work directory that modes read, with scores for the report."""
    world.run("disan", world.model).check()
    where = (f"--workdir={world.model}", f"--data_dir={world.data}")
    for split in ("dev", "test"):
        world.servers[0].run("run.py", "--mode=evaluate", f"--split={split}", *where).check()


def fresh(folder: Path) -> Path:
    """The folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
