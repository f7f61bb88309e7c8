"""Scores of classes against numbers counted by hand."""

import json

import numpy as np
import pytest

from disan_tf.metrics.scores import (
    accuracy_by_genre,
    accuracy_by_length,
    classification_scores,
)

CLASSES = ["bad", "fair", "good"]

# gold bad: 2 right, 1 as fair; gold fair: 1 right, 1 as bad; good is neither gold nor predicted
LABELS = np.array([0, 0, 0, 1, 1], np.int32)
PREDICTIONS = np.array([0, 1, 0, 1, 0], np.int32)


def _scores(labels, predictions, classes=CLASSES):
    return classification_scores(predictions, labels, classes, np.ones(len(labels), int))


def test_accuracy_confusion_and_kappa_of_a_hand_counted_case():
    scores = _scores(LABELS, PREDICTIONS)
    assert scores["accuracy"] == 0.6
    assert scores["confusion"] == {
        "classes": CLASSES,
        "matrix": [[2, 1, 0], [1, 1, 0], [0, 0, 0]],  # rows = gold
    }
    by_chance = (3 * 3 + 2 * 2) / 25
    assert scores["cohen_kappa"] == pytest.approx((0.6 - by_chance) / (1 - by_chance))


def test_precision_recall_f1_and_support_of_each_class():
    # bad is predicted twice as often as it is gold
    scores = _scores(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 2]))
    expected = {
        "bad": {"precision": 0.5, "recall": 1.0, "f1": 2 / 3, "support": 1},
        "fair": {"precision": 1.0, "recall": 0.5, "f1": 2 / 3, "support": 2},
        "good": {"precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 1},
    }
    for name, values in expected.items():
        assert scores["classes"][name] == pytest.approx(values), name
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)


def test_absent_class_scores_0_and_counts_in_macro_f1():
    scores = _scores(LABELS, PREDICTIONS)
    assert scores["classes"]["good"] == {"precision": 0, "recall": 0, "f1": 0, "support": 0}
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


@pytest.mark.parametrize("prediction", [0, 1])
def test_one_example_has_no_nan(prediction):
    scores = _scores(np.array([1]), np.array([prediction]))
    assert scores["accuracy"] == prediction
    assert scores["cohen_kappa"] == 0.0
    json.dumps(scores, allow_nan=False)


def test_length_bins_hold_their_bounds():
    lengths = np.array([1, 4, 5, 11, 12, 24, 25, 37, 38, 500])
    correct = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 1], bool)
    assert accuracy_by_length(correct, lengths) == {
        "1-4": {"count": 2, "accuracy": 0.5},
        "5-11": {"count": 2, "accuracy": 1.0},
        "12-24": {"count": 2, "accuracy": 0.0},
        "25-37": {"count": 2, "accuracy": 0.5},
        "38+": {"count": 2, "accuracy": 1.0},
    }


def test_accuracy_of_each_genre():
    correct = np.array([True, False, True, True])
    genres = np.array([b"travel", b"fiction", b"travel", b"fiction"])
    assert accuracy_by_genre(correct, genres) == {
        "fiction": {"count": 2, "accuracy": 0.5},
        "travel": {"count": 2, "accuracy": 1.0},
    }
