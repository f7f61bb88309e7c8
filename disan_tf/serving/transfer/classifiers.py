"""Logistic regression on frozen vectors, by SentEval's protocol (`senteval/tools/validation.py`).

The strength C of the regularisation is chosen on data that do not score the classifier:

    all               nested cross-validation: each of ten folds scores a classifier trained on the
                      other nine, on which another ten folds choose its C
    train, test       ten folds of train choose C
    train, dev, test  dev chooses C for a classifier trained on train

Folds are stratified by class and seeded. As in today's scikit-learn, unlike the version of
SentEval's days, more than two classes share one softmax, and the bias is not regularised.
"""

import contextlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from disan_tf.metrics.correlations import correlation_scores, pearson

FOLDS, SEED = 10, 1111  # SentEval's
STRENGTHS = tuple(2.0**power for power in range(-2, 4))
STRENGTHS_OF_FOLDS = tuple(2.0**power for power in range(-1, 6))  # for train and test alone
_MOST_STEPS = 5000  # of L-BFGS, which needs some hundreds


class Part(NamedTuple):
    """Features <float>[examples, features], and classes <int> or scores <float>[examples]."""

    x: np.ndarray
    y: np.ndarray


class RelatednessRegression(LogisticRegression):
    """Scores from 1 to 5 by a softmax over the points of the scale (Tai et al. 2015, Sec. 4.2).

    It is trained on the distribution on two neighbouring points whose mean is the score y,
    t_k = max(0, 1 - |y - k|), predicts sum_k k p_k, and is scored by Pearson's r.
    """

    def fit(self, x, y):
        points = np.arange(1, 6)
        targets = np.maximum(0.0, 1.0 - np.abs(y[:, None] - points))
        rows, columns = np.nonzero(targets)
        return super().fit(x[rows], points[columns], targets[rows, columns])

    def predict(self, x):
        return self.predict_proba(x) @ self.classes_

    def score(self, x, y):
        return pearson(self.predict(x), y)


def score_vectors(x: Mapping[str, np.ndarray], y: Mapping[str, np.ndarray]) -> dict:
    """Trains and scores classifiers on one task.

    Args:
      x: split -> features <float>[examples, features], with the splits of one protocol above.
      y: split -> classes <int>[examples], or scores <float>[examples], which need a dev split.

    Returns:
      "dev" and "test" -> metric -> value, and "strengths", the chosen C (for each outer fold).
      Classes have "accuracy", for folds its mean, with "standard_deviation"; scores have "pearson",
      and on test "spearman" and "mse".
    """
    parts = {split: Part(x[split], y[split]) for split in x}
    return _PROTOCOLS[tuple(parts)](**parts)


def _nested(all: Part) -> dict:
    outcomes = []
    for train, test in _folds(all):
        strength, dev = search(_folds(train), STRENGTHS)
        outcomes.append((dev, fit(train, strength).score(*test), strength))
    dev, test, strengths = zip(*outcomes)
    accuracy = {"accuracy": float(np.mean(test))}
    return {
        "dev": {"accuracy": float(np.mean(dev))},
        "test": {**accuracy, "standard_deviation": float(np.std(test, ddof=1))},
        "strengths": list(strengths),
    }


def _cross_validated(train: Part, test: Part) -> dict:
    return _outcome(train, test, *search(_folds(train), STRENGTHS_OF_FOLDS))


def _with_dev(train: Part, dev: Part, test: Part) -> dict:
    return _outcome(train, test, *search([(train, dev)], STRENGTHS))


_PROTOCOLS = {
    ("all",): _nested,
    ("train", "test"): _cross_validated,
    ("train", "dev", "test"): _with_dev,
}


def _outcome(train: Part, test: Part, strength: float, dev: float) -> dict:
    """Scores a classifier of the whole training split with the strength that was found."""
    predictions = fit(train, strength).predict(test.x)
    if _is_score(test):
        criterion, scores = "pearson", correlation_scores(predictions, test.y)
    else:
        criterion, scores = "accuracy", {"accuracy": float(np.mean(predictions == test.y))}
    return {"dev": {criterion: dev}, "test": scores, "strengths": [strength]}


def search(folds: Iterable[tuple[Part, Part]], strengths: Sequence[float]) -> tuple[float, float]:
    """Returns the first strength with the best mean score over the folds, and this score.

    A classifier starts from the previous strength's weights, which halves the time.
    """
    scores = []
    for train, dev in folds:
        model = _make_model(train)
        fitted = (_fit(model, train, strength) for strength in strengths)
        scores.append([model.score(*dev) for model in fitted])
    means = np.mean(scores, axis=0)
    best = int(np.argmax(means))
    return strengths[best], float(means[best])


def fit(train: Part, strength: float) -> LogisticRegression:
    """Trains a classifier with a given strength."""
    return _fit(_make_model(train), train, strength)


def _fit(model, train, strength):
    with _threads(model.solver), warnings.catch_warnings():
        # Where float32 ends Newton's method, it goes on with L-BFGS.
        warnings.filterwarnings("ignore", "Line search of Newton solver")
        return model.set_params(C=strength).fit(*train)


def _threads(solver: str):
    """Returns a context that limits the threads where they cost time.

    NumPy 2's OpenBLAS divides L-BFGS' narrow products among threads: 10,000 examples of 600
    features and 5 classes take two threads 6.0 s and one 3.0 s, with NumPy 1.26 2.2 and 3.2 s.
    """
    is_slower = solver == "lbfgs" and not np.__version__.startswith("1.")
    return threadpool_limits(1, "blas") if is_slower else contextlib.nullcontext()


def _make_model(train: Part) -> LogisticRegression:
    """Makes an untrained model, with Newton's method for two classes, otherwise with L-BFGS.

    Newton's 5 steps take a third of the time of L-BFGS' 190 to 650 steps (600 features).
    """
    kind = RelatednessRegression if _is_score(train) else LogisticRegression
    solver = "newton-cholesky" if len(np.unique(train.y)) == 2 else "lbfgs"
    return kind(solver=solver, max_iter=_MOST_STEPS, warm_start=True)


def _is_score(part: Part) -> bool:
    return part.y.dtype.kind == "f"


def _folds(whole: Part) -> Iterator[tuple[Part, Part]]:
    """Yields the training part and the scored part of each fold."""
    for rows in StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(*whole):
        yield tuple(Part(whole.x[chosen], whole.y[chosen]) for chosen in rows)
