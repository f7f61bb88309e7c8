"""Metrics of predicted classes."""

from collections.abc import Sequence
from typing import Optional

import numpy as np

LENGTH_BINS = {"1-4": 1, "5-11": 5, "12-24": 12, "25-37": 25, "38+": 38}  # name -> least length


def accuracy(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Returns the fraction of correct predictions."""
    return float(np.mean(predictions == labels))


def macro_f1(predictions: np.ndarray, labels: np.ndarray, classes: int) -> float:
    """Returns the mean F1 of all classes, see `classification_scores`."""
    from sklearn.metrics import f1_score  # takes a second to import

    numbers = range(classes)
    return float(f1_score(labels, predictions, labels=numbers, average="macro", zero_division=0))


def expected_calibration_error(
    probabilities: np.ndarray, labels: np.ndarray, bins: int = 15
) -> float:
    """Computes the mean gap between confidence and accuracy (Guo et al. 2017, Eq. 3).

    The absolute gaps of `bins` equal intervals of the confidence, the highest of the probabilities
    <float>[examples, classes], are weighted by their numbers of examples.
    """
    confidence = probabilities.max(axis=1)
    gaps = (probabilities.argmax(axis=1) == labels) - confidence
    places = np.minimum((confidence * bins).astype(int), bins - 1)
    return float(np.abs(np.bincount(places, gaps, minlength=bins)).sum() / len(labels))


def classification_scores(
    predictions: np.ndarray,
    labels: np.ndarray,
    classes: Sequence[str],
    lengths: np.ndarray,
    genres: Optional[np.ndarray] = None,
) -> dict:
    """Computes all metrics of a split.

    Precision, recall and F1 of a class are 0 where they are undefined (a class that never occurs);
    macro F1 is the mean of F1 = 2 precision recall / (precision + recall) over all classes. Cohen's
    kappa is 0 where all labels and predictions are of one class.

    Args:
      predictions: <int>[examples].
      labels: <int>[examples].
      classes: names of the classes.
      lengths: <int>[examples], see `accuracy_by_length`.
      genres: <bytes>[examples]; None if the corpus has none.

    Returns:
      "accuracy", "cohen_kappa", "macro_f1", "classes" (name -> precision, recall, f1, support),
      "confusion" ("classes", and "matrix" with a row for each gold class), "by_length", and with
      genres "by_genre".
    """
    correct = labels == predictions
    scores = {
        "accuracy": accuracy(predictions, labels),
        **_class_scores(predictions, labels, classes),
        "by_length": accuracy_by_length(correct, lengths),
    }
    if genres is not None:
        scores["by_genre"] = accuracy_by_genre(correct, genres)
    return scores


def _class_scores(predictions, labels, classes):
    from sklearn import metrics

    pair, numbers = (labels, predictions), {"labels": range(len(classes))}
    titles = ("precision", "recall", "f1", "support")
    columns = metrics.precision_recall_fscore_support(*pair, **numbers, zero_division=0)
    columns = dict(zip(titles, (column.tolist() for column in columns)))
    with np.errstate(invalid="ignore"):  # 0 / 0 if all labels and predictions are of one class
        kappa = float(metrics.cohen_kappa_score(*pair, **numbers))
    matrix = metrics.confusion_matrix(*pair, **numbers)
    return {
        "cohen_kappa": 0.0 if np.isnan(kappa) else kappa,
        "macro_f1": float(np.mean(columns["f1"])),
        "classes": {
            name: {column: values[k] for column, values in columns.items()}
            for k, name in enumerate(classes)
        },
        "confusion": {"classes": list(classes), "matrix": matrix.tolist()},
    }


def accuracy_by_length(correct: np.ndarray, lengths: np.ndarray) -> dict:
    """Computes bin of sentence length -> {"count", "accuracy"}, DiSAN Fig. 5.

    The figure's axis has no numbers in the text; its discussion names (5,12), (25,38) and
    38 or more tokens. We take these as half-open: 1-4, 5-11, 12-24, 25-37, 38+. The accuracy of a
    bin without examples is None.

    Args:
      correct: <bool>[examples].
      lengths: <int>[examples], tokens of each sentence, or of the longer one of a pair; at least 1.
    """
    bins = np.digitize(lengths, list(LENGTH_BINS.values())) - 1
    return {name: _share(correct[bins == number]) for number, name in enumerate(LENGTH_BINS)}


def accuracy_by_genre(correct: np.ndarray, genres: np.ndarray) -> dict:
    """Returns genre -> {"count", "accuracy"}, by name, from <bool> and <bytes>[examples]."""
    return {genre.decode(): _share(correct[genres == genre]) for genre in np.unique(genres)}


def _share(correct):
    return {"count": len(correct), "accuracy": float(correct.mean()) if len(correct) else None}
