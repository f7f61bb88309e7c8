"""The commands that cases break, the data that they read, and the folders of a process."""

import functools
import shutil
from pathlib import Path
from typing import NamedTuple

from data_prep.synthetic.pairs import write_pairs
from data_prep.synthetic.treebank import write_treebank
from tests.measurements.failures.commands import ForkServer, Outcome, build_library
from tests.support.corpora.elmo import write_bilm

_PLACES = "--data_dir={data} --workdir={out}"
_STEPS = "steps=14 evaluate_every=4 checkpoint_every=3 log_every=2"
# A line has a name, the weight with which the command is drawn, and its arguments; `train` stands
# for the flags of a short training of a config.
_COMMANDS = """
disan    4 train disan_sst:tiny
tokens   2 train disan_snli:tiny train.batch_tokens=256 --nopictures
float16  2 train own_table:pairs,tiny dtype=mixed_float16 data.train=pairs.csv
resan    2 train resan_snli:tiny policy.pretrain_steps=4 policy.policy_steps=3 --nopictures
scores   2 train own_table:scores,tiny data.train=scores.csv
dsa      2 train dsa_sst:tiny --nopictures
drcn     2 train drcn_snli:tiny --nopictures
elmo     2 train elmo_disan_sst:tiny --nopictures
bilm     2 train bilm:tiny data.texts=texts --nopictures
series   3 train own_table:additive,tiny data.train=table.csv --seeds=1,2 --nopictures
prepare  1 --mode=prepare --config=disan_sst:tiny --data_dir={data} --prepared_dir={out}
table    1 --mode=prepare --config=own_table:additive,tiny --config.data.train=table.csv \
           --data_dir={data} --prepared_dir={out}
predict  1 --mode=predict --checkpoint={model} --input={data}/lines.txt --output={out}/answers.jsonl
attend   1 --mode=attend --checkpoint={model} --input={data}/few.txt --output={out}/attention
export   1 --mode=export --checkpoint={model} --output={out}
evaluate 1 --mode=evaluate --checkpoint={model} --data_dir={data} --prepared_dir={out}/prepared \
           --output={out}/evaluation
report   1 --mode=report --workdir={model} --output={out}
"""


class Command(NamedTuple):
    """The weight with which a command is drawn, and its flags, with names in braces for folders."""

    weight: int
    flags: list


def _command(weight: str, *words: str) -> Command:
    flags = list(words)
    if words[0] == "train":
        changed = [word if word[0] == "-" else f"--config.{word}" for word in words[2:]]
        steps = [f"--config.train.{step}" for step in _STEPS.split()]
        flags = [f"--config={words[1]}", *_PLACES.split(), *steps, *changed]
    return Command(int(weight), flags)


_LINES = map(str.split, _COMMANDS.strip().splitlines())
COMMANDS = {name: _command(*words) for name, *words in _LINES}
TABLES = {  # file -> its header and its rows
    "table.csv": ("text,label", "the film {} is {}.,{}"),
    "pairs.csv": ("text,second_text,label", "the film {},it is {},{}"),
    "scores.csv": ("text,second_text,score", "the film {},it is {},{}"),
}
LINES = ["the film is good .", "", "its plot was awful , but moving !", "okra"] * 30


class World:
    """The folders in which one process runs cases, and its fork server.

    Args:
      folder: the folder for output.
      data: the result of `write_data`.
      model: the work directory that `train_model` writes.
      seed: the seed of all cases.
    """

    def __init__(self, folder: Path, data: Path, model: Path, seed: int = 1):
        self.folder, self.data, self.model = folder, data, model
        self.seed, self.unbroken = seed, {}
        folder.mkdir(parents=True, exist_ok=True)

    @functools.cached_property
    def server(self) -> ForkServer:
        return ForkServer(build_library(self.folder))

    def run(self, name: str, out: Path, **how) -> Outcome:
        """Runs one of `COMMANDS`; `how` has options of a `Request`."""
        places = {"data": self.data, "model": self.model, "out": out}
        flags = [flag.format(**places) for flag in COMMANDS[name].flags]
        return self.server.run("run.py", *flags, folder=str(out), **how)

    def close(self) -> None:
        if "server" in vars(self):
            self.server.close()


def write_data(folder: Path) -> Path:
    """Writes the raw corpora that the commands read, from our own grammars."""
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
        world.server.run("run.py", "--mode=evaluate", f"--split={split}", *where).check()


def fresh(folder: Path) -> Path:
    """Empties and returns a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
