"""The scores of a model on a split."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus, draw_examples
from disan_tf.metrics.scores import classification_scores
from disan_tf.models import SentenceModel
from disan_tf.models.classification import ClassScores
from disan_tf.runs.bundle import Bundle
from disan_tf.training import evaluation
from disan_tf.training.evaluation import evaluate, write_evaluation
from tests.support.corpora.manifests import save_array, write_manifest
from tests.support.runs.training import tiny_config

CLASSES = ["bad", "fair", "good"]
WORDS = ["awful", "usual", "superb", "film"]  # ids 2 to 5; the first three name their class

# gold bad: 2 right, 1 as fair; gold fair: 1 right, 1 as bad; good is neither gold nor predicted
LABELS = np.array([0, 0, 0, 1, 1], np.int32)
PREDICTIONS = np.array([0, 1, 0, 1, 0], np.int32)


class _Answers(ClassScores):
    """As much of a `SentenceModel` as the evaluation needs."""

    embedding = SimpleNamespace(word_features={})
    samplers = losses = weights = ()
    reads, input_specs = SentenceModel.reads, SentenceModel.input_specs
    batch_loss, loss_weight = SentenceModel.batch_loss, SentenceModel.loss_weight


class _FirstWordDecides(_Answers):
    """Answers the class that the first word names, with logit 2 against 0 and 0."""

    fields, classes = ("sentence",), len(CLASSES)

    def __call__(self, ids, training=None):
        return 2.0 * tf.one_hot(ids[:, 0] - 2, self.classes)


def _corpus(directory, sentences, labels, classes=CLASSES, words=WORDS):
    directory.mkdir()
    (directory / "vocabulary.txt").write_text("".join(f"{word}\n" for word in words))
    arrays = {
        "sentence.ids": np.concatenate(sentences).astype(np.int32),
        "sentence.offsets": np.cumsum([0, *map(len, sentences)]),
        "label": np.array(labels, np.int32),
        "example_id": np.array([b"x"] * len(labels)),
    }
    for name, array in arrays.items():
        np.save(directory / f"test.{name}.npy", array)
    write_manifest(directory, classes, (len(words), 0), sizes={"test": len(labels)})
    return PreparedCorpus(directory)


@pytest.fixture
def bundle(tmp_path):
    directory = tmp_path / "best"
    directory.mkdir()
    (directory / "vocabulary.txt").write_text("".join(f"{word}\n" for word in WORDS))
    config = tiny_config()
    config.evaluate.batch_size, config.train.jit_compile = 2, "False"
    info = {"name": "demo", "classes": CLASSES, "scores": {"step": 1500, "dev_accuracy": 0.5}}
    return Bundle(directory, config, info, _FirstWordDecides())


@pytest.fixture
def corpus(tmp_path):
    """The gold labels and predictions above, in sentences of 12, 2, 1, 30 and 7 tokens."""
    lengths = (12, 2, 1, 30, 7)
    sentences = [[2 + p] + [5] * (n - 1) for p, n in zip(PREDICTIONS, lengths)]
    return _corpus(tmp_path / "corpus", sentences, LABELS)


def test_genres_are_scored_where_the_corpus_has_them(bundle, corpus):
    save_array(corpus.directory, "test.genre", np.array([b"travel"] * 4 + [b"9/11"]))
    corpus = PreparedCorpus(corpus.directory)
    corpus.manifest["genres"] = ["9/11", "travel"]
    scores = evaluate(bundle, corpus, "test")
    assert scores["by_genre"] == {
        "9/11": {"count": 1, "accuracy": 0.0},
        "travel": {"count": 4, "accuracy": 0.75},
    }


def test_evaluate_scores_a_whole_split_in_its_order_by_one_trace(bundle, corpus):
    scores, again = (evaluate(bundle, corpus, "test") for _ in range(2))
    assert scores == again and bundle.steps["final"].experimental_get_tracing_count() == 1
    lengths = np.array([12, 2, 1, 30, 7])
    expected = classification_scores(PREDICTIONS, LABELS, CLASSES, lengths)
    assert {key: scores[key] for key in expected} == expected
    assert scores["by_length"]["1-4"] == {"count": 2, "accuracy": 0.5}
    assert scores["by_length"]["38+"] == {"count": 0, "accuracy": None}


def test_of_the_training_examples_those_are_scored_that_were_drawn(bundle, corpus):
    corpus.split = {"train": corpus.split("test")}.__getitem__
    rows = draw_examples(5, 3)
    bundle.config.train.examples = 3
    scores = evaluate(bundle, corpus, "train")
    assert scores["examples"] == 3
    assert scores["accuracy"] == np.mean(PREDICTIONS[rows] == LABELS[rows])
    assert scores["by_length"]["38+"]["count"] == 0
    bundle.config.train.examples = 0
    assert evaluate(bundle, corpus, "train")["examples"] == 5


def test_scores_are_written_with_the_answer_to_each_example(bundle, corpus, tmp_path):
    scores = write_evaluation(tmp_path / "scores", bundle, corpus, "test")
    assert json.loads((tmp_path / "scores/test.json").read_text()) == scores
    lines = (tmp_path / "scores/test_confusion.csv").read_text().splitlines()
    assert lines == ["gold \\ predicted,bad,fair,good", "bad,2,1,0", "fair,1,1,0", "good,0,0,0"]
    with np.load(tmp_path / "scores/test.npz") as answers:
        assert answers["predictions"].dtype == answers["labels"].dtype == np.uint8
        assert answers["predictions"].tolist() == list(PREDICTIONS)
        assert answers["labels"].tolist() == list(LABELS) and answers["step"] == 1500


def test_evaluate_names_checkpoint_split_and_mean_loss(bundle, corpus):
    scores = evaluate(bundle, corpus, "test")
    assert (scores["config"], scores["step"]) == ("demo", 1500)
    assert (scores["split"], scores["examples"]) == ("test", 5)
    assert scores["criterion"] == "accuracy" and "by_genre" not in scores
    total = math.log(math.exp(2) + 2)  # cross-entropy is total - 2 where right, else total
    assert scores["loss"] == pytest.approx((3 * (total - 2) + 2 * total) / 5)
    json.dumps(scores, allow_nan=False)


def test_evaluate_leaves_weight_decay_in_the_loss(bundle, corpus):
    plain = evaluate(bundle, corpus, "test")["loss"]
    bundle.model.losses = [tf.constant(0.25)]
    bundle.steps.clear()
    assert evaluate(bundle, corpus, "test")["loss"] == pytest.approx(plain + 0.25)


def test_corpus_of_other_classes_is_refused(bundle, tmp_path):
    other = _corpus(tmp_path / "binary", [[2]], [0], classes=["bad", "good"])
    with pytest.raises(UserError, match="has the classes bad, good, .*best has bad, fair, good;"):
        evaluate(bundle, other, "test")


def test_corpus_of_another_word_is_refused(bundle, tmp_path):
    other = _corpus(tmp_path / "other", [[2]], [0], words=["awful", "common", "superb", "film"])
    other.manifest["warnings"] = ["TREC_10.label: TREC test has 5 questions; the ... has 500."]
    remedy = "prepare the corpus with the `data` values of the model's config. TREC_10.label: TREC"
    with pytest.raises(UserError, match=f"other.*best.*line 2 .'common' and 'usual'.; {remedy}"):
        evaluate(bundle, other, "test")


class _KnowsLengths(_Answers):
    """A language model whose every word costs 0.5 nats forward and 0.75 backward."""

    fields = ("sentence",)
    criterion = "log_likelihood"

    def __call__(self, ids, training=None):
        count = 1.0 + tf.reduce_sum(tf.cast(ids != 0, tf.float32), axis=1)
        return tf.stack([0.5 * count, 0.75 * count, count], axis=1)

    def loss(self, outputs, labels):
        return tf.reduce_mean(outputs[:, 0])

    def predictions(self, outputs):
        return tf.constant(outputs)


def test_a_language_model_is_scored_by_its_words(bundle, tmp_path):
    corpus = _corpus(tmp_path / "text", [[2, 1, 3], [1]], [0, 0])
    model = _KnowsLengths()
    scores = evaluate(Bundle(bundle.directory, bundle.config, bundle.info, model), corpus, "test")
    assert scores["predictions"] == 4 + 2  # the ends of both sentences among them
    assert scores["unknown_words"] == 0.5
    assert scores["log_likelihood"] == pytest.approx(-0.625)
    assert scores["forward_perplexity"] == pytest.approx(math.exp(0.5))
    json.dumps(scores, allow_nan=False)


def test_scores_begin_at_the_lowest_class():
    split = SimpleNamespace(labels=np.array([-1.0, 0.5, 1.0]))
    report = evaluation._numbers(split, split.labels, ["-1", "0", "1"])
    assert {name: bin["count"] for name, bin in report["by_score"].items()} == {
        "[-1, 0)": 1,
        "[0, 1]": 2,
    }
