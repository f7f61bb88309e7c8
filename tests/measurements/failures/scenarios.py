"""The commands that are killed: a training of every kind, and the other modes."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from data_prep.synthetic.pairs import write_pairs
from data_prep.synthetic.treebank import write_treebank
from tests.support.corpora.elmo import write_bilm

STEPS = ["steps=14", "evaluate_every=4", "checkpoint_every=3", "log_every=2"]
LINES = "the film is good .\n\nits plot was awful , but moving !\nokra\n" * 30


@dataclass(frozen=True)
class Scenario:
    """A command that writes into one folder.

    Attributes:
      name: of the kind.
      arguments: of the command; DATA, OUT and MODEL stand for folders.
      weight: how often it is killed, in comparison to others.
    """

    name: str
    arguments: tuple
    weight: int = 1

    def command(self, data: Path, out: Path, model: Path) -> list[str]:
        """The arguments with folders."""
        places = {"DATA": str(data), "OUT": str(out), "MODEL": str(model)}
        command = list(self.arguments)
        for name, place in places.items():
            command = [argument.replace(name, place) for argument in command]
        return command


def training(name: str, config: str, *values: str, weight: int = 2, flags=()) -> Scenario:
    """A training of a few steps."""
    changed = [f"--config.train.{value}" for value in STEPS]
    changed += [f"--config.{value}" for value in values]
    places = ("--data_dir=DATA", "--workdir=OUT")
    arguments = ("run.py", f"--config=configs/{config}", *places, *changed, *flags)
    return Scenario(name, arguments, weight)


def mode(name: str, *flags: str) -> Scenario:
    return Scenario(name, ("run.py", f"--mode={name}", *flags))


TRAININGS = (
    training("disan", "disan_sst.py:tiny", weight=4),
    training("tokens", "disan_snli.py:tiny", "train.batch_tokens=256", flags=("--nopictures",)),
    training("float16", "own_table.py:pairs,tiny", "dtype=mixed_float16", "data.train=pairs.csv"),
    training(
        "resan",
        "resan_snli.py:tiny",
        "policy.pretrain_steps=4",
        "policy.policy_steps=3",
        flags=("--nopictures",),
    ),
    training("scores", "own_table.py:scores,tiny", "data.train=scores.csv"),
    training("dsa", "dsa_sst.py:tiny", flags=("--nopictures",)),
    training("drcn", "drcn_snli.py:tiny", flags=("--nopictures",)),
    training("elmo", "elmo_disan_sst.py:tiny", flags=("--nopictures",)),
    training("bilm", "bilm.py:tiny", "data.texts=texts", flags=("--nopictures",)),
    training(
        "series",
        "own_table.py:additive,tiny",
        "data.train=table.csv",
        weight=3,
        flags=("--seeds=1,2", "--nopictures"),
    ),
)
MODES = (
    mode("prepare", "--config=configs/disan_sst.py:tiny", "--data_dir=DATA", "--prepared_dir=OUT"),
    mode("predict", "--checkpoint=MODEL", "--input=DATA/lines.txt", "--output=OUT/answers.jsonl"),
    mode("attend", "--checkpoint=MODEL", "--input=DATA/few.txt", "--output=OUT/attention"),
    mode("export", "--checkpoint=MODEL", "--output=OUT"),
    mode(
        "evaluate",
        "--checkpoint=MODEL",
        "--data_dir=DATA",
        "--prepared_dir=OUT/prepared",
        "--output=OUT/evaluation",
    ),
    mode("report", "--workdir=MODEL", "--output=OUT"),
)
ALL = {scenario.name: scenario for scenario in TRAININGS + MODES}


def write_data(folder: Path) -> None:
    """The raw corpora of all scenarios, of our own grammar."""
    write_treebank(folder, 0, {"train": 30, "dev": 12, "test": 12})
    write_pairs(folder, 0, {"train": 60, "dev": 12, "test": 12})
    write_bilm(folder)
    tables = {
        "table.csv": ("text,label", "the film {} is {}.,{}"),
        "pairs.csv": ("text,second_text,label", "the film {},it is {},{}"),
        "scores.csv": ("text,second_text,score", "the film {},it is {},{}"),
    }
    for name, (header, row) in tables.items():
        rows = [row.format(n % 7, ("bad", "good")[n % 2], 1 + n % 2) for n in range(60)]
        (folder / name).write_text("\n".join([header, *rows]) + "\n")
    (folder / "texts").mkdir()
    lines = [f"the film number {n % 17} is {n % 5} times good ." for n in range(120)]
    (folder / "texts" / "some.txt").write_text("\n".join(lines) + "\n")
    (folder / "lines.txt").write_text(LINES)
    (folder / "few.txt").write_text("\n".join(LINES.splitlines()[:6]) + "\n")


def train_model(run: Callable, data: Path, folder: Path) -> None:
    """The finished work directory that modes read, with scores for the report."""
    outcome = run(*ALL["disan"].command(data, folder, folder))
    assert outcome.status == 0, outcome.stderr
    where = (f"--workdir={folder}", f"--data_dir={data}")
    for split in ("dev", "test"):
        outcome = run("run.py", "--mode=evaluate", f"--split={split}", *where)
        assert outcome.status == 0, outcome.stderr


def fresh(folder: Path) -> Path:
    """The folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
