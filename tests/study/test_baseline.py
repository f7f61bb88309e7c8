"""The baseline of TF-IDF and logistic regression."""

from random import Random

import numpy as np
import pytest

from disan_tf.input_pipeline import Split
from disan_tf.study.baseline import Baseline, describe_baseline, fit_baseline

VOCABULARY = [*"abcdefgh", "not", "good", "bad", "film"]
IDS = {word: number for number, word in enumerate(VOCABULARY, start=2)}


def split(examples, fields=("sentence",)) -> Split:
    """A split of (text, ..., label)."""
    ids, offsets = {}, {}
    for field, texts in zip(fields, zip(*(texts for *texts, _ in examples))):
        numbers = [[IDS.get(word, 1) for word in text.split()] for text in texts]
        ids[field] = np.concatenate(numbers).astype(np.int32)
        offsets[field] = np.cumsum([0, *map(len, numbers)])
    labels = np.array([label for *_, label in examples], np.int32)
    return Split(fields, ids, offsets, labels, np.array([b"x"] * len(examples)))


def predict(train, dev, test, fields=("sentence",)):
    return fit_baseline(VOCABULARY, *(split(part, fields) for part in (train, dev, test)))


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


def test_shared_words_decide_pairs():
    random, words = Random(0), ["good", "bad", "film", "not"]

    def pairs(count):
        drawn = [random.sample(words, 2) for _ in range(count)]
        return [(a, a if k % 2 else b, k % 2) for k, (a, b) in enumerate(drawn)]

    test = pairs(40)
    found = predict(pairs(200), pairs(40), test, ("premise", "hypothesis"))
    assert found.predictions.tolist() == [label for *_, label in test]


@pytest.mark.parametrize("train", [[("good", 0)] * 4, [("a", 0), ("b", 1)]])
def test_one_class_or_no_word_has_no_baseline(train):
    assert predict(train, train, train) is None


def test_the_lead_is_paired():
    labels = np.array([0, 1] * 50)
    model, other = labels.copy(), labels.copy()
    model[:20], other[:30] = 1 - labels[:20], 1 - labels[:30]
    text = describe_baseline(Baseline(other, 10.0), model, labels)
    assert "(C=10): accuracy 0.7000; the model's is +10.0 points" in text
    low, high = text.partition("interval ")[2].rstrip(")").split(" to ")
    assert 4 <= float(low) <= 6 and 15 <= float(high) <= 17  # unpaired: -2 and +22
