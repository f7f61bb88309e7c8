"""The baseline of a classifier: a logistic regression on TF-IDF weights of words and word pairs."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np

from disan_tf.input_pipeline import Split
from disan_tf.metrics.differences import Predictions, difference
from disan_tf.metrics.scores import accuracy

STRENGTHS = (0.1, 1.0, 10.0, 100.0)  # C, the inverse weight of the penalty
_SPECIAL = ["", "<unk>"]  # words of ids 0 and 1
_MOST_STEPS = 300  # of L-BFGS, which needs some fifty


class Baseline(NamedTuple):
    """The predictions of the regression that was the best on dev, and its C."""

    predictions: np.ndarray
    strength: float


def fit_baseline(
    vocabulary: Sequence[str], train: Split, dev: Split, split: Split
) -> Optional[Baseline]:
    """Predicts the classes of a split; dev selects C from `STRENGTHS`.

    The regression reads the prepared corpus, and so has the model's tokens. The features of a pair
    are the weights of either text, their products and absolute differences, the cosine, and how
    many words the texts share.

    Args:
      vocabulary: the words of ids 2 and up.
      train, dev, split: splits of a corpus with classes.

    Returns:
      The baseline; None if the training part has one class alone, or no word of two letters.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    words = np.array([*_SPECIAL, *vocabulary], dtype=object)
    texts = [_texts(part, words) for part in (train, dev, split)]
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    try:
        vectorizer.fit(text for field in texts[0] for text in field)
    except ValueError:  # an empty vocabulary
        return None
    if len(np.unique(train.labels)) < 2:
        return None
    of_train, of_dev, of_split = (_features(vectorizer, fields) for fields in texts)
    regression = LogisticRegression(max_iter=_MOST_STEPS, warm_start=True)
    best, best_score = None, -1.0
    for strength in STRENGTHS:
        regression.C = strength
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            regression.fit(of_train, train.labels)
        score = accuracy(regression.predict(of_dev), dev.labels)
        if score > best_score:
            best, best_score = Baseline(regression.predict(of_split), strength), score
    return best


def describe_baseline(baseline: Baseline, predictions: np.ndarray, labels: np.ndarray) -> str:
    """Describes the baseline's accuracy and the paired interval of the model's lead.

    `predictions` are the model's on the same examples, `labels` the gold classes, <int>[examples].
    """
    model, other = Predictions(predictions, labels), Predictions(baseline.predictions, labels)
    interval, _ = difference([model], [other], "accuracy")
    lead, low, high = (100 * part for part in interval)
    return (
        f"baseline, TF-IDF and logistic regression (C={baseline.strength:g}): accuracy "
        f"{accuracy(baseline.predictions, labels):.4f}; the model's is {lead:+.1f} points (95 % "
        f"interval {low:+.1f} to {high:+.1f})"
    )


def _texts(split: Split, words: np.ndarray) -> list[list[str]]:
    """Returns the texts of each field, with spaces between the tokens."""
    parts = [(split.ids[field], split.offsets[field]) for field in split.fields]
    return [
        [" ".join(words[ids[start:end]]) for start, end in zip(offsets, offsets[1:])]
        for ids, offsets in parts
    ]


def _features(vectorizer, fields: list[list[str]]):
    """Returns the features of texts or pairs, a sparse matrix with a row for each example."""
    from scipy.sparse import csr_matrix, hstack

    weights = [vectorizer.transform(texts) for texts in fields]
    if len(fields) == 1:
        return weights[0]
    first, second = weights
    product = first.multiply(second)
    shared = []  # shares of common words in both texts, in the first and in the second
    for a, b in ((set(a.split()), set(b.split())) for a, b in zip(*fields)):
        shared.append([len(a & b) / max(1, len(whole)) for whole in (a | b, a, b)])
    dense = csr_matrix(np.column_stack([product.sum(axis=1), np.array(shared)]))
    return hstack((first, second, product, abs(first - second), dense)).tocsr()
