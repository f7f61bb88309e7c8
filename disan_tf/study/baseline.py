"""The baselines of a classifier: logistic regressions on TF-IDF weights of a corpus."""

import time
import warnings
from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np

from disan_tf.common.progress import notify
from disan_tf.input_pipeline import Split
from disan_tf.metrics.differences import Predictions, difference
from disan_tf.metrics.scores import accuracy, macro_f1

STRENGTHS = (0.1, 1.0, 10.0, 100.0)  # C, the inverse weight of the penalty
_WORDS = {"ngram_range": (1, 2), "sublinear_tf": True}
_CHARACTERS = {"analyzer": "char_wb", "ngram_range": (2, 5), "min_df": 2, "sublinear_tf": True}
FEATURES = {"words": (_WORDS,), "words and characters": (_WORDS, _CHARACTERS)}
_SPECIAL = ["", "<unk>"]  # words of ids 0 and 1
_MOST_STEPS = 300  # of L-BFGS, which needs some fifty
_MOST_COEFFICIENTS = 50_000_000
_BYTES = 8 * 17  # that L-BFGS needs for each coefficient, measured with 77 classes
Texts = list[list[str]]  # the texts of each field, with spaces between the tokens


class Baseline(NamedTuple):
    """The predictions of the best regression on dev, and how it was made.

    `features` is a key of `FEATURES`, `strength` is C, and `seconds` are processor seconds.
    """

    features: str
    predictions: np.ndarray
    strength: float
    seconds: float


def fit_baselines(
    texts: Sequence[Texts], labels: Sequence[np.ndarray], classes: int, criterion: str
) -> list[Baseline]:
    """Predicts the classes of a split; for each of `FEATURES` dev selects C from `STRENGTHS`.

    The features of a pair are the weights of either text, their products and absolute differences,
    the cosine, and how many words the texts share.

    Args:
      texts: the tokenised texts of train, dev and the split, with the words that the model lacks.
      labels: the class numbers <int>[examples] of train and dev.
      classes: the number of classes.
      criterion: the score on dev that selects C, "accuracy" or "macro_f1".

    Returns:
      The baselines; none if the training part has one class alone, or no word of two letters.
      A baseline that needs too much memory is left out, with a message.
    """
    of_train, of_dev = labels
    if len(np.unique(of_train)) < 2:
        return []

    def score(predictions):
        if criterion == "macro_f1":
            return macro_f1(predictions, of_dev, classes)
        return accuracy(predictions, of_dev)

    found = [_fit(features, texts, labels, score) for features in FEATURES]
    return [baseline for baseline in found if baseline]


def _fit(features: str, texts, labels, score):
    """Returns a `Baseline`; None if the texts have no features, or too many."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    start = time.process_time()
    parts = fit_features(features, *texts)
    if parts is None:
        return None
    of_train, of_dev, of_split = parts
    coefficients = len(np.unique(labels[0])) * of_train.shape[1]
    if coefficients > _MOST_COEFFICIENTS:
        notify(
            f"The baseline on TF-IDF of {features} is left out: its {coefficients:,} coefficients "
            f"need about {coefficients * _BYTES / 1e9:.0f} GB of memory."
        )
        return None
    regression = LogisticRegression(max_iter=_MOST_STEPS, warm_start=True)
    best, best_score = (None, None), -1.0
    for strength in STRENGTHS:
        regression.C = strength
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            regression.fit(of_train, labels[0])
        if (found := score(regression.predict(of_dev))) > best_score:
            best, best_score = (regression.predict(of_split), strength), found
    return Baseline(features, *best, time.process_time() - start)


def describe_baseline(
    baseline: Baseline, predictions: np.ndarray, labels: np.ndarray, classes: int, criterion: str
) -> str:
    """Describes a baseline's scores, the paired interval of the model's lead, and which is better.

    `predictions` are the model's classes for the same examples, and `labels` the gold classes,
    <int>[examples]. For `classes` and `criterion` see `fit_baselines`; the interval is for the
    lead in `criterion`. If it includes 0, the text says "undecided".
    """
    model, other = Predictions(predictions, labels), Predictions(baseline.predictions, labels)
    interval, _ = difference([model], [other], criterion, classes=classes)
    lead, low, high = (100 * part for part in interval)
    name = {"accuracy": "accuracy", "macro_f1": "macro F1"}[criterion]
    verdict = "the model is better" if low > 0 else "undecided"
    if high < 0:
        verdict = "the baseline is better: use it (docs/how_to/something_else.md)"
    return (
        f"baseline, TF-IDF of {baseline.features} and logistic regression (C="
        f"{baseline.strength:g}, {baseline.seconds:.0f} processor seconds): accuracy "
        f"{accuracy(baseline.predictions, labels):.4f}, macro F1 "
        f"{macro_f1(baseline.predictions, labels, classes):.4f}; the model's {name} is {lead:+.1f} "
        f"points (95 % interval {low:+.1f} to {high:+.1f}), {verdict}"
    )


def texts_of(split: Split, vocabulary: Sequence[str]) -> Texts:
    """Returns the texts of a prepared split; a word without an id is "<unk>".

    `vocabulary` has the words of ids 2 and up.
    """
    words = np.array([*_SPECIAL, *vocabulary], dtype=object)
    parts = [(split.ids[field], split.offsets[field]) for field in split.fields]
    return [
        [" ".join(words[ids[start:end]]) for start, end in zip(offsets, offsets[1:])]
        for ids, offsets in parts
    ]


def fit_features(features: str, *parts: Texts) -> Optional[list]:
    """Computes the TF-IDF features of parts of a corpus, fitted to the texts of the first part.

    Args:
      features: a key of `FEATURES`.
      *parts: the texts of each part.

    Returns:
      For each part a sparse matrix with a row for each example; None if the texts have no features.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizers = [TfidfVectorizer(**options) for options in FEATURES[features]]
    try:
        for vectorizer in vectorizers:
            vectorizer.fit(text for field in parts[0] for text in field)
    except ValueError:  # an empty vocabulary
        return None
    return [_features(vectorizers, fields) for fields in parts]


def _features(vectorizers, fields: Texts):
    """Returns the features of texts or pairs, a sparse matrix with a row for each example."""
    from scipy.sparse import csr_matrix, hstack

    parts = []
    for vectorizer in vectorizers:
        weights = [vectorizer.transform(texts) for texts in fields]
        parts += weights
        if len(fields) == 2:
            first, second = weights
            product = first.multiply(second)
            parts += [product, abs(first - second), csr_matrix(product.sum(axis=1))]
    if len(fields) == 2:
        shared = []  # shares of common words in both texts, in the first and in the second
        for a, b in ((set(a.split()), set(b.split())) for a, b in zip(*fields)):
            shared.append([len(a & b) / max(1, len(whole)) for whole in (a | b, a, b)])
        parts.append(csr_matrix(np.array(shared)))
    return hstack(parts).tocsr()
