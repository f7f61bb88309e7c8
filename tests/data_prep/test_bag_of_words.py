"""The logistic regression on word counts."""

from random import Random

import numpy as np
import scipy.special

from data_prep import bag_of_words
from data_prep.bag_of_words import bag_of_words_accuracy
from data_prep.synthetic.treebank import write_treebank


def test_word_counts_end_with_the_bias_and_leave_out_unknown_words():
    counts = bag_of_words._word_counts([("bab", 0), ("z", 1)], {"a": 0, "b": 1})
    assert counts.toarray().tolist() == [[1, 2, 1], [0, 0, 1]]


def test_the_regression_is_fitted_to_the_minimum_of_its_penalised_loss():
    random = np.random.default_rng(0)
    counts = np.hstack([random.integers(0, 3, (40, 4)), np.ones((40, 1))])
    targets = np.eye(3)[random.integers(0, 3, 40)]
    weights = bag_of_words._fit(counts, targets, penalty=0.1)
    probabilities = scipy.special.softmax(counts @ weights, axis=-1)
    slope = counts.T @ (targets - probabilities) / 40  # of the likelihood: the penalty's at rest
    np.testing.assert_allclose(slope[:-1], 0.1 * weights[:-1], atol=1e-4)
    np.testing.assert_allclose(slope[-1], 0.0, atol=1e-4)
    assert np.abs(weights).max() > 0.1


def test_a_bag_of_words_solves_what_needs_no_order():
    random = Random(0)

    def draw(size):
        fillers = [random.choices("abcdefgh", k=6) for _ in range(size)]
        labels = [random.randrange(3) for _ in range(size)]
        return [(words + [f"label{label}"], label) for words, label in zip(fillers, labels)]

    assert bag_of_words_accuracy(draw(200), draw(100)) == 1.0


def test_a_bag_of_words_is_no_better_than_the_majority_on_unknown_words():
    train = [(("a",), 0), (("a",), 0), (("a",), 0), (("b",), 1)] * 10
    assert bag_of_words_accuracy(train, [(("z",), 0), (("z",), 0), (("z",), 1)]) == 2 / 3


def test_the_command_prints_the_accuracy_of_a_treebank(tmp_path, capsys):
    write_treebank(tmp_path, 0, {"train": 300, "dev": 10, "test": 100})
    assert bag_of_words.main([f"--data_dir={tmp_path}"]) == 0
    accuracy = float(capsys.readouterr().out.split()[-1])
    assert 0.4 < accuracy < 0.75


def test_the_command_names_a_missing_treebank(tmp_path, capsys):
    assert bag_of_words.main([f"--data_dir={tmp_path}"]) == 2
    assert "sst/trees" in capsys.readouterr().err
