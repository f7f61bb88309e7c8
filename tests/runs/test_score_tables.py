"""Scores as text."""

import numpy as np
import pytest

from disan_tf.metrics.scores import (
    classification_scores,
    correlation_scores,
    scores_by_label,
)
from disan_tf.runs.score_tables import advise_folds, render_scores, wilson_interval

ABOUT = {"config": "demo", "step": 1500, "split": "test", "examples": 5, "loss": 0.5}
GENRES = np.array([b"travel", b"travel", b"9/11", b"travel", b"travel"])


def _render(classes=("bad", "fair", "good"), genres=None):
    """What 5 examples of 3 classes look like; the last class is neither gold nor predicted."""
    labels, predictions = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 0, 1, 0])
    lengths = np.array([7, 1, 30, 2, 12])
    return render_scores(
        {**ABOUT, **classification_scores(predictions, labels, classes, lengths, genres)}
    )


def test_classes_have_a_headline_and_every_table():
    lines = _render().splitlines()
    assert lines[0] == "demo, step 1,500, on test: 5 examples"
    assert lines[1] == ("accuracy 0.6000, Cohen's kappa 0.1667, macro F1 0.3889, loss 0.5000")
    table = [line.split() for line in lines]
    assert ["bad", "0.6667", "0.6667", "0.6667", "3"] in table
    assert ["good", "0.0000", "0.0000", "0.0000", "0"] in table
    assert ["gold", "\\", "predicted", "bad", "fair", "good"] in table
    assert ["bad", "2", "1", "0"] in table
    assert ["12-24", "1", "0.0000"] in table
    assert ["38+", "0", "-"] in table


def test_many_classes_have_the_most_confused_pairs_in_place_of_a_matrix():
    names = [f"class{number}" for number in range(13)]
    labels = np.repeat(np.arange(13), 4)
    predictions = labels.copy()
    predictions[[0, 1, 2, 8]] = 5, 5, 5, 7
    scores = classification_scores(predictions, labels, names, np.full(52, 7))
    blocks = render_scores({**ABOUT, **scores}).split("\n\n")
    (table,) = [block.splitlines() for block in blocks if "most confused" in block]
    assert [line.split() for line in table[1:]] == [
        ["class0", "class5", "3", "0.7500"],
        ["class2", "class7", "1", "0.2500"],
    ]
    assert "gold \\" not in "".join(blocks)
    perfect = classification_scores(labels, labels, names, np.full(52, 7))
    assert "most confused" not in render_scores({**ABOUT, **perfect})


def test_numbers_show_correlations_and_bins():
    labels = np.array([1.0, 1.9, 2.0, 4.0, 5.0], np.float32)
    predictions = np.array([1.5, 1.9, 3.0, 4.0, 4.0], np.float32)
    bins = scores_by_label(predictions, labels, 5)
    text = render_scores({**ABOUT, **correlation_scores(predictions, labels), "by_score": bins})
    lines = text.splitlines()
    assert lines[1] == "Pearson's r 0.9207, Spearman's rho 0.9747, MSE 0.4500, loss 0.5000"
    table = [line.split() for line in lines]
    assert ["[4,", "5]", "2", "4.5000", "4.0000", "0.5000"] in table
    assert ["[3,", "4)", "0", "-", "-", "-"] in table


def test_a_language_model_shows_its_perplexities_alone():
    scores = {
        "log_likelihood": -4.1,
        "perplexity": 61.7,
        "forward_perplexity": 60.254,
        "backward_perplexity": 63.1,
        "predictions": 12_345,
        "unknown_words": 0.0234,
    }
    assert render_scores({**ABOUT, **scores}) == (
        "demo, step 1,500, on test: 5 examples\nperplexity 61.70 (forward 60.25, backward 63.10) "
        "over 12,345 words, 2.34% unknown, loss 0.5000"
    )


def test_an_accuracy_has_an_interval_and_the_share_of_the_largest_class():
    line = _render().splitlines()[2]
    assert line == (
        "95 % interval of the accuracy: 0.2307 to 0.8824; always predicting bad would give 0.6000"
    )


def test_the_interval_is_wilsons():
    # Brown, Cai and DasGupta 2001: p +- 1.96 / 2 of 4 in 10 and of none in 10
    np.testing.assert_allclose(wilson_interval(0.4, 10), (0.1682, 0.6873), atol=1e-4)
    np.testing.assert_allclose(wilson_interval(0.0, 10), (0.0, 0.2775), atol=1e-4)


@pytest.mark.parametrize(
    "corpus, rows, advises", [("table", 999, True), ("table", 1000, False), ("sst", 99, False)]
)
def test_folds_are_advised_for_small_tables_of_ones_own(corpus, rows, advises):
    splits = {"train": {"examples": rows - 9}, "test": {"examples": 9}}
    manifest = {"corpus": corpus, "splits": splits, "options": {"test": ""}}
    advice = advise_folds(manifest)
    assert not advise_folds({**manifest, "options": {"test": "test.csv"}})
    assert bool(advice) == advises
    assert not advice or "The table has 999 rows" in advice[0] and "--folds=all" in advice[0]
