"""The evaluation report against numbers counted by hand."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.errors import UserError
from disan_tf.files import write_json
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.metrics.classification import accuracy_by_genre, accuracy_by_length, summarise
from disan_tf.models import SentenceModel
from disan_tf.models.class_scores import ClassScores
from disan_tf.training.bundle import Bundle
from disan_tf.training.evaluation import evaluate, render
from tests.support.pairs import make_pair_corpus

CLASSES = ["bad", "fair", "good"]
WORDS = ["awful", "usual", "superb", "film"]  # ids 2 to 5; the first three name their class

# gold bad: 2 right, 1 as fair; gold fair: 1 right, 1 as bad; good is neither gold nor predicted
LABELS = np.array([0, 0, 0, 1, 1], np.int32)
PREDICTIONS = np.array([0, 1, 0, 1, 0], np.int32)


class _Answers(ClassScores):
    """As much of a `SentenceModel` as the evaluation needs."""

    embedding = SimpleNamespace(word_features={})
    samplers = losses = ()
    reads, input_specs = SentenceModel.reads, SentenceModel.input_specs
    loss = SentenceModel.loss


class _FirstWordDecides(_Answers):
    """Answers the class that the first word names, with logit 2 against 0 and 0."""

    fields = ("sentence",)

    def __call__(self, ids, training=None):
        return 2.0 * tf.one_hot(ids[:, 0] - 2, len(CLASSES))


def _corpus(directory, sentences, labels, classes=CLASSES, words=WORDS):
    directory.mkdir()
    manifest = {"classes": classes, "fields": ["sentence"], "splits": {"test": {}}}
    manifest.update(trainable_words=len(words), fixed_words=0)
    write_json(directory / "manifest.json", manifest)
    (directory / "vocabulary.txt").write_text("".join(f"{word}\n" for word in words))
    arrays = {
        "sentence.ids": np.concatenate(sentences).astype(np.int32),
        "sentence.offsets": np.cumsum([0, *map(len, sentences)]),
        "label": np.array(labels, np.int32),
        "example_id": np.array([b"x"] * len(labels)),
    }
    for name, array in arrays.items():
        np.save(directory / f"test.{name}.npy", array)
    return PreparedCorpus(directory)


@pytest.fixture
def bundle(tmp_path):
    directory = tmp_path / "best"
    directory.mkdir()
    (directory / "vocabulary.txt").write_text("".join(f"{word}\n" for word in WORDS))
    config = ConfigDict({"evaluate": {"batch_size": 2}})
    info = {"name": "demo", "classes": CLASSES, "scores": {"step": 1500, "dev_accuracy": 0.5}}
    return Bundle(directory, config, info, _FirstWordDecides())


@pytest.fixture
def corpus(tmp_path):
    """The gold labels and predictions above, in sentences of 7, 1, 30, 2 and 12 tokens."""
    lengths = (7, 1, 30, 2, 12)
    sentences = [[2 + p] + [5] * (n - 1) for p, n in zip(PREDICTIONS, lengths)]
    return _corpus(tmp_path / "corpus", sentences, LABELS)


def _summarise(labels, answers, lengths=None, classes=CLASSES, genres=None):
    lengths = np.ones(len(labels), int) if lengths is None else lengths
    split = SimpleNamespace(labels=labels, lengths=lengths, genres=genres)
    return summarise(split, answers, classes)


def test_accuracy_confusion_and_kappa_of_a_hand_counted_case():
    scores = _summarise(LABELS, PREDICTIONS)
    assert scores["accuracy"] == 0.6
    assert scores["confusion"] == {
        "classes": CLASSES,
        "matrix": [[2, 1, 0], [1, 1, 0], [0, 0, 0]],  # rows = gold
    }
    by_chance = (3 * 3 + 2 * 2) / 25
    assert scores["cohen_kappa"] == pytest.approx((0.6 - by_chance) / (1 - by_chance))


def test_precision_recall_f1_and_support_of_each_class():
    # bad is predicted twice as often as it is gold
    scores = _summarise(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 2]))
    expected = {
        "bad": {"precision": 0.5, "recall": 1.0, "f1": 2 / 3, "support": 1},
        "fair": {"precision": 1.0, "recall": 0.5, "f1": 2 / 3, "support": 2},
        "good": {"precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 1},
    }
    for name, values in expected.items():
        assert scores["classes"][name] == pytest.approx(values), name
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)


def test_absent_class_scores_0_and_counts_in_macro_f1():
    scores = _summarise(LABELS, PREDICTIONS)
    assert scores["classes"]["good"] == {"precision": 0, "recall": 0, "f1": 0, "support": 0}
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


@pytest.mark.parametrize("prediction", [0, 1])
def test_one_example_has_no_nan(prediction):
    scores = _summarise(np.array([1]), np.array([prediction]))
    assert scores["accuracy"] == prediction
    assert scores["cohen_kappa"] == 0.0
    json.dumps(scores, allow_nan=False)


def test_two_classes():
    scores = _summarise(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=CLASSES[:2])
    assert scores["cohen_kappa"] == pytest.approx(0.5)
    assert scores["confusion"]["matrix"] == [[1, 1], [0, 2]]


def test_length_bins_hold_their_bounds():
    lengths = np.array([1, 4, 5, 11, 12, 24, 25, 37, 38, 500])
    right = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 1], bool)
    assert accuracy_by_length(right, lengths) == {
        "1-4": {"count": 2, "accuracy": 0.5},
        "5-11": {"count": 2, "accuracy": 1.0},
        "12-24": {"count": 2, "accuracy": 0.0},
        "25-37": {"count": 2, "accuracy": 0.5},
        "38+": {"count": 2, "accuracy": 1.0},
    }


def test_length_bin_without_a_sentence_has_no_accuracy():
    bins = accuracy_by_length(np.array([True]), np.array([6]))
    assert bins["5-11"] == {"count": 1, "accuracy": 1.0}
    assert all(bins[name] == {"count": 0, "accuracy": None} for name in bins if name != "5-11")


def test_accuracy_of_each_genre():
    right = np.array([True, False, True, True])
    genres = np.array([b"travel", b"fiction", b"travel", b"fiction"])
    assert accuracy_by_genre(right, genres) == {
        "fiction": {"count": 2, "accuracy": 0.5},
        "travel": {"count": 2, "accuracy": 1.0},
    }


def test_genres_are_reported_where_the_corpus_has_them(bundle, corpus):
    np.save(corpus.directory / "test.genre.npy", np.array([b"travel"] * 4 + [b"9/11"]))
    report = evaluate(bundle, corpus, "test")
    assert report["by_genre"] == {
        "9/11": {"count": 1, "accuracy": 0.0},
        "travel": {"count": 4, "accuracy": 0.75},
    }
    assert ["travel", "4", "0.7500"] in [line.split() for line in render(report).splitlines()]


def test_evaluate_scores_a_whole_split_in_its_order(bundle, corpus):
    report = evaluate(bundle, corpus, "test")
    expected = _summarise(LABELS, PREDICTIONS, np.array([7, 1, 30, 2, 12]))
    assert {key: report[key] for key in expected} == expected
    assert report["by_length"]["1-4"] == {"count": 2, "accuracy": 0.5}
    assert report["by_length"]["38+"] == {"count": 0, "accuracy": None}


def test_evaluate_names_checkpoint_split_and_mean_loss(bundle, corpus):
    report = evaluate(bundle, corpus, "test")
    assert (report["config"], report["step"]) == ("demo", 1500)
    assert (report["split"], report["examples"]) == ("test", 5)
    assert report["criterion"] == "accuracy" and "by_genre" not in report
    total = math.log(math.exp(2) + 2)  # cross-entropy is total - 2 where right, else total
    assert report["loss"] == pytest.approx((3 * (total - 2) + 2 * total) / 5)
    json.dumps(report, allow_nan=False)


def test_evaluate_leaves_weight_decay_in_the_loss(bundle, corpus):
    plain = evaluate(bundle, corpus, "test")["loss"]
    bundle.model.losses = [tf.constant(0.25)]
    assert evaluate(bundle, corpus, "test")["loss"] == pytest.approx(plain + 0.25)


def test_corpus_of_other_classes_is_refused(bundle, tmp_path):
    other = _corpus(tmp_path / "binary", [[2]], [0], classes=["bad", "good"])
    with pytest.raises(UserError, match="has the classes bad, good, .*best has bad, fair, good;"):
        evaluate(bundle, other, "test")


def test_corpus_of_another_word_is_refused(bundle, tmp_path):
    other = _corpus(tmp_path / "other", [[2]], [0], words=["awful", "common", "superb", "film"])
    with pytest.raises(UserError, match="other.*best.*line 2 .'common' and 'usual'."):
        evaluate(bundle, other, "test")


def test_corpus_of_more_words_is_refused(bundle, tmp_path):
    other = _corpus(tmp_path / "longer", [[2]], [0], words=[*WORDS, "plot"])
    with pytest.raises(UserError, match="line 5 .'plot' and no word."):
        evaluate(bundle, other, "test")


def test_rendered_report_shows_every_table(bundle, corpus):
    lines = render(evaluate(bundle, corpus, "test")).splitlines()
    assert lines[0] == "demo, step 1,500, on test: 5 examples"
    assert lines[1].startswith("accuracy 0.6000, Cohen's kappa 0.1667, macro F1 0.3889, loss ")
    table = [line.split() for line in lines]
    assert ["bad", "0.6667", "0.6667", "0.6667", "3"] in table
    assert ["good", "0.0000", "0.0000", "0.0000", "0"] in table
    assert ["gold", "\\", "predicted", *CLASSES] in table
    assert ["bad", "2", "1", "0"] in table
    assert ["12-24", "1", "0.0000"] in table
    assert ["38+", "0", "-"] in table


def test_rendered_columns_end_under_their_headers():
    scores = _summarise(LABELS, PREDICTIONS, classes=["a", "very long name", "b"])
    report = {"config": "c", "step": 1, "split": "dev", "examples": 5, "loss": 1.0}
    blocks = render({**report, "criterion": "accuracy", **scores}).split("\n\n")
    for block in blocks[1:]:
        assert len({len(line) for line in block.splitlines()}) == 1


class _FirstWordsDecide(_Answers):
    """Answers the class of `tests.support.pairs` for pairs of more than 4 tokens, else another."""

    fields = ("premise", "hypothesis")

    def __call__(self, premise, hypothesis, training=None):
        longer = [tf.math.count_nonzero(ids, axis=1) for ids in (premise, hypothesis)]
        wrong = tf.cast(tf.maximum(*longer) <= 4, tf.int32)
        return tf.one_hot((premise[:, 0] + hypothesis[:, 0] + wrong) % 3, 3)


def test_pairs_are_scored_in_their_order_and_by_the_longer_sentence(bundle, tmp_path):
    corpus = make_pair_corpus(tmp_path / "pairs")
    (bundle.directory / "vocabulary.txt").write_text("".join(f"{w}\n" for w in corpus.vocabulary))
    info = {**bundle.info, "classes": corpus.classes}
    report = evaluate(
        Bundle(bundle.directory, bundle.config, info, _FirstWordsDecide()), corpus, "test"
    )
    lengths = corpus.split("test").field_lengths
    short = int(np.sum(lengths.max(axis=1) <= 4))
    assert 0 < short < 40 and np.any(lengths.min(axis=1) <= 4)
    assert report["accuracy"] == pytest.approx(1 - short / 40)
    assert report["by_length"]["1-4"] == {"count": short, "accuracy": 0.0}
    assert report["by_length"]["5-11"]["accuracy"] == 1.0
