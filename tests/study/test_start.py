"""disan_tf/study/start.py: the choice of the model with which a training begins."""

import types

import numpy as np
import pytest
import tensorflow as tf

from data_prep.prepare import prepare
from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.work_directory import read_start
from disan_tf.study.start import AutomaticStart
from disan_tf.training.config import from_dict
from disan_tf.training.initial_model import InitialModel
from disan_tf.training.train import train
from tests.support.runs.training import corpus_of, load_config, tiny_config, with_few_operations

WORDS = [f"w{number}" for number in range(80)]
SIDES = np.where(np.arange(80) % 2, 1.0, -1.0)  # of the words


class Stub:
    """A trained model whose sentence vector is the mean of its words' vectors."""

    def __init__(self, name, sides, fits=True):
        words = ["unused", *WORDS]  # other ids than the corpus'
        noise = np.random.default_rng(len(name)).normal(size=[len(words), 4])
        noise[1:, 0] += 4 * sides
        table = tf.constant([[0.0] * 4, [0.0] * 4, *noise], tf.float32)

        def encode(ids, training):
            return tf.reduce_sum(tf.gather(table, ids), axis=1)

        self.name, self.record, self._fits = name, None, fits
        model = types.SimpleNamespace(encode=encode)
        info = {"tokenizer": {"lowercase": True}}
        self.bundle = types.SimpleNamespace(vocabulary=words, model=model, info=info)

    def check_fits(self, config):
        if not self._fits:
            raise UserError(f"--init_from={self.name} has encoder.units=300, and the config has 4.")

    def apply(self, model, corpus):
        self.record = {"name": self.name}


def _corpus(folder, rows, variant="", share=0.1):
    names = ["text", "second_text", "label"] if variant else ["text", "label"]
    lines = [",".join(map(str, row)) for row in [names, *rows]]
    (folder / "table.csv").write_text("\n".join(lines))
    data = load_config("own_table", variant).data
    data.update(vectors="", embedding_dim=4, lowercase=False, dev_share=share, test_share=share)
    return PreparedCorpus(prepare(data, folder, folder / "prepared"))


def _of_single_texts():
    return [[word.upper(), side > 0] for word, side in zip(WORDS, SIDES)]


def _of_pairs():
    draw = np.random.default_rng(1)
    pairs = draw.permutation(80), draw.permutation(80)
    return [[WORDS[a], WORDS[b], SIDES[a] == SIDES[b]] for a, b in zip(*pairs)]


@pytest.mark.parametrize("rows, variant", [(_of_single_texts(), ""), (_of_pairs(), "pairs")])
def test_the_model_whose_vectors_distinguish_the_classes_is_chosen(rows, variant, tmp_path, capsys):
    models = [Stub("lost", 0 * SIDES), Stub("wise", SIDES), Stub("misfit", SIDES, fits=False)]
    start = AutomaticStart(models)
    start.check_fits(load_config("own_table", variant))
    start.apply(None, _corpus(tmp_path, rows, variant))
    assert start.record == {"name": "wise"} and models[0].record is None
    printed = capsys.readouterr().out
    assert printed.endswith("; begins with wise\n") and "misfit" not in printed
    assert "cross-validated on 64 training examples: lost 0." in printed


@pytest.mark.parametrize(
    "count, share", [(80, 0.1), (10, 0.3)]
)  # the second: classes too small to split
def test_a_training_begins_with_random_weights_if_words_predict_better(
    count, share, tmp_path, capsys
):
    rows = [[f"{word} {'yes' if side > 0 else 'no'}", side > 0] for word, side in zip(WORDS, SIDES)]
    start = AutomaticStart([Stub("lost", 0 * SIDES)])
    start._chosen = start._models[0]  # by an earlier member of a series
    start.apply(None, _corpus(tmp_path, rows[:count], share=share))
    assert start.record is None
    assert capsys.readouterr().out.endswith("; begins with random weights\n")


def test_a_task_with_scores_and_an_encoder_that_does_not_fit_are_refused():
    start = AutomaticStart([Stub("one", SIDES, fits=False)])
    with pytest.raises(UserError, match=r"task is relatedness; name a model \(one\), or leave"):
        start.check_fits(load_config("own_table", "scores"))
    with pytest.raises(UserError, match="init_from=auto finds no model that fits .*from=one has"):
        start.check_fits(load_config("own_table"))


def test_a_training_begins_and_resumes_with_the_chosen_model(tmp_path, capsys):
    config = with_few_operations(tiny_config(steps=4, evaluate_every=2))
    corpus = corpus_of(config, tmp_path / "corpus")
    train(from_dict(config.copy_and_resolve_references()), lambda: corpus, tmp_path / "source")
    bundle = load_bundle(tmp_path / "source" / "best")
    for config.train.steps in (4, 6):
        start = AutomaticStart([InitialModel("source", lambda: bundle)])
        start._accuracies = lambda *_: {"source": 0.9, "TF-IDF of words": 0.8}
        options = from_dict(config.copy_and_resolve_references())
        train(options, lambda: corpus, tmp_path / "run", initial=start)
        assert read_start(tmp_path / "run")["name"] == "source"
    printed = capsys.readouterr().out
    assert printed.count("begins with source") == 2  # the resumed training does not choose
    assert printed.count("--init_from=auto changes nothing in a resumed training, which began") == 1
