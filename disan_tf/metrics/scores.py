"""Scores of predicted classes, of predicted numbers, and of a bidirectional language model."""

from collections.abc import Sequence
from typing import Optional

import numpy as np

_BINS = 15  # of a calibration error
LENGTH_BINS = {"1-4": 1, "5-11": 5, "12-24": 12, "25-37": 25, "38+": 38}  # name -> least length
DIRECTIONS = ("forward", "backward")


def accuracy(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Returns the fraction of correct predictions."""
    return float(np.mean(predictions == labels))


def macro_f1(predictions: np.ndarray, labels: np.ndarray, classes: int) -> float:
    """Returns the mean F1 of all classes, see `classification_scores`."""
    from sklearn.metrics import f1_score  # takes a second to import

    numbers = range(classes)
    return float(f1_score(labels, predictions, labels=numbers, average="macro", zero_division=0))


def expected_calibration_error(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Computes the mean gap between confidence and accuracy (Guo et al. 2017, Eq. 3).

    The absolute gaps of 15 equal intervals of the confidence, the highest of the probabilities
    <float>[examples, classes], are weighted by their numbers of examples.
    """
    confidence = probabilities.max(axis=1)
    gaps = (probabilities.argmax(axis=1) == labels) - confidence
    places = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    return float(np.abs(np.bincount(places, gaps, minlength=_BINS)).sum() / len(labels))


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
    from sklearn import metrics

    correct = labels == predictions
    pair, numbers = (labels, predictions), {"labels": range(len(classes))}
    titles = ("precision", "recall", "f1", "support")
    columns = metrics.precision_recall_fscore_support(*pair, **numbers, zero_division=0)
    columns = dict(zip(titles, (column.tolist() for column in columns)))
    with np.errstate(invalid="ignore"):  # 0 / 0 if all labels and predictions are of one class
        kappa = float(metrics.cohen_kappa_score(*pair, **numbers))
    matrix = metrics.confusion_matrix(*pair, **numbers)
    scores = {
        "accuracy": accuracy(predictions, labels),
        "cohen_kappa": 0.0 if np.isnan(kappa) else kappa,
        "macro_f1": float(np.mean(columns["f1"])),
        "classes": {
            name: {column: values[k] for column, values in columns.items()}
            for k, name in enumerate(classes)
        },
        "confusion": {"classes": list(classes), "matrix": matrix.tolist()},
        "by_length": accuracy_by_length(correct, lengths),
    }
    if genres is not None:
        scores["by_genre"] = accuracy_by_genre(correct, genres)
    return scores


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


def pearson(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Computes Pearson's r in float64.

    If all predictions or all labels are the same, r is undefined, and 0 is returned: the first
    evaluations of a training then have a score that later ones can exceed.
    """
    centred = [
        np.asarray(values, np.float64) - np.mean(values, dtype=np.float64)
        for values in (predictions, labels)
    ]
    scale = np.sqrt(np.prod([np.sum(np.square(values)) for values in centred]))
    if not scale > 0.0:
        return 0.0
    return float(np.clip(np.dot(*centred) / scale, -1.0, 1.0))


def spearman(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Computes Spearman's rho, Pearson's r of the ranks; equal values share their mean rank."""
    from scipy.stats import rankdata  # takes half a second to import

    return pearson(rankdata(predictions), rankdata(labels))


def mean_squared_error(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Computes the mean of the squared differences in float64."""
    return float(np.mean(np.square(np.asarray(predictions, np.float64) - labels)))


def correlation_scores(predictions: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Returns "pearson", "spearman" and "mse" of <float>[examples] predictions and labels."""
    return {
        "pearson": pearson(predictions, labels),
        "spearman": spearman(predictions, labels),
        "mse": mean_squared_error(predictions, labels),
    }


def scores_by_label(
    predictions: np.ndarray, labels: np.ndarray, points: int, lowest: int = 1
) -> dict:
    """Computes the mean prediction for gold scores between two points of the scale.

    Predictions and labels are <float>[examples]. The scale has `points` whole numbers and begins at
    `lowest`. The result is "[1, 2)", ... "[4, 5]" -> {"count", "mean_label",
    "mean_prediction", "mse"}; the means of a bin without an example are None.
    """
    last = lowest + points - 2
    bins = np.minimum(np.floor(labels).astype(int), last)  # the highest point is in the last bin
    scores = {}
    for low in range(lowest, last + 1):
        members = bins == low
        count = int(members.sum())
        scores[f"[{low}, {low + 1}{']' if low == last else ')'}"] = {
            "count": count,
            "mean_label": _mean(labels[members]),
            "mean_prediction": _mean(predictions[members]),
            "mse": mean_squared_error(predictions[members], labels[members]) if count else None,
        }
    return scores


def _mean(values):
    return float(np.mean(values, dtype=np.float64)) if len(values) else None


def perplexities(sums: np.ndarray) -> dict[str, float]:
    """Computes perplexities, exp of a word's mean -ln p; unknown words and boundaries are words.

    `sums` <float32>[examples, 3] has the sums of -ln p in nats over each sentence, forward and
    backward, and the number of words that each direction predicts. The results are
    "log_likelihood" (the mean of ln p over both directions, in nats), "perplexity",
    "forward_perplexity" and "backward_perplexity".
    """
    *totals, count = np.sum(sums, axis=0, dtype=np.float64)
    mean = sum(totals) / (2.0 * count)
    by_direction = {
        f"{direction}_perplexity": total / count for direction, total in zip(DIRECTIONS, totals)
    }
    means = {"perplexity": mean, **by_direction}
    return {
        "log_likelihood": -float(mean),
        **{name: float(np.exp(value)) for name, value in means.items()},
    }
