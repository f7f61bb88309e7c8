"""Runs the code of a documentation page, with small data and short trainings.

The blocks run as they stand, one after the other, in a folder like a copy of the repository. The
first `python` on PATH makes trainings short and starts everything else unchanged.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from data_prep.synthetic.pairs import write_pairs
from tests.support.corpora.official_layouts import write_corpora
from tests.support.pages import Block, is_python
from tests.support.runs.training import ROOT

_VECTORS = {"glove.6B.100d": 100, "glove.6B.300d": 300, "glove.840B.300d": 300}
_SHORT = {
    "train.steps": 3,
    "train.evaluate_every": 1,
    "train.log_every": 1,
    "train.batch_size": 4,
}
_SHORT_RESAN = {"policy.pretrain_steps": 1, "policy.policy_steps": 1}
_PYTHON = """#!{python}
import os, sys

arguments = sys.argv[1:]
is_training = arguments[0] == "run.py" and not any(a.startswith("--mode") for a in arguments)
if is_training:
    given = [argument.partition("=")[0] for argument in arguments]
    short = {short} if "resan" not in str(arguments) else {short_resan}
    short = [f"--config.{{name}}={{value}}" for name, value in short.items()]
    arguments += [flag for flag in short if flag.partition("=")[0] not in given]
    arguments.append("--nopictures")
os.execv("{python}", ["{python}", *arguments])
"""
_PROGRAMS = {
    "python": _PYTHON.format(
        python=sys.executable, short=_SHORT, short_resan={**_SHORT, **_SHORT_RESAN}
    ),
    "disan-tf": '#!/bin/sh\nexec python -m disan_tf "$@"\n',
    # TensorBoard lists what it found, and ends.
    "tensorboard": '#!/bin/sh\nexec python -m tensorboard.main --inspect "$@"\n',
}
_SHELL = ["bash", "-e", "-o", "pipefail", "-c"]
_WORDS = ("the", "is", "a", "film", "plot", "warm", "cold", "hot", "cook", "soup", "good", "bad")
_TEXTS = [f"The {thing} is {word} ." for thing in ("film", "plot") for word in ("warm", "cold")]


def make_project(folder: Path) -> None:
    """Writes the files that the pages' commands read: corpora, vectors, tables, lines of text."""
    for name in ("run.py", "configs", "checkpoints"):
        (folder / name).symlink_to(ROOT / name)
    write_corpora(folder / "data")
    write_pairs(folder / "data", seed=0, sizes={"train": 24, "dev": 12, "test": 12})
    (folder / "data/glove").mkdir()
    for name, dim in _VECTORS.items():
        _write_vectors(folder / f"data/glove/{name}.txt", dim)
    (folder / "reviews.txt").write_text("\n".join(_TEXTS) + "\n", encoding="utf-8")
    rows = [f"{number} {text},{number % 2}" for number in range(10) for text in _TEXTS]
    (folder / "data/reviews.csv").write_text(
        "\n".join(["text,label", *rows]) + "\n", encoding="utf-8"
    )
    (folder / "bin").mkdir()
    for name, program in _PROGRAMS.items():
        (folder / "bin" / name).write_text(program, encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)


def _write_vectors(path: Path, dim: int) -> None:
    generator = np.random.default_rng(1)
    with path.open("w", encoding="utf-8") as file:
        for word in _WORDS:
            print(word, *generator.normal(size=dim).round(3), file=file)


def run_block(block: Block, folder: Path) -> subprocess.CompletedProcess:
    """Runs a block in the folder of `make_project`; new processes import a block of Python."""
    (folder / "block.py").write_text(block.text, encoding="utf-8")
    paths = [str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    return subprocess.run(
        [sys.executable, "block.py"] if is_python(block) else [*_SHELL, block.text],
        cwd=folder,
        env={**os.environ, "PATH": os.pathsep.join(paths), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
