"""The baseline of TF-IDF and logistic regression."""

import re
from random import Random

import numpy as np
import pytest

from disan_tf.study.baseline import Baseline, describe_baseline, fit_baselines


def fit(train, dev, test, criterion="accuracy"):
    """The baselines for parts of (text, ..., label)."""
    texts = [list(zip(*(fields for *fields, _ in part))) for part in (train, dev, test)]
    labels = [np.array([label for *_, label in part], np.int32) for part in (train, dev)]
    return fit_baselines(texts, labels, 2, criterion)


def predict(*args, **kwargs):
    """The baseline on words."""
    words, both = fit(*args, **kwargs)
    assert (words.features, both.features) == ("words", "words and characters")
    return words


def test_two_words_in_a_row_are_a_feature():
    examples = [("not good film bad", 0), ("not bad film good", 1)] * 20
    assert predict(examples, examples, examples).predictions.tolist() == [0, 1] * 20


def test_words_that_the_training_part_lacks_change_nothing():
    train = [("good", 0), ("bad", 1)] * 20
    assert predict(train, train, [("bad nowhere", 0)]).predictions.tolist() == [1]


def test_dev_selects_the_strength():
    """In dev the frequent word decides, which the strongest penalty alone prefers."""
    noise = [("film film good", 0)] * 30 + [("film film bad", 1)] * 10
    strict = predict(noise, [("bad", 0)] * 9 + [("good", 0)], noise).strength
    exact = predict(noise, noise, noise).strength
    assert strict == 0.1 < exact


def test_the_criterion_selects_the_strength():
    """The frequent class alone has the accuracy, and the exact fit the macro F1."""
    train = [("film good", 0)] * 30 + [("film bad", 1)] * 3
    dev = [("film bad", 0)] * 6 + [("film good", 0)] * 3 + [("film bad", 1)] * 4
    strict, exact = (predict(train, dev, dev, criterion=name) for name in ("accuracy", "macro_f1"))
    assert strict.predictions.tolist() == [0] * 13
    assert {*exact.predictions.tolist()} == {0, 1}


def test_parts_of_words_are_features_of_the_second_baseline():
    train = [("untrue", 0), ("unfair", 0), ("true", 1), ("fair", 1)] * 10
    words, both = fit(train, train, [("unkind", 0), ("kind", 1)])
    assert both.predictions.tolist() == [0, 1] != words.predictions.tolist()


def test_shared_words_decide_pairs():
    random, words = Random(0), ["good", "bad", "film", "not"]

    def pairs(count):
        drawn = [random.sample(words, 2) for _ in range(count)]
        return [(a, a if k % 2 else b, k % 2) for k, (a, b) in enumerate(drawn)]

    test = pairs(40)
    found = predict(pairs(200), pairs(40), test)
    assert found.predictions.tolist() == [label for *_, label in test]


@pytest.mark.parametrize("train", [[("good", 0)] * 4, [("a", 0), ("b", 1)]])
def test_one_class_or_no_word_has_no_baseline(train):
    assert fit(train, train, train) == []


def test_the_lead_is_paired():
    labels = np.array([0, 1] * 50)
    model, other = labels.copy(), labels.copy()
    model[:20], other[:30] = 1 - labels[:20], 1 - labels[:30]
    text = describe_baseline(Baseline("words", other, 10.0, 2.4), model, labels, 2, "accuracy")
    assert "of words and logistic regression (C=10, 2 processor seconds): accuracy 0.7000" in text
    assert "macro F1 0.7000; the model's accuracy is +10.0 points" in text
    low, high = re.search(r"interval (\S+) to (\S+)\), the model is better$", text).groups()
    assert 4 <= float(low) <= 6 and 15 <= float(high) <= 17  # unpaired: -2 and +22


@pytest.mark.parametrize("right, verdict", [(70, "undecided"), (50, "the baseline is better: use")])
def test_a_lead_is_judged_by_its_interval(right, verdict):
    labels = np.array([0, 1] * 50)
    model, other = labels.copy(), labels.copy()
    model[right:], other[:29] = 1 - labels[right:], 1 - labels[:29]
    text = describe_baseline(Baseline("words", other, 10.0, 2.4), model, labels, 2, "macro_f1")
    assert f"), {verdict}" in text
