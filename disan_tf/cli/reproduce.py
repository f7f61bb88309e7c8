"""`--mode=reproduce`: trains a row of a paper, or scores its released model, and judges it."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ml_collections import ConfigDict

from data_prep.corpora import read_test
from data_prep.synthetic.treebank import write_treebank
from disan_tf.cli.loading import prepare_corpus, read_config
from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS, command
from disan_tf.common.tables import text_table
from disan_tf.input_pipeline import Split
from disan_tf.runs.bundle import Bundle, load_bundle
from disan_tf.serving.presets import find_bundle, read_manifest
from disan_tf.study.report import summarise
from disan_tf.study.reproduce import (
    RULE,
    Target,
    Verdict,
    judge,
    judge_released,
    list_rows,
    read_targets,
)
from disan_tf.study.results import read_results
from disan_tf.text.lookup import FIRST_WORD_ID, UNKNOWN_ID
from disan_tf.text.tokenizer import lowercase
from disan_tf.training.evaluation import evaluate_split
from disan_tf.training.series import recorded_version, train_series

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
        """Trains the unfinished seeds and folds of a row, and judges the finished ones.

        `seeds` are numbers from the command line; () = the seeds of the recorded result.
        """
        folder = self.output / target.row.name.replace("/", "-")
        data_dir, prepared = self._data_dir(target), self.output / "prepared"
        version = recorded_version(folder)

        def prepare(data):
            return prepare_corpus(data, data_dir, prepared, version=version)

        seeds, folds = seeds or list(map(str, target.seeds)), ["all"] if target.folds else []
        train_series(read_config(config), folder, seeds, folds, prepare, pictures=False)
        return judge(target, summarise(folder, {}))

    def score_released(self, target: Target) -> Verdict:
        """Scores the released model of a row on the official test split, and judges it."""
        name = target.row.released
        if not name:
            raise UserError(
                f"--row={target.row.name} has no released model; --mode=reproduce lists the rows "
                "that have one."
            )
        bundle = load_bundle(find_bundle(name))
        test = read_test_split(bundle, self._data_dir(target))
        released = float(read_manifest(CHECKPOINTS / "manifest.tsv")[name]["test"])
        return judge_released(target, released, evaluate_split(bundle, test, "test"))

    def _data_dir(self, target: Target) -> Path:
        """Returns the folder of a row's raw corpus; writes the demo's corpus."""
        if target.row.name != DEMO:
            return self.data_dir
        write_treebank(self.output / "demo-data", seed=0)
        return self.output / "demo-data"


def read_test_split(bundle: Bundle, data_dir: Path) -> Split:
    """Reads the official test split, and looks its tokens up in the model's vocabulary.

    Raises:
      UserError: a file is missing, malformed or not the official one, or the corpus has other
        classes than the model.
    """
    corpus = read_test(data_dir, bundle.config.data, bundle.info["tokenizer"]["version"])
    if corpus.warnings:
        raise UserError(f"{data_dir} lacks the official test split: {corpus.warnings[0]}")
    if list(corpus.classes) != bundle.classes:
        raise UserError(f"{corpus.inputs[0]} has other classes than {bundle.directory}.")
    examples, tokens = corpus.splits["test"], list(dict.fromkeys(corpus.tokens("test")))
    words = lowercase(tokens) if bundle.config.data.lowercase else tokens
    known = {word: number for number, word in enumerate(bundle.vocabulary, start=FIRST_WORD_ID)}
    ids = {token: known.get(word, UNKNOWN_ID) for token, word in zip(tokens, words)}
    rows = {  # an empty sentence is one unknown word, as in prepared corpora
        field: [
            [ids[token] for token in example.sentences[k]] or [UNKNOWN_ID] for example in examples
        ]
        for k, field in enumerate(corpus.fields)
    }
    return Split(
        corpus.fields,
        {field: np.concatenate(rows[field]).astype(np.int32) for field in rows},
        {field: np.cumsum([0, *map(len, rows[field])]) for field in rows},
        np.array([e.label for e in examples], np.float32 if corpus.scores else np.int32),
        np.array([e.example_id.encode() for e in examples]),
        np.array([e.genre.encode() for e in examples]) if corpus.genres else None,
    )


def targets() -> dict[str, Target]:
    """Returns all rows by name, with the recorded results of the package."""
    return read_targets(read_results(CHECKPOINTS / "results"))


def render_rows() -> str:
    """Returns the list of rows, the rule of the verdict, and an example."""
    example = f"{command()} --mode=reproduce --row=disan/sick --data_dir=data"
    rows, rule = text_table(list_rows(targets())), textwrap.fill(RULE, 100)
    return f"{rows}\n\n{rule}\n\nTo reproduce a row: {example}"
