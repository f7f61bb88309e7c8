"""`--mode=reproduce`: trains a row of a paper, or scores its released model, and judges it."""

import importlib
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import tensorflow as tf
from ml_collections import ConfigDict

from data_prep.synthetic.treebank import write_treebank
from disan_tf.cli.check_config import check_config
from disan_tf.cli.loading import prepare_corpus
from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS, command, import_configs
from disan_tf.common.tables import text_table
from disan_tf.reporting.report import summarise
from disan_tf.reporting.reproduction import (
    RULE,
    Target,
    Verdict,
    judge,
    judge_released,
    list_rows,
    read_targets,
)
from disan_tf.reporting.result_files import read_results
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.machine import describe_machine
from disan_tf.serving.release.released import find_bundle, read_manifest
from disan_tf.training.evaluation import evaluate
from disan_tf.training.series import train_series

DEMO = "demo"  # its corpus is written below its folder


@dataclass(frozen=True)
class Reproduction:
    """The folders in which rows are reproduced.

    Attributes:
      output: gets a folder for each row, and `prepared/` with the prepared corpora.
      data_dir: the raw corpora and vectors.
    """

    output: Path
    data_dir: Path

    def train(self, target: Target, config: ConfigDict, seeds: Sequence[str] = ()) -> Verdict:
        """Trains the seeds and folds of a row that are not finished, and judges all that are.

        `seeds` are numbers from the command line; none = the recorded ones.
        """
        check_config(config)
        folder, prepare = self._folder(target), self._preparation(target)
        seeds, folds = seeds or list(map(str, target.seeds)), ["all"] if target.folds else []
        train_series(config, folder, seeds, folds, prepare, pictures=False)
        return judge(target, summarise(folder, {}))

    def score_released(self, target: Target) -> Verdict:
        """Scores the released model of a row on the official test file, and judges it."""
        name = target.row.released
        if not name:
            raise UserError(
                f"--row={target.row.name} has no released model; --mode=reproduce lists the rows "
                "that have one."
            )
        bundle = load_bundle(find_bundle(name))
        corpus = self._preparation(target)(bundle.config.data)
        released = float(read_manifest(CHECKPOINTS / "manifest.tsv")[name]["test"])
        release = ".".join(tf.__version__.split(".")[:2])
        machine = f"TensorFlow {release} on {describe_machine()['processor']}"
        return judge_released(target, released, evaluate(bundle, corpus, "test"), machine)

    def _folder(self, target: Target) -> Path:
        return self.output / target.row.name.replace("/", "-")

    def _preparation(self, target: Target) -> Callable:
        """Returns a function from `config.data` to a prepared corpus; writes the demo's corpus."""
        data_dir = self.data_dir
        if target.row.name == DEMO:
            data_dir = self.output / "demo-data"
            write_treebank(data_dir, seed=0)
        return lambda data: prepare_corpus(data, data_dir, self.output / "prepared")


def load_config(target: Target) -> ConfigDict:
    """Returns the config of a row's recorded result."""
    import_configs()
    name, _, variant = target.row.recorded_config.partition(":")
    return importlib.import_module(f"configs.{name}").get_config(variant)


def targets() -> dict[str, Target]:
    """Returns all rows by name, with the recorded results of the package."""
    return read_targets(read_results(CHECKPOINTS / "results"))


def render_rows() -> str:
    """Returns the list of rows, the rule of the verdict, and an example."""
    example = f"{command()} --mode=reproduce --row=disan/sick --data_dir=data"
    rows, rule = text_table(list_rows(targets())), textwrap.fill(RULE, 100)
    return f"{rows}\n\n{rule}\n\nTo reproduce a row: {example}"
